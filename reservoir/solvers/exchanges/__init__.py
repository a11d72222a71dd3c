"""Exchanges of water between two steps, with which searches of reservoir years end: until none brings a gain.

Dynamic programming narrows its grids around a trajectory. It ends below the best one nearby where that keeps to kinks
between the storages of its grids: releases at their bounds while losses depend on the storage, or just filled turbines.
A population search ends before its members have met; most of what is left is gained by shifts
(`exchange.shift_storages`), at a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.attributes import POWER_DEMAND
from reservoir.hydro.compiled_year import year_at
from reservoir.hydro.jit import compiled, compiled_part, inlined
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR
from reservoir.hydro.plant import Plant, lake_with_cursors, plant_with_cursors
from reservoir.hydro.rows import ATTRIBUTE_FIELDS, YearRows
from reservoir.problems.base import Problem, as_batch
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.exchanges.exchange import (
    ROLES,
    SIGNS,
    Path,
    Search,
    any_full,
    describe,
    exchange,
    exchange_best,
    shift_storages,
    widest_range,
)

FloatArray = NDArray[np.float64]

#: Rounds of exchanges at most.
_MOST_ROUNDS = 30
#: A cyclic year closes whose ends are this close, as a part of the largest storage; and by as much more power is asked.
_ROUNDING = 1e-9
#: Steps between the two of an exchange at most.
_MOST_REACH = 24
#: Rows that a search works on.
_ROWS = 6


class Effort(NamedTuple):
    """How far years are improved.

    Parameters
    ----------
    volumes : ndarray
        That are tried, as parts of the widest range of storages: small ones tell slopes, large ones look further.
    least_gain, least_gain_of_round : float
        Least gain of an exchange, and of all in a round after which there is another; parts of the fitness.
    least_gain_of_shift : float
        Least gain of a shift, as a part of the fitness; 0 for no shifts.
    """

    volumes: FloatArray
    least_gain: float
    least_gain_of_round: float
    least_gain_of_shift: float


#: For schedules that are optimal but for a last rounding; and for those that a population search left.
FINE = Effort(np.array([1e-7, 0.03]), 1e-12, 1e-10, 0.0)
QUICK = Effort(np.array([1e-5]), 1e-10, 1e-7, 1e-9)


class Polished(NamedTuple):
    """Positions of years, shape (years, dimension), and what each gained in fitness, GWh, shape (years,)."""

    positions: FloatArray
    gains_gwh: FloatArray


def polished(years: ReservoirYears, positions: FloatArray, threads: int = 1, effort: Effort = FINE) -> Polished:
    """Improve a position of each year by exchanges of water.

    Parameters
    ----------
    years : ReservoirYears
        At least one.
    positions : ndarray, shape (years, dimension)
    threads : int
        That share the years. The result does not depend on them.
    effort : Effort

    Returns
    -------
    Polished
        Positions of no less fitness.
    """
    ends = np.linspace(0, len(years), min(threads, len(years)) + 1).astype(int)
    parts = [slice(first, stop) for first, stop in pairwise(ends.tolist())]
    if len(parts) == 1:
        return _polished(years, positions, effort)
    with ThreadPoolExecutor(len(parts)) as pool:
        divided = [years[part] for part in parts], [positions[part] for part in parts]
        found = pool.map(_polished, *divided, repeat(effort))
        return Polished(*map(np.concatenate, zip(*found, strict=True)))


def compile_exchanges(years: ReservoirYears) -> None:
    """Compile what `polished` does with years like some, at least one; nothing is exchanged."""
    _polished(years, (years.lower + years.upper) / 2, FINE._replace(volumes=np.empty(0)))


def _polished(years: ReservoirYears, positions: FloatArray, effort: Effort) -> Polished:
    before = years.certify(positions)
    drafts, storages = before.operation.draft_m3s.copy(), before.operation.storage_hm3.copy()
    lower, upper = _allowed(years, storages)
    steps = years.limits.steps
    work, totals = np.zeros((_ROWS, steps + 1)), np.zeros(len(years))
    year = years.exact_year
    if years.limits.demands_power:  # what just gives the lowest power here gives it by any other rounding, too
        year = year.changed(**{ATTRIBUTE_FIELDS[POWER_DEMAND]: years.limits.power_demanded_mw * (1 + _ROUNDING)})
    plant, arrays = plant_with_cursors(years.model.exact), lake_with_cursors(year)
    schedules = _Schedules(plant, arrays, years.penalty, drafts, storages, lower, upper, work, totals)
    if effort.least_gain_of_shift > 0.0:
        _shift_water(schedules, effort.least_gain_of_shift, np.zeros((SIGNS, ROLES, steps)))
    _exchange_water(schedules, effort.volumes, effort.least_gain, effort.least_gain_of_round)
    found = np.column_stack([drafts, storages[:, 0]])[:, : years.dimension]
    gains = years.certify(found).fitness - before.fitness
    better = gains > 0
    return Polished(np.where(better[:, np.newaxis], found, positions), np.where(better, gains, 0.0))


def _allowed(years: ReservoirYears, storages_hm3: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Bounds of the storages, and beyond them what a year that cannot keep them has; shape (years, steps + 1)."""
    limits, start, end = years.limits, storages_hm3[:, 0], storages_hm3[:, -1]
    lowest = np.maximum(limits.storage_lower_hm3, limits.dead_hm3[:, np.newaxis])  # below it only losses lead
    lower, upper = (np.column_stack([start, bound]) for bound in (lowest, limits.storage_upper_hm3))
    if limits.cyclic:
        closes = np.abs(end - start) <= _ROUNDING * limits.capacity_hm3
        lowest, highest = limits.start_bounds_hm3.T
        lower[:, -1] = np.where(closes, np.maximum(lower[:, -1], lowest), end)
        upper[:, -1] = np.where(closes, np.minimum(upper[:, -1], highest), end)
    return np.minimum(lower, storages_hm3), np.maximum(upper, storages_hm3)


