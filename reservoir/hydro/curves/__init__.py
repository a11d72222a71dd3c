"""Curves of a reservoir, and their approximations for the solvers."""
