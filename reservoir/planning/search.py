"""Search the schedules of problems: the solver's, the reference optima, and the best known of both.

The best known is the engine's, that of a second run with more work, or the reference's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, InputError
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.operation import Operation
from reservoir.hydro.record_rows import energy_terms
from reservoir.hydro.system import System
from reservoir.planning.columns import second_run
from reservoir.planning.firm_power import (
    FIRM_POWER_STAGE,
    FirmPower,
    Solve,
    again_within,
    firm_power_of,
    judged,
    no_worse_than,
    promised_within,
    promising_all,
)
from reservoir.planning.planned_record import Plan, Sources, operation_of
from reservoir.planning.solving import (
    DEVICE_REFERENCE,
    FIRST,
    HOST_REFERENCE,
    NO_REFERENCE,
    REFERENCE_SOLVERS,
    NotedStop,
    StageProgress,
    begun,
    beyond_limits,
    gap_limits,
    is_swept,
    silent_stage,
    stop_sentence,
    violates_more,
)
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.base import FloatArray
from reservoir.problems.reservoir.record import RecordProblems, cost_of_shortage
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers import Solutions, Stop, more_effort, solve, solver_named
from reservoir.solvers.solution import engine_results, joined

#: What the search for energy among equally good schedules is timed as.
ENERGY_STAGE = "most energy of equals"
#: How many times the work of the first run a second run makes for a problem; for a long horizon, about.
TIMES, SWEPT_TIMES = 4, 2
#: Added to the seed of a second run: 2**64 over the plastic number (the real root of x**3 = x + 1), made odd.
_SEED_STEP = 0xC13FA9A902A63001
#: Fitness that is lost by rounding, as a part of the largest.
_ROUNDING = 1e-9
#: Goals that say nothing of what is more than a target: schedules of any energy can be equally good.
_TARGETS = frozenset((Goal.POWER_SHORTAGE, Goal.SUPPLY_SHORTAGE))
_NONE = Solutions.of([])


@dataclass(frozen=True)
class Method:
    """How problems are searched.

    Parameters
    ----------
    solver : str
    seed : int
    device : str or None
        See `reservoir.opencl.choose_devices`.
    reference : bool
        Whether the reference optimum is wanted.
    engine_only : bool
        Whether every schedule is to be the solver's own.
    best : bool
        Whether the reference's schedule is taken wherever it is better, not only where the solver's is not accepted.
    options : mapping
        Settings of the solver.
    """

    solver: str
    seed: int
    device: str | None
    reference: bool
    engine_only: bool
    options: Mapping[str, Any]
    best: bool = False

    @property
    def solve(self) -> Callable[..., Solutions]:
        """Solves problems by the solver with its settings; a call may give others."""
        return partial(solve, solver=self.solver, seed=self.seed, device=self.device, **self.options)


def search(
    problems: RecordProblems,
    method: Method,
    progress: StageProgress,
    stop: NotedStop | None,
    watch: Stopwatch,
    searched: Plan | None = None,
) -> Plan:
    """Search the schedule of every problem, or of the first problems if a callback ends the search.

    Parameters
    ----------
    problems : RecordProblems
    method : Method
    progress : callable
        Told each stage, how many problems are done and how many there are.
    stop : NotedStop, optional
        May end the search.
    watch : Stopwatch
        Times the stages.
    searched : Plan, optional
        As of `reservoir.optimise`.

    Returns
    -------
    Plan
        With the notes and the seconds of the search alone.
    """
    solver, notes, reservoir = method.solver, tuple[str, ...](), problems.model.reservoir
    objective, firm, is_reference = problems.model.system.objective, None, solver in REFERENCE_SOLVERS
    if objective.is_firm:
        with watch(FIRM_POWER_STAGE):
            firm = firm_power_of(problems, _solver_of_shortages(problems, method), progress)
            problems = promising_all(problems, firm.power_mw)
    within = promised_within(problems, firm.positions) if firm else problems
    open_ = objective.firm_power_mw is None and set(objective.weights) <= _TARGETS
    if searched is not None and not (firm or open_):  # else what it holds is more than the solver's
        solutions = searched.solutions
    else:
        with watch(solver):
            solutions = method.solve(within.each, progress=begun(progress, solver, len(problems)), stop=stop)
    stopped = stop_sentence(solver, len(solutions), len(problems), stop)
    if stopped:
        problems, within = (each.span(0, len(solutions)) for each in (problems, within))
    if firm:
        solutions = judged(problems.each, solutions)
    if is_reference:
        solutions = _giving_power(problems, solutions, firm, method)
    if open_ and solutions and not stopped:
        with watch(ENERGY_STAGE):
            options = {FIRST: None} if FIRST in method.options else {}
            solutions = with_most_energy(problems, solutions, lambda batch: method.solve(batch, **options))
    references = solutions if is_reference else _NONE
    wanted = method.reference and not references and not stopped
    if wanted and problems.ramps:
        notes = ("There is no reference optimum: dynamic programming cannot limit the change of the release.",)
    elif wanted:
        references = references_of(within.each, solver, method.device, progress, stop, watch)
        stopped = stop_sentence(references.solver, len(references), len(problems), stop, NO_REFERENCE)
        references = _NONE if stopped else references
        if references:
            references = judged(problems.each, references) if firm else references
            references = _giving_power(problems, references, firm, method)
        if references and open_:
            with watch(ENERGY_STAGE):
                references = with_most_energy(problems, references, _solver_of_shortages(problems, method))
    sources = None
    if references and not is_reference and not method.engine_only:
        of_firm = within if firm else None
        solutions, sources, ending = best_known(problems, solutions, references, method, progress, stop, watch, of_firm)
        ended = bool(stop and stop.ended)
        stopped, notes = (ending, notes) if ended else ("", (*notes, ending) if ending else notes)
        if method.best:
            solutions, sources = better_references(solutions, references, sources)
    with watch("certify"):
        operation = operation_of(problems, solutions)
    schedules = problems, operation, solutions, references
    bounds = firm.bounds.first(len(problems)) if firm else None
    return Plan(
        *(reservoir, problems.inflow, *schedules, notes, watch.seconds, stopped), sources=sources, firm_bounds=bounds
    )


def _giving_power(problems: RecordProblems, solutions: Solutions, firm: FirmPower | None, method: Method) -> Solutions:
    """What dynamic programming found, no worse than schedules that give the firm power, or searched again."""
    if not solutions:
        return solutions
    if firm:
        return no_worse_than(problems.each, solutions, firm.positions[: len(solutions)])
    return again_within(problems, solutions, _solver_of_shortages(problems, method))


def _solver_of_shortages(problems: RecordProblems, method: Method) -> Solve:
    """Dynamic programming; where it cannot limit the change of the release, the solver of the plan."""
    if problems.ramps:
        return method.solve
    return lambda batch: references_of(batch, method.solver, method.device, silent_stage, None, Stopwatch())


def references_of(
    problems: Sequence[ReservoirYears],
    solver: str,
    device: str | None,
    progress: StageProgress,
    stop: Stop | None,
    watch: Stopwatch,
    **grids: int,
) -> Solutions:
    """Dynamic programming on the device that solves the plan, if one does and can; else on the host.

    Grids are settings that both have (`reservoir.solvers.dp.GridSettings`).
    """
    call: dict[str, Any] = {"seed": 0, "stop": stop, **grids}
    if solver_named(solver).opencl:
        with suppress(DeviceError), watch(DEVICE_REFERENCE):
            on_progress = begun(progress, DEVICE_REFERENCE, len(problems))
            return solve(problems, solver=DEVICE_REFERENCE, device=device, progress=on_progress, **call)
    with watch(HOST_REFERENCE):
        on_progress = begun(progress, HOST_REFERENCE, len(problems))
        return solve(problems, solver=HOST_REFERENCE, device=None, progress=on_progress, **call)


def best_known(
    problems: RecordProblems,
    first: Solutions,
    references: Solutions,
    method: Method,
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
    method : Method
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
    ending : str
        Where the callback ended the second run, or why it failed, in words; empty if it did neither.
    """
    solver = method.solver
    limits = gap_limits(solver, problems)
    places = np.flatnonzero(beyond_limits(first, references, limits, problems.least_gap_scale))
    if not places.size:
        return first, None, ""
    stage, swept = second_run(solver), is_swept(solver, problems)
    more = more_effort(solver, method.options, SWEPT_TIMES if swept else TIMES, swept=swept)
    if more.get(FIRST) is not None:
        more[FIRST] = [more[FIRST][place] for place in places]
    again = replace(method, seed=(method.seed + _SEED_STEP) % 2**64, options=more)
    second, ending = _NONE, ""
    try:
        with watch(stage):
            on_progress = begun(progress, stage, len(places))
            second = again.solve((within or problems).some(places), progress=on_progress, stop=stop)
            second = judged(problems.some(places), second) if within else second
        ending = stop_sentence(
            stage, len(second), len(places), stop, f"the others have schedules of {references.solver}"
        )
    except InputError as error:  # no mistake of the caller: a device without room for so much work, for example
        problem = error.mistakes[0].problem
        ending = f"The second run of {solver} failed ({problem}): the schedules of {references.solver} were taken."
    engine, from_second = first, places[:0]
    if second:
        engine, from_second = _better(first, second, references, places[: len(second)], limits[0])
    beyond = np.flatnonzero(beyond_limits(engine, references, limits, problems.least_gap_scale))
    of_problem = np.full(len(problems), solver, object)
    of_problem[from_second], of_problem[beyond] = stage, references.solver
    second_settings = second.settings[0] if second else {}
    sources = Sources(tuple(of_problem), engine, first.settings[0], second_settings)
    return _with_references(engine, references, beyond), sources, ending


