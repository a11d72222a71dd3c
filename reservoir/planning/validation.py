"""Validate an installation on a case: physics, device against sequential, both against dynamic programming."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, ReservoirError
from reservoir.hydro.curves.approximation import POWER_TOLERANCE
from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR, YEAR, Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.planning.checks import (
    SWEPT_GAP,
    TOTAL_GAP,
    YEAR_GAP,
    Check,
    gap_checks,
    largest,
    part_of,
    plan_checks,
    sum_of,
    system_checks,
)
from reservoir.planning.commitments import keeping_commitments, within_commitments
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage
from reservoir.planning.planned_record import feasible_problems
from reservoir.planning.solving import (
    DEVICE_REFERENCE,
    FALLBACK_SOLVER,
    HOST_REFERENCE,
    REFERENCE_SOLVERS,
    relative_gap,
    require_no_ramps,
    require_settings,
)
from reservoir.planning.system_plan import SystemPlan, optimise_system
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.solvers import RESERVOIR_SOLVERS, Solutions, settings_of, solve, usable, why_unusable
from reservoir.text.quantities import counted
from reservoir.zoo import zoo_case

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
        If no engine of the horizon has one of the settings, or the release may change by so much only; as `optimise`.
    """
    require_no_ramps(reservoir, _open_limits(reservoir, inflow))
    require_settings(able_solvers(), options or {}, f"plans the horizon {horizon}")
    plan = optimise(reservoir, inflow, solver=HOST_REFERENCE, horizon=horizon, progress=progress)
    problems, _ = keeping_commitments(plan.problems, progress)
    checks = plan_checks(replace(plan, references=Solutions.of([])))  # the reference has none of its own
    feasible = plan.feasible_problems
    for name in able_solvers():
        if name == HOST_REFERENCE:
            continue
        settings = {each: value for each, value in (options or {}).items() if each in settings_of(name)}
        call: dict[str, Any] = {"solver": name, "seed": seed, "device": device, **settings}
        one, again = (solve(problems.each, progress=partial(progress, name), **call) for _ in range(2))
        checks.append(Check(f"{name}: sum of relative violations", float(one.violation[feasible].sum()), 0.0))
        if feasible.any():
            most = REFERENCE_GAP if name in REFERENCE_SOLVERS else SWEPT_GAP
            gap = float(np.abs(relative_gap(one, plan.solutions, problems.least_gap_scale)[feasible]).max())
            checks.append(Check(f"{name} against {HOST_REFERENCE}, worst problem (absolute value)", gap, most))
        checks.append(Check(f"{name}: problems with different results for the same seed", _different(one, again), 0))
    return plan, checks


def _open_limits(reservoir: Reservoir, inflow: Inflow) -> Limits:
    system = System.of(reservoir)
    return open_limits(system, system.on_calendar(inflow))


def able_solvers() -> list[str]:
    """Engines that plan horizons of several years and can run here."""
    return [name for name, solver in RESERVOIR_SOLVERS.items() if solver.long_horizons and not why_unusable(name)]


def not_checked_on(horizon: Horizon) -> list[str]:
    """What a validation on a horizon of several years leaves out, each with the reason."""
    short = [name for name, solver in RESERVOIR_SOLVERS.items() if not solver.long_horizons]
    long = [name for name, solver in RESERVOIR_SOLVERS.items() if solver.long_horizons]
    away = [f"{name} ({reason})" for name in long if (reason := why_unusable(name))]
    made = f"made for years, cannot plan the horizon {horizon}; validate without --horizon"
    return [
        *away,
        f"{', '.join(short)} ({made})",
        "dp against an independent program (its total is known only for years)",
        "spread of the totals and t-test between the engines (each runs with one seed only)",
    ]


def _different(one: Solutions, other: Solutions) -> int:
    """How many problems have other positions."""
    pairs = zip(one.position, other.position, strict=True)
    return sum(position.tobytes() != again.tobytes() for position, again in pairs)


