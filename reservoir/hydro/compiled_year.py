"""One year as compiled code reads and runs it (Yu et al. 2020, eq. 6 and 11-20).

The bounds themselves, and the storages from which a year can be completed, are made in `limits`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.benefit import stage_benefit, terms_at
from reservoir.hydro.conditions import (
    BY_YEAR,
    conditions_at,
    lower_tilt,
    ramped,
    released,
    unmet,
    unmet_power,
    upper_tilt,
)
from reservoir.hydro.elementwise import RealArray, clip, mean
from reservoir.hydro.jit import inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import enforce_limits, power_at, relative_violation, steered, unmet_minimum

#: Loops over more steps than this are compiled as loops.
MOST_UNROLLED = 40


class YearArrays(NamedTuple):
    """One year as compiled code reads it; arrays of shape (steps,), storages at the end of each step.

    ``reach_lower`` and ``reach_upper`` are the reachable bounds of eq. 16-17. In a cyclic year they hold for an open
    end, and the bounds for a given start are ``clip(start - drift_lower, reach_lower, reach_upper)`` and likewise
    with ``drift_upper``. ``capacity`` is the largest storage, ``dead`` the one below which nothing can be released, and
    ``per_missing`` the relative violation of a hm3 that is missing of the least release. ``conditions`` are
    `YearConditions` or nothing: with them ``inflow`` is less the withdrawal demanded, ``release_lower`` is the least
    draft. ``terms`` are `StepTerms` of arrays, or nothing where the objective is energy. ``unrolled`` is a tuple of so
    many zeros: unlike an array's, its length is known when code is compiled, so that loops over steps become vector
    instructions (see `steps_in`). It is empty where there are more than `MOST_UNROLLED` steps, and in float64: dynamic
    programming and certificates gain nothing by it, and would be compiled again for every number of steps.
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
    dead: Any
    per_missing: Any
    conditions: Any
    terms: Any
    cyclic: bool
    unrolled: tuple[int, ...]


def some_years(years: YearArrays, which: Any) -> YearArrays:
    """Some of many years, or one year as one of many (`numpy.newaxis`)."""
    rows = {name: np.asarray(getattr(years, name))[which] for name in years._fields if name not in _SHARED}
    conditions = years.conditions
    if conditions:
        of_conditions = {name: np.asarray(getattr(conditions, name))[which] for name in BY_YEAR}
        conditions = conditions._replace(**of_conditions)
    return years._replace(**rows, conditions=conditions, terms=terms_at(years.terms, which))


#: Fields of `YearArrays` that are no arrays.
_SHARED = ("conditions", "terms", "cyclic", "unrolled")


@inlined
def steps_in(year: YearArrays) -> int:
    """Number of steps; known when code is compiled where ``unrolled`` is not empty."""
    return len(year.unrolled) or len(year.inflow)


@inlined
def lower_reach(year: YearArrays, step: int, start: float) -> float:
    """Lowest storage at the end of a step from which the year can be completed (eq. 16)."""
    lower: float = year.reach_lower[step]
    if year.cyclic:
        shifted = start - year.drift_lower[step] + lower_tilt(year.conditions, step, start)
        lower = clip(shifted, year.reach_lower[step], year.reach_upper[step])
    return lower


@inlined
def upper_reach(year: YearArrays, step: int, start: float) -> float:
    """Highest storage at the end of a step from which the year can be completed (eq. 17)."""
    upper: float = year.reach_upper[step]
    if year.cyclic:
        shifted = start - year.drift_upper[step] + upper_tilt(year.conditions, step, start)
        upper = clip(shifted, year.reach_lower[step], year.reach_upper[step])
    return upper


@inlined
def violation_at(year: YearArrays, step: int, storage: float, start: float) -> float:
    """Violation of the storage bounds at the end of a step, relative to them (eq. 20).

    At the end of a cyclic year the bound is its start.
    """
    lower: float = year.storage_lower[step]
    upper: float = year.storage_upper[step]
    if year.cyclic and step == steps_in(year) - 1:
        lower = upper = start
    violation: float = relative_violation(storage, lower, upper, year.capacity)
    return violation


