"""Functions that are sums over their variables, as problems whose terms work items share."""

from __future__ import annotations

import math

import numpy as np

from reservoir.hydro.elementwise import RealArray
from reservoir.hydro.jit import inlined
from reservoir.problems.base import FloatArray
from reservoir.problems.functions import (
    Function,
    FunctionContext,
    rastrigin,
    rosenbrock,
    sphere,
    squared_sine_of_half_turns,
)


@inlined
def elliptic(x: RealArray, weights: RealArray) -> np.floating:
    """High-conditioned elliptic: the sum of weighted squares."""
    total = x.dtype.type(0)
    for d in range(len(x)):
        total += weights[d] * x[d] * x[d]
    return total


@inlined
def griewank(x: RealArray, weights: RealArray) -> np.floating:
    """1 + the sum of x^2 / 4000 - the product of cos(2 pi w x), where w is 1 / (2 pi sqrt(d))."""
    real = x.dtype.type
    total, product = real(0), real(1)
    for d in range(len(x)):
        total += x[d] * x[d] * real(1 / 4000)
        product *= real(1) - real(2) * squared_sine_of_half_turns(x[d] * weights[d])
    return total + (real(1) - product)


class SphereTerms(FunctionContext):
    """Sphere."""


class EllipticTerms(FunctionContext):
    """High-conditioned elliptic."""


class RastriginTerms(FunctionContext):
    """Rastrigin."""


class RosenbrockTerms(FunctionContext):
    """Rosenbrock."""


class GriewankTerms(FunctionContext):
    """Griewank."""


def _conditions(dimension: int) -> FloatArray:
    return 1e6 ** (np.arange(dimension) / (dimension - 1))


def _frequencies(dimension: int) -> FloatArray:
    return 1 / (2 * math.pi * np.sqrt(np.arange(1, dimension + 1)))


RING_FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("sphere", "Sphere", 100.0, sphere, SphereTerms, summed=True),
        Function(
            "elliptic", "High-conditioned elliptic", 100.0, elliptic, EllipticTerms, summed=True, weights=_conditions
        ),
        Function("rastrigin", "Rastrigin", 5.12, rastrigin, RastriginTerms, summed=True),
        Function("rosenbrock", "Rosenbrock", 30.0, rosenbrock, RosenbrockTerms, optimum=1.0, summed=True),
        Function("griewank", "Griewank", 600.0, griewank, GriewankTerms, summed=True, weights=_frequencies),
    )
}
