"""Curves of a reservoir, and the forms of them that solvers evaluate."""
