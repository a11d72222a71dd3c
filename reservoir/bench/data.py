"""Moves."""

from reservoir.bench.experiment import bundled

__all__ = ["bundled"]
