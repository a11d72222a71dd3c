"""What one hm3 more is worth, from the values of storages on a grid; and values again, from what a hm3 is worth.

Straight lines between the values have a kink at every storage of the grid, and decisions would end at one of these. The
marginal values of every third storage, joined by straight lines, sum up to values without kinks.
"""

from __future__ import annotations

import numpy as np

from reservoir.rules.base.training import FloatArray

#: Storages of the grid that one marginal value stands for, and parts of the distance between two when they are summed.
STORAGES_EACH, _PARTS = 3, 8


def marginal_values(grid_hm3: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slope of values over the storage.

    Parameters
    ----------
    grid_hm3 : ndarray, shape (storages,)
        Evenly apart.
    values : ndarray, shape (steps, storages, classes)

    Returns
    -------
    storages : ndarray, shape (marginal storages,)
        Evenly apart, between the same ends.
    slopes : ndarray, shape (steps, marginal storages, classes)
    """
    storages = np.linspace(grid_hm3[0], grid_hm3[-1], 1 + -(-(len(grid_hm3) - 1) // STORAGES_EACH))
    return storages, _between(grid_hm3, np.gradient(values, grid_hm3, axis=1), storages)


def summed_up(storages_hm3: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values whose slopes are straight lines between storages: parabolas, at points so near that lines stand for them.

    Parameters
    ----------
    storages_hm3 : ndarray, shape (storages,)
        Evenly apart.
    slopes : ndarray, shape (steps, storages, classes)

    Returns
    -------
    grid : ndarray, shape (points,)
    values : ndarray, shape (steps, points, classes)
        0 at the lowest storage.
    """
    grid = np.linspace(storages_hm3[0], storages_hm3[-1], _PARTS * (len(storages_hm3) - 1) + 1)
    slope = _between(storages_hm3, slopes, grid)
    rises = (slope[:, 1:] + slope[:, :-1]) / 2 * np.diff(grid)[:, np.newaxis]
    return grid, np.concatenate([np.zeros_like(slope[:, :1]), np.cumsum(rises, axis=1)], axis=1)


def _between(grid: FloatArray, table: FloatArray, storages: FloatArray) -> FloatArray:
    """A table by step, storage and class at other storages, by straight lines between an even grid's."""
    place = np.clip((storages - grid[0]) / (grid[-1] - grid[0]) * (len(grid) - 1), 0, len(grid) - 1)
    left = np.minimum(place.astype(np.int64), len(grid) - 2)
    part = (place - left)[:, np.newaxis]
    return np.asarray(table[:, left] * (1 - part) + table[:, left + 1] * part)
