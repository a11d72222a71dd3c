"""Optimise a case: a reservoir and an inflow record in, the best operation of every year out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import DeviceError
from reservoir.hydro.curves.approximation import Approximation
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.infeasible import feasible_years
from reservoir.planning.stopwatch import Stopwatch
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve, solver_named, why_unusable
from reservoir.solvers.clpso.settings import SwarmSettings

FloatArray = NDArray[np.float64]

#: Told the name of a stage, how much of it is done and how much there is.
StageProgress = Callable[[str, int, int], None]

FALLBACK_SOLVER = "clpso-sequential"
#: Dynamic programming, by cores of the host and by a device.
REFERENCE_SOLVERS = HOST_REFERENCE, DEVICE_REFERENCE = "dp", "dp-opencl"


def silent_stage(stage: str, done: int, total: int) -> None:
    """No-op callback."""


# Compared by identity, as the arrays it holds.
@dataclass(frozen=True, eq=False)
class Plan:
    """The optimised operation of every year, recomputed in float64 from the releases a solver proposed.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
    years : ReservoirYears
        The problems that were solved.
    operation : Operation
        What the releases of each year come to.
    solutions : Solutions
        What the solver returned.
    references : Solutions, maybe of nothing
        The reference optimum of each year (dynamic programming).
    notes : tuple of str
        What the user should know about this plan.
    seconds : mapping of str to float
        Wall time of each stage; stages do not overlap. A solver's bears its name.
    """

    reservoir: Reservoir
    inflow: Inflow
    years: ReservoirYears
    operation: Operation
    solutions: Solutions
    references: Solutions
    notes: tuple[str, ...]
    seconds: Mapping[str, float]

    @property
    def approximation(self) -> Approximation:
        """The forms of the curves that solvers evaluated, and what they change."""
        return self.years.model.approximation

    @cached_property
    def spill_m3s(self) -> FloatArray:
        """Released past the turbines, shape (years, steps)."""
        return self.operation.spill_m3s

    @cached_property
    def energy_gwh(self) -> FloatArray:
        """Energy of each year, shape (years,)."""
        return self.operation.benefit_gwh

    @cached_property
    def violation(self) -> FloatArray:
        """Sum of the relative violations of each year (eq. 20), shape (years,)."""
        return self.operation.violation_sum

    @cached_property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether some schedule keeps the limits of each year, shape (years,)."""
        return feasible_years(self.years.limits, self.solutions.violation)

    @cached_property
    def keeps_limits(self) -> NDArray[np.bool_]:
        """Whether this plan keeps the limits of each year, shape (years,); means and sums are of these years."""
        return np.asarray(self.violation == 0)

    @cached_property
    def kept_energy_gwh(self) -> FloatArray:
        """Energy of the years that keep their limits, shape (years that do,)."""
        return self.energy_gwh[self.keeps_limits]

    @cached_property
    def gap(self) -> FloatArray:
        """Part by which each year's fitness falls short of the reference optimum; NaN without one.

        NaN too in years that cannot keep their limits, where the fitness is no energy: compare the violations.
        """
        if not self.references:
            return np.full(len(self.years), np.nan)
        return np.where(self.feasible, relative_gap(self.solutions, self.references), np.nan)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats to show with every result."""
        return tuple(caveat for caveat in (self.inflow.caveat, self.reservoir.caveat) if caveat)

    def schedule(self) -> pd.DataFrame:
        """One row a year and month, see `schedule_table`."""
        return schedule_table(self.inflow, self.operation)

    def summary(self) -> pd.DataFrame:
        """One row a year: mean inflow, energy, spill, violation, gap to the reference optimum, generations.

        ``reference_gwh`` is the reference's energy. Only where the reference violates limits too, in any year, a column
        ``reference_violation`` says by how much.
        """
        volume = self.inflow.calendar.hm3_per_m3s
        found, none = self.references, np.full(len(self.years), np.nan)
        reference, violation = (found.benefit, found.violation) if found else (none, np.zeros_like(none))
        return pd.DataFrame(
            {
                "year": list(self.inflow.labels),
                "inflow_mean_m3s": self.inflow.annual_mean_m3s,
                "energy_gwh": self.energy_gwh,
                "spill_hm3": (self.spill_m3s * volume).sum(axis=1),
                "violation": self.violation,
                "reference_gwh": reference,
                **({"reference_violation": violation} if violation.any() else {}),
                "gap": self.gap,
                "generations": self.solutions.generations,
                "evaluations": self.solutions.evaluations,
            }
        )


def schedule_table(inflow: Inflow, operation: Operation) -> pd.DataFrame:
    """One row a year and month; storages in hm3 at the start and end of the month, the level at its end.

    Tailrace, head and power are means of the month; ``head_m`` is the level at the month's mean storage less the
    tailrace.
    """
    calendar = inflow.calendar
    columns = {
        "year": np.repeat(np.array(calendar.labels, dtype=object), calendar.steps),
        "month": np.tile(calendar.months, calendar.years),
        "inflow_m3s": inflow.flow_m3s,
        "release_m3s": operation.release_m3s,
        "turbined_m3s": operation.turbined_m3s,
        "spill_m3s": operation.spill_m3s,
        "storage_start_hm3": operation.storage_hm3[:, :-1],
        "storage_end_hm3": operation.storage_hm3[:, 1:],
        "level_m": operation.level_m,
        "tailrace_m": operation.tailrace_m,
        "head_m": operation.head_m,
        "power_mw": operation.power_mw,
        "energy_gwh": operation.energy_gwh,
        "violation": operation.violation,
    }
    return pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})


def optimise(
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    solver: str = "clpso",
    seed: int = 1,
    device: str | None = "auto",
    reference: bool = True,
    progress: StageProgress = silent_stage,
    **options: Any,
) -> Plan:
    """Find the best operation of every year of a record.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
        Its water years begin in the reservoir's first month.
    solver : str
        A name of `reservoir.solvers.SOLVERS`.
    seed : int
        The same seed on the same device gives the same plan.
    device : str, optional
        See `reservoir.opencl.choose_device`.
    reference : bool
        Also find the reference optimum by dynamic programming, so that every year's gap is known.
    progress : callable
        Told the stage, how many years are done and how many there are.
    **options
        Settings of the solver, such as ``particles`` and ``generations``.

    Raises
    ------
    InputError
        If reservoir and record do not fit each other, or a setting is wrong.
    DeviceError
        If the device asked for is missing or too small.
    """
    watch = Stopwatch()
    with watch("prepare"):
        years = reservoir_problems(reservoir, inflow)
    with watch("devices"):
        solver, notes, options = _available(solver, device, options)
    with watch(solver):
        solutions = _solved(years, solver, seed, device, progress, options)
    references = Solutions.of([])
    if solver in REFERENCE_SOLVERS:
        references = solutions
    elif reference:
        references = _references(years, solver, device, progress, watch)
    with watch("certify"):
        operation = solutions.operation or years.operate(np.array(list(solutions.position)))
    told = (*inflow.notes, *reservoir.notes, *notes)
    return Plan(reservoir, inflow, years, operation, solutions, references, told, watch.seconds)


def relative_gap(solutions: Solutions, references: Solutions) -> FloatArray:
    """Part by which each solution's fitness falls short of its reference, shape (problems,)."""
    found, best = solutions.fitness, references.fitness
    scale = np.where(best == 0, 1.0, np.abs(best))
    return np.asarray((best - found) / scale)


