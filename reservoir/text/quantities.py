"""Quantities and counts for people."""

from __future__ import annotations


def quantity(value: float) -> str:
    """Write a number for reading: whole from a thousand on, four figures below."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def counted(count: int, what: str = "year") -> str:
    """Write a number of things: ``1 year``, ``62 years``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
