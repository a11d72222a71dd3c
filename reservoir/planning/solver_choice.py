"""Which solver plans a horizon: the default, those that can, and what replaces one that cannot run here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.horizon import MOST_STEPS_OF_YEAR
from reservoir.hydro.time_step import TimeStep
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import SOLVERS, settings_of, solver_named, why_unusable
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
