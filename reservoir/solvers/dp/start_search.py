"""The best start of a cyclic year: starts side by side, then between the neighbours of the best, again and again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Starts of every round but the first; odd, so that the best so far is among them.
ROUND_STARTS = 9


def best_starts(
    lowest: FloatArray,
    highest: FloatArray,
    states: int,
    precision: float,
    fitness_of: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Search the starts of several years at once.

    Parameters
    ----------
    lowest, highest : ndarray, shape (years,)
        Between which each year's start is sought.
    states : int
        Starts of the first round.
    precision : float
        The search ends when the neighbours of every best start are this close to it, as a part of the highest.
    fitness_of : callable
        Fitness of starts of shape (years, starts), in that shape.

    Returns
    -------
    ndarray, shape (years,)
    """
    starts = np.linspace(lowest, highest, states, axis=1)
    each = np.arange(len(starts))
    while True:
        best = fitness_of(starts).argmax(axis=1)
        low = starts[each, np.maximum(best - 1, 0)]
        high = starts[each, np.minimum(best + 1, starts.shape[1] - 1)]
        if np.all(high - low <= 2 * precision * highest):
            return np.asarray(starts[each, best])
        starts = np.linspace(low, high, ROUND_STARTS, axis=1)
