"""Long horizons by an engine of short problems: windows of a horizon are solved side by side, again and again.

Between the storages at its ends, a window is a problem of its own, and overlapping windows in turn improve the whole
(Schwarz's alternating method). A window of single steps changes the storages of two years only. Therefore, as in
multigrid methods, each sweep begins with windows of long blocks of steps, which change the storages of many years, and
then halves the blocks. Windows evaluate each of their steps at every level, so that no level is an approximation. The
ranges of the corrections shrink from sweep to sweep, as in discrete differential dynamic programming (Heidari et al.
1971).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.horizon_limits import window_limits
from reservoir.hydro.limits import Limits
from reservoir.hydro.operation import Operation
from reservoir.problems.base import Certified, FloatArray, Problem, as_batch, by_program_key, take
from reservoir.problems.reservoir.corrections import StorageCorrections
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.engine import Engine, IntermediateResult, Progress, Stop, silent
from reservoir.solvers.settings import first_positions
from reservoir.solvers.solution import EngineResults, Solutions, engine_results, joined_results, to_solutions
from reservoir.solvers.windows import WindowSettings


def levels_of(steps: int, blocks: int, most_steps: int) -> list[tuple[int, int]]:
    """Blocks of a window, and steps of a block, at each level of a sweep.

    Blocks become half as long from level to level, down to one step. At the last level a window has half as many
    blocks, for populations find what takes several steps together more surely with fewer variables.

    Parameters
    ----------
    steps : int
        Of the horizon.
    blocks : int
        Of a window, no more than the horizon's steps.
    most_steps : int
        Of a window.
    """
    longest = max(1, min(steps, most_steps) // blocks)
    levels = [(blocks, 2**power) for power in reversed(range(longest.bit_length()))]
    return [*levels, (max(1, blocks // 2), 1)]


def window_starts(steps: int, length: int, *, between: bool, cyclic: bool) -> NDArray[np.int64]:
    """First step of each window; none overlaps another.

    Where windows do not fill a horizon, the steps left over are spread between them; together with those that stand
    `between`, they cover every step.

    Parameters
    ----------
    steps : int
        Of the horizon.
    length : int
        Steps of a window, no more than those of the horizon.
    between : bool
        Whether each window stands half way between two of the others.
    cyclic : bool
        Whether the horizon's end is joined to its start.
    """
    count, shift = steps // length, 0.5 if between else 0.0
    if cyclic:
        return np.floor((np.arange(count) + shift) * steps / count).astype(np.int64)
    if count == 1:
        return np.array([steps - length if between else 0])
    places = np.arange(count - 1 if between else count) + shift
    return np.rint(places * (steps - length) / (count - 1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Places:
    """Where windows lie.

    Parameters
    ----------
    horizon : ndarray, shape (windows,)
        The horizon of each.
    steps : ndarray, shape (windows, length)
        Its steps in that horizon.
    """

    horizon: NDArray[np.intp]
    steps: NDArray[np.int64]

    def some(self, which: NDArray[np.intp]) -> Places:
        """Some of the windows."""
        return Places(self.horizon[which], self.steps[which])


class Schedules:
    """The best schedule so far of each of several horizons.

    Parameters
    ----------
    horizons : ReservoirYears
        Horizons of one batch.
    first : ndarray, shape (horizons, n, dimension), optional
        Positions, of which the best is the first schedule of each; by default its mean inflow is released, repaired.
    """

    def __init__(self, horizons: ReservoirYears, first: FloatArray | None = None) -> None:
        self.horizons = horizons
        if first is None:
            limits = horizons.limits
            volume = (limits.net_inflow_m3s * limits.hm3_per_m3s).sum(axis=1, keepdims=True)
            mean = volume / limits.hm3_per_m3s.sum(axis=1, keepdims=True)
            drafts = np.broadcast_to(mean, limits.inflow_m3s.shape)
            first = self._positions(drafts, limits.start_bounds_hm3.mean(axis=1))[:, np.newaxis]
        certified = horizons.certify(first[:, 0])
        self.draft_m3s, self.release_m3s, self.storage_hm3 = (np.array(each) for each in _rows(certified))
        self.fitness = np.array(certified.fitness)
        for number in range(1, first.shape[1]):
            self._take_better(horizons.certify(first[:, number]), np.arange(len(horizons)))

    @property
    def limits(self) -> Limits:
        """Limits of the horizons."""
        return self.horizons.limits

    @property
    def positions(self) -> FloatArray:
        """Positions of the horizons as problems."""
        return self._positions(self.draft_m3s, self.storage_hm3[:, 0])

    def _positions(self, drafts_m3s: FloatArray, starts_hm3: FloatArray) -> FloatArray:
        return np.column_stack([drafts_m3s, starts_hm3]) if self.limits.cyclic else np.array(drafts_m3s)

    def accept(self, places: Places, gain: FloatArray, operation: Operation) -> None:
        """Take what windows found, all of a horizon or, if that makes it worse, one after another.

        Parameters
        ----------
        places : Places
            No two windows overlap.
        gain : ndarray, shape (windows,)
            What each adds to the fitness by itself; only those that add are taken.
        operation : Operation
            What each found.
        """
        order = np.argsort(-gain, kind="stable")
        order = order[gain[order] > 0]
        if not len(order):
            return
        better = self._accept_together(places.some(order), operation, order)
        left = order[~better[places.horizon[order]]]
        while len(left):
            _, best = np.unique(places.horizon[left], return_index=True)
            self._accept_together(places.some(left[best]), operation, left[best])
            left = np.delete(left, best)

    def _accept_together(self, places: Places, operation: Operation, windows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Put windows into schedules, and keep those schedules that are better; returns which."""
        drafts, starts = self.draft_m3s.copy(), self.storage_hm3[:, 0].copy()
        drafts[places.horizon[:, np.newaxis], places.steps] = operation.draft_m3s[windows]
        if self.limits.cyclic:
            row, column = np.nonzero(places.steps == 0)
            starts[places.horizon[row]] = operation.storage_hm3[windows[row], column]
        return self._take_better(self.horizons.certify(self._positions(drafts, starts)), places.horizon)

    def _take_better(self, found: Certified, changed: NDArray[np.intp]) -> NDArray[np.bool_]:
        better = np.zeros(len(self.fitness), bool)
        better[changed] = found.fitness[changed] > self.fitness[changed]
        for kept, new in zip((self.draft_m3s, self.release_m3s, self.storage_hm3), _rows(found), strict=True):
            kept[better] = new[better]
        self.fitness[better] = found.fitness[better]
        return better


