"""A bundle method: where a sum of convex functions is small, by planes below each of them that touch it.

Each evaluation gives a plane for each function; where the sum of the highest planes is least, in a box around the best
point so far, the functions are evaluated next. One set of planes a function says more than one of their sum.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from reservoir.solvers.plant_steps import FloatArray
from reservoir.solvers.slp.highs import maximised
from reservoir.solvers.slp.program import Programs

#: Values and slopes at a point, of each function: shapes (functions,) and (functions, numbers).
Evaluate = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
#: Bounds of numbers.
Range = tuple[FloatArray | float, FloatArray | float]

#: Half the first box, as a part of the mean size of numbers; what it is multiplied by after a step that keeps so much
#: of its promise, and after one that gains nothing.
_FIRST, _LARGER, _KEPT, _SMALLER = 0.1, 1.5, 0.6, 0.6
#: Promise, as a part of the value, below which nothing is left to gain.
_NOTHING = 3e-7
#: In so many evaluations the sum is to come nearer to the aim by this part at least: else nothing further is tried.
_PATIENCE, _NEARER = 20, 0.05


def least_sum(
    evaluate: Evaluate,
    start: FloatArray,
    aim: float,
    evaluations: int,
    until: float = np.inf,
    within: Range = (-np.inf, np.inf),
) -> tuple[FloatArray, float]:
    """A point where the sum of functions is small, and that sum: the best of those tried, first of which is `start`.

    Parameters
    ----------
    evaluate : callable
    start : ndarray, shape (numbers,)
        Numbers on which no function depends stay as they are.
    aim : float
        A sum that is small enough.
    evaluations : int
        At most.
    until : float
        Time of `time.monotonic` from which on nothing further is tried.
    within : tuple of float or ndarray, shape (numbers,)
        Bounds of the numbers, which those at the start keep.
    """
    at, best, centre, of_centre = start, np.inf, start, np.zeros(0)
    box, promise = _FIRST * float(np.abs(start).mean() or 1.0), np.inf
    levels, slopes, bests = list[FloatArray](), list[FloatArray](), list[float]()
    for _ in range(evaluations):
        values, slope = evaluate(at)
        levels.append(values - slope @ at)
        slopes.append(slope)
        worth = float(values.sum())
        if not np.isfinite(worth):
            break
        gain = best - worth
        if worth < best:
            best, centre, of_centre = worth, at, values
        if gain >= _KEPT * promise:
            box *= _LARGER
        elif gain <= 0.0:
            box *= _SMALLER
        bests.append(best)
        if best <= aim or time.monotonic() >= until:
            break
        if len(bests) > _PATIENCE and bests[-1 - _PATIENCE] - best < _NEARER * (bests[-1 - _PATIENCE] - aim):
            break
        planes = np.stack(slopes)
        known = np.minimum(np.stack(levels), of_centre - planes @ centre)
        lowest = maximised(_planes(known, planes, centre, box, within), 0)
        if lowest.point is None:
            break
        at, promise = lowest.point[: len(start)], best + lowest.value
        if promise <= _NOTHING * abs(best):
            break
    return centre, best


def _planes(levels: FloatArray, slopes: FloatArray, centre: FloatArray, box: float, within: Range) -> Programs:
    """Numbers within a box, then a column for each function, no lower than its planes: less their sum is largest."""
    planes, functions, numbers = slopes.shape
    matrix = np.zeros((planes * functions, numbers + functions))
    matrix[:, :numbers] = -slopes.reshape(-1, numbers)
    matrix[:, numbers:] = np.tile(np.eye(functions), (planes, 1))
    columns, rows = np.nonzero(matrix.T)
    start = np.searchsorted(columns, np.arange(numbers + functions + 1)).astype(np.int32)
    cost = np.repeat([0.0, -1.0], [numbers, functions])
    near = np.where(np.any(slopes != 0.0, axis=(0, 1)), box, 0.0)
    free = np.full(functions, np.inf)
    low, high = np.maximum(centre - near, within[0]), np.minimum(centre + near, within[1])
    between = np.append(low, -free), np.append(high, free)
    above = levels.reshape(-1), np.full(planes * functions, np.inf)
    bounds = [(low[None], high[None]) for low, high in (between, above)]
    return Programs(start, rows.astype(np.int32), matrix[rows, columns][None], cost[None], *bounds)
