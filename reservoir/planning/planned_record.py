"""The plan of a record: its schedule, where it comes from, and how close it is to the optimum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.commitments import is_committed
from reservoir.hydro.curves.approximation import Approximation
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, satisfiable
from reservoir.hydro.objectives import Horizon, Objective
from reservoir.hydro.operation import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.columns import shown
from reservoir.planning.firm_power import MOST_NAMED, FirmBounds, firm_power_of_problems
from reservoir.planning.operated_record import FloatArray, OperatedRecord
from reservoir.planning.solving import REFERENCE_SOLVERS, relative_gap
from reservoir.planning.start import PlanStart
from reservoir.planning.water_values import WaterValues, water_values_of
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions
from reservoir.text.quantities import counted, quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: A gap that is larger by less than this factor is as small as was asked for.
GAP_ROUNDING = 1 + 1e-3


@dataclass(frozen=True, eq=False)
class Proofs:
    """Proven bounds of a plan's problems.

    Parameters
    ----------
    bound : ndarray, shape (problems,)
        No schedule that keeps the limits has a larger fitness; where it is proved that none keeps them, none that lacks
        only water for the least release, and minus infinity where nothing is known of these; infinity where nothing
        could be proved.
    gap : ndarray, shape (problems,)
        Part of the bound by which the plan's schedule is below it, infinity where nothing could be proved; NaN where it
        is none of those that are bounded.
    asked : float
        Gap that was asked for.
    infeasible : mapping of str to str
        Problems of which it is proved that no schedule keeps the limits, by label: first day of the step by whose end
        they cannot be kept, and of a system the reservoir; empty if that is not known.
    """

    bound: FloatArray
    gap: FloatArray
    asked: float
    infeasible: Mapping[str, str] = field(default_factory=dict)

    @property
    def finite_bound(self) -> FloatArray:
        """The bounds, NaN where no schedule keeps the limits, and where nothing could be proved."""
        return np.where(np.isfinite(self.bound), self.bound, np.nan)

    @property
    def finite_gap(self) -> FloatArray:
        """The gaps, NaN where none is known."""
        return np.where(np.isfinite(self.gap), self.gap, np.nan)

    @property
    def worst_gap(self) -> float:
        """Largest gap; NaN if no schedule keeps its limits."""
        known = self.gap[~np.isnan(self.gap)]
        return float(known.max()) if known.size else float("nan")

    @property
    def reached(self) -> int:
        """Problems whose gap is as small as was asked for, but for rounding."""
        return int((self.gap <= self.asked * GAP_ROUNDING).sum())

    def as_dict(self) -> dict[str, Any]:
        """For ``plan.json``."""
        worst = self.worst_gap
        return {
            "gap_asked": self.asked,
            "problems": len(self.bound),
            "reached": self.reached,
            "worst_gap": worst if np.isfinite(worst) else None,
            "infeasible": dict(list(self.infeasible.items())[:MOST_NAMED]),
        }


@dataclass(frozen=True, eq=False)
class Sources:
    """Where the schedules of a plan come from.

    Parameters
    ----------
    of_problem : tuple of str
        The source of each problem: the solver, its `second_run`, the solver of the reference, or `AFTER_PROOF`.
    engine : Solutions
        The best that the solver found for each problem, in the second run or in the first.
    settings, second_settings : mapping
        Of the first run and of the second.
    """

    of_problem: tuple[str, ...]
    engine: Solutions
    settings: Mapping[str, Any]
    second_settings: Mapping[str, Any]


@dataclass(frozen=True, eq=False)  # compared by identity, as the arrays it holds
class Plan(OperatedRecord):
    """The optimised operation of every year, recomputed in float64 from the releases a solver proposed.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
    problems : RecordProblems
        The problems that were solved: a year each, or a longer horizon.
    operation : Operation
        What the releases of each year come to.
    solutions : Solutions
        The schedule of each problem that the plan holds; what is of a call is that of the solver's first run.
    references : Solutions, maybe of nothing
        The reference optimum of each problem (dynamic programming).
    notes : tuple of str
        What the user should know about this plan.
    seconds : mapping of str to float
        Wall time of each stage; stages do not overlap. A solver's bears its name.
    stopped : str
        Where a callback ended the run, in words; empty if it did not.
    start : PlanStart, optional
        The month and storage that every scenario begins with; None for whole water years. With it, "years" are
        scenarios: `inflow` has a stretch of the record in place of each year, and each is a problem.
    saved_water_values : WaterValues, optional
        Of a plan that was read from its folder.
    sources : Sources, optional
        Where the schedules come from; None if all are of the solver's first run.
    units : UnitSystem
        In which tables are written, and figures and sentences show results; arrays, tables in memory and datasets are
        SI always.
    proofs : Proofs, optional
        What is proved of the problems (`reservoir.planning.proof`).
    firm_bounds : FirmBounds, optional
        Powers that the problems do not keep, of a plan for firm power.
    """

    reservoir: Reservoir
    inflow: Inflow
    problems: RecordProblems
    operation: Operation
    solutions: Solutions
    references: Solutions
    notes: tuple[str, ...]
    seconds: Mapping[str, float]
    stopped: str = ""
    start: PlanStart | None = None
    saved_water_values: WaterValues | None = None
    sources: Sources | None = None
    units: UnitSystem = SI
    proofs: Proofs | None = None
    firm_bounds: FirmBounds | None = None
    step_table, year_table = "schedule", "summary"

    def __repr__(self) -> str:
        years, kept = counted(self.inflow.years, self.year_word), len(self.kept_energy_gwh)
        energy = f"{quantity(float(self.kept_energy_gwh.sum()))} GWh in {years}"
        if self.start and kept:  # scenarios exclude each other
            energy = f"{quantity(float(self.kept_energy_gwh.mean()))} GWh, mean of {years}"
        limits = "" if kept == self.inflow.years else f", {kept} of which keep their limits"
        horizon = (self.start or self).horizon
        others = "".join(
            f", {counted(count, self.year_word)} by {name}" for name, count in list(self.source_counts.items())[1:]
        )
        by = f"by {self.solutions.solver}{others}, horizon {horizon}{', stopped' if self.stopped else ''}"
        return f"<Plan of {self.reservoir.name}{f' from {self.start}' if self.start else ''}: {energy}{limits}, {by}>"

    @property
    def year_word(self) -> str:
        """What a row of the plan is: a year, or a scenario where the plan begins from a given month."""
        return "scenario" if self.start else "year"

    @property
    def problem_word(self) -> str:
        """What a problem of the plan is: a row of it, or a horizon of several."""
        return self.year_word if len(self.problems) == self.inflow.years else "horizon"

    @property
    def approximation(self) -> Approximation:
        """The forms of the curves that solvers evaluated, and what they change."""
        return self.problems.model.approximation

    @property
    def objective(self) -> Objective:
        """What is optimised."""
        return self.problems.model.system.objective

    @cached_property
    def benefit(self) -> FloatArray:
        """What is optimised, of each year, in the unit of the objective and as tables show it, shape (years,)."""
        return shown(self.objective, self.operation.benefit)

    @cached_property
    def firm_power_mw(self) -> FloatArray:
        """The power that all steps of each problem give, or the share the objective asks for, shape (problems,)."""
        return firm_power_of_problems(self.problems, self.operation)

    @property
    def horizon(self) -> Horizon:
        """What was planned as one problem."""
        return self.problems.horizon

    @property
    def end_value_gwh_per_hm3(self) -> float | None:
        """What one hm3 left at the end is worth, given or implied by the record; None unless the end is valued."""
        return self.problems.model.reservoir.end_value_gwh_per_hm3

    @cached_property
    def feasible_problems(self) -> NDArray[np.bool_]:
        """Whether some schedule keeps the limits of each problem, shape (problems,)."""
        return feasible_problems(self.problems, self.solutions.violation)

    @cached_property
    def impossible_problems(self) -> NDArray[np.bool_]:
        """Whether it is sure that no schedule keeps the limits of each problem, shape (problems,)."""
        return impossible_problems(self.problems, self.feasible_problems)

    @cached_property
    def feasible(self) -> NDArray[np.bool_]:
        """Whether some schedule keeps the limits of the problem of each year, shape (years,)."""
        return self.feasible_problems[self.problems.of_year]

    @cached_property
    def water_values(self) -> WaterValues | None:
        """Marginal values of stored water, GWh per hm3; None unless dynamic programming made the plan."""
        if self.solutions.solver not in REFERENCE_SOLVERS:
            return None
        return self.saved_water_values or water_values_of(self.problems, self.operation, self.feasible_problems)

    @cached_property
    def gap(self) -> FloatArray:
        """Part by which the fitness of each year's problem falls short of the reference optimum; NaN without one.

        NaN too in years that cannot keep their limits, where the fitness is no energy: compare the violations.
        """
        return self._gap_of(self.solutions)

    @cached_property
    def engine_gap(self) -> FloatArray:
        """The same of the solver's own schedules, also in years that hold the reference's."""
        return self._gap_of(self.engine_solutions)

    def _gap_of(self, solutions: Solutions) -> FloatArray:
        if not self.references:
            return np.full(len(self.feasible), np.nan)
        gap = relative_gap(solutions, self.references, self.problems.least_gap_scale)
        return np.where(self.feasible, gap[self.problems.of_year], np.nan)

    def better_known(self, gap: float) -> NDArray[np.bool_]:
        """Whether the reference of a problem keeps the limits and is better by more than a gap, shape (problems,)."""
        if not self.references:
            return np.zeros(len(self.problems), np.bool_)
        further = relative_gap(self.solutions, self.references, self.problems.least_gap_scale) > gap * GAP_ROUNDING
        return np.asarray(further & (self.references.violation == 0))

    @property
    def engine_solutions(self) -> Solutions:
        """The best that the solver found for each problem, also where the plan holds the reference's schedule."""
        return self.sources.engine if self.sources else self.solutions

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the solver's first run."""
        return self.sources.settings if self.sources else self.solutions.settings[0]

    @cached_property
    def source(self) -> NDArray[np.object_]:
        """Whose schedule each year holds, shape (years,).

        The solver's name, that of its second run, the reference's, or that of the search after a proof.
        """
        if not self.sources:
            return np.full(self.inflow.years, self.solutions.solver, object)
        return np.array(self.sources.of_problem, object)[self.problems.of_year]

    @cached_property
    def source_counts(self) -> dict[str, int]:
        """How many years each source has; the solver first, even with none, then those that have any."""
        own = self.solutions.solver
        others = sorted({str(name) for name in self.source} - {own}, key=lambda name: not name.startswith(own))
        return {name: int((self.source == name).sum()) for name in (own, *others)}

    @cached_property
    def from_reference(self) -> NDArray[np.bool_]:
        """Which years hold the reference's schedule in place of the solver's, shape (years,)."""
        if not self.sources or self.references.solver == self.solutions.solver:
            return np.zeros(self.inflow.years, np.bool_)
        return np.asarray(self.source == self.references.solver)

    def save(self, folder: str | Path, *, force: bool = False, figures: bool = True, format: str | None = None) -> Path:
        """Write tables, figures and the report to a folder, see `reservoir.save_plan`."""
        import reservoir  # files are written above this folder: the package knows where

        return reservoir.save_plan(self, folder, force=force, figures=figures, format=format)

    def plots(self) -> dict[str, Figure]:
        """Draw the figures of the report by name (matplotlib), see `reservoir.plan_figures`."""
        import reservoir

        return reservoir.plan_figures(self)

    @property
    def reference_benefit(self) -> FloatArray:
        """What the reference of each year comes to, as tables show it, shape (years,); not a number without one."""
        return shown(self.objective, self._reference[0])

    @property
    def reference_violation(self) -> FloatArray:
        """Violation of the reference of each year, shape (years,); zero without one."""
        return self._reference[1]

    @cached_property
    def _reference(self) -> tuple[FloatArray, FloatArray]:
        years, references = self.inflow.years, self.references
        if not references:
            return np.full(years, np.nan), np.zeros(years)
        if self.problems.horizon.is_year:
            return references.benefit, references.violation
        operation = operation_of(self.problems, references)
        return operation.benefit, operation.violation_sum

    def _described(self) -> Mapping[str, str]:
        return {**super()._described(), "solver": self.solutions.solver, "horizon": str(self.horizon)}


