"""Operate a record by one rule, and score it against perfect foresight of the same record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.month_series import first_days
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_calendar import on_calendar_of
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.column_names import OBJECTIVE
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.schedule import schedule_table, shown, year_columns
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.foresight import Foresight
from reservoir.rules.base.rule import Rule
from reservoir.rules.base.simulation import Simulation, simulate
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.violations import ROUNDING, Violations, beyond_bounds
from reservoir.rules.evaluation.accounts import Account, account_without_foresight, accounts_of
from reservoir.rules.evaluation.scores import Score, score
from reservoir.solvers import Progress
from reservoir.solvers.engine import silent
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
        None where none are given and the reservoir guarantees nothing.
    account : Account
        What it brings, beside perfect foresight if that is known.
    score : Score
        NaN in what cannot be known without targets or foresight.
    foresight : Foresight or None
        Perfect foresight over the record, or of each member, or year.
    """

    rule: Rule
    reservoir: Reservoir
    inflow: Inflow
    start_hm3: float
    continuous: bool
    simulation: Simulation
    targets: Targets | None
    account: Account
    score: Score
    foresight: Foresight | None = None

    @cached_property
    def foresight_violations(self) -> Violations | None:
        """What no rule can keep, since perfect foresight does not."""
        if self.foresight is None:
            return None
        operation = self.foresight.operation.in_years(self.inflow.steps)
        return Violations.of_operation(self.simulation.limits, self.reservoir, operation)

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
        objective = self.reservoir.objective
        made, equal, best = (
            shown(objective, each)
            for each in (run.operation.benefit, self.account.at_equal_storage, self.account.foresight)
        )
        if objective.is_energy:
            columns = {"energy_at_equal_storage_gwh": equal, "foresight_gwh": best}
        else:
            columns = {OBJECTIVE: made, "objective_at_equal_storage": equal, "foresight_objective": best}
        return pd.DataFrame(
            {
                **year_columns(self.inflow),
                "inflow_mean_m3s": self.inflow.annual_mean_m3s,
                "energy_gwh": run.energy_gwh,
                **columns,
                "storage_end_hm3": run.end_storage_hm3,
                "spill_hm3": spill.sum(axis=1),
                "repairs": run.repaired.sum(axis=1),
                "violation": run.operation.violation_sum,
            },
            first_days(self.inflow.calendar)[:: self.inflow.steps],
        )

    def shortfalls(self, units: UnitSystem = SI) -> list[str]:
        """A sentence for each month in which no release could keep the storage within its limits, or the minimum flow.

        The first names a start below dead storage; the last the months in which perfect foresight does not keep them
        either, which its energy does not show.
        """
        lower, upper = self.reservoir.storage_bounds_hm3
        ends = self.simulation.operation.storage_hm3[:, 1:]
        beyond = beyond_bounds(self.reservoir, ends)
        sentences = []
        dead = float(self.reservoir.storage_lower_hm3.min())
        if self.start_hm3 < dead - ROUNDING * float(upper.max()):
            starts, least = (units.written(each, "hm3", ",.6g") for each in (self.start_hm3, dead))
            sentences.append(
                f"The storage at the start, {starts}, is below dead storage, {least}: nothing is released before the "
                "lake is above it."
            )
        outside = np.argwhere(beyond != 0)
        for year, step in outside[:MOST_MONTHS]:
            month = MONTH_NAMES[int(self.reservoir.months[step]) - 1]
            above, amount = beyond[year, step] > 0, abs(beyond[year, step])
            bound = upper[step] if above else lower[step]
            where = "above its upper" if above else "below its lower"
            most, limit = units.written(float(amount), "hm3", ",.4g"), units.written(float(bound), "hm3", ",.6g")
            sentences.append(
                f"{self.inflow.labels[year]} {month}: the storage at the end of the month is {most} {where} limit of "
                f"{limit}; no permitted release avoids this"
            )
        if len(outside) > MOST_MONTHS:
            sentences.append(f"So it is in {len(outside) - MOST_MONTHS:,} more months; simulation.csv lists them.")
        missing = self.simulation.operation.missing_m3s
        short = np.argwhere(missing > 0)
        for year, step in short[:MOST_MONTHS]:
            month = MONTH_NAMES[int(self.reservoir.months[step]) - 1]
            sentences.append(
                f"{self.inflow.labels[year]} {month}: {units.written(float(missing[year, step]), 'm3s', ',.4g')} are "
                f"missing of the minimum release; there is no more water above dead storage"
            )
        if len(short) > MOST_MONTHS:
            sentences.append(f"So it is in {len(short) - MOST_MONTHS:,} more months; simulation.csv lists them.")
        best = self.foresight_violations
        if best and best.months:
            by = f"{counted(best.months, 'month')} by up to {units.written(best.largest_hm3, 'hm3', ',.3g')}"
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
    foresight: bool = True,
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
    foresight : bool
        Also operate with perfect foresight: over the whole record, or in every year. Without it, nobody knows what
        water left at the end is worth.
    sample : str
        What the score calls the record.

    Raises
    ------
    InputError
        If record and reservoir begin their water years in different months, or there is no storage to start with.
    """
    found = evaluate_rules(
        [rule],
        reservoir,
        inflow,
        start_hm3=start_hm3,
        continuous=continuous,
        targets=targets,
        foresight=foresight,
        sample=sample,
        progress=partial(progress, "perfect foresight"),
    )
    return found[0]


def evaluate_rules(
    rules: Sequence[Rule],
    reservoir: Reservoir,
    inflow: Inflow,
    *,
    start_hm3: float | None = None,
    continuous: bool = True,
    targets: Targets | None = None,
    foresight: bool = True,
    sample: str = "record",
    progress: Progress = silent,
) -> list[RecordEvaluation]:
    """Operate a record by each of several rules, and once with perfect foresight; as `evaluate_record`."""
    inflow = on_calendar_of(reservoir, inflow)
    start = reservoir.initial_storage_hm3 if start_hm3 is None else start_hm3
    if start is None:
        problem = f"{reservoir.name} has no initial storage, since its years are cyclic"
        raise InputError(Mistake(problem, mend="give the level at the start of the record", column="--level"))
    model = ReservoirModel.of(reservoir)
    runs = [simulate(rule, model, inflow, start, continuous=continuous) for rule in rules]
    found = None
    if foresight:
        kind = Foresight.over_record if continuous else Foresight.in_years
        progress(0, inflow.member_count if continuous else inflow.years)
        found = kind(model, inflow, start, progress)
    operations = [run.operation for run in runs]
    accounts = (
        accounts_of(found, operations, progress)
        if found
        else [account_without_foresight(each, yearly=not continuous) for each in operations]
    )
    unavoidable = 0.0
    if found:
        best = found.operation.in_years(inflow.steps)
        unavoidable = Violations.of_operation(runs[0].limits, reservoir, best).relative
    aims = targets or Targets.of_reservoir(reservoir)
    scored = [
        score(
            run,
            model,
            account,
            aims or Targets(np.nan, np.nan, np.nan, False, ""),
            run.violations,
            unavoidable,
            family=rule.family,
            run="continuous" if continuous else "yearly",
            sample=sample,
        )
        for rule, run, account in zip(rules, runs, accounts, strict=True)
    ]
    told = zip(rules, runs, accounts, scored, strict=True)
    return [
        RecordEvaluation(rule, reservoir, inflow, start, continuous, run, aims, account, each, found)
        for rule, run, account, each in told
    ]
