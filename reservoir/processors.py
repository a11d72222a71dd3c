"""The processor of this machine: how many threads may use it, and which instructions it has."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

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


def processor_flags() -> frozenset[str]:
    """The instructions that the processor has, in the system's words; empty where it has no file of them."""
    lines = dict(line.partition(":")[::2] for line in processor().splitlines())
    return frozenset(next((words for name, words in lines.items() if name.strip() == "flags"), "").split())


@cache
def processor() -> str:
    """What instructions the processor has, in whatever words the system has for them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return "\n".join([line for line in lines if line.startswith(("model name", "flags", "Features"))][:2])
