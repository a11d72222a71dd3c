"""What a step has to reckon with besides the inflow and the release: losses of the lake, and demands on the plant.

Net evaporation, seepage, withdrawals, the part of a month in which the turbines can run, a lowest power, a lowest
storage for the turbines and the change of release between steps. Each function has a second form for reservoirs that
have none of these (`NO_CONDITIONS`), which costs compiled code nothing (`jit`).

Volumes in hm3, flows in m3/s. A *draft* is a release that may be less than the least: by what it is less, the
withdrawal is cut (a shortage), and where all of that is cut, the release (`step.there_is`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.elementwise import (
    ZERO,
    Numbers,
    choose,
    curve_value,
    every,
    greater,
    lesser,
    mean,
    none_without,
    rounding,
)
from reservoir.hydro.rows import (
    END_VALUE,
    EVAPORATION,
    MIDDLE_START,
    OPERATING_STORAGE,
    PER_SHORTAGE,
    PLANT_FACTOR,
    POWER_LOWER,
    RAMP_DOWN,
    RAMP_UP,
    TILT_LOWER,
    TILT_UPPER,
    WITHDRAWAL,
    YearRows,
)

#: A reservoir without conditions.
NO_CONDITIONS: tuple[()] = ()
#: Most steps of the iteration for the storage at the end of a step, after the first two; each leaves a small part of
#: the error, since the loss changes little with the storage. It ends with a step of no more than `_CLOSE` roundings.
_REFINEMENTS = 10
_CLOSE = np.float32(16.0)
#: A demand is kept that is missed by less than this part of it.
_KEPT = np.float32(1e-6)
#: A loss smaller than this (hm3) tells nothing of its slope.
_NEXT_TO_NOTHING: Any = np.float32(1e-30)
_ONE: Any = np.float32(1.0)  # in the least precision, so that it raises that of no other number


class StepConditions(NamedTuple):
    """Conditions of one step, in compiled code.

    Parameters
    ----------
    evaporation : float
        Net evaporation, hm3 per km2 of the lake.
    withdrawal : float
        Withdrawal from the lake that is demanded, m3/s.
    plant_factor : float
        Part of the step in which the turbines can run at full load.
    power_lower : float
        Lowest power, MW; 0 where none is demanded.
    area, seepage : curve
        Area of the lake (km2) and seepage (m3/s) by storage (hm3).
    operating_storage : float
        Mean storage below which the turbines stand still, hm3.
    ramp_up, ramp_down : float
        Largest rise and fall of the release from one step to the next, m3/s.
    per_shortage : float
        Relative violation of a shortage of 1 m3/s: its volume over the largest that is demanded in a step.
    """

    evaporation: Any
    withdrawal: Any
    plant_factor: Any
    power_lower: Any
    area: Any
    seepage: Any
    operating_storage: Any
    ramp_up: Any
    ramp_down: Any
    per_shortage: Any


@none_without(lambda year, step: ())
def conditions_at(year: Any, step: Any) -> Any:
    """Conditions of one step of a year (`rows.YearRows`); in Python of many years too (`YearRows.by_field`)."""
    rows, numbers = year.rows, year.numbers
    return StepConditions(
        rows[EVAPORATION][step],
        rows[WITHDRAWAL][step],
        rows[PLANT_FACTOR][step],
        rows[POWER_LOWER][step],
        year.lake.area,
        year.lake.seepage,
        numbers[OPERATING_STORAGE],
        numbers[RAMP_UP],
        numbers[RAMP_DOWN],
        rows[PER_SHORTAGE][step],
    )


@none_without(lambda years, index: ())
def year_of(years: Any, index: int) -> Any:
    """One of many years with losses or demands."""
    return YearRows(
        years.rows[index, 0], years.numbers[index, 0], years.lake, years.priced, years.cyclic, years.unrolled
    )


@none_without(lambda year, step, start: ZERO)
def lower_tilt(year: Any, step: int, start: float) -> float:
    """How much higher the lower reachable bound of a cyclic year is than its drift tells, hm3."""
    tilted: float = year.rows[TILT_LOWER, step] * (start - year.numbers[MIDDLE_START])
    return tilted


@none_without(lambda year, step, start: ZERO)
def upper_tilt(year: Any, step: int, start: float) -> float:
    """How much higher the upper reachable bound of a cyclic year is than its drift tells, hm3."""
    tilted: float = year.rows[TILT_UPPER, step] * (start - year.numbers[MIDDLE_START])
    return tilted


@none_without(lambda year, start, end: ZERO)
def end_value(year: Any, start: Any, end: Any) -> Any:
    """What a year's change of storage is worth, in the unit of the objective."""
    return year.numbers[END_VALUE] * (end - start)


