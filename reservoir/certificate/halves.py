"""Both parts of the cells that are left, and the bands of pairs of them that a path may lead through."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.cells import Intervals
from reservoir.hydro.jit import compiled_as_written

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def halved(intervals: Intervals, kept: BoolArray, cut: FloatArray, *, cyclic: bool) -> Intervals:
    """Both parts of all cells that a kept pair has; a pair of parts is alive if that of the whole cells was kept.

    Parameters
    ----------
    intervals : Intervals
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
    return Intervals(place[intervals.first], first_end, first_pair, lower, upper, alive)


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
