"""Comprehensive learning particle swarm optimisation on CPU threads, each with a swarm of its own.

Yu et al. 2020, Complexity 6589658, section 2.1 and Figure 1, with the relaxed choice of exemplars of its last lines or
the strict one before them; the algorithm is Liang et al. 2006, IEEE Trans. Evol. Comput. 10:281. On one thread it is
the baseline that speed-ups are stated against, hence float32 and compiled. It draws the same random streams as the
OpenCL engine: with one seed, the two differ by rounding alone, unless exemplars follow their teachers, which this
engine alone can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.jit import compiled_for_any, inlined
from reservoir.hydro.stack_array import stack_array
from reservoir.problems.base import Problem
from reservoir.problems.fitness import Context, fitness_of
from reservoir.solvers.clpso import STRICT, SwarmSettings
from reservoir.solvers.engine import HostEngine, new_state, unrolled_variables
from reservoir.solvers.rng import (
    below,
    fill_uniform,
    fresh_noise,
    mixed,
    next_bits,
    next_uniform,
    rivals,
    stream_states,
)
from reservoir.solvers.settings import SMALLEST_VELOCITY, ThreadSettings
from reservoir.solvers.solution import EngineResults, engine_results

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ThreadedSwarmSettings(SwarmSettings, ThreadSettings):
    """Settings of CLPSO on CPU threads."""

    def __post_init__(self) -> None:
        """Refuse what only a device can do."""
        super().__post_init__()
        if self.exchange_interval:
            mend = "choose the solver clpso, or lshade-sequential"
            raise InputError("clpso-sequential does not support exchange_interval", mend=mend)


class SequentialClpso(HostEngine[ThreadedSwarmSettings]):
    """CLPSO, a swarm for each problem, each on one thread."""

    name = "clpso-sequential"
    settings_class = ThreadedSwarmSettings

    def solve_one(self, problem: Problem, place: int) -> EngineResults:
        """Run a problem's own swarm."""
        settings, taken = self.settings, self.settings.trace_generations
        swarm = new_swarm(problem, settings, self.seed, self.first_of(problem, place))
        trace = np.empty((1, len(taken)), np.float32)
        evaluations = _run(problem.compiled_context(), swarm, settings.generations, int(taken[0]), trace[0])
        leader = [swarm.best_fitness.argmax()]
        return engine_results(
            position=swarm.best[leader],
            trace_fitness=trace,
            fitness_float32=swarm.best_fitness[leader],
            of_all=settings.work | {"evaluations": evaluations},
        )


ENGINE = SequentialClpso


class Swarm(NamedTuple):
    """State of one swarm and room to work in."""

    position: Annotated[Floats, "particles", "dimension"]
    velocity: Annotated[Floats, "particles", "dimension"]
    exemplar: Annotated[Floats, "particles", "dimension"]
    best: Annotated[Floats, "particles", "dimension"]
    best_fitness: Annotated[Floats, "particles"]
    given: Floats  # of some particles: positions that they begin with
    stagnation: Annotated[NDArray[np.int64], "particles"]
    states: NDArray[np.uint32]  # (particles, 4), random streams
    learning: Annotated[Floats, "particles"]
    lower: Annotated[Floats, "dimension"]
    upper: Annotated[Floats, "dimension"]
    acceleration: np.float32
    inertia_first: np.float32
    inertia_fall: np.float32
    velocity_fraction: np.float32
    refreshing_gap: int
    strict: int  # 1 if a particle learns from others only
    exemplars_follow: bool  # exemplars are those of the teachers as they are
    teacher: Annotated[NDArray[np.int32], "particles", "dimension"]  # whom a particle learns from in each dimension
    drawn: Annotated[Floats, "dimension"]  # room for random numbers
    unrolled: tuple[int, ...]  # of `unrolled_variables`


def new_swarm(problem: Problem, settings: SwarmSettings, seed: int, given: Floats) -> Swarm:
    """A problem's swarm, with its random streams and the positions that it begins with."""
    return new_state(
        Swarm,
        settings,
        problem,
        given=given,
        stagnation=settings.refreshing_gap,
        states=stream_states(seed, problem.rng_stream_id, settings.particles),
        learning=settings.learning_probability(),
        strict=settings.exemplars == STRICT,
        inertia_fall=settings.inertia_first - settings.inertia_last,
        unrolled=unrolled_variables(problem),
    )


@inlined
def _variables(swarm: Swarm) -> int:
    return len(swarm.unrolled) or len(swarm.lower)


@inlined
def _initialise(swarm: Swarm, i: int) -> None:
    """Step 1: uniform velocity within its limits and uniform position within its bounds."""
    one, two = np.float32(1), np.float32(2)
    for d in range(_variables(swarm)):
        width = swarm.upper[d] - swarm.lower[d]
        swarm.velocity[i, d] = (two * next_uniform(swarm.states, i) - one) * (width * swarm.velocity_fraction)
        swarm.position[i, d] = swarm.lower[d] + next_uniform(swarm.states, i) * width
        swarm.best[i, d] = swarm.position[i, d]
    swarm.best_fitness[i] = -np.inf