def operation_of(problems: RecordProblems, solutions: Solutions) -> Operation:
    """What solutions come to in float64, a row for each year of the record."""
    if solutions.operation is None:
        return problems.operate(solutions.position)
    operation: Operation = solutions.operation
    return operation.in_years(problems.inflow.steps)


def feasible_problems(problems: RecordProblems, violation: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether some schedule keeps the limits of each problem, shape (problems,); see `feasible_years`."""
    return np.concatenate(
        [
            feasible_years(batch.limits, violation[places], surely=not is_committed(batch.model.reservoir))
            for places, batch in problems.placed_batches
        ]
    )


def impossible_problems(problems: RecordProblems, feasible: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether it is sure that no schedule keeps the limits of each problem, shape (problems,).

    Of some for which none was found it is not: those that miss a lowest power, a slow change of the release or a
    committed release, where nothing proves that they must. `feasible` is as of `feasible_problems`.
    """
    impossible = ~feasible
    if impossible.any() and is_committed(problems.model.reservoir):
        from reservoir.planning.commitments import proved_uncommitted  # which takes a moment

        lost = np.flatnonzero(impossible)
        impossible[lost] = proved_uncommitted(problems, lost)
        return impossible
    for places, batch in problems.placed_batches:
        lost = np.flatnonzero(~feasible[places])
        if lost.size and (batch.limits.ramps or batch.limits.demands_power):
            from reservoir.certificate.kept_power import proved_impossible  # which takes a moment

            able = satisfiable(batch.limits[lost])
            for place in lost[able].tolist():
                impossible[places[place]] = proved_impossible(batch[place])
    return impossible


def feasible_years(limits: Limits, violation: NDArray[np.float64], *, surely: bool = True) -> NDArray[np.bool_]:
    """Whether some schedule keeps the limits of each year, shape (years,).

    The violation, shape (years,), is of any schedule of each: one without proves that there is one, and only the others
    are searched. What was found counts where nothing more is known, of a lowest power, slow changes of the release,
    or, unless the limits `surely` say all, of a committed release.
    """
    feasible = np.asarray(violation <= 0)
    lost = np.flatnonzero(~feasible)
    unknown = limits.ramps or limits.demands_power or not surely
    feasible[lost] = False if unknown else satisfiable(limits[lost])
    return feasible
