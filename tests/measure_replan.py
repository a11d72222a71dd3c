"""What planning again costs after a changed number: ``python -m tests.measure_replan``.

In a warm process the bundled case's years are planned by ``lshade`` without a reference, for 20 upper bounds of the
storage one after the other, and for as many of each of some other numbers; every plan is certified in float64. Then
the same with forms of the curves that a session of changes keeps.
Processor seconds are the median of all threads: of the caller's own, and of the device's where that is a CPU.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import reservoir
from reservoir.hydro.curves.approximation import form_ranges
from reservoir.hydro.reservoir import Reservoir

CHANGES = 20


def changed(lake: Reservoir) -> dict[str, Callable[[float], Reservoir]]:
    """A reservoir with one number changed, by a part of it between 0 and 1."""

    def with_upper(part: float) -> Reservoir:
        upper = lake.storage_upper_hm3.copy()
        upper[4] -= 0.1 * part * (upper[4] - lake.storage_lower_hm3[4])
        return replace(lake, storage_upper_hm3=upper)

    return {
        "upper limit of a month": with_upper,
        "dead storage": lambda part: replace(lake, storage_lower_hm3=lake.storage_lower_hm3 * (1 + 0.05 * part)),
        "smallest release": lambda part: replace(lake, release_lower_m3s=lake.release_lower_m3s * (1 - 0.2 * part)),
        "installed capacity": lambda part: replace(lake, installed_mw=lake.installed_mw * (1 - 0.2 * part)),
    }


def seconds_of(plan: Callable[[Reservoir], Any], lakes: Iterator[Reservoir]) -> list[tuple[float, float]]:
    """Processor seconds of each plan: of all threads, and of this one."""
    spent = []
    for lake in lakes:
        before = time.process_time(), time.thread_time()
        plan(lake)
        spent.append((time.process_time() - before[0], time.thread_time() - before[1]))
    return spent


def main(device: str = "auto") -> None:
    """Measure, and print."""
    case = reservoir.bundled_case()
    usual, inflow = case.reservoir(), case.inflow()

    kept = form_ranges(usual)
    for name, with_part in changed(usual).items():
        for ranges in ((), kept):
            plan = partial(
                reservoir.optimise,
                inflow=inflow,
                solver="lshade",
                reference=False,
                device=device,
                form_ranges=ranges,
            )
            plan(usual)
            lakes = (with_part(part) for part in np.linspace(0.05, 1, CHANGES))
            whole, own = np.transpose(seconds_of(plan, lakes))
            print(
                f"{name:<24}{'kept' if ranges else 'fresh':<6}{np.median(whole):>8.3f} s of all threads, "
                f"{np.median(own):.3f} s of the caller's; at most {whole.max():.3f} s"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
