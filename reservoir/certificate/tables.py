"""Values on cells, from dynamic programming: hints that make the bound tight; it holds with any others too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.cells import Cells, cuts
from reservoir.hydro.calendar import HM3_PER_YEAR_AND_M3S
from reservoir.hydro.compiled_year import value_of_little_water
from reservoir.hydro.conditions import demanded
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant, lake_with_cursors, plant_with_cursors
from reservoir.hydro.rows import DEAD, HM3_PER_M3S, INFLOW, RELEASE_LOWER, YearRows
from reservoir.hydro.step import release_to_reach, storage_after
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.dp.free_flow import below_dead, best_flow, lake_levels, turbined_and_power, with_high_lake
from reservoir.solvers.dp.recursion import best_value, reachable_ends, value_between

FloatArray = NDArray[np.float64]


@compiled
def fill_values(
    plant: Plant,
    year: YearRows,
    grid: FloatArray,
    penalty: float,
    short: tuple[int, ...],
    values: FloatArray,
    feasible: NDArray[np.bool_],
    free: Any,
) -> None:
    """As `value_function`, but where no limits can be kept on the grid, values go on in a line.

    A cliff there would be steeper than any cell is narrow.

    Parameters
    ----------
    grid : ndarray, shape (steps + 1, states)
        Storages at the start of each step and at the end of the last; rows never fall.
    penalty : float
        Of a violation of demands; limits to release and storage are kept.
    short : tuple of int
        One 0 where the least release may be missed as well, at this penalty, where there is no more water; else empty:
        compiled code has a form with and one without.
    values : ndarray, shape (steps + 1, states)
        At the end of the last step they are given, all others are filled in.
    feasible : ndarray, shape (states,)
        Room for whether a state has an end.
    free : FreeFlow or ()
    """
    states = grid.shape[1]
    for step in range(len(grid) - 2, -1, -1):
        row, later = grid[step + 1], values[step + 1]
        low, high = 0, states - 1  # of the states that the next step can begin with
        if step + 1 < len(grid) - 1:
            while low < states - 1 and not feasible[low]:
                low += 1
            while high > low and not feasible[high]:
                high -= 1
        rounding = 1e-8 * (abs(grid[step, states - 1]) + 1.0) / year.rows[HM3_PER_M3S, step]
        for state in range(states):
            storage = grid[step, state]
            if len(short) > 0:
                little, end, benefit, unmet = value_of_little_water(plant, year, step, storage)
                if little:
                    values[step, state] = benefit - penalty * unmet + value_between(row, later, end)
                    continue
            values[step, state] = -np.inf
            for sunk in range(2 if len(free) > 0 else 1):
                lowest, highest = _ends(year, step, storage, rounding, sunk, free)
                lowest, highest = max(lowest, row[low]), min(highest, row[high])
                if lowest <= highest:
                    of_best = best_value(plant, year, step, storage, lowest, highest, penalty, row, later, free)
                    values[step, state] = max(values[step, state], of_best[0])
        for state in range(states):
            feasible[state] = values[step, state] > -np.inf
        _extend(grid[step], values[step], feasible, later)


@inlined
def _ends(year: YearRows, step: int, storage: float, rounding_m3s: float, sunk: int, free: Any) -> tuple[float, float]:
    """Lowest and highest storage that a step can end at, at dead storage and above, or sunk below it; crossed if none.

    Only losses lead below dead storage: all stays there that flows in, and no least release is kept.
    """
    lowest, highest = reachable_ends(year, step, storage, rounding_m3s, free)
    if len(free) == 0:
        return max(lowest, min(year.numbers[DEAD], highest)), highest
    if sunk == 0:
        return max(lowest, year.numbers[DEAD]), highest
    at_rest, per_flow, inflow = -demanded(year, step), year.rows[HM3_PER_M3S, step], year.rows[INFLOW, step]
    if lowest > below_dead(year) or year.rows[RELEASE_LOWER, step] > at_rest + rounding_m3s:
        return np.inf, -np.inf
    net = at_rest - free.lower[step] + rounding_m3s
    lowest = max(lowest, storage_after(storage, inflow, net, per_flow, year, step))
    return lowest, min(highest, below_dead(year))


#: Part of a row's storages by which two states differ at least that tell how values go on.
_APART = 1e-9


@inlined
def _extend(row: FloatArray, values: FloatArray, feasible: NDArray[np.bool_], later: FloatArray) -> None:
    """Continue the values of states in a line, at both ends; all as those of the next row if there are none.

    States that hardly differ say nothing of the line: what rounding leaves of their difference would grow from round to
    round of a cyclic horizon, beyond all numbers.
    """
    states = len(row)
    apart = _APART * (row[states - 1] - row[0])
    first, last = 0, states - 1
    while first < states and not feasible[first]:
        first += 1
    if first == states:
        for state in range(states):
            values[state] = later[state]
        return
    while not feasible[last]:
        last -= 1
    beyond_first, before_last = first + 1, last - 1
    while beyond_first < last and not row[beyond_first] - row[first] > apart:
        beyond_first += 1
    while before_last > first and not row[last] - row[before_last] > apart:
        before_last -= 1
    low = _slope(row, values, first, min(beyond_first, last), apart)
    high = _slope(row, values, max(before_last, first), last, apart)
    for state in range(first):
        values[state] = values[first] + low * (row[state] - row[first])
    for state in range(last + 1, states):
        values[state] = values[last] + high * (row[state] - row[last])


@inlined
def _slope(row: FloatArray, values: FloatArray, low: int, high: int, apart: float) -> float:
    width = row[high] - row[low]
    slope: float = (values[high] - values[low]) / width if width > apart else 0.0
    return slope


#: Rounds in which the value at the end of a cyclic horizon becomes that at its start.
_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class CellValues:
    """Values on cells, a straight line on each.

    Parameters
    ----------
    cells : Cells
    at_ends : ndarray, shape (cells at the start,)
        Largest value at the start of a path less that at its end, by the cell that it starts in.
    cut : ndarray, shape (cells,)
        Where to cut each cell in two, hm3 (`cuts`).
    end : tuple of ndarray
        Storages at the end, and the values there.
    """

    cells: Cells
    at_ends: FloatArray
    cut: FloatArray
    end: tuple[FloatArray, FloatArray]


def cell_values(
    year: ReservoirYears,
    intervals: Cells,
    former: CellValues | None,
    cost: float,
    *,
    short: bool = False,
    free: Any = (),
) -> CellValues:
    """Values on cells of one horizon in which demands may be missed at a cost.

    Where they may not, values fall steeply, or off a cliff, towards storages from which demands cannot be met, and a
    straight line on a cell is a poor hint. If the cost is so high that the best schedule misses none, the bound is the
    same. It is a hint like any other.

    Parameters
    ----------
    year : ReservoirYears
    intervals : Cells
    former : CellValues, optional
        Those on the larger cells of which these are parts. Values are made at the ends of both: from those in use now
        alone they would bend where cells beside them are gone.
    cost : float
        Of missing power, as a multiple of what power is worth; of missing a demand, as a multiple of full load.
    short : bool
        Whether the least release may be missed too: missing a demand then costs what it costs in the fitness.
    free : FreeFlow or ()
        What flows in freely.
    """
    cyclic, limits = year.limits.cyclic, year.limits
    grid, plant, may_miss = grid_of(intervals, former), plant_with_cursors(year.model.exact), (0,) if short else ()
    if cyclic:  # as one with an end anywhere between the bounds of its end
        limits = replace(limits, cyclic=False)
    rows = limits.arrays()
    if rows.priced:  # promised power costs no more than a multiple of what power is worth
        most = np.where(rows.power_value > 0, cost * rows.power_value, np.inf)
        rows = rows.changed(power_cost=np.minimum(rows.power_cost, most))
    rows = lake_with_cursors(with_high_lake(rows, free) if free else rows)
    values, feasible = np.empty(grid.shape), np.empty(grid.shape[1], bool)
    end_value = float(rows.end_value) if rows.lake else 0.0
    values[-1] = end_value * (grid[-1] - grid[0, 0])
    if cyclic:
        first = free.kept * (grid[-1] - grid[-1, 0]) if free else np.zeros(grid.shape[1])
        values[-1] = first if former is None else np.interp(grid[-1], *former.end)
    penalty = year.penalty
    if not short:
        penalty = demand_penalty(year, cost)
    for _ in range(_ROUNDS if cyclic else 0):
        fill_values(plant, rows, grid, penalty, may_miss, values, feasible, free)
        at_start = np.interp(grid[-1], grid[0], values[0])
        values[-1] = at_start - at_start[0]
    fill_values(plant, rows, grid, penalty, may_miss, values, feasible, free)
    return lined_up(intervals, grid, values, None if cyclic else end_value)


def demand_penalty(year: ReservoirYears, cost: float) -> float:
    """What missing a demand costs that is worth a multiple of full load."""
    reservoir = year.model.reservoir
    of_year = reservoir.objective.largest_per_year(reservoir.installed_mw)
    return cost * of_year * float(np.mean(year.limits.hm3_per_m3s)) / HM3_PER_YEAR_AND_M3S


def lined_up(intervals: Cells, grid: FloatArray, values: FloatArray, end_value: float | None) -> CellValues:
    """Values on cells from a table.

    Parameters
    ----------
    intervals : Cells
    grid, values : ndarray, shape (steps + 1, states)
        Storages that do not fall, and any values there; what is no finite number counts as 0.
    end_value : float or None
        What a hm3 is worth at the end: there the values are exact; None of a cyclic horizon.
    """
    values = np.where(np.isfinite(values), values, 0.0)
    low, high = intervals.lower, intervals.upper
    at_low, at_high, cut = (np.empty(len(low)) for _ in range(3))
    for cells, row, value_row in zip(intervals.by_time, grid, values, strict=True):
        at_low[cells], at_high[cells] = (np.interp(end[cells], row, value_row) for end in (low, high))
        cut[cells] = cuts(low[cells], high[cells], row, value_row)
    width = high - low
    slope = np.where(width > 0, (at_high - at_low) / np.where(width > 0, width, 1.0), 0.0)
    value, middle = 0.5 * (at_low + at_high), 0.5 * (low + high)
    begin, last = intervals.by_time[0], intervals.by_time[-1]
    if end_value is not None:
        slope[last], value[last] = end_value, end_value * (middle[last] - grid[0, 0])
    half = np.maximum(high - middle, middle - low)[begin]
    at_ends = value[begin] + np.abs(slope[begin]) * half
    if end_value is None:
        at_ends = value[begin] - value[last] + np.abs(slope[begin] - slope[last]) * half
        cut[last] = cut[begin]
    return CellValues(intervals._replace(value=value, slope=slope), at_ends, cut, (grid[-1].copy(), values[-1].copy()))


def grid_of(intervals: Cells, former: CellValues | None = None) -> FloatArray:
    """Ends of all cells of each time, in rows of one length: the last one is repeated."""
    nodes = _nodes(intervals)
    if former is not None:
        nodes = [np.union1d(*each) for each in zip(nodes, _nodes(former.cells), strict=True)]
    most = max(2, *map(len, nodes))
    return np.stack([np.append(each, np.full(most - len(each), each[-1])) for each in nodes])


def _nodes(cells: Cells) -> list[FloatArray]:
    spans = [slice(*ends) for ends in pairwise(cells.first)]
    return [np.union1d(cells.lower[of_time], cells.upper[of_time]) for of_time in spans]


#: Bounds of what can be reached are wider than they need be: an end that is missed by this part of the storage is met.
MISSED = 1e-6


@compiled
def follow_values(
    plant: Plant,
    year: YearRows,
    grid: FloatArray,
    penalty: float,
    values: FloatArray,
    free: Any,
    storages: FloatArray,
    flows: FloatArray,
) -> float:
    """Follow the best ends of steps from ``storages[0]``: what they are worth; minus infinity where there are none.

    Parameters
    ----------
    grid, values : ndarray, shape (steps + 1, states)
        From `fill_values`.
    free : FreeFlow
    storages : ndarray, shape (steps + 1,)
        Filled but for the first.
    flows : ndarray, shape (6, steps)
        Filled: the release, what the turbines take of it, the power that makes, the free flow of each step, and how
        much above their lowest priced levels are, of the lake below and its own.
    """
    total, states = 0.0, grid.shape[1]
    for step in range(len(grid) - 1):
        row, storage = grid[step + 1], storages[step]
        rounding = 1e-8 * (abs(grid[step, states - 1]) + 1.0) / year.rows[HM3_PER_M3S, step]
        most, end = -np.inf, storage
        for sunk in range(2):
            lowest, highest = _ends(year, step, storage, rounding, sunk, free)
            lowest, highest = max(lowest, row[0]), min(highest, row[states - 1])
            if lowest > highest:
                if not lowest - highest <= MISSED * (abs(row[states - 1]) + 1.0):
                    continue
                lowest = highest = 0.5 * (lowest + highest)
                if not sunk:  # rounding alone does not lead below dead storage
                    lowest = highest = max(lowest, year.numbers[DEAD])
            of_best = best_value(plant, year, step, storage, lowest, highest, penalty, row, values[step + 1], free)
            if of_best[0] > most:
                most, end = of_best
        if most == -np.inf:
            return -np.inf
        net = release_to_reach(storage, end, year.rows[INFLOW, step], year.rows[HM3_PER_M3S, step], year, step)
        release, worth = best_flow(plant, year, step, storage, end, net, penalty, free)
        storages[step + 1], flows[0, step], flows[3, step] = end, release, release - net
        flows[1, step], flows[2, step] = turbined_and_power(plant, year, step, storage, end, release)
        flows[4, step], flows[5, step] = lake_levels(plant, year, step, storage, end, release, penalty, free)
        total += worth
    return total
