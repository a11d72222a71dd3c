"""Validate engines on horizons of several years: each that can solve them, against dynamic programming on the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.checks import SWEPT_GAP, Check, plan_checks
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage
from reservoir.planning.solution_numbers import relative_gap
from reservoir.planning.solver_choice import HOST_REFERENCE, REFERENCE_SOLVERS
from reservoir.solvers import SOLVERS, Solutions, settings_of, solve, why_unusable

#: Part of a problem's fitness by which another dynamic programming may fall short of the host's.
REFERENCE_GAP = 1e-6


def validate_horizon(
    reservoir: Reservoir,
    inflow: Inflow,
    horizon: Horizon,
    *,
    seed: int = 1,
    device: str | None = "auto",
    options: Mapping[str, Any] | None = None,
    progress: StageProgress = silent_stage,
) -> tuple[Plan, list[Check]]:
    """Plan a case by dynamic programming, and by every other engine that can plan such horizons here.

    Parameters
    ----------
    horizon : Horizon
        Of more than a year.
    options : mapping
        Settings; each engine is given those that it has.

    Returns
    -------
    plan : Plan
        Of dynamic programming on the host.
    checks : list of Check
        See `not_checked_on` for what is left out.

    Raises
    ------
    InputError
        If no engine of the horizon has one of the settings; as `optimise`.
    """
    _require_settings(horizon, options or {})
    plan = optimise(reservoir, inflow, solver=HOST_REFERENCE, horizon=horizon, progress=progress)
    none = Solutions.of([])  # the reference has none of its own
    checks = plan_checks(replace(plan, references=none))
    for name in able_solvers():
        if name == HOST_REFERENCE:
            continue
        settings = {each: value for each, value in (options or {}).items() if each in settings_of(name)}
        runs = [
            solve(
                plan.problems.each, solver=name, seed=seed, device=device, progress=partial(progress, name), **settings
            )
            for _ in range(2)
        ]
        checks += _engine_checks(plan, name, *runs)
    return plan, checks


def _require_settings(horizon: Horizon, options: Mapping[str, Any]) -> None:
    """Refuse settings that no engine of the horizon has."""
    able = able_solvers()
    mistakes = [
        Mistake(f"no solver that plans the horizon {horizon} has this setting", mend="remove it", column=f"--{name}")
        for name in options
        if not any(name in settings_of(solver) for solver in able)
    ]
    if mistakes:
        raise InputError(mistakes)


def able_solvers() -> list[str]:
    """Engines that plan horizons of several years and can run here."""
    return [name for name, solver in SOLVERS.items() if solver.long_horizons and not why_unusable(name)]


def not_checked_on(horizon: Horizon) -> list[str]:
    """What a validation on a horizon of several years leaves out, each with the reason."""
    short = [name for name, solver in SOLVERS.items() if not solver.long_horizons]
    long = [name for name, solver in SOLVERS.items() if solver.long_horizons]
    away = [f"{name} ({reason})" for name in long if (reason := why_unusable(name))]
    made = f"made for years, cannot plan the horizon {horizon}; validate without --horizon"
    return [
        *away,
        f"{', '.join(short)} ({made})",
        "dp against an independent program (its total is known only for years)",
        "spread of the totals and t-test between the engines (each runs with one seed only)",
    ]


def _engine_checks(plan: Plan, name: str, found: Solutions, again: Solutions) -> list[Check]:
    feasible = plan.feasible_problems
    checks = [Check(f"{name}: sum of relative violations", float(found.violation[feasible].sum()), 0.0)]
    if feasible.any():
        most = REFERENCE_GAP if name in REFERENCE_SOLVERS else SWEPT_GAP
        gap = float(np.abs(relative_gap(found, plan.solutions)[feasible]).max())
        checks.append(Check(f"{name} against {HOST_REFERENCE}, worst problem (absolute value)", gap, most))
    pairs = zip(found.position, again.position, strict=True)
    different = sum(one.tobytes() != other.tobytes() for one, other in pairs)
    return [*checks, Check(f"{name}: problems with different results for the same seed", different, 0)]
