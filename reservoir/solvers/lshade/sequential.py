"""L-SHADE on CPU threads, compiled: a population for each problem, each on one thread.

Tanabe and Fukunaga 2014, "Improving the search performance of SHADE using linear population size reduction", IEEE
Congress on Evolutionary Computation, 1658-1665. The algorithm, its settings and its random streams are those of the
OpenCL engine (``kernels/solvers/lshade``); the two differ by rounding alone, which leads each its own way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_for_any, inlined
from reservoir.hydro.stack_array import stack_array
from reservoir.problems.base import Problem
from reservoir.problems.fitness import Context, fitness_of, take_repaired
from reservoir.solvers.engine import HostEngine, new_state, unrolled_variables
from reservoir.solvers.exchanges import SearchEnd, can_be_polished, polish_end
from reservoir.solvers.lshade import LshadeSettings
from reservoir.solvers.rng import (
    below,
    cauchy,
    fresh_noise,
    mixed,
    next_bits,
    next_uniform,
    normal,
    stream_states,
    uniform_of,
)
from reservoir.solvers.settings import ThreadSettings, trace_generations
from reservoir.solvers.solution import EngineResults, engine_results

Floats = NDArray[np.float32]


class Population(NamedTuple):
    """A population and room to work in; members stand by rank, the best first."""

    order: Annotated[NDArray[np.int64], "rows"]  # row of each member's position, then those of the archive
    position: Annotated[Floats, "rows", "dimension"]
    fitness: Annotated[Floats, "members"]
    child: Annotated[Floats, "members", "dimension"]  # by the parent's rank
    child_fitness: Annotated[Floats, "members"]
    improved: Annotated[NDArray[np.uint8], "members"]  # 1 if the child is better than its parent
    gain: Annotated[Floats, "members"]  # by how much it is better
    scale: Annotated[Floats, "members"]  # factor that it was bred with
    rate: Annotated[Floats, "members"]
    remembered_scale: Annotated[Floats, "memory"]
    remembered_shut: Annotated[Floats, "memory"]  # part of Cauchy's distribution around the scale that lies below zero
    remembered_rate: Annotated[Floats, "memory"]  # below zero where it stands for ever for zero
    states: NDArray[np.uint32]  # (members, 4), random streams
    given: Floats  # (given, D), positions that the first members begin with
    lower: Annotated[Floats, "dimension"]
    upper: Annotated[Floats, "dimension"]
    best_fraction: np.float32
    archive_fraction: np.float32
    exchange_interval: int  # 0 for never
    exchange_weight: Floats  # of the first variables, which may be exchanged; of none if the problem has no such
    unrolled: tuple[int, ...]  # of `unrolled_variables`


def new_population(problem: Problem, settings: LshadeSettings, seed: int, given: Floats) -> Population:
    """A problem's population, with its random streams, its memory and the positions it begins with."""
    members = settings.first_members(problem.dimension)
    rows = members + settings.archive(problem.dimension)
    weights = getattr(problem, "exchange_weights", np.empty(0, np.float32))
    return new_state(
        Population,
        settings,
        problem,
        members=members,
        rows=rows,
        order=np.arange(rows),
        remembered_scale=0.5,
        remembered_shut=0.5 - math.atan(5.0) / math.pi,
        remembered_rate=0.5,
        states=stream_states(seed, problem.rng_stream_id, members),
        given=given,
        exchange_interval=settings.exchange_interval if len(weights) else 0,
        exchange_weight=weights,
        unrolled=unrolled_variables(problem),
    )


#: Which number of a member's draw serves what; the first D, which these follow, serve the crossover.
SLOT, SCALE, RATE, ANGLE, BEST, ONE, OTHER, FORCED, PLACE = range(9)


class Factors(NamedTuple):
    """A member's own factors, and the places in `Population.order` of those that it learns from."""

    scale: np.float32
    rate: np.float32
    best: int
    one: int
    other: int
    forced: int


