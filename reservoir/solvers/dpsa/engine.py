"""Dynamic programming by successive approximation: one reservoir's storages at a time, the others' storages held.

What a reservoir releases moves along (Larson 1968): all plants below, and those that its lake backs up, are valued with
each transition. Grids of storages lie around the schedule; they narrow where a sweep over all reservoirs gains little.
It begins with successive linear programs (`reservoir.solvers.slp`), and ends with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.plant import lake_with_cursors, plant_with_cursors
from reservoir.hydro.rows import YearRows
from reservoir.solvers.dp.beyond import Beyond
from reservoir.solvers.dp.recursion import bellman, trace
from reservoir.solvers.dpsa.handed_on import Neighbours, Worth
from reservoir.solvers.plant_steps import PlantSteps
from reservoir.solvers.settings import FirstPositionsSettings, ThreadSettings, number
from reservoir.solvers.slp.engine import SlpSettings, relaxed, successive
from reservoir.solvers.system_engine import Places, Schedules, SystemEngine, on_threads

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class DpsaSettings(FirstPositionsSettings, ThreadSettings):
    """How finely storages are divided.

    Parameters
    ----------
    states : int
        Storages of a grid, between which the schedule's is the middle one.
    window : float
        How far the first grids reach to either side, as a part of what is active.
    least_window : float
        A year is done whose grids reach less far and gain less than `tolerance`.
    narrowing : float
        What grids are narrowed by after a sweep that gains less than `least_gain`.
    least_gain, tolerance : float
        Parts of the fitness.
    most_sweeps : int
        Sweeps over all reservoirs at most.
    """

    states: int = number(31, 3, 2001)
    window: float = number(0.2, 1e-6, 1.0)
    least_window: float = number(2e-3, 1e-9, 1.0)
    narrowing: float = number(0.4, 0.01, 0.99)
    least_gain: float = number(1e-5, 0.0, 1.0)
    tolerance: float = number(1e-7, 0.0, 1.0)
    most_sweeps: int = number(30, 1, 10_000)

    def first_members(self, dimension: int) -> int:
        """One schedule a year."""
        return 1


class Grids(NamedTuple):
    """Storages of one reservoir around schedules, and what a step between two of them comes to.

    Parameters
    ----------
    place : int
        Of the reservoir.
    own : PlantSteps
        Its steps, with what the sum of all plants is worth (`Neighbours.years_of`).
    worth : Worth
        What it does to the others.
    penalty : float
        Of violations.
    turned : int
        Step that grids begin with, of cyclic years; other arrays begin with the first.
    storages_hm3 : ndarray, shape (years, steps + 1, states)
    """

    place: int
    own: PlantSteps
    worth: Worth
    penalty: float
    turned: int
    storages_hm3: FloatArray


class DpsaEngine(SystemEngine[DpsaSettings]):
    """Sweeps over all reservoirs, as many years at a time as there are threads."""

    name = "dpsa-sequential"
    settings_class = DpsaSettings

    def improved(self, schedules: Schedules, progress: Callable[[int], None]) -> Schedules:
        """From first positions, or from successive linear programs."""
        linear = SlpSettings(threads=self.settings.workers)
        if not self.first:
            relaxed(schedules, linear.workers)
            successive(schedules, linear, lambda left: None, self.ends)
        count = len(schedules.batch)
        if not self.ended:
            sweep(schedules, self.settings, lambda left: progress(count - left), self.ends, self.best_storages)
        if self.ended:
            return schedules
        near = SlpSettings(box=self.settings.least_window * 2, threads=self.settings.workers)
        successive(schedules, near, lambda left: None, self.ends)
        return schedules

    def best_storages(self, of: Grids) -> tuple[FloatArray, NDArray[np.int64]]:
        """The best storages of each year on its grids, shape (years, steps + 1), and the transitions tried."""
        return compiled_storages(of, self.settings.workers)


ENGINE = DpsaEngine
#: As `DpsaEngine.best_storages`.
Recursion = Callable[[Grids], tuple[FloatArray, NDArray[np.int64]]]


def sweep(
    schedules: Schedules,
    settings: DpsaSettings,
    progress: Callable[[int], None],
    ends: Callable[[Schedules], bool] = lambda _: False,
    recursion: Recursion | None = None,
) -> None:
    """Sweep over all reservoirs until that gains nothing; `progress` is told how many years are left."""
    solved = recursion or (lambda of: compiled_storages(of, settings.workers))
    left, window = np.arange(len(schedules.batch)), np.full(len(schedules.batch), settings.window)
    for round_ in range(settings.most_sweeps):
        before = schedules.fitness[left]
        for place in range(len(schedules.batch.system.reservoirs)):
            storages = _swept(schedules, left, place, window[left], settings, solved, odd=round_ % 2 == 1)
            if storages is not None:
                schedules.improve(left, storages)
        schedules.rounds[left] += 1
        gains = (schedules.fitness[left] - before) / schedules.scale[left]
        done = (gains < settings.tolerance) & (window[left] < settings.least_window)
        window[left[gains < settings.least_gain]] *= settings.narrowing
        left = left[~done]
        progress(len(left))
        if not left.size or ends(schedules):
            break


def _swept(
    schedules: Schedules,
    places: Places,
    place: int,
    window: FloatArray,
    settings: DpsaSettings,
    recursion: Recursion,
    *,
    odd: bool,
) -> FloatArray | None:
    """Storages of some years with those of one reservoir as dynamic programming has them; None where it has none.

    A cyclic year keeps one storage, in odd sweeps that of its middle.
    """
    batch, operation = schedules.batch[places], schedules.operation[places]
    around = Neighbours.of(batch, operation)
    own, storages = around.steps[place], operation.stacked("storage_hm3").copy()
    limits = own.years.limits
    fixed = bool(np.all(limits.storage_lower_hm3 == limits.storage_upper_hm3))
    if fixed or limits.ramps:
        return None
    held = storages[:, place]
    turned = batch.steps // 2 if odd and batch.system.reservoirs[place].year_end is YearEnd.CYCLIC else 0
    lower, upper = (
        np.column_stack([held[:, 0], each]) for each in (limits.storage_lower_hm3, limits.storage_upper_hm3)
    )
    if limits.cyclic:
        lower[:, 0] = lower[:, -1] = np.maximum(lower[:, -1], limits.start_lower)
        upper[:, 0] = upper[:, -1] = np.minimum(upper[:, -1], limits.start_upper)
    active = limits.storage_upper_hm3.max(axis=1) - limits.storage_lower_hm3.min(axis=1)
    spacing = np.maximum(window * active, 1e-9) / (settings.states // 2)
    worth = around.worth_of(place, spacing, 2 * settings.states - 1)
    offsets = np.arange(settings.states) - settings.states // 2
    ends = [held, lower, upper]
    middle, lower, upper = (_turned_ends(each, turned) for each in ends) if limits.cyclic else ends
    bounds = np.minimum(lower, middle), np.maximum(upper, middle)
    apart = offsets * spacing[:, np.newaxis, np.newaxis]
    grid = np.clip(middle[:, :, np.newaxis] + apart, *(each[:, :, np.newaxis] for each in bounds))
    grid[:, 0] = middle[:, :1]
    if limits.cyclic:
        grid[:, -1] = middle[:, :1]
    found, tried = recursion(
        Grids(place, own._replace(years=around.years_of(place)), worth, batch.penalty, turned, grid)
    )
    storages[:, place] = _turned_ends(found, -turned) if turned else found
    schedules.tried[places] += tried
    return storages


def _turned(array: FloatArray, by: int) -> FloatArray:
    """Steps from one on, those before it behind them, along the last axis."""
    return np.ascontiguousarray(np.roll(array, -by, axis=-1)) if by else array


def _turned_ends(array: FloatArray, by: int) -> FloatArray:
    """Storages of cyclic years from one on, the first again at the end."""
    around = _turned(array[:, :-1], by)
    return np.column_stack([around, around[:, 0]])


def compiled_storages(of: Grids, workers: int) -> tuple[FloatArray, NDArray[np.int64]]:
    """The best storages on grids, and the transitions tried, by compiled code, as many years at a time as workers."""
    own, worth, turned = of.own, of.worth, of.turned
    years = own.years.exact_year

    def one(row: int) -> tuple[FloatArray, int]:
        rows = _turned(years.rows[row, 0], turned)
        year, grid = YearRows(rows, years.numbers[row, 0], years.lake, years.priced, False, ()), of.storages_hm3[row]
        of_year = np.moveaxis(_turned(np.moveaxis(worth.worth[row], 1, -1), turned), -1, 1)
        more = _turned(worth.first[row], turned), _turned(worth.per_unit[row], turned)
        beyond = Beyond(worth.kinds, np.ascontiguousarray(of_year), *more)
        points, states = grid.shape
        values, choices = np.empty(grid.shape), np.empty((points - 1, states), np.uint16)
        path, releases = np.empty(points), np.empty(points - 1)
        plant, ready = plant_with_cursors(own.years.model.exact), lake_with_cursors(year)
        tried = bellman(plant, ready, grid, of.penalty, values, choices, np.empty(states), beyond)
        trace(year, grid, values, choices, path, releases)
        return path, tried

    found = on_threads(one, len(of.storages_hm3), workers)
    return np.array([path for path, _ in found]), np.array([tried for _, tried in found])
