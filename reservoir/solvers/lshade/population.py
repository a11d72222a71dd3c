"""State of one population of the compiled L-SHADE."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.base import Problem
from reservoir.solvers.lshade.settings import LshadeSettings
from reservoir.solvers.rng.stream import stream_states

Floats = NDArray[np.float32]


class Population(NamedTuple):
    """A population and room to work in; arrays of N members unless said otherwise, by rank, the best first."""

    order: NDArray[np.int64]  # (N + archive,), row of each member's position, then those of the archive
    position: Floats  # (N + archive, D)
    fitness: Floats
    child: Floats  # (N, D), by the parent's rank
    child_fitness: Floats
    improved: NDArray[np.uint8]  # 1 if the child is better than its parent
    gain: Floats  # by how much it is better
    scale: Floats  # factor that it was bred with
    rate: Floats
    remembered_scale: Floats  # (H,)
    remembered_shut: Floats  # (H,), part of Cauchy's distribution around the scale that lies below zero
    remembered_rate: Floats  # (H,), below zero where it stands for ever for zero
    states: NDArray[np.uint32]  # (N, 4), random streams
    given: Floats  # (given, D), positions that the first members begin with
    lower: Floats  # (D,)
    upper: Floats  # (D,)
    best_fraction: np.float32
    archive_fraction: np.float32
    exchange_interval: int  # 0 for never
    exchange_weight: Floats  # of the first variables, which may be exchanged; of none if the problem has no such
    unrolled: tuple[int, ...]  # D zeros: a length known when code is compiled, so that loops become vector instructions


def new_population(problem: Problem, settings: LshadeSettings, seed: int, given: Floats) -> Population:
    """Room for a problem's population, with its random streams, its memory and the positions it begins with."""
    dimension = problem.dimension
    members = settings.first_members(dimension)
    rows = members + settings.archive(dimension)
    position, child = (np.empty((each, dimension), np.float32) for each in (rows, members))
    fitness, child_fitness, gain, scale, rate = (np.empty(members, np.float32) for _ in range(5))
    weights = getattr(problem, "exchange_weights", np.empty(0, np.float32))
    shut = 0.5 - math.atan(5.0) / math.pi
    return Population(
        order=np.arange(rows),
        position=position,
        fitness=fitness,
        child=child,
        child_fitness=child_fitness,
        improved=np.empty(members, np.uint8),
        gain=gain,
        scale=scale,
        rate=rate,
        remembered_scale=np.full(settings.memory, 0.5, np.float32),
        remembered_shut=np.full(settings.memory, shut, np.float32),
        remembered_rate=np.full(settings.memory, 0.5, np.float32),
        states=stream_states(seed, problem.rng_stream_id, members),
        given=given,
        lower=problem.lower.astype(np.float32),
        upper=problem.upper.astype(np.float32),
        best_fraction=np.float32(settings.best_fraction),
        archive_fraction=np.float32(settings.archive_fraction),
        exchange_interval=settings.exchange_interval if len(weights) else 0,
        exchange_weight=weights,
        unrolled=(0,) * dimension,
    )
