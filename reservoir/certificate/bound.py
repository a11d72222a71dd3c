"""A bound of the best that a horizon can come to: values, brackets of cells, longest paths, pruning, refinement.

For any functions V of the storage, the sum of the stages' benefits is V at the start plus the sum of the brackets
``benefit + V at the end - V at the start`` of each step (`brackets`). Storages are cut into cells; a schedule leads
from cell to cell, and is worth no more than the longest path over the largest brackets of pairs of cells. A pair
through which no path is longer than a threshold is dropped, all other cells are cut in two, and V is made anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.boxes import bracket_bound, fill_by_mean
from reservoir.certificate.cells import Cells, first_intervals, halved, longest_paths
from reservoir.certificate.reachable import Reachable, reachable, stages_to_prove
from reservoir.certificate.stages import SEGMENTS, ByMean, Stages, stages_of
from reservoir.certificate.tables import CellValues, cell_values
from reservoir.hydro.jit import compiled_as_written
from reservoir.hydro.plant import Plant
from reservoir.problems.reservoir.year import ReservoirYears

FloatArray = NDArray[np.float64]

#: A maker of values on cells, told those that it made before, and what missing a demand costs; by name, if so, that the
#: least release may be missed, too.
Values = Callable[..., CellValues]

#: Of each level: cells and numbers of their pairs, for which bounds of brackets are sent.
Proof = Generator[tuple[Cells, FloatArray], FloatArray, "ProvenBound"]

#: Pairs of cells that are bounded for each step at most: most years need a tenth, a few ten times as many.
PAIRS = 150_000
#: Pairs of cells that are held at once, of all steps.
_MOST_PAIRS = 40_000_000
#: Those of a step of horizons for which no schedule is known that keeps the limits: nothing can be dropped.
_PAIRS_WITHOUT_SCHEDULE = 30_000
_MOST_LEVELS = 20
#: What missing a demand costs in the values of the first cells (`cell_values`), and at most.
_FIRST_COST, _MOST_COST = 3.0, 200.0
#: What float64 rounds in sums of brackets, and in what a schedule comes to, is less than this part of the bound: a
#: thousand terms of its size round less than 1e-12 of it.
_ROUNDING = 1e-10
#: Where dead storage counts by itself it has cells of its own: half their width, as a part of the largest storage, is
#: more than float32 rounds.
_APART = 1e-6
#: Parts of the steps for each thread.
_PARTS = 4


@dataclass(frozen=True)
class ProvenBound:
    """What no schedule that keeps the limits can exceed; if there is none, none that misses the least release alone.

    Parameters
    ----------
    bound : float
        In the unit of the objective; minus infinity if it is proved that there is no such schedule either, or that of a
        horizon for which nothing is known of these (`stages_to_prove`) none keeps the limits.
    infeasible_step : int or None
        The step by whose end the limits cannot be kept, if that is proved of one.
    levels : int
        How many sizes of cells there were.
    boxes : int
        Pairs of cells that were bounded.
    corridor : tuple of ndarray, shape (steps,), or None
        Bounds of the storages at the starts of steps of all schedules above the gap that was asked for (`Effort`);
        None where they are not told.
    """

    bound: float
    infeasible_step: int | None
    levels: int
    boxes: int
    corridor: tuple[FloatArray, FloatArray] | None = None

    @property
    def infeasible(self) -> bool:
        """Whether it is proved that no schedule keeps the limits."""
        return self.bound == -np.inf or self.infeasible_step is not None


@dataclass(frozen=True)
class Effort:
    """When a proof ends.

    Parameters
    ----------
    gap : float
        Part of the fitness by which the bound may be above it.
    seconds : float
        Most time for one horizon.
    threads : int
        At work on one horizon.
    least_scale : float
        What the gap is a part of at least.
    pairs : int
        Of cells that are bounded for each step at most, in all levels.
    levels : int
        Sizes of cells at most.
    """

    gap: float = 1e-5
    seconds: float = 600.0
    threads: int = 1
    least_scale: float = 0.0
    pairs: int = PAIRS
    levels: int = _MOST_LEVELS


class Bracketing(Protocol):
    """Bounds brackets for a proof: CPU threads (`Threads`), or a device for several proofs (`together.Together`)."""

    def told_by_mean(self, plant: Plant, stages: Stages, known: Reachable) -> Stages:
        """As `told_by_mean`."""

    def bounded(self, plant: Plant, stages: Stages, cells: Cells, brackets: FloatArray) -> FloatArray:
        """The bounds of all pairs that are not minus infinity, shape (pairs,)."""


def prove_bound(
    year: ReservoirYears,
    storages_hm3: FloatArray,
    fitness: float | None,
    effort: Effort | None = None,
    values: Values = cell_values,
    stages: Stages | None = None,
    by: Bracketing | None = None,
) -> ProvenBound:
    """Prove a bound of the fitness of all schedules that keep the limits of a horizon.

    Where it is proved that none does for want of water, the bound is of those that fall short of the least release
    alone, where dead storage is touched (`stages_to_prove`).

    Parameters
    ----------
    year : ReservoirYears
    storages_hm3 : ndarray, shape (steps + 1,)
        A schedule near which cells begin; any will do.
    fitness : float or None
        Of a schedule of those that are bounded; None if none is known.
    effort : Effort, optional
    values : callable
        Makes the values on cells; any will do, good ones make the bound tight.
    stages : Stages, optional
        Those of a year with a free flow (`stages.freed`); by default `stages_to_prove`.
    by : Bracketing, optional
        Bounds brackets, of a reservoir with a free flow alone if it is a device; by default the threads of the effort.
    """
    effort, plant = effort or Effort(), year.model.exact
    by = by or Threads(effort.threads)
    stages = stages or stages_to_prove(year.limits, year.penalty)
    if stages.free and effort.gap > 0.0:  # where no gap is left, boxes by themselves are closer
        stages = by.told_by_mean(plant, stages, reachable(year.limits, stages))
    proof = proof_of(year, stages, storages_hm3, fitness, effort, values)
    state = advanced(proof)
    while not isinstance(state, ProvenBound):
        state = advanced(proof, by.bounded(plant, stages, *state))
    return state


def told_by_mean(plant: Plant, stages: Stages, known: Reachable, segments: int = SEGMENTS) -> Stages:
    """Steps with a free flow, and what they come to at most on so many segments of the mean storage at most."""
    stages = stages._replace(by_mean=ByMean.empty(stages.rows.shape[1], segments))
    fill_by_mean(plant, stages.without_range, known.lower, known.upper)
    return stages


def advanced(proof: Proof, bounds: FloatArray | None = None) -> tuple[Cells, FloatArray] | ProvenBound:
    """Send bounds to a proof, if it has begun: what it yields then, or what is proved."""
    try:
        return next(proof) if bounds is None else proof.send(bounds)
    except StopIteration as end:
        proved: ProvenBound = end.value
        return proved


def proof_of(
    year: ReservoirYears,
    stages: Stages,
    storages_hm3: FloatArray,
    fitness: float | None,
    effort: Effort,
    values: Values,
) -> Proof:
    """A proof that leaves to others how brackets are bounded: it yields cells, with a number for each of their pairs.

    Sent are these numbers with 0 replaced by the bound of the pair's bracket. Parameters are those of `prove_bound`.
    """
    until, limits = time.monotonic() + effort.seconds, year.limits
    known = reachable(limits, stages)
    if known.empty_step is not None:
        return ProvenBound(-np.inf, known.empty_step, 0, 0)
    if known.may_run_dry:
        return ProvenBound(np.inf, None, 0, 0)
    infeasible_step, scale = None, effort.least_scale
    dead, apart = float(limits.dead_hm3), _APART * float(limits.capacity_hm3)
    beside_dead: tuple[float, ...] = (dead - apart, dead + apart) if np.any(known.lower < dead - apart) else ()
    if np.any(stages.missing_price > 0.0):
        infeasible_step = reachable(limits, stages_of(limits)).empty_step
        beside_dead, values = (dead - apart, dead + apart), partial(values, short=True)
        scale = max(scale, float(stages.missing_price @ stages.release_lower.clip(min=0.0)))
    threshold, room = -np.inf, min(effort.pairs, _PAIRS_WITHOUT_SCHEDULE) * limits.steps
    if fitness is not None:
        threshold = fitness + effort.gap * max(abs(fitness), effort.least_scale)
        room = effort.pairs * limits.steps
    intervals = first_intervals(known, storages_hm3, cyclic=limits.cyclic, further_hm3=beside_dead)
    best, dropped, boxes, level, cost = np.inf, -np.inf, 0, 0, _FIRST_COST
    table: CellValues | None = None
    while True:
        level += 1
        table = values(year, intervals, table, cost)
        boxes += int(intervals.alive.sum())
        brackets = yield table.cells, np.where(intervals.alive, 0.0, -np.inf)
        through, before = _through(table, brackets, cyclic=limits.cyclic)
        longest = max(float(through.max()), dropped)
        if longest == -np.inf:
            if infeasible_step is None and not limits.cyclic:
                reached = np.maximum.reduceat(before, table.cells.first[:-1]) > -np.inf
                infeasible_step = int(np.argmin(reached)) - 1 if not reached.all() else len(reached) - 2
            return ProvenBound(-np.inf, infeasible_step, level, boxes)
        best = min(best, longest)
        kept = through > threshold
        dropped = max(dropped, float(through[~kept].max(initial=-np.inf)))
        more = 4 * int(kept.sum())
        if best <= threshold or boxes + more > room or level == effort.levels or time.monotonic() > until:
            break
        intervals = halved(intervals, kept, table.cut, cyclic=limits.cyclic)
        if not intervals.alive.any() or len(intervals.alive) > _MOST_PAIRS:
            break
        if not table.at_ends.max() <= threshold:  # values are too large: perhaps missing a demand pays
            cost = min(2 * cost, _MOST_COST)
    bound = best + _ROUNDING * max(abs(best), scale)
    return ProvenBound(bound, infeasible_step, level, boxes, _corridor(table.cells, kept))


def _corridor(cells: Cells, kept: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray] | None:
    """Bounds of the storages at the starts of steps, of paths over pairs that are kept; None if there are none."""
    passed = np.flatnonzero(np.logical_or.reduceat(np.append(kept, False), cells.first_pair[:-1]))
    first = np.searchsorted(passed, cells.first[:-2])
    if np.any(np.diff(first, append=len(passed)) == 0):
        return None
    return np.minimum.reduceat(cells.lower[passed], first), np.maximum.reduceat(cells.upper[passed], first)


@compiled_as_written
def bound_pairs(plant: Plant, stages: Stages, cells: Cells, brackets: FloatArray, start: int, stop: int) -> None:
    """Bound the brackets of some steps; pairs that are minus infinity stay so."""
    for step in range(start, stop):
        for x in range(cells.first[step], cells.first[step + 1]):
            to_end = cells.first_end[x] - cells.first_pair[x]
            for pair in range(cells.first_pair[x], cells.first_pair[x + 1]):
                if brackets[pair] > -np.inf:
                    y = pair + to_end
                    brackets[pair] = bracket_bound(
                        plant,
                        stages,
                        step,
                        (cells.lower[x], cells.upper[x]),
                        (cells.lower[y], cells.upper[y]),
                        cells.value[y] - cells.value[x],
                        (cells.slope[x], cells.slope[y]),
                    )


@dataclass(frozen=True)
class Threads:
    """So many CPU threads, which share the steps of a horizon among them."""

    threads: int = 1

    def told_by_mean(self, plant: Plant, stages: Stages, known: Reachable) -> Stages:
        """As `told_by_mean`."""
        return told_by_mean(plant, stages, known)

    def bounded(self, plant: Plant, stages: Stages, cells: Cells, brackets: FloatArray) -> FloatArray:
        """The bounds of all pairs that are not minus infinity, in place of the brackets."""
        steps = stages.rows.shape[1]
        if self.threads == 1:
            bound_pairs(plant, stages, cells, brackets, 0, steps)
            return brackets
        ends = np.linspace(0, steps, min(_PARTS * self.threads, steps) + 1).astype(int).tolist()
        with ThreadPoolExecutor(self.threads) as pool:
            for done in [pool.submit(bound_pairs, plant, stages, cells, brackets, *span) for span in pairwise(ends)]:
                done.result()
        return brackets


def _through(table: CellValues, brackets: FloatArray, *, cyclic: bool) -> tuple[FloatArray, FloatArray]:
    """Length of the longest path through each pair, and of that to each cell.

    A bracket or an end that came to no number bounds nothing: comparisons would take it for no path at all.
    """
    through = np.empty(len(brackets))
    at_ends, lost = np.where(np.isnan(table.at_ends), np.inf, table.at_ends), np.isnan(brackets)
    if lost.any():
        brackets = np.where(lost, np.inf, brackets)
    before, after = np.empty(len(table.cells.lower)), np.empty(len(table.cells.lower))
    longest_paths(table.cells, brackets, at_ends, cyclic, before, after, through)
    return through, before


class Known(NamedTuple):
    """A horizon, a schedule of it, and the fitness of that; arguments of `prove_bound`."""

    year: ReservoirYears
    storages_hm3: FloatArray
    fitness: float | None


def compile_ahead(horizons: Iterable[Known], *, brackets: bool = True) -> None:
    """Compile all that proofs of horizons run, or load it, without proving anything.

    Parameters
    ----------
    horizons : iterable of Known
        Of those with and those without a least release that may fall short, the first that may have a schedule is gone
        through from the first cells to the second.
    brackets : bool
        Whether code that bounds brackets is compiled: most of all, which proofs on a device do without.
    """
    compiled = set()
    for known in horizons:
        stages = stages_to_prove(known.year.limits, known.year.penalty)
        short = bool(np.any(stages.missing_price > 0.0))
        if short in compiled:
            continue
        proof = proof_of(known.year, stages, known.storages_hm3, None, Effort(), cell_values)
        state = advanced(proof)
        if isinstance(state, ProvenBound):
            continue
        cells, bounds = state
        advanced(proof, bounds.copy())  # as if every bracket were 0: paths, halves, and values of the second cells
        if brackets:
            bound_pairs(known.year.model.exact, stages, cells, bounds, 0, 1)
        compiled.add(short)
