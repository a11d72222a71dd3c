"""Stochastic dynamic programming."""
