"""How solvers are called: which one plans a horizon, how far it has come, where it stops, how close it must come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial, update_wrapper
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, InputError, Mistake
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers import SOLVERS, Solutions, settings_of, solve, solver_named, why_unusable
from reservoir.solvers.engine import IntermediateResult, Stop
from reservoir.text.quantities import counted

#: Replaces the default solver of years where there is no OpenCL.
FALLBACK_SOLVER = "clpso-sequential"
#: Plans long horizons where dynamic programming cannot.
SWEPT_SOLVER = "lshade"
#: Dynamic programming, by cores of the host and by a device.
REFERENCE_SOLVERS = HOST_REFERENCE, DEVICE_REFERENCE = "dp", "dp-opencl"


def default_solver(problems: RecordProblems) -> str:
    """The engine of a plan that names none."""
    if problems.steps <= MOST_STEPS_OF_YEAR:
        return "clpso"
    return SWEPT_SOLVER if problems.ramps else DEVICE_REFERENCE


def is_swept(solver: str, problems: RecordProblems) -> bool:
    """Whether a solver sweeps the windows of such problems."""
    return problems.steps > MOST_STEPS_OF_YEAR and solver_named(solver).swept


def require_horizon(solver: str, problems: RecordProblems) -> None:
    """Refuse a solver for horizons that are too long for it.

    Raises
    ------
    InputError
        With the names of those that can.
    """
    if problems.steps > MOST_STEPS_OF_YEAR and not solver_named(solver).long_horizons:
        able, step = (
            " or ".join(name for name, entry in SOLVERS.items() if entry.long_horizons),
            problems.inflow.calendar.step,
        )
        problem = f"the solver {solver} cannot plan {counted(problems.steps, step.noun)} as one problem"
        fewer = "--horizon year" if step is TimeStep.MONTH else "months"
        raise InputError(Mistake(problem, f"{able}, or {fewer}", f"choose {able}", value=str(problems.horizon)))


def require_settings(solvers: Iterable[str], options: Mapping[str, Any], which: str) -> None:
    """Refuse settings that none of some solvers has; `which` says what solvers they are.

    Raises
    ------
    InputError
        With every such setting.
    """
    known = {name for solver in solvers for name in settings_of(solver)}
    problem = f"no solver that {which} has this setting"
    if unknown := [name for name in options if name not in known]:
        raise InputError(Mistake(problem, mend="remove it", column=name) for name in unknown)


def chosen_solver(
    solver: str | None, device: str | None, options: dict[str, Any], problems: RecordProblems
) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """The solver of a plan, notes on it, and its options.

    One that cannot run here is replaced by the same algorithm on the CPU, on long horizons by dynamic programming,
    unless a particular device was asked for or no other can plan the horizon; options that both have are kept.
    Raises as `require_horizon` does.
    """
    solver = solver or default_solver(problems)
    require_horizon(solver, problems)
    irreplaceable = device not in (None, "auto") or (problems.ramps and problems.steps > MOST_STEPS_OF_YEAR)
    reason = "" if irreplaceable else why_unusable(solver)
    if not reason:
        return solver, (), options
    fallback = HOST_REFERENCE if problems.steps > MOST_STEPS_OF_YEAR else solver_named(solver).host_solver
    known = settings_of(fallback)
    shared = {name: value for name, value in options.items() if name in known}
    where = " on all CPU cores" if "threads" in known or fallback == HOST_REFERENCE else ""
    note = f"{reason}. Solved by {fallback}{where} instead of {solver}. Fix: see `reservoir devices`."
    return fallback, (note,), shared


#: Largest gap to the reference optimum of any year, and of the sum of all years.
YEAR_GAP = 2e-4
TOTAL_GAP = 5e-5
#: Largest gap, of a horizon and of their sum, of solvers that sweep long horizons.
SWEPT_GAP = 1e-3


def gap_limits(solver: str, problems: RecordProblems) -> tuple[float, float]:
    """Largest gap of a problem, and of the sum of all, that is accepted from a solver."""
    return (SWEPT_GAP, SWEPT_GAP) if is_swept(solver, problems) else (YEAR_GAP, TOTAL_GAP)


def violates_more(found: Solutions, references: Solutions, limit: float) -> NDArray[np.bool_]:
    """Whether a solution violates its limits and its reference does not, or violates less, shape (problems,).

    `limit` is the part of the reference's violation by which it may be exceeded.
    """
    return ~np.asarray(found.violation <= (1 + limit) * references.violation)  # NaN keeps no limit


def beyond_limits(
    found: Solutions, references: Solutions, limits: tuple[float, float], least_scale: float = 0.0
) -> NDArray[np.bool_]:
    """Which solutions are not accepted, shape (problems,).

    Those that violate more than their reference; those whose fitness falls short of the reference's by more than the
    first limit; and, if the sum of the others falls short by more than the second, the worst of them.

    Parameters
    ----------
    found, references : Solutions
        Of the same problems.
    limits : (float, float)
        As of `gap_limits`, parts of the reference's fitness. Where the reference violates limits its fitness is less
        than its energy: then of the smaller of both.
    least_scale : float
        See `RecordProblems.least_gap_scale`.
    """
    most, most_of_sum = limits
    short = references.fitness - found.fitness
    kept, scale = references.violation == 0, np.abs(references.fitness)
    scale = np.where(kept, scale, np.minimum(scale, np.abs(references.benefit)))
    scale = np.maximum(scale, least_scale)
    beyond = violates_more(found, references, most) | ~(short <= most * np.where(scale == 0, 1.0, scale))
    beyond &= np.isfinite(references.fitness)  # one that came to no number is worse than any schedule
    rest = np.where(kept & ~beyond, short, 0.0)
    order = np.argsort(-rest, kind="stable")
    left = rest.sum() - np.concatenate([[0.0], np.cumsum(rest[order])])
    whole = max(abs(float(references.fitness[kept].sum())), least_scale) or 1.0
    beyond[order[: np.argmax(left <= most_of_sum * whole)]] = True
    return np.asarray(beyond)


#: What a run that was ended at its reference comes to.
NO_REFERENCE = "the plan has no reference optimum"


class NotedStop:
    """A callback that may end a run, and whether it did."""

    def __init__(self, stop: Stop) -> None:
        update_wrapper(self, stop)
        self._stop, self.ended = stop, False

    def __call__(self, state: IntermediateResult) -> bool:
        """Ask the callback."""
        self.ended = bool(self._stop(state))
        return self.ended


def stop_sentence(stage: str, done: int, total: int, stop: NotedStop | None, what: str = "the plan has those") -> str:
    """Where a callback ended the run; empty if it did not."""
    if done < total:
        return f"A callback ended the run in {stage} after {done} of {total} problems: {what}."
    early = "before the search was complete: the plan has the schedules found by then"
    return f"A callback ended the run in {stage} {early}." if stop and stop.ended else ""


def leading_problems(problems: RecordProblems, count: int) -> RecordProblems:
    """The first problems of a record, with their years."""
    years = int(np.searchsorted(problems.of_year, count))
    return record_problems(problems.model.reservoir, problems.inflow.span(0, years), problems.horizon)


#: Told the name of a stage, how much of it is done and how much there is.
StageProgress = Callable[[str, int, int], None]


def silent_stage(stage: str, done: int, total: int) -> None:
    """No-op callback."""


def solved(
    problems: Sequence[ReservoirYear],
    solver: str,
    seed: int,
    device: str | None,
    progress: StageProgress,
    options: Mapping[str, Any],
    *,
    stage: str = "",
) -> Solutions:
    """Solve problems, and tell the stage, by default the solver's name; see `reservoir.solvers.solve`."""
    told = stage or solver
    progress(told, 0, len(problems))
    return solve(problems, solver=solver, seed=seed, device=device, progress=partial(progress, told), **options)


def references_of(
    problems: Sequence[ReservoirYear],
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
    options: dict[str, Any] = {"stop": stop, **grids}
    if solver_named(solver).opencl:
        with suppress(DeviceError), watch(DEVICE_REFERENCE):
            return solved(problems, DEVICE_REFERENCE, 0, device, progress, options)
    with watch(HOST_REFERENCE):
        return solved(problems, HOST_REFERENCE, 0, None, progress, options)
