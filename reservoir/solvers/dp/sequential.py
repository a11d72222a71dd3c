"""Dynamic programming over storage, refined around the best trajectory: the reference optimum of a year.

Bellman's recursion on a grid of storages spanning all that can be reached, then on ever finer grids around the best
trajectory found (discrete differential dynamic programming, Heidari et al. 1971, Water Resour. Res. 7:273), in float64
on the exact curves. The first grid covers everything, so that a local optimum of the non-concave objective is left
behind before refinement starts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import GWH_PER_STAGE_BENEFIT, stage_benefit
from reservoir.hydro.compiled_year import YearArrays, violation_at
from reservoir.hydro.curves.forms import CurveCursor
from reservoir.hydro.elementwise import clip, mean
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.limits import Limits, corridor
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import power_at, release_to_reach, storage_after
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers.base.engine import HostEngine
from reservoir.solvers.base.results import EngineResult
from reservoir.solvers.dp.settings import GridSettings, first_grids, reservoir_years

FloatArray = NDArray[np.float64]
T = TypeVar("T")


class SequentialDp(HostEngine[GridSettings]):
    """Dynamic programming, several years at a time on as many cores."""

    name = "dp"
    settings_class = GridSettings

    @property
    def place(self) -> str:
        """As many threads as there are processors."""
        return f"{os.cpu_count()} CPU threads"

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse what is no reservoir year."""
        reservoir_years(problems)

    def solve_each(self, problems: Sequence[Problem], keep: Callable[[EngineResult], None]) -> None:
        """Years side by side; a fault, or an interrupt, leaves out those that have not begun."""
        processors = os.cpu_count() or 1
        solved = partial(self._solved, threads=max(processors // len(problems), 1))
        with ThreadPoolExecutor(processors) as pool:
            try:
                for result in pool.map(solved, problems):
                    keep(result)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def solve_one(self, problem: Problem) -> EngineResult:
        """A year's best trajectory, with as many threads as there are processors."""
        return self._solved(problem, threads=os.cpu_count() or 1)

    def _solved(self, problem: Problem, threads: int) -> EngineResult:
        (year,) = reservoir_years([problem])
        found = best_trajectory(year, self.settings, threads)
        return EngineResult(position=found.position, generations=found.refinements, evaluations=found.transitions)


ENGINE = SequentialDp


@dataclass(frozen=True)
class Trajectory:
    """A year's best trajectory: storages (steps + 1,), releases (steps,), its fitness and the work it took."""

    storages: FloatArray
    position: FloatArray
    fitness: float
    refinements: int
    transitions: int


def best_trajectory(year: ReservoirYear, settings: GridSettings, threads: int = 1) -> Trajectory:
    """Find one year's best trajectory; in a cyclic year, over all starts.

    Parameters
    ----------
    year : ReservoirYear
        Of any number of steps.
    settings : GridSettings
    threads : int
        At work on it: two share the first two first grids, any number the starts of a cyclic year. The result does not
        depend on them.
    """
    if year.limits.cyclic:
        return _best_cycle(year, settings, threads)
    runs = _runs(year, settings, threads)
    best = next(runs)
    for other in runs:
        agreed = abs(other.fitness - best.fitness) <= settings.agreement * abs(other.fitness)
        best = _better(best, other)
        if agreed:
            break
    return best


def _runs(year: ReservoirYear, settings: GridSettings, threads: int) -> Iterator[Trajectory]:
    """Solve a year from each first grid; the first two side by side, since one alone agrees with nothing."""

    def run(states: int) -> Trajectory:
        return _refined(year, year.limits, settings, states)

    grids = first_grids(settings)
    yield from _side_by_side(run, grids[:2], threads)
    yield from map(run, grids[2:])


def _side_by_side(function: Callable[[T], Trajectory], arguments: Iterable[T], threads: int) -> list[Trajectory]:
    """What a function returns for each argument, by some threads."""
    if threads == 1:
        return list(map(function, arguments))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, arguments))


