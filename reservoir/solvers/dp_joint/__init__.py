"""Exact dynamic programming of all reservoirs of a small system at once."""