def _rows(found: Certified) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Drafts, releases and storages."""
    operation: Operation = found.operation
    return operation.draft_m3s, operation.release_m3s, operation.storage_hm3


#: Steps of a window at most: a work group keeps all of them in its local memory.
MOST_STEPS_OF_WINDOW = 256
#: Sweeps running without improvement that end the search, and the range, as a part of the first, from which they count:
#: in a wide one a population may miss what it finds in a narrow one.
QUIET_SWEEPS, NARROW_RANGE = 2, 0.01
#: Positions at most from which the first schedule of a horizon is chosen.
MOST_FIRST = 1000
#: Added to the seed for each launch: 2**64 over the golden ratio, so that launches of near seeds do not share numbers.
_SEED_STEP = 0x9E3779B97F4A7C15


class WindowSweeps:
    """An engine that sweeps the windows of horizons.

    Parameters
    ----------
    engine : Engine
        Solves the windows of a launch; its settings are those of every window.
    settings : WindowSettings
    first : sequence of array_like, shape (n, dimension), optional
        Positions of each problem, of which the best is its first schedule.
    stop : callable, optional
        Asked after each sweep but the last; if it returns True, the schedules so far are the solutions, and problems
        of programs that were not begun are left out.
    """

    def __init__(
        self,
        engine: Engine[Any],
        settings: WindowSettings,
        *,
        first: Sequence[ArrayLike] | None = None,
        stop: Stop | None = None,
    ) -> None:
        self.engine, self.settings, self.first, self.stop = engine, settings, first, stop

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve horizons of reservoirs, those of one program side by side; see `reservoir.solvers.solve`."""
        started = time.perf_counter()
        launched = _Launched()
        first = first_positions(self.first, problems, MOST_FIRST)
        programs = by_program_key(problems)
        found: dict[int, EngineResults] = {}
        fitness: list[float] = []
        for members in programs.values():
            given = np.stack([first[place] for place in members]).astype(np.float64) if first else None
            search = _Search(self.engine, self.settings, as_batch(take(problems, members)), device, launched, given)
            stopped = False
            for sweep, most in search.sweeps():
                progress(sweep, most)
                now = [*fitness, *search.schedules.fitness.tolist()]
                last = sweep == most and len(now) == len(problems)
                if stopped := not last and self._stops(now, len(problems)):
                    break
            found.update(zip(members, search.results(), strict=True))
            fitness += search.schedules.fitness.tolist()
            if stopped:
                break
        solved = [found[place] for place in takewhile(found.__contains__, range(len(problems)))]
        return to_solutions(
            problems,
            joined_results(solved),
            settings={
                **launched.settings,
                **self.engine.record(),
                **self.settings.as_dict(),
                "first": len(first[0]) if first else 0,
            },
            solver=self.engine.name,
            device=launched.device,
            wall_seconds=time.perf_counter() - started,
            device_seconds=launched.device_seconds,
            host_seconds_by_phase=dict(launched.host_seconds_by_phase),
        )

    def _stops(self, fitness: Sequence[float], total: int) -> bool:
        result = IntermediateResult(self.engine.name, len(fitness), total, np.array(fitness))
        return self.stop is not None and bool(self.stop(result))


