"""A bound of the best that a year of several reservoirs can come to: the water of their links has prices.

Whatever the prices are, the sum of what each reservoir can come to by itself, paid for what it hands on and charged
for what it is brought, is no less than what all can come to together: there both are the same water. Each of these is a
proof of one reservoir with a free flow (`bound.prove_bound`). Good prices make the sum small: those of the schedule
that is bounded (`multipliers`), bettered by a bundle method (`bundle`). What they leave is less among the storages that
a better schedule can have (`SystemProblem.corridors`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from reservoir.certificate.bound import Effort, ProvenBound, prove_bound
from reservoir.certificate.boxes import loss_jet, release_of
from reservoir.certificate.bundle import least_sum
from reservoir.certificate.cells import first_intervals
from reservoir.certificate.multipliers import multipliers
from reservoir.certificate.reachable import Reachable, reachable
from reservoir.certificate.stages import FREE_LOWER, FREE_UPPER, RELEASE_LOWER, RELEASE_UPPER, Stages, freed, stages_of
from reservoir.certificate.tables import FloatArray, cell_values, demand_penalty, fill_values, follow_values, grid_of
from reservoir.hydro.curves.intervals import add, subtract
from reservoir.hydro.horizon_limits import with_ends
from reservoir.hydro.jit import compiled_as_written
from reservoir.hydro.plant import plant_with_cursors
from reservoir.hydro.rows import YearRows
from reservoir.hydro.system import Link
from reservoir.hydro.system_operation import SystemOperation
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.problems.system import SystemYears
from reservoir.solvers.dp.free_flow import FreeFlow, fill_best

#: Prices that are tried at most, in each round of corridors; rounds at most.
_EVALUATIONS, _ROUNDS = 40, 3
#: Part of the time that prices and corridors may take.
_FOR_PRICES = 0.5
#: Sizes of cells of which corridors are made, and by how much more than the gap, as a part of it, these are wider.
_LEVELS, _SPARE = 2, 0.5
#: Parts of the gap that is asked for: prices that leave the first are not bettered, and none that leave the second by
#: corridors.
_LEFT, _MOST_LEFT = 0.3, 0.8
#: Part of the gap, or of what prices leave, by which boxes may be above what is the best at the prices.
_OF_LEFT = 0.2
#: Part of the gap of a reservoir that the widths of parts of the free flow may take.
_OF_SLACK = 0.3
#: What float64 rounds in sums over the links is less than this part of what they carry, times the price.
_ROUNDING = 1e-10


class LinkFlow(NamedTuple):
    """What a link brings: ``brings @ release + fixed``, less a constant loss, and its range.

    Parameters
    ----------
    source, target : int
        Places of the reservoirs.
    brings : ndarray, shape (steps, steps)
        m3/s that arrive in a step of a m3/s that is released in another.
    fixed : ndarray, shape (steps,)
        What is under way at the start.
    lost_m3s : float
    """

    source: int
    target: int
    brings: FloatArray
    fixed: FloatArray
    lost_m3s: float

    @classmethod
    def of(cls, batch: SystemYears, link: Link) -> LinkFlow:
        """Of a link of a year."""
        names, volume = batch.system.names, batch.hm3_per_m3s
        source = names.index(link.source)
        begins_anywhere = batch.system.reservoirs[source].initial_storage_hm3 is None
        open_link, wraps = replace(link, lost_m3s=0.0), begins_anywhere and batch.years[source].limits.cyclic
        fixed = open_link.arriving_m3s(np.zeros_like(volume), volume, wraps=wraps)[0]
        each, volumes = np.eye(batch.steps), np.repeat(volume, batch.steps, axis=0)
        share = np.asarray(link.of_release(each, each))
        brings = (open_link.arriving_m3s(share, volumes, wraps=wraps) - fixed).T
        return cls(source, names.index(str(link.target)), brings, fixed, link.lost_m3s)

    def arriving(self, release_m3s: FloatArray) -> FloatArray:
        """What arrives of a release."""
        return np.maximum(self.brings @ release_m3s + self.fixed - self.lost_m3s, 0.0)

    def line(self, price: FloatArray, releases: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Slope and level of a line in what arrives before the constant loss that, times a price, is no less.

        What arrives is never below 0: where it may be 0 it is convex, so that the chord is above it and it is above
        both of its pieces.
        """
        low, high = (self.brings @ each + self.fixed - self.lost_m3s for each in releases)
        width = np.maximum(high - low, 1e-300)
        chord = np.where(low >= 0, 1.0, np.where(high <= 0, 0.0, np.maximum(high, 0.0) / width))
        below = np.where(low + high > 0, 1.0, 0.0)
        slope = np.where(price > 0, chord, below)
        level = np.where(price > 0, np.where(low >= 0, 0.0, -slope * low), 0.0)
        return slope, level + slope * (self.fixed - self.lost_m3s)


