"""Ring PSO on one thread, the sequential program that Mussi, Nashed and Cagnoni 2011 compare theirs with.

The ring is synchronous (their Listing 1) and draws the numbers that the OpenCL engine draws: with one seed, the two
differ by rounding alone. As an option the stochastic star of Standard PSO 2006 (Clerc), which they replaced by the
ring: every particle informs itself and K = 3 at random, drawn again after a sweep without improvement, and particles
learn of each other's bests within a sweep.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.jit import compiled_for_any, compiled_part, inlined
from reservoir.problems.base import Problem
from reservoir.problems.fitness import Context, fitness_of, scaled_noise
from reservoir.solvers.engine import HostEngine, new_state
from reservoir.solvers.ring_pso import STAR, STOP, SequentialRingSettings
from reservoir.solvers.rng import StreamKey, below, mixed, philox_word, stream_key, uniform_of
from reservoir.solvers.settings import SMALLEST_VELOCITY
from reservoir.solvers.solution import EngineResults, engine_results

Floats = NDArray[np.float32]

#: Positions so near to zero, in parts of their range, are zero: their squares would be denormal numbers, which a CPU
#: handles a hundred times slower; a device flushes them.
SMALLEST_PART = 1e-18
#: Particles that each informs in a stochastic star.
INFORMED = 3


class SequentialRing(HostEngine[SequentialRingSettings]):
    """Ring PSO, one swarm after another."""

    name = "ring-pso-sequential"
    settings_class = SequentialRingSettings

    def solve_one(self, problem: Problem, place: int) -> EngineResults:
        """Run a problem's own swarm."""
        settings, taken = self.settings, self.settings.trace_generations
        swarm = new_state(
            Swarm,
            settings,
            problem,
            informed=INFORMED,
            points=len(taken),
            two=2,
            room=problem.dimension + 1,
            best_fitness=-np.inf,
            informant=np.arange(settings.particles),
            bounded=problem.kernel().bounded,
            stops=settings.wall == STOP,
            star=settings.topology == STAR,
            trace_every=taken[0],
            key=stream_key(problem.rng_stream_id, self.seed),
        )
        _run(problem.compiled_context(), swarm)
        leader = [swarm.best_fitness.argmax()]
        return engine_results(
            position=swarm.best[leader],
            trace_fitness=swarm.trace[np.newaxis],
            fitness_float32=swarm.best_fitness[leader],
            of_all=settings.work,
        )


ENGINE = SequentialRing


class Swarm(NamedTuple):
    """State of one swarm."""

    position: Annotated[Floats, "particles", "dimension"]
    velocity: Annotated[Floats, "particles", "dimension"]
    best: Annotated[Floats, "particles", "dimension"]
    fitness: Annotated[Floats, "particles"]
    best_fitness: Annotated[Floats, "particles"]
    informant: Annotated[NDArray[np.int64], "particles"]
    links: Annotated[NDArray[np.int64], "particles", "informed"]  # of a star
    scratch: Annotated[Floats, "two", "room"]
    trace: Annotated[Floats, "points"]
    lower: Annotated[Floats, "dimension"]
    upper: Annotated[Floats, "dimension"]
    bounded: bool
    stops: bool
    star: bool
    generations: int
    trace_every: int
    inertia: np.float32
    cognitive: np.float32
    social: np.float32
    key: StreamKey


@compiled_part
def _scatter(swarm: Swarm, particle: int, word: np.uint32) -> None:
    """First position, and a first velocity that is half the way to another."""
    position, velocity, best = swarm.position[particle], swarm.velocity[particle], swarm.best[particle]
    for d in range(len(position)):
        width = swarm.upper[d] - swarm.lower[d]
        position[d] = uniform_of(mixed(word, 2 * d)) * width + swarm.lower[d]
        other = uniform_of(mixed(word, 2 * d + 1)) * width + swarm.lower[d]
        velocity[d] = np.float32(0.5) * (other - position[d])
        best[d] = position[d]


