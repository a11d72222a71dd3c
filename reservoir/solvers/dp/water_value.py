"""What water is worth, GWh per hm3: the slope of the value function, and the value of what a horizon leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import end_value
from reservoir.hydro.limits import Limits, corridor, reachable_storage
from reservoir.hydro.plant import lake_with_cursors, plant_with_cursors
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.runtime import processors
from reservoir.solvers.dp import GridSettings
from reservoir.solvers.dp.recursion import reachable_ends, value_function
from reservoir.solvers.dp.sequential import best_trajectory, trajectory_near

FloatArray = NDArray[np.float64]

#: Change of storage, more and less, that a slope is computed from, as a fraction of the active storage: on the
#: trajectory, and at given storages.
TRAJECTORY_CHANGE, STORAGE_CHANGE = 0.005, 0.025
#: The grid around the trajectory: half width of its fine part, in these changes, cells of this part, cells of the rest.
_REACH, _FINE_CELLS, _OTHER_CELLS = 8, 80, 300
#: Storages closer together than this fraction of such a change have no slope.
NEGLIGIBLE = 1e-4
#: How often an interval is halved in which an end of a range is sought.
_HALVINGS = 50
#: Steps whose values are in memory at once.
_BLOCK = 1000


def water_values(
    year: ReservoirYears, storage_hm3: FloatArray, levels_hm3: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Water values of a horizon, on its trajectory and at given storages.

    Parameters
    ----------
    year : ReservoirYears
        A horizon of any number of steps; of a cyclic one, both ends are held at the first storage.
    storage_hm3 : ndarray, shape (steps + 1,)
        The optimal trajectory: storages at the start of the first step and at the end of each.
    levels_hm3 : ndarray, shape (levels,)
        Other storages.

    Returns
    -------
    on_trajectory : ndarray, shape (steps,)
        GWh per hm3 at the start of each step; for the end of the last see `end_value.end_storage_value`.
    at_levels : ndarray, shape (steps, levels)
        The same at the other storages. In both, not a number where the horizon cannot be completed from a storage, or
        from this storage alone.
    """
    year = with_ends_of(year, storage_hm3)
    grids, steps = _Grids(year, storage_hm3), year.limits.steps
    values = np.zeros(grids.states) + end_value(year.limits.arrays(), 0.0, grids.rows(steps, steps + 1)[0])
    on_trajectory, at_levels = np.empty(steps), np.empty((steps, len(levels_hm3)))
    for first in reversed(range(0, steps, _BLOCK)):
        stop = min(first + _BLOCK, steps)
        grid = grids.rows(first, stop + 1)
        block = _values(year, grid, first, values)
        values = block[0]
        rows = grid[:-1], block[:-1], grids.ranges[first:stop]
        own = storage_hm3[first:stop, np.newaxis]
        on_trajectory[first:stop] = _slopes(*rows, own, TRAJECTORY_CHANGE * grids.active)[:, 0]
        at_levels[first:stop] = _slopes(*rows, levels_hm3[np.newaxis], STORAGE_CHANGE * grids.active)
    return on_trajectory, at_levels


def active_storage(limits: Limits) -> float:
    """Largest less smallest storage that the bounds of a horizon allow, hm3."""
    return float(limits.storage_upper_hm3.max() - limits.storage_lower_hm3.min())


def with_ends_of(year: ReservoirYears, storage_hm3: FloatArray) -> ReservoirYears:
    """The horizon; of a cyclic one, that which starts and ends at the first storage."""
    if not year.limits.cyclic:
        return year
    return replace(year, limits=year.limits.starting_at(storage_hm3[0]))


def _values(year: ReservoirYears, grid: FloatArray, first_step: int, last: FloatArray) -> FloatArray:
    """Values of the states of some steps, and of the end of the last, where they are known."""
    values = np.empty_like(grid)
    values[-1] = last
    plant, arrays = plant_with_cursors(year.model.exact), lake_with_cursors(year.limits.arrays())
    value_function(plant, arrays, grid, year.penalty, first_step, values)
    return values


class _Grids:
    """States of a horizon: all storages from which it can be completed, more closely spaced around a trajectory.

    The storages of the trajectory are states: the value function often has kinks there.
    """

    def __init__(self, year: ReservoirYears, trajectory_hm3: FloatArray) -> None:
        self.active = active_storage(year.limits)
        lower, upper = completable(year.limits)
        lower, upper = np.minimum(lower, trajectory_hm3), np.maximum(upper, trajectory_hm3)
        kept = completable(year.limits.delivering())
        leaves = (trajectory_hm3 < kept[0]) | (trajectory_hm3 > kept[1])
        #: Ends of the storages that have slopes: those from which all withdrawals can be delivered, or all states.
        self.ranges = np.stack([np.where(leaves, lower, kept[0]), np.where(leaves, upper, kept[1])], axis=1)
        reach = _REACH * TRAJECTORY_CHANGE * self.active
        low, high = np.maximum(lower, trajectory_hm3 - reach), np.minimum(upper, trajectory_hm3 + reach)
        below = _share(_FINE_CELLS, trajectory_hm3 - low, high - trajectory_hm3)
        under = _share(_OTHER_CELLS, low - lower, upper - high)
        self._knots = np.stack([lower, low, trajectory_hm3, high, upper], axis=1)
        self._cells = np.stack([under, below, _FINE_CELLS - below, _OTHER_CELLS - under], axis=1)
        self.states = int(self._cells[0].sum()) + 1

    def rows(self, first: int, stop: int) -> FloatArray:
        """States of some times, shape (times, states)."""
        places = np.arange(self.states)
        grid = np.empty((stop - first, self.states))
        for row, knots, cells in zip(grid, self._knots[first:stop], self._cells[first:stop], strict=True):
            ends = np.concatenate([[0], np.cumsum(cells)])
            used = np.concatenate([[True], cells > 0])
            row[:] = np.interp(places, ends[used], knots[used])
        return grid


