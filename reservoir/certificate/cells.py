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
    found: FloatArray = low + np.clip(share, _LEAST_PART, 1 - _LEAST_PART) * (high - low)
    return found


Int32Array = NDArray[np.int32]


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
    step, first_end, ends = zip(*map(_bands, horizons), strict=True)
    steps = np.cumsum([0, *(len(cells.first) - 2 for cells in horizons)])
    if first_step is not None:
        steps = np.append(first_step, 0)
    places = np.cumsum([0, *(len(cells.lower) for cells in horizons)])
    first_pair = np.concatenate([[0], np.cumsum(np.concatenate(ends))])
    if first_pair[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"{first_pair[-1]:,} pairs of cells, more than a kernel can index")
    return Pairs(
        _joined(step, steps),
        _joined(first_end, places),
        first_pair.astype(np.int32),
        *(
            np.concatenate([getattr(cells, name) for cells in horizons])
            for name in ("lower", "upper", "value", "slope")
        ),
    )


def _bands(cells: Cells) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of each cell of a horizon: its step, the first cell that it may end in, and how many it may end in."""
    count = np.diff(cells.first)
    none = np.zeros(count[-1], np.int64)
    step = np.repeat(np.arange(len(count)), count)
    return step, np.append(cells.first_end, none), np.append(np.diff(cells.first_pair), none)


def _joined(parts: Sequence[NDArray[np.int64]], offsets: NDArray[np.int64]) -> Int32Array:
    return np.concatenate([part + offset for part, offset in zip(parts, offsets[:-1], strict=True)]).astype(np.int32)
