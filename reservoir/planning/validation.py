"""Validate an installation on a case: physics, device against sequential, both against dynamic programming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.curves.approximation import POWER_TOLERANCE
from reservoir.hydro.horizon import YEAR
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.checks import TOTAL_GAP, YEAR_GAP, Check, gap_checks, largest, part_of, plan_checks, sum_of
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage
from reservoir.planning.solution_numbers import relative_gap
from reservoir.planning.solver_choice import DEVICE_REFERENCE, FALLBACK_SOLVER, HOST_REFERENCE
from reservoir.solvers import Solutions, solve

#: Standard deviation of the total over runs, as a part of its mean (Yu et al. 2020, Table 5: 1.6e-5 and 2.9e-5).
SPREAD = 3e-5
#: Part of a year's fitness by which the device's dynamic programming may fall short of the host's.
REFERENCE_GAP = 1e-6
#: Significance level of the two-tailed t-test (Table 6).
SIGNIFICANCE = 0.05


def validate(
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    seed: int = 1,
    device: str | None = "auto",
    runs: int = 1,
    reference_gwh: float | None = None,
    options: Mapping[str, Any] | None = None,
    progress: StageProgress = silent_stage,
) -> tuple[Plan, list[Check]]:
    """Plan a case with both CLPSO engines and check the plans against each other and against dynamic programming.

    Parameters
    ----------
    runs : int
        Runs of each engine; from 2 on, their spread and a t-test between them are checked too.
    reference_gwh : float, optional
        Total that an independent program found for this case.
    options : mapping
        Settings of both engines.

    Returns
    -------
    plan : Plan
        Of the OpenCL engine (of the sequential one where there is no OpenCL; its checks are then of that alone).
    checks : list of Check
        What of all that can be checked here; see `not_checked` for the rest.
    """
    settings = dict(options or {})
    # The engines that are compared are made for years, whatever horizon the reservoir is planned with.
    plan = optimise(
        reservoir, inflow, horizon=YEAR, seed=seed, device=device, engine_only=True, progress=progress, **settings
    )
    engine = plan.solutions.solver
    # Other seeds than the device's: with the same, both engines would draw the same numbers.
    sequential = [_stage(plan, FALLBACK_SOLVER, seed + runs + run, None, settings, progress) for run in range(runs)]
    checks = [*plan_checks(plan), *_sequential_checks(plan, sequential[0])]
    if reference_gwh is not None:
        found = sum(plan.references.fitness.tolist())
        checks.append(Check("dp against an independent program", abs(found / reference_gwh - 1), TOTAL_GAP))
    again = _stage(plan, engine, seed, device, settings, progress)
    if on_device(plan):
        checks += [*_device_reference(plan, progress), _device_arithmetic(plan)]
    checks.append(_repeatable(plan, again))
    if runs > 1:
        engines = {FALLBACK_SOLVER: sequential}
        if on_device(plan):
            others = [_stage(plan, engine, seed + run, device, settings, progress) for run in range(1, runs)]
            engines = {engine: [plan.solutions, *others], **engines}
        checks += _runs_checks(plan, engines)
    return plan, checks


def on_device(plan: Plan) -> bool:
    """Whether a device solved the plan of a validation: `validate` takes the sequential engine where there is none."""
    return plan.solutions.solver != FALLBACK_SOLVER


def not_checked(plan: Plan, *, runs: int, reference_gwh: float | None) -> list[str]:
    """What a validation left out, in words, each with the reason; the arguments are those of `validate`."""
    left = []
    if not on_device(plan):
        left.append(
            "the device: its kernels against the sequential engine, its dynamic programming, its float32 arithmetic "
            "(no usable device: see `reservoir devices`)"
        )
    elif plan.references.solver == HOST_REFERENCE:
        why = f"the device cannot run it; `reservoir plan --solver {DEVICE_REFERENCE}` prints the reason"
        left.append(f"{DEVICE_REFERENCE} against {HOST_REFERENCE} ({why})")
    if reference_gwh is None:
        left.append("dp against an independent program (no total of one is known for this case)")
    if not plan.feasible_problems.any():
        left.append("gaps to dp (no year is feasible)")
    if runs == 1:
        left.append("spread of the totals and t-test between the engines (use --runs 2 or more)")
    elif not on_device(plan):
        left.append("t-test between the engines (only one engine ran)")
    return left


def _stage(
    plan: Plan, solver: str, seed: int, device: str | None, settings: Mapping[str, Any], progress: StageProgress
) -> Solutions:
    told = partial(progress, f"{solver}, seed {seed}")
    return solve(plan.problems.each, solver=solver, seed=seed, device=device, progress=told, **settings)


def _sequential_checks(plan: Plan, sequential: Solutions) -> list[Check]:
    checks = [
        Check("sequential: sum of relative violations", sum(sequential.violation.tolist()), 0.0),
        *gap_checks(sequential, plan.references, plan.feasible_problems, "sequential: "),
    ]
    if plan.feasible_problems.any():
        total, other = (sum_of(solutions, plan.feasible_problems) for solutions in (plan.solutions, sequential))
        who = "device against sequential" if on_device(plan) else "sequential with another seed"
        checks.append(Check(f"{who}, relative difference of the totals", part_of(total - other, other), TOTAL_GAP))
    return checks


def _device_reference(plan: Plan, progress: StageProgress) -> list[Check]:
    """Dynamic programming on the device, which certifies plans, against the host's, worst year; where it runs."""
    found = plan.references.solver
    if found == HOST_REFERENCE:
        return []
    best = solve(plan.problems.each, solver=HOST_REFERENCE, progress=partial(progress, HOST_REFERENCE))
    gap = float(relative_gap(plan.references, best).max())
    return [Check(f"{found} against {HOST_REFERENCE}, worst year", gap, REFERENCE_GAP)]


