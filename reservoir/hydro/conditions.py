"""What a step has to reckon with besides the inflow and the release: losses of the lake, and demands on the plant.

Net evaporation, seepage, withdrawals, the part of a month in which the turbines can run, a lowest power, a lowest
storage for the turbines and the change of release between steps. Each function has a second form for reservoirs that
have none of these (`NO_CONDITIONS`), which costs compiled code nothing (`jit`). What counts is read of the year's rows
at a step (`rows.YearRows`); in Python of many years too (`YearRows.by_field`), whose step is a place in their rows.

Volumes in hm3, flows in m3/s. A *draft* is a release that may be less than the least: by what it is less, the
withdrawal is cut (a shortage), and where all of that is cut, the release (`step.there_is`).
"""

from __future__ import annotations

from typing import Any

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
    POWER_UPPER,
    RAMP_DOWN,
    RAMP_UP,
    TAILWATER,
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
KEPT = np.float32(1e-6)
#: A loss smaller than this (hm3) tells nothing of its slope.
_NEXT_TO_NOTHING: Any = np.float32(1e-30)
_ONE: Any = np.float32(1.0)  # in the least precision, so that it raises that of no other number


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


@none_without(lambda year, step, mean_storage, hm3_per_m3s: ZERO)
def loss_volume(year: Any, step: Any, mean_storage: Any, hm3_per_m3s: Any) -> Any:
    """Evaporation and seepage of a step at its mean storage, hm3."""
    evaporated, seeped = step_losses(year, step, mean_storage, hm3_per_m3s)
    return evaporated + seeped


def lake_loss(lake: Any, evaporation: Any, mean_storage: Any, hm3_per_m3s: Any) -> Any:
    """What a lake loses at its mean storage, hm3.

    Where losses are compared, the evaporation is read of the rows once: compiled code takes it out of the differences.
    """
    return evaporation * curve_value(lake.area, mean_storage) + hm3_per_m3s * curve_value(lake.seepage, mean_storage)


@none_without(lambda year, step, mean_storage, hm3_per_m3s: (ZERO, ZERO))
def step_losses(year: Any, step: Any, mean_storage: Any, hm3_per_m3s: Any) -> tuple[Any, Any]:
    """Net evaporation and seepage of a step at its mean storage, hm3."""
    evaporated = year.rows[EVAPORATION][step] * curve_value(year.lake.area, mean_storage)
    return evaporated, hm3_per_m3s * curve_value(year.lake.seepage, mean_storage)


@none_without(lambda year, step, storage, lossless, hm3_per_m3s: lossless)
def end_after_losses(
    year: Any, step: Any, storage: Numbers, lossless: Numbers, hm3_per_m3s: Numbers | float
) -> Numbers:
    """Storage at the end of a step that would end at `lossless` without evaporation and seepage.

    These depend on the mean of both storages: end = lossless - loss(mean). Solved with the slope between the first two
    guesses.
    """
    lake, evaporation = year.lake, year.rows[EVAPORATION][step]
    lost: Any = lake_loss(lake, evaporation, mean(storage, lossless), hm3_per_m3s)
    end = lossless - lost
    less = lake_loss(lake, evaporation, mean(storage, end), hm3_per_m3s)
    slope = _ONE + (lost - less) / choose(abs(lost) > _NEXT_TO_NOTHING, lost, _ONE)
    for _ in range(_REFINEMENTS):
        change = (lossless - lake_loss(lake, evaporation, mean(storage, end), hm3_per_m3s) - end) / slope
        end = end + change
        if every(abs(change) <= _CLOSE * rounding(end)):
            break
    found: Numbers = end
    return found