@inlined
def variables_of(population: Population) -> int:
    """How many there are."""
    return len(population.unrolled) or len(population.lower)


@inlined
def draw_factors(population: Population, drawn: np.uint32, member: int, count: int, archived: int) -> Factors:
    """Draw a scale by Cauchy's distribution above zero and a rate by the normal one, about a remembered pair.

    And three members: one near the best, one other, and one other or archived.
    """
    first, zero, one, spread = variables_of(population), np.float32(0), np.float32(1), np.float32(0.1)
    place = below(mixed(drawn, first + SLOT), len(population.remembered_scale))
    shut = population.remembered_shut[place]
    part = (one - shut) * uniform_of(mixed(drawn, first + SCALE)) + shut
    scale = spread * cauchy(part) + population.remembered_scale[place]
    scale = one if part > np.float32(0.999) else min(scale, one)
    rate = population.remembered_rate[place]
    if rate < zero:
        rate = zero
    else:
        number = normal(uniform_of(mixed(drawn, first + RATE)), uniform_of(mixed(drawn, first + ANGLE)))
        rate = min(max(spread * number + rate, zero), one)
    leaders = max(2, int(population.best_fraction * np.float32(count) + np.float32(0.5)))
    other_member = below(mixed(drawn, first + ONE), count - 1)
    other_member += other_member >= member
    third = below(mixed(drawn, first + OTHER), count + archived - 2)
    third += third >= min(member, other_member)
    third += third >= max(member, other_member)
    third += len(population.fitness) - count if third >= count else 0
    forced = below(mixed(drawn, first + FORCED), first)
    return Factors(scale, rate, below(mixed(drawn, first + BEST), leaders), other_member, third, forced)


@inlined
def remember(population: Population, place: int, count: int) -> None:
    """Replace a remembered pair by Lehmer means of the factors that succeeded, weighted by what they gained."""
    zero = np.float32(0)
    scales, scale_squares, rates, rate_squares = zero, zero, zero, zero
    for member in range(count):
        gain, scale, rate = population.gain[member], population.scale[member], population.rate[member]
        scales += gain * scale
        scale_squares += gain * scale * scale
        rates += gain * rate
        rate_squares += gain * rate * rate
    if scales <= zero:
        return
    scale = scale_squares / scales
    population.remembered_scale[place] = scale
    population.remembered_shut[place] = np.float32(0.5) - np.arctan(scale * np.float32(10)) / np.float32(math.pi)
    ended = population.remembered_rate[place] < zero or rates <= zero
    population.remembered_rate[place] = np.float32(-1) if ended else rate_squares / rates


@inlined
def first_position(population: Population, member: int) -> None:
    """A uniform position within the bounds."""
    for d in range(variables_of(population)):
        width = population.upper[d] - population.lower[d]
        population.child[member, d] = next_uniform(population.states, member) * width + population.lower[d]


@inlined
def breed(population: Population, factors: Factors, drawn: np.uint32, member: int) -> None:
    """Mutation and crossover, current-to-pbest/1/bin; what leaves the bounds comes back half way to the parent."""
    parents = population.position[population.order[member]]
    best = population.position[population.order[factors.best]]
    one = population.position[population.order[factors.one]]
    other = population.position[population.order[factors.other]]
    row = population.child[member]
    bred = stack_array(population.unrolled, np.float32) if len(population.unrolled) else row
    for d in range(variables_of(population)):
        low, high, parent = population.lower[d], population.upper[d], parents[d]
        child = factors.scale * (best[d] - parent + (one[d] - other[d])) + parent
        child = (parent + low) * np.float32(0.5) if child < low else child
        child = (parent + high) * np.float32(0.5) if child > high else child
        crossed = (uniform_of(mixed(drawn, d)) < factors.rate) | (factors.forced == d)
        bred[d] = child if crossed else parent
    copy_row(bred, row, population.unrolled)
    population.scale[member], population.rate[member] = factors.scale, factors.rate