@inlined
def _choose_exemplar(swarm: Swarm, i: int) -> None:
    """Step 3: on each dimension the particle itself, or the better of two drawn at random (eq. 5 and after)."""
    particles, dimension, strict = len(swarm.learning), _variables(swarm), swarm.strict
    learns = False
    drawn = next_bits(swarm.states, i)
    for d in range(dimension):
        teacher = i
        learns_here, first, second = rivals(
            mixed(drawn, d), swarm.learning[i], particles - strict, particles - 2 * strict
        )
        if learns_here:
            if strict:
                first, second = _apart(first, second, i)
            teacher = first if swarm.best_fitness[first] > swarm.best_fitness[second] else second
        learns = learns or teacher != i
        swarm.teacher[i, d] = teacher
        swarm.exemplar[i, d] = swarm.best[teacher, d]
    if not learns:
        learnt = below(mixed(drawn, dimension), dimension)
        teacher = below(mixed(drawn, dimension + 1), particles - strict)
        teacher += strict * (teacher >= i)
        swarm.teacher[i, learnt] = teacher
        swarm.exemplar[i, learnt] = swarm.best[teacher, learnt]
    swarm.stagnation[i] = 0


@inlined
def _follow_teachers(swarm: Swarm, i: int) -> None:
    """Bring an exemplar up to its teachers."""
    for d in range(_variables(swarm)):
        swarm.exemplar[i, d] = swarm.best[swarm.teacher[i, d], d]


@inlined
def _apart(first: int, second: int, i: int) -> tuple[int, int]:
    """Two particles other than `i` from numbers below N - 1 and N - 2."""
    first += first >= i
    second += second >= min(first, i)
    second += second >= max(first, i)
    return first, second


@inlined
def _move(swarm: Swarm, i: int, inertia: np.float32) -> bool:
    """Step 3, eq. 1-3; tells whether the new position is within its bounds."""
    smallest, zero = np.float32(SMALLEST_VELOCITY), np.float32(0)
    # The new state stands on the stack until all of the old is read, so that the loop becomes vector instructions.
    unrolled = len(swarm.unrolled)
    drawn = stack_array(swarm.unrolled, np.float32) if unrolled else swarm.drawn
    velocity = stack_array(swarm.unrolled, np.float32) if unrolled else swarm.velocity[i]
    position = stack_array(swarm.unrolled, np.float32) if unrolled else swarm.position[i]
    fill_uniform(swarm.states, i, drawn, swarm.unrolled)
    outside = 0
    for d in range(_variables(swarm)):
        lower, upper = swarm.lower[d], swarm.upper[d]
        fastest = (upper - lower) * swarm.velocity_fraction
        pull = swarm.acceleration * drawn[d] * (swarm.exemplar[i, d] - swarm.position[i, d])
        speed = min(max(inertia * swarm.velocity[i, d] + pull, -fastest), fastest)
        velocity[d] = zero if abs(speed) < smallest else speed
        position[d] = swarm.position[i, d] + velocity[d]
        outside += (position[d] < lower) | (position[d] > upper)
    _copy(velocity, swarm.velocity[i], swarm.unrolled)
    _copy(position, swarm.position[i], swarm.unrolled)
    return outside == 0


@inlined
def _copy(source: NDArray[np.float32], target: NDArray[np.float32], unrolled: tuple[int, ...]) -> None:
    for d in range(len(unrolled) or len(source)):
        target[d] = source[d]


@inlined
def _judge(context: Context, swarm: Swarm, i: int, noise: np.float32) -> None:
    """Step 4: keep the position as the personal best if it is better, else count the stagnation."""
    room = (*swarm.unrolled, 0)
    scratch = stack_array(room, np.float32), stack_array(room, np.float32)
    value = fitness_of(context, swarm.position[i], scratch) + noise
    if value > swarm.best_fitness[i]:
        swarm.best_fitness[i] = value
        _copy(swarm.position[i], swarm.best[i], swarm.unrolled)
    else:
        swarm.stagnation[i] += 1


@compiled_for_any
def _run(context: Context, swarm: Swarm, generations: int, trace_every: int, trace: NDArray[np.float32]) -> int:
    """Run one swarm, fill `trace` and return the number of evaluations; generation 0 judges the first positions."""
    particles = len(swarm.best_fitness)
    for i in range(particles):
        _initialise(swarm, i)
    for i in range(len(swarm.given)):
        _copy(swarm.given[i], swarm.position[i], swarm.unrolled)
    evaluations = 0
    for generation in range(generations + 1):
        inertia = swarm.inertia_first - swarm.inertia_fall * np.float32(generation) / np.float32(generations)
        for i in range(particles):
            if generation > 0 and swarm.stagnation[i] >= swarm.refreshing_gap:
                _choose_exemplar(swarm, i)
        if swarm.exemplars_follow and generation > 0:
            for i in range(particles):
                _follow_teachers(swarm, i)
        for i in range(particles):
            feasible = generation == 0 or _move(swarm, i, inertia)
            noise = fresh_noise(context, swarm.states, i)
            if feasible:
                _judge(context, swarm, i, noise)
                evaluations += 1
        if generation > 0 and generation % trace_every == 0:
            best = swarm.best_fitness[0]
            for i in range(1, particles):
                best = max(best, swarm.best_fitness[i])
            trace[generation // trace_every - 1] = best
    return evaluations