#: Standard deviation of the total over runs, as a part of its mean (Yu et al. 2020, Table 5: 1.6e-5 and 2.9e-5).
SPREAD = 3e-5
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

    Raises
    ------
    InputError
        If a year has more steps than the engines are made for, or the release may change by so much only; as
        `optimise`.
    """
    settings, limits = dict(options or {}), _open_limits(reservoir, inflow)
    require_no_ramps(reservoir, limits)
    if limits.steps > MOST_STEPS_OF_YEAR:
        problem = f"the engines that are compared plan years of months, not of {reservoir.step.noun}s"
        raise InputError(problem, mend="validate with --horizon record, or with a record of months")

    def run(solver: str, seed: int, device: str | None) -> Solutions:
        stage = partial(progress, f"{solver}, seed {seed}")
        return solve(problems.each, solver=solver, seed=seed, device=device, progress=stage, **settings)

    # The engines that are compared are made for years, whatever horizon the reservoir is planned with.
    plan = optimise(
        reservoir, inflow, horizon=YEAR, seed=seed, device=device, engine_only=True, progress=progress, **settings
    )
    problems, _ = keeping_commitments(plan.problems, progress)
    engine, feasible, references = plan.solutions.solver, plan.feasible_problems, plan.references
    least = problems.least_gap_scale
    # Other seeds than the device's: with the same, both engines would draw the same numbers.
    sequential = [run(FALLBACK_SOLVER, seed + runs + number, None) for number in range(runs)]
    checks = [
        *plan_checks(plan),
        Check("sequential: sum of relative violations", _avoidable(plan, sequential[0]), 0.0),
        *gap_checks(sequential[0], references, feasible, "sequential: ", least_scale=least),
    ]
    if feasible.any():
        total, other = (sum_of(solutions, feasible) for solutions in (plan.solutions, sequential[0]))
        who = "device against sequential" if on_device(plan) else "sequential with another seed"
        checks.append(
            Check(f"{who}, relative difference of the totals", part_of(total - other, other, least), TOTAL_GAP)
        )
    if reference_gwh is not None:
        total = sum(references.fitness.tolist())
        checks.append(Check("dp against an independent program", abs(total / reference_gwh - 1), TOTAL_GAP))
    again = run(engine, seed, device)
    if on_device(plan) and references.solver != HOST_REFERENCE:  # which certifies plans, where it runs
        best = solve(problems.each, solver=HOST_REFERENCE, progress=partial(progress, HOST_REFERENCE))
        gap = float(relative_gap(references, best, least).max())
        checks.append(Check(f"{references.solver} against {HOST_REFERENCE}, worst year", gap, REFERENCE_GAP))
    if on_device(plan):
        errors = [part_of(each.trace_fitness[-1] - each.fitness, each.fitness, least) for each in plan.solutions]
        what = "float32 fitness on the device against float64, worst year"
        checks.append(Check(what, largest(errors), POWER_TOLERANCE))
    where = " on the same device" if on_device(plan) else ""
    different = _different(plan.solutions, again)
    checks.append(Check(f"years with different results for the same seed{where}", different, 0))
    if runs > 1:
        engines = {FALLBACK_SOLVER: sequential}
        if on_device(plan):
            others = [run(engine, seed + number, device) for number in range(1, runs)]
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


class _References(NamedTuple):
    """What runs are compared with where no plan has references of its own; names are those of `Plan`."""

    problems: RecordProblems
    references: Solutions
    feasible_problems: NDArray[np.bool_]
    impossible_problems: NDArray[np.bool_]


#: Engines that are compared on systems, and the exact one, of few reservoirs.
_OF_SYSTEMS, _JOINT = ("lshade", "clpso"), "dp-joint"
#: What is left out of a validation on a system.
NOT_OF_SYSTEMS = "solvers on random systems (`reservoir bench cascade` does)"


def validate_system(
    system: System,
    inflows: SiteInflows,
    horizon: Horizon,
    *,
    seed: int = 1,
    device: str | None = "auto",
    runs: int = 1,
    options: Mapping[str, Any] | None = None,
    progress: StageProgress = silent_stage,
) -> tuple[SystemPlan, list[Check], list[str]]:
    """Plan a system by all stages of ``auto``, and by each population from nothing; compare these with the plan.

    Parameters
    ----------
    runs : int
        Runs of each population; from 2 on, their spread and a t-test between them are checked too.
    options : mapping
        Settings; each engine is given those that it has.

    Returns
    -------
    plan : SystemPlan
    checks : list of Check
    left : list of str
        What was not checked, each with the reason.

    Raises
    ------
    InputError
        If none of the engines has one of the settings; as `optimise_system`.
    """
    here = [usable(name) for name in _OF_SYSTEMS]
    require_settings(here, options or {}, "is compared")
    plan = optimise_system(system, inflows, horizon=horizon, seed=seed, device=device, progress=progress)
    problems = within_commitments(plan.problems, plan.solutions.position)
    able = np.asarray(plan.solutions.violation == 0)
    compared = _References(plan.problems, plan.solutions, able, np.zeros(len(able), bool))
    checks, left, engines = system_checks(plan), [NOT_OF_SYSTEMS], dict[str, list[Solutions]]()
    for name in here:
        settings = {each: value for each, value in (options or {}).items() if each in settings_of(name)}

        def run(seed: int, name: str = name, settings: Mapping[str, Any] = settings) -> Solutions:
            stage = partial(progress, f"{name}, seed {seed}")
            return solve(problems.each, solver=name, seed=seed, device=device, progress=stage, **settings)

        engines[name] = [run(seed + number) for number in range(runs)]
        different = _different(engines[name][0], run(seed))
        checks.append(Check(f"{name}: problems with different results for the same seed", different, 0))
    checks += _runs_checks(compared, engines, "auto")
    if any(reservoir.initial_storage_hm3 is None for reservoir in plan.system.reservoirs):
        return plan, checks, [*left, f"auto against {_JOINT} (it does not search the start of cyclic years)"]
    try:
        joint = solve(problems.each, solver=usable(_JOINT), device=device, progress=partial(progress, _JOINT))
        gap = float(np.abs(relative_gap(joint, plan.solutions, plan.problems.least_gap_scale)[able]).max(initial=0.0))
        checks.append(Check(f"auto against {_JOINT}, worst problem (absolute value)", gap, YEAR_GAP))
    except InputError as refused:
        left.append(f"auto against {_JOINT} ({refused.mistakes[0]})")
    return plan, checks, left


def _avoidable(plan: Plan | _References, solutions: Solutions) -> float:
    """Sum of the violations of problems of which it is not sure that no schedule keeps their limits."""
    return float(sum(solutions.violation[~plan.impossible_problems].tolist()))


def _runs_checks(
    plan: Plan | _References, engines: Mapping[str, Sequence[Solutions]], reference: str = "dp"
) -> list[Check]:
    """Violation, worst gap and spread of each engine over all its runs, and a t-test between them if there are two.

    Gaps and totals are of the years that can keep their limits.
    """
    from scipy.stats import ttest_ind

    able, checks, totals = np.flatnonzero(plan.feasible_problems), list[Check](), []
    least = plan.problems.least_gap_scale
    for name, runs in engines.items():
        violation = sum(_avoidable(plan, run) for run in runs)
        runs_of = f"{len(runs)} runs" if len(runs) > 1 else "1 run"
        checks.append(Check(f"{name}: sum of relative violations, {runs_of}", violation, 0.0))
        if not able.size:
            continue
        total = np.array([sum_of(run, plan.feasible_problems) for run in runs])
        gap = np.abs([relative_gap(run, plan.references, least)[able] for run in runs])
        worst_run, worst_year = divmod(int(gap.argmax()), able.size)
        worst = f"{plan.problems.labels[able[worst_year]]}, seed {runs[worst_run].settings[0]['seed']}"
        spread = part_of(total.std(ddof=1), total.mean(), least) if len(runs) > 1 else 0.0
        checks += [
            Check(f"{name}: gap to {reference}, worst year of {runs_of} ({worst})", float(gap.max()), YEAR_GAP),
            *([Check(f"{name}: coefficient of variation of {len(runs)} totals", spread, SPREAD)] * (len(runs) > 1)),
        ]
        totals.append(total)
    if len(totals) > 1 and len(totals[0]) > 1:
        p_value = float(ttest_ind(*totals).pvalue)
        what = "two-tailed t-test between the engines' totals, p-value"
        checks.append(Check(what, p_value, SIGNIFICANCE, at_least=True))
    return checks


#: Numbers of the reservoirs: one whose years end at a fixed storage, and one of cyclic years.
NUMBERS = (5, 12)
#: Years of each for solvers in OpenCL; and of the first alone for others, which compile for each and take longer.
YEARS, HOST_YEARS = 3, 1
#: What is said of a validation without it.
NOT_ASKED = "solvers on random reservoirs (--no-zoo)"
#: What the progress of this validation is told as.
STAGE = "random reservoirs"


class _Measured(NamedTuple):
    """Years, their worst gap, largest violation that the reference does not have, and error of the solver's fitness."""

    years: int
    gap: float
    violation: float
    float32_error: float


