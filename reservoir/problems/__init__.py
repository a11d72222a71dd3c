"""Optimisation problems: their encodings and their fitness."""
