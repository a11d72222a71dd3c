"""Fitness of bit strings in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.elementwise import RealArray
from reservoir.problems.fitness import register_fitness


class BlockContext(NamedTuple):
    """Blocks of neighbouring bits in a ring, each judged by how many of its bits are set."""

    values: NDArray[np.float64]  # (size + 1,), by the bits that are set
    stride: int  # from the first bit of a block to that of the next
    blocks: int


class SpinContext(NamedTuple):
    """Couplings of spins."""

    one: NDArray[np.int32]  # (couplings,)
    other: NDArray[np.int32]  # (couplings,)
    strength: NDArray[np.int32]  # (couplings,)


def _block_fitness(context: BlockContext, position: NDArray[np.uint8], scratch: RealArray) -> float:
    size, bits = len(context.values) - 1, context.blocks * context.stride
    total = 0.0
    for block in range(context.blocks):
        first, unitation = block * context.stride, 0
        for place in range(first, first + size):
            unitation += position[place if place < bits else place - bits]
        total += context.values[unitation]
    return total


def _spin_fitness(context: SpinContext, position: NDArray[np.uint8], scratch: RealArray) -> float:
    """Sum of J x x over the couplings, by the spins: x x is 1 - 2 (bits differ)."""
    total = 0
    for coupling in range(len(context.strength)):
        apart = position[context.one[coupling]] ^ position[context.other[coupling]]
        total += context.strength[coupling] * (1 - 2 * np.int64(apart))
    fitness: float = total / (scratch.shape[1] - 1)
    return fitness


register_fitness(BlockContext, _block_fitness)
register_fitness(SpinContext, _spin_fitness)
