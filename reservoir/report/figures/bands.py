"""Bands of an ensemble: median, 25-75 %, 5-95 % and envelope, drawn alike in every figure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from reservoir.report.figures.style import shade, tint


@dataclass(frozen=True)
class Band:
    """Two percentiles between which a band is filled, and how strongly."""

    lower: float
    upper: float
    strength: float
    label: str


#: Widest first: each is drawn over the one before.
BANDS = (
    Band(0, 100, 0.18, "minimum to maximum"),
    Band(5, 95, 0.38, "5 to 95 %"),
    Band(25, 75, 0.65, "25 to 75 %"),
)


def percentiles(values: ArrayLike, band: Band) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper edge of a band over the members, ``values`` of shape (members, points)."""
    lower, upper = np.percentile(np.asarray(values, np.float64), [band.lower, band.upper], axis=0)
    return lower, upper


def draw_bands(ax: Axes, x: ArrayLike, values: ArrayLike, colour: str, *, single: str = "") -> Axes:
    """Draw the bands and the median of an ensemble.

    Parameters
    ----------
    ax : Axes
    x : array_like, shape (points,)
    values : array_like, shape (members, points)
        One member is drawn as a line, for it has no spread.
    colour : str
        Of the quantity.
    single : str
        Label of that line.
    """
    members = np.asarray(values, np.float64)
    places = np.asarray(x, np.float64)
    if len(members) > 1:
        fill_bands(ax, places, members, colour)
    label = "median" if len(members) > 1 else single
    ax.plot(places, np.median(members, axis=0), color=shade(colour, 0.6), lw=1.8, label=label, zorder=3)
    return ax


def fill_bands(ax: Axes, x: ArrayLike, values: ArrayLike, colour: str) -> Axes:
    """Fill the bands of an ensemble, widest first, without its median; as `draw_bands`."""
    for band in BANDS:
        lower, upper = percentiles(values, band)
        ax.fill_between(
            np.asarray(x, np.float64), lower, upper, color=tint(colour, band.strength), lw=0, label=band.label, zorder=2
        )
    return ax
