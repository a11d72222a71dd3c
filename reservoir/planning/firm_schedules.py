"""Schedules that are to give a power: they are in a narrow tube of storages, which grids over all storages may miss.

Problems are therefore searched within the storages of schedules that give it: those for firm power at once, others with
a promised or a lowest power again where the first search misses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.certificate.kept_power import storages_keeping
from reservoir.hydro.record_terms import energy_terms
from reservoir.planning.given_power import firm_power_mw
from reservoir.problems.base import certify_all
from reservoir.problems.reservoir.promised_power import cost_of_shortage, promised_in
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYear, ReservoirYears
from reservoir.processors import processors
from reservoir.solvers import Solutions

FloatArray = NDArray[np.float64]

#: Storages are those of a power that is larger by this part: room for rounding.
_MORE = 1e-7


def promised_within(problems: RecordProblems, positions: Sequence[FloatArray]) -> RecordProblems:
    """The problems within the storages of schedules that give the power that they promise, as positions of each do."""
    parts = zip(problems.batches, problems.split(positions), strict=True)
    return replace(problems, batches=tuple(keeping_promise(*each) for each in parts))


def keeping_promise(batch: ReservoirYears, positions: FloatArray | None = None) -> ReservoirYears:
    """Problems within the storages of schedules that give the power that they promise.

    Positions give it; where a share of the steps may fail, those that fail in them are those that may.
    """
    terms = batch.limits.terms
    assert terms is not None  # a promise is one
    target = terms.of_steps.power_target
    fails = np.zeros(target.shape, np.bool_) if positions is None else batch.operate(positions).power_mw < target
    within = within_power(batch, target[:, 0], fails)
    return replace(within, limits=replace(within.limits, terms=promised_in(terms, ~fails)))


def within_power(batch: ReservoirYears, power_mw: FloatArray, fails: NDArray[np.bool_] | None = None) -> ReservoirYears:
    """Problems within the storages of schedules that give a power, shape (problems,), in all steps but those that fail.

    Where no schedule gives it, as they are.
    """
    limits, none = batch.limits, np.zeros(batch.limits.steps, np.bool_)

    def tube(place: int) -> tuple[FloatArray, FloatArray] | None:
        each = none if fails is None else fails[place]
        return storages_keeping(batch[place], float(power_mw[place]) * (1 + _MORE), each)

    with ThreadPoolExecutor(processors()) as pool:
        tubes = list(pool.map(tube, range(len(batch))))
    lower, upper, starts = (
        np.array(each) for each in (limits.storage_lower_hm3, limits.storage_upper_hm3, limits.start_bounds_hm3)
    )
    for place, found in enumerate(tubes):
        if found is not None:
            lowest, highest = found
            lower[place], upper[place] = np.maximum(lower[place], lowest[1:]), np.minimum(upper[place], highest[1:])
            upper[place] = np.maximum(lower[place], upper[place])
            if limits.cyclic:
                starts[place] = np.clip(starts[place], lowest[0], highest[0])
    within = replace(limits, storage_lower_hm3=lower, storage_upper_hm3=upper, start_bounds_hm3=starts)
    return replace(batch, limits=within)


def judged(problems: Sequence[ReservoirYear], solutions: Solutions) -> Solutions:
    """Solutions of problems as they were searched, or of the first of them, as solutions of the problems themselves."""
    if not solutions:
        return solutions
    problems = problems[: len(solutions)]
    found = certify_all(problems, solutions.position)
    worth: dict[str, Any] = {"fitness": found.fitness, "benefit": found.benefit, "violation": found.violation}
    return replace(solutions, **worth, operation=found.operation)


def no_worse_than(
    problems: Sequence[ReservoirYear], solutions: Solutions, positions: Sequence[FloatArray]
) -> Solutions:
    """Solutions, with these positions where they are worth more."""
    return better_of(np.arange(len(problems)), problems, solutions, replace(solutions, position=positions))


def again_within(
    problems: RecordProblems, solutions: Solutions, solve: Callable[[ReservoirYears], Solutions]
) -> Solutions:
    """Solutions of which those that miss a power which they must give are searched again where it is given."""
    objective, first = problems.model.reservoir.objective, 0
    for batch in problems.batches:
        places = np.arange(first, first + len(batch))
        first += len(batch)
        conditions, terms = batch.limits.conditions, batch.limits.terms
        promises = objective.firm_power_mw is not None and objective.firm_share == 1 and terms is not None
        if not promises and (conditions is None or not np.any(conditions.power_lower_mw > 0)):
            continue
        operation = batch.operate(np.stack([solutions.position[place] for place in places.tolist()]))
        missed = operation.violation_sum > 0
        if promises and terms is not None:
            missed |= firm_power_mw(operation.power_mw, 1.0) < terms.of_steps.power_target[:, 0]
        if missed.any():
            some = batch[np.flatnonzero(missed)]
            within = keeping_promise(some) if promises else _keeping_lowest(some)
            solutions = better_of(places[missed], some, solutions, solve(within))
    return solutions


def _keeping_lowest(batch: ReservoirYears) -> ReservoirYears:
    """Problems within the storages of schedules that give the lowest power, which no energy is worth missing."""
    within, conditions = within_power(batch, np.zeros(len(batch))), batch.limits.conditions
    if conditions is None or batch.limits.terms is not None:
        return within
    lowest = np.asarray(conditions.power_lower_mw, np.float64)
    terms = energy_terms(batch.limits.hm3_per_m3s, lowest, cost_of_shortage(lowest, batch.penalty, batch.limits.steps))
    return replace(within, limits=replace(within.limits, terms=terms))


def better_of(
    places: NDArray[np.intp], problems: Sequence[ReservoirYear], solutions: Solutions, others: Solutions
) -> Solutions:
    """Solutions, with others of some problems where those alone keep the limits, or are worth more."""
    others, before = judged(problems, others), solutions.some(places)
    better = (others.violation < before.violation) & (others.violation == 0)
    better |= (others.violation <= before.violation) & (others.fitness > before.fitness)
    return solutions.replaced(places[better], others.some(np.flatnonzero(better))) if better.any() else solutions
