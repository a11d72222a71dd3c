"""Bounds of functions on a box that are affine: the largest of a minimum of them is found by weights (duality).

For weights of sum 1, the minimum of functions is at most their weighted sum; and a function may be increased by what a
constraint has to spare, times any weight of 0 or more, without becoming less where the constraint holds. Whatever the
weights, the bound is valid: they are chosen so that the sum has no slope, where that is possible.
"""

from __future__ import annotations

from reservoir.hydro.jit import inlined_as_written

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
