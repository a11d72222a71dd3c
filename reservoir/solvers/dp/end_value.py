"""Value of the storage at the end of a horizon, GWh per hm3, by solving it again from and to other storages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import end_value
from reservoir.hydro.limits import Limits, corridor
from reservoir.hydro.window_limits import PER_STEP
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.processors import processors
from reservoir.solvers.dp.sequential import best_trajectory, trajectory_near
from reservoir.solvers.dp.settings import GridSettings
from reservoir.solvers.dp.water_value import (
    NEGLIGIBLE,
    TRAJECTORY_CHANGE,
    active_storage,
    completable,
    with_ends_of,
)

FloatArray = NDArray[np.float64]

#: Steps before the end that are solved again with another end; the storage before them is kept.
_STEPS_SOLVED_AGAIN = 2000
#: How a horizon with another start or end is solved, and how the start of a cycle is sought: its value hardly depends
#: on that start.
_SETTINGS = GridSettings(fine_states=15, reach=5.0, tolerance=1e-9, most_refinements=40)
_SEARCH = GridSettings(
    states=51, fine_states=15, reach=4.0, start_states=9, agreement=1e-3, tolerance=1e-6, most_restarts=0
)


def end_storage_value(year: ReservoirYear, storage_hm3: FloatArray) -> float:
    """Marginal value of the storage at the end of a horizon, GWh per hm3.

    If the end is fixed, or chosen by the plan as in a cyclic horizon: what the plan gains if it may end one hm3 lower.
    If the end is valued: its value; if it is free: 0.

    Parameters
    ----------
    year : ReservoirYear
        A horizon of any number of steps; of a cyclic one, the start is held at the first storage.
    storage_hm3 : ndarray, shape (steps + 1,)
        The optimal trajectory: storages at the start of the first step and at the end of each.

    Returns
    -------
    float
        Not a number where only one end can be reached.
    """
    first = max(year.limits.steps - _STEPS_SOLVED_AGAIN, 0)
    year, storage_hm3 = _from_step(with_ends_of(year, storage_hm3), storage_hm3, first), storage_hm3[first:]
    limits = year.limits
    if limits.storage_lower_hm3[-1] < limits.storage_upper_hm3[-1]:
        return float(end_value(limits.arrays().conditions, 0.0, 1.0))
    change = TRAJECTORY_CHANGE * active_storage(limits)
    return -_slope_at_end(year, storage_hm3, change, change)


def cycle_end_value(cycle: ReservoirYear) -> float:
    """Marginal value of the storage at the end of a cyclic horizon that is followed by itself, GWh per hm3.

    It is what one hm3 more at the start of the best cycle is worth, but no less than the cycle gains if it may end one
    hm3 lower, and no more than it loses if it must end one hm3 higher. With this value, a horizon that may end anywhere
    ends where the cycle does.

    Parameters
    ----------
    cycle : ReservoirYear
        A cyclic horizon.

    Returns
    -------
    float
        Not a number if the cycle cannot keep its limits, or if only one storage is possible.
    """
    threads = processors()
    held = with_ends_of(cycle, best_trajectory(cycle, _SEARCH, threads).storages)
    best = best_trajectory(held, GridSettings(), threads)
    if held.certify(best.position).violation > 0:
        return float("nan")
    change = TRAJECTORY_CHANGE * active_storage(held.limits)
    value = _slope_at_start(held, best.storages, change)
    gain, loss = (-_slope_at_end(held, best.storages, *changes) for changes in ((change, 0.0), (0.0, change)))
    return float(np.fmin(np.fmax(value, gain), loss))


def _slope_at_start(year: ReservoirYear, storage_hm3: FloatArray, change_hm3: float) -> float:
    """Change of the optimum with each hm3 more at the start, of which so much less and more is tried."""
    start, ranges = storage_hm3[0], completable(year.limits.delivering())
    low, high = max(start - change_hm3, ranges[0][0]), min(start + change_hm3, ranges[1][0])
    return _slope(year, storage_hm3, low, high, year.limits.starting_at)


def _slope_at_end(year: ReservoirYear, storage_hm3: FloatArray, less_hm3: float, more_hm3: float) -> float:
    """Change of the optimum with each hm3 more that must be left, of which so much less and more is tried."""
    limits, end = year.limits, storage_hm3[-1]
    lowest, highest = limits.storage_lower_hm3.min(), limits.storage_upper_hm3.max()
    lower, upper = corridor(_ending_within(limits.delivering(), lowest, highest))
    low, high = min(max(end - less_hm3, lower[-1]), end), max(min(end + more_hm3, upper[-1]), end)
    return _slope(year, storage_hm3, low, high, lambda other: _ending_within(limits, other, other))


def _slope(
    year: ReservoirYear, storage_hm3: FloatArray, low: float, high: float, moved: Callable[[float], Limits]
) -> float:
    """Slope of the optimum between two storages at one end, near a trajectory; not a number if they are too close."""
    change = TRAJECTORY_CHANGE * active_storage(year.limits)
    if not high - low > NEGLIGIBLE * change:
        return float("nan")
    grids = _SETTINGS.grids(year.limits.steps)
    of_low, of_high = (
        trajectory_near(replace(year, limits=moved(storage)), grids, storage_hm3, change / grids.reach).fitness
        for storage in (low, high)
    )
    return (of_high - of_low) / (high - low)


def _from_step(year: ReservoirYear, storage_hm3: FloatArray, first: int) -> ReservoirYear:
    """The steps of a horizon from one on, which begin at the storage of a trajectory."""
    limits = year.limits
    if first == 0:
        return year
    rows = {name: getattr(limits, name)[first:] for name in PER_STEP}
    conditions = None if limits.conditions is None else limits.conditions[first:]
    return replace(year, limits=replace(limits, **rows, conditions=conditions).starting_at(storage_hm3[first]))


def _ending_within(limits: Limits, lower_hm3: float, upper_hm3: float) -> Limits:
    lower, upper = limits.storage_lower_hm3.copy(), limits.storage_upper_hm3.copy()
    lower[-1], upper[-1] = lower_hm3, upper_hm3
    return replace(limits, storage_lower_hm3=lower, storage_upper_hm3=upper)
