"""The eight functions in compiled code, to be minimised (Yu et al. 2020, Table 2).

Each is written once, for positions of either precision, shape (dimension,): float64 certifies, float32 is what the
sequential engine evaluates. Terms that cancel at the optimum are written so that they vanish there with all their
digits: 10 - 10 cos(2 pi x) as 20 sin(pi x)^2, and 1 - exp(x) as such.
"""

from __future__ import annotations

import math

import numpy as np

from reservoir.hydro.elementwise import RealArray
from reservoir.hydro.jit import inlined
from reservoir.problems.functions.elementary import sine_of_turns, squared_sine_of_half_turns

#: Where f7 has its optimum, in every dimension.
SCHWEFEL_OPTIMUM = 420.96
#: What makes f7 zero there.
_SCHWEFEL_OFFSET = 418.9828872724338
_SCHWEFEL_REACH = 500.0


@inlined
def sphere(x: RealArray) -> np.floating:
    """f1."""
    total = x.dtype.type(0)
    for d in range(len(x)):
        total += x[d] * x[d]
    return total


@inlined
def schwefel_2_22(x: RealArray) -> np.floating:
    """f2: the sum of all magnitudes and their product."""
    total, product = x.dtype.type(0), x.dtype.type(1)
    for d in range(len(x)):
        total += abs(x[d])
        product *= abs(x[d])
    return total + product


@inlined
def noisy_quartic(x: RealArray) -> np.floating:
    """f3 without its noise."""
    real = x.dtype.type
    total = real(0)
    for d in range(len(x)):
        square = x[d] * x[d]
        total += real(d + 1) * square * square
    return total


@inlined
def rosenbrock(x: RealArray) -> np.floating:
    """f4."""
    real = x.dtype.type
    total = real(0)
    for d in range(len(x) - 1):
        bend, away = x[d + 1] - x[d] * x[d], x[d] - real(1)
        total += real(100) * bend * bend + away * away
    return total


@inlined
def rosenbrock_swapped(x: RealArray) -> np.floating:
    """f2 of Li and Liu 2017, Table 4: f4 with its indices swapped, as it is printed."""
    real = x.dtype.type
    total = real(0)
    for d in range(1, len(x)):
        bend, away = x[d - 1] - x[d] * x[d], x[d - 1] - real(1)
        total += real(100) * bend * bend + away * away
    return total


@inlined
def _squares_and_sines(x: RealArray) -> tuple[np.floating, np.floating]:
    """Sums of x^2 and of sin(pi x)^2."""
    squares, sines = x.dtype.type(0), x.dtype.type(0)
    for d in range(len(x)):
        squares += x[d] * x[d]
        sines += squared_sine_of_half_turns(x[d])
    return squares, sines


@inlined
def rastrigin(x: RealArray) -> np.floating:
    """f5."""
    squares, sines = _squares_and_sines(x)
    return squares + x.dtype.type(20) * sines


@inlined
def ackley(x: RealArray) -> np.floating:
    """f6."""
    real = x.dtype.type
    squares, sines = _squares_and_sines(x)
    count = real(len(x))
    spread = math.expm1(real(-0.2) * math.sqrt(squares / count))
    return real(-20) * spread - real(math.e) * math.expm1(real(-2) * sines / count)


@inlined
def rotated_schwefel(x: RealArray, rotation: RealArray, turned: RealArray) -> np.floating:
    """f7: turned about the optimum; beyond 500 the sine counts nothing. Uses `turned` to work in."""
    real = x.dtype.type
    total = real(_SCHWEFEL_OFFSET) * real(len(x))
    _turn(x, rotation, real(SCHWEFEL_OPTIMUM), turned)
    for d in range(len(x)):
        size = abs(turned[d])
        if size <= real(_SCHWEFEL_REACH):
            total -= turned[d] * sine_of_turns(math.sqrt(size) * real(0.5 / math.pi))
    return total


@inlined
def rotated_rastrigin(x: RealArray, rotation: RealArray, turned: RealArray) -> np.floating:
    """f8: f5 of the turned position. Uses `turned` to work in."""
    _turn(x, rotation, x.dtype.type(0), turned)
    return rastrigin(turned[: len(x)])


@inlined
def _turn(x: RealArray, rotation: RealArray, centre: np.floating, turned: RealArray) -> None:
    """The position turned about a centre, put into `turned`."""
    for row in range(len(x)):
        total = centre
        for d in range(len(x)):
            total += rotation[row, d] * (x[d] - centre)
        turned[row] = total
