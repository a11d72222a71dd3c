"""Dynamic programming over storage, refined around the best trajectory: the reference optimum of a year.

Bellman's recursion on a grid of storages spanning all that can be reached, then on ever finer grids around the best
trajectory found (discrete differential dynamic programming, Heidari et al. 1971, Water Resour. Res. 7:273), in float64
on the exact curves. The first grid covers everything, so that a local optimum of the non-concave objective is left
behind before refinement starts. Last, water of the best trajectory is exchanged between steps
(`reservoir.solvers.exchanges`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import Limits, corridor
from reservoir.hydro.plant import lake_with_cursors, plant_with_cursors
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.runtime import processors
from reservoir.solvers.dp import Grids, GridSettings, best_starts, first_grids, reservoir_years
from reservoir.solvers.dp.recursion import bellman, trace
from reservoir.solvers.engine import HostEngine
from reservoir.solvers.exchanges import polished
from reservoir.solvers.solution import EngineResults, engine_results

FloatArray = NDArray[np.float64]
T = TypeVar("T")


class SequentialDp(HostEngine[GridSettings]):
    """Dynamic programming, several years at a time on as many cores."""

    name = "dp"
    settings_class = GridSettings

    @property
    def threads(self) -> int:
        """As many as there are processors."""
        return processors()

    @property
    def place(self) -> str:
        """As many threads."""
        return f"{self.threads} CPU threads"

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse what is no reservoir year."""
        reservoir_years(problems)
        self._threads_of_year = max(self.threads // len(problems), 1)

    def solve_one(self, problem: Problem, place: int) -> EngineResults:
        """A year's best trajectory."""
        (year,) = reservoir_years([problem])
        best = best_trajectory(year, self.settings, self._threads_of_year)
        return engine_results(
            position=polished(ReservoirYears.batch([year]), best.position[np.newaxis]).positions,
            of_all={
                "generations": best.refinements,
                "evaluations": best.transitions,
                "settings": asdict(self.settings.grids(year.limits.steps)),
            },
        )


ENGINE = SequentialDp


@dataclass(frozen=True)
class Trajectory:
    """A year's best trajectory: storages (steps + 1,), releases (steps,), its fitness and the work it took."""

    storages: FloatArray
    position: FloatArray
    fitness: float
    refinements: int
    transitions: int


def best_trajectory(year: ReservoirYears, settings: GridSettings, threads: int = 1) -> Trajectory:
    """Find one year's best trajectory; in a cyclic year, over all starts.

    Parameters
    ----------
    year : ReservoirYears
        Of any number of steps.
    settings : GridSettings
    threads : int
        At work on it: two share the first two first grids, any number the starts of a cyclic year. The result does not
        depend on them.
    """
    grids = settings.grids(year.limits.steps)
    if year.limits.cyclic:
        return _best_cycle(year, grids, threads)
    return _until_agreed(year, year.limits, grids, threads)


def trajectory_near(year: ReservoirYears, grids: Grids, storages: FloatArray, spacing_hm3: float) -> Trajectory:
    """Best trajectory near another, whose last storage may be elsewhere.

    Parameters
    ----------
    year : ReservoirYears
        With a start that is given.
    grids : Grids
    storages : ndarray, shape (steps + 1,)
        The other trajectory.
    spacing_hm3 : float
        Spacing that the first grid around it refines, see `GridSettings.reach`.
    """
    first = Trajectory(storages=storages, position=np.empty(0), fitness=-np.inf, refinements=0, transitions=0)
    spacing = np.full(len(storages), spacing_hm3)
    return _narrowed(year, year.limits, grids, first, spacing, grids.most_refinements)


def _until_agreed(year: ReservoirYears, limits: Limits, grids: Grids, threads: int) -> Trajectory:
    """Solve from ever finer first grids until two agree."""
    runs = _runs(year, limits, grids, threads)
    best = next(runs)
    for other in runs:
        agreed = abs(other.fitness - best.fitness) <= grids.agreement * abs(other.fitness)
        best = _better(best, other)
        if agreed:
            break
    return best


def _runs(year: ReservoirYears, limits: Limits, grids: Grids, threads: int) -> Iterator[Trajectory]:
    """Solve a year from each first grid; the first two side by side, since one alone agrees with nothing."""

    def run(states: int) -> Trajectory:
        return _refined(year, limits, grids, states)

    first = first_grids(grids)
    yield from _side_by_side(run, first[:2], threads)
    yield from map(run, first[2:])


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


def _best_cycle(year: ReservoirYears, grids: Grids, threads: int) -> Trajectory:
    """Search the start with runs from the first grid alone, then solve from the best one."""
    single = replace(grids, most_restarts=0)
    runs: dict[str, Trajectory] = {}  # rounds have starts in common, but for rounding

    def run(start: float) -> Trajectory:
        return _refined(year, year.limits.starting_at(start), single, single.states)

    def fitness_of(places: NDArray[np.intp], starts: FloatArray) -> FloatArray:
        named = {f"{start:.12g}": start for start in starts[0].tolist()}
        fresh = {name: start for name, start in named.items() if name not in runs}
        runs.update(zip(fresh, _side_by_side(run, fresh.values(), threads), strict=True))
        return np.array([[runs[f"{start:.12g}"].fitness for start in starts[0].tolist()]])

    lowest, highest = np.array(year.limits.start_bounds_hm3)[:, np.newaxis]
    (start,) = best_starts(lowest, highest, grids.start_states, grids.agreement, fitness_of)
    found = _until_agreed(year, year.limits.starting_at(float(start)), grids, threads)
    return replace(
        found,
        refinements=found.refinements + sum(each.refinements for each in runs.values()),
        transitions=found.transitions + sum(each.transitions for each in runs.values()),
    )


def _refined(year: ReservoirYears, limits: Limits, grids: Grids, states: int) -> Trajectory:
    """Solve on the first grid, refine until nothing changes, and start again as long as that pays."""
    lower, upper = corridor(limits)
    first = _solve_grid(year, limits, _states_between(limits, lower, upper, states))
    found = _narrowed(year, limits, grids, first, (upper - lower) / (states - 1), grids.most_refinements - 1)
    return _restarted(year, limits, grids, found, states)


def _restarted(year: ReservoirYears, limits: Limits, grids: Grids, best: Trajectory, states: int) -> Trajectory:
    """Refine again around the best trajectory, as long as that pays, from grids a part as wide as the first time."""
    lower, upper = corridor(limits)
    spacing = grids.restart_width * (upper - lower) / (states - 1)
    for _ in range(grids.most_restarts):
        before = best.fitness
        best = _narrowed(year, limits, grids, best, spacing, grids.most_refinements)
        if best.fitness - before <= grids.restart_gain * abs(before):
            break
    return best


def _narrowed(
    year: ReservoirYears, limits: Limits, grids: Grids, best: Trajectory, spacing: FloatArray, most: int
) -> Trajectory:
    """Solve on ever narrower grids around the best trajectory until nothing changes."""
    lower, upper = corridor(limits)
    latest, quiet = best, 0
    for _ in range(most):
        half_width = grids.reach * spacing
        low = np.clip(latest.storages - half_width, lower, upper)
        high = np.clip(latest.storages + half_width, lower, upper)
        before = latest
        latest = _solve_grid(year, limits, _states_between(limits, low, high, grids.fine_states))
        change = abs(latest.fitness - before.fitness) / max(abs(latest.fitness), 1e-12)
        quiet = quiet + 1 if change < grids.tolerance else 0
        if not _at_edge(latest.storages, low, high, lower, upper):
            spacing = (high - low) / (grids.fine_states - 1)
        best = _better(best, latest)
        if quiet == 2:
            break
    return best


def _states_between(limits: Limits, low: FloatArray, high: FloatArray, states: int) -> FloatArray:
    """States of a grid, evenly apart; dead storage, below which no release leads, is one where it lies between."""
    grid = np.linspace(low, high, states, axis=1)
    dead, within = float(limits.dead_hm3), (low < limits.dead_hm3) & (limits.dead_hm3 < high)
    if states > 2 and within.any():
        nearest = np.abs(grid[within, 1:-1] - dead).argmin(axis=1) + 1
        grid[within, nearest] = dead
    return grid


def _at_edge(storages: FloatArray, low: FloatArray, high: FloatArray, lower: FloatArray, upper: FloatArray) -> bool:
    """Tell whether the trajectory leans against the grid where the year's own limits do not hold it."""
    leans_low = (storages <= low) & (low > lower)
    leans_high = (storages >= high) & (high < upper)
    return bool(np.any((leans_low | leans_high) & (high > low)))


def _solve_grid(year: ReservoirYears, limits: Limits, grid: FloatArray) -> Trajectory:
    steps, states = limits.steps, grid.shape[1]
    arrays = limits.arrays()
    values, choices = np.empty((steps + 1, states)), np.empty((steps, states), np.uint16)
    storages, releases = np.empty(steps + 1), np.empty(steps)
    plant = plant_with_cursors(year.model.exact)
    tried = bellman(plant, lake_with_cursors(arrays), grid, year.penalty, values, choices, np.empty(states), ())
    trace(arrays, grid, values, choices, storages, releases)
    position = np.append(releases, storages[0]) if year.limits.cyclic else releases
    fitness = year.certify(position).fitness
    return Trajectory(storages=storages, position=position, fitness=fitness, refinements=1, transitions=tried)
