"""Releases of a year from its end-of-month storages: feasible in every feasible year.

A part in [0, 1] places the storage at the end of a month in the interval that the storage before it leaves: what the
month's least and greatest release lead to, and from where the year can still be completed (Yu et al. 2020, eq. 16-17).
Where there is no such storage, the release keeps its bounds, and the storage leaves its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reservoir.hydro.compiled_year import YearArrays, lower_reach, steps_in, upper_reach
from reservoir.hydro.conditions import conditions_at
from reservoir.hydro.elementwise import RealArray, clip
from reservoir.hydro.jit import inlined
from reservoir.hydro.step import release_to_reach, storage_after, there_is
from reservoir.problems.coding import register_position


class StorageCoding(NamedTuple):
    """What compiled code reads, in float32."""

    year: YearArrays
    start_lower: np.float32
    start_upper: np.float32


def _position(coding: StorageCoding, parts: RealArray, position: RealArray) -> None:
    year = coding.year
    storage, first = year.start, 0
    if year.cyclic:
        storage = coding.start_lower + parts[0] * (coding.start_upper - coding.start_lower)
        position[steps_in(year)] = storage
        first = 1
    start = storage
    for step in range(steps_in(year)):
        at = step + first
        part = parts[at] if at < len(parts) else parts[0] - parts[0]
        position[step], storage = _release_to(year, step, storage, start, part)


@inlined
def _release_to(year: YearArrays, step: int, storage: float, start: float, part: float) -> tuple[float, float]:
    """Release of a step, and the storage that it leaves."""
    per_flow, inflow = year.hm3_per_m3s[step], year.inflow[step]
    conditions = conditions_at(year.conditions, step)
    least = storage_after(storage, inflow, year.release_upper[step], per_flow, conditions)
    most = storage_after(storage, inflow, year.release_lower[step], per_flow, conditions)
    lower = max(lower_reach(year, step, start), least)
    upper = min(upper_reach(year, step, start), most)
    target = lower + part * (upper - lower)
    wanted = release_to_reach(storage, target, inflow, per_flow, conditions)
    release = clip(wanted, year.release_lower[step], year.release_upper[step])
    end = storage_after(storage, inflow, release, per_flow, conditions)
    _, end = there_is(storage, release, end, inflow, per_flow, year.dead, conditions)
    return release, end


register_position(StorageCoding, _position)
