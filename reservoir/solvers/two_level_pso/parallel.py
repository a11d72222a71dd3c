"""The swarm of `ann_pso` on CPU threads, compiled: what its OpenCL form is measured against.

The counterpart of the multithreaded C++ program of Li and Liu 2017. Each thread takes a share of the groups from one
exchange to the next, so that threads meet no more often than the algorithm asks; the fitness is the problem's compiled
one, whose loops are vector instructions. It draws the numbers that the OpenCL form draws.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.jit import compiled_for_any, compiled_part, inlined
from reservoir.problems.base import Problem
from reservoir.problems.fitness import fitness_of, scaled_noise
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solution
from reservoir.solvers.rng.stream import mixed, philox_word, seed_words, uniform_of
from reservoir.solvers.two_level_pso.settings import TwoLevelSettings, first_positions

NAME = "ann-pso-parallel"
SETTINGS = TwoLevelSettings
MOST_THREADS = 1024


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = None,
    progress: Progress = silent,
    first: Sequence[ArrayLike] | None = None,
    best_position_history: bool = False,
    threads: int | None = None,
    **options: Any,
) -> list[Solution]:
    """Solve problems one after another, each by all threads.

    Parameters
    ----------
    problems : sequence of Problem
    seed : int
        With a problem's `rng_stream_id`, names its random numbers.
    device : str, optional
        Ignored: no device is needed.
    progress : callable
        Told how many problems are done.
    first, best_position_history
        As in `ann_pso.solve`.
    threads : int, optional
        As many as there are processors if not given.
    **options
        Fields of `TwoLevelSettings`.

    Raises
    ------
    InputError
        If a setting is out of range.
    """
    settings = TwoLevelSettings(**options)
    count = (os.cpu_count() or 1) if threads is None else threads
    if not 1 <= count <= MOST_THREADS:
        raise InputError(Mistake("is no number of threads", f"1 to {MOST_THREADS}", value=threads))
    given = dict(enumerate(first_positions(problems, first, settings)))
    started = time.perf_counter()
    found = []
    with ThreadPoolExecutor(count) as pool:
        for done, problem in enumerate(problems, start=1):
            found.append(
                _solve_one(_new_swarm(problem, settings, seed, given.get(done - 1)), problem, settings, pool, count)
            )
            progress(done, len(problems))
    wall = time.perf_counter() - started
    used = {
        **settings.as_dict(),
        "seed": seed,
        "threads": count,
        "best_position_history": best_position_history,
        "first": len(given[0]) if given else 0,
    }
    return [
        _solution(problem, *each, best_position_history=best_position_history, wall=wall, settings=settings, used=used)
        for problem, each in zip(problems, found, strict=True)
    ]


class Swarm(NamedTuple):
    """State of one swarm; arrays of N particles by D dimensions unless said otherwise."""

    position: NDArray[np.float32]
    velocity: NDArray[np.float32]
    best: NDArray[np.float32]
    best_fitness: NDArray[np.float32]  # (N,)
    swarm_best: NDArray[np.float32]  # (D,)
    given: NDArray[np.float32]  # first positions, of no or some particles
    lower: NDArray[np.float32]  # (D,)
    upper: NDArray[np.float32]  # (D,)
    bounded: bool
    group: int
    inertia: np.float32
    cognitive: np.float32
    social: np.float32
    velocity_fraction: np.float32
    rng_stream_id: np.uint32
    seed_low: np.uint32
    seed_high: np.uint32


def _new_swarm(problem: Problem, settings: TwoLevelSettings, seed: int, given: NDArray[np.float32] | None) -> Swarm:
    particles, dimension = settings.particles, problem.dimension
    position, velocity, best = (np.empty((particles, dimension), np.float32) for _ in range(3))
    low, high = seed_words(seed)
    return Swarm(
        position,
        velocity,
        best,
        np.full(particles, -np.inf, np.float32),
        np.empty(dimension, np.float32),
        np.empty((0, dimension), np.float32) if given is None else given,
        problem.lower.astype(np.float32),
        problem.upper.astype(np.float32),
        problem.kernel().bounded,
        min(settings.group, particles),
        np.float32(settings.inertia),
        np.float32(settings.cognitive),
        np.float32(settings.social),
        np.float32(settings.velocity_fraction),
        np.uint32(problem.rng_stream_id),
        np.uint32(low),
        np.uint32(high),
    )


def _solve_one(
    swarm: Swarm, problem: Problem, settings: TwoLevelSettings, pool: ThreadPoolExecutor, threads: int
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Best positions after every exchange, and their fitness."""
    context = problem.compiled_context()
    edges = np.linspace(0, settings.groups, threads + 1).round().astype(int).tolist()
    shares = [(first, last, np.empty((2, problem.dimension + 1), np.float32)) for first, last in pairwise(edges)]

    def advance(before: int, last: int) -> tuple[NDArray[np.float32], float]:
        """Run all groups up to a generation, then exchange the best, and tell it."""
        list(pool.map(lambda share: _run(context, swarm, before, last, *share), shares))
        leader = int(swarm.best_fitness.argmax())
        swarm.swarm_best[:] = swarm.best[leader]
        return swarm.best[leader].copy(), float(swarm.best_fitness[leader])

    advance(-1, 0)
    exchanged = [advance(before, last) for before, last in pairwise([0, *settings.exchanges.tolist()])]
    return np.stack([position for position, _ in exchanged]), np.array([fitness for _, fitness in exchanged])


