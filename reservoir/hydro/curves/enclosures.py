"""Rigorous ranges of curves: value, slope and curvature on an interval, for compiled code.

A *jet* is a triple of intervals that contain the value, the slope and the curvature of a function everywhere on an
interval of its argument. Where a slope jumps upwards the curvature has no upper bound, where it jumps downwards no
lower one (second differences are bounded by the same intervals then). Curves are the polynomials and powers of
`CompiledCurve`, taken as exact, held at their ends.
"""

from __future__ import annotations

from reservoir.hydro.conversion import Conversion
from reservoir.hydro.curves.curve import CompiledCurve, FloatArray
from reservoir.hydro.curves.intervals import (
    Interval,
    add,
    hull,
    multiply,
    powers,
    reciprocal,
    scale,
    square,
    subtract,
)
from reservoir.hydro.jit import inlined_as_written, part_as_written
from reservoir.hydro.units import MW_PER_KW_HOURS

Jet = tuple[Interval, Interval, Interval]

_INFINITY = float("inf")
_ZERO = (0.0, 0.0)


@part_as_written
def enclose(curve: CompiledCurve, x: Interval) -> Jet:
    """Value, slope and curvature of a curve on an interval."""
    first, last = curve.breaks[0], curve.breaks[-1]
    if x[1] <= first or x[0] >= last:
        end = first if x[1] <= first else last
        value = _inside(curve, (end, end))[0]
        return value, _ZERO, _ZERO
    value, slope, curvature = _inside(curve, (max(x[0], first), min(x[1], last)))
    if x[0] < first:  # held before: the slope jumps from 0 to that of the first piece
        jump = _inside(curve, (first, first))[1]
        slope, curvature = hull(slope, _ZERO), _with_jump(curvature, jump)
    if x[1] > last:
        jump = _inside(curve, (last, last))[1]
        slope, curvature = hull(slope, _ZERO), _with_jump(curvature, (-jump[1], -jump[0]))
    return value, slope, curvature


@inlined_as_written
def _with_jump(curvature: Interval, jump: Interval) -> Interval:
    """Curvature on an interval in which the slope jumps, and on one side of which it is 0."""
    least = -_INFINITY if jump[0] < 0.0 else min(curvature[0], 0.0)
    most = _INFINITY if jump[1] > 0.0 else max(curvature[1], 0.0)
    return least, most


@inlined_as_written
def _inside(curve: CompiledCurve, x: Interval) -> Jet:
    """Of an interval within the curve's domain."""
    if curve.is_power:
        return _power_law(curve, x)
    piece = _piece(curve.breaks, x[0])
    jet = _of_piece(curve, piece, x)
    while piece + 1 < curve.coefficients.shape[0] and curve.breaks[piece + 1] <= x[1]:
        before = jet
        piece += 1
        following = _of_piece(curve, piece, x)
        jet = (
            hull(before[0], following[0]),
            hull(before[1], following[1]),
            hull(before[2], following[2]),
        )
    return jet


@inlined_as_written
def _piece(breaks: FloatArray, x: float) -> int:
    """The last piece that contains `x`: also where it begins."""
    low, high = 0, len(breaks) - 2
    while low < high:
        middle = (low + high + 1) // 2
        if x >= breaks[middle]:
            low = middle
        else:
            high = middle - 1
    return low


@inlined_as_written
def _power_law(curve: CompiledCurve, x: Interval) -> Jet:
    factor, offset, exponent = curve.coefficients[0, 0], curve.coefficients[0, 1], curve.exponent
    base = subtract(x, (curve.origin, curve.origin))
    by_value, by_slope, by_bend = powers(base, exponent)
    rise = scale(factor, (exponent, exponent))
    bend = _ZERO if exponent == 1.0 else multiply(rise, subtract((exponent, exponent), (1.0, 1.0)))
    return add((offset, offset), scale(factor, by_value)), multiply(rise, by_slope), multiply(bend, by_bend)