def better_references(
    solutions: Solutions, references: Solutions, sources: Sources | None
) -> tuple[Solutions, Sources | None]:
    """Solutions, with the references' in their place where these are better by any amount; and where each is from."""
    no_more, less = references.violation <= solutions.violation, references.violation < solutions.violation
    places = np.flatnonzero(less | (no_more & (references.fitness > solutions.fitness)))
    if not places.size:
        return solutions, sources
    sources = sources or Sources((solutions.solver,) * len(solutions), solutions, solutions.settings[0], {})
    of_problem = np.array(sources.of_problem, object)
    of_problem[places] = references.solver
    return _with_references(solutions, references, places), replace(sources, of_problem=tuple(of_problem.tolist()))


def _with_references(solutions: Solutions, references: Solutions, places: NDArray[np.intp]) -> Solutions:
    """Solutions with the references' schedules at some places; the work stays that of the solver."""
    work = {name: getattr(solutions, name) for name in ("generations", "evaluations")}
    return replace(solutions.replaced(places, references[places]), **work)


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
    best = first.replaced(taken, second[np.searchsorted(places, taken)])
    return replace(best, generations=generations, evaluations=evaluations), taken


def with_most_energy(
    problems: RecordProblems, solutions: Solutions, solve: Callable[[ReservoirYears], Solutions]
) -> Solutions:
    """Solutions, with others in their place that have more energy, and fall no shorter of the targets.

    The objective leaves energy open; `solve` solves problems for energy.
    """
    for places, batch in problems.placed_batches:
        before = batch.operate(np.stack([solutions.position[place] for place in places.tolist()]))
        others = judged(batch, solve(_for_energy(batch, before)))
        after = batch.operate(np.array(others.position))
        fitness = solutions.fitness[places]
        least = fitness - _ROUNDING * np.maximum(np.abs(fitness), problems.least_gap_scale)
        equal = (others.fitness >= least) & (others.violation <= solutions.violation[places])
        taken: NDArray[np.intp] = np.flatnonzero(equal & (after.annual_energy_gwh > before.annual_energy_gwh))
        if taken.size:
            solutions = solutions.replaced(places[taken], others[taken])
    return solutions


