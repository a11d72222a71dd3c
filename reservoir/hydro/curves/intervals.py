"""Interval arithmetic in float64, rounded outwards, for compiled code.

An interval is a pair of its ends. What an operation returns contains every value that its exact counterpart takes on
numbers of its arguments: each end is moved outwards by more than the operation rounds (IEEE 754, to nearest). The code
is compiled without any freedom to rearrange (`jit.inlined_as_written`).
"""

from __future__ import annotations

from reservoir.hydro.jit import inlined_as_written, part_as_written

Interval = tuple[float, float]

#: More than the relative error of an operation that rounds to nearest, and more than its error near 0.
_EPS, _TINY = 2.0**-52, 1e-300
#: More than the relative error of a power: math libraries promise an error of less than 1 unit in the last place. With
#: two divisions it is less than 2 of them.
_EPS_OF_POWER = 2.0**-49
#: The same of numbers that are very small or large: an exponent of up to 12 errs by 2^-50 there, times their logarithm,
#: which is less than 745.
_EPS_OF_FAR_POWER, _FAR = 2.0**-39, 2.0**60
_INFINITY = float("inf")


@inlined_as_written
def below(x: float) -> float:
    """A number below all that round to `x`."""
    return x - (abs(x) * _EPS + _TINY)


@inlined_as_written
def above(x: float) -> float:
    """A number above all that round to `x`."""
    return x + (abs(x) * _EPS + _TINY)


@inlined_as_written
def add(a: Interval, b: Interval) -> Interval:
    """Sum of two intervals."""
    return below(a[0] + b[0]), above(a[1] + b[1])


@inlined_as_written
def subtract(a: Interval, b: Interval) -> Interval:
    """Difference of two intervals."""
    return below(a[0] - b[1]), above(a[1] - b[0])


@inlined_as_written
def negative(a: Interval) -> Interval:
    """An interval with the other sign."""
    return -a[1], -a[0]


@inlined_as_written
def product(a: float, b: float) -> float:
    """Product of ends: 0 times an infinite end, which no number of the interval is, is 0."""
    return 0.0 if a == 0.0 or b == 0.0 else a * b


@inlined_as_written
def multiply(a: Interval, b: Interval) -> Interval:
    """Product of two intervals."""
    first, second, third, fourth = product(a[0], b[0]), product(a[0], b[1]), product(a[1], b[0]), product(a[1], b[1])
    return below(min(min(first, second), min(third, fourth))), above(max(max(first, second), max(third, fourth)))


@inlined_as_written
def scale(factor: float, a: Interval) -> Interval:
    """Product of a number and an interval."""
    one, other = product(factor, a[0]), product(factor, a[1])
    return below(min(one, other)), above(max(one, other))


@inlined_as_written
def square(a: Interval) -> Interval:
    """Square of an interval: never negative."""
    one, other = a[0] * a[0], a[1] * a[1]
    least = 0.0 if a[0] <= 0.0 <= a[1] else max(below(min(one, other)), 0.0)
    return least, above(max(one, other))


@inlined_as_written
def reciprocal(a: Interval) -> Interval:
    """One over an interval; without bounds if that contains 0."""
    if a[0] <= 0.0 <= a[1]:
        return -_INFINITY, _INFINITY
    return below(1.0 / a[1]), above(1.0 / a[0])


@inlined_as_written
def hull(a: Interval, b: Interval) -> Interval:
    """Smallest interval that contains two."""
    return min(a[0], b[0]), max(a[1], b[1])


@inlined_as_written
def magnitude(a: Interval) -> float:
    """Largest absolute value."""
    return max(abs(a[0]), abs(a[1]))


@part_as_written
def powers(a: Interval, exponent: float) -> tuple[Interval, Interval, Interval]:
    """Power of an interval of numbers that are not negative, and those one and two lower; they are monotone in them."""
    low, high = _powers(max(a[0], 0.0), exponent), _powers(max(a[1], 0.0), exponent)
    return hull(low[0], high[0]), hull(low[1], high[1]), hull(low[2], high[2])


@part_as_written
def _powers(x: float, exponent: float) -> tuple[Interval, Interval, Interval]:
    """Of a number: divided by it, since an exponent less 1 would be rounded, which a power of it may magnify."""
    if 1.0 / _FAR <= x <= _FAR:  # exponents of 10 and less make no number too large here
        value: float = x**exponent
        once = value / x
        return _widened(value, _EPS_OF_POWER), _widened(once, _EPS_OF_POWER), _widened(once / x, _EPS_OF_POWER)
    return _far_power(x, exponent), _far_power(x, exponent - 1.0), _far_power(x, exponent - 2.0)


@part_as_written
def _far_power(x: float, exponent: float) -> Interval:
    if exponent == 0.0:
        value = 1.0
    elif x == 0.0:
        value = 0.0 if exponent > 0.0 else _INFINITY
    else:
        value = x**exponent
    return _widened(value, _EPS_OF_FAR_POWER)


@inlined_as_written
def _widened(value: float, part: float) -> Interval:
    """What a number that errs by a part of itself may be; one that is too large for a number is large."""
    error = value * part + _TINY
    return _FAR if value == _INFINITY else max(value - error, 0.0), value + error