@none_without(lambda conditions, mean_storage, hm3_per_m3s: ZERO)
def loss_volume(conditions: Any, mean_storage: Any, hm3_per_m3s: Any) -> Any:
    """Evaporation and seepage of a step at its mean storage, hm3."""
    evaporated, seeped = step_losses(conditions, mean_storage, hm3_per_m3s)
    return evaporated + seeped


@none_without(lambda conditions, mean_storage, hm3_per_m3s: (ZERO, ZERO))
def step_losses(conditions: Any, mean_storage: Any, hm3_per_m3s: Any) -> tuple[Any, Any]:
    """Net evaporation and seepage of a step at its mean storage, hm3."""
    evaporated = conditions.evaporation * curve_value(conditions.area, mean_storage)
    return evaporated, hm3_per_m3s * curve_value(conditions.seepage, mean_storage)


@none_without(lambda conditions, storage, lossless, hm3_per_m3s: lossless)
def end_after_losses(conditions: Any, storage: Numbers, lossless: Numbers, hm3_per_m3s: Numbers | float) -> Numbers:
    """Storage at the end of a step that would end at `lossless` without evaporation and seepage.

    These depend on the mean of both storages: end = lossless - loss(mean). Solved with the slope between the first two
    guesses.
    """
    lost: Any = loss_volume(conditions, mean(storage, lossless), hm3_per_m3s)
    end = lossless - lost
    less = loss_volume(conditions, mean(storage, end), hm3_per_m3s)
    slope = _ONE + (lost - less) / choose(abs(lost) > _NEXT_TO_NOTHING, lost, _ONE)
    for _ in range(_REFINEMENTS):
        change = (lossless - loss_volume(conditions, mean(storage, end), hm3_per_m3s) - end) / slope
        end = end + change
        if every(abs(change) <= _CLOSE * rounding(end)):
            break
    found: Numbers = end
    return found


@none_without(lambda conditions, end, lossless, hm3_per_m3s: lossless)
def start_before_losses(conditions: Any, end: Numbers, lossless: Numbers, hm3_per_m3s: Numbers | float) -> Numbers:
    """Storage at the start of a step that ends at `end`, and would start at `lossless` without losses."""
    start: Any = lossless + loss_volume(conditions, mean(lossless, end), hm3_per_m3s)
    for _ in range(2 * _REFINEMENTS):
        before, start = start, lossless + loss_volume(conditions, mean(start, end), hm3_per_m3s)
        if every(abs(start - before) <= _CLOSE * rounding(start)):
            break
    found: Numbers = start
    return found


@none_without(lambda conditions, capacity: capacity)
def available(conditions: Any, capacity: Numbers | float) -> Numbers | float:
    """A capacity of the plant, as a mean of the step."""
    part: Numbers | float = capacity * conditions.plant_factor
    return part


@none_without(lambda conditions, mean_storage, amount: amount)
def while_operating(conditions: Any, mean_storage: Numbers, amount: Numbers) -> Numbers:
    """A flow or a power of the turbines; 0 where the lake is too low for them."""
    running: Numbers = choose(mean_storage < conditions.operating_storage, amount - amount, amount)
    return running


@none_without(lambda conditions: ZERO)
def demanded(conditions: Any) -> Numbers | float:
    """Withdrawal that is demanded, m3/s."""
    withdrawal: Numbers | float = conditions.withdrawal
    return withdrawal


@none_without(lambda conditions, draft, least_draft: draft)
def released(conditions: Any, draft: Numbers, least_draft: Numbers | float) -> Numbers:
    """Release of a draft: not less than the least release, which is the least draft and the withdrawal.

    Of a draft that is less than the least (`step.there_is`) no withdrawal is left, and the release is what there is.
    """
    release: Numbers = greater(draft, lesser(draft, least_draft) + conditions.withdrawal)
    return release


@none_without(lambda conditions, draft, before: draft)
def ramped(conditions: Any, draft: Numbers, before: Numbers) -> Numbers:
    """A draft wanted, as far as the release may change from the one before."""
    held: Numbers = lesser(greater(draft, before - conditions.ramp_down), before + conditions.ramp_up)
    return held


def not_kept(missed: Any) -> Any:
    """The part that a demand is missed by; 0 where it is kept."""
    return choose(missed > _KEPT, missed, missed - missed)


@none_without(lambda conditions, draft, release, before: ZERO)
def unmet(conditions: Any, draft: Any, release: Any, before: Any) -> Any:
    """Relative violation of the withdrawal and of the change of release."""
    beyond = greater((release - before) / conditions.ramp_up - _ONE, (before - release) / conditions.ramp_down - _ONE)
    short = (release - draft) * conditions.per_shortage
    return not_kept(short) + not_kept(beyond)


@none_without(lambda conditions, power: ZERO)
def unmet_power(conditions: Any, power: Any) -> Any:
    """Relative violation of the lowest power."""
    lowest: Any = conditions.power_lower
    short = (lowest - power) / choose(lowest > 0, lowest, _ONE)
    return not_kept(short)
