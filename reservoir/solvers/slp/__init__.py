"""Successive linear programming of systems."""
