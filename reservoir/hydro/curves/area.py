"""Area of a lake as the slope of its storage over its level."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.curves.curve import Curve, Table, constant
from reservoir.hydro.units import HM3_PER_KM2_MM

#: Points at which the area is taken from a level curve: those of a formula, and the fewest in each piece of a table.
_POINTS, _OF_PIECE = 201, 8
#: Where a curve is nearly level, the area is no more than so many times the storage over the level of the pieces
#: around: a cubic may be level at its end, where the lake is not endless.
_MOST = 3.0
#: Points between which the steepest rise of an area is looked for.
_GRID = 401


def area_of_levels(level: Curve) -> Curve:
    """Area (km2) by storage (hm3): by how much the storage grows with the level, along the curve itself.

    Within 0.2 % of the reciprocal of the slope of a usual curve, as far as that is not nearly level.
    """
    ends = np.array(level.x) if isinstance(level, Table) else np.linspace(*level.domain, _POINTS)
    rise = np.diff(level(ends))
    secant = np.divide(np.diff(ends), rise, out=np.zeros(len(rise)), where=rise > 0)
    around = np.pad(secant, 1)
    most = _MOST * np.maximum(np.maximum(around[:-2], around[2:]), secant)
    parts = max(_OF_PIECE, _POINTS // len(rise)) if isinstance(level, Table) else 1
    points = np.append(
        (ends[:-1, np.newaxis] + np.diff(ends)[:, np.newaxis] * np.arange(parts) / parts).ravel(), ends[-1]
    )
    slope, most = slope_of(level, points), np.append(np.repeat(most, parts), most[-1])
    steep = slope > 0
    if steep.sum() < 2:
        return constant(0.0, level.domain)
    with np.errstate(over="ignore"):
        area = np.minimum(1 / slope[steep], most[steep])
    return Table(tuple(points[steep]), tuple(area))


def slope_of(curve: Curve, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Derivative of a curve at points of its domain."""
    form = curve.compiled()
    if form.is_power:
        with np.errstate(divide="ignore"):
            power = (x - form.origin) ** (form.exponent - 1)
        return np.asarray(form.coefficients[0, 0] * form.exponent * power)
    piece = np.searchsorted(form.breaks[1:-1], x, side="right")
    distance, highest = x - form.breaks[piece], form.coefficients.shape[1] - 1
    slope = np.zeros(len(x))
    for place in range(highest):
        slope = slope * distance + (highest - place) * form.coefficients[piece, place]
    return slope


def most_evaporated(area: Curve, least_hm3: float, most_hm3: float, evaporation_mm: NDArray[np.float64]) -> float:
    """Largest part of a further hm3 that evaporates in a step, or that rain adds, where the area changes most."""
    storages = np.linspace(least_hm3, most_hm3, _GRID)
    steepest = np.abs(np.diff(area(storages))).max() / (storages[1] - storages[0])
    return float(np.abs(evaporation_mm).max() * HM3_PER_KM2_MM * steepest)
