"""Years as compiled code runs them (Yu et al. 2020, eq. 6 and 11-20): what is reached, a year followed, its benefit.

Gains are the volumes that a step adds to the storage with the least and with the most release, before evaporation and
seepage; arrays of many years have shape (years, steps), `dead` storage (years,). ``losses`` are the `rows.YearRows` of
years with losses, or nothing. The bounds themselves are rows of `limits`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import in_objective_unit, stage_benefit
from reservoir.hydro.conditions import (
    lower_tilt,
    ramped,
    released,
    unmet,
    unmet_power,
    upper_tilt,
    year_of,
)
from reservoir.hydro.elementwise import RealArray, clip, mean
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.rows import (
    CAPACITY,
    DEAD,
    DRIFT_LOWER,
    DRIFT_UPPER,
    HM3_PER_M3S,
    INFLOW,
    PER_MISSING,
    REACH_LOWER,
    REACH_UPPER,
    RELEASE_LOWER,
    RELEASE_UPPER,
    STORAGE_LOWER,
    STORAGE_UPPER,
    YearRows,
)
from reservoir.hydro.step import (
    enforce_limits,
    power_at,
    relative_violation,
    steered,
    storage_after,
    storage_after_gain,
    storage_before_gain,
    there_is,
    unmet_minimum,
)

FloatArray = NDArray[np.float64]

#: A storage below another by less than this part of it is so by rounding.
_ROUNDING = 1e-9


@compiled
def draw_in(
    gain_most: FloatArray,
    gain_least: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    hm3_per_m3s: FloatArray,
    losses: Any,
    release_lower: FloatArray,
    dead: FloatArray,
) -> None:
    """Draw bounds of storages in to those from which the year can be completed (Yu et al. 2020, eq. 16-17).

    A least release is kept in full, for which there is water down to `dead` storage; below it only losses go.
    """
    for year in range(len(lower)):
        of_year = year_of(losses, year)
        for step in range(lower.shape[1] - 2, -1, -1):
            per_flow = hm3_per_m3s[year, step + 1]
            least = lower[year, step + 1]
            if release_lower[year, step + 1] > 0.0:
                least = max(least, dead[year])
            need_lower = storage_before_gain(least, gain_most[year, step + 1], per_flow, of_year, step + 1)
            need_upper = storage_before_gain(
                upper[year, step + 1], gain_least[year, step + 1], per_flow, of_year, step + 1
            )
            if need_lower > need_upper:  # a slack wider than the interval: keep its middle
                need_lower = need_upper = (need_lower + need_upper) / 2
            lowest, highest = lower[year, step], upper[year, step]
            little = release_lower[year, step + 1] > 0.0 and least <= dead[year]
            if little and need_lower > highest + _ROUNDING * (abs(highest) + 1.0):
                need_lower = lowest  # too little for the least release from any storage: how little, its price decides
            lower[year, step] = min(max(need_lower, lowest), highest)
            upper[year, step] = min(max(need_upper, lowest), highest)


@compiled
def follow_corridor(
    gain_most: FloatArray,
    gain_least: FloatArray,
    allowed_lower: FloatArray,
    allowed_upper: FloatArray,
    hm3_per_m3s: FloatArray,
    losses: Any,
    gain_at_rest: FloatArray,
    dead: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    missing: FloatArray,
) -> None:
    """Follow the lowest and the highest storage from the start, see `limits.corridor`.

    ``gain_at_rest`` are the gains if nothing is released or withdrawn. ``missing`` is filled with what a step has too
    little to keep the least draft even from the highest storage, hm3.
    """
    for year in range(len(lower)):
        of_year = year_of(losses, year)
        empty = dead[year] - _ROUNDING * (abs(dead[year]) + 1.0)
        for step in range(lower.shape[1] - 1):
            per_flow = hm3_per_m3s[year, step]
            least = storage_after_gain(lower[year, step], gain_least[year, step], per_flow, of_year, step)
            kept = most = storage_after_gain(upper[year, step], gain_most[year, step], per_flow, of_year, step)
            if most < empty:
                at_rest = storage_after_gain(upper[year, step], gain_at_rest[year, step], per_flow, of_year, step)
                most = min(max(at_rest, 0.0), dead[year])
                kept = kept - min(at_rest, 0.0)  # of an empty lake losses are missing, no release
            missing[year, step] = most - kept
            lowest = min(max(least, allowed_lower[year, step]), most)
            highest = max(min(most, allowed_upper[year, step]), least)
            alone = least if least > allowed_upper[year, step] else most
            crossed = lowest > highest
            lower[year, step + 1] = alone if crossed else lowest
            upper[year, step + 1] = alone if crossed else highest
            kept = storage_after_gain(lower[year, step], gain_most[year, step], per_flow, of_year, step)
            if kept < empty:  # lower storages may have too little water to stay above dead storage
                at_rest = storage_after_gain(lower[year, step], gain_at_rest[year, step], per_flow, of_year, step)
                lower[year, step + 1] = min(lower[year, step + 1], min(max(at_rest, 0.0), dead[year]))


@compiled
def left_by_losses(
    start: FloatArray,
    gain_at_rest: FloatArray,
    hm3_per_m3s: FloatArray,
    losses: Any,
    dead: FloatArray,
    left: FloatArray,
) -> None:
    """What losses alone leave of a lake that was brought down to `dead` storage, at the end of each step."""
    for year in range(len(left)):
        of_year, storage = year_of(losses, year), min(start[year], dead[year])
        for step in range(left.shape[1]):
            per_flow = hm3_per_m3s[year, step]
            storage = storage_after_gain(storage, gain_at_rest[year, step], per_flow, of_year, step)
            storage = left[year, step] = min(max(storage, 0.0), dead[year])


#: Loops over more steps than this are compiled as loops.
MOST_UNROLLED = 40


@inlined
def steps_in(year: YearRows) -> int:
    """Number of steps; known when code is compiled where ``unrolled`` is not empty."""
    return len(year.unrolled) or year.rows.shape[1]


@inlined
def year_at(years: YearRows, index: int) -> YearRows:
    """One of many years."""
    return YearRows(
        years.rows[index, 0], years.numbers[index, 0], years.lake, years.priced, years.cyclic, years.unrolled
    )


@inlined
def lower_reach(year: YearRows, step: int, start: float) -> float:
    """Lowest storage at the end of a step from which the year can be completed (eq. 16)."""
    lower: float = year.rows[REACH_LOWER, step]
    if year.cyclic:
        shifted = start - year.rows[DRIFT_LOWER, step] + lower_tilt(year, step, start)
        lower = clip(shifted, year.rows[REACH_LOWER, step], year.rows[REACH_UPPER, step])
    return lower


@inlined
def upper_reach(year: YearRows, step: int, start: float) -> float:
    """Highest storage at the end of a step from which the year can be completed (eq. 17)."""
    upper: float = year.rows[REACH_UPPER, step]
    if year.cyclic:
        shifted = start - year.rows[DRIFT_UPPER, step] + upper_tilt(year, step, start)
        upper = clip(shifted, year.rows[REACH_LOWER, step], year.rows[REACH_UPPER, step])
    return upper


@inlined
def violation_at(year: YearRows, step: int, storage: float, start: float) -> float:
    """Violation of the storage bounds at the end of a step, relative to them (eq. 20).

    At the end of a cyclic year the bound is its start.
    """
    lower: float = year.rows[STORAGE_LOWER, step]
    upper: float = year.rows[STORAGE_UPPER, step]
    if year.cyclic and step == steps_in(year) - 1:
        lower = upper = start
    violation: float = relative_violation(storage, lower, upper, year.numbers[CAPACITY])
    return violation


@inlined
def missing_at(year: YearRows, step: int, draft: float) -> float:
    """Violation of the least release of a step, relative to the largest of the year."""
    per_missing = year.numbers[PER_MISSING] * year.rows[HM3_PER_M3S, step]
    violation: float = unmet_minimum(draft, year.rows[RELEASE_LOWER, step], per_missing)
    return violation


@inlined
def follow(year: YearRows, wanted: RealArray, drafts: RealArray, storages: RealArray) -> float:
    """Run a year from ``storages[0]`` with the drafts wanted, repaired; fills `drafts` and `storages`.

    A draft is the release, but for steps that cut a withdrawal (`conditions`). Returns the sum of the violations, but
    for those of the lowest power.
    """
    start: float = storages[0]
    storage, violation = start, start - start
    before = wanted[0]
    for step in range(steps_in(year)):
        reach = lower_reach(year, step, start), upper_reach(year, step, start)
        bounds = year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step]
        asked = ramped(year, wanted[step], before) if step > 0 else wanted[step]
        drafts[step], storage = enforce_limits(
            storage,
            asked,
            year.rows[INFLOW, step],
            year.rows[HM3_PER_M3S, step],
            reach,
            bounds,
            year.numbers[DEAD],
            year,
            step,
        )
        storages[step + 1] = storage
        release = released(year, step, drafts[step], year.rows[RELEASE_LOWER, step])
        missed = unmet(year, step, drafts[step], release, before if step > 0 else release)
        violation += violation_at(year, step, storage, start)
        violation += missing_at(year, step, drafts[step])
        violation += missed
        before = release
    return violation


@inlined
def follow_repairable(
    year: YearRows, flow_per_volume: RealArray, wanted: RealArray, releases: RealArray, storages: RealArray
) -> None:
    """As `follow`, in a year that is always repairable (`limits.always_repairable`): no bound can be violated.

    Only the chain from one storage to the next waits for its turn; the releases follow for all steps at once, by a
    product with the reciprocal in place of `enforce_limits`' division.
    """
    start = storages[0]
    storage = start
    for step in range(steps_in(year)):
        reach = lower_reach(year, step, start), upper_reach(year, step, start)
        storage, releases[step] = steered(
            storage, wanted[step], year.rows[INFLOW, step], year.rows[HM3_PER_M3S, step], reach
        )
        storages[step + 1] = storage
    for step in range(steps_in(year)):
        releases[step] = wanted[step] + releases[step] * flow_per_volume[step]


@inlined
def benefit_of(plant: Plant, year: YearRows, drafts: RealArray, storages: RealArray, per_stage_benefit: float) -> float:
    """Benefit of a year (eq. 6); `objective_per_stage_benefit` in the precision of the arrays is the last argument."""
    benefit: float = storages[0] - storages[0]
    for step in range(steps_in(year)):
        release, power = power_in_step(plant, year, step, drafts, storages)
        benefit += stage_benefit(year, step, power, release, year.rows[HM3_PER_M3S, step])
    return benefit * per_stage_benefit


@inlined
def power_in_step(
    plant: Plant, year: YearRows, step: int, drafts: RealArray, storages: RealArray
) -> tuple[float, float]:
    """Release (m3/s) and power (MW) of a step."""
    release = released(year, step, drafts[step], year.rows[RELEASE_LOWER, step])
    power: float = power_at(plant, mean(storages[step], storages[step + 1]), release, year, step)
    return release, power


@inlined
def power_violation(plant: Plant, year: YearRows, drafts: RealArray, storages: RealArray) -> float:
    """Sum of the relative violations of the lowest power."""
    violation: float = storages[0] - storages[0]
    for step in range(steps_in(year)):
        _, power = power_in_step(plant, year, step, drafts, storages)
        violation += unmet_power(year, step, power)
    return violation


@inlined
def step_value(
    plant: Plant, year: YearRows, step: int, storage: float, end: float, draft: float
) -> tuple[float, float]:
    """Benefit of a step and relative violation of its demands; its draft is held to its bounds."""
    return _value_of(
        plant, year, step, storage, end, clip(draft, year.rows[RELEASE_LOWER, step], year.rows[RELEASE_UPPER, step])
    )


@inlined
def value_of_little_water(plant: Plant, year: YearRows, step: int, storage: float) -> tuple[bool, float, float, float]:
    """Whether a step has too little water for its least draft or its losses, how it then ends, and its `step_value`."""
    least, inflow, per_flow = year.rows[RELEASE_LOWER, step], year.rows[INFLOW, step], year.rows[HM3_PER_M3S, step]
    end = storage_after(storage, inflow, least, per_flow, year, step)
    little = end < year.numbers[DEAD] - _ROUNDING * (abs(year.numbers[DEAD]) + 1)
    draft, end = there_is(storage, least, end, inflow, per_flow, year.numbers[DEAD], year, step)
    benefit, unmet_here = _value_of(plant, year, step, storage, end, draft)
    return little, end, benefit, unmet_here


@inlined
def _value_of(plant: Plant, year: YearRows, step: int, storage: float, end: float, draft: float) -> tuple[float, float]:
    release = released(year, step, draft, year.rows[RELEASE_LOWER, step])
    power = power_at(plant, mean(storage, end), release, year, step)
    made = stage_benefit(year, step, power, release, year.rows[HM3_PER_M3S, step])
    benefit: float = in_objective_unit(year, made)
    missed = unmet(year, step, draft, release, release) + unmet_power(year, step, power)
    return benefit, missed + missing_at(year, step, draft)