@inlined
def exchange_two(population: Population, drawn: np.uint32, member: int) -> None:
    """Instead of breeding: a child is its parent with two variables exchanged (``kernels/common/exchange.cl``).

    Amounts, each by its weight, change places, or a random part of what one can give and the other take is moved.
    """
    child, weight, half = population.child[member], population.exchange_weight, np.float32(0.5)
    copy_row(population.position[population.order[member]], child, population.unrolled)
    first = variables_of(population)
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
    shift = below(mixed(drawn, variables_of(population) + PLACE), successes if too_many else archived)
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
    for d in range(len(unrolled) or len(source)):
        target[d] = source[d]


@dataclass(frozen=True)
class ThreadedLshadeSettings(LshadeSettings, ThreadSettings):
    """Settings of L-SHADE on CPU threads."""


class SequentialLshade(HostEngine[ThreadedLshadeSettings]):
    """L-SHADE, a population for each problem, each on one thread."""

    name = "lshade-sequential"
    settings_class = ThreadedLshadeSettings

    def solve_one(self, problem: Problem, place: int) -> EngineResults:
        """Run a problem's own population."""
        settings = self.settings
        sizes = settings.sizes(problem.dimension)
        generations = len(sizes) - 1
        taken = trace_generations(generations, settings.trace_points)
        trace = np.empty((1, len(taken)), np.float32)
        population = new_population(problem, settings, self.seed, self.first_of(problem, place))
        _run(problem.compiled_context(fine=True), population, sizes, int(taken[0]), trace[0])
        end = SearchEnd(population.position[population.order[:1]], trace, population.fitness[:1])
        if settings.polish and can_be_polished(problem):
            generations += 1
            taken, end = np.append(taken, generations), polish_end([problem], end, threads=1)
        return engine_results(
            position=end.position,
            trace_fitness=end.trace_fitness,
            fitness_float32=end.fitness,
            of_all={"generations": generations, "evaluations": int(sizes.sum()), "trace_generations": taken},
        )


ENGINE = SequentialLshade


@compiled_for_any
def _run(
    context: Context, population: Population, sizes: NDArray[np.int32], trace_every: int, trace: NDArray[np.float32]
) -> None:
    """Run a population of `sizes` members, the first and those of every generation, and fill `trace`."""
    for member in range(sizes[0]):
        first_position(population, member)
    for member in range(len(population.given)):
        copy_row(population.given[member], population.child[member], population.unrolled)
    for member in range(sizes[0]):
        value = live(context, population, member)
        population.fitness[member] = value if value == value else np.float32(-np.inf)
        copy_row(population.child[member], population.position[member], population.unrolled)
    move_to_ranks(population, sizes[0])
    archived, remembered = 0, 0
    for generation in range(1, len(sizes)):
        count = sizes[generation]
        room = int(population.archive_fraction * np.float32(count) + np.float32(0.5))
        archived = min(archived, room)
        interval = population.exchange_interval
        exchanges = interval > 0 and generation % interval == 0
        first_draw, successes = np.uint32(0), 0
        for member in range(count):
            drawn = next_bits(population.states, member)
            if exchanges:
                exchange_two(population, drawn, member)
            else:
                breed(population, draw_factors(population, drawn, member, count, archived), drawn, member)
            if member == 0:
                first_draw = drawn
        for member in range(count):
            population.child_fitness[member] = live(context, population, member)
        for member in range(count):
            successes += select_better(population, member)
        archive_parents(population, count, archived, room, successes, first_draw)
        move_to_ranks(population, count)
        if successes:
            if not exchanges:
                remember(population, remembered, count)
                remembered = (remembered + 1) % len(population.remembered_scale)
            archived = min(archived + successes, room)
        if generation % trace_every == 0:
            trace[generation // trace_every - 1] = population.fitness[0]
