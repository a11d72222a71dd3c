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
        The search ends when the neighbours of every best start are this close to it, as a part of the highest, or when
        they lose next to nothing.
    fitness_of : callable
        Fitness of starts of shape (years, starts), in that shape.

    Returns
    -------
    ndarray, shape (years,)
    """
    starts = np.linspace(lowest, highest, states, axis=1)
    each, neighbours = np.arange(len(starts)), 2
    while True:
        fitness = fitness_of(starts)
        best = fitness.argmax(axis=1)
        below, above = np.maximum(best - neighbours, 0), np.minimum(best + neighbours, starts.shape[1] - 1)
        low, high = starts[each, below], starts[each, above]
        most = fitness[each, best]
        lost = most - np.minimum(fitness[each, below], fitness[each, above])
        near = high - low <= 2 * neighbours * precision * highest
        if np.all(near | (lost <= _LEAST_LOSS * precision * np.abs(most))):
            return np.asarray(starts[each, best])
        starts = np.linspace(low, high, 2 * neighbours * _CLOSER + 1, axis=1)  # the best so far is among them
        neighbours = 1
