"""Means of daily values over longer steps, whatever their boundaries are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class StepMeans(NamedTuple):
    """Means of the days of each step.

    Parameters
    ----------
    mean : ndarray, shape (steps,)
        Mean of the days of a step that have a value; NaN where none has.
    missing : ndarray of int, shape (steps,)
        Days of a step that have no value.
    """

    mean: NDArray[np.float64]
    missing: NDArray[np.int64]


def step_means(days: NDArray[np.int64], values: NDArray[np.float64], edges: NDArray[np.int64]) -> StepMeans:
    """Average daily values over steps.

    Parameters
    ----------
    days : ndarray of int, shape (days,)
        Days of the calendar, each once, in any order; those outside the steps are left out.
    values : ndarray, shape (days,)
        Mean flow or volume of each day, or another quantity of days.
    edges : ndarray of int, shape (steps + 1,)
        First day of each step, ascending, and the day after the last step: of months, ten-day periods, weeks.
    """
    steps = len(edges) - 1
    place = np.searchsorted(edges, days, side="right") - 1
    inside = (place >= 0) & (place < steps)
    count = np.bincount(place[inside], minlength=steps)
    total = np.bincount(place[inside], weights=values[inside], minlength=steps)
    mean = np.divide(total, count, out=np.full(steps, np.nan), where=count > 0)
    return StepMeans(mean, np.diff(edges) - count)
