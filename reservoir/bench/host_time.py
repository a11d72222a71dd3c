"""Moves."""

from reservoir.bench.models import PHASES, host_time_table, phase_seconds

__all__ = ["PHASES", "host_time_table", "phase_seconds"]
