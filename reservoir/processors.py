"""How many processors the host's threads may use."""

from __future__ import annotations

import os

#: Says so, where several runs share a machine.
ENVIRONMENT_VARIABLE = "RESERVOIR_THREADS"


def processors() -> int:
    """As many as `ENVIRONMENT_VARIABLE` says; else those that this process may run on; at least one."""
    asked = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if asked.isdecimal() and len(asked) <= 4 and int(asked):
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
