"""Droughts: unbroken runs of months below a threshold of their calendar month (Yevjevich 1967)."""

from __future__ import annotations

import numpy as np

from reservoir.synthetic.base import FloatArray


def worst_droughts(flow: FloatArray, threshold: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Length of the longest drought and deficit of the severest, each of shape (records,).

    Parameters
    ----------
    flow : ndarray, shape (records, years, steps)
        Flows (m3/s).
    threshold : ndarray, shape (steps,)
        A month with less (m3/s) belongs to a drought.

    Returns
    -------
    duration, severity : ndarray, shape (records,)
        Months; sum of what is missing to the threshold, m3/s times months.
    """
    records, years, steps = flow.shape
    missing = (threshold - flow).reshape(records, years * steps)
    length, deficit, duration, severity = np.zeros((4, records))
    for month in missing.T:
        short = month > 0
        length = np.where(short, length + 1, 0.0)
        deficit = np.where(short, deficit + month, 0.0)
        duration, severity = np.maximum(duration, length), np.maximum(severity, deficit)
    return duration, severity
