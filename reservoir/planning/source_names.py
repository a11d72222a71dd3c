"""What the sources of schedules are called."""

from __future__ import annotations


def second_run(solver: str) -> str:
    """What the second run of a solver is called: a source, and a stage."""
    return f"{solver} (second run)"
