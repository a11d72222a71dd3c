"""Problems without a reservoir, so that an engine is seen apart from the physics.

Each stands three times, as the engines need it: in Python, for the sequential engine, and in OpenCL C.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reservoir.problems.base import Certified, FloatArray, KernelProblem
from reservoir.problems.fitness import register_fitness


class ToyContext(NamedTuple):
    """What the sequential engine reads."""

    centre: Any
    slope: Any
    nothing: Any
    edge: Any


def _fitness(context, position, scratch):
    total = context.centre - context.centre
    for d in range(len(position)):
        total -= context.slope * (position[d] - context.centre) * (position[d] - context.centre)
    if position[0] > context.edge:
        total = context.nothing
    return total


class NoisyContext(NamedTuple):
    """The same of a noisy toy."""

    centre: Any
    slope: Any
    nothing: Any
    edge: Any


#: Largest noise of a noisy toy.
NOISE = -0.5

register_fitness(ToyContext, _fitness)
register_fitness(NoisyContext, _fitness, noise=NOISE)

_SOURCE = """
#define CONTEXT 4
float lower(const int d, CONTEXT_SPACE const float *context) { return -2.0f - d; }
float upper(const int d, CONTEXT_SPACE const float *context) { return 3.0f; }
reals fitness(const reals *position, CONTEXT_SPACE const float *context) {
    reals total = 0;
    for (int d = 0; d < DIM; ++d) total -= context[1] * (position[d] - context[0]) * (position[d] - context[0]);
    return CHOOSE(position[0] > context[3], (reals)(context[2]), total);
}
"""


@dataclass(frozen=True)
class Toy:
    """A bowl: ``-slope * sum((x - centre)**2)``, and `nothing` where the first variable is beyond `edge`."""

    rng_stream_id: int = 1
    dimension: int = 3
    centre: float = 1.0
    slope: float = 1.0
    nothing: float = 0.0
    edge: float = float("inf")
    noisy: bool = False
    label: str = "toy"

    @property
    def lower(self) -> FloatArray:
        """Lower bounds, each another."""
        return -2.0 - np.arange(self.dimension, dtype=float)

    @property
    def upper(self) -> FloatArray:
        """Upper bounds."""
        return np.full(self.dimension, 3.0)

    @property
    def program_key(self) -> Hashable:
        """Toys of one dimension share a program, noisy ones another."""
        return "toy", self.dimension, self.noisy

    @property
    def _numbers(self) -> list[np.float32]:
        return [np.float32(each) for each in (self.centre, self.slope, self.nothing, self.edge)]

    def kernel(self, *, fine: bool = False) -> KernelProblem:
        """Its OpenCL C, whole."""
        return KernelProblem(_SOURCE, (), {"DIM": self.dimension} | ({"NOISE": NOISE} if self.noisy else {}))

    def kernel_context(self) -> np.ndarray:
        """Its constants."""
        return np.array(self._numbers, np.float32)

    def compiled_context(self, *, fine: bool = False) -> ToyContext | NoisyContext:
        """Its constants."""
        return (NoisyContext if self.noisy else ToyContext)(*self._numbers)

    def fitness(self, position: np.ndarray) -> float:
        """Its worth in float32."""
        centre, slope, nothing, edge = self._numbers
        if position[0] > edge:
            return float(nothing)
        return float(-np.sum(slope * (position.astype(np.float32) - centre) ** 2, dtype=np.float32))

    def certify(self, position: FloatArray) -> Certified:
        """Its worth in float64."""
        worth = self.nothing if position[0] > self.edge else -self.slope * float(np.sum((position - self.centre) ** 2))
        return Certified(worth, worth, 0.0)
