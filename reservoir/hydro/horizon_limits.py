"""Limits of a record's horizons, with the starts and the ends that the reservoir prescribes (Yu et al. 2020).

And of windows: consecutive steps of horizons, between storages that a schedule has there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, later_sum, reaching_down, satisfiable
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.record_rows import record_rows, terms_of
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System

FloatArray = NDArray[np.float64]

#: The starts of a cyclic year are drawn in by this part of the largest storage: room for what solvers in float32 draw
#: reachable bounds in by, 1e-6 at either end, and for their rounding.
START_MARGIN = 4e-6
#: Starts of cyclic years with losses that are tried for whether the year can return to them.
_TRIED_STARTS = 129
#: Halvings of the span between the last start that is not good and the first that is: to a millionth of it.
_HALVINGS = 20


def year_limits(system: System, inflow: Inflow) -> Limits:
    """Limits of every water year of a record, with the start and the end that the reservoir prescribes."""
    return with_ends(system.reservoir, open_limits(system, inflow))


def horizon_limits(system: System, inflow: Inflow, horizon: Horizon) -> list[Limits]:
    """Limits of a record's horizons, each with the start and the end that the reservoir prescribes.

    One item of equally long horizons, and one of the last where it is shorter.
    """
    years, spans = open_limits(system, inflow), horizon.equal_spans(inflow.years)
    return [with_ends(system.reservoir, years[first:stop].joined(length)) for first, stop, length in spans]


def with_ends(reservoir: Reservoir, limits: Limits) -> Limits:
    """Open horizons with the start and the end that a reservoir prescribes."""
    if reservoir.year_end is YearEnd.VALUED and reservoir.end_value_gwh_per_hm3 is None:
        problem = "is missing"
        mend = "set it, such as to end_value_gwh_per_hm3 of a plan by reservoir.optimise, which the record implies"
        raise InputError(problem, "GWh per hm3", mend, column="end_value_gwh_per_hm3")
    start = reservoir.initial_storage_hm3
    if start is None:
        return _with_good_starts(limits)
    if reservoir.year_end is YearEnd.FIXED and (end := reservoir.final_storage_hm3) is not None:
        limits = limits.ending_within(end, end)
    return reaching_down(limits.begun_at(start))


def open_limits(system: System, inflow: Inflow, *, conditions: bool = False) -> Limits:
    """Years with the bounds of their steps, nothing said of their ends, any start within the last step's bounds.

    `conditions` is as of `record_rows`.
    """
    rows, numbers, lake = record_rows(system.reservoir, inflow, conditions=conditions)
    return Limits.given({**rows, **terms_of(system, inflow)}, numbers, lake)


def _with_good_starts(years: Limits) -> Limits:
    """Narrow the starts of cyclic years to those that each can return to, if there are any."""
    if years.lake:
        return _with_tried_starts(years)
    starts = np.stack(cyclic_starts(*years.gains_hm3(), years.storage_lower_hm3, years.storage_upper_hm3), axis=-1)
    narrowed = years.changed(start_bounds_hm3=starts)
    good = (starts[:, 0] <= starts[:, 1]) & satisfiable(narrowed)
    return years.changed(start_bounds_hm3=np.where(good[:, np.newaxis], starts, years.start_bounds_hm3))


def _with_tried_starts(years: Limits) -> Limits:
    """As `_with_good_starts`, by trial: what a lake loses depends on its storage."""
    bounds = years.start_bounds_hm3
    tried = np.linspace(bounds[:, 0], bounds[:, 1], _TRIED_STARTS)
    lowest, highest = _first_good(years, tried), np.full(len(years), np.nan)
    able = np.flatnonzero(~np.isnan(lowest))
    highest[able] = _first_good(years[able], tried[::-1, able])
    lowest[able] = _farthest(years[able], lowest[able], tried[0, able])
    highest[able] = _farthest(years[able], highest[able], tried[-1, able])
    slack = START_MARGIN * years.storage_upper_hm3.max(axis=-1)
    narrowed = np.column_stack([lowest + slack, highest - slack])
    good = narrowed[:, 0] <= narrowed[:, 1]
    return years.changed(start_bounds_hm3=np.where(good[:, np.newaxis], narrowed, bounds))


def _first_good(years: Limits, tried: FloatArray) -> FloatArray:
    """The first of the starts tried, shape (starts, years), to which each year can return; NaN without one."""
    found, left = np.full(len(years), np.nan), np.arange(len(years))
    for starts in tried:
        if not left.size:
            break
        good = satisfiable(years[left].starting_at(starts[left]))
        found[left[good]] = starts[left[good]]
        left = left[~good]
    return found


def _farthest(years: Limits, good: FloatArray, bound: FloatArray) -> FloatArray:
    """The start to which each year can return that is farthest from the first that was tried, towards a bound."""
    apart = (years.start_bounds_hm3[:, 1] - years.start_bounds_hm3[:, 0]) / (_TRIED_STARTS - 1)
    bad = good + np.clip(bound - good, -apart, apart)
    for _ in range(_HALVINGS):
        middle = 0.5 * (good + bad)
        able = satisfiable(years.starting_at(middle))
        good, bad = np.where(able, middle, good), np.where(able, bad, middle)
    return good


def cyclic_starts(
    gain_most: FloatArray, gain_least: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest start to which cyclic years can return within their bounds; crossed where there is none.

    Every end of a step is reached from the start and leads back to it: from the gains up to a step and from it on,
    each bound of the storage there bounds the start.

    Parameters
    ----------
    gain_most, gain_least : ndarray, shape (..., steps)
        Storage gained in each step with the least and the most release, hm3.
    lower, upper : ndarray, shape (..., steps)
        Bounds of the storage at the end of each step, hm3.
    """
    slack = START_MARGIN * np.max(upper, axis=-1)
    lowest = np.maximum(
        np.max(lower - np.cumsum(gain_most, axis=-1), axis=-1), np.max(lower + later_sum(gain_least), axis=-1)
    )
    highest = np.minimum(
        np.min(upper - np.cumsum(gain_least, axis=-1), axis=-1), np.min(upper + later_sum(gain_most), axis=-1)
    )
    return np.maximum(lower[..., -1], lowest + slack), np.minimum(upper[..., -1], highest - slack)


