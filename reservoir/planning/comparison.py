"""Several solvers on the same years: energy, gap, violation and seconds side by side."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any

import numpy as np

from reservoir.errors import DeviceError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from reservoir.planning.columns import shown
from reservoir.planning.firm_power import firm_power_of, promised_within, promising_all
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.planned_record import feasible_problems
from reservoir.planning.sentences import chosen
from reservoir.planning.solving import HOST_REFERENCE, is_swept, relative_gap, require_horizon, require_settings
from reservoir.planning.start import with_implied_end_value
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers import RESERVOIR_SOLVERS, devices_of, runs_here, solve, solver_named


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
        As `reservoir.planning.plan.optimise`. A device that fails at its work costs no other solver's row, unless all
        fail.
    """
    span = System.of(reservoir).asked_horizon(horizon)
    problems = record_problems(with_implied_end_value(reservoir, inflow), inflow, span)
    several = problems.steps > inflow.steps
    able = [name for name, solver in RESERVOIR_SOLVERS.items() if solver.long_horizons or not several]
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
        own = {size: value for size, value in settings.items() if size in entry.budget} | dict(entry.measured_with)
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

    rows, failures = list[Comparison](), list[DeviceError]()
    for name in names:
        try:
            rows.append(compared(name))
        except DeviceError as error:
            failures.append(error)
            rows.append(Comparison(name, "", nan, None, nan, nan, nan, failure=str(error)))
    if len(failures) == len(rows):
        raise failures[0]
    return rows