@none_without(lambda year, step, end, lossless, hm3_per_m3s: lossless)
def start_before_losses(year: Any, step: Any, end: Numbers, lossless: Numbers, hm3_per_m3s: Numbers | float) -> Numbers:
    """Storage at the start of a step that ends at `end`, and would start at `lossless` without losses."""
    lake, evaporation = year.lake, year.rows[EVAPORATION][step]
    start: Any = lossless + lake_loss(lake, evaporation, mean(lossless, end), hm3_per_m3s)
    for _ in range(2 * _REFINEMENTS):
        before, start = start, lossless + lake_loss(lake, evaporation, mean(start, end), hm3_per_m3s)
        if every(abs(start - before) <= _CLOSE * rounding(start)):
            break
    found: Numbers = start
    return found


@none_without(lambda year, step, capacity: capacity)
def available(year: Any, step: Any, capacity: Numbers | float) -> Numbers | float:
    """A capacity of the plant, as a mean of the step."""
    part: Numbers | float = capacity * year.rows[PLANT_FACTOR][step]
    return part


@none_without(lambda year, step, installed_mw: installed_mw)
def most_power(year: Any, step: Any, installed_mw: Any) -> Any:
    """Most mean power of a step, MW: of the installed capacity, no more than is of use (`rows.most_wanted`)."""
    return lesser(available(year, step, installed_mw), year.rows[POWER_UPPER][step])


@none_without(lambda year, step, tailrace_m: tailrace_m)
def backed_up(year: Any, step: Any, tailrace_m: Numbers) -> Numbers:
    """Tailrace level, m: no lower than the lake below."""
    level: Numbers = greater(tailrace_m, year.rows[TAILWATER][step])
    return level


@none_without(lambda year, mean_storage, amount: amount)
def while_operating(year: Any, mean_storage: Numbers, amount: Numbers) -> Numbers:
    """A flow or a power of the turbines; 0 where the lake is too low for them."""
    running: Numbers = choose(mean_storage < year.numbers[OPERATING_STORAGE], amount - amount, amount)
    return running


@none_without(lambda year, step: ZERO)
def demanded(year: Any, step: Any) -> Any:
    """Withdrawal that is demanded, m3/s."""
    return year.rows[WITHDRAWAL][step]


@none_without(lambda year, step, draft, least_draft: draft)
def released(year: Any, step: Any, draft: Numbers, least_draft: Numbers | float) -> Numbers:
    """Release of a draft: not less than the least release, which is the least draft and the withdrawal.

    Of a draft that is less than the least (`step.there_is`) no withdrawal is left, and the release is what there is.
    """
    release: Numbers = greater(draft, lesser(draft, least_draft) + year.rows[WITHDRAWAL][step])
    return release


@none_without(lambda year, draft, before: draft)
def ramped(year: Any, draft: Numbers, before: Numbers) -> Numbers:
    """A draft wanted, as far as the release may change from the one before."""
    kept: Numbers = lesser(greater(draft, before - year.numbers[RAMP_DOWN]), before + year.numbers[RAMP_UP])
    return kept


def not_kept(missed: Any) -> Any:
    """The part that a demand is missed by; 0 where it is kept."""
    return choose(missed > KEPT, missed, missed - missed)


@none_without(lambda year, step, draft, release, before: ZERO)
def unmet(year: Any, step: Any, draft: Any, release: Any, before: Any) -> Any:
    """Relative violation of the withdrawal and of the change of release."""
    up, down = year.numbers[RAMP_UP], year.numbers[RAMP_DOWN]
    beyond = greater((release - before) / up - _ONE, (before - release) / down - _ONE)
    short = (release - draft) * year.rows[PER_SHORTAGE][step]
    return not_kept(short) + not_kept(beyond)


@none_without(lambda year, step: ZERO)
def power_demanded(year: Any, step: Any) -> Any:
    """Lowest power, MW; 0 where none is demanded."""
    return year.rows[POWER_LOWER][step]


@none_without(lambda year, step, power: ZERO)
def unmet_power(year: Any, step: Any, power: Any) -> Any:
    """Relative violation of the lowest power."""
    lowest = power_demanded(year, step)
    short = (lowest - power) / choose(lowest > 0, lowest, _ONE)
    return not_kept(short)
