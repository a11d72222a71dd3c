"""Exchanges of water behind a search of a population: which problems they serve, and what they make of its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.horizon import MOST_STEPS_OF_YEAR
from reservoir.problems.base import Problem, as_batch
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers.exchanges.polish import QUICK, polished


class SearchEnd(NamedTuple):
    """What a search ends with, an axis of problems in front.

    Parameters
    ----------
    position : ndarray of float, shape (problems, dimension)
    trace_fitness : ndarray, shape (problems, points)
        Best fitness after the generations of a trace, as the search judged it.
    fitness : ndarray, shape (problems,)
        Of the positions, as the search judged it.
    """

    position: NDArray[np.floating]
    trace_fitness: NDArray[np.floating]
    fitness: NDArray[np.floating]


def can_be_polished(problem: Problem) -> bool:
    """Whether a problem is a year of a reservoir whose water can be exchanged: its steps are few and not coupled."""
    if not isinstance(problem, ReservoirYear) or problem.limits.steps > MOST_STEPS_OF_YEAR:
        return False
    conditions = problem.limits.conditions
    return conditions is None or not conditions.ramps


def polish_end(problems: Sequence[Problem], end: SearchEnd, threads: int) -> SearchEnd:
    """Exchange water of years of one program; the trace has one more generation, which gains what they do."""
    found = polished(as_batch(problems), end.position.astype(np.float64), threads, QUICK)
    fitness = end.fitness + found.gains_gwh
    return SearchEnd(found.positions, np.column_stack([end.trace_fitness, fitness]), fitness)
