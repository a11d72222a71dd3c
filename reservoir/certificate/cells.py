"""Cells of storages and bands of pairs of them: the first ones, and those of them that are still needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.paths import Cells
from reservoir.certificate.reachable import Reachable

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: First cells: the width of those beside a known schedule, as a part of the range; by what part of the distance from it
#: they grow; and the width of the widest where a horizon has so many steps, or fewer.
_NARROWEST, _GROWTH, _WIDEST, _STEPS = 5e-4, 0.25, 0.06, 12


class Intervals(NamedTuple):
    """Cells as in `Cells`, their ends in hm3, and of each pair whether a path may lead through it."""

    first: IntArray
    first_end: IntArray
    first_pair: IntArray
    lower: FloatArray
    upper: FloatArray
    alive: BoolArray

    @property
    def by_time(self) -> list[slice]:
        """Places of the cells of each time."""
        return [slice(*ends) for ends in zip(self.first[:-1], self.first[1:], strict=True)]


def first_intervals(
    known: Reachable, path_hm3: FloatArray, *, cyclic: bool, further_hm3: Sequence[float] = ()
) -> Intervals:
    """Cells between the bounds of each time: narrow ones beside a known schedule, wider ones away from it.

    Where errors of brackets must be small in all steps at once, best schedules pass; and they tend to be where the
    value of storage has a kink: an end of a cell there does no harm. Farther off, a schedule that pays must come back:
    but in a long horizon that may take long, and errors of many steps pay for more.
    From each cell a path may lead to all cells of the next time. Further ends of
    cells, if there are any, are those of all times.
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
    return Intervals(first, first_end, first_pair, lower, upper, np.ones(first_pair[-1], bool))


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
    found = [0.0]
    while found[-1] < 1.0:
        found.append(found[-1] + min(max(_NARROWEST, _GROWTH * found[-1]), widest))
    return np.array(found)


def cells_of(intervals: Intervals, value: FloatArray, slope: FloatArray) -> Cells:
    """Cells as compiled code reads them, with a value at the middle of each and its slope."""
    return Cells(*intervals[:-1], value, slope)
