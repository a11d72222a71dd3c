"""The eight functions: names, ranges, optima and source files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.problems.base import FloatArray
from reservoir.problems.fitness import register_fitness
from reservoir.problems.functions import values


class FunctionContext(NamedTuple):
    """What compiled solvers read; numba picks the fitness by its class.

    ``numbers`` is float32: a rotation, shape (dimension, dimension), or weights, shape (dimension,), or a single number
    where the function has neither.
    """

    numbers: Any


class SphereContext(FunctionContext):
    """f1."""


class SchwefelContext(FunctionContext):
    """f2."""


class NoiseContext(FunctionContext):
    """f3."""


class RosenbrockContext(FunctionContext):
    """f4."""


class SwappedContext(FunctionContext):
    """Rosenbrock's function with its indices swapped."""


class RastriginContext(FunctionContext):
    """f5."""


class AckleyContext(FunctionContext):
    """f6."""


class RotatedSchwefelContext(FunctionContext):
    """f7."""


class RotatedRastriginContext(FunctionContext):
    """f8."""


@dataclass(frozen=True)
class Function:
    """A function to be made small.

    Parameters
    ----------
    name, title : str
        As in its paper.
    reach : float
        Every variable lies between its negative and it.
    value : callable
        In compiled code: of a position; or of a position, a rotation and room to work in; or of a position and weights.
    context : type
        What compiled solvers read.
    optimum : float
        Every variable of the best position; the function is zero there.
    rotated : bool
        It has a rotation.
    noise : float
        Added to the fitness at every evaluation, times a fresh number in [0, 1).
    summed : bool
        It is a sum over its dimensions, which work items may share (``kernels/problems/sums``).
    weights : callable, optional
        A number of each dimension, for a count of dimensions.
    """

    name: str
    title: str
    reach: float
    value: Callable[..., Any]
    context: type[FunctionContext]
    optimum: float = 0.0
    rotated: bool = False
    noise: float = 0.0
    summed: bool = False
    weights: Callable[[int], FloatArray] | None = None

    def __post_init__(self) -> None:
        """Register the fitness for compiled solvers."""
        register_fitness(self.context, _fitness(self), noise=self.noise)

    @property
    def files(self) -> tuple[str, ...]:
        """Kernel files that define it."""
        if self.summed:
            return f"problems/sums/{self.name}.cl", "problems/sums/of_terms.cl"
        return "problems/functions/box.cl", f"problems/functions/{self.value.__name__}.cl"


def _fitness(function: Function) -> Callable[..., Any]:
    value = function.value
    if function.rotated:
        return lambda context, position, scratch: -value(position, context.numbers, scratch[0])
    if function.weights is not None:
        return lambda context, position, scratch: -value(position, context.numbers)
    return lambda context, position, scratch: -value(position)


#: f2 of Li and Liu 2017, Table 4; no range is given there.
ROSENBROCK_SWAPPED = Function(
    "f2-printed", "Rosenbrock, indices swapped", 10.0, values.rosenbrock_swapped, SwappedContext, optimum=1.0
)

#: Of Yu et al. 2020, Table 2.
FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in (
        Function("f1", "Sphere", 100.0, values.sphere, SphereContext),
        Function("f2", "Schwefel P2.22", 10.0, values.schwefel_2_22, SchwefelContext),
        Function("f3", "Noise", 1.28, values.noisy_quartic, NoiseContext, noise=-1.0),
        Function("f4", "Rosenbrock", 10.0, values.rosenbrock, RosenbrockContext, optimum=1.0),
        Function("f5", "Rastrigin", 5.12, values.rastrigin, RastriginContext),
        Function("f6", "Ackley", 32.0, values.ackley, AckleyContext),
        Function(
            "f7",
            "rotated Schwefel",
            500.0,
            values.rotated_schwefel,
            RotatedSchwefelContext,
            optimum=values.SCHWEFEL_OPTIMUM,
            rotated=True,
        ),
        Function("f8", "rotated Rastrigin", 5.12, values.rotated_rastrigin, RotatedRastriginContext, rotated=True),
    )
}


def functions_named(names: str | None) -> list[Function]:
    """The functions of a list of names with commas between them, in the catalogue's order; all without a list.

    Raises
    ------
    InputError
        With every name that there is not.
    """
    if names is None:
        return list(FUNCTIONS.values())
    asked = [name.strip().lower() for name in names.split(",")]
    wrong = [name for name in asked if name not in FUNCTIONS]
    if wrong:
        known = ", ".join(FUNCTIONS)
        raise InputError([Mistake("unknown function", known, "choose from these", value=name) for name in wrong])
    return [function for name, function in FUNCTIONS.items() if name in asked]


#: With which the results of Yu et al. 2020 are met.
ROTATIONS = 20
SEED = 7


@dataclass(frozen=True)
class Rotation:
    """Which matrix: of so many rotations of planes, where none gives the unit matrix."""

    dimension: int
    rotations: int = ROTATIONS
    seed: int = SEED

    def matrix(self) -> NDArray[np.float64]:
        """The matrix, shape (dimension, dimension); read-only."""
        return _matrix(self)


@cache
def _matrix(rotation: Rotation) -> NDArray[np.float64]:
    """The unit matrix, turned in the planes of two axes at random by angles uniform in [0, pi / 2)."""
    random = np.random.default_rng(rotation.seed)
    matrix = np.eye(rotation.dimension)
    for _ in range(rotation.rotations):
        plane = random.choice(rotation.dimension, 2, replace=False)
        angle = random.uniform(0, np.pi / 2)
        cosine, sine = np.cos(angle), np.sin(angle)
        matrix[:, plane] = matrix[:, plane] @ np.array([[cosine, -sine], [sine, cosine]])
    matrix.flags.writeable = False
    return matrix
