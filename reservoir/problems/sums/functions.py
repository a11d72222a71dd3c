"""The five functions of Mussi, Nashed and Cagnoni 2011, section 5, as problems whose dimensions can be shared out."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.jit import compiled
from reservoir.problems.base import FloatArray, KernelProblem
from reservoir.problems.box import SymmetricBox
from reservoir.problems.fitness import register_fitness
from reservoir.problems.functions.values import rastrigin, rosenbrock, sphere
from reservoir.problems.sums.values import elliptic, griewank

#: Variables of a function.
FEWEST, MOST = 2, 1024


class Terms(NamedTuple):
    """What compiled solvers read, a number for each dimension; the class says of which function."""

    weights: Any


class SphereTerms(Terms):
    """Of the sphere."""


class EllipticTerms(Terms):
    """Of the elliptic function."""


class RastriginTerms(Terms):
    """Of Rastrigin's function."""


class RosenbrockTerms(Terms):
    """Of Rosenbrock's function."""


class GriewankTerms(Terms):
    """Of Griewank's function."""


def _no_weights(dimension: int) -> FloatArray:
    return np.ones(dimension)


def _conditions(dimension: int) -> FloatArray:
    return 1e6 ** (np.arange(dimension) / (dimension - 1))


def _frequencies(dimension: int) -> FloatArray:
    return 1 / (2 * math.pi * np.sqrt(np.arange(1, dimension + 1)))


@dataclass(frozen=True)
class RingFunction:
    """A function to be made small; it is zero at its optimum.

    Parameters
    ----------
    name, title : str
    reach : float
        Every variable lies between its negative and it, as in the paper.
    context : type
        What compiled solvers read.
    weights : callable
        Numbers of each dimension, of a count of dimensions.
    value : callable
        Of a position and weights, in compiled code that Python may call.
    """

    name: str
    title: str
    reach: float
    context: Callable[[Any], Any]
    weights: Callable[[int], FloatArray]
    value: Callable[[FloatArray, FloatArray], float]


_VALUES: dict[Any, Callable[..., Any]] = {
    SphereTerms: lambda x, weights: sphere(x),
    EllipticTerms: lambda x, weights: elliptic(x, weights),
    RastriginTerms: lambda x, weights: rastrigin(x),
    RosenbrockTerms: lambda x, weights: rosenbrock(x),
    GriewankTerms: lambda x, weights: griewank(x, weights),
}

register_fitness(SphereTerms, lambda context, position, scratch: -sphere(position))
register_fitness(EllipticTerms, lambda context, position, scratch: -elliptic(position, context.weights))
register_fitness(RastriginTerms, lambda context, position, scratch: -rastrigin(position))
register_fitness(RosenbrockTerms, lambda context, position, scratch: -rosenbrock(position))
register_fitness(GriewankTerms, lambda context, position, scratch: -griewank(position, context.weights))

RING_FUNCTIONS: dict[str, RingFunction] = {
    name: RingFunction(name, title, reach, context, weights, compiled(_VALUES[context]))
    for name, title, reach, context, weights in (
        ("sphere", "Sphere", 100.0, SphereTerms, _no_weights),
        ("elliptic", "High-conditioned elliptic", 100.0, EllipticTerms, _conditions),
        ("rastrigin", "Rastrigin", 5.12, RastriginTerms, _no_weights),
        ("rosenbrock", "Rosenbrock", 30.0, RosenbrockTerms, _no_weights),
        ("griewank", "Griewank", 600.0, GriewankTerms, _frequencies),
    )
}


@dataclass(frozen=True)
class RingProblem(SymmetricBox):
    """One function in so many dimensions (implements `Problem`).

    Parameters
    ----------
    function : RingFunction
    dimension : int
    rng_stream_id : int
        Names its random numbers.
    """

    function: RingFunction
    dimension: int
    rng_stream_id: int = 0

    def __post_init__(self) -> None:
        """Refuse dimensions that no program is made for."""
        if not FEWEST <= self.dimension <= MOST:
            expected = f"{FEWEST} to {MOST:,}"
            raise InputError(Mistake("the number of variables is out of range", expected, value=self.dimension))

    @property
    def label(self) -> str:
        """Name for messages and tables."""
        return f"{self.function.title}, {self.dimension} variables"

    @property
    def reach(self) -> float:
        """The function's."""
        return self.function.reach

    @property
    def program_key(self) -> Hashable:
        """Whatever a program is specialised for."""
        return "terms", self.function.name, self.dimension

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """The function's terms."""
        constants = {"DIM": self.dimension, "LOWER": -self.function.reach, "UPPER": self.function.reach}
        files = ("common/math/elementary.cl", f"problems/sums/{self.function.name}.cl", "problems/sums/of_terms.cl")
        return KernelProblem("", files, constants, by_dimension=True)

    def kernel_context(self) -> NDArray[np.float32]:
        """The weights."""
        return self.function.weights(self.dimension).astype(np.float32)

    def compiled_context(self) -> Any:
        """The weights."""
        return self.function.context(self.kernel_context())

    def value(self, position: FloatArray) -> float:
        """The function in float64."""
        at = np.ascontiguousarray(position, np.float64)
        return float(self.function.value(at, self.function.weights(self.dimension)))
