"""The swarm of `ann-pso` on CPU threads, compiled: what its OpenCL form is measured against.

The counterpart of the multithreaded C++ program of Li and Liu 2017. Each thread takes a share of the groups from one
exchange to the next, so that threads meet no more often than the algorithm asks; the fitness is the problem's compiled
one, whose loops are vector instructions. It draws the numbers that the OpenCL form draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_for_any, compiled_part, inlined
from reservoir.problems.base import Problem
from reservoir.problems.fitness import Context, fitness_of, scaled_noise
from reservoir.solvers.engine import HostEngine, Progress, new_state
from reservoir.solvers.rng import StreamKey, mixed, philox_word, stream_key, uniform_of
from reservoir.solvers.solution import EngineResults, Solutions, engine_results
from reservoir.solvers.two_level_pso import ParallelTwoLevelSettings

Floats = NDArray[np.float32]


class ParallelTwoLevel(HostEngine[ParallelTwoLevelSettings]):
    """PSO with bests of two levels, one problem after another, each by all threads."""

    name = "ann-pso-parallel"
    settings_class = ParallelTwoLevelSettings

    clips_first = False
    #: Problems at a time.
    threads = 1

    @property
    def place(self) -> str:
        """As many threads."""
        return f"{self.settings.workers} CPU threads"

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """One problem after another, by the same threads."""
        with ThreadPoolExecutor(self.settings.workers) as self._pool:
            return super().solve(problems, device=device, progress=progress)

    def solve_one(self, problem: Problem, place: int) -> EngineResults:
        """Run a problem's own swarm."""
        settings, context = self.settings, problem.compiled_context()
        swarm = new_state(
            Swarm,
            settings,
            problem,
            best_fitness=-np.inf,
            given=self.first_of(problem, place),
            bounded=problem.kernel().bounded,
            group=min(settings.group, settings.particles),
            key=stream_key(problem.rng_stream_id, self.seed),
        )
        edges = np.linspace(0, settings.groups, settings.workers + 1).round().astype(int).tolist()
        shares = [(first, last, np.empty((2, problem.dimension + 1), np.float32)) for first, last in pairwise(edges)]

        def advance(before: int, last: int) -> tuple[NDArray[np.float32], np.float32]:
            """Run all groups up to a generation, then exchange the best, and tell it."""
            list(self._pool.map(lambda share: _run(context, swarm, before, last, *share), shares))
            leader = int(swarm.best_fitness.argmax())
            swarm.swarm_best[:] = swarm.best[leader]
            return swarm.best[leader].copy(), swarm.best_fitness[leader]

        advance(-1, 0)
        exchanged = [advance(before, last) for before, last in pairwise([0, *settings.trace_generations.tolist()])]
        positions, trace = (np.stack(each)[np.newaxis] for each in zip(*exchanged, strict=True))
        return engine_results(
            position=positions[:, -1],
            trace_fitness=trace,
            fitness_float32=trace[:, -1],
            **({"best_position_history": positions} if settings.best_position_history else {}),
            of_all=settings.work,
        )


ENGINE = ParallelTwoLevel


class Swarm(NamedTuple):
    """State of one swarm."""

    position: Annotated[Floats, "particles", "dimension"]
    velocity: Annotated[Floats, "particles", "dimension"]
    best: Annotated[Floats, "particles", "dimension"]
    best_fitness: Annotated[Floats, "particles"]
    swarm_best: Annotated[Floats, "dimension"]
    given: Floats  # first positions, of no or some particles
    lower: Annotated[Floats, "dimension"]
    upper: Annotated[Floats, "dimension"]
    bounded: bool
    group: int
    inertia: np.float32
    cognitive: np.float32
    social: np.float32
    velocity_fraction: np.float32
    key: StreamKey


@compiled_part
def _scatter(swarm: Swarm, i: int, word: np.uint32) -> None:
    """First position, within the bounds unless it is given, and first velocity within its limits."""
    position, velocity, best = swarm.position[i], swarm.velocity[i], swarm.best[i]
    one, two = np.float32(1), np.float32(2)
    for d in range(len(position)):
        width = swarm.upper[d] - swarm.lower[d]
        position[d] = uniform_of(mixed(word, 2 * d)) * width + swarm.lower[d]
        velocity[d] = (two * uniform_of(mixed(word, 2 * d + 1)) - one) * width * swarm.velocity_fraction
        best[d] = position[d]
    if i < len(swarm.given):
        _copy(swarm.given[i], position)
        _copy(swarm.given[i], best)


@compiled_part
def _move(swarm: Swarm, i: int, leading: NDArray[np.float32], word: np.uint32) -> None:
    """Eq. 5-6 with a limit of the velocity; a particle that comes to a bound stops there."""
    position, velocity, best = swarm.position[i], swarm.velocity[i], swarm.best[i]
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
def _copy(source: NDArray[np.float32], target: NDArray[np.float32]) -> None:
    for d in range(len(target)):
        target[d] = source[d]


@inlined
def _judge(context: Context, swarm: Swarm, i: int, word: np.uint32, scratch: NDArray[np.float32]) -> None:
    value = fitness_of(context, swarm.position[i], (scratch[0], scratch[1]))
    value += scaled_noise(context, uniform_of(mixed(word, 2 * swarm.position.shape[1])))
    if value > swarm.best_fitness[i]:
        swarm.best_fitness[i] = value
        _copy(swarm.position[i], swarm.best[i])


@inlined
def _leader(swarm: Swarm, first: int, last: int) -> int:
    leader = first
    for i in range(first + 1, last):
        if swarm.best_fitness[i] > swarm.best_fitness[leader]:
            leader = i
    return leader


@compiled_for_any
def _run(
    context: Context,
    swarm: Swarm,
    before: int,
    last_generation: int,
    first_group: int,
    last_group: int,
    scratch: NDArray[np.float32],
) -> None:
    """Run groups after one generation up to another; generation 0 judges first positions."""
    particles, size = swarm.position.shape[0], swarm.group
    for group in range(first_group, last_group):
        first, last = group * size, min((group + 1) * size, particles)
        leader = first
        for generation in range(before + 1, last_generation + 1):
            if generation > 0:
                leader = _leader(swarm, first, last)
            for i in range(first, last):
                word = philox_word(i, swarm.key, generation)
                if generation == 0:
                    _scatter(swarm, i, word)
                elif generation == before + 1:
                    _move(swarm, i, swarm.swarm_best, word)
                else:
                    _move(swarm, i, swarm.best[leader], word)
            for i in range(first, last):
                word = philox_word(i, swarm.key, generation)
                _judge(context, swarm, i, word, scratch)
