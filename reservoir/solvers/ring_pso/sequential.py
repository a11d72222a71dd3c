"""Ring PSO on one thread, the sequential program that Mussi, Nashed and Cagnoni 2011 compare theirs with.

The ring is synchronous (their Listing 1) and draws the numbers that the OpenCL engine draws: with one seed, the two
differ by rounding alone. As an option the stochastic star of Standard PSO 2006 (Clerc), which they replaced by the
ring: every particle informs itself and K = 3 at random, drawn again after a sweep without improvement, and particles
learn of each other's bests within a sweep.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.jit import compiled_for_any, compiled_part
from reservoir.problems.base import Problem
from reservoir.problems.fitness import fitness_of, scaled_noise
from reservoir.solvers.base.progress import Progress, silent
from reservoir.solvers.base.solution import Solution
from reservoir.solvers.clpso.settings import SMALLEST_VELOCITY
from reservoir.solvers.ring_pso.settings import STOP, RingSettings
from reservoir.solvers.rng.stream import below, mixed, philox_word, seed_words, uniform_of

NAME = "ring-pso-sequential"
SETTINGS = RingSettings
DEVICE = "one CPU thread"

RING, STAR = "ring", "star"
TOPOLOGIES = (RING, STAR)
#: Positions so near to nought, in parts of their range, are nought: their squares would be denormal numbers, which a
#: CPU handles a hundred times slower; a device flushes them.
SMALLEST_PART = 1e-18
#: Particles that each informs in a stochastic star.
INFORMED = 3


def solve(
    problems: Sequence[Problem],
    *,
    seed: int = 1,
    device: str | None = None,
    progress: Progress = silent,
    topology: str = RING,
    **options: Any,
) -> list[Solution]:
    """Solve each problem with its own swarm, one after another.

    Parameters
    ----------
    problems : sequence of Problem
        Any mixture.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers.
    device : str, optional
        Not used: this engine needs no device.
    progress : callable
        Told how many of the problems are done.
    topology : str
        One of `TOPOLOGIES`.
    **options
        Fields of `RingSettings`.

    Raises
    ------
    InputError
        If a setting is out of range.
    """
    settings = RingSettings(**options)
    if topology not in TOPOLOGIES:
        raise InputError(Mistake("there is no such topology", ", ".join(TOPOLOGIES), "choose one", value=topology))
    started = time.perf_counter()
    found = []
    for done, problem in enumerate(problems, start=1):
        found.append(_solve_one(problem, settings, seed, star=topology == STAR))
        progress(done, len(problems))
    wall = time.perf_counter() - started
    used = {**settings.as_dict(), "seed": seed, "topology": topology}
    return [_solution(problem, *run, wall, settings, used) for problem, run in zip(problems, found, strict=True)]


class Swarm(NamedTuple):
    """State of one swarm; arrays of N particles by D dimensions unless said otherwise."""

    position: NDArray[np.float32]
    velocity: NDArray[np.float32]
    best: NDArray[np.float32]
    fitness: NDArray[np.float32]  # (N,)
    best_fitness: NDArray[np.float32]  # (N,)
    informant: NDArray[np.int64]  # (N,)
    links: NDArray[np.int64]  # (N, INFORMED), of a star
    scratch: NDArray[np.float32]  # (2, D + 1)
    trace: NDArray[np.float32]
    lower: NDArray[np.float32]  # (D,)
    upper: NDArray[np.float32]  # (D,)
    bounded: bool
    stops: bool
    star: bool
    generations: int
    trace_every: int
    inertia: np.float32
    cognitive: np.float32
    social: np.float32
    rng_stream_id: np.uint32
    seed_low: np.uint32
    seed_high: np.uint32


def _new_swarm(problem: Problem, settings: RingSettings, seed: int, *, star: bool) -> Swarm:
    count, dimension = settings.particles, problem.dimension
    position, velocity, best = (np.empty((count, dimension), np.float32) for _ in range(3))
    low, high = seed_words(seed)
    return Swarm(
        position,
        velocity,
        best,
        np.empty(count, np.float32),
        np.full(count, -np.inf, np.float32),
        np.arange(count),
        np.zeros((count, INFORMED), np.int64),
        np.empty((2, dimension + 1), np.float32),
        np.empty(len(settings.trace_generations), np.float32),
        problem.lower.astype(np.float32),
        problem.upper.astype(np.float32),
        problem.kernel().bounded,
        settings.wall == STOP,
        star,
        settings.generations,
        settings.trace_every,
        np.float32(settings.inertia),
        np.float32(settings.cognitive),
        np.float32(settings.social),
        np.uint32(problem.rng_stream_id),
        np.uint32(low),
        np.uint32(high),
    )


def _solve_one(problem: Problem, settings: RingSettings, seed: int, *, star: bool) -> tuple[Swarm, int]:
    """The swarm at the end, and its best particle."""
    swarm, context = _new_swarm(problem, settings, seed, star=star), problem.compiled_context()
    _run(context, swarm)
    return swarm, int(swarm.best_fitness.argmax())


def _solution(
    problem: Problem, swarm: Swarm, leader: int, wall: float, settings: RingSettings, used: dict[str, Any]
) -> Solution:
    position = swarm.best[leader].astype(np.float64)
    worth = problem.certify(position)
    return Solution(
        position,
        worth.fitness,
        worth.benefit,
        worth.violation,
        settings.generations,
        settings.evaluations,
        wall,
        None,
        NAME,
        DEVICE,
        used,
        settings.trace_generations,
        swarm.trace.astype(np.float64),
        fitness_float32=float(swarm.best_fitness[leader]),
    )


@compiled_part
def _scatter(position, velocity, best, lower, upper, word):
    """First position, and a first velocity that is half the way to another."""
    for d in range(len(position)):
        width = upper[d] - lower[d]
        position[d] = uniform_of(mixed(word, 2 * d)) * width + lower[d]
        other = uniform_of(mixed(word, 2 * d + 1)) * width + lower[d]
        velocity[d] = np.float32(0.5) * (other - position[d])
        best[d] = position[d]


@compiled_part
def _move(position, velocity, own, lead, lower, upper, bounded, stops, inertia, cognitive, social, word):
    for d in range(len(position)):
        at = position[d]
        towards_own = cognitive * uniform_of(mixed(word, 2 * d)) * (own[d] - at)
        towards_lead = social * uniform_of(mixed(word, 2 * d + 1)) * (lead[d] - at)
        speed = inertia * velocity[d] + towards_own + towards_lead
        moved = at + speed
        if abs(moved) < np.float32(SMALLEST_PART) * (upper[d] - lower[d]):
            moved = np.float32(0)
        if bounded:
            kept = min(max(moved, lower[d]), upper[d])
            if stops and kept != moved:
                speed = np.float32(0)
            moved = kept
        velocity[d] = speed if abs(speed) > np.float32(SMALLEST_VELOCITY) else np.float32(0)
        position[d] = moved


@compiled_part
def _keep_better(swarm, particle):
    """A personal best is taken by what is better, and never by NaN; whether it was."""
    better = swarm.fitness[particle] > swarm.best_fitness[particle]
    if better:
        swarm.best_fitness[particle] = swarm.fitness[particle]
        for d in range(swarm.position.shape[1]):
            swarm.best[particle, d] = swarm.position[particle, d]
    return better


@compiled_part
def _informant_in_ring(best_fitness, particle):
    """The best of a particle and its neighbours: itself, if neither is better; of equals the left one."""
    count, found = len(best_fitness), particle
    for other in ((particle + count - 1) % count, (particle + 1) % count):
        if best_fitness[other] > best_fitness[found]:
            found = other
    return found


@compiled_part
def _informant_in_star(best_fitness, links, particle):
    """The best of a particle and those that inform it."""
    found = particle
    for other in range(len(best_fitness)):
        if best_fitness[other] > best_fitness[found]:
            for link in range(links.shape[1]):
                if links[other, link] == particle:
                    found = other
    return found


@compiled_part
def _draw_links(links, word):
    for particle in range(links.shape[0]):
        for link in range(links.shape[1]):
            bits = mixed(word, particle * links.shape[1] + link)
            links[particle, link] = below(bits, links.shape[0])


@compiled_part
def _largest(numbers):
    best = numbers[0]
    for each in numbers:
        best = max(best, each)
    return best


@compiled_for_any
def _run(context, swarm):
    count, dimension = swarm.position.shape
    for particle in range(count):
        word = philox_word(particle, swarm.rng_stream_id, 0, swarm.seed_low, swarm.seed_high)
        _scatter(
            swarm.position[particle], swarm.velocity[particle], swarm.best[particle], swarm.lower, swarm.upper, word
        )
        noise = scaled_noise(context, uniform_of(mixed(word, 2 * dimension)))
        swarm.fitness[particle] = fitness_of(context, swarm.position[particle], swarm.scratch) + noise
        _keep_better(swarm, particle)
    before = _largest(swarm.best_fitness)
    if swarm.star:
        _draw_links(swarm.links, philox_word(count, swarm.rng_stream_id, 0, swarm.seed_low, swarm.seed_high))
    for generation in range(1, swarm.generations + 1):
        if not swarm.star:
            for particle in range(count):
                swarm.informant[particle] = _informant_in_ring(swarm.best_fitness, particle)
        for particle in range(count):
            if swarm.star:
                swarm.informant[particle] = _informant_in_star(swarm.best_fitness, swarm.links, particle)
            word = philox_word(particle, swarm.rng_stream_id, generation, swarm.seed_low, swarm.seed_high)
            _move(
                swarm.position[particle],
                swarm.velocity[particle],
                swarm.best[particle],
                swarm.best[swarm.informant[particle]],
                swarm.lower,
                swarm.upper,
                swarm.bounded,
                swarm.stops,
                swarm.inertia,
                swarm.cognitive,
                swarm.social,
                word,
            )
            noise = scaled_noise(context, uniform_of(mixed(word, 2 * dimension)))
            swarm.fitness[particle] = fitness_of(context, swarm.position[particle], swarm.scratch) + noise
            if swarm.star:
                _keep_better(swarm, particle)
        if not swarm.star:
            for particle in range(count):
                _keep_better(swarm, particle)
        if generation % swarm.trace_every == 0:
            swarm.trace[generation // swarm.trace_every - 1] = _largest(swarm.best_fitness)
        if swarm.star:
            now = _largest(swarm.best_fitness)
            if not now > before:
                _draw_links(
                    swarm.links, philox_word(count, swarm.rng_stream_id, generation, swarm.seed_low, swarm.seed_high)
                )
            before = now
