"""The best schedule that a run knows of each problem: the engine's, that of a second run, or the reference's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.objective import Operation
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.record_terms import energy_terms
from reservoir.planning.columns import second_run
from reservoir.planning.firm_power import judged
from reservoir.planning.simulation import FIRST
from reservoir.planning.solving import (
    NotedStop,
    StageProgress,
    beyond_limits,
    gap_limits,
    is_swept,
    solved,
    stop_sentence,
    violates_more,
)
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.base import CertifiedBatch, FloatArray
from reservoir.problems.reservoir.promised_power import cost_of_shortage
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions, more_effort
from reservoir.solvers.solution import repeated

_NONE = Solutions.of([])
#: How many times the work of the first run a second run makes for a problem; for a long horizon, about.
TIMES, SWEPT_TIMES = 4, 2
#: Added to the seed of a second run: 2**64 over the plastic number (the real root of x**3 = x + 1), made odd.
_SEED_STEP = 0xC13FA9A902A63001


@dataclass(frozen=True, eq=False)
class Sources:
    """Where the schedules of a plan come from.

    Parameters
    ----------
    of_problem : tuple of str
        The source of each problem: the solver, its `second_run`, or the solver of the reference.
    engine : Solutions
        The best that the solver found for each problem, in the second run or in the first.
    settings, second_settings : mapping
        Of the first run and of the second.
    """

    of_problem: tuple[str, ...]
    engine: Solutions
    settings: Mapping[str, Any]
    second_settings: Mapping[str, Any]


def best_known(
    problems: RecordProblems,
    first: Solutions,
    references: Solutions,
    *,
    solver: str,
    seed: int,
    device: str | None,
    options: Mapping[str, Any],
    progress: StageProgress,
    stop: NotedStop | None,
    watch: Stopwatch,
    within: RecordProblems | None = None,
) -> tuple[Solutions, Sources | None, str]:
    """Solve problems again that are not close enough to their reference, and take its schedule where that fails.

    The second run is one call with `TIMES` the work and another seed; nothing of the reference enters it. Of both runs
    the better schedule is kept.

    Parameters
    ----------
    problems : RecordProblems
    first, references : Solutions
        Of each problem: the solver's, and the reference optima.
    solver, seed, device, options
        Of the first run.
    progress : callable
        Told the second run as a stage.
    stop : NotedStop, optional
        May end the second run; what it did not solve has the reference's schedule.
    watch : Stopwatch
        Times the second run.
    within : RecordProblems, optional
        The problems as they are searched, if that is another way (`promised_within`).

    Returns
    -------
    solutions : Solutions
        The best known; what is not of a problem is that of `first`. Generations and evaluations are of both runs.
    sources : Sources or None
        None if all of `first` is close enough: then it is returned.
    told : str
        Where the callback ended the second run, or why it failed, in words; empty if it did neither.
    """
    limits = gap_limits(solver, problems)
    places = np.flatnonzero(beyond_limits(first, references, limits, problems.least_gap_scale))
    if not places.size:
        return first, None, ""
    stage, swept = second_run(solver), is_swept(solver, problems)
    more = more_effort(solver, options, SWEPT_TIMES if swept else TIMES, swept=swept)
    if more.get(FIRST) is not None:
        more[FIRST] = [more[FIRST][place] for place in places]
    again = (within or problems).some(places)
    other_seed = (seed + _SEED_STEP) % 2**64
    second, told = _NONE, ""
    try:
        with watch(stage):
            found = solved(again, solver, other_seed, device, progress, more | {"stop": stop}, stage=stage)
            second = judged(problems.some(places), found) if within else found
        told = stop_sentence(stage, len(second), len(places), stop, f"the others have schedules of {references.solver}")
    except InputError as error:  # no mistake of the caller: a device without room for so much work, for example
        problem = error.mistakes[0].problem
        told = f"The second run of {solver} failed ({problem}): the schedules of {references.solver} were taken."
    engine, from_second = first, places[:0]
    if second:
        engine, from_second = _better(first, second, references, places[: len(second)], limits[0])
    beyond = np.flatnonzero(beyond_limits(engine, references, limits, problems.least_gap_scale))
    of_problem = np.full(len(problems), solver, object)
    of_problem[from_second], of_problem[beyond] = stage, references.solver
    held = engine.replaced(beyond, references.some(beyond))
    held = replace(held, generations=engine.generations, evaluations=engine.evaluations)
    second_settings = second.settings[0] if second else {}
    return held, Sources(tuple(of_problem), engine, first.settings[0], second_settings), told


def better_references(
    held: Solutions, references: Solutions, sources: Sources | None
) -> tuple[Solutions, Sources | None]:
    """Solutions, with the references' in their place where these are better by any amount; and where each is from."""
    no_more = references.violation <= held.violation
    places = np.flatnonzero((references.violation < held.violation) | (no_more & (references.fitness > held.fitness)))
    if not places.size:
        return held, sources
    sources = sources or Sources((held.solver,) * len(held), held, held.settings[0], {})
    of_problem = np.array(sources.of_problem, object)
    of_problem[places] = references.solver
    better = held.replaced(places, references.some(places))
    better = replace(better, generations=held.generations, evaluations=held.evaluations)
    return better, replace(sources, of_problem=tuple(of_problem.tolist()))