@dataclass
class _Launched:
    """What the launches of a call took, and where they ran."""

    device: str = ""
    device_seconds: float = 0.0
    host_seconds_by_phase: Counter[str] = field(default_factory=Counter)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def add(self, solutions: Solutions) -> None:
        self.device, self.settings = solutions.device, solutions.settings[0]
        self.device_seconds += solutions.device_seconds or 0.0
        self.host_seconds_by_phase.update(solutions.host_seconds_by_phase)


class _Search:
    """The sweeps of horizons of one program."""

    def __init__(
        self,
        engine: Engine[Any],
        settings: WindowSettings,
        horizons: ReservoirYears,
        device: str | None,
        launched: _Launched,
        first: FloatArray | None,
    ) -> None:
        self.engine, self.settings, self.horizons = engine, settings, horizons
        self.device, self.launched, self.launches = device, launched, 0
        self.schedules, self.steps = Schedules(horizons, first), horizons.limits.steps
        self.generations, self.evaluations = (np.zeros(len(horizons), np.int64) for _ in range(2))
        self.trace: list[list[tuple[int, float]]] = [[] for _ in range(len(horizons))]

    def sweeps(self) -> Iterator[tuple[int, int]]:
        """Sweep until nothing improves; how many sweeps are done after each, and how many there are at most."""
        count, settings = len(self.horizons), self.settings
        active, quiet = np.arange(count), np.zeros(count, np.int64)
        sweep = 0
        while len(active) and sweep < settings.most_sweeps:
            before = self.schedules.fitness[active]
            range_factor = settings.range_factor**sweep
            self._sweep(active, range_factor)
            sweep += 1
            now = self.schedules.fitness[active]
            for horizon in active.tolist():
                self.trace[horizon].append((int(self.generations[horizon]), float(self.schedules.fitness[horizon])))
            still = (range_factor <= NARROW_RANGE) & (now - before < settings.sweep_tolerance * np.abs(now))
            quiet[active] = np.where(still, quiet[active] + 1, 0)
            active = active[quiet[active] < QUIET_SWEEPS]
            yield sweep, settings.most_sweeps if len(active) else sweep

    def results(self) -> Iterator[EngineResults]:
        """The schedule of each horizon, with the fitness after each sweep."""
        for horizon, position in enumerate(self.schedules.positions):
            generations, fitness = np.transpose(self.trace[horizon])
            yield engine_results(
                position=[position],
                generations=self.generations[horizon : horizon + 1],
                evaluations=self.evaluations[horizon : horizon + 1],
                trace_generations=[generations.astype(np.int64)],
                trace_fitness=[fitness],
                of_all={},
            )

    def _sweep(self, active: NDArray[np.intp], range_factor: float) -> None:
        """Correct schedules at every level, in windows side by side and then in those between."""
        blocks = min(self.settings.window_steps, self.steps)
        for blocks_of_window, steps_of_block in levels_of(self.steps, blocks, MOST_STEPS_OF_WINDOW):
            length = blocks_of_window * steps_of_block
            for between in (False, True):
                starts = window_starts(self.steps, length, between=between, cyclic=self.horizons.limits.cyclic)
                steps = (starts[:, np.newaxis] + np.arange(length)) % self.steps
                places = Places(np.repeat(active, len(starts)), np.tile(steps, (len(active), 1)))
                self._correct(places, steps_of_block, self._largest(steps_of_block) * range_factor)

    def _largest(self, steps_of_block: int) -> FloatArray:
        """Largest corrections of the first sweep, hm3, shape (horizons,).

        The active storage, or the volume between the least and the most release of a block, if that is less.
        """
        limits = self.horizons.limits
        active = limits.storage_upper_hm3.max(axis=1) - limits.storage_lower_hm3.min(axis=1)
        gain_most, gain_least = limits.gains_hm3()
        return np.asarray(np.minimum(active, (gain_most - gain_least).mean(axis=1) * steps_of_block))

    def _correct(self, places: Places, steps_of_block: int, largest_hm3: FloatArray) -> None:
        """Solve windows in one launch, and take what improves the schedules."""
        windows = self._windows(places, steps_of_block, largest_hm3[places.horizon])
        seed = (self.engine.seed + self.launches * _SEED_STEP) % 2**64
        self.launches += 1
        engine = type(self.engine)(self.engine.settings, seed=seed, seeded=self.engine.seeded)
        found = engine.solve(windows, device=self.device, progress=silent)
        self.launched.add(found)
        gain = found.fitness - windows.schedule.fitness
        self.schedules.accept(places, gain, found.operation)
        self.generations[np.unique(places.horizon)] += found.generations[0]
        np.add.at(self.evaluations, places.horizon, found.evaluations)

    def _windows(self, places: Places, steps_of_block: int, largest_hm3: FloatArray) -> StorageCorrections:
        """Windows as problems, with corrections no larger than given, shape (windows,)."""
        horizons, schedules = self.horizons, self.schedules
        limits = window_limits(
            horizons.limits, places.horizon, places.steps, schedules.storage_hm3, schedules.release_m3s
        )
        rows, ends = places.horizon[:, np.newaxis], places.steps[:, steps_of_block - 1 :: steps_of_block]
        storage, largest = schedules.storage_hm3[rows, ends + 1], largest_hm3[:, np.newaxis]
        lower, upper = (
            bound[:, steps_of_block - 1 :: steps_of_block] - storage
            for bound in (limits.storage_lower_hm3, limits.storage_upper_hm3)
        )
        starts = places.steps[:, 0]
        labels = tuple(
            f"{horizons.labels[horizon]}, from step {start + 1}"
            for horizon, start in zip(places.horizon, starts, strict=True)
        )
        streams = horizons.rng_stream_ids[places.horizon] + starts
        return StorageCorrections(
            ReservoirYears(horizons.model, limits, labels, streams),
            schedules.draft_m3s[rows, places.steps],
            np.clip(lower, -largest, 0.0),
            np.clip(upper, 0.0, largest),
        )
