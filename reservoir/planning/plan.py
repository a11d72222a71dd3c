"""Optimise a case: a reservoir and an inflow record in, the best operation of every year out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.curves.approximation import Approximation
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.month_series import month_starts
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.end_value import end_value_used, with_end_value
from reservoir.planning.given_releases import first_positions
from reservoir.planning.infeasible import feasible_problems
from reservoir.planning.notes import plan_notes
from reservoir.planning.operated_record import FloatArray, OperatedRecord
from reservoir.planning.schedule import loss_volumes_of_years
from reservoir.planning.solution_numbers import operation_of, reference_of_years, relative_gap
from reservoir.planning.solver_choice import REFERENCE_SOLVERS, chosen_solver
from reservoir.planning.stages import StageProgress as StageProgress
from reservoir.planning.stages import references_of, solved
from reservoir.planning.stages import silent_stage as silent_stage
from reservoir.planning.start import PlanStart, plan_start
from reservoir.planning.stopping import NO_REFERENCE, NotedStop, leading_problems, stop_sentence
from reservoir.planning.stopwatch import Stopwatch
from reservoir.planning.water_values import WaterValues, water_values_of
from reservoir.problems.reservoir.record import RecordProblems, record_problems
from reservoir.problems.reservoir.year import check_first_month
from reservoir.solvers import Solutions, Stop
from reservoir.solvers.base.progress import callers_own
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
        What the solver returned for each problem.
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

    def __repr__(self) -> str:
        years, kept = counted(self.inflow.years, self.year_word), len(self.kept_energy_gwh)
        energy = f"{quantity(float(self.kept_energy_gwh.sum()))} GWh in {years}"
        if self.start and kept:  # scenarios exclude each other
            energy = f"{quantity(float(self.kept_energy_gwh.mean()))} GWh, mean of {years}"
        limits = "" if kept == self.inflow.years else f", {kept} of which keep their limits"
        horizon = (self.start or self).horizon
        by = f"by {self.solutions[0].solver}, horizon {horizon}{', stopped' if self.stopped else ''}"
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
        if not self.references:
            return np.full(len(self.feasible), np.nan)
        return np.where(self.feasible, relative_gap(self.solutions, self.references)[self.problems.of_year], np.nan)

    def save(self, folder: str | Path, *, force: bool = False, figures: bool = True) -> Path:
        """Write tables, figures and the report to a folder, see `reservoir.save_plan`."""
        import reservoir  # files are written above this folder: the package knows where

        return reservoir.save_plan(self, folder, force=force, figures=figures)

    def plots(self) -> dict[str, Figure]:
        """Draw the figures of the report by name (matplotlib), see `reservoir.plan_figures`."""
        import reservoir

        return reservoir.plan_figures(self)

    def schedule(self) -> pd.DataFrame:
        """One row a year and month, by the first day of the month, see `schedule_table`.

        A plan by dynamic programming has a last column ``water_value_gwh_per_hm3``, see `water_values`.
        """
        return super().schedule().assign(**{name: each.ravel() for name, each in self._of_months().items()})

    def summary(self) -> pd.DataFrame:
        """One row a year, by its first day: mean inflow, energy, spill, violation, gap, generations.

        ``reference_gwh`` is the reference's energy. Only where the reference violates limits too, in any year, a column
        ``reference_violation`` says by how much. Horizons of several years have their gap and work in every row, their
        name in a column ``horizon``, and beside the energy of each year the storage that it gained. Of a reservoir with
        losses or withdrawals, there are their volumes.
        """
        volume, storage = self.inflow.calendar.hm3_per_m3s, self.operation.storage_hm3
        of_year = self.problems.of_year
        reference, violation = reference_of_years(self.problems, self.references)
        horizons = {
            "horizon": np.array(self.problems.labels)[of_year],
            "storage_change_hm3": storage[:, -1] - storage[:, 0],
        }
        return pd.DataFrame(
            {
                "year": list(self.inflow.labels),
                "inflow_mean_m3s": self.inflow.annual_mean_m3s,
                "energy_gwh": self.energy_gwh,
                "spill_hm3": (self.spill_m3s * volume).sum(axis=1),
                **loss_volumes_of_years(self.inflow, self.operation),
                **({} if self.horizon.is_year else horizons),
                "violation": self.violation,
                "reference_gwh": reference,
                **({"reference_violation": violation} if violation.any() else {}),
                "gap": self.gap,
                "generations": self.solutions.generations[of_year],
                "evaluations": self.solutions.evaluations[of_year],
            },
            month_starts(self.inflow.calendar)[:: self.inflow.steps],
        )

    def _of_years(self) -> Mapping[str, FloatArray]:
        return {**super()._of_years(), "gap": self.gap}

    def _of_months(self) -> Mapping[str, FloatArray]:
        values = self.water_values
        return {} if values is None else {"water_value_gwh_per_hm3": values.month_end_gwh_per_hm3}

    def _described(self) -> Mapping[str, str]:
        return {**super()._described(), "solver": self.solutions.solver, "horizon": str(self.horizon)}


def optimise(
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    solver: str | None = None,
    horizon: Horizon | str | int | None = None,
    start: object = None,
    start_level_m: float | None = None,
    start_hm3: float | None = None,
    seed: int = 1,
    device: str | None = "auto",
    reference: bool = True,
    initial: OperatedRecord | ArrayLike | pd.Series[float] | None = None,
    progress: StageProgress = silent_stage,
    stop: Stop | None = None,
    **options: Any,
) -> Plan:
    """Find the best operation of every year of a record.

    Parameters
    ----------
    reservoir : Reservoir
    inflow : Inflow
        Its water years begin in the reservoir's first month.
    solver : str, optional
        A name of `reservoir.solvers.SOLVERS`; by default ``clpso``; for longer horizons dynamic programming, or
        ``lshade`` if the change of the release is limited.
    horizon : Horizon, str or int, optional
        What is planned as one problem: ``"year"``, ``"record"`` or a number of years; by default as the reservoir says.
    start : str, date or pandas.Period, optional
        Month in which the plan begins, such as ``"2026-11"``, from the level or the storage that is given with it.
        Each year of the record is then one scenario of the inflow, from that month to the end of the water year; with
        a horizon of N years, to the end of the Nth. It ends as the reservoir's year end says.
    start_level_m, start_hm3 : float, optional
        Level, or storage, at the start of that month.
    seed : int
        The same seed on the same device gives the same plan.
    device : str, optional
        See `reservoir.opencl.choose_device`.
    reference : bool
        Also find the reference optimum by dynamic programming, so that every year's gap is known.
    initial : Plan, ReleaseSimulation, array_like or pandas.Series, optional
        Releases that the search begins with (m3/s), as of `reservoir.simulate`: one member of the first population of
        each problem, the others are random. The plan is no worse than they are, but for the rounding of float32. Only
        ``clpso``, ``lshade``, ``clpso-sequential``, ``ann-pso`` and ``ann-pso-parallel`` can begin with them.
    progress : callable
        Told the stage, how many years are done and how many there are.
    stop : callable, optional
        Asked with an `IntermediateResult` between launches, or years. If it returns True, the plan has the years that
        are planned, from the first of the record; if that is during the reference optimum, it has no gaps. ``clpso``
        and ``lshade`` ask after each sweep over long horizons, which then have the schedules found so far.
        `Plan.stopped` says where. See `reservoir.solvers.solve`.
    **options
        Settings of the solver, such as ``particles`` and ``generations``.

    Raises
    ------
    InputError
        If reservoir and record do not fit each other, the solver cannot take such a horizon, or a setting is wrong.
    DeviceError
        If the device asked for is missing or too small.
    """
    watch = Stopwatch()
    with watch("prepare"):
        asked = Horizon.of(reservoir.horizon if horizon is None else horizon)
        begin = plan_start(start, start_level_m, start_hm3, asked, reservoir)
        check_first_month(reservoir, inflow)
        end_value = end_value_used(reservoir, inflow, watch)
        if begin:
            reservoir, inflow, asked = begin.begun, begin.traces(inflow), Horizon()
        problems = record_problems(with_end_value(reservoir, end_value), inflow, asked)
    with watch("devices"):
        solver, notes, options = chosen_solver(solver, device, options, problems)
        if initial is not None:
            options = {**options, **first_positions(problems, initial, solver)}
            notes = (*notes, "The search began with given releases.")
    progress, noted = callers_own(progress), stop and NotedStop(stop)
    with watch(solver):
        solutions = solved(problems.each, solver, seed, device, progress, options | {"stop": noted})
    stopped = stop_sentence(solver, len(solutions), len(problems), noted)
    problems = leading_problems(problems, len(solutions)) if stopped else problems
    inflow = problems.inflow
    references = solutions if solver in REFERENCE_SOLVERS else Solutions.of([])
    wanted = reference and not references and not stopped
    if wanted and problems.ramps:
        notes = (*notes, "There is no reference optimum: dynamic programming cannot limit the change of the release.")
    elif wanted:
        references = references_of(problems.each, solver, device, progress, noted, watch)
        stopped = stop_sentence(references.solver, len(references), len(problems), noted, NO_REFERENCE)
        references = Solutions.of([]) if stopped else references
    with watch("certify"):
        operation = operation_of(problems, solutions)
    told = (*inflow.notes, *reservoir.notes, *notes, *plan_notes(reservoir, problems, operation, begin, stopped))
    return Plan(reservoir, inflow, problems, operation, solutions, references, told, watch.seconds, stopped, begin)
