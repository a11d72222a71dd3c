"""Let rules operate a record, scored against perfect foresight of it: one rule, or families fitted and cross-validated.

Families are scored on the years that they were fitted to, and on years that they never saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.inflow import Inflow, first_days
from reservoir.hydro.objective import Operation
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.planning.columns import OBJECTIVE, shown
from reservoir.planning.notes import CARRY_OVER, storage_ratio
from reservoir.planning.operated_record import OperatedSteps, schedule_table, year_columns
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage
from reservoir.planning.sentences import horizon_text
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules import FAMILIES, Fitter, Forecast, Rule, Training, fit
from reservoir.rules.base.foresight import Account, Foresight, accounts_of
from reservoir.rules.base.simulation import Simulation, decisions, simulate
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.training import outside, parts_of
from reservoir.rules.base.violations import ROUNDING, Violations, beyond_bounds
from reservoir.rules.evaluation.scores import Score, score
from reservoir.solvers import Progress
from reservoir.solvers.engine import silent
from reservoir.text.quantities import counted

FloatArray = NDArray[np.float64]

#: Months outside their limits that are told one by one.
MOST_MONTHS = 1_000
FOLDS = 5


class Sample(StrEnum):
    """Which years a rule is scored on."""

    TRAINING = "training"
    """The years that it was fitted to."""
    HELD_OUT = "held-out"
    """Years that it has never seen: every year by the rule fitted to the other blocks."""


#: What scores call the years of another record, or ensemble, by the rule fitted to all years of the plan.
TEST = "test"


class SimulationMode(StrEnum):
    """How the years follow each other."""

    CONTINUOUS = "continuous"
    """The storage is carried over from year to year; perfect foresight knows the whole record."""
    YEARLY = "yearly"
    """Every year starts where the plan starts the first; perfect foresight knows the year."""


#: A run of a rule, by how the years follow each other and on which it is scored.
Key = tuple[SimulationMode, Sample]


@dataclass(frozen=True, eq=False)
class RecordEvaluation:
    """What a rule does with a record.

    Parameters
    ----------
    rules : sequence of Rule
        What decides, one a year: the same, or for each year a rule that has not seen it.
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

    rules: Sequence[Rule]
    reservoir: Reservoir
    inflow: Inflow
    start_hm3: float
    continuous: bool
    simulation: Simulation
    targets: Targets | None
    account: Account
    score: Score
    foresight: Foresight | None = None

    @property
    def rule(self) -> Rule:
        """The rule that decides; of several, that of the first year."""
        return self.rules[0]

    @property
    def foresight_violations(self) -> Violations | None:
        """What no rule can keep, since perfect foresight does not."""
        return None if self.foresight is None else self.foresight.violations

    def schedule(self) -> pd.DataFrame:
        """One row a year and month, in the columns of a plan's schedule, with what the rule asked for."""
        run = self.simulation
        releases = OperatedSteps(self.inflow, run.operation, run.asked_m3s, run.repaired)
        return schedule_table("simulation", releases)

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
        missing = self.simulation.operation.missing_m3s
        beyond = beyond_bounds(self.reservoir, self.simulation.operation.storage_hm3[:, 1:])
        sentences = []
        dead = float(self.reservoir.storage_lower_hm3.min())
        if self.start_hm3 < dead - ROUNDING * float(upper.max()):
            starts, least = (units.written(each, "hm3", ",.6g") for each in (self.start_hm3, dead))
            sentences.append(
                f"The storage at the start, {starts}, is below dead storage, {least}: nothing is released before the "
                "lake is above it."
            )

        def outside(year: int, step: int) -> str:
            above = beyond[year, step] > 0
            where, bound = ("above its upper", upper[step]) if above else ("below its lower", lower[step])
            most = units.written(float(abs(beyond[year, step])), "hm3", ",.4g")
            limit = units.written(float(bound), "hm3", ",.6g")
            return (
                f"the storage at the end of the month is {most} {where} limit of {limit}; no permitted release "
                "avoids this"
            )

        def short(year: int, step: int) -> str:
            lacking = units.written(float(missing[year, step]), "m3s", ",.4g")
            return f"{lacking} are missing of the minimum release; there is no more water above dead storage"

        for months, said in ((np.argwhere(beyond != 0), outside), (np.argwhere(missing > 0), short)):
            for year, step in months[:MOST_MONTHS].tolist():
                month = MONTH_NAMES[int(self.reservoir.months[step]) - 1]
                sentences.append(f"{self.inflow.labels[year]} {month}: {said(year, step)}")
            if len(months) > MOST_MONTHS:
                sentences.append(f"So it is in {len(months) - MOST_MONTHS:,} more months; simulation.csv lists them.")
        best = self.foresight_violations
        if best and best.months:
            by = f"{counted(best.months, 'month')} by up to {units.written(best.largest_hm3, 'hm3', ',.3g')}"
            sentences.append(f"Perfect foresight violates the storage limits too, in {by}: its energy includes these.")
        return sentences


