"""Operate a record by one rule, and score it against perfect foresight of the same record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.month_series import first_days
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_calendar import on_calendar_of
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.schedule import schedule_table, year_columns
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.foresight import foresight_in_years, foresight_over_record
from reservoir.rules.base.rule import Rule
from reservoir.rules.base.simulation import Simulation, simulate
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.violations import Violations, beyond_bounds
from reservoir.rules.evaluation.scores import Score, energy_at_equal_storage, energy_of_foresight, score
from reservoir.text.quantities import counted

FloatArray = NDArray[np.float64]

#: Months outside their limits that are told one by one.
MOST_MONTHS = 1_000


@dataclass(frozen=True, eq=False)
class RecordEvaluation:
    """What a rule does with a record.

    Parameters
    ----------
    rule : Rule
    reservoir : Reservoir
    inflow : Inflow
    start_hm3 : float
        Storage at the start of the record, or of every year; energies are compared at it.
    continuous : bool
        Whether the storage is carried from year to year.
    simulation : Simulation
    targets : Targets or None
        None where none are given and the reservoir guarantees no energy.
    foresight_gwh : ndarray, shape (years,), or None
        Energy of perfect foresight.
    energy_gwh : ndarray, shape (years,)
        At equal end storage.
    score : Score
        NaN in what cannot be known without targets or foresight.
    foresight_violations : Violations or None
        Storages outside their bounds even with perfect foresight.
    foresight : Operation or None
        Perfect foresight over the record, or of each member, or year.
    """

    rule: Rule
    reservoir: Reservoir
    inflow: Inflow
    start_hm3: float
    continuous: bool
    simulation: Simulation
    targets: Targets | None
    foresight_gwh: FloatArray | None
    energy_gwh: FloatArray
    score: Score
    foresight_violations: Violations | None = None
    foresight: Operation | None = None

    def schedule(self) -> pd.DataFrame:
        """One row a year and month, in the columns of a plan's schedule, with what the rule asked for."""
        run = self.simulation
        table = schedule_table(self.inflow, run.operation).drop(columns=["tailrace_m", "head_m"])
        table.insert(list(table).index("release_m3s"), "asked_m3s", run.asked_m3s.ravel())
        return table.assign(repaired=run.repaired.astype(int).ravel())

    def summary(self) -> pd.DataFrame:
        """One row a year, by its first day: mean inflow, energy as made and at equal end storage, spill, repairs."""
        run = self.simulation
        spill = run.operation.spill_m3s * run.hm3_per_m3s
        foresight = np.full(len(run.labels), np.nan) if self.foresight_gwh is None else self.foresight_gwh
        return pd.DataFrame(
            {
                **year_columns(self.inflow),
                "inflow_mean_m3s": self.inflow.annual_mean_m3s,
                "energy_gwh": run.energy_gwh,
                "energy_at_equal_storage_gwh": self.energy_gwh,
                "foresight_gwh": foresight,
                "storage_end_hm3": run.end_storage_hm3,
                "spill_hm3": spill.sum(axis=1),
                "repairs": run.repaired.sum(axis=1),
                "violation": run.operation.violation_sum,
            },
            first_days(self.inflow.calendar)[:: self.inflow.steps],
        )

    def shortfalls(self) -> list[str]:
        """A sentence for each month in which no release could keep the storage within its limits, and for foresight.

        The last names the months in which perfect foresight does not keep them either, which its energy does not show.
        """
        lower, upper = self.reservoir.storage_bounds_hm3
        ends = self.simulation.operation.storage_hm3[:, 1:]
        beyond = beyond_bounds(self.reservoir, ends)
        sentences = []
        outside = np.argwhere(beyond != 0)
        for year, step in outside[:MOST_MONTHS]:
            month = MONTH_NAMES[int(self.reservoir.months[step]) - 1]
            above, amount = beyond[year, step] > 0, abs(beyond[year, step])
            bound = upper[step] if above else lower[step]
            where = "above its upper" if above else "below its lower"
            sentences.append(
                f"{self.inflow.labels[year]} {month}: the storage at the end of the month is {amount:,.4g} hm3 {where} "
                f"limit of {bound:,.6g} hm3; no permitted release avoids this"
            )
        if len(outside) > MOST_MONTHS:
            sentences.append(f"So it is in {len(outside) - MOST_MONTHS:,} more months; simulation.csv lists them.")
        best = self.foresight_violations
        if best and best.months:
            by = f"{counted(best.months, 'month')} by up to {best.largest_hm3:,.3g} hm3"
            sentences.append(f"Perfect foresight violates the storage limits too, in {by}: its energy includes these.")
        return sentences


def evaluate_record(
    rule: Rule,
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    start_hm3: float | None = None,
    continuous: bool = True,
    targets: Targets | None = None,
    foresight: bool | Operation = True,
    sample: str = "record",
    progress: StageProgress = silent_stage,
) -> RecordEvaluation:
    """Operate a record by a rule.

    Parameters
    ----------
    start_hm3 : float, optional
        Storage at the start; by default the reservoir's initial storage.
    continuous : bool
        Carry the storage from year to year, instead of starting every year anew.
    targets : Targets, optional
        By default what the reservoir guarantees.
    foresight : bool or Operation
        Also operate with perfect foresight: over the whole record, or in every year; or what that came to.
    sample : str
        What the score calls the record.

    Raises
    ------
    InputError
        If record and reservoir begin their water years in different months, or there is no storage to start with.
    """
    inflow = on_calendar_of(reservoir, inflow)
    start = reservoir.initial_storage_hm3 if start_hm3 is None else start_hm3
    if start is None:
        problem = f"{reservoir.name} has no initial storage, since its years are cyclic"
        raise InputError(Mistake(problem, mend="give the level at the start of the record", column="--level"))
    model = ReservoirModel.of(reservoir)
    simulation = simulate(rule, model, inflow, start, continuous=continuous)
    energy = energy_at_equal_storage(simulation, model, start)
    best = violations = None
    found = None if isinstance(foresight, bool) else foresight
    if foresight is True:
        bound = foresight_over_record if continuous else foresight_in_years
        horizons = inflow.member_count if continuous else inflow.years
        progress("perfect foresight", 0, horizons)
        found = bound(model, inflow, start, start, partial(progress, "perfect foresight"))
    if found is not None:
        best = energy_of_foresight(found, model, inflow.years, start)
        violations = Violations.of(reservoir, found.storage_hm3[..., 1:].reshape(inflow.flow_m3s.shape))
    aims = targets or Targets.of_reservoir(reservoir)
    scored = score(
        simulation,
        model,
        energy,
        np.full(inflow.years, np.nan) if best is None else best,
        aims or Targets(np.nan, np.nan, False),
        family=rule.family,
        run="continuous" if continuous else "yearly",
        sample=sample,
    )
    made = simulation, aims, best, energy, scored, violations, found
    return RecordEvaluation(rule, reservoir, inflow, start, continuous, *made)
