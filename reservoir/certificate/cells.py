"""Cells of storages, bands of pairs of them, and the longest paths through these: the first cells, and halves of them.

A schedule leads from cell to cell; the brackets of pairs are bounded elsewhere (`boxes`, `on_device`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.reachable import Reachable
from reservoir.hydro.jit import compiled_as_written, part_as_written

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Int32Array = NDArray[np.int32]
BoolArray = NDArray[np.bool_]

_INFINITY = float("inf")

#: First cells: the width of those beside a known schedule, as a part of the range; by what part of the distance from it
#: they grow; and the width of the widest where a horizon has so many steps, or fewer.
_NARROWEST, _GROWTH, _WIDEST, _STEPS = 5e-4, 0.25, 0.06, 12


class Cells(NamedTuple):
    """Cells of storages at the start of each step and at the end of the last, one array for all.

    A path may lead from a cell to a band of cells behind each other: pair `p` of cell `x` ends in cell
    ``first_end[x] + p - first_pair[x]``.

    Parameters
    ----------
    first : ndarray, shape (steps + 2,)
        Place of the first cell of each time; last, their number.
    first_end : ndarray, shape (cells that a step starts in,)
        Place of the first cell that a path may lead to from each.
    first_pair : ndarray, shape (cells that a step starts in + 1,)
        Place of the first pair of each of these cells; last, the number of pairs.
    lower, upper : ndarray, shape (cells,)
        Ends of the cells, hm3.
    value, slope : ndarray, shape (cells,)
        Value at the middle of each cell, and its slope over the storage; not there yet of cells that are only cut.
    alive : ndarray of bool, shape (pairs,)
        Whether a path may lead through each pair; nobody asks it of cells with values.
    """

    first: IntArray
    first_end: IntArray
    first_pair: IntArray
    lower: FloatArray
    upper: FloatArray
    value: FloatArray = np.empty(0)
    slope: FloatArray = np.empty(0)
    alive: BoolArray = np.empty(0, bool)

    @property
    def by_time(self) -> list[slice]:
        """Places of the cells of each time."""
        return [slice(*ends) for ends in zip(self.first[:-1], self.first[1:], strict=True)]


def first_intervals(
    known: Reachable, path_hm3: FloatArray, *, cyclic: bool, further_hm3: Sequence[float] = ()
) -> Cells:
    """Cells between the bounds of each time: narrow ones beside a known schedule, wider ones away from it.

    Where errors of brackets must be small in all steps at once, best schedules pass; and they tend to be where the
    value of storage has a kink: an end of a cell there does no harm. Farther off, a schedule that pays must come back:
    but in a long horizon that may take long, and errors of many steps pay for more.
    From each cell a path may lead to all cells of the next time. Further ends of cells are those of all times.
    """
    distances = _distances(len(path_hm3) - 1)
    edges = [_edges(*each, distances) for each in zip(known.lower, known.upper, path_hm3, strict=True)]
    for at in further_hm3:
        edges = [np.union1d(each, at) if each[0] < at < each[-1] else each for each in edges]
    if cyclic:
        edges[0] = edges[-1]
    count = np.array([len(each) - 1 for each in edges])
    first = np.cumsum([0, *count])
    lower, upper = (np.concatenate([each[part] for each in edges]) for part in (slice(-1), slice(1, None)))
    first_end, ends = np.repeat(first[1:-1], count[:-1]), np.repeat(count[1:], count[:-1])
    first_pair = np.cumsum([0, *ends])
    return Cells(first, first_end, first_pair, lower, upper, alive=np.ones(first_pair[-1], bool))


def _edges(lower: float, upper: float, path: float, distances: FloatArray) -> FloatArray:
    if upper <= lower:
        return np.array([lower, upper])
    path = min(max(path, lower), upper)
    away = distances * (upper - lower)
    edges = np.concatenate([path - away, path + away, [lower, upper]])
    return np.unique(edges[(edges >= lower) & (edges <= upper)])


def _distances(steps: int) -> FloatArray:
    """Distances of edges from the schedule, as parts of the range."""
    widest = _WIDEST * min(_STEPS / steps, 1.0) ** (1 / 3)
    distances = [0.0]
    while distances[-1] < 1.0:
        distances.append(distances[-1] + min(max(_NARROWEST, _GROWTH * distances[-1]), widest))
    return np.array(distances)


#: The least part of a cell that is cut off: where a kink is, is not known exactly.
_LEAST_PART = 1 / 8
#: Slopes on either side of a cell that differ by a smaller part than this say nothing of a kink.
_BENT = 0.02


def cuts(low: FloatArray, high: FloatArray, grid: FloatArray, values: FloatArray) -> FloatArray:
    """Where the lines of the values on either side of each cell meet, if they meet in it; else its middle.

    Parameters
    ----------
    low, high : ndarray, shape (cells,)
        Ends of cells of one time, hm3: neighbours in the grid.
    grid, values : ndarray, shape (states,)
        Storages that do not fall, hm3, and the values there.

    Returns
    -------
    ndarray, shape (cells,)
        hm3.
    """
    widths = np.diff(grid)
    slopes = np.divide(np.diff(values), widths, out=np.zeros(len(widths)), where=widths > 0)
    last, place = len(slopes) - 1, np.searchsorted(grid, low)
    before, here, after = (slopes[np.clip(place + by, 0, last)] for by in (-1, 0, 1))
    bend, rest = before - after, here - after
    kinked = (rest * bend > 0) & (np.abs(rest) < np.abs(bend)) & (np.abs(bend) > _BENT * np.abs(before))
    share = np.divide(rest, bend, out=np.full(len(low), 0.5), where=kinked)
    return np.asarray(low + np.clip(share, _LEAST_PART, 1 - _LEAST_PART) * (high - low))


def halved(intervals: Cells, kept: BoolArray, cut: FloatArray, *, cyclic: bool) -> Cells:
    """Both parts of all cells that a kept pair has; a pair of parts is alive if that of the whole cells was kept.

    Parameters
    ----------
    intervals : Cells
    kept : ndarray of bool, shape (pairs,)
    cut : ndarray, shape (cells,)
        Where each cell is cut, hm3.
    cyclic : bool
        Whether cells at the end are those at the start.
    """
    starts, cells = len(intervals.first_end), len(intervals.lower)
    low, high, live = np.zeros(starts, np.int64), np.zeros(starts, np.int64), np.zeros(cells, bool)
    _draw_in(intervals.first_end, intervals.first_pair, kept, low, high, live)
    if cyclic:
        begin, last = intervals.by_time[0], intervals.by_time[-1]
        live[begin] &= live[last]
        live[last] = live[begin]
    splits = live & (cut > intervals.lower) & (cut < intervals.upper)
    place = np.concatenate([[0], np.cumsum(live.astype(np.int64) + splits)])
    parent = np.repeat(np.arange(cells), np.diff(place))
    second = np.zeros(len(parent), bool)
    second[1:] = parent[1:] == parent[:-1]
    whole = ~splits[parent]
    lower = np.where(second, cut[parent], intervals.lower[parent])
    upper = np.where(second | whole, intervals.upper[parent], cut[parent])
    of_starts = parent[: place[starts]]
    first_end = place[low[of_starts]]
    first_pair = np.concatenate([[0], np.cumsum(place[high[of_starts]] - first_end)])
    alive = np.empty(first_pair[-1], bool)
    _inherit(intervals.first_end, intervals.first_pair, kept, parent, first_end, first_pair, alive)
    return Cells(place[intervals.first], first_end, first_pair, lower, upper, alive=alive)


@compiled_as_written
def _draw_in(
    first_end: IntArray, first_pair: IntArray, kept: BoolArray, low: IntArray, high: IntArray, live: BoolArray
) -> None:
    """Draw in bands to the kept pairs: their first end and the one behind the last; and the cells of kept pairs."""
    for x in range(len(first_end)):
        to_end = first_end[x] - first_pair[x]
        for pair in range(first_pair[x], first_pair[x + 1]):
            if kept[pair]:
                y = pair + to_end
                if not high[x]:
                    low[x] = y
                high[x] = y + 1
                live[x] = True
                live[y] = True


@compiled_as_written
def _inherit(
    first_end: IntArray,
    first_pair: IntArray,
    kept: BoolArray,
    parent: IntArray,
    child_end: IntArray,
    child_pair: IntArray,
    alive: BoolArray,
) -> None:
    """Pairs of parts of cells are alive if the pair of the whole cells was kept."""
    for x in range(len(child_end)):
        to_end, to_kept = child_end[x] - child_pair[x], first_pair[parent[x]] - first_end[parent[x]]
        for pair in range(child_pair[x], child_pair[x + 1]):
            alive[pair] = kept[parent[pair + to_end] + to_kept]


@compiled_as_written
def longest_paths(
    cells: Cells,
    brackets: FloatArray,
    ends: FloatArray,
    cyclic: bool,
    before: FloatArray,
    after: FloatArray,
    through: FloatArray,
) -> None:
    """Length of the longest path through each pair of cells.

    Parameters
    ----------
    ends : ndarray, shape (cells at the start,)
        What is added to paths from each cell.
    cyclic : bool
        Whether paths end in the cell that they begin in.
    before, after : ndarray, shape (cells,)
        Room for the longest paths to and from a cell.
    through : ndarray, shape (pairs,)
        Filled.
    """
    through[:] = -_INFINITY
    first_cells = cells.first[1]
    for start in range(first_cells if cyclic else 1):
        before[:] = -_INFINITY
        after[:] = -_INFINITY
        last = cells.first[-2]
        if cyclic:
            before[start] = ends[start]
            after[last + start] = 0.0
        else:
            for cell in range(first_cells):
                before[cell] = ends[cell]
            after[last:] = 0.0
        _both_ways(cells, brackets, before, after, through)


@part_as_written
def _both_ways(cells: Cells, brackets: FloatArray, before: FloatArray, after: FloatArray, through: FloatArray) -> None:
    starts = len(cells.first_end)
    for x in range(starts - 1, -1, -1):
        to_end, best = cells.first_end[x] - cells.first_pair[x], after[x]
        for pair in range(cells.first_pair[x], cells.first_pair[x + 1]):
            best = max(best, brackets[pair] + after[pair + to_end])
        after[x] = best
    for x in range(starts):
        to_end, reached = cells.first_end[x] - cells.first_pair[x], before[x]
        if reached == -_INFINITY:
            continue
        for pair in range(cells.first_pair[x], cells.first_pair[x + 1]):
            y, length = pair + to_end, reached + brackets[pair]
            before[y] = max(before[y], length)
            through[pair] = max(through[pair], length + after[y])


class Pairs(NamedTuple):
    """Cells of all times of all horizons behind each other, and their pairs.

    Pair ``p`` of cell ``x`` ends in cell ``first_end[x] + p - first_pair[x]``. Cells at the end of a horizon have none.

    Parameters
    ----------
    step : ndarray of int32, shape (cells,)
        The step that a cell starts, of all horizons; of those at the end of one it has no meaning.
    first_end : ndarray of int32, shape (cells,)
        The first cell that a step may end in.
    first_pair : ndarray of int32, shape (cells + 1,)
        Place of the first pair of each cell; last, their number.
    lower, upper, value, slope : ndarray, shape (cells,)
        As in `Cells`.
    """

    step: Int32Array
    first_end: Int32Array
    first_pair: Int32Array
    lower: FloatArray
    upper: FloatArray
    value: FloatArray
    slope: FloatArray

    @property
    def number(self) -> int:
        """How many pairs."""
        return int(self.first_pair[-1])


def pairs_of(horizons: Sequence[Cells], first_step: Sequence[int] | None = None) -> Pairs:
    """Lay out the pairs of horizons, those of one behind the other.

    Parameters
    ----------
    horizons : sequence of Cells
    first_step : sequence of int, optional
        The first step of each among those that the device holds; if not given, it holds theirs alone.

    Raises
    ------
    ValueError
        If there are more pairs than a kernel can index.
    """
    if first_step is None:
        first_step = np.cumsum([0, *(len(cells.first) - 2 for cells in horizons[:-1])]).tolist()
    step, first_end, ends, place = [], [], [], 0
    for cells, first in zip(horizons, first_step, strict=True):
        count = np.diff(cells.first)
        none = np.zeros(count[-1], np.int64)  # cells at the end lead nowhere
        step.append(first + np.repeat(np.arange(len(count)), count))
        first_end.append(place + np.append(cells.first_end, none))
        ends.append(np.append(np.diff(cells.first_pair), none))
        place += len(cells.lower)
    first_pair = np.concatenate([[0], np.cumsum(np.concatenate(ends))])
    if first_pair[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"{first_pair[-1]:,} pairs of cells, more than a kernel can index")
    places = (np.concatenate(step), np.concatenate(first_end), first_pair)
    numbers = (np.concatenate([getattr(cells, name) for cells in horizons]) for name in Pairs._fields[3:])
    return Pairs._make([*(each.astype(np.int32) for each in places), *numbers])
