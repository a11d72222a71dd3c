"""Cubics that join points without overshoot (PCHIP): as SciPy computes them, whose import takes 0.4 s."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def monotone_cubics(x: FloatArray, y: FloatArray) -> FloatArray:
    """A cubic between each point and the next.

    Parameters
    ----------
    x, y : ndarray, shape (points,)
        At least two points, `x` strictly increasing.

    Returns
    -------
    ndarray, shape (points - 1, 4)
        Coefficients of powers of the distance from the piece's first point, highest power first.
    """
    width = np.diff(x)
    slope = np.diff(y) / width
    derivative = _derivatives(width, slope)
    bend = (derivative[:-1] + derivative[1:] - 2 * slope) / width
    return np.stack([bend / width, (slope - derivative[:-1]) / width - bend, derivative[:-1], y[:-1]], axis=1)


def piecewise_values(breaks: FloatArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """Values of cubics, one a piece.

    Parameters
    ----------
    breaks : ndarray, shape (pieces + 1,)
    coefficients : ndarray, shape (pieces, 4)
        As `monotone_cubics` returns them.
    x : ndarray, any shape
        The first and the last piece hold beyond the breaks too.

    Returns
    -------
    ndarray, shape of `x`
    """
    piece = np.searchsorted(breaks[1:-1], x, side="right")
    cubic, square, linear, value = coefficients.T
    with np.errstate(over="ignore", invalid="ignore"):  # of points beyond all lakes, which are refused by their values
        distance = x - breaks[piece]
        total = value[piece] + linear[piece] * distance
        power = distance * distance
        total += square[piece] * power
        power *= distance
        total += cubic[piece] * power
    return np.asarray(total)


def _derivatives(width: FloatArray, slope: FloatArray) -> FloatArray:
    """At the points: inside, zero or a weighted harmonic mean of both slopes (Fritsch and Butland 1984)."""
    if len(slope) == 1:
        return np.repeat(slope, 2)
    derivative = np.zeros(len(slope) + 1)
    monotone = np.sign(slope[1:]) * np.sign(slope[:-1]) > 0
    after, before = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):  # of slopes that are not monotone, and that are left out
        mean = (after / slope[:-1] + before / slope[1:]) / (after + before)
    derivative[1:-1][monotone] = 1.0 / mean[monotone]
    derivative[0] = _end_derivative(*width[:2], *slope[:2])
    derivative[-1] = _end_derivative(*width[:-3:-1], *slope[:-3:-1])
    return derivative


def _end_derivative(width: float, next_width: float, slope: float, next_slope: float) -> float:
    """Of three points, made to keep the shape (Moler 2004, Numerical Computing with MATLAB, 3.4)."""
    derivative = ((2 * width + next_width) * slope - width * next_slope) / (width + next_width)
    if np.sign(derivative) != np.sign(slope):
        return 0.0
    if np.sign(slope) != np.sign(next_slope) and abs(derivative) > 3 * abs(slope):
        return 3.0 * slope
    return derivative
