"""Checks of a reservoir, the same for Python and for files."""
