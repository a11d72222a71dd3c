"""Which solver plans a horizon, how far it has come, where it stops, and how close to the reference it must come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial, update_wrapper
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.limits import Limits
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.problems.base import FloatArray
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import RESERVOIR_SOLVERS, Progress, Solutions, settings_of, solver_named, why_unusable
from reservoir.solvers.engine import IntermediateResult, Stop
from reservoir.text.quantities import counted

#: Replaces the default solver of years where there is no OpenCL.
FALLBACK_SOLVER = "clpso-sequential"
#: Plans long horizons where dynamic programming cannot.
SWEPT_SOLVER = "lshade"
#: Setting of solvers that begin with given positions.
FIRST = "first"
#: Dynamic programming, by cores of the host and by a device.
REFERENCE_SOLVERS = HOST_REFERENCE, DEVICE_REFERENCE = "dp", "dp-opencl"


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
        able = " or ".join(name for name, entry in RESERVOIR_SOLVERS.items() if entry.long_horizons)
        step = problems.inflow.calendar.step
        problem = f"the solver {solver} cannot plan {counted(problems.steps, step.noun)} as one problem"
        fewer = "--horizon year" if step is TimeStep.MONTH else "months"
        raise InputError(problem, f"{able}, or {fewer}", f"choose {able}", value=str(problems.horizon))


def both_of_system(reservoir: Any, inflow: Any) -> tuple[System, SiteInflows]:
    """A system and its record.

    Raises
    ------
    InputError
        If one of them is of a single reservoir.
    """
    if not (isinstance(reservoir, System) and isinstance(inflow, SiteInflows)):
        problem, mend = "one of both is of a single reservoir", "give a System with its SiteInflows"
        raise InputError(problem, "a system and the inflow of its sites", mend, column="inflow")
    return reservoir, inflow


def require_no_ramps(reservoir: Reservoir, limits: Limits | RecordProblems) -> None:
    """Refuse limits of the change of the release where solvers are compared with dynamic programming.

    Raises
    ------
    InputError
        If the release may change by so much only.
    """
    if limits.ramps:
        problem = "solvers are compared with dynamic programming, which cannot limit the change of the release"
        raise InputError(problem, mend="remove ramp_up and ramp_down", file=reservoir.source)


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

    Where none is named, ``clpso`` plans years; longer horizons dynamic programming, or `SWEPT_SOLVER` if the change of
    the release is limited. One that cannot run here is replaced by the same algorithm on the CPU, on long horizons by
    dynamic programming, unless a particular device was asked for or no other can plan the horizon; options that both
    have are kept. Raises as `require_horizon` does.
    """
    long = problems.steps > MOST_STEPS_OF_YEAR
    solver = solver or ("clpso" if not long else SWEPT_SOLVER if problems.ramps else DEVICE_REFERENCE)
    require_horizon(solver, problems)
    irreplaceable = device not in (None, "auto") or (problems.ramps and long)
    reason = "" if irreplaceable else why_unusable(solver)
    if not reason:
        return solver, (), options
    fallback = HOST_REFERENCE if long else solver_named(solver).host_solver
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


def relative_gap(solutions: Solutions, references: Solutions, least_scale: float = 0.0) -> FloatArray:
    """Part by which each solution's fitness falls short of its reference, shape (problems,).

    `least_scale` is `RecordProblems.least_gap_scale`.
    """
    best = references.fitness
    return np.asarray((best - solutions.fitness) / gap_scale(best, least_scale))


def gap_scale(fitness: FloatArray, least_scale: float) -> FloatArray:
    """What a gap is a part of: the fitness that is the best, but no less than `RecordProblems.least_gap_scale`."""
    return np.where(fitness == 0, least_scale or 1.0, np.maximum(np.abs(fitness), least_scale))


def violates_more(solutions: Solutions, references: Solutions, limit: float) -> NDArray[np.bool_]:
    """Whether a solution violates its limits and its reference does not, or violates less, shape (problems,).

    `limit` is the part of the reference's violation by which it may be exceeded.
    """
    return ~np.asarray(solutions.violation <= (1 + limit) * references.violation)  # NaN keeps no limit


def beyond_limits(
    solutions: Solutions, references: Solutions, limits: tuple[float, float], least_scale: float = 0.0
) -> NDArray[np.bool_]:
    """Which solutions are not accepted, shape (problems,).

    Those that violate more than their reference; those whose fitness falls short of the reference's by more than the
    first limit; and, if the sum of the others falls short by more than the second, the worst of them.

    Parameters
    ----------
    solutions, references : Solutions
        Of the same problems.
    limits : (float, float)
        As of `gap_limits`, parts of the reference's fitness. Where the reference violates limits its fitness is less
        than its energy: then of the smaller of both.
    least_scale : float
        See `RecordProblems.least_gap_scale`.
    """
    most, most_of_sum = limits
    short = references.fitness - solutions.fitness
    kept, scale = references.violation == 0, np.abs(references.fitness)
    scale = np.where(kept, scale, np.minimum(scale, np.abs(references.benefit)))
    scale = np.maximum(scale, least_scale)
    beyond = violates_more(solutions, references, most) | ~(short <= most * np.where(scale == 0, 1.0, scale))
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


#: Told the name of a stage, how much of it is done, parts of a piece among it, and how much there is.
StageProgress = Callable[[str, float, int], None]


def silent_stage(stage: str, done: float, total: int) -> None:
    """No-op callback."""


def begun(progress: StageProgress, stage: str, total: int) -> Progress:
    """Tell that a stage begins, and return what a solver tells its progress."""
    progress(stage, 0, total)
    return partial(progress, stage)
