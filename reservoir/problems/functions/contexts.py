"""What compiled solvers read of a benchmark function; numba picks the fitness by the context's class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from reservoir.problems.fitness import register_fitness
from reservoir.problems.functions import values


class FunctionContext(NamedTuple):
    """Shape (dimension, dimension), float32; a single number where the function is not rotated."""

    rotation: Any


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


#: Largest noise of f3, as part of the fitness.
NOISE = -1.0


def _fitness(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda context, position, scratch: -function(position)


def _rotated_fitness(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda context, position, scratch: -function(position, context.rotation, scratch[0])


register_fitness(SphereContext, _fitness(values.sphere))
register_fitness(SchwefelContext, _fitness(values.schwefel_2_22))
register_fitness(NoiseContext, _fitness(values.noisy_quartic), noise=NOISE)
register_fitness(RosenbrockContext, _fitness(values.rosenbrock))
register_fitness(SwappedContext, _fitness(values.rosenbrock_swapped))
register_fitness(RastriginContext, _fitness(values.rastrigin))
register_fitness(AckleyContext, _fitness(values.ackley))
register_fitness(RotatedSchwefelContext, _rotated_fitness(values.rotated_schwefel))
register_fitness(RotatedRastriginContext, _rotated_fitness(values.rotated_rastrigin))
