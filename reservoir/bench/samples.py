"""Moves."""

from reservoir.bench.tables import STATISTICS, Known, p_value, summary

p_value_of = p_value

__all__ = ["STATISTICS", "Known", "p_value", "p_value_of", "summary"]
