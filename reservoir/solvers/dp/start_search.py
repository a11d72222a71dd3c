"""The best start of a cyclic year: starts side by side, then closer ones around the best, again and again.

Fitness by start has kinks, and where two are near, the best of a few starts need not be next to the best of all:
the second round looks as far as two neighbours away.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Starts between two neighbours of a round, one of them included.
_CLOSER = 4
#: Neighbours that lose no more than this part of the precision are close enough.
_LEAST_LOSS = 0.1


def best_starts(
    lowest: FloatArray,
    highest: FloatArray,
    states: int,
    precision: float,
    fitness_of: Callable[[NDArray[np.intp], FloatArray], FloatArray],
) -> FloatArray:
    """Search the starts of several years at once; what is found for a year does not depend on the others.

    Parameters
    ----------
    lowest, highest : ndarray, shape (years,)
        Between which each year's start is sought.
    states : int
        Starts of the first round.
    precision : float
        The search ends when the neighbours of every best start are this close to it, as a part of the highest, or when
        they lose next to nothing.
    fitness_of : callable
        Fitness of starts of shape (years, starts), in that shape; of the years at these places, which are searched
        still.

    Returns
    -------
    ndarray, shape (years,)
    """
    starts = np.linspace(lowest, highest, states, axis=1)
    found, left, neighbours = np.empty(len(starts)), np.arange(len(starts)), 2
    while left.size:
        fitness, each = fitness_of(left, starts), np.arange(len(left))
        best = fitness.argmax(axis=1)
        below, above = np.maximum(best - neighbours, 0), np.minimum(best + neighbours, starts.shape[1] - 1)
        low, high = starts[each, below], starts[each, above]
        most = fitness[each, best]
        lost = most - np.minimum(fitness[each, below], fitness[each, above])
        near = high - low <= 2 * neighbours * precision * highest[left]
        done = near | (lost <= _LEAST_LOSS * precision * np.abs(most))
        found[left[done]] = starts[each, best][done]
        left = left[~done]
        # The best so far is among them.
        starts = np.linspace(low[~done], high[~done], 2 * neighbours * _CLOSER + 1, axis=1)
        neighbours = 1
    return found
