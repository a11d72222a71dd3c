"""The five functions of Mussi, Nashed and Cagnoni 2011, section 5, whose dimensions work items can share."""

from __future__ import annotations

import math

import numpy as np

from reservoir.problems.base import FloatArray
from reservoir.problems.functions.catalogue import Function, FunctionContext
from reservoir.problems.functions.values import rastrigin, rosenbrock, sphere
from reservoir.problems.sums.values import elliptic, griewank


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
