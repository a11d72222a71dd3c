"""Inflow as a lag-1 Markov chain that repeats every year: classes of each month, and which follows which.

Both are counted in many years of the inflow model, not in the few on record: a class of three or four years, and what
followed it, is chance for the most part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.inflow_model.model import InflowModel
from reservoir.rules.inflow_model.random_numbers import uniform_numbers

#: Parts of the months that lie below the edges of classes: narrow ones for droughts and floods, which decide most.
EDGES = (0.01, 0.05, 0.15, 0.35, 0.6, 0.8, 0.93, 0.985)
#: Years that the classes are counted in: so many members of so many consecutive years.
_MEMBERS, _YEARS = 1000, 20
_SEED = 7
#: Years that the months' own frequencies of classes count for beside the transitions seen.
CLIMATOLOGY_YEARS = 1.0


def inflow_chain(training: Training) -> tuple[FloatArray, FloatArray]:
    """Inflow classes of each step, and the probability of each after each class of the step before.

    The transitions seen are mixed with the frequency of the classes, as if `CLIMATOLOGY_YEARS` more had been seen after
    each class, so that every class may follow.

    Returns
    -------
    classes : ndarray, shape (steps, classes)
        Mean inflow of each class, not falling; over all classes, the mean of the training years.
    transitions : ndarray, shape (steps, classes, classes)
        By step, class of the step before and class.
    """
    now, before = _years(training)
    edges = np.quantile(now, EDGES, axis=0).T
    place = np.array([np.searchsorted(*each) for each in zip(edges, now.T, strict=True)])
    of_before = np.array([np.searchsorted(*each) for each in zip(np.roll(edges, 1, axis=0), before.T, strict=True)])
    count = len(EDGES) + 1
    share = np.array([np.bincount(each, minlength=count) for each in place]) / len(now)
    totals = np.array([np.bincount(*each, minlength=count) for each in zip(place, now.T, strict=True)])
    classes = np.array([_means(*each) for each in zip(totals / len(now), share, strict=True)])
    transitions = np.array([_frequencies(*each) for each in zip(of_before, place, share, strict=True)])
    return classes, transitions


def _years(training: Training) -> tuple[FloatArray, FloatArray]:
    """Years of the inflow model, scaled to the mean of each month, and the month before each month of them."""
    uniform = uniform_numbers(_SEED, 0, _MEMBERS, 1, training.steps + 1 + training.steps * _YEARS)[:, 0]
    made = InflowModel.of(training).futures(-1, np.empty((1, 0)), uniform)[0]
    now, before = (each.reshape(-1, training.steps) for each in (made[:, 1:], made[:, :-1]))
    mean, wanted = now.mean(axis=0), np.maximum(training.inflow_m3s, 0.0).mean(axis=0)
    factor = np.divide(wanted, mean, out=np.ones_like(mean), where=mean > 0)
    return now * factor, before * np.roll(factor, 1)


def _means(total: FloatArray, share: FloatArray) -> FloatArray:
    """Mean of each class; of one that no year is in, as if it lay between those beside it."""
    filled = np.flatnonzero(share)
    return np.asarray(np.interp(np.arange(len(share)), filled, total[filled] / share[filled]))


def _frequencies(before: NDArray[np.int64], now: NDArray[np.int64], share: FloatArray) -> FloatArray:
    """Part of each class after each class before, mixed with the parts of the classes in all years."""
    seen = np.zeros((len(share), len(share)))
    np.add.at(seen, (before, now), 1.0)
    seen += CLIMATOLOGY_YEARS * share
    return np.asarray(seen / seen.sum(axis=1, keepdims=True))