def _better(one: Trajectory, other: Trajectory) -> Trajectory:
    """The better of two, with the work of both."""
    winner = max(one, other, key=lambda each: each.fitness)
    return replace(
        winner, refinements=one.refinements + other.refinements, transitions=one.transitions + other.transitions
    )


def _best_cycle(year: ReservoirYear, settings: GridSettings, threads: int) -> Trajectory:
    """Try starts on a grid, then search between the neighbours of the best one."""
    from scipy.optimize import minimize_scalar

    def run(start: float) -> Trajectory:
        return _refined(year, year.limits.starting_at(start), settings, settings.states)

    def loss(start: float) -> float:
        tried.append(run(start))
        return -tried[-1].fitness

    lowest, highest = year.limits.start_bounds_hm3
    starts = np.linspace(lowest, highest, settings.start_states)
    tried = _side_by_side(run, starts.tolist(), threads)
    best = int(np.argmax([each.fitness for each in tried]))
    neighbours = starts[max(best - 1, 0)], starts[min(best + 1, len(starts) - 1)]
    precision = settings.agreement * float(starts[-1])
    minimize_scalar(loss, bounds=neighbours, method="bounded", options={"xatol": precision})
    return max(tried, key=lambda each: each.fitness)


def _refined(year: ReservoirYear, limits: Limits, settings: GridSettings, states: int) -> Trajectory:
    """Solve on the first grid, then refine until nothing changes."""
    lower, upper = corridor(limits)
    spacing = (upper - lower) / (states - 1)
    best = latest = _solve_grid(year, limits, np.linspace(lower, upper, states, axis=1))
    quiet = 0
    while quiet < 2 and best.refinements < settings.most_refinements:
        half_width = settings.reach * spacing
        low = np.clip(latest.storages - half_width, lower, upper)
        high = np.clip(latest.storages + half_width, lower, upper)
        grid = np.linspace(low, high, settings.fine_states, axis=1)
        before = latest
        latest = _solve_grid(year, limits, grid)
        change = abs(latest.fitness - before.fitness) / max(abs(latest.fitness), 1e-12)
        quiet = quiet + 1 if change < settings.tolerance else 0
        if not _at_edge(latest.storages, low, high, lower, upper):
            spacing = (high - low) / (settings.fine_states - 1)
        best = _better(best, latest)
    return best


def _at_edge(storages: FloatArray, low: FloatArray, high: FloatArray, lower: FloatArray, upper: FloatArray) -> bool:
    """Tell whether the trajectory leans against the grid where the year's own limits do not hold it."""
    leans_low = (storages <= low) & (low > lower)
    leans_high = (storages >= high) & (high < upper)
    return bool(np.any((leans_low | leans_high) & (high > low)))


def _solve_grid(year: ReservoirYear, limits: Limits, grid: FloatArray) -> Trajectory:
    steps, states = limits.steps, grid.shape[1]
    arrays = limits.arrays()
    values, choices = np.empty((steps + 1, states)), np.empty((steps, states), np.uint16)
    storages, releases = np.empty(steps + 1), np.empty(steps)
    plant = plant_with_cursors(year.model.exact)
    tried = _bellman(plant, arrays, grid, year.penalty_gwh, values, choices, np.empty(states))
    _trace(arrays, grid, values, choices, storages, releases)
    position = np.append(releases, storages[0]) if year.limits.cyclic else releases
    fitness = year.certify(position).fitness
    return Trajectory(storages=storages, position=position, fitness=fitness, refinements=1, transitions=tried)


def plant_with_cursors(plant: Plant) -> Plant:
    """The plant for one thread that asks its curves for neighbouring arguments."""
    level, tailrace, rate, capacity = (
        CurveCursor(curve, np.zeros(1, np.int64))
        for curve in (plant.level, plant.tailrace, plant.conversion.curve, plant.capacity)
    )
    return Plant(level, tailrace, plant.conversion._replace(curve=rate), capacity, plant.installed_mw)


