"""The members of the compiled L-SHADE: how they breed, are selected, archived and ranked.

As ``kernels/solvers/lshade/members.cl``.
"""

from __future__ import annotations

import numpy as np

from reservoir.hydro.jit import inlined
from reservoir.hydro.stack_array import stack_array
from reservoir.problems.fitness import Context, fitness_of, take_repaired
from reservoir.solvers.lshade.compiled_factors import ONE, OTHER, PLACE, RATE, Factors
from reservoir.solvers.lshade.population import Floats, Population
from reservoir.solvers.rng.noise import fresh_noise
from reservoir.solvers.rng.stream import below, mixed, next_uniform, uniform_of


@inlined
def first_position(population: Population, member: int) -> None:
    """A uniform position within the bounds."""
    for d in range(len(population.unrolled)):
        width = population.upper[d] - population.lower[d]
        population.child[member, d] = next_uniform(population.states, member) * width + population.lower[d]


@inlined
def breed(population: Population, factors: Factors, drawn: np.uint32, member: int) -> None:
    """Current-to-pbest/1/bin; what leaves the bounds comes back half way between the parent and the bound."""
    parents = population.position[population.order[member]]
    best = population.position[population.order[factors.best]]
    one = population.position[population.order[factors.one]]
    other = population.position[population.order[factors.other]]
    bred = stack_array(population.unrolled, np.float32)
    for d in range(len(population.unrolled)):
        low, high, parent = population.lower[d], population.upper[d], parents[d]
        child = factors.scale * (best[d] - parent + (one[d] - other[d])) + parent
        child = (parent + low) * np.float32(0.5) if child < low else child
        child = (parent + high) * np.float32(0.5) if child > high else child
        crossed = (uniform_of(mixed(drawn, d)) < factors.rate) | (factors.forced == d)
        bred[d] = child if crossed else parent
    copy_row(bred, population.child[member], population.unrolled)
    population.scale[member], population.rate[member] = factors.scale, factors.rate


@inlined
def exchange_two(population: Population, drawn: np.uint32, member: int) -> None:
    """Instead of breeding: a child is its parent with two variables exchanged (``kernels/common/exchange.cl``).

    Amounts, each by its weight, change places, or a random part of what one can give and the other take is moved.
    """
    child, weight, half = population.child[member], population.exchange_weight, np.float32(0.5)
    copy_row(population.position[population.order[member]], child, population.unrolled)
    first = len(population.unrolled)
    to = below(mixed(drawn, first + ONE), len(weight))
    source = below(mixed(drawn, first + OTHER), len(weight) - 1)
    source += source >= to
    part = uniform_of(mixed(drawn, first + RATE))
    if part < half:
        moved = child[source] * weight[source] - child[to] * weight[to]
    else:
        room = (population.upper[to] - child[to]) * weight[to]
        stock = (child[source] - population.lower[source]) * weight[source]
        moved = (np.float32(2) * part - np.float32(1)) * min(room, stock)
    child[to] = min(max(child[to] + moved / weight[to], population.lower[to]), population.upper[to])
    child[source] = min(max(child[source] - moved / weight[source], population.lower[source]), population.upper[source])
    population.scale[member], population.rate[member] = np.float32(0), np.float32(0)


@inlined
def live(context: Context, population: Population, member: int) -> np.float32:
    """A child's fitness.

    Where the problem repairs positions the child takes the repaired one, since what differs between positions of equal
    fitness would mislead those that learn from the difference.
    """
    room = (*population.unrolled, 0)
    scratch = stack_array(room, np.float32), stack_array(room, np.float32)
    value = fitness_of(context, population.child[member], scratch) + fresh_noise(context, population.states, member)
    take_repaired(context, population.child[member], scratch)
    return np.float32(value)


@inlined
def select_better(population: Population, member: int) -> int:
    """Note whether a child is better than its parent, and by how much."""
    value, before = population.child_fitness[member], population.fitness[member]
    gain, improved = value - before, int(value > before)
    population.improved[member] = improved
    population.gain[member] = gain if improved == 1 and gain < np.inf else np.float32(0)
    return improved


@inlined
def archive_parents(
    population: Population, count: int, archived: int, room: int, successes: int, drawn: np.uint32
) -> None:
    """Archive beaten parents, each in a place of its own, and let children take their parents' places.

    Behind the others while there is room, then over a random stretch of them. Of more than there is room for in all,
    a random stretch is archived.
    """
    too_many = successes > room  # never in an archive as large as the population
    shift = below(mixed(drawn, len(population.unrolled) + PLACE), successes if too_many else archived)
    beaten = 0
    for member in range(count):
        parent = population.position[population.order[member]]
        if population.improved[member]:
            place = archived + beaten
            if too_many:
                place = (beaten + shift) % successes
            elif place >= room:
                place = (place - room + shift) % archived  # there are some: else all would have found room
            if place < room:
                copy_row(parent, population.position[len(population.fitness) + place], population.unrolled)
            beaten += 1
        if population.child_fitness[member] >= population.fitness[member]:
            population.fitness[member] = population.child_fitness[member]
            copy_row(population.child[member], parent, population.unrolled)


@inlined
def move_to_ranks(population: Population, count: int) -> None:
    """Bring members in order of their fitness; of equals, those that came first stay first."""
    fitness, order = population.fitness, population.order
    for member in range(1, count):
        value, row, rank = fitness[member], order[member], member
        while rank > 0 and fitness[rank - 1] < value:
            fitness[rank], order[rank] = fitness[rank - 1], order[rank - 1]
            rank -= 1
        fitness[rank], order[rank] = value, row


@inlined
def copy_row(source: Floats, target: Floats, unrolled: tuple[int, ...]) -> None:
    """Copy a position."""
    for d in range(len(unrolled)):
        target[d] = source[d]
