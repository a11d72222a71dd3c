"""Of schedules that fall equally short of targets, the one with the most energy.

A target that can be met is met by many schedules, and those with no energy are no worse for it: what empties the lake
past dry turbines is as good as what fills it. Each problem is therefore solved once more for energy, with what the
first schedule gives of the target of each step as the least that it must give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.record_terms import energy_terms
from reservoir.planning.firm_schedules import judged
from reservoir.problems.reservoir.promised_power import cost_of_shortage
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions

#: Fitness that is lost by rounding, as a part of the largest.
_ROUNDING = 1e-9
#: Goals that say nothing of what is more than a target.
_TARGETS = frozenset((Goal.POWER_SHORTAGE, Goal.SUPPLY_SHORTAGE))


def leaves_energy_open(objective: Objective) -> bool:
    """Whether schedules of any energy can be equally good."""
    return objective.firm_power_mw is None and set(objective.weights) <= _TARGETS


def with_most_energy(
    problems: RecordProblems, solutions: Solutions, solve: Callable[[ReservoirYears], Solutions]
) -> Solutions:
    """Solutions, with others in their place that have more energy, and fall no shorter of the targets.

    Parameters
    ----------
    problems : RecordProblems
        Whose objective leaves energy open.
    solutions : Solutions
    solve : callable
        Solves problems whose objective is energy.
    """
    first = 0
    for batch in problems.batches:
        places = np.arange(first, first + len(batch))
        first += len(batch)
        before = batch.operate(np.stack([solutions.position[place] for place in places.tolist()]))
        others = judged(batch, solve(_for_energy(batch, before)))
        after = batch.operate(np.array(others.position))
        least = solutions.fitness[places] - _ROUNDING * np.maximum(
            np.abs(solutions.fitness[places]), problems.least_gap_scale
        )
        equal = (others.fitness >= least) & (others.violation <= solutions.violation[places])
        taken: NDArray[np.intp] = np.flatnonzero(equal & (after.annual_energy_gwh > before.annual_energy_gwh))
        if taken.size:
            solutions = solutions.replaced(places[taken], others.some(taken))
    return solutions


def _for_energy(batch: ReservoirYears, given: Operation) -> ReservoirYears:
    """The problems for energy, with what an operation gives of the targets."""
    reservoir, limits, energy = batch.model.reservoir, batch.limits, Objective()
    penalty = energy.largest_per_year(reservoir.installed_mw, reservoir.step.per_year)
    model = replace(batch.model, reservoir=replace(reservoir, objective=energy, penalty=penalty))
    assert limits.terms is not None  # a target is one
    of_steps = limits.terms.of_steps
    supply = np.where(of_steps.supply_cost_squared > 0, np.minimum(of_steps.supply_target, given.release_m3s), 0.0)
    power = np.where(of_steps.power_cost_squared > 0, np.minimum(of_steps.power_target, given.power_mw), 0.0)
    least = np.clip(supply, limits.release_lower_m3s, limits.release_upper_m3s)
    terms = None
    if power.any():
        terms = energy_terms(limits.hm3_per_m3s, power, cost_of_shortage(power, penalty, limits.steps))
    return replace(batch, model=model, limits=replace(limits, release_lower_m3s=least, terms=terms))
