"""Moves."""

from reservoir.bench.experiment import QUICK_WARNING, RunBudget

__all__ = ["QUICK_WARNING", "RunBudget"]
