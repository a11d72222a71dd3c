"""Inflow as a lag-1 Markov chain that repeats every year: classes of each month, and which follows which."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.rules.base.training import FloatArray, Training

#: Inflow classes of a month, and the fewest years that a class may stand for.
CLASSES, YEARS_PER_CLASS = 7, 3
#: Years that the months' own frequencies of classes count for beside the transitions seen.
CLIMATOLOGY_YEARS = 1.0


def inflow_chain(training: Training) -> tuple[FloatArray, FloatArray]:
    """Inflow classes of each step, and the probability of each after each class of the step before.

    Classes hold equally many years. The transitions seen are mixed with the frequency of the classes, as if
    `CLIMATOLOGY_YEARS` more had been seen after each class, so that every class may follow.

    Returns
    -------
    classes : ndarray, shape (steps, classes)
        Mean inflow of each class, rising.
    transitions : ndarray, shape (steps, classes, classes)
        By step, class of the step before and class.
    """
    count = max(1, min(CLASSES, training.years // YEARS_PER_CLASS))
    groups = [np.array_split(np.sort(flow), count) for flow in training.inflow_m3s.T]
    classes = np.array([[group.mean() for group in step] for step in groups])
    # A class begins halfway between its least inflow and the greatest of the class below.
    edges = [[(one[-1] + other[0]) / 2 for one, other in pairwise(step)] for step in groups]
    share = np.array([len(group) for group in groups[0]]) / training.years
    transitions = np.empty((training.steps, count, count))
    for step in range(training.steps):
        before = np.searchsorted(edges[step - 1], training.inflow_before_m3s[:, step])
        transitions[step] = _frequencies(before, np.searchsorted(edges[step], training.inflow_m3s[:, step]), share)
    return classes, transitions


def _frequencies(before: NDArray[np.int64], now: NDArray[np.int64], share: FloatArray) -> FloatArray:
    """Part of each class after each class before, mixed with the parts of the classes in all years."""
    seen = np.zeros((len(share), len(share)))
    np.add.at(seen, (before, now), 1.0)
    seen += CLIMATOLOGY_YEARS * share
    return np.asarray(seen / seen.sum(axis=1, keepdims=True))


def shares(classes: FloatArray, inflow: ArrayLike) -> FloatArray:
    """How much inflows belong to each class, shape (..., classes).

    Each belongs to the two classes whose means it lies between, by nearness.
    """
    places = np.arange(len(classes))
    near = np.interp(np.asarray(inflow)[..., None], classes, places)
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(near - places)))
