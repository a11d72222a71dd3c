"""Several solvers on the same years: energy, gap, violation and seconds side by side."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any, TypeVar

import numpy as np

from reservoir.errors import DeviceError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import MOST_STEPS_OF_YEAR, Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.planning.columns import shown
from reservoir.planning.commitments import keeping_commitments
from reservoir.planning.firm_power import firm_power_of, promised_within, promising_all
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.planned_record import feasible_problems
from reservoir.planning.sentences import chosen
from reservoir.planning.solving import (
    HOST_REFERENCE,
    is_swept,
    relative_gap,
    require_horizon,
    require_no_ramps,
    require_settings,
)
from reservoir.planning.start import with_implied_end_value
from reservoir.planning.system_plan import SystemPlan, optimise_system, require_able
from reservoir.planning.system_search import AUTO, stages_here
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.system import system_problems
from reservoir.solvers import (
    RESERVOIR_SOLVERS,
    SOLVERS,
    Solutions,
    devices_of,
    runs_here,
    settings_of,
    solve,
    solver_named,
)

Found = TypeVar("Found")


@dataclass(frozen=True)
class Comparison:
    """How one solver did, over its repeats.

    Parameters
    ----------
    solver, device : str
    seconds : float
        Median wall seconds of a repeat, compilation excluded; of baselines of devices on one thread.
    device_seconds : float or None
        Median seconds the device was busy.
    benefit : float
        Energy (GWh) of the years that can keep their limits, or what else the objective is; mean of the repeats.
    violation : float
        Sum of the relative violations of all years, worst repeat.
    gap : float
        Largest part by which the fitness of a year that can keep its limits falls short of the reference optimum, in
        any repeat; NaN where there is no such year.
    left_out : tuple of str
        Years that cannot keep their limits: neither in the energy nor in the gap.
    failure : str
        Why its device ended the run; then there is no number.
    """

    solver: str
    device: str
    seconds: float
    device_seconds: float | None
    benefit: float
    violation: float
    gap: float
    left_out: tuple[str, ...] = ()
    failure: str = ""


def compare(
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    solvers: Sequence[str] = (),
    horizon: Horizon | str | int | None = None,
    repeats: int = 1,
    seed: int = 1,
    device: str | None = "auto",
    options: Mapping[str, Any] | None = None,
    progress: StageProgress = silent_stage,
) -> list[Comparison]:
    """Solve the same years with several solvers; repeat k uses seed + k.

    Parameters
    ----------
    solvers : sequence of str
        Names of `RESERVOIR_SOLVERS`; if empty, all of them that can run here and solve such horizons.
    horizon : Horizon, str or int, optional
        As `reservoir.planning.plan.optimise`.
    repeats : int
        Runs of each seeded solver; the others run once more for the time alone.
    options : mapping
        Settings such as ``generations``; each solver is given those that it has, and one of them must have them but
        for sizes of a search (`Solver.budget`).

    Raises
    ------
    InputError, DeviceError
        As `reservoir.planning.plan.optimise`, and if the release may change by so much only: the reference optimum is
        that of dynamic programming. A device that fails at its work costs no other solver's row, unless all
        fail.
    """
    span = System.of(reservoir).asked_horizon(horizon)
    problems = record_problems(with_implied_end_value(reservoir, inflow), inflow, span)
    require_no_ramps(reservoir, problems)
    problems, _ = keeping_commitments(problems, progress)
    long = problems.steps > MOST_STEPS_OF_YEAR
    able = [name for name, solver in RESERVOIR_SOLVERS.items() if solver.long_horizons or not long]
    if reservoir.objective.is_firm:
        firm = firm_power_of(problems, partial(solve, solver=HOST_REFERENCE), progress)
        problems = promised_within(promising_all(problems, firm.power_mw), firm.positions)
    names = list(dict.fromkeys(solvers)) or [name for name in able if runs_here(name)]
    sizes = {size for solver in RESERVOIR_SOLVERS.values() for size in solver.budget}
    others = {name: value for name, value in (options or {}).items() if name not in sizes}
    require_settings(names, others, "is compared")
    for name in names:
        require_horizon(name, problems)
        devices_of(name, device)
    references = solve(problems.each, solver=HOST_REFERENCE, progress=partial(progress, "reference"))
    feasible = feasible_problems(problems, references.violation)
    objective, settings = reservoir.objective, dict(options or {})

    def compared(name: str) -> Comparison:
        entry = solver_named(name)
        known = {*entry.budget, *(others.keys() & set(settings_of(name)))}
        own = {size: value for size, value in settings.items() if size in known} | dict(entry.measured_with)
        warm = {**own, "generations": 1} if "generations" in entry.budget else own
        if is_swept(name, problems):
            warm = {**warm, "most_sweeps": 1}
        solve(problems.each[:1], solver=name, seed=seed, device=device, **warm)  # compiles; not timed
        runs = []
        for repeat in range(repeats):
            progress(name, repeat, repeats)
            runs.append(solve(problems.each, solver=name, seed=seed + repeat, device=device, **own))
            progress(name, repeat + 1, repeats)
        busy = [run.device_seconds for run in runs if run.device_seconds is not None]
        gaps = [relative_gap(run, references, problems.least_gap_scale)[feasible] for run in runs]
        return Comparison(
            name,
            runs[0].device,
            statistics.median(run.wall_seconds for run in runs),
            statistics.median(busy) if busy else None,
            statistics.fmean(sum(shown(objective, run.benefit[feasible]).tolist()) for run in runs),
            max(sum(run.violation.tolist()) for run in runs),
            float(np.max(gaps)) if feasible.any() else nan,
            tuple(chosen(problems.labels, ~feasible)),
        )

    found, failed = _of_each(names, compared)
    return [found[name] if name in found else _failure(name, failed[name]) for name in names]


def _of_each(names: Sequence[str], run: Callable[[str], Found]) -> tuple[dict[str, Found], dict[str, str]]:
    """What solvers find, and why those fail whose devices do; raises the first failure where all fail."""
    found, failures = dict[str, Found](), dict[str, DeviceError]()
    for name in names:
        try:
            found[name] = run(name)
        except DeviceError as error:
            failures[name] = error
    if not found:
        raise next(iter(failures.values()))
    return found, {name: str(error) for name, error in failures.items()}


def _failure(name: str, why: str) -> Comparison:
    return Comparison(name, "", nan, None, nan, nan, nan, failure=why)


def solvers_of_systems() -> list[str]:
    """Solvers that are compared where none is named: auto, and those with settings of their own for systems."""
    made = [name for name, entry in SOLVERS.items() if entry.systems and (entry.coded or not entry.alone)]
    replaced = {SOLVERS[name].host_solver for name in made if SOLVERS[name].opencl and runs_here(name)}
    return [AUTO, *(name for name in made if runs_here(name) and name not in replaced)]


def compare_system(
    system: System,
    inflows: SiteInflows,
    *,
    solvers: Sequence[str] = (),
    horizon: Horizon | str | int | None = None,
    repeats: int = 1,
    seed: int = 1,
    device: str | None = "auto",
    options: Mapping[str, Any] | None = None,
    progress: StageProgress = silent_stage,
) -> list[Comparison]:
    """Plan the same years of several reservoirs with several solvers; arguments are as of `compare`.

    What is best of them is not known: the gap is to the best schedule that any of them found of each year in any
    repeat, and a year is left out whose limits none of them kept.
    """
    names = list(dict.fromkeys(solvers)) or solvers_of_systems()
    stages, settings = stages_here(device), dict(options or {})
    for name in names:
        require_able(name)
    run_by = {name: [*stages.values()] if name == AUTO else [name] for name in names}
    known = {name: {each for solver in run_by[name] for each in settings_of(solver)} for name in names}
    sizes = {size for solver in SOLVERS.values() for size in solver.budget}
    others = {name: value for name, value in settings.items() if name not in sizes}
    require_settings({solver for each in run_by.values() for solver in each}, others, "is compared")
    for solver in {each for name in names for each in run_by[name]}:
        devices_of(solver, device)
    problems = system_problems(system, inflows.each(system.on_calendar), system.asked_horizon(horizon))

    def planned(name: str) -> list[SystemPlan]:
        own = {size: value for size, value in settings.items() if size in known[name]}
        own |= {} if name == AUTO else dict(solver_named(name).measured_with)
        for solver in run_by[name]:  # compiles; not timed
            few = {"generations": 1, "evaluations": 1000, "most_programs": 1}
            warm: dict[str, Any] = {size: value for size, value in few.items() if size in settings_of(solver)}
            solve(problems.each[:1], solver=solver, seed=seed, device=device, **warm)
        plans = []
        for repeat in range(repeats):
            how: dict[str, Any] = {"solver": name, "horizon": horizon, "seed": seed + repeat, "device": device}
            plans.append(optimise_system(system, inflows, **how, **own, progress=progress))
        return plans

    plans, failed = _of_each(names, planned)
    best = _best_of([plan.solutions for each in plans.values() for plan in each])
    return [_of_plans(name, plans[name], best) if name in plans else _failure(name, failed[name]) for name in names]


def _best_of(runs: Sequence[Solutions]) -> Solutions:
    """The best of several runs, problem by problem: least violation, then largest fitness."""
    best = runs[0]
    for run in runs[1:]:
        equal = run.violation == best.violation
        better = np.flatnonzero((run.violation < best.violation) | (equal & (run.fitness > best.fitness)))
        best = best.replaced(better, run[better])
    return best


def _of_plans(name: str, plans: Sequence[SystemPlan], best: Solutions) -> Comparison:
    """A solver's row, by its plans of each repeat and the best that any solver found."""
    first = plans[0]
    kept = np.asarray(best.violation == 0)
    years, scale = kept[first.problems.of_year], first.problems.least_gap_scale
    gaps = [relative_gap(plan.solutions, best, scale)[kept] for plan in plans]
    spent = (plan.seconds for plan in plans)
    return Comparison(
        name,
        first.solutions[0].device,
        statistics.median(sum(s for stage, s in each.items() if stage not in ("prepare", "certify")) for each in spent),
        None if name == AUTO else first.solutions.device_seconds,
        statistics.fmean(float(plan.benefit[years].sum()) for plan in plans),
        max(float(plan.violation.sum()) for plan in plans),
        float(np.max(gaps)) if kept.any() else nan,
        tuple(chosen(first.problems.labels, ~kept)),
    )
