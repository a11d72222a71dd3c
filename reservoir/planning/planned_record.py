"""The plan of a record: its schedule, where it comes from, and how close it is to the optimum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.curves.approximation import Approximation
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.month_series import first_days
from reservoir.hydro.objective import Operation
from reservoir.hydro.objectives import Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.firm_power import FirmBounds, firm_power_of_problems
from reservoir.planning.infeasible import feasible_problems, impossible_problems
from reservoir.planning.operated_record import FloatArray, OperatedRecord
from reservoir.planning.proofs import PROVEN_BOUND, PROVEN_GAP, Proofs
from reservoir.planning.schedule import loss_volumes_of_years, objective_columns, reference_column, shown, year_columns
from reservoir.planning.search import Sources, reference_of_years
from reservoir.planning.solving import REFERENCE_SOLVERS, relative_gap
from reservoir.planning.start import PlanStart
from reservoir.planning.water_values import WaterValues, water_values_of
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import Solutions
from reservoir.text.quantities import counted, quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", self.units.keeping(self.reservoir, self.inflow))

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
    def approximation(self) -> Approximation:
        """The forms of the curves that solvers evaluated, and what they change."""
        return self.problems.model.approximation

    @property
    def objective(self) -> Objective:
        """What is optimised."""
        return self.problems.model.reservoir.objective

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

        The solver's name, that of its second run, or the reference's.
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
        if not self.sources:
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

    def schedule(self) -> pd.DataFrame:
        """One row a year and month, by the first day of the month, see `schedule_table`; with the ``source``.

        A plan by dynamic programming has a last column ``water_value_gwh_per_hm3``, see `water_values`.
        """
        source = np.repeat(self.source, self.inflow.steps)
        return (
            super().schedule().assign(source=source, **{name: each.ravel() for name, each in self._of_months().items()})
        )

    def summary(self) -> pd.DataFrame:
        """One row a year, by its first day: mean inflow, energy, spill, violation, gap, generations.

        ``reference_gwh`` is the reference's energy; of another objective than energy, ``objective`` is what it comes
        to and ``reference_objective`` that of the reference. Only where the reference violates limits too, in any year,
        a column ``reference_violation`` says by how much. Horizons of several years have their gap and work in every
        row, their name in a column ``horizon``, and beside the energy of each year the storage that it gained. Of a
        reservoir with losses or withdrawals, there are their volumes. ``source`` says whose schedule the year holds;
        ``engine_gap`` is the gap of the solver's own, only if a year holds the reference's. With `proofs`,
        ``proven_bound`` is what no schedule that keeps the limits can exceed (or if there is none, none that lacks only
        water for the least release), and ``proven_gap`` how far the plan's is from it.
        """
        volume, storage = self.inflow.calendar.hm3_per_m3s, self.operation.storage_hm3
        of_year = self.problems.of_year
        reference, violation = reference_of_years(self.problems, self.references)
        horizons: dict[str, NDArray[Any]] = {}
        if not self.horizon.is_year:
            horizons["horizon"] = np.array(self.problems.labels)[of_year]
            horizons["storage_change_hm3"] = storage[:, -1] - storage[:, 0]
        return pd.DataFrame(
            {
                **year_columns(self.inflow),
                "inflow_mean_m3s": self.inflow.annual_mean_m3s,
                "energy_gwh": self.energy_gwh,
                **objective_columns(self.problems, self.operation),
                "spill_hm3": (self.spill_m3s * volume).sum(axis=1),
                **loss_volumes_of_years(self.inflow, self.operation),
                **horizons,
                "violation": self.violation,
                reference_column(self.objective): shown(self.objective, reference),
                **({"reference_violation": violation} if violation.any() else {}),
                "gap": self.gap,
                **self._proven(),
                "source": self.source,
                **({"engine_gap": self.engine_gap} if self.from_reference.any() else {}),
                "generations": self.solutions.generations[of_year],
                "evaluations": self.solutions.evaluations[of_year],
            },
            first_days(self.inflow.calendar)[:: self.inflow.steps],
        )

    def _of_years(self) -> Mapping[str, NDArray[Any]]:
        gaps = {"gap": self.gap, "engine_gap": self.engine_gap} if self.from_reference.any() else {"gap": self.gap}
        reference, violation = reference_of_years(self.problems, self.references)
        of_year = self.problems.of_year
        return {
            **super()._of_years(),
            "annual_violation": self.violation,
            **objective_columns(self.problems, self.operation),
            reference_column(self.objective): shown(self.objective, reference),
            **({"reference_violation": violation} if violation.any() else {}),
            **gaps,
            **self._proven(),
            "source": self.source.astype(str),
            "generations": self.solutions.generations[of_year],
            "evaluations": self.solutions.evaluations[of_year],
        }

    def _proven(self) -> dict[str, FloatArray]:
        """What is proved of the problem of each year, as tables show it."""
        if self.proofs is None:
            return {}
        of_year = self.problems.of_year
        return {
            PROVEN_BOUND: shown(self.objective, self.proofs.finite_bound[of_year]),
            PROVEN_GAP: self.proofs.finite_gap[of_year],
        }

    def _of_months(self) -> Mapping[str, FloatArray]:
        values = self.water_values
        return {} if values is None else {"water_value_gwh_per_hm3": values.month_end_gwh_per_hm3}

    def _described(self) -> Mapping[str, str]:
        return {**super()._described(), "solver": self.solutions.solver, "horizon": str(self.horizon)}
