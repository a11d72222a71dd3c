"""Area of a lake as the slope of its storage over its level."""

from __future__ import annotations

import numpy as np

from reservoir.hydro.curves.curve import Curve, Table, constant

#: Points at which the area is taken from a level curve that is a formula.
_POINTS = 201


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
