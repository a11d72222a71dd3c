"""Figures, tables and the folder of a plan."""