@dataclass(frozen=True, eq=False)
class FamilyResult:
    """One family: its rule, fitted to all years, and what it did.

    Parameters
    ----------
    family : str
    rule : Rule
    runs : mapping of (SimulationMode, Sample) to RecordEvaluation
        Of the plan's years.
    misfit_m3s : mapping of Sample to float
        How far its decisions are from the plan's, see `misfit_m3s`.
    """

    family: str
    rule: Rule
    runs: Mapping[Key, RecordEvaluation]
    misfit_m3s: Mapping[Sample, float]

    def misfit_of(self, sample: str) -> float:
        """`misfit_m3s` of a sample by its name; not a number of a test, which has no plan."""
        return float("nan") if sample == TEST else self.misfit_m3s[Sample(sample)]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All families on one plan.

    Parameters
    ----------
    plan : Plan
    training : Training
        All its years.
    forecast : Forecast
        What the rules were told.
    folds : int
        Blocks of the cross-validation; as many as years leave one year out at a time.
    targets : Targets
    foresights : mapping of SimulationMode to Foresight
        Over the whole record or each member, and in every year: of the yearly mode only where years stand alone.
    families : tuple of FamilyResult
        In the order of the registry.
    fitted_to : str
        What the rules are fitted to, in words, if it is another plan than the given one.
    tests : tuple of RecordEvaluation
        Of the rules of all families on another record or ensemble, storage carried through; empty without one.
    """

    plan: Plan
    training: Training
    forecast: Forecast
    folds: int
    targets: Targets
    foresights: Mapping[SimulationMode, Foresight]
    families: tuple[FamilyResult, ...]
    fitted_to: str = ""
    tests: tuple[RecordEvaluation, ...] = ()

    @property
    def modes(self) -> tuple[SimulationMode, ...]:
        """How years follow each other in the runs; those with the storage carried over, which count most, first."""
        return tuple(self.foresights)

    @cached_property
    def foresight(self) -> Operation:
        """Perfect foresight over the whole record, one step a month; of an ensemble, a row for each member."""
        operation = self.foresights[SimulationMode.CONTINUOUS].operation
        return operation[0] if self.plan.inflow.members is None else operation

    def foresight_benefit(self, mode: SimulationMode) -> FloatArray:
        """What perfect foresight brings in each year, in the unit of the objective, shape (years,)."""
        return self.foresights[mode].by_year.benefit

    def foresight_violations_of(self, mode: SimulationMode) -> Violations:
        """What no rule can keep, since perfect foresight does not."""
        return self.foresights[mode].violations

    @property
    def foresight_violations(self) -> Violations:
        """What no rule can keep that carries its storage over."""
        return self.foresight_violations_of(SimulationMode.CONTINUOUS)

    def table(self) -> pd.DataFrame:
        """One row a mode, family and sample; the continuous runs, which count most, come first."""
        return pd.DataFrame(
            [
                score.as_dict() | {"misfit_m3s": result.misfit_of(score.sample)}
                for mode in self.modes
                for result, score in self.scores_of(mode)
            ]
        )

    def scores_of(self, mode: SimulationMode) -> list[tuple[FamilyResult, Score]]:
        """Scores of a mode by family: on training years, on held-out ones, and of the continuous runs on the test."""
        found = []
        for place, result in enumerate(self.families):
            found += [(result, result.runs[mode, sample].score) for sample in Sample]
            if self.tests and mode is SimulationMode.CONTINUOUS:
                found.append((result, self.tests[place].score))
        return found

    @property
    def caveats(self) -> tuple[str, ...]:
        """Caveats to show with every result: of the plan, and of the inflow of the test."""
        tested = [each.inflow.caveat for each in self.tests[:1]]
        return tuple(dict.fromkeys(each for each in (*self.plan.caveats, *tested) if each))

    @property
    def cross_validation(self) -> str:
        """How years were held out, in words."""
        members = self.plan.inflow.member_count
        unit = "member" if members > 1 else "year"
        if self.folds == (members if members > 1 else self.training.years):
            return f"leave one {unit} out"
        return f"{self.folds} blocks of {unit}s"

    @property
    def without_years(self) -> str:
        """Why no year is operated by itself, in words; empty if they are."""
        if SimulationMode.YEARLY in self.foresights:
            return ""
        ratio = storage_ratio(self.plan.reservoir, self.plan.inflow)
        if ratio >= CARRY_OVER:
            reason = f"the active storage is {ratio:.2f} times the mean annual inflow"
        else:
            reason = f"the plan's problems are {horizon_text(self.plan)}"
        return f"Years are not operated by themselves: {reason}, and storage carries water from year to year."


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
    inflow = System.of(reservoir).on_calendar(inflow)
    start = reservoir.initial_storage_hm3 if start_hm3 is None else start_hm3
    if start is None:
        problem = f"{reservoir.name} has no initial storage, since its years are cyclic"
        raise InputError(Mistake(problem, mend="give the level at the start of the record", column="--level"))
    model, told = ReservoirModel.of(reservoir), partial(progress, "perfect foresight")
    best = Foresight.of(model, inflow, start, told, continuous=continuous) if foresight else None
    aims = targets or Targets.of_reservoir(reservoir)
    rules = [[rule] * inflow.years]
    return evaluate_rules(rules, model, inflow, start, best, aims, [sample], told, continuous=continuous)[0]


def evaluate_rules(
    rules: Sequence[Sequence[Rule]],
    model: ReservoirModel,
    inflow: Inflow,
    start_hm3: float,
    foresight: Foresight | None,
    targets: Targets | None,
    samples: Sequence[str],
    progress: Progress = silent,
    *,
    continuous: bool = True,
) -> list[RecordEvaluation]:
    """Operate a record several times, and score the runs; see `evaluate_record`.

    Parameters
    ----------
    rules : sequence of sequence of Rule
        What decides each time, one a year.
    foresight : Foresight or None
        Of the same record from the same storage, with as continuous a storage.
    samples : sequence of str
        What the score of each calls the record.
    """
    runs = [simulate(each, model, inflow, start_hm3, continuous=continuous) for each in rules]
    accounts = accounts_of(foresight, [run.operation for run in runs], progress, yearly=not continuous)
    unavoidable = 0.0 if foresight is None else foresight.violations.relative
    mode = SimulationMode.CONTINUOUS if continuous else SimulationMode.YEARLY
    evaluated = []
    for of_years, run, account, sample in zip(rules, runs, accounts, samples, strict=True):
        scored = score(run, account, targets, unavoidable, family=of_years[0].family, run=mode, sample=sample)
        given = of_years, model.reservoir, inflow, start_hm3, continuous, run, targets, account, scored, foresight
        evaluated.append(RecordEvaluation(*given))
    return evaluated


def evaluate(
    plan: Plan,
    *,
    forecast: Forecast = Forecast.MONTH,
    folds: int = FOLDS,
    families: Iterable[str] = tuple(FAMILIES),
    horizon: Horizon | str | int | None = None,
    test: Inflow | None = None,
    fitter: Fitter | None = None,
    progress: StageProgress = silent_stage,
) -> Evaluation:
    """Fit, cross-validate and score families of rules.

    Parameters
    ----------
    plan : Plan
        Optimised years.
    forecast : Forecast
        What rules are told of a month's inflow.
    folds : int
        Blocks of years, of an ensemble of whole members; each is operated by a rule fitted to the others.
    families : iterable of str
        Names in the registry.
    horizon : Horizon, str or int, optional
        Fit the rules to the optimum of the same record with this horizon (dynamic programming); by default, and if it
        is that of the plan, to the plan. All else is compared with that optimum too.
    test : Inflow, optional
        Another record or ensemble, which the rule of each family then operates too, from where the plan begins.
    fitter : callable, optional
        In place of `reservoir.rules.fit`, to keep fits (`reservoir.io.kept_fits`).
    progress : callable
        Told the stage, how much of it is done and how much there is.

    Raises
    ------
    InputError
        If there is no such family, fewer years or members than blocks, the horizon is not known, or the test does not
        fit the reservoir.
    """
    if test is not None:
        test = System.of(plan.reservoir).on_calendar(test)
        test.require_whole_members("the test of rules")
    fitted_to = ""
    asked = plan.horizon if horizon is None else Horizon.of(horizon).within(plan.inflow.calendar)
    if asked != plan.horizon and not plan.start:
        best = optimise(plan.reservoir, plan.inflow, solver=HOST_REFERENCE, horizon=asked, progress=progress)
        plan = replace(best, units=plan.units)
        fitted_to = f"the optimum of {horizon_text(plan)}, not the schedule of this plan"
    training = Training.of(plan)
    model, start, told = training.model, training.start_hm3, partial(progress, "perfect foresight")
    foresights = {
        mode: Foresight.of(model, plan.inflow, start, told, continuous=mode is SimulationMode.CONTINUOUS)
        for mode in SimulationMode
        if mode is SimulationMode.CONTINUOUS or years_stand_alone(plan)
    }
    targets, forecast = Targets.of(training), Forecast(forecast)
    fitted = [_fitted(family, training, forecast, folds, progress, fitter or fit) for family in families]
    rules = [samples[sample] for samples in fitted for sample in Sample]
    runs: list[dict[Key, RecordEvaluation]] = [{} for _ in fitted]
    for mode, foresight in foresights.items():
        continuous, called = mode is SimulationMode.CONTINUOUS, list(Sample) * len(fitted)
        evaluated = evaluate_rules(
            rules, model, plan.inflow, start, foresight, targets, called, told, continuous=continuous
        )
        for place, run in enumerate(evaluated):
            runs[place // len(Sample)][mode, called[place]] = run
    results = []
    for samples, of_family in zip(fitted, runs, strict=True):
        misfits = {sample: misfit_m3s(rules_of_years, training) for sample, rules_of_years in samples.items()}
        rule = samples[Sample.TRAINING][0]
        results.append(FamilyResult(rule.family, rule, of_family, misfits))
    tests: list[RecordEvaluation] = []
    if test is not None:
        stage = partial(progress, "test of the rules")
        foresight = Foresight.of(model, test, start, stage)
        of_all_years = [[result.rule] * test.years for result in results]
        called_test = [TEST] * len(results)
        tests = evaluate_rules(of_all_years, model, test, start, foresight, targets, called_test, stage)
    return Evaluation(plan, training, forecast, folds, targets, foresights, tuple(results), fitted_to, tuple(tests))


def years_stand_alone(plan: Plan) -> bool:
    """Whether a year by itself says something: each is planned so, and the storage carries little to the next."""
    return plan.horizon.is_year and storage_ratio(plan.reservoir, plan.inflow) < CARRY_OVER


def _fitted(
    family: str, training: Training, forecast: Forecast, folds: int, progress: StageProgress, fitter: Fitter
) -> dict[Sample, list[Rule]]:
    """Rules of a family, one a year: fitted to all years, and to each block's others."""

    def fitted(done: int, total: int) -> None:
        progress(f"fit {family}", done + 1, total + 1)

    progress(f"fit {family}", 0, folds + 1)
    rule = fitter(family, training, forecast)
    fitted(0, folds)
    held_out = held_out_rules(family, training, forecast, folds, fitted, fitter)
    return {Sample.TRAINING: [rule] * training.years, Sample.HELD_OUT: held_out}


