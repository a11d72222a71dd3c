"""Schedules of dynamic programming that are to give a firm power, improved from schedules that do."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.planning.given_power import firm_power_of_problems
from reservoir.problems.base import certify_all
from reservoir.problems.reservoir.promised_power import SLACK
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.processors import processors
from reservoir.solvers import Solutions
from reservoir.solvers.dp.sequential import trajectory_near
from reservoir.solvers.dp.settings import GridSettings

FloatArray = NDArray[np.float64]

#: Spacing of grids around a schedule that gives the power, as a part of the largest storage.
_NEARBY = 0.01


def closer_to(problems: RecordProblems, solutions: Solutions, positions: Sequence[FloatArray]) -> Solutions:
    """Solutions of dynamic programming, improved from schedules that give the power promised.

    What gives it is a narrow tube of storages, which grids over all of them may miss: the search goes on around a
    schedule within, where its own gives less.
    """
    promised = [batch.limits.terms.of_steps.power_target[:, 0] for batch in problems.batches if batch.limits.terms]
    given = firm_power_of_problems(problems, problems.operate(solutions.position))
    places = np.flatnonzero(given < np.concatenate(promised) * (1 - SLACK))
    return closer_at(places, problems.some(places), solutions, [positions[place] for place in places.tolist()])


def closer_at(
    places: NDArray[np.intp],
    problems: Sequence[ReservoirYear],
    solutions: Solutions,
    positions: Sequence[FloatArray],
) -> Solutions:
    """Solutions of which those at some places, of these problems, are improved from these positions.

    Parameters
    ----------
    places : ndarray of int
    problems, positions : sequence
        Of each place.
    solutions : Solutions
        Of all problems.
    """

    def nearby(number: int) -> FloatArray:
        year = problems[number]
        operation = year.operate(positions[number])
        grids = GridSettings().grids(year.limits.steps)
        spacing = _NEARBY * float(year.limits.capacity_hm3)
        return trajectory_near(year, grids, operation.storage_hm3, spacing).position

    with ThreadPoolExecutor(processors()) as pool:
        found = list(pool.map(nearby, range(len(places))))
    certified = certify_all(problems, found) if found else None
    if certified is None:
        return solutions
    better = certified.fitness > solutions.fitness[places]
    kept = solutions.some(places[better])
    names = ("fitness", "benefit", "violation")
    worth = {name: getattr(certified, name)[better] for name in names}
    new = replace(kept, position=[found[place] for place in np.flatnonzero(better)], **worth)
    return solutions.replaced(places[better], new)
