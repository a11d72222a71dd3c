"""Figures: each takes an axis and returns it."""
