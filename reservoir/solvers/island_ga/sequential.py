"""The island genetic algorithm on one thread: the fast serial engine that speed-ups are stated against.

Alraslan and AlKurdi 2023, "A lightweight island model for the genetic algorithm over GPGPU", IJECES 14(7). It draws the
numbers that the OpenCL engine draws, so that tours are the same to the last city with one seed, and real vectors differ
by rounding alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_for_any, compiled_part, inlined, overload
from reservoir.problems.base import PERMUTATION, Problem, encoding_of
from reservoir.problems.fitness import Context, fitness_of, scaled_noise
from reservoir.solvers.engine import HostEngine, new_state
from reservoir.solvers.island_ga import IslandSettings, gene_type
from reservoir.solvers.rng import StreamKey, below, mixed, philox_word, stream_key, uniform_of
from reservoir.solvers.solution import EngineResults, engine_results


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
    for of_island in fitness:
        for number in of_island:
            best = max(best, number)
    return best


@inlined
def place_below(word: np.uint32, place: int, count: int) -> int:
    """The number of a place among those of a word, as one in 0 .. count - 1."""
    return below(mixed(word, place), count)


Floats = NDArray[np.float32]


class Islands(NamedTuple):
    """State of a population."""

    genes: NDArray[Any]  # (islands, size, genes), a row for each individual; of a tour with room for one city more
    fitness: NDArray[Any]  # (islands, size), int32 of tours and float32 of vectors
    order: Annotated[NDArray[np.int64], "two", "islands", "island_size"]  # rows by place, before a generation and after
    ranks: Annotated[NDArray[np.int64], "islands", "island_size"]
    stages: NDArray[np.int64]  # iterations at whose end islands meet
    trace: NDArray[Any]  # (stages,)
    parents: int
    crossed: int
    migrants: int
    key: StreamKey


class Vectors(NamedTuple):
    """What breeding real vectors needs."""

    context: Any  # of the problem's fitness
    lower: Annotated[Floats, "dimension"]
    upper: Annotated[Floats, "dimension"]
    scratch: Annotated[Floats, "two", "room"]
    blend: np.float32
    mutation_scale: np.float32


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
def vectors_of_generation(
    vectors: Vectors, islands: Islands, island: int, order: NDArray[np.int64], word: np.uint32, left: float
) -> None:
    """For `next_generation`: blended of two parents, or one with Gaussian noise."""
    genes, fitness, parents, crossed = islands.genes[island], islands.fitness[island], islands.parents, islands.crossed
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


#: Numbers that a child draws.
NUMBERS = 4


Tour = NDArray[np.uint16]
Costs = NDArray[np.int32]


class Tours(NamedTuple):
    """What breeding tours needs."""

    costs: NDArray[np.int32]  # (cities, cities)
    used: NDArray[np.uint8]  # (cities,), room to work in
    by_order: bool  # crossover
    by_two_opt: bool  # mutation


@inlined
def tour_fitness(tour: Tour, costs: Costs) -> int:
    """Minus the sum of the edges."""
    last = costs.shape[0] - 1
    total: int = costs[tour[last], tour[0]]
    for place in range(last):
        total += costs[tour[place], tour[place + 1]]
    return -total


@compiled_part
def first_tour(tours: Tours, tour: Tour, word: np.uint32, individual: int) -> int:
    """A random tour (Fisher and Yates) and its fitness."""
    costs = tours.costs
    cities = costs.shape[0]
    for place in range(cities):
        tour[place] = place
    for place in range(cities - 1, 0, -1):
        other = place_below(word, individual * cities + place, place + 1)
        tour[place], tour[other] = tour[other], tour[place]
    return tour_fitness(tour, costs)


@inlined
def two_points(word: np.uint32, first_number: int, cities: int) -> tuple[int, int]:
    """Two different places, the lower one first."""
    one = place_below(word, first_number, cities)
    other = (one + 1 + place_below(word, first_number + 1, cities - 1)) % cities
    return min(one, other), max(one, other)


@compiled_part
def crossed_tour(
    child: Tour,
    one: Tour,
    other: Tour,
    costs: Costs,
    word: np.uint32,
    first_number: int,
    by_order: bool,
    used: NDArray[np.uint8],
) -> int:
    """A child that has a stretch of one parent, and the cities it lacks in the order of the other; its fitness.

    `child` has room for one city more than there are: each city is written, and stays where it was lacking.
    """
    cities = costs.shape[0]
    if by_order:
        first, last = two_points(word, first_number, cities)
        start = last
    else:
        first, last, start = 0, 1 + place_below(word, first_number, cities - 1), 0
    used[:] = 0
    for place in range(first, last):
        child[place] = one[place]
        used[one[place]] = 1
    filled = last
    for place in range(start, cities):
        child[filled] = other[place]
        filled += 1 - used[other[place]]
    # The other parent's order goes on from its first city, and the child's from its first place.
    for place in range(start):
        if filled == cities:
            filled = 0
        if used[other[place]] == 0:
            child[filled] = other[place]
            filled += 1
    return tour_fitness(child, costs)


@compiled_part
def mutated_tour(child: Tour, parent: Tour, costs: Costs, word: np.uint32, first_number: int, by_two_opt: bool) -> int:
    """A copy of a parent with two cities swapped, or with its best 2-opt move; its fitness."""
    cities = costs.shape[0]
    for place in range(cities):
        child[place] = parent[place]
    if not by_two_opt:
        first, last = two_points(word, first_number, cities)
        child[first], child[last] = parent[last], parent[first]
        return tour_fitness(child, costs)
    first, last, gain = best_move(parent, costs)
    if gain > 0:
        for place in range(first, last + 1):
            child[place] = parent[first + last - place]
    else:
        double_bridge(child, parent, cities, word, first_number)
    return tour_fitness(child, costs)


@compiled_part
def best_move(tour: Tour, costs: Costs) -> tuple[int, int, int]:
    """Ends of the stretch whose reversal shortens a tour most, and by how much; the first of equals."""
    cities = costs.shape[0]
    first = last = gain = 0
    for i in range(cities - 1):
        before, here = tour[i - 1 if i else cities - 1], tour[i]
        for j in range(i + 1, cities if i else cities - 1):
            there, after = tour[j], tour[j + 1 if j < cities - 1 else 0]
            shorter = costs[before, here] + costs[there, after] - costs[before, there] - costs[here, after]
            if shorter > gain:
                first, last, gain = i, j, shorter
    return first, last, gain


@inlined
def double_bridge(child: Tour, parent: Tour, cities: int, word: np.uint32, first_number: int) -> None:
    """Two neighbouring stretches of a tour change places."""
    one = 1 + place_below(word, first_number, cities - 1)
    two = 1 + place_below(word, first_number + 1, cities - 1)
    three = 1 + place_below(word, first_number + 2, cities - 1)
    low, high = min(one, two, three), max(one, two, three)
    middle = one + two + three - low - high
    for place in range(low, high):
        from_second = place < low + high - middle
        child[place] = parent[place + middle - low if from_second else place - high + middle]


@compiled_part
def tours_of_generation(
    tours: Tours, islands: Islands, island: int, order: NDArray[np.int64], word: np.uint32, left: float
) -> None:
    """For `next_generation`: by crossover of two parents, or a mutated copy of one."""
    genes, fitness, parents, costs = islands.genes[island], islands.fitness[island], islands.parents, tours.costs
    for place in range(parents, len(order)):
        number = place * NUMBERS
        row, one = order[place], genes[order[place_below(word, number, parents)]]
        if place < parents + islands.crossed:
            other = genes[order[place_below(word, number + 1, parents)]]
            fitness[row] = crossed_tour(genes[row], one, other, costs, word, number + 2, tours.by_order, tours.used)
        else:
            fitness[row] = mutated_tour(genes[row], one, costs, word, number + 1, tours.by_two_opt)


_FIRST: dict[type, Callable[..., Any]] = {Tours: first_tour, Vectors: first_vector}
_NEXT: dict[type, Callable[..., Any]] = {Tours: tours_of_generation, Vectors: vectors_of_generation}


def first_individual(kind: Tours | Vectors, row: NDArray[Any], word: np.uint32, individual: int) -> float:
    """Fill a row of genes from random numbers, and return its fitness."""
    raise NotImplementedError("call this from compiled code")


@overload(first_individual)
def _first_individual(kind: Any, row: Any, word: Any, individual: Any) -> Callable[..., Any]:
    first = _FIRST[kind.instance_class]
    return lambda kind, row, word, individual: first(kind, row, word, individual)


def next_generation(
    kind: Tours | Vectors, islands: Islands, island: int, order: NDArray[np.int64], word: np.uint32, left: float
) -> None:
    """Make and judge every child of an island, in the rows of those that lost; `left` of the run is to come."""
    raise NotImplementedError("call this from compiled code")


@overload(next_generation)
def _next_generation(kind: Any, islands: Any, island: Any, order: Any, word: Any, left: Any) -> Callable[..., Any]:
    bred = _NEXT[kind.instance_class]
    return lambda kind, islands, island, order, word, left: bred(kind, islands, island, order, word, left)


class SequentialIslands(HostEngine[IslandSettings]):
    """The genetic algorithm, one problem's islands after another's."""

    name = "island-ga-sequential"
    settings_class = IslandSettings

    def solve_one(self, problem: Problem, place: int) -> EngineResults:
        """Run a problem's own islands."""
        settings, dimension = self.settings.for_encoding(encoding_of(problem)), problem.dimension
        context, tours = problem.compiled_context(), encoding_of(problem) == PERMUTATION
        kind: Tours | Vectors
        if tours:
            by_order, by_two_opt = settings.crossover == "order", settings.mutation == "two-opt"
            kind = Tours(context.costs, np.zeros(dimension, np.uint8), by_order, by_two_opt)
        else:
            kind = new_state(Vectors, settings, problem, context=context, two=2, room=dimension + 1)
        shape, number = (settings.islands, settings.island_size), np.int32 if tours else np.float32
        islands = new_state(
            Islands,
            settings,
            two=2,
            genes=np.zeros((*shape, dimension + tours), gene_type(problem)),
            fitness=np.zeros(shape, number),
            order=np.arange(settings.island_size),
            trace=np.zeros(len(settings.stages), number),
            key=stream_key(problem.rng_stream_id, self.seed),
        )
        _run(kind, islands)
        island, row = np.unravel_index(int(islands.fitness.argmax()), shape)
        return engine_results(
            position=islands.genes[island, row : row + 1, :dimension],
            trace_fitness=islands.trace[np.newaxis],
            fitness_float32=islands.fitness[island, row : row + 1],
            of_all=settings.work | {"settings": {"crossover": settings.crossover, "mutation": settings.mutation}},
        )


ENGINE = SequentialIslands


@compiled_for_any
def _run(kind: Tours | Vectors, islands: Islands) -> None:
    """Evolve all islands from one migration to the next."""
    fitness, iteration, last = islands.fitness, 0, islands.stages[-1]
    for island in range(fitness.shape[0]):
        word = philox_word(island, islands.key, 0)
        for row in range(fitness.shape[1]):
            fitness[island, row] = first_individual(kind, islands.genes[island, row], word, row)
    for stage in range(len(islands.stages)):
        while iteration < islands.stages[stage]:
            iteration += 1
            before, after = islands.order[(iteration - 1) % 2], islands.order[iteration % 2]
            left = 1 - (iteration - 1) / last
            for island in range(fitness.shape[0]):
                word = philox_word(island, islands.key, iteration)
                select(fitness[island], before[island], after[island], islands.parents)
                next_generation(kind, islands, island, after[island], word, left)
        islands.trace[stage] = largest(fitness)
        if iteration < last:
            migrate(islands.genes, fitness, islands.ranks, islands.migrants)