def window_limits(
    horizons: Limits,
    horizon: NDArray[np.integer],
    steps: NDArray[np.integer],
    storage_hm3: FloatArray,
    release_m3s: FloatArray,
) -> Limits:
    """Limits of windows that begin and end at the storages of a schedule, at the end of a horizon as that does.

    Where the change of release is limited, the first and the last release of a window are limited by those beside it.

    Parameters
    ----------
    horizons : Limits
        Of several horizons.
    horizon : ndarray, shape (windows,)
        The horizon of each window.
    steps : ndarray, shape (windows, length)
        Its steps in that horizon; those of a cyclic one may run over its end.
    storage_hm3 : ndarray, shape (horizons, steps + 1)
        The schedule's storages.
    release_m3s : ndarray, shape (horizons, steps)
        The schedule's releases.

    Returns
    -------
    Limits
        Of the windows, none of them cyclic.
    """
    windows, last = horizons.windows(horizon, steps), horizons.steps - 1
    lower, upper = (np.array(bound) for bound in (windows.storage_lower_hm3, windows.storage_upper_hm3))
    fixed = np.ones(len(horizon), bool)
    if horizons.cyclic:
        bounds = horizons.start_bounds_hm3[horizon]
        np.maximum(lower, bounds[:, :1], out=lower, where=steps == last)
        np.minimum(upper, bounds[:, 1:], out=upper, where=steps == last)
    else:
        fixed = steps[:, -1] != last
    ends = storage_hm3[horizon, steps[:, -1] + 1]
    lower[fixed, -1] = upper[fixed, -1] = ends[fixed]
    windows = windows.changed(storage_lower=lower, storage_upper=upper).begun_at(storage_hm3[horizon, steps[:, 0]])
    if not horizons.ramps:
        return windows
    least, most = (np.array(bound) for bound in (windows.release_lower_m3s, windows.release_upper_m3s))
    up, down = windows.ramp_up, windows.ramp_down
    first = 0, steps[:, 0] != 0, steps[:, 0] - 1, down, up
    final = -1, steps[:, -1] != last, (steps[:, -1] + 1) % horizons.steps, up, down
    # The release of a step is as close to the one beside it as it may change, or as the schedule's own is.
    for step, inside, beside, fall, rise in (first, final):
        near, own = release_m3s[horizon, beside], release_m3s[horizon, steps[:, step]]
        np.maximum(least[:, step], np.minimum(near - fall, own), out=least[:, step], where=inside)
        np.minimum(most[:, step], np.maximum(near + rise, own), out=most[:, step], where=inside)
    return windows.changed(release_lower=least, release_upper=most)
