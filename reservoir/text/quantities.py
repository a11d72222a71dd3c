"""Quantities as people read them: of a large plant and of a small one alike."""

from __future__ import annotations


def quantity(value: float) -> str:
    """Write a number for reading: whole from a thousand on, four figures below."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
