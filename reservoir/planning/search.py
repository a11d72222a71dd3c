"""Search the schedules of problems: the solver's, the reference optima, and the best known of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from reservoir.hydro.objective import Operation
from reservoir.planning.best_known import (
    Sources,
    best_known,
    better_references,
    leaves_energy_open,
    operation_of,
    with_most_energy,
)
from reservoir.planning.firm_power import (
    FIRM_POWER_STAGE,
    FirmBounds,
    FirmPower,
    Solve,
    again_within,
    firm_power_of,
    judged,
    no_worse_than,
    promised_within,
    promising_all,
)
from reservoir.planning.simulation import FIRST
from reservoir.planning.solving import (
    NO_REFERENCE,
    REFERENCE_SOLVERS,
    NotedStop,
    StageProgress,
    leading_problems,
    references_of,
    silent_stage,
    solved,
    stop_sentence,
)
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions

#: What the search for energy among equally good schedules is timed as.
ENERGY_STAGE = "most energy of equals"


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


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found: of each problem, or of the first problems after a callback ended it.

    Parameters
    ----------
    problems : RecordProblems
    operation : Operation
        Of every year.
    solutions, references, sources
        As in `Plan`.
    notes : tuple of str
    stopped : str
        As in `Plan`.
    firm_bounds : FirmBounds, optional
        As in `Plan`.
    """

    problems: RecordProblems
    operation: Operation
    solutions: Solutions
    references: Solutions
    sources: Sources | None
    notes: tuple[str, ...] = ()
    stopped: str = ""
    firm_bounds: FirmBounds | None = None


def search(
    problems: RecordProblems, method: Method, progress: StageProgress, stop: NotedStop | None, watch: Stopwatch
) -> Found:
    """Search the schedule of every problem.

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
    """
    solver, device, options, notes = method.solver, method.device, dict(method.options), tuple[str, ...]()
    firm: FirmPower | None = None
    if problems.model.system.objective.is_firm:
        with watch(FIRM_POWER_STAGE):
            firm = firm_power_of(problems, _solver_of_shortages(problems, method), progress)
            problems = promising_all(problems, firm.power_mw)
    within = promised_within(problems, firm.positions) if firm else problems
    with watch(solver):
        solutions = solved(within.each, solver, method.seed, device, progress, options | {"stop": stop})
    stopped = stop_sentence(solver, len(solutions), len(problems), stop)
    if stopped:
        problems, within = (leading_problems(each, len(solutions)) for each in (problems, within))
    if firm:
        solutions = judged(problems.each, solutions)
    if solver in REFERENCE_SOLVERS:
        solutions = _giving_power(problems, solutions, firm, method)
    open_ = leaves_energy_open(problems.model.system.objective)
    if open_ and solutions and not stopped:
        with watch(ENERGY_STAGE):
            settings = {name: value for name, value in method.options.items() if name != FIRST}
            again = partial(solved, solver=solver, seed=method.seed, device=device, progress=silent_stage)
            solutions = with_most_energy(problems, solutions, partial(again, options=settings))
    references = solutions if solver in REFERENCE_SOLVERS else Solutions.of([])
    wanted = method.reference and not references and not stopped
    if wanted and problems.ramps:
        notes = ("There is no reference optimum: dynamic programming cannot limit the change of the release.",)
    elif wanted:
        references = references_of(within.each, solver, device, progress, stop, watch)
        stopped = stop_sentence(references.solver, len(references), len(problems), stop, NO_REFERENCE)
        references = Solutions.of([]) if stopped else references
        if references:
            references = judged(problems.each, references) if firm else references
            references = _giving_power(problems, references, firm, method)
        if references and open_:
            with watch(ENERGY_STAGE):
                references = with_most_energy(problems, references, _solver_of_shortages(problems, method))
    sources = None
    if references and solver not in REFERENCE_SOLVERS and not method.engine_only:
        call: dict[str, Any] = {"solver": solver, "seed": method.seed, "device": device, "options": options}
        call |= {"progress": progress, "stop": stop, "watch": watch}
        solutions, sources, told = best_known(problems, solutions, references, within=within if firm else None, **call)
        ended = bool(stop and stop.ended)
        stopped, notes = (told, notes) if ended else ("", (*notes, told) if told else notes)
        if method.best:
            solutions, sources = better_references(solutions, references, sources)
    with watch("certify"):
        operation = operation_of(problems, solutions)
    bounds = firm.bounds.first(len(problems)) if firm else None
    return Found(problems, operation, solutions, references, sources, notes, stopped, bounds)


def _giving_power(problems: RecordProblems, found: Solutions, firm: FirmPower | None, method: Method) -> Solutions:
    """What dynamic programming found, no worse than schedules that give the firm power, or searched again."""
    if not found:
        return found
    if firm:
        return no_worse_than(problems.each, found, firm.positions[: len(found)])
    return again_within(problems, found, _solver_of_shortages(problems, method))


def _solver_of_shortages(problems: RecordProblems, method: Method) -> Solve:
    """Dynamic programming; where it cannot limit the change of the release, the solver of the plan."""
    solver, device = method.solver, method.device
    if problems.ramps:
        return lambda batch: solved(batch, solver, method.seed, device, silent_stage, method.options)
    return lambda batch: references_of(batch, solver, device, silent_stage, None, Stopwatch())