@part_as_written
def _of_piece(curve: CompiledCurve, piece: int, x: Interval) -> Jet:
    """A polynomial where its piece and the interval meet; ranges of degree 3 and less are tight."""
    origin = curve.breaks[piece]
    low, high = max(x[0], origin), min(x[1], curve.breaks[piece + 1])
    ends = max(subtract((low, low), (origin, origin))[0], 0.0), subtract((high, high), (origin, origin))[1]
    middle, half = 0.5 * (ends[0] + ends[1]), 0.5 * (ends[1] - ends[0])
    away = (-half * (1.0 + 1e-15) - 1e-300, half * (1.0 + 1e-15) + 1e-300)
    row = curve.coefficients[piece]
    third = _derivative(row, 3, ends)
    curvature = _narrowed(row, 2, ends, middle, away, third)
    slope = _narrowed(row, 1, ends, middle, away, curvature)
    return _narrowed(row, 0, ends, middle, away, slope), slope, curvature


@inlined_as_written
def _narrowed(
    row: FloatArray, order: int, ends: Interval, middle: float, away: Interval, next_order: Interval
) -> Interval:
    """Range of a derivative: between its ends where the next one keeps its sign, else by the mean value theorem."""
    if next_order[0] >= 0.0 or next_order[1] <= 0.0:
        return hull(_derivative(row, order, (ends[0], ends[0])), _derivative(row, order, (ends[1], ends[1])))
    return add(_derivative(row, order, (middle, middle)), multiply(next_order, away))


@part_as_written
def _derivative(row: FloatArray, order: int, offset: Interval) -> Interval:
    """Horner's rule for a derivative of a polynomial, whose highest power is first, at offsets of 0 or more."""
    degree = len(row) - 1
    value = _ZERO
    for place in range(degree - order + 1):
        exponent, factor = degree - place, 1.0
        for taken in range(order):
            factor *= exponent - taken  # whole numbers, exact
        coefficient = scale(factor, (row[place], row[place]))
        value = coefficient if place == 0 else add(multiply(value, offset), coefficient)
    return value


@inlined_as_written
def multiply_jets(a: Jet, b: Jet) -> Jet:
    """Product of two functions of one variable."""
    curvature = add(add(multiply(a[2], b[0]), multiply(a[0], b[2])), scale(2.0, multiply(a[1], b[1])))
    return multiply(a[0], b[0]), add(multiply(a[1], b[0]), multiply(a[0], b[1])), curvature


@inlined_as_written
def scale_jet(factor: float, a: Jet) -> Jet:
    """A function times a number."""
    return scale(factor, a[0]), scale(factor, a[1]), scale(factor, a[2])


@inlined_as_written
def add_jets(a: Jet, b: Jet) -> Jet:
    """Sum of two functions of one variable."""
    return add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])


@part_as_written
def reciprocal_jet(a: Jet) -> Jet:
    """One over a function that is not 0 anywhere."""
    value = reciprocal(a[0])
    squared = square(value)
    slope = multiply((-a[1][1], -a[1][0]), squared)
    bend = subtract(scale(2.0, multiply(square(a[1]), value)), a[2])
    return value, slope, multiply(bend, squared)


@part_as_written
def enclose_conversion(conversion: Conversion, head: Interval) -> Jet:
    """Power of 1 m3/s by head (`conversion.conversion_value`): its value, slope and curvature on an interval."""
    curve = enclose(conversion.curve, head)
    if conversion.is_rate:
        return scale_jet(MW_PER_KW_HOURS, reciprocal_jet(curve))
    low, high = conversion.lower, conversion.upper
    slope, curvature = (1.0, 1.0), _ZERO
    if head[1] <= low or head[0] >= high:
        slope = _ZERO
    elif head[0] < low or head[1] > high:
        slope = (0.0, 1.0)
        curvature = (-_INFINITY if head[1] > high else 0.0, _INFINITY if head[0] < low else 0.0)
    held = (min(max(head[0], low), high), min(max(head[1], low), high)), slope, curvature
    return scale_jet(conversion.factor, multiply_jets(curve, held))
