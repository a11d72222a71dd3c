"""Area of a lake as the slope of its storage over its level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.curves.curve import Curve, Table, constant
from reservoir.hydro.units import HM3_PER_KM2_MM

#: Points at which the area is taken from a level curve that is a formula.
_POINTS = 201
#: Points between which the steepest rise of an area is looked for.
_GRID = 401


def area_of_levels(level: Curve) -> Curve:
    """Area (km2) by storage (hm3): by how much the storage grows with the level around each point of the curve.

    0 where the level does not rise.
    """
    points = np.array(level.x) if isinstance(level, Table) else np.linspace(*level.domain, _POINTS)
    levels = level(points)
    before, after = np.maximum(np.arange(len(points)) - 1, 0), np.minimum(np.arange(len(points)) + 1, len(points) - 1)
    rise = levels[after] - levels[before]
    steep = rise > 0
    if steep.sum() < 2:
        return constant(0.0, level.domain)
    area = (points[after] - points[before])[steep] / rise[steep]
    return Table(tuple(points[steep]), tuple(area))


def most_evaporated(area: Curve, least_hm3: float, most_hm3: float, evaporation_mm: NDArray[np.float64]) -> float:
    """Largest part of a further hm3 that evaporates in a step, or that rain adds, where the area changes most."""
    storages = np.linspace(least_hm3, most_hm3, _GRID)
    steepest = np.abs(np.diff(area(storages))).max() / (storages[1] - storages[0])
    return float(np.abs(evaporation_mm).max() * HM3_PER_KM2_MM * steepest)