def _share(cells: int, one: FloatArray, other: FloatArray) -> NDArray[np.int64]:
    """Cells of one of two intervals that share them: in proportion, and at least one where it is no point."""
    whole = np.where(one + other > 0, one + other, 1.0)
    found = np.clip(np.rint(cells * one / whole), one > 0, cells - (other > 0))
    return np.asarray(found, np.int64)


def completable(limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Storages from which a horizon that is not cyclic can be completed within its bounds.

    Returns
    -------
    lower, upper : ndarray, shape (steps + 1,)
        At the start of the first step, of any storage that the bounds allow in some step, and at the end of each.
    """
    later_lower, later_upper = reachable_storage(limits)
    lowest, highest = float(limits.storage_lower_hm3.min()), float(limits.storage_upper_hm3.max())
    year = limits.arrays()

    def too_low(storage: float) -> bool:
        return bool(reachable_ends(year, 0, storage, 0.0, ())[1] < later_lower[0])

    def too_high(storage: float) -> bool:
        return bool(reachable_ends(year, 0, storage, 0.0, ())[0] > later_upper[0])

    return (
        np.append(_first_not(too_low, lowest, highest), later_lower),
        np.append(_first_not(too_high, highest, lowest), later_upper),
    )


def _first_not(excluded: Callable[[float], bool], first: float, last: float) -> float:
    """Storage, from the first to the last, from which on none is excluded; the last where all are."""
    if not excluded(first):
        return first
    for _ in range(_HALVINGS):
        middle = (first + last) / 2
        first, last = (middle, last) if excluded(middle) else (first, middle)
    return last


def _slopes(
    grid: FloatArray, values: FloatArray, ranges: FloatArray, at_hm3: FloatArray, change_hm3: float
) -> FloatArray:
    """Slope, within ranges, at storages of each row of a grid, shape (rows, storages); `at_hm3` has one row or all."""
    lowest, highest = ranges[:, :1], ranges[:, 1:]
    low, high = np.maximum(at_hm3 - change_hm3, lowest), np.minimum(at_hm3 + change_hm3, highest)
    of_low, of_high = (np.stack(list(map(np.interp, at, grid, values))) for at in (low, high))
    inside = (at_hm3 >= lowest) & (at_hm3 <= highest) & (high - low > NEGLIGIBLE * change_hm3)
    return np.where(inside, (of_high - of_low) / np.where(inside, high - low, 1.0), np.nan)


#: Steps before the end that are solved again with another end; the storage before them is kept.
_STEPS_SOLVED_AGAIN = 2000
#: How a horizon with another start or end is solved, and how the start of a cycle is sought: its value hardly depends
#: on that start.
_SETTINGS = GridSettings(fine_states=15, reach=5.0, tolerance=1e-9, most_refinements=40)
_SEARCH = GridSettings(
    states=51, fine_states=15, reach=4.0, start_states=9, agreement=1e-3, tolerance=1e-6, most_restarts=0
)


def end_storage_value(year: ReservoirYears, storage_hm3: FloatArray) -> float:
    """Marginal value of the storage at the end of a horizon, GWh per hm3.

    If the end is fixed, or chosen by the plan as in a cyclic horizon: what the plan gains if it may end one hm3 lower.
    If the end is valued: its value; if it is free: 0.

    Parameters
    ----------
    year : ReservoirYears
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
        return float(end_value(limits.arrays(), 0.0, 1.0))
    change = TRAJECTORY_CHANGE * active_storage(limits)
    return -_slope_at_end(year, storage_hm3, change, change)


def cycle_end_value(cycle: ReservoirYears) -> float:
    """Marginal value of the storage at the end of a cyclic horizon that is followed by itself, GWh per hm3.

    It is what one hm3 more at the start of the best cycle is worth, but no less than the cycle gains if it may end one
    hm3 lower, and no more than it loses if it must end one hm3 higher. With this value, a horizon that may end anywhere
    ends where the cycle does.

    Parameters
    ----------
    cycle : ReservoirYears
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


def _slope_at_start(year: ReservoirYears, storage_hm3: FloatArray, change_hm3: float) -> float:
    """Change of the optimum with each hm3 more at the start, of which so much less and more is tried."""
    start, ranges = storage_hm3[0], completable(year.limits.delivering())
    low, high = max(start - change_hm3, ranges[0][0]), min(start + change_hm3, ranges[1][0])
    return _slope(year, storage_hm3, low, high, year.limits.starting_at)


def _slope_at_end(year: ReservoirYears, storage_hm3: FloatArray, less_hm3: float, more_hm3: float) -> float:
    """Change of the optimum with each hm3 more that must be left, of which so much less and more is tried."""
    limits, end = year.limits, storage_hm3[-1]
    lowest, highest = limits.storage_lower_hm3.min(), limits.storage_upper_hm3.max()
    lower, upper = corridor(limits.delivering().ending_within(lowest, highest))
    low, high = min(max(end - less_hm3, lower[-1]), end), max(min(end + more_hm3, upper[-1]), end)
    return _slope(year, storage_hm3, low, high, lambda other: limits.ending_within(other, other))


def _slope(
    year: ReservoirYears, storage_hm3: FloatArray, low: float, high: float, moved: Callable[[float], Limits]
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


def _from_step(year: ReservoirYears, storage_hm3: FloatArray, first: int) -> ReservoirYears:
    """The steps of a horizon from one on, which begin at the storage of a trajectory."""
    limits = year.limits
    if first == 0:
        return year
    return replace(year, limits=limits.from_step(first).starting_at(storage_hm3[first]))