def _for_energy(batch: ReservoirYears, given: Operation) -> ReservoirYears:
    """The problems for energy, with what an operation gives of the targets."""
    reservoir, limits, energy = batch.model.reservoir, batch.limits, Objective()
    penalty = energy.largest_per_year(reservoir.installed_mw, reservoir.step.per_year)
    model = replace(batch.model, system=System.of(replace(reservoir, objective=energy, penalty=penalty)))
    supply = np.where(limits.supply_cost_squared > 0, np.minimum(limits.supply_target, given.release_m3s), 0.0)
    power = np.where(limits.power_cost_squared > 0, np.minimum(limits.power_target, given.power_mw), 0.0)
    least = np.clip(supply, limits.release_lower_m3s, limits.release_upper_m3s)
    terms: dict[str, FloatArray] = {}
    if power.any():
        terms = energy_terms(limits.hm3_per_m3s, power, cost_of_shortage(power, penalty, limits.steps))
    return replace(batch, model=model, limits=limits.changed(release_lower=least).with_terms(terms))


def stated_solutions(
    positions: Sequence[FloatArray] | FloatArray, settings: Mapping[str, Any], **stated: Any
) -> Solutions:
    """Solutions without traces, of settings that all share.

    Stated are fitness, benefit, violation, generations and evaluations of each; solver, device, seconds and operation.
    """
    rows = positions if isinstance(positions, np.ndarray) else joined([each[np.newaxis] for each in positions])
    columns: dict[str, Any] = {**engine_results(position=rows, of_all={"settings": settings}), **stated}
    return Solutions(**columns)
