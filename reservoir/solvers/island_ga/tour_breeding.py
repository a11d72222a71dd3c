"""Individuals of the island genetic algorithm that are tours, compiled.

Alraslan and AlKurdi 2023, section 4.2: crossover at one point that keeps the order, and mutation by a swap. As options,
order crossover (Davis 1985) and mutation by the best 2-opt move (Croes 1958), or a double bridge (Martin, Otto and
Felten 1991) where no move is better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_part, inlined
from reservoir.problems.base import Problem
from reservoir.solvers.island_ga.settings import IslandSettings
from reservoir.solvers.island_ga.steps import place_below

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


def tours_of(problem: Problem, settings: IslandSettings) -> Tours:
    """What breeding tours of a problem needs."""
    return Tours(
        costs=problem.compiled_context().costs,
        used=np.zeros(problem.dimension, np.uint8),
        by_order=settings.crossover == "order",
        by_two_opt=settings.mutation == "two-opt",
    )


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
def breed_tours(
    tours: Tours,
    genes: Tour,
    fitness: NDArray[np.int32],
    order: NDArray[np.int64],
    parents: int,
    crossed: int,
    word: np.uint32,
    left: float,
) -> None:
    """Every child of an island's generation, in the rows of those that lost."""
    costs = tours.costs
    for place in range(parents, len(order)):
        number = place * NUMBERS
        row, one = order[place], genes[order[place_below(word, number, parents)]]
        if place < parents + crossed:
            other = genes[order[place_below(word, number + 1, parents)]]
            fitness[row] = crossed_tour(genes[row], one, other, costs, word, number + 2, tours.by_order, tours.used)
        else:
            fitness[row] = mutated_tour(genes[row], one, costs, word, number + 1, tours.by_two_opt)
