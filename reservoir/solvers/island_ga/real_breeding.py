"""Individuals of the island genetic algorithm that are real vectors, compiled.

Blend crossover (Eshelman and Schaffer 1993, BLX-alpha): every variable of a child lies between those of its parents, or
beyond them by as much as alpha of their distance. Mutation adds normal numbers, whose spread falls in the course of a
run, to a copy.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_part, inlined
from reservoir.problems.base import Problem
from reservoir.problems.fitness import Context, fitness_of, scaled_noise
from reservoir.solvers.island_ga.settings import IslandSettings
from reservoir.solvers.island_ga.steps import place_below
from reservoir.solvers.rng.stream import mixed, uniform_of

Floats = NDArray[np.float32]


class Vectors(NamedTuple):
    """What breeding real vectors needs."""

    context: Any  # of the problem's fitness
    lower: NDArray[np.float32]  # (dimension,)
    upper: NDArray[np.float32]  # (dimension,)
    scratch: NDArray[np.float32]  # (2, dimension + 1), room to work in
    blend: np.float32
    mutation_scale: np.float32


def vectors_of(problem: Problem, settings: IslandSettings) -> Vectors:
    """What breeding vectors of a problem needs."""
    return Vectors(
        context=problem.compiled_context(),
        lower=problem.lower.astype(np.float32),
        upper=problem.upper.astype(np.float32),
        scratch=np.empty((2, problem.dimension + 1), np.float32),
        blend=np.float32(settings.blend),
        mutation_scale=np.float32(settings.mutation_scale),
    )


@inlined
def numbers_of_child(dimension: int) -> int:
    """Numbers that a child draws: two parents, two of each variable, and the noise of its fitness."""
    return 2 * dimension + 3


@inlined
def number_at(word: np.uint32, place: int) -> np.float32:
    """The number of a place among those of a word, in [0, 1)."""
    return uniform_of(mixed(word, place))


@inlined
def judged(context: Context, position: Floats, scratch: Floats, word: np.uint32, first_number: int) -> np.float32:
    """Fitness with the noise of a noisy problem; never NaN."""
    noise = number_at(word, first_number + 2 * len(position) + 2)
    value = np.float32(fitness_of(context, position, scratch) + scaled_noise(context, noise))
    return value if value > -np.inf else np.float32(-np.inf)


@compiled_part
def first_vector(vectors: Vectors, position: Floats, word: np.uint32, individual: int) -> np.float32:
    """A random position within the bounds and its fitness."""
    lower, upper = vectors.lower, vectors.upper
    first_number = individual * numbers_of_child(len(position))
    for d in range(len(position)):
        position[d] = number_at(word, first_number + 2 + d) * (upper[d] - lower[d]) + lower[d]
    return judged(vectors.context, position, vectors.scratch, word, first_number)


@inlined
def normal(one: np.float32, other: np.float32) -> np.float32:
    """A standard normal number of two in [0, 1) (Box and Muller 1958)."""
    turns = np.float32(2 * math.pi) * other
    number: np.float32 = np.sqrt(np.float32(-2) * np.log(np.float32(1) - one)) * np.cos(turns)
    return number


@compiled_part
def breed_vectors(
    vectors: Vectors,
    genes: Floats,
    fitness: Floats,
    order: NDArray[np.int64],
    parents: int,
    crossed: int,
    word: np.uint32,
    left: float,
) -> None:
    """Every child of an island's generation, in the rows of those that lost; `left` is the part of the run to come."""
    dimension, lower, upper, blend = genes.shape[1], vectors.lower, vectors.upper, vectors.blend
    spread = vectors.mutation_scale * np.float32(left)
    for place in range(parents, len(order)):
        first_number = place * numbers_of_child(dimension)
        child = genes[order[place]]
        one = genes[order[place_below(word, first_number, parents)]]
        other = genes[order[place_below(word, first_number + 1, parents)]]
        for d in range(dimension):
            number = number_at(word, first_number + 2 + d)
            if place < parents + crossed:
                part = number * (np.float32(1) + np.float32(2) * blend) - blend
                value = one[d] + part * (other[d] - one[d])
            else:
                also = number_at(word, first_number + 2 + dimension + d)
                value = one[d] + spread * (upper[d] - lower[d]) * normal(number, also)
            child[d] = min(max(value, lower[d]), upper[d])
        fitness[order[place]] = judged(vectors.context, child, vectors.scratch, word, first_number)
