"""The island genetic algorithm on one thread: the fast serial engine that speed-ups are stated against.

Alraslan and AlKurdi 2023, "A lightweight island model for the genetic algorithm over GPGPU", IJECES 14(7). It draws the
numbers that the OpenCL engine draws, so that tours are the same to the last city with one seed, and real vectors differ
by rounding alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_for_any
from reservoir.problems.base import Problem
from reservoir.problems.encoding import encoding_of
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solution
from reservoir.solvers.island_ga.breeding import arrays_of, breed, first_individual, kind_of
from reservoir.solvers.island_ga.settings import IslandSettings
from reservoir.solvers.island_ga.steps import largest, migrate, select
from reservoir.solvers.rng.stream import philox_word, seed_words

NAME = "island-ga-sequential"
SETTINGS = IslandSettings
DEVICE = "one CPU thread"


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = None,
    progress: Progress = silent,
    **options: Any,
) -> list[Solution]:
    """Solve each problem with its own islands, one after another.

    Parameters
    ----------
    problems : sequence of Problem
        Any mixture, tours among them.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers.
    device : str, optional
        Not used: this engine needs no device.
    progress : callable
        Told how many of the problems are done.
    **options
        Fields of `IslandSettings`.

    Raises
    ------
    InputError
        If a setting is out of range.
    """
    asked = IslandSettings(**options)
    started = time.perf_counter()
    found = []
    for done, problem in enumerate(problems, start=1):
        settings = asked.for_encoding(encoding_of(problem))
        found.append((settings, *_solve_one(problem, settings, seed)))
        progress(done, len(problems))
    wall = time.perf_counter() - started
    return [_solution(problem, *run, wall=wall, seed=seed) for problem, run in zip(problems, found, strict=True)]


class Islands(NamedTuple):
    """State of a population."""

    genes: NDArray[Any]  # (islands, size, genes), a row for each individual
    worth: NDArray[Any]  # (islands, size), int32 of tours and float32 of vectors
    order: NDArray[np.int64]  # (2, islands, size), rows in the order of places, before a generation and after
    ranks: NDArray[np.int64]  # (islands, size)
    stages: NDArray[np.int64]  # iterations at whose end islands meet
    trace: NDArray[Any]  # (stages,)
    parents: int
    crossed: int
    migrants: int
    rng_stream_id: np.uint32
    seed_low: np.uint32
    seed_high: np.uint32


def _new_islands(problem: Problem, settings: IslandSettings, seed: int) -> Islands:
    genes, worth = arrays_of(problem, settings)
    low, high = seed_words(seed)
    return Islands(
        genes,
        worth,
        np.tile(np.arange(settings.island_size), (2, settings.islands, 1)),
        np.zeros(worth.shape, np.int64),
        settings.stages,
        np.zeros(len(settings.stages), worth.dtype),
        settings.parents,
        settings.crossed,
        settings.migrants,
        np.uint32(problem.rng_stream_id),
        np.uint32(low),
        np.uint32(high),
    )


def _solve_one(problem: Problem, settings: IslandSettings, seed: int) -> tuple[NDArray[Any], Islands]:
    """Best individual, and the islands at the end."""
    islands, kind = _new_islands(problem, settings, seed), kind_of(problem, settings)
    _run(kind, islands)
    island, row = np.unravel_index(int(islands.worth.argmax()), islands.worth.shape)
    return islands.genes[island, row, : problem.dimension], islands


def _solution(
    problem: Problem, settings: IslandSettings, best: NDArray[Any], islands: Islands, *, wall: float, seed: int
) -> Solution:
    position = best.astype(np.float64)
    worth = problem.certify(position)
    return Solution(
        position,
        worth.fitness,
        worth.benefit,
        worth.violation,
        settings.generations,
        settings.evaluations_made,
        wall,
        None,
        NAME,
        DEVICE,
        {**settings.as_dict(), "seed": seed},
        settings.stages,
        islands.trace.astype(np.float64),
        fitness_float32=float(islands.worth.max()),
    )


@compiled_for_any
def _run(kind, islands):
    """Evolve all islands from one migration to the next."""
    worth, iteration, last = islands.worth, 0, islands.stages[-1]
    for island in range(worth.shape[0]):
        word = philox_word(island, islands.rng_stream_id, 0, islands.seed_low, islands.seed_high)
        for row in range(worth.shape[1]):
            worth[island, row] = first_individual(kind, islands.genes[island, row], word, row)
    for stage in range(len(islands.stages)):
        while iteration < islands.stages[stage]:
            iteration += 1
            before, after = islands.order[(iteration - 1) % 2], islands.order[iteration % 2]
            left = 1 - (iteration - 1) / last
            for island in range(worth.shape[0]):
                genes, at, rows = islands.genes[island], worth[island], after[island]
                word = philox_word(island, islands.rng_stream_id, iteration, islands.seed_low, islands.seed_high)
                select(at, before[island], rows, islands.parents)
                breed(kind, genes, at, rows, islands.parents, islands.crossed, word, left)
        islands.trace[stage] = largest(worth)
        if iteration < last:
            migrate(islands.genes, worth, islands.ranks, islands.migrants)
