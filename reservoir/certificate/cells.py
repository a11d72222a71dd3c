"""Cells of storages: the first ones, and halves of those that are left."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.paths import Cells
from reservoir.certificate.reachable import Reachable

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: First cells: the width of those beside a known schedule, as a part of the range; by what part of the distance from it
#: they grow; and the width of the widest.
_NARROWEST, _GROWTH, _WIDEST = 5e-4, 0.25, 0.06


class Intervals(NamedTuple):
    """Ends of the cells at each time, hm3, and of each pair of them whether a path may lead through it."""

    lower: list[FloatArray]
    upper: list[FloatArray]
    alive: BoolArray

    @property
    def first(self) -> NDArray[np.int64]:
        """Place of the first cell of each time, and the number of all cells."""
        return np.cumsum([0, *map(len, self.lower)])

    @property
    def first_pair(self) -> NDArray[np.int64]:
        """Place of the first pair of each step, and the number of all pairs."""
        return np.cumsum([0, *(len(start) * len(end) for start, end in pairwise(self.lower))])


def first_intervals(known: Reachable, path_hm3: FloatArray, *, cyclic: bool) -> Intervals:
    """Cells between the bounds of each time: narrow ones beside a known schedule, wider ones away from it.

    Where errors of brackets must be small in all steps at once, best schedules pass; and they tend to be where the
    value of storage has a kink: an end of a cell there does no harm. Farther off, a schedule that pays must come back.
    """
    edges = [_edges(*each) for each in zip(known.lower, known.upper, path_hm3, strict=True)]
    if cyclic:
        edges[0] = edges[-1]
    lower, upper = [each[:-1] for each in edges], [each[1:] for each in edges]
    pairs = sum(len(start) * len(end) for start, end in pairwise(lower))
    return Intervals(lower, upper, np.ones(pairs, bool))


def _edges(lower: float, upper: float, path: float) -> FloatArray:
    if upper <= lower:
        return np.array([lower, upper])
    path = min(max(path, lower), upper)
    away = _DISTANCES * (upper - lower)
    edges = np.concatenate([path - away, path + away, [lower, upper]])
    return np.unique(edges[(edges >= lower) & (edges <= upper)])


def _distances() -> FloatArray:
    """Distances of edges from the schedule, as parts of the range."""
    found = [0.0]
    while found[-1] < 1.0:
        found.append(found[-1] + min(max(_NARROWEST, _GROWTH * found[-1]), _WIDEST))
    return np.array(found)


_DISTANCES = _distances()


def halved(intervals: Intervals, kept: BoolArray, *, cyclic: bool) -> Intervals:
    """Halves of all cells that a kept pair has; a pair of halves is alive if that of the whole cells was kept."""
    first, first_pair = intervals.first, intervals.first_pair
    live = np.zeros(first[-1], bool)
    blocks = []
    for step in range(len(first_pair) - 1):
        start, end = slice(*first[step : step + 2]), slice(*first[step + 1 : step + 3])
        block = kept[slice(*first_pair[step : step + 2])].reshape(start.stop - start.start, -1)
        live[start] |= block.any(axis=1)
        live[end] |= block.any(axis=0)
        blocks.append(block)
    if cyclic:
        begin, last = slice(0, first[1]), slice(*first[-2:])
        live[begin] &= live[last]
        live[last] = live[begin]
    lower, upper, parents = [], [], []
    for time, (low, high) in enumerate(zip(intervals.lower, intervals.upper, strict=True)):
        which = np.flatnonzero(live[slice(*first[time : time + 2])])
        middle = 0.5 * (low[which] + high[which])
        splits = (middle > low[which]) & (middle < high[which])
        lower.append(np.sort(np.concatenate([low[which], middle[splits]])))
        upper.append(np.sort(np.concatenate([high[which], middle[splits]])))
        parents.append(np.sort(np.concatenate([which, which[splits]])))
    of_pairs = zip(blocks, pairwise(parents), strict=True)
    return Intervals(lower, upper, np.concatenate([block[np.ix_(*pair)].ravel() for block, pair in of_pairs]))


def cells_of(intervals: Intervals, value: FloatArray, slope: FloatArray) -> Cells:
    """Cells as compiled code reads them, with a value at the middle of each and its slope."""
    ends = np.concatenate(intervals.lower), np.concatenate(intervals.upper)
    return Cells(intervals.first, intervals.first_pair, *ends, value, slope)