@compiled_part
def _move(
    position: Floats,
    velocity: Floats,
    own: Floats,
    lead: Floats,
    lower: Floats,
    upper: Floats,
    bounded: bool,
    stops: bool,
    inertia: np.float32,
    cognitive: np.float32,
    social: np.float32,
    word: np.uint32,
) -> None:
    # Arrays of a dimension each, not the swarm: so the loop is a tenth faster.
    for d in range(len(position)):
        at = position[d]
        towards_own = cognitive * uniform_of(mixed(word, 2 * d)) * (own[d] - at)
        towards_lead = social * uniform_of(mixed(word, 2 * d + 1)) * (lead[d] - at)
        speed = inertia * velocity[d] + towards_own + towards_lead
        moved = at + speed
        if abs(moved) < np.float32(SMALLEST_PART) * (upper[d] - lower[d]):
            moved = np.float32(0)
        if bounded:
            inside = min(max(moved, lower[d]), upper[d])
            if stops and inside != moved:
                speed = np.float32(0)
            moved = inside
        velocity[d] = speed if abs(speed) > np.float32(SMALLEST_VELOCITY) else np.float32(0)
        position[d] = moved


@inlined
def _judge(context: Context, swarm: Swarm, particle: int, word: np.uint32) -> None:
    noise = scaled_noise(context, uniform_of(mixed(word, 2 * swarm.position.shape[1])))
    swarm.fitness[particle] = fitness_of(context, swarm.position[particle], swarm.scratch) + noise


@compiled_part
def _keep_better(swarm: Swarm, particle: int) -> bool:
    """A personal best is taken by what is better, and never by NaN; whether it was."""
    better: bool = swarm.fitness[particle] > swarm.best_fitness[particle]
    if better:
        swarm.best_fitness[particle] = swarm.fitness[particle]
        for d in range(swarm.position.shape[1]):
            swarm.best[particle, d] = swarm.position[particle, d]
    return better


@compiled_part
def _informant_in_ring(best_fitness: Floats, particle: int) -> int:
    """The best of a particle and its neighbours: itself, if neither is better; of equals the left one."""
    count, informant = len(best_fitness), particle
    for other in ((particle + count - 1) % count, (particle + 1) % count):
        if best_fitness[other] > best_fitness[informant]:
            informant = other
    return informant


@compiled_part
def _informant_in_star(best_fitness: Floats, links: NDArray[np.int64], particle: int) -> int:
    """The best of a particle and those that inform it."""
    informant = particle
    for other in range(len(best_fitness)):
        if best_fitness[other] > best_fitness[informant]:
            for link in range(links.shape[1]):
                if links[other, link] == particle:
                    informant = other
    return informant


@compiled_part
def _draw_links(links: NDArray[np.int64], word: np.uint32) -> None:
    for particle in range(links.shape[0]):
        for link in range(links.shape[1]):
            bits = mixed(word, particle * links.shape[1] + link)
            links[particle, link] = below(bits, links.shape[0])


@compiled_part
def _largest(numbers: Floats) -> float:
    best: float = numbers[0]
    for number in numbers:
        best = max(best, number)
    return best


@compiled_for_any
def _run(context: Context, swarm: Swarm) -> None:
    count = len(swarm.position)
    for particle in range(count):
        word = philox_word(particle, swarm.key, 0)
        _scatter(swarm, particle, word)
        _judge(context, swarm, particle, word)
        _keep_better(swarm, particle)
    before = _largest(swarm.best_fitness)
    if swarm.star:
        _draw_links(swarm.links, philox_word(count, swarm.key, 0))
    for generation in range(1, swarm.generations + 1):
        if not swarm.star:
            for particle in range(count):
                swarm.informant[particle] = _informant_in_ring(swarm.best_fitness, particle)
        for particle in range(count):
            if swarm.star:
                swarm.informant[particle] = _informant_in_star(swarm.best_fitness, swarm.links, particle)
            word = philox_word(particle, swarm.key, generation)
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
            _judge(context, swarm, particle, word)
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
                _draw_links(swarm.links, philox_word(count, swarm.key, generation))
            before = now
