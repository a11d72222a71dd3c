"""What an individual's bits are fitness, whatever the problem: `bits_fitness`, for compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import OPTIONS, compiled_for_any, inlined, overload
from reservoir.problems.base import FloatArray, Problem
from reservoir.problems.coding import coding_of, gray_level, level_position
from reservoir.problems.encoding import BITS, encoding_of
from reservoir.problems.fitness import fitness_of
from reservoir.solvers.rng.noise import fresh_noise


class Plain(NamedTuple):
    """Of a problem of bit strings."""

    context: Any
    scratch: NDArray[Any]


class Coded(NamedTuple):
    """Of a problem of real vectors, in Gray code."""

    context: Any
    coding: Any
    bits: int
    parts: NDArray[np.float32]  # (variables,), room
    position: NDArray[np.float32]  # (dimension,), room
    scratch: NDArray[np.float32]


def genotype_of(problem: Problem, bits: int) -> tuple[Plain | Coded, int]:
    """How bits are judged, and how many there are; `bits` of them a variable unless the problem is made of bits."""
    context = problem.compiled_context()
    if encoding_of(problem) == BITS:
        return Plain(context=context, scratch=np.empty((2, problem.dimension + 1))), problem.dimension
    coding, variables = coding_of(problem)
    kind = Coded(
        context=context,
        coding=coding,
        bits=bits,
        parts=np.empty(variables, np.float32),
        position=np.empty(problem.dimension, np.float32),
        scratch=np.empty((2, problem.dimension + 1), np.float32),
    )
    return kind, bits * variables


def position_of(problem: Problem, kind: Plain | Coded, genes: NDArray[np.uint8]) -> FloatArray:
    """The position that bits stand for; within the bounds, which float32 may miss by its last digit."""
    if isinstance(kind, Plain):
        return genes.astype(np.float64)
    _decode(kind, genes)
    return np.clip(kind.position.astype(np.float64), problem.lower, problem.upper)


@inlined
def fill_position(kind: Coded, genes: NDArray[np.uint8]) -> None:
    """Fill the position of a coded individual."""
    highest = np.float32((1 << kind.bits) - 1)
    for variable in range(len(kind.parts)):
        kind.parts[variable] = np.float32(gray_level(genes, variable * kind.bits, kind.bits)) / highest
    level_position(kind.coding, kind.parts, kind.position)


@compiled_for_any
def _decode(kind: Coded, genes: NDArray[np.uint8]) -> None:
    fill_position(kind, genes)


def bits_fitness(kind: Plain | Coded, genes: NDArray[np.uint8], states: NDArray[np.uint32]) -> float:
    """Fitness of bits, to be maximised; one that is no number is the worst. A noisy problem draws from the stream.

    Not compiled into its callers: there are four, and a year's fitness takes seconds to compile.
    """
    raise NotImplementedError("call this from compiled code")


@overload(bits_fitness, OPTIONS)
def _bits_fitness(kind: Any, genes: Any, states: Any) -> Callable[..., Any]:
    if kind.instance_class is Plain:

        def plain(kind: Plain, genes: NDArray[np.uint8], states: NDArray[np.uint32]) -> float:
            fitness = np.float64(fitness_of(kind.context, genes, kind.scratch))
            return fitness if fitness == fitness else -np.inf

        return plain

    def judged(kind: Coded, genes: NDArray[np.uint8], states: NDArray[np.uint32]) -> float:
        fill_position(kind, genes)
        fitness = fitness_of(kind.context, kind.position, kind.scratch)
        fitness = np.float64(fitness + fresh_noise(kind.context, states, 0))
        return fitness if fitness == fitness else -np.inf

    return judged
