"""Search the schedules of problems: the solver's, the reference optima, and the best known of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reservoir.hydro.objective import Operation
from reservoir.planning.best_known import Sources, best_known
from reservoir.planning.firm_power import FIRM_POWER_STAGE, FirmPower, Solve, firm_power_of, promising_all
from reservoir.planning.firm_schedules import closer_to
from reservoir.planning.solution_numbers import operation_of
from reservoir.planning.solver_choice import REFERENCE_SOLVERS
from reservoir.planning.stages import StageProgress, references_of, silent_stage, solved
from reservoir.planning.stopping import NO_REFERENCE, NotedStop, leading_problems, stop_sentence
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions


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
    options : mapping
        Settings of the solver.
    """

    solver: str
    seed: int
    device: str | None
    reference: bool
    engine_only: bool
    options: Mapping[str, Any]


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
    """

    problems: RecordProblems
    operation: Operation
    solutions: Solutions
    references: Solutions
    sources: Sources | None
    notes: tuple[str, ...] = ()
    stopped: str = ""


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
    if problems.model.reservoir.objective.is_firm:
        with watch(FIRM_POWER_STAGE):
            firm = firm_power_of(problems, _solver_of_shortages(problems, method), progress)
            problems = promising_all(problems, firm.power_mw)
    with watch(solver):
        solutions = solved(problems.each, solver, method.seed, device, progress, options | {"stop": stop})
    stopped = stop_sentence(solver, len(solutions), len(problems), stop)
    problems = leading_problems(problems, len(solutions)) if stopped else problems
    if firm and solver in REFERENCE_SOLVERS:
        solutions = closer_to(problems, solutions, firm.positions)
    references = solutions if solver in REFERENCE_SOLVERS else Solutions.of([])
    wanted = method.reference and not references and not stopped
    if wanted and problems.ramps:
        notes = ("There is no reference optimum: dynamic programming cannot limit the change of the release.",)
    elif wanted:
        references = references_of(problems.each, solver, device, progress, stop, watch)
        stopped = stop_sentence(references.solver, len(references), len(problems), stop, NO_REFERENCE)
        references = Solutions.of([]) if stopped else references
        references = closer_to(problems, references, firm.positions) if firm and references else references
    sources = None
    if references and solver not in REFERENCE_SOLVERS and not method.engine_only:
        call: dict[str, Any] = {"solver": solver, "seed": method.seed, "device": device, "options": options}
        call |= {"progress": progress, "stop": stop, "watch": watch}
        solutions, sources, told = best_known(problems, solutions, references, **call)
        ended = bool(stop and stop.ended)
        stopped, notes = (told, notes) if ended else ("", (*notes, told) if told else notes)
    with watch("certify"):
        operation = operation_of(problems, solutions)
    return Found(problems, operation, solutions, references, sources, notes, stopped)


def _solver_of_shortages(problems: RecordProblems, method: Method) -> Solve:
    """Dynamic programming; where it cannot limit the change of the release, the solver of the plan."""
    solver, device = method.solver, method.device
    if problems.ramps:
        return lambda batch: solved(batch, solver, method.seed, device, silent_stage, method.options)
    return lambda batch: references_of(batch, solver, device, silent_stage, None, Stopwatch())