def _device_arithmetic(plan: Plan) -> Check:
    """The device's own float32 fitness against hydro's in float64, worst year."""
    differences = [part_of(each.trace_fitness[-1] - each.fitness, each.fitness) for each in plan.solutions]
    return Check("float32 fitness on the device against float64, worst year", largest(differences), POWER_TOLERANCE)


def _repeatable(plan: Plan, again: Solutions) -> Check:
    pairs = zip(plan.solutions.position, again.position, strict=True)
    different = sum(one.tobytes() != other.tobytes() for one, other in pairs)
    where = " on the same device" if on_device(plan) else ""
    return Check(f"years with different results for the same seed{where}", different, 0)


def _runs_checks(plan: Plan, engines: Mapping[str, Sequence[Solutions]]) -> list[Check]:
    """Violation, worst gap and spread of each engine over all its runs, and a t-test between them if there are two.

    Gaps and totals are of the years that can keep their limits.
    """
    from scipy.stats import ttest_ind

    able = np.flatnonzero(plan.feasible_problems)
    checks = []
    totals = []
    for name, runs in engines.items():
        violation = sum(float(each) for run in runs for each in run.violation)
        checks.append(Check(f"{name}: sum of relative violations, {len(runs)} runs", violation, 0.0))
        if not able.size:
            continue
        total = np.array([sum_of(run, plan.feasible_problems) for run in runs])
        gap = np.abs([relative_gap(run, plan.references)[able] for run in runs])
        worst_run, worst_year = divmod(int(gap.argmax()), able.size)
        worst = f"{plan.problems.labels[able[worst_year]]}, seed {runs[worst_run].settings[0]['seed']}"
        checks += [
            Check(f"{name}: gap to dp, worst year of {len(runs)} runs ({worst})", float(gap.max()), YEAR_GAP),
            Check(f"{name}: coefficient of variation of {len(runs)} totals", _spread(total), SPREAD),
        ]
        totals.append(total)
    if len(totals) < 2:
        return checks
    p_value = float(ttest_ind(*totals).pvalue)
    return [
        *checks,
        Check("two-tailed t-test between the engines' totals, p-value", p_value, SIGNIFICANCE, at_least=True),
    ]


def _spread(totals: NDArray[np.float64]) -> float:
    return part_of(totals.std(ddof=1), totals.mean())
