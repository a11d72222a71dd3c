"""Inflows between the classes of a month."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reservoir.rules.base.training import FloatArray


def shares(classes: FloatArray, inflow: ArrayLike) -> FloatArray:
    """How much inflows belong to each class, shape (..., classes).

    Each belongs to the two classes whose means it lies between, by nearness.
    """
    places = np.arange(len(classes))
    near = np.interp(np.asarray(inflow)[..., None], classes, places)
    return np.asarray(np.maximum(0.0, 1.0 - np.abs(near - places)))
