"""L-SHADE on CPU threads, compiled: a population for each problem, each on one thread.

Tanabe and Fukunaga 2014, "Improving the search performance of SHADE using linear population size reduction", IEEE
Congress on Evolutionary Computation, 1658-1665. The algorithm, its settings and its random streams are those of the
OpenCL engine (``kernels/solvers/lshade``); the two differ by rounding alone, which leads each its own way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_for_any
from reservoir.problems.base import Problem
from reservoir.problems.fitness import Context
from reservoir.solvers.base.first_positions import FirstPositionsEngine
from reservoir.solvers.base.results import EngineResult
from reservoir.solvers.base.settings import trace_generations
from reservoir.solvers.base.threads import ThreadedEngine
from reservoir.solvers.exchanges.end_of_search import SearchEnd, can_be_polished, polish_end
from reservoir.solvers.lshade.compiled_factors import draw_factors, remember
from reservoir.solvers.lshade.compiled_members import (
    archive_parents,
    breed,
    copy_row,
    exchange_two,
    first_position,
    live,
    move_to_ranks,
    select_better,
)
from reservoir.solvers.lshade.population import Population, new_population
from reservoir.solvers.lshade.settings import ThreadedLshadeSettings
from reservoir.solvers.rng.stream import next_bits


class SequentialLshade(FirstPositionsEngine[ThreadedLshadeSettings], ThreadedEngine[ThreadedLshadeSettings]):
    """L-SHADE, a population for each problem, each on one thread."""

    name = "lshade-sequential"
    settings_class = ThreadedLshadeSettings

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse first positions that do not fit the problems."""
        self.note_first(problems, self.settings.first_members(problems[0].dimension))

    def solve_one(self, problem: Problem) -> EngineResult:
        """Run a problem's own population."""
        settings = self.settings
        sizes = settings.sizes(problem.dimension)
        taken = trace_generations(len(sizes) - 1, settings.trace_points)
        trace = np.empty(len(taken), np.float32)
        population = new_population(problem, settings, self.seed, self.first_of(problem))
        _run(problem.compiled_context(fine=True), population, sizes, int(taken[0]), trace)
        best = population.position[population.order[:1]]
        end = SearchEnd(best, trace[np.newaxis], population.fitness[:1])
        generations = len(sizes) - 1
        if settings.polish and can_be_polished(problem):
            generations += 1
            taken, end = np.append(taken, generations), polish_end([problem], end, threads=1)
        return EngineResult(
            position=end.position[0],
            generations=generations,
            evaluations=int(sizes.sum()),
            trace_generations=taken,
            trace_fitness=end.trace_fitness[0],
            fitness_float32=float(end.fitness[0]),
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
