"""Repair and violation of one step, compiled (Yu et al. 2020, eq. 11-20).

The bounds themselves, and the storages from which a year can be completed, are made in `limits`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.hydro.jit import inlined

#: Loops over more steps than this are compiled as loops.
MOST_UNROLLED = 40


class YearArrays(NamedTuple):
    """One year as compiled code reads it; arrays of shape (steps,), storages at the end of each step.

    ``reach_lower`` and ``reach_upper`` are the reachable bounds of eq. 16-17. In a cyclic year they hold for an open
    end, and the bounds for a given start are ``clip(start - drift_lower, reach_lower, reach_upper)`` and likewise
    with ``drift_upper``. ``capacity`` is the largest storage. ``unrolled`` is a tuple of so many zeros: unlike an
    array's, its length is known when code is compiled, so that loops over steps become vector instructions; it is
    empty where there are more than `MOST_UNROLLED` steps (see `steps_in`).
    """

    inflow: Any
    hm3_per_m3s: Any
    release_lower: Any
    release_upper: Any
    storage_lower: Any
    storage_upper: Any
    reach_lower: Any
    reach_upper: Any
    drift_lower: Any
    drift_upper: Any
    start: Any
    capacity: Any
    cyclic: bool
    unrolled: tuple[int, ...]


@inlined
def steps_in(year):
    """Number of steps; known when code is compiled where ``unrolled`` is not empty."""
    return len(year.unrolled) or len(year.inflow)


@inlined
def lower_reach(year, step, start):
    """Lowest storage at the end of a step from which the year can be completed (eq. 16)."""
    if year.cyclic:
        return min(max(start - year.drift_lower[step], year.reach_lower[step]), year.reach_upper[step])
    return year.reach_lower[step]


@inlined
def upper_reach(year, step, start):
    """Highest storage at the end of a step from which the year can be completed (eq. 17)."""
    if year.cyclic:
        return min(max(start - year.drift_upper[step], year.reach_lower[step]), year.reach_upper[step])
    return year.reach_upper[step]


@inlined
def steered(year, step, storage, release, lower, upper):
    """Release and end storage of a step once its end is brought into [lower, upper] (eq. 18-19).

    The deviation is made up by the release, in flow units: the printed eq. 19 leaves the division out of its last
    line. The release may leave its bounds here; see `repaired`.
    """
    per_flow = year.hm3_per_m3s[step]
    end = storage + (year.inflow[step] - release) * per_flow
    target = min(max(end, lower), upper)
    return release + (end - target) / per_flow, target


@inlined
def repaired(year, step, storage, release, lower, upper):
    """Release and end storage as `steered`, as far as the bounds of the release allow (eq. 19)."""
    wanted, end = steered(year, step, storage, release, lower, upper)
    kept = min(max(wanted, year.release_lower[step]), year.release_upper[step])
    if kept != wanted:
        end = storage + (year.inflow[step] - kept) * year.hm3_per_m3s[step]
    return kept, end


@inlined
def violation_at(year, step, storage, start):
    """Violation of the storage bounds at the end of a step, relative to them (eq. 20).

    At the end of a cyclic year the bound is its start. A bound of 0 is replaced by the largest storage.
    """
    lower, upper = year.storage_lower[step], year.storage_upper[step]
    if year.cyclic and step == steps_in(year) - 1:
        lower = upper = start
    if storage < lower:
        return (lower - storage) / (lower if lower > 0 else year.capacity)
    if storage > upper:
        return (storage - upper) / (upper if upper > 0 else year.capacity)
    return storage - storage  # 0 in the precision of the arrays
