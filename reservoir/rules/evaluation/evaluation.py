"""Fit every family, let it operate the record, and score it on the years it was fitted to and on years it never saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir_calendar import on_calendar_of
from reservoir.planning.notes import CARRY_OVER, storage_ratio
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage
from reservoir.planning.sentences import horizon_text
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.rules import FAMILIES, Fitter, Forecast, Rule, Training, fit
from reservoir.rules.base.foresight import Foresight
from reservoir.rules.base.simulation import Simulation, simulate
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.violations import Violations
from reservoir.rules.evaluation.accounts import Account, accounts_of
from reservoir.rules.evaluation.misfit import misfit_m3s
from reservoir.rules.evaluation.record_evaluation import RecordEvaluation, evaluate_rules
from reservoir.rules.evaluation.scores import Score, score
from reservoir.rules.folds import held_out_rules
from reservoir.solvers import Progress

FloatArray = NDArray[np.float64]

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
class FamilyResult:
    """One family: its rule, fitted to all years, and what it did.

    Parameters
    ----------
    family : str
    rule : Rule
    simulations : mapping of (SimulationMode, Sample) to Simulation
    accounts : mapping of (SimulationMode, Sample) to Account
    scores : mapping of (SimulationMode, Sample) to Score
    misfit_m3s : mapping of Sample to float
        How far its decisions are from the plan's, see `reservoir.rules.evaluation.misfit`.
    """

    family: str
    rule: Rule
    simulations: Mapping[Key, Simulation]
    accounts: Mapping[Key, Account]
    scores: Mapping[Key, Score]
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
        return self.foresights[mode].operation.in_years(self.training.steps).benefit

    def foresight_violations_of(self, mode: SimulationMode) -> Violations:
        """What no rule can keep, since perfect foresight does not."""
        operation = self.foresights[mode].operation.in_years(self.training.steps)
        return Violations.of_operation(self.training.limits, self.plan.reservoir, operation)

    @cached_property
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
            found += [(result, result.scores[mode, sample]) for sample in Sample]
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
        test = on_calendar_of(plan.reservoir, test)
        test.require_whole_members("the test of rules")
    fitted_to = ""
    asked = plan.horizon if horizon is None else Horizon.of(horizon).within(plan.inflow.calendar)
    if asked != plan.horizon and not plan.start:
        best = optimise(plan.reservoir, plan.inflow, solver=HOST_REFERENCE, horizon=asked, progress=progress)
        plan = replace(best, units=plan.units)
        fitted_to = f"the optimum of {horizon_text(plan)}, not the schedule of this plan"
    training = Training.of(plan)
    told = partial(progress, "perfect foresight")
    kinds = {SimulationMode.CONTINUOUS: Foresight.over_record}
    if years_stand_alone(plan):
        kinds[SimulationMode.YEARLY] = Foresight.in_years
    foresights = {mode: kind(training.model, plan.inflow, training.start_hm3, told) for mode, kind in kinds.items()}
    targets = Targets.of(training)
    empty = Evaluation(plan, training, Forecast(forecast), folds, targets, foresights, (), fitted_to)
    runs = [_operated(family, empty, progress, fitter) for family in families]
    found = replace(empty, families=tuple(_scored(runs, empty, told)))
    return found if test is None else replace(found, tests=_tested(found, test, progress))


def years_stand_alone(plan: Plan) -> bool:
    """Whether a year by itself says something: each is planned so, and the storage carries little to the next."""
    return plan.horizon.is_year and storage_ratio(plan.reservoir, plan.inflow) < CARRY_OVER


def _tested(evaluation: Evaluation, test: Inflow, progress: StageProgress) -> tuple[RecordEvaluation, ...]:
    """Operate another record or ensemble by the rule of every family, and once with perfect foresight."""
    rules = [result.rule for result in evaluation.families]
    start, targets = evaluation.training.start_hm3, evaluation.targets
    reservoir = evaluation.plan.reservoir
    stage = partial(progress, "test of the rules")
    return tuple(evaluate_rules(rules, reservoir, test, start_hm3=start, targets=targets, sample=TEST, progress=stage))


@dataclass(frozen=True, eq=False)
class _Operated:
    """A family's rule, and its runs."""

    rule: Rule
    simulations: Mapping[Key, Simulation]
    misfit_m3s: Mapping[Sample, float]


def _operated(family: str, evaluation: Evaluation, progress: StageProgress, fitter: Fitter | None) -> _Operated:
    """Fit a family to all years and to each block's others, and operate the record by its rules."""
    training, forecast, folds = evaluation.training, evaluation.forecast, evaluation.folds

    def fitted(done: int, total: int) -> None:
        progress(f"fit {family}", done + 1, total + 1)

    progress(f"fit {family}", 0, folds + 1)
    rule = (fitter or fit)(family, training, forecast)
    fitted(0, folds)
    held_out = held_out_rules(family, training, forecast, folds, fitted, fitter)
    samples = {Sample.TRAINING: [rule] * training.years, Sample.HELD_OUT: held_out}
    model, start = training.model, training.start_hm3
    simulations = {
        (mode, sample): simulate(
            rules, model, evaluation.plan.inflow, start, continuous=mode is SimulationMode.CONTINUOUS
        )
        for mode in evaluation.modes
        for sample, rules in samples.items()
    }
    misfits = {sample: misfit_m3s(rules, training) for sample, rules in samples.items()}
    return _Operated(rule, simulations, misfits)


def _scored(runs: Sequence[_Operated], evaluation: Evaluation, progress: Progress) -> Iterator[FamilyResult]:
    """Account for the runs of all families, mode by mode, and score them."""
    accounts: list[dict[Key, Account]] = [{} for _ in runs]
    for mode, foresight in evaluation.foresights.items():
        keys = [(mode, sample) for sample in Sample]
        operations = [run.simulations[key].operation for run in runs for key in keys]
        found = iter(accounts_of(foresight, operations, progress))
        for account in accounts:
            account.update({key: next(found) for key in keys})
    unavoidable = {mode: evaluation.foresight_violations_of(mode).relative for mode in evaluation.modes}
    model, targets = evaluation.training.model, evaluation.targets
    for run, account in zip(runs, accounts, strict=True):
        scores = {
            (mode, sample): score(
                done,
                model,
                account[mode, sample],
                targets,
                done.violations,
                unavoidable[mode],
                family=run.rule.family,
                run=mode,
                sample=sample,
            )
            for (mode, sample), done in run.simulations.items()
        }
        yield FamilyResult(run.rule.family, run.rule, run.simulations, account, scores, run.misfit_m3s)