@dataclass(frozen=True, eq=False)
class Single:
    """A reservoir of a year of a system by itself.

    Parameters
    ----------
    year : ReservoirYears
        One year, with its local inflow.
    stages : Stages
    flows : tuple of ndarray, shape (steps,)
        Bounds of what links bring.
    known : Reachable
    releases : tuple of ndarray, shape (steps,)
        Bounds of its release.
    grid : ndarray, shape (steps + 1, states)
        Storages, dense near the schedule's.
    path_hm3 : ndarray, shape (steps + 1,)
        Those of the schedule.
    rows : YearRows
        The year as compiled code reads it; of a cyclic one, from the schedule's start.
    """

    year: ReservoirYears
    stages: Stages
    flows: tuple[FloatArray, FloatArray]
    known: Reachable
    releases: tuple[FloatArray, FloatArray]
    grid: FloatArray
    path_hm3: FloatArray
    rows: YearRows

    @classmethod
    def of(cls, year: ReservoirYears, flows: tuple[FloatArray, FloatArray], path_hm3: FloatArray) -> Single:
        """Of bounds of what flows in, and a schedule's storages."""
        nothing = np.zeros_like(flows[0])
        stages = freed(stages_of(year.limits), FreeFlow.between(flows, (nothing, nothing), (0.0, 1.0)))
        known = reachable(year.limits, stages)
        releases = np.empty_like(flows[0]), np.empty_like(flows[0])
        _release_bounds(stages, known.lower, known.upper, *releases)
        limits = year.limits.starting_at(path_hm3[0]) if year.limits.cyclic else year.limits
        cells = first_intervals(reachable(limits, stages), path_hm3, cyclic=False)
        return cls(year, stages, flows, known, releases, grid_of(cells), path_hm3, limits.arrays())

    def priced(self, price: FloatArray, paid: FloatArray) -> FreeFlow:
        """The free flow at prices, with its best releases."""
        mean = 0.5 * (self.grid[:-1] + self.grid[1:])
        free: FreeFlow = FreeFlow.between(self.flows, (price, paid), (mean.min(), mean.max()))
        fill_best(plant_with_cursors(self.year.model.exact), self.rows, free, demand_penalty(self.year, 1.0))
        return free

    def best(self, free: FreeFlow) -> Path:
        """The best path at prices, on the grid."""
        plant, penalty, steps = (
            plant_with_cursors(self.year.model.exact),
            demand_penalty(self.year, 3.0),
            len(free.lower),
        )
        values, feasible = np.empty(self.grid.shape), np.empty(self.grid.shape[1], bool)
        end_value = float(self.rows.end_value) if self.rows.lake else 0.0
        values[-1] = end_value * self.grid[-1]
        fill_values(plant, self.rows, self.grid, penalty, (), values, feasible, free)
        storages, release, flow = np.empty(steps + 1), np.empty(steps), np.empty(steps)
        storages[0] = self.path_hm3[0]
        worth = follow_values(plant, self.rows, self.grid, penalty, values, free, storages, release, flow)
        return Path(worth + end_value * (storages[-1] - storages[0]), storages, release, flow)

    def proven(self, free: FreeFlow, path: Path, effort: Effort, least: float | None = None) -> ProvenBound:
        """The bound at prices, near a path, of all that is worth more than the path or than a least worth."""
        known = path.worth if np.isfinite(path.worth) else None
        storages = path.storages_hm3 if known is not None else self.path_hm3
        known = known if least is None else least
        values = partial(cell_values, free=free)
        slack = _OF_SLACK * effort.gap * effort.least_scale / len(free.lower)
        return prove_bound(self.year, storages, known, effort, values, freed(self.stages, free, slack))


class Path(NamedTuple):
    """The best of a reservoir by itself."""

    worth: float
    storages_hm3: FloatArray
    release_m3s: FloatArray
    flow_m3s: FloatArray


@compiled_as_written
def _release_bounds(stages: Stages, lower: FloatArray, upper: FloatArray, least: FloatArray, most: FloatArray) -> None:
    """Bounds of the release of each step between bounds of storages."""
    for step in range(len(least)):
        start, end = (lower[step], upper[step]), (lower[step + 1], upper[step + 1])
        mean = (0.5 * (start[0] + end[0]) - 1e-9 * abs(end[0]), 0.5 * (start[1] + end[1]) + 1e-9 * abs(end[1]))
        lost = loss_jet(stages.rows, stages.lake, step, mean)[0]
        net = release_of(stages, step, subtract(end, start), lost)
        free = stages.rows[FREE_LOWER, step], stages.rows[FREE_UPPER, step]
        release = add(net, free)
        least[step] = min(max(stages.rows[RELEASE_LOWER, step], release[0]), stages.rows[RELEASE_UPPER, step])
        most[step] = max(min(stages.rows[RELEASE_UPPER, step], release[1]), least[step])