@inlined
def missing_at(year: YearArrays, step: int, draft: float) -> float:
    """Violation of the least release of a step, relative to the largest of the year."""
    per_missing = year.per_missing * year.hm3_per_m3s[step]
    violation: float = unmet_minimum(draft, year.release_lower[step], per_missing)
    return violation


@inlined
def follow(year: YearArrays, wanted: RealArray, drafts: RealArray, storages: RealArray) -> float:
    """Run a year from ``storages[0]`` with the drafts wanted, repaired; fills `drafts` and `storages`.

    A draft is the release, but for steps that cut a withdrawal (`conditions`). Returns the sum of the violations, but
    for those of the lowest power.
    """
    start: float = storages[0]
    storage, violation = start, start - start
    before = wanted[0]
    for step in range(steps_in(year)):
        conditions = conditions_at(year.conditions, step)
        reach = lower_reach(year, step, start), upper_reach(year, step, start)
        bounds = year.release_lower[step], year.release_upper[step]
        asked = ramped(conditions, wanted[step], before) if step > 0 else wanted[step]
        drafts[step], storage = enforce_limits(
            storage, asked, year.inflow[step], year.hm3_per_m3s[step], reach, bounds, year.dead, conditions
        )
        storages[step + 1] = storage
        violation += violation_at(year, step, storage, start)
        violation += missing_at(year, step, drafts[step])
        release = released(conditions, drafts[step], year.release_lower[step])
        violation += unmet(conditions, drafts[step], release, before if step > 0 else release)
        before = release
    return violation


@inlined
def follow_repairable(
    year: YearArrays, flow_per_volume: RealArray, wanted: RealArray, releases: RealArray, storages: RealArray
) -> None:
    """As `follow`, in a year that is always repairable (`repairable.always_repairable`): no bound can be violated.

    Only the chain from one storage to the next waits for its turn; the releases follow for all steps at once, by a
    product with the reciprocal in place of `enforce_limits`' division.
    """
    start = storages[0]
    storage = start
    for step in range(steps_in(year)):
        reach = lower_reach(year, step, start), upper_reach(year, step, start)
        storage, releases[step] = steered(storage, wanted[step], year.inflow[step], year.hm3_per_m3s[step], reach)
        storages[step + 1] = storage
    for step in range(steps_in(year)):
        releases[step] = wanted[step] + releases[step] * flow_per_volume[step]


@inlined
def benefit_of(
    plant: Plant, year: YearArrays, drafts: RealArray, storages: RealArray, per_stage_benefit: float
) -> float:
    """Benefit of a year (eq. 6); `objective_per_stage_benefit` in the precision of the arrays is the last argument."""
    benefit: float = storages[0] - storages[0]
    for step in range(steps_in(year)):
        release, power = power_in_step(plant, year, step, drafts, storages)
        benefit += stage_benefit(terms_at(year.terms, step), power, release, year.hm3_per_m3s[step])
    return benefit * per_stage_benefit


@inlined
def power_in_step(
    plant: Plant, year: YearArrays, step: int, drafts: RealArray, storages: RealArray
) -> tuple[float, float]:
    """Release (m3/s) and power (MW) of a step."""
    conditions = conditions_at(year.conditions, step)
    release = released(conditions, drafts[step], year.release_lower[step])
    power: float = power_at(plant, mean(storages[step], storages[step + 1]), release, conditions)
    return release, power


@inlined
def power_violation(plant: Plant, year: YearArrays, drafts: RealArray, storages: RealArray) -> float:
    """Sum of the relative violations of the lowest power."""
    violation: float = storages[0] - storages[0]
    for step in range(steps_in(year)):
        _, power = power_in_step(plant, year, step, drafts, storages)
        violation += unmet_power(conditions_at(year.conditions, step), power)
    return violation