@compiled
def _bellman(
    plant: Plant,
    year: YearArrays,
    grid: FloatArray,
    penalty: float,
    values: FloatArray,
    choices: NDArray[np.integer],
    violations: FloatArray,
) -> int:
    """Backward recursion: best value from every storage of the grid, and the next storage that gives it.

    Rows of `grid` are even. From a storage with no next one on the grid within the bounds of the release, the nearest
    is taken at a penalty. `violations` has room for a number a state.
    """
    steps, states = choices.shape
    tried = 0
    for state in range(states):
        values[steps, state] = 0.0
    for step in range(steps - 1, -1, -1):
        per_flow, inflow = year.hm3_per_m3s[step], year.inflow[step]
        least, most = year.release_lower[step], year.release_upper[step]
        rounding = 1e-12 * (abs(grid[step, states - 1]) + 1.0) / per_flow
        for state in range(states):
            violations[state] = violation_at(year, step, grid[step + 1, state], grid[step + 1, state])
        for state in range(states):
            storage = grid[step, state]
            best, choice = -np.inf, 0
            lowest = storage_after(storage, inflow, most + rounding, per_flow)
            highest = storage_after(storage, inflow, least - rounding, per_flow)
            first, last = _states_between(grid[step + 1], lowest, highest)
            for following in range(first, last + 1):
                end = grid[step + 1, following]
                release = release_to_reach(storage, end, inflow, per_flow)
                beyond = max(release - most, least - release)
                if beyond > rounding:
                    continue
                tried += 1
                power = power_at(plant, mean(storage, end), clip(release, least, most))
                energy = stage_benefit(power, per_flow) * GWH_PER_STAGE_BENEFIT
                value = energy - penalty * violations[following] + values[step + 1, following]
                if value > best:
                    best, choice = value, following
            if best == -np.inf:
                choice, nearest = _nearest(grid[step + 1], storage, inflow, per_flow, least, most)
                shortage = nearest * per_flow / max(abs(storage), 1.0)
                best = values[step + 1, choice] - penalty * shortage
            values[step, state] = best
            choices[step, state] = choice
    return tried


@inlined
def _states_between(row: FloatArray, lowest: float, highest: float) -> tuple[int, int]:
    """First and last state of an even row between two storages, and one more at either end."""
    last = len(row) - 1
    spacing = (row[last] - row[0]) / last
    if not spacing > 0:
        return 0, last
    first_place = clip((lowest - row[0]) / spacing, -1.0, last + 1.0)
    last_place = clip((highest - row[0]) / spacing, -1.0, last + 1.0)
    return max(int(np.floor(first_place)) - 1, 0), min(int(np.ceil(last_place)) + 1, last)


@inlined
def _nearest(
    row: FloatArray, storage: float, inflow: float, per_flow: float, least: float, most: float
) -> tuple[int, float]:
    """State whose release is nearest to its bounds, and by how much it is beyond them, m3/s."""
    choice, nearest = 0, np.inf
    for following in range(len(row)):
        release = release_to_reach(storage, row[following], inflow, per_flow)
        beyond = max(release - most, least - release)
        if beyond < nearest:
            nearest, choice = beyond, following
    return choice, nearest


@compiled
def _trace(
    year: YearArrays,
    grid: FloatArray,
    values: FloatArray,
    choices: NDArray[np.integer],
    storages: FloatArray,
    releases: FloatArray,
) -> None:
    """Follow the choices from the best start."""
    state = 0
    for other in range(1, grid.shape[1]):
        if values[0, other] > values[0, state]:
            state = other
    storages[0] = grid[0, state]
    for step in range(len(releases)):
        state = choices[step, state]
        storages[step + 1] = grid[step + 1, state]
        release = release_to_reach(storages[step], storages[step + 1], year.inflow[step], year.hm3_per_m3s[step])
        releases[step] = clip(release, year.release_lower[step], year.release_upper[step])