def _better(
    first: Solutions, second: Solutions, references: Solutions, places: NDArray[np.intp], limit: float
) -> tuple[Solutions, NDArray[np.intp]]:
    """The better of both runs, of which the second solved some `places`; and the places where that is the second's.

    A schedule that does not violate more than its reference is better than one that does; else the higher fitness is.
    """
    both = first.replaced(places, second)
    outside, outside_again = (violates_more(each, references, limit) for each in (first, both))
    fitter = np.nan_to_num(both.fitness, nan=-np.inf) > np.nan_to_num(first.fitness, nan=-np.inf)
    better = (outside & ~outside_again) | ((outside == outside_again) & fitter)
    taken = np.flatnonzero(better)
    generations, evaluations = first.generations.copy(), first.evaluations.copy()
    generations[places] += second.generations
    evaluations[places] += second.evaluations
    best = first.replaced(taken, second.some(np.searchsorted(places, taken)))
    return replace(best, generations=generations, evaluations=evaluations), taken


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


def operation_of(problems: RecordProblems, solutions: Solutions) -> Operation:
    """What solutions come to in float64, a row for each year of the record."""
    if solutions.operation is None:
        return problems.operate(solutions.position)
    operation: Operation = solutions.operation
    return operation.in_years(problems.inflow.steps)


def relative_gap(solutions: Solutions, references: Solutions, least_scale: float = 0.0) -> FloatArray:
    """Part by which each solution's fitness falls short of its reference, shape (problems,).

    `least_scale` is `RecordProblems.least_gap_scale`.
    """
    found, best = solutions.fitness, references.fitness
    scale = np.where(best == 0, least_scale or 1.0, np.maximum(np.abs(best), least_scale))
    return np.asarray((best - found) / scale)


def reference_of_years(problems: RecordProblems, references: Solutions) -> tuple[FloatArray, FloatArray]:
    """Benefit and violation of the reference in each year; not a number, and zero, without one."""
    years = problems.inflow.years
    if not references:
        return np.full(years, np.nan), np.zeros(years)
    if problems.horizon.is_year:
        return references.benefit, references.violation
    operation = operation_of(problems, references)
    return operation.benefit, operation.violation_sum


def stated_solutions(
    positions: Sequence[FloatArray] | FloatArray, worth: CertifiedBatch, settings: Mapping[str, Any], **stated: Any
) -> Solutions:
    """Solutions without traces.

    Parameters
    ----------
    positions : sequence of ndarray
    worth : CertifiedBatch
        Of these positions.
    settings : mapping
        Of all.
    **stated
        Generations and evaluations of each; solver, device and seconds.
    """
    count = len(positions)
    return Solutions(
        position=positions,
        fitness=worth.fitness,
        benefit=worth.benefit,
        violation=worth.violation,
        settings=repeated(settings, count),
        trace_generations=np.empty((count, 0), np.int64),
        trace_fitness=np.empty((count, 0)),
        fitness_float32=np.full(count, np.nan),
        best_position_history=np.empty((count, 0, 0)),
        linkage=np.empty((count, 0, 0)),
        operation=worth.operation,
        **{"host_seconds_by_phase": {}, **stated},
    )
