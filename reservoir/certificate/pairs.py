"""Pairs of cells of one or many horizons as a device reads them: of each cell those that it may end in, in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.paths import Cells

FloatArray = NDArray[np.float64]
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
