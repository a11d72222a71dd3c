"""A box of storages, at the start and at the end of a step: the release on it, and affine bounds of functions.

A function of mean storage and release is at most its value and slopes at the middle of the box, and its largest
curvature on it (Taylor's theorem; or the range of its slopes where they jump), in interval arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

from reservoir.certificate.stages import Stages
from reservoir.hydro.curves.enclosures import Jet, add_jets, enclose, scale_jet
from reservoir.hydro.curves.intervals import (
    Interval,
    above,
    add,
    magnitude,
    multiply,
    negative,
    reciprocal,
    scale,
    subtract,
)
from reservoir.hydro.jit import inlined_as_written, part_as_written

#: Value at the middle of the box, and slopes over both storages: an upper bound on the box.
Affine = tuple[float, float, float]


@inlined_as_written
def largest(a: Affine, half_x: float, half_y: float) -> float:
    """Largest value on the box."""
    return a[0] + abs(a[1]) * half_x + abs(a[2]) * half_y


@inlined_as_written
def moved(a: Affine, step: float, along: Affine) -> Affine:
    """A function plus another one times a number."""
    return a[0] + step * along[0], a[1] + step * along[1], a[2] + step * along[2]


@inlined_as_written
def mixed(a: Affine, share: float, b: Affine) -> Affine:
    """Weighted sum of two, by the share of the second."""
    rest = 1.0 - share
    return rest * a[0] + share * b[0], rest * a[1] + share * b[1], rest * a[2] + share * b[2]


@inlined_as_written
def difference(a: Affine, b: Affine) -> Affine:
    """One function less another."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@inlined_as_written
def best_step(a: Affine, along: Affine, most: float, half_x: float, half_y: float) -> float:
    """How far to move along another function, at most, so that the largest value on the box is smallest.

    That is convex and piecewise linear in the step: smallest at 0, at the most, or where one of the slopes vanishes.
    """
    step, least = 0.0, largest(a, half_x, half_y)
    for candidate in (-a[1] / along[1], -a[2] / along[2], most):
        if 0.0 < candidate <= most and candidate < 1e12:
            value = largest(moved(a, candidate, along), half_x, half_y)
            if value < least:
                step, least = candidate, value
    return step


_INFINITY = float("inf")
_ZERO = (0.0, 0.0)
_ONE = (1.0, 1.0)
_NO_LOSS = (_ZERO, _ZERO, _ZERO)


class Geometry(NamedTuple):
    """A box, and how the release changes in it.

    Parameters
    ----------
    half_x, half_y : float
        Half widths, hm3.
    means, others : tuple of pair of float
        Largest deviations of mean storage and release at the corners of either diagonal; of their products.
    release_x, release_y : tuple of Interval
        Slopes of the release over the storages, at the middle and on the box.
    bend : Interval
        Curvature of the release over the mean storage.
    """

    half_x: float
    half_y: float
    mean_1: float
    release_1: float
    mean_2: float
    release_2: float
    product: float
    release_x: Interval
    release_y: Interval
    release_x_box: Interval
    release_y_box: Interval
    bend: Interval


class Slopes(NamedTuple):
    """First and second derivatives of a function of mean storage (m) and release (r)."""

    m: Interval
    r: Interval
    mm: Interval
    mr: Interval
    rr: Interval


@part_as_written
def loss_jet(stages: Stages, step: int, mean_storage: Interval) -> Jet:
    """Evaporation and seepage of a step, hm3, by mean storage."""
    if not stages.has_losses:
        return _NO_LOSS
    evaporated = scale_jet(stages.evaporation[step], enclose(stages.area, mean_storage))
    return add_jets(evaporated, scale_jet(stages.per_flow[step], enclose(stages.seepage, mean_storage)))


@inlined_as_written
def release_of(stages: Stages, step: int, gain: Interval, loss: Interval) -> Interval:
    """Release of a step whose storage rises by a gain, m3/s (eq. 10)."""
    inflow, per_volume = stages.inflow[step], reciprocal((stages.per_flow[step], stages.per_flow[step]))
    return subtract((inflow, inflow), multiply(add(gain, loss), per_volume))