def _solved(
    years: ReservoirYears,
    solver: str,
    seed: int,
    device: str | None,
    progress: StageProgress,
    options: Mapping[str, Any],
) -> Solutions:
    progress(solver, 0, len(years))
    return solve(years, solver=solver, seed=seed, device=device, progress=partial(progress, solver), **options)


def _references(
    years: ReservoirYears, solver: str, device: str | None, progress: StageProgress, watch: Stopwatch
) -> Solutions:
    """Dynamic programming on the device that solves the plan, if one does and can; else on the host."""
    if solver_named(solver).opencl:
        with suppress(DeviceError), watch(DEVICE_REFERENCE):
            return _solved(years, DEVICE_REFERENCE, 0, device, progress, {})
    with watch(HOST_REFERENCE):
        return _solved(years, HOST_REFERENCE, 0, None, progress, {})


def _available(solver: str, device: str | None, options: dict[str, Any]) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    """Replace a solver that cannot run here, unless a particular device was asked for; keep the options it shares."""
    reason = "" if device not in (None, "auto") else why_unusable(solver)
    if not reason:
        return solver, (), options
    shared = {name: value for name, value in options.items() if name in SwarmSettings.__dataclass_fields__}
    return (
        FALLBACK_SOLVER,
        (f"{reason}. Solved by {FALLBACK_SOLVER} instead of {solver}; `reservoir devices` says how to mend it.",),
        shared,
    )