def _measured(problems: RecordProblems, references: Solutions, solver: str, seed: int, device: str | None) -> _Measured:
    """What a solver reaches in the years that can keep their limits."""
    years = YEARS if RESERVOIR_SOLVERS[solver].opencl else HOST_YEARS
    solutions = solve(problems.each[:years], solver=solver, seed=seed, device=device)
    feasible = np.flatnonzero(feasible_problems(problems, references.violation)[:years])
    gap = np.abs(relative_gap(solutions, references[:years], problems.least_gap_scale))[feasible]
    violation = (solutions.violation - references.violation[:years])[feasible]
    traces = [(solutions.trace_fitness[place], solutions.fitness[place]) for place in feasible.tolist()]
    float32 = [
        part_of(trace[-1] - fitness, fitness, problems.least_gap_scale) for trace, fitness in traces if len(trace)
    ]
    return _Measured(len(feasible), *(largest(each, 0.0) for each in (gap, violation, float32)))


def _together(measured: Sequence[_Measured]) -> _Measured:
    """The years of several reservoirs, and the worst of them."""
    years, *errors = zip(*measured, strict=True)
    return _Measured(sum(years), *map(largest, errors))


def validate_zoo(
    *, seed: int = 1, device: str | None = "auto", progress: StageProgress = silent_stage
) -> tuple[list[Check], list[str]]:
    """Solve some years of random reservoirs with every solver, with default settings.

    Returns
    -------
    checks : list of Check
        The worst gap of each solver, and of all solvers the largest violation and error of float32.
    left : list of str
        Solvers that were not checked, each with the reason.
    """
    names = [name for name in RESERVOIR_SOLVERS if name != HOST_REFERENCE]
    progress(STAGE, 0, len(names))
    cases = (zoo_case(number, YEARS) for number in NUMBERS)
    samples = [record_problems(case.reservoir, case.inflow, Horizon()) for case in cases]
    references = [solve(problems.each, solver=HOST_REFERENCE) for problems in samples]
    of_all, checks, left = list[_Measured](), list[Check](), []
    for done, name in enumerate(names):
        progress(STAGE, done, len(names))
        reason = why_unusable(name)
        try:
            if not reason:
                chosen = list(zip(samples, references, strict=True))[: None if RESERVOIR_SOLVERS[name].opencl else 1]
                measured = _together([_measured(*sample, name, seed, device) for sample in chosen])
                what = f"{STAGE}: {name}, worst gap to dp, {counted(measured.years, 'year')}"
                checks.append(Check(what, measured.gap, RESERVOIR_SOLVERS[name].zoo_gap))
                of_all.append(measured)
        except ReservoirError as error:  # a device may be too small for a solver
            reason = str(error)
        if reason:
            left.append(f"{name} on random reservoirs ({reason})")
    progress(STAGE, len(names), len(names))
    if of_all:
        worst, who = _together(of_all), f"{STAGE}: largest of all solvers"
        checks.append(Check(f"{who}, violation of limits that dp keeps", worst.violation, 0.0))
        checks.append(Check(f"{who}, float32 fitness against float64", worst.float32_error, POWER_TOLERANCE))
    return checks, left
