"""`first_individual` and `breed`: what the compiled genetic algorithm calls, however individuals are written down.

Both encodings stand behind them: what a kind of individuals needs is a named tuple, and numba picks the functions by
the tuple's class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import overload
from reservoir.problems.base import Problem
from reservoir.problems.encoding import PERMUTATION, encoding_of
from reservoir.solvers.island_ga.layout import gene_type
from reservoir.solvers.island_ga.real_breeding import Vectors, breed_vectors, first_vector, vectors_of
from reservoir.solvers.island_ga.settings import IslandSettings
from reservoir.solvers.island_ga.tour_breeding import Tours, breed_tours, first_tour, tours_of

_FIRST: dict[type, Callable[..., Any]] = {Tours: first_tour, Vectors: first_vector}
_BREED: dict[type, Callable[..., Any]] = {Tours: breed_tours, Vectors: breed_vectors}


def kind_of(problem: Problem, settings: IslandSettings) -> Tours | Vectors:
    """What breeding a problem's individuals needs."""
    return tours_of(problem, settings) if _tours(problem) else vectors_of(problem, settings)


def arrays_of(problem: Problem, settings: IslandSettings) -> tuple[NDArray[Any], NDArray[Any]]:
    """Room for genes, shape (islands, island size, genes), and for fitness, shape (islands, island size).

    A tour has room for one city more.
    """
    shape, tours = (settings.islands, settings.island_size), _tours(problem)
    genes = np.zeros((*shape, problem.dimension + tours), gene_type(problem))
    return genes, np.zeros(shape, np.int32 if tours else np.float32)


def _tours(problem: Problem) -> bool:
    return encoding_of(problem) == PERMUTATION


def first_individual(kind: Tours | Vectors, row: NDArray[Any], word: np.uint32, individual: int) -> float:
    """Fill a row of genes from random numbers, and return its fitness."""
    raise NotImplementedError("call this from compiled code")


@overload(first_individual)
def _first_individual(kind: Any, row: Any, word: Any, individual: Any) -> Callable[..., Any]:
    first = _FIRST[kind.instance_class]
    return lambda kind, row, word, individual: first(kind, row, word, individual)


def breed(
    kind: Tours | Vectors,
    genes: NDArray[Any],
    fitness: NDArray[Any],
    order: NDArray[np.int64],
    parents: int,
    crossed: int,
    word: np.uint32,
    left: float,
) -> None:
    """Make and judge every child of an island's generation, in the rows of those that lost."""
    raise NotImplementedError("call this from compiled code")


@overload(breed)
def _breed(
    kind: Any, genes: Any, fitness: Any, order: Any, parents: Any, crossed: Any, word: Any, left: Any
) -> Callable[..., Any]:
    bred = _BREED[kind.instance_class]
    return lambda kind, genes, fitness, order, parents, crossed, word, left: bred(
        kind, genes, fitness, order, parents, crossed, word, left
    )