class _Schedules(NamedTuple):
    """Schedules of years that are changed in place, their bounds of storages, rows to work on, and fitness before."""

    plant: Plant
    years: YearRows
    penalty: float
    drafts: FloatArray
    storages: FloatArray
    lower: FloatArray
    upper: FloatArray
    work: FloatArray
    totals: FloatArray


@compiled
def _shift_water(schedules: _Schedules, least_gain: float, tables: FloatArray) -> None:
    """Change each year's schedule as long as shifts bring a gain, and tell its fitness before.

    What follows dynamic programming shifts nothing, and is compiled without this.
    """
    for index in range(len(schedules.drafts)):
        search = _search(schedules, index)
        schedules.totals[index] = describe(search)
        shift_storages(search, widest_range(search), schedules.totals[index], least_gain, tables)


@compiled
def _exchange_water(schedules: _Schedules, volumes: FloatArray, least_gain: float, least_gain_of_round: float) -> None:
    """Change each year's schedule as long as rounds of exchanges bring a gain (`Effort`).

    Gains are relative to the fitness before shifts, or where there were none, to that of the schedule.
    """
    for index in range(len(schedules.drafts)):
        search = _search(schedules, index)
        total, widest = describe(search), widest_range(search)
        if schedules.totals[index] > 0.0:
            total = schedules.totals[index]
        for _ in range(_MOST_ROUNDS):
            gained = 0.0
            for part in volumes:
                for giver in range(schedules.drafts.shape[1]):
                    gained += _exchange_from(search, giver, part * widest, least_gain * total)
            if gained <= least_gain_of_round * total:
                break


@inlined
def _search(of: _Schedules, index: int) -> Search:
    path = Path(of.drafts[index], of.storages[index], of.work[0], of.work[1])
    trial = Path(of.work[2], of.work[3], of.work[4], of.work[5])
    year = year_at(of.years, index)
    return Search(of.plant, year, of.penalty, of.lower[index], of.upper[index], path, trial, _MOST_REACH)


@compiled_part
def _exchange_from(search: Search, giver: int, volume: float, precision: float) -> float:
    """Let a step release more, and less, as long as any other gains by that; returns the gain, GWh."""
    gained = 0.0
    for way in range(4):
        fills, signed = way > 1, volume if way % 2 == 0 else -volume
        if fills and not any_full(search):
            break
        for _ in range(len(search.path.drafts)):
            tried = signed
            gain, part, taker = exchange(search, giver, giver, tried, fills, precision)
            if 0.0 < part < 1.0:  # a bound is nearer than the volume
                tried = part * signed
                gain, _, taker = exchange(search, giver, giver, tried, fills, precision)
            if gain > 0.0:
                gain = exchange_best(search, giver, taker, tried, fills, gain, precision)
            if not gain > 0.0:
                break
            gained += gain
    return gained


class SearchEnd(NamedTuple):
    """What a search ends with, an axis of problems in front.

    Parameters
    ----------
    position : ndarray of float, shape (problems, dimension)
    trace_fitness : ndarray, shape (problems, points)
        Best fitness after the generations of a trace, as the search judged it.
    fitness : ndarray, shape (problems,)
        Of the positions, as the search judged it.
    """

    position: NDArray[np.floating]
    trace_fitness: NDArray[np.floating]
    fitness: NDArray[np.floating]


def can_be_polished(problem: Problem) -> bool:
    """Whether a problem is a year of a reservoir whose water can be exchanged: its steps are few and not coupled."""
    if not isinstance(problem, ReservoirYears) or problem.limits.steps > MOST_STEPS_OF_YEAR:
        return False
    return not problem.limits.ramps


def polish_end(problems: Sequence[Problem], end: SearchEnd, threads: int) -> SearchEnd:
    """Exchange water of years of one program; the trace has one more generation, which gains what they do."""
    found = polished(as_batch(problems), end.position.astype(np.float64), threads, QUICK)
    fitness = end.fitness + found.gains_gwh
    return SearchEnd(found.positions, np.column_stack([end.trace_fitness, fitness]), fitness)