def _solution(
    problem: Problem,
    positions: NDArray[np.float32],
    trace: NDArray[np.float64],
    *,
    best_position_history: bool,
    wall: float,
    settings: TwoLevelSettings,
    used: dict[str, Any],
) -> Solution:
    at = positions[-1].astype(np.float64)
    worth = problem.certify(at)
    return Solution(
        at,
        worth.fitness,
        worth.benefit,
        worth.violation,
        settings.generations,
        settings.evaluations,
        wall,
        None,
        NAME,
        f"{used['threads']} CPU threads",
        used,
        settings.exchanges,
        trace,
        fitness_float32=float(trace[-1]),
        best_position_history=positions.astype(np.float64) if best_position_history else np.empty((0, 0)),
    )


@compiled_part
def _scatter(position, velocity, best, lower, upper, velocity_fraction, word):
    """First position within the bounds and first velocity within its limits."""
    one, two = np.float32(1), np.float32(2)
    for d in range(len(position)):
        width = upper[d] - lower[d]
        position[d] = uniform_of(mixed(word, 2 * d)) * width + lower[d]
        velocity[d] = (two * uniform_of(mixed(word, 2 * d + 1)) - one) * width * velocity_fraction
        best[d] = position[d]


@compiled_part
def _move(position, velocity, best, leading, swarm, word):
    """Eq. 5-6 with a limit of the velocity; a particle that comes to a bound stops there."""
    lower, upper, zero = swarm.lower, swarm.upper, np.float32(0)
    for d in range(len(position)):
        fastest = (upper[d] - lower[d]) * swarm.velocity_fraction
        own = swarm.cognitive * uniform_of(mixed(word, 2 * d)) * (best[d] - position[d])
        lead = swarm.social * uniform_of(mixed(word, 2 * d + 1)) * (leading[d] - position[d])
        speed = min(max(swarm.inertia * velocity[d] + own + lead, -fastest), fastest)
        moved = position[d] + speed
        if swarm.bounded:
            speed = zero if moved < lower[d] or moved > upper[d] else speed
            moved = min(max(moved, lower[d]), upper[d])
        velocity[d] = speed
        position[d] = moved


@compiled_part
def _copy(source, target):
    for d in range(len(target)):
        target[d] = source[d]


@inlined
def _judge(context, swarm, i, word, scratch):
    value = fitness_of(context, swarm.position[i], (scratch[0], scratch[1]))
    value += scaled_noise(context, uniform_of(mixed(word, 2 * swarm.position.shape[1])))
    if value > swarm.best_fitness[i]:
        swarm.best_fitness[i] = value
        _copy(swarm.position[i], swarm.best[i])


@inlined
def _leader(swarm, first, last):
    leader = first
    for i in range(first + 1, last):
        if swarm.best_fitness[i] > swarm.best_fitness[leader]:
            leader = i
    return leader


@compiled_for_any
def _run(context, swarm, before, last_generation, first_group, last_group, scratch):
    """Run groups after one generation up to another; generation 0 judges first positions."""
    particles, size = swarm.position.shape[0], swarm.group
    for group in range(first_group, last_group):
        first, last = group * size, min((group + 1) * size, particles)
        leader = first
        for generation in range(before + 1, last_generation + 1):
            if generation > 0:
                leader = _leader(swarm, first, last)
            for i in range(first, last):
                word = philox_word(i, swarm.rng_stream_id, generation, swarm.seed_low, swarm.seed_high)
                if generation == 0:
                    _scatter(
                        swarm.position[i],
                        swarm.velocity[i],
                        swarm.best[i],
                        swarm.lower,
                        swarm.upper,
                        swarm.velocity_fraction,
                        word,
                    )
                    if i < len(swarm.given):
                        _copy(swarm.given[i], swarm.position[i])
                        _copy(swarm.given[i], swarm.best[i])
                elif generation == before + 1:
                    _move(swarm.position[i], swarm.velocity[i], swarm.best[i], swarm.swarm_best, swarm, word)
                else:
                    _move(swarm.position[i], swarm.velocity[i], swarm.best[i], swarm.best[leader], swarm, word)
            for i in range(first, last):
                word = philox_word(i, swarm.rng_stream_id, generation, swarm.seed_low, swarm.seed_high)
                _judge(context, swarm, i, word, scratch)
