"""Steps of an island's generation that do not depend on how individuals are written down, compiled.

An individual stays in its row; what a step moves are the rows' numbers in `order`: winners of tournaments first, then
those whose rows the children get. So the places are those of a population that is sorted in every generation, and
nothing is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_part, inlined
from reservoir.solvers.rng.stream import below, mixed


@compiled_part
def select(fitness: NDArray[Any], before: NDArray[np.int64], after: NDArray[np.int64], parents: int) -> None:
    """Tournaments of neighbours: the winners' rows come first, in the order of the tournaments, then the losers'."""
    size = len(before)
    for tournament in range(parents):
        first, last = tournament * size // parents, (tournament + 1) * size // parents
        winner = first
        for place in range(first + 1, last):
            if fitness[before[place]] > fitness[before[winner]]:
                winner = place
        after[tournament] = before[winner]
        loser = parents + first - tournament
        for place in range(first, last):
            if place != winner:
                after[loser] = before[place]
                loser += 1


@compiled_part
def rank(fitness: NDArray[Any], ranks: NDArray[np.int64]) -> None:
    """How many rows are better; of equals, the first."""
    for row in range(len(fitness)):
        better = 0
        for other in range(len(fitness)):
            if fitness[other] > fitness[row] or (fitness[other] == fitness[row] and other < row):
                better += 1
        ranks[row] = better


@compiled_part
def migrate(genes: NDArray[Any], fitness: NDArray[Any], ranks: NDArray[np.int64], migrants: int) -> None:
    """The best of each island take the places of the worst of the next, around the ring.

    Nobody who leaves is overwritten, and nobody who is overwritten has left: both are at most half of an island.
    """
    islands, size = fitness.shape
    if islands == 1 or migrants == 0:
        return
    for island in range(islands):
        rank(fitness[island], ranks[island])
    for island in range(islands):
        source = (island + islands - 1) % islands
        for row in range(size):
            immigrant = size - 1 - ranks[island, row]
            if immigrant >= migrants:
                continue
            for other in range(size):
                if ranks[source, other] == immigrant:
                    for gene in range(genes.shape[2]):
                        genes[island, row, gene] = genes[source, other, gene]
                    fitness[island, row] = fitness[source, other]


@compiled_part
def largest(fitness: NDArray[Any]) -> float:
    """The best fitness of all islands."""
    best: float = fitness[0, 0]
    for island in range(fitness.shape[0]):
        for row in range(fitness.shape[1]):
            best = max(best, fitness[island, row])
    return best


@inlined
def place_below(word: np.uint32, place: int, count: int) -> int:
    """The number of a place among those of a word, as one in 0 .. count - 1."""
    return below(mixed(word, place), count)
