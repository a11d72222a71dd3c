"""The island genetic algorithm on one thread: the fast serial engine that speed-ups are stated against.

Alraslan and AlKurdi 2023, "A lightweight island model for the genetic algorithm over GPGPU", IJECES 14(7). It draws the
numbers that the OpenCL engine draws, so that tours are the same to the last city with one seed, and real vectors differ
by rounding alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_for_any
from reservoir.problems.base import Problem
from reservoir.problems.encoding import encoding_of
from reservoir.solvers.base.engine import HostEngine
from reservoir.solvers.base.results import EngineResult
from reservoir.solvers.island_ga.breeding import arrays_of, breed, first_individual, kind_of
from reservoir.solvers.island_ga.real_breeding import Vectors
from reservoir.solvers.island_ga.settings import IslandSettings
from reservoir.solvers.island_ga.steps import largest, migrate, select
from reservoir.solvers.island_ga.tour_breeding import Tours
from reservoir.solvers.rng.stream import StreamKey, philox_word, stream_key


class SequentialIslands(HostEngine[IslandSettings]):
    """The genetic algorithm, one problem's islands after another's."""

    name = "island-ga-sequential"
    settings_class = IslandSettings

    def solve_one(self, problem: Problem) -> EngineResult:
        """Run a problem's own islands."""
        settings = self.settings.for_encoding(encoding_of(problem))
        islands = _new_islands(problem, settings, self.seed)
        _run(kind_of(problem, settings), islands)
        island, row = np.unravel_index(int(islands.fitness.argmax()), islands.fitness.shape)
        return EngineResult(
            position=islands.genes[island, row, : problem.dimension],
            generations=settings.generations,
            evaluations=settings.evaluations_made,
            trace_generations=settings.stages,
            trace_fitness=islands.trace,
            fitness_float32=float(islands.fitness.max()),
            settings={"crossover": settings.crossover, "mutation": settings.mutation},
        )


ENGINE = SequentialIslands


class Islands(NamedTuple):
    """State of a population."""

    genes: NDArray[Any]  # (islands, size, genes), a row for each individual
    fitness: NDArray[Any]  # (islands, size), int32 of tours and float32 of vectors
    order: NDArray[np.int64]  # (2, islands, size), rows in the order of places, before a generation and after
    ranks: NDArray[np.int64]  # (islands, size)
    stages: NDArray[np.int64]  # iterations at whose end islands meet
    trace: NDArray[Any]  # (stages,)
    parents: int
    crossed: int
    migrants: int
    key: StreamKey


def _new_islands(problem: Problem, settings: IslandSettings, seed: int) -> Islands:
    genes, fitness = arrays_of(problem, settings)
    return Islands(
        genes=genes,
        fitness=fitness,
        order=np.tile(np.arange(settings.island_size), (2, settings.islands, 1)),
        ranks=np.zeros(fitness.shape, np.int64),
        stages=settings.stages,
        trace=np.zeros(len(settings.stages), fitness.dtype),
        parents=settings.parents,
        crossed=settings.crossed,
        migrants=settings.migrants,
        key=stream_key(problem.rng_stream_id, seed),
    )


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
                genes, at, rows = islands.genes[island], fitness[island], after[island]
                word = philox_word(island, islands.key, iteration)
                select(at, before[island], rows, islands.parents)
                breed(kind, genes, at, rows, islands.parents, islands.crossed, word, left)
        islands.trace[stage] = largest(fitness)
        if iteration < last:
            migrate(islands.genes, fitness, islands.ranks, islands.migrants)