@dataclass(frozen=True, eq=False)
class SystemBound:
    """What no joint schedule that keeps the limits can exceed.

    Parameters
    ----------
    bound : float
        In the unit of the objective; infinity where nothing could be proved, minus infinity where none keeps them.
    prices : ndarray, shape (reservoirs, steps)
        Of a m3/s that links bring to each, in the unit of the objective.
    of_reservoirs : tuple of ProvenBound
    """

    bound: float
    prices: FloatArray
    of_reservoirs: tuple[ProvenBound, ...]


class SystemProblem:
    """A year of a system as problems of its reservoirs, one by one.

    Parameters
    ----------
    batch : SystemYears
        Of one year.
    schedule : SystemOperation
        One that is bounded, or any.
    corridors : sequence, optional
        Of each reservoir, bounds that its storages at the starts of steps are within besides, or None.
    below : float
        By how much less proofs are told that the schedule, and the best path of each reservoir, are worth.
    """

    def __init__(
        self, batch: SystemYears, schedule: SystemOperation, corridors: Sequence[Any] = (), below: float = 0.0
    ) -> None:
        self.batch, self.schedule, self.below = batch, schedule, below
        self.links = [LinkFlow.of(batch, link) for link in batch.system.links if link.target is not None]
        self.singles: list[Single] = []
        for place in range(len(batch.years)):
            own = batch.years[place]
            if batch.system.reservoirs[place].initial_storage_hm3 is not None:
                own = replace(own, limits=with_ends(batch.system.reservoirs[place], own.limits))
            if corridors and corridors[place] is not None:
                lower, upper = (each[np.newaxis, 1:] for each in corridors[place])
                lower = np.append(lower, own.limits.storage_lower_hm3[:, -1:], axis=1)
                upper = np.append(upper, own.limits.storage_upper_hm3[:, -1:], axis=1)
                own = replace(own, limits=own.limits.changed(storage_lower=lower, storage_upper=upper))
            path = schedule.of_reservoirs[place].storage_hm3[0]
            self.singles.append(Single.of(own[0], self._flows(place), path))
        self.fitness = float(batch.fitness_of(schedule)[0]) - below

    def _flows(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Bounds of what links bring; those above are known."""
        least, most = np.zeros(self.batch.steps), np.zeros(self.batch.steps)
        for link in self._into(place):
            low, high = (link.arriving(each) for each in self.singles[link.source].releases)
            least, most = least + low, most + high
        return least, most

    def _into(self, place: int) -> Iterator[LinkFlow]:
        return (link for link in self.links if link.target == place)

    def frees(self, prices: FloatArray) -> tuple[list[FreeFlow], float]:
        """The free flow of each reservoir at prices, and what is the same whatever they do."""
        offset = self.batch.terms.get("offset", np.zeros(1))
        paid, constant = np.zeros_like(prices), float(offset.sum())
        for link in self.links:
            slope, level = link.line(prices[link.target], self.singles[link.source].releases)
            paid[link.source] += (prices[link.target] * slope) @ link.brings
            constant += float(prices[link.target] @ level)
        return [single.priced(*of) for single, *of in zip(self.singles, prices, paid, strict=True)], constant

    def valued(self, prices: FloatArray) -> tuple[float, float, list[FreeFlow], list[Path]]:
        """What all come to by themselves, about, what of that is the same whatever they do, and how."""
        frees, constant = self.frees(prices)
        paths = [single.best(free) for single, free in zip(self.singles, frees, strict=True)]
        return constant + sum(path.worth for path in paths), constant, frees, paths

    def scale(self, frees: list[FreeFlow]) -> float:
        """The size of what is added up."""
        carried = zip(frees, self.singles, strict=True)
        return abs(self.fitness) + sum(
            float(np.abs(free.price) @ free.upper + np.abs(free.paid) @ single.releases[1]) for free, single in carried
        )

    def slopes(self, paths: list[Path]) -> FloatArray:
        """Of what each comes to over the prices: what it hands on less what it is brought."""
        slopes = np.zeros((len(paths), len(paths), self.batch.steps))
        for place, path in enumerate(paths):
            slopes[place, place] -= path.flow_m3s
        for link in self.links:
            slopes[link.source, link.target] += link.arriving(paths[link.source].release_m3s)
        return slopes

    def better_prices(self, prices: FloatArray, aim: float, until: float) -> tuple[FloatArray, float]:
        """Prices at which the sum is smaller, found until a time of `time.monotonic`, and that sum."""
        shape = prices.shape

        def evaluated(numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
            _, constant, _, paths = self.valued(numbers.reshape(shape))
            values = np.array([path.worth for path in paths])
            values[0] += constant
            return values, self.slopes(paths).reshape(len(values), -1)

        found, worth = least_sum(evaluated, prices.ravel(), aim, _EVALUATIONS, until)
        return found.reshape(shape), worth

    def corridors(self, prices: FloatArray) -> list[Any]:
        """What storages at the starts of steps are within of all schedules that are better than the one known.

        Where all but one come to no more than is proved, that one must come to what is missing. (Of cyclic years, whose
        starts are among what is sought, nothing is told.)
        """
        worth, constant, frees, paths = self.valued(prices)
        short = worth - self.fitness
        most = [path.worth - (1.0 + _SPARE) * short for path in paths]
        proofs = [
            single.proven(free, path, Effort(0.0, 60.0, levels=_LEVELS), least)
            for single, free, path, least in zip(self.singles, frees, paths, most, strict=True)
        ]
        apart = constant + sum(proof.bound for proof in proofs) - self.fitness + _ROUNDING * self.scale(frees)
        spare = [proof.bound - apart - least for proof, least in zip(proofs, most, strict=True)]
        cyclic = [single.year.limits.cyclic for single in self.singles]
        told = zip(proofs, spare, cyclic, strict=True)
        return [proof.corridor if left >= 0.0 and not anywhere else None for proof, left, anywhere in told]

    def proven(self, prices: FloatArray, gap: float, seconds: float, threads: int = 1) -> SystemBound:
        """The bound at prices, above the schedule by a gap, or by little more than prices leave if that is larger.

        Where a lake may run dry, nothing is known of what it releases, and so of what those below can be brought.
        """
        if any(single.known.may_run_dry for single in self.singles):
            return SystemBound(np.inf, prices, ())
        worth, constant, frees, paths = self.valued(prices)
        scale = self.scale(frees)
        most = gap * max(abs(self.fitness), self.batch.system.least_gap_scale)
        if np.isfinite(worth):
            left = max(worth - self.fitness, 0.0)
            most = max(most - left, _OF_LEFT * most, _OF_LEFT * left)
        each = most / (len(self.singles) * max(scale, 1e-300))
        effort = Effort(each, seconds / len(self.singles), threads, scale)
        proofs, bound = list[ProvenBound](), constant
        for single, free, path in zip(self.singles, frees, paths, strict=True):
            least = path.worth - self.below if self.below and np.isfinite(path.worth) else None
            proofs.append(single.proven(free, path, effort, least))
            bound += proofs[-1].bound
            if proofs[-1].bound == -np.inf:  # there is no schedule, whatever the others do
                return SystemBound(-np.inf, prices, tuple(proofs))
        return SystemBound(bound + _ROUNDING * scale, prices, tuple(proofs))


def prove_system(
    batch: SystemYears,
    schedule: SystemOperation,
    gap: float,
    seconds: float = 600.0,
    threads: int = 1,
    below: float = 0.0,
) -> SystemBound:
    """Prove a bound of the fitness of all schedules that keep the limits of one year of a system.

    Parameters
    ----------
    batch : SystemYears
        Of one year.
    schedule : SystemOperation
        A good one: the closer to the best, the smaller the bound.
    gap : float
        Part of the fitness by which the bound may be above it.
    seconds : float
        Most time, about.
    threads : int
    below : float
        By how much less the proof is told that the schedule, and the best path of each reservoir at prices, are worth:
        a bound that is no lower than the schedule all the same rests on neither.
    """
    began = time.monotonic()
    problem, known = SystemProblem(batch, schedule, below=below), schedule.violation_sum[0] == 0
    prices, allowed = multipliers(batch, schedule), gap * abs(problem.fitness)
    aim, enough = problem.fitness + _LEFT * allowed, problem.fitness + _MOST_LEFT * allowed
    for left in reversed(range(_ROUNDS if known else 0)):  # else nothing is known to come close to
        prices, worth = problem.better_prices(prices, aim, began + _FOR_PRICES * seconds)
        if worth <= enough or not np.isfinite(worth) or not left or time.monotonic() > began + _FOR_PRICES * seconds:
            break
        problem = SystemProblem(batch, schedule, problem.corridors(prices), below)
    proved = problem.proven(prices, gap, max(began + seconds - time.monotonic(), 0.0), threads)
    if known:  # the schedule itself may be beyond the corridors
        proved = replace(proved, bound=max(proved.bound, problem.fitness + _ROUNDING * abs(problem.fitness)))
    return proved
