"""Where cells are cut in two: at a kink of the value, if there is one in the cell.

Values are a straight line on each cell. Where they bend evenly, halves of a cell err a quarter as much; at a kink they
err half as much, and best schedules often follow one for months: storages below which full load cannot be kept, say.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

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