def misfit_m3s(rules: Sequence[Rule], training: Training) -> float:
    """Root mean square of what rules, one a year, release more or less than the plan, in the plan's own situations.

    A rule may follow the plan less and yet make more energy.
    """
    return float(np.sqrt(np.mean((decisions(rules, training) - training.release_m3s) ** 2)))


def held_out_rules(
    family: str,
    training: Training,
    forecast: Forecast,
    folds: int,
    progress: Progress = silent,
    fitter: Fitter = fit,
) -> list[Rule]:
    """Fit a rule for every year that has never seen it, nor another year of its member: on those outside its block.

    Parameters
    ----------
    family : str
    training : Training
        All optimised years.
    forecast : Forecast
    folds : int
        Number of blocks.
    progress : callable
        Told how many blocks are done.
    fitter : callable, optional
        In place of `reservoir.rules.fit`.

    Returns
    -------
    list of Rule
        One a year; the years of a block share theirs.
    """
    rules: list[Rule] = []
    members = len(training.first_years)
    if 1 < members < folds:
        raise InputError(
            Mistake("is not a valid number of folds", f"2 to {members}, the number of members", value=folds)
        )
    parts = parts_of(training, folds)
    for done, block in enumerate(parts, start=1):
        rules += [fitter(family, training.select(outside(training.years, block)), forecast)] * len(block)
        progress(done, len(parts))
    return rules