@inlined_as_written
def geometry(half_x: float, half_y: float, per_volume: Interval, at_middle: Jet, on_box: Jet) -> Geometry:
    """The box of half widths (hm3), from 1 over hm3 per m3/s and from the losses at its middle and on it."""
    steep = magnitude(on_box[1])
    mean_1, mean_2 = above(0.5 * (half_x + half_y)), above(0.5 * abs(half_x - half_y))
    widest, longer = per_volume[1], max(half_x, half_y)
    gain_1, gain_2 = above(abs(half_x - half_y)), above(half_x + half_y)
    release_1 = above(above(gain_1 + above(steep * mean_1)) * widest)
    release_2 = above(above(gain_2 + above(steep * mean_2)) * widest)
    area = above(0.5 * longer * longer * (1.0 + 1e-15) + steep * mean_1 * mean_1 * (1.0 + 1e-15))
    half, half_box = scale(0.5, at_middle[1]), scale(0.5, on_box[1])
    return Geometry(
        half_x,
        half_y,
        mean_1,
        release_1,
        mean_2,
        release_2,
        above(area * widest),
        multiply(subtract(_ONE, half), per_volume),
        negative(multiply(add(_ONE, half), per_volume)),
        multiply(subtract(_ONE, half_box), per_volume),
        negative(multiply(add(_ONE, half_box), per_volume)),
        negative(multiply(on_box[2], per_volume)),
    )


@inlined_as_written
def _by_storage(slope_m: Interval, slope_r: Interval, release: Interval) -> Interval:
    """Slope over a storage: half that over the mean storage, and that over the release."""
    return add(scale(0.5, slope_m), multiply(slope_r, release))


@part_as_written
def affine_bound(value: Interval, slope_m: Interval, slope_r: Interval, on_box: Slopes, box: Geometry) -> Affine:
    """Affine upper bound of a function, from its value and slopes at the middle and its derivatives on the box."""
    slope_x, slope_y = _by_storage(slope_m, slope_r, box.release_x), _by_storage(slope_m, slope_r, box.release_y)
    mid_x, mid_y = 0.5 * (slope_x[0] + slope_x[1]), 0.5 * (slope_y[0] + slope_y[1])
    if not (abs(mid_x) < _INFINITY and abs(mid_y) < _INFINITY):
        return _INFINITY, 0.0, 0.0
    beyond = _by_curvature(on_box, box)
    beyond += (slope_x[1] - slope_x[0]) * box.half_x + (slope_y[1] - slope_y[0]) * box.half_y
    by_slopes = _by_slopes(on_box, box, mid_x, mid_y)
    if not beyond < by_slopes:  # also where it is no number
        beyond = by_slopes
    if not beyond < _INFINITY:
        return _INFINITY, 0.0, 0.0
    return above(value[1] + above(beyond * (1.0 + 1e-14))), mid_x, mid_y


@inlined_as_written
def _by_curvature(on_box: Slopes, box: Geometry) -> float:
    """By how much a function is above its tangent at the middle at most, by its curvature."""
    bend_m = max(add(on_box.mm, multiply(on_box.r, box.bend))[1], 0.0)
    bend_r, bend_mr = max(on_box.rr[1], 0.0), magnitude(on_box.mr)
    one = 0.5 * (bend_m * box.mean_1 * box.mean_1 + bend_r * box.release_1 * box.release_1)
    other = 0.5 * (bend_m * box.mean_2 * box.mean_2 + bend_r * box.release_2 * box.release_2)
    return (max(one, other) + bend_mr * box.product) * (1.0 + 1e-14)


@inlined_as_written
def _by_slopes(on_box: Slopes, box: Geometry, mid_x: float, mid_y: float) -> float:
    """The same by the range of its slopes."""
    rise_x = subtract(_by_storage(on_box.m, on_box.r, box.release_x_box), (mid_x, mid_x))
    rise_y = subtract(_by_storage(on_box.m, on_box.r, box.release_y_box), (mid_y, mid_y))
    return (magnitude(rise_x) * box.half_x + magnitude(rise_y) * box.half_y) * (1.0 + 1e-14)
