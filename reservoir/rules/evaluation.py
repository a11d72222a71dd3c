"""Let rules operate a record, scored against perfect foresight of it: one rule, or families fitted and cross-validated.

Families are scored on the years that they were fitted to, and on years that they never saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon, Objective
from reservoir.hydro.system import System
from reservoir.planning.columns import FIRM_QUANTILE
from reservoir.planning.notes import CARRY_OVER, storage_ratio
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage
from reservoir.planning.sentences import horizon_text
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.rules import FAMILIES, Fitter, Forecast, Rule, Training, fit
from reservoir.rules.base.foresight import Foresight
from reservoir.rules.base.simulation import Violations, beyond_bounds, decisions
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.training import outside, parts_of, parts_told
from reservoir.rules.reliability import fit_promise, promising
from reservoir.rules.scores import (
    SIMULATION,
    RecordEvaluation,
    Score,
    SimulationMode,
    benefit_suffix,
    evaluate_rules,
    worst_decile,
)

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


#: A run of a rule, by how the years follow each other and on which it is scored.
Key = tuple[SimulationMode, Sample]
#: The runs that count most: storage carried over from year to year, by rules that have not seen the year.
HELD_OUT: Key = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)


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

    @property
    def held_out(self) -> RecordEvaluation:
        """The run that counts most, see `HELD_OUT`."""
        return self.runs[HELD_OUT]


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

    def result_of(self, family: str) -> FamilyResult | None:
        """The result of a family, if it was evaluated."""
        return next((result for result in self.families if result.family == family), None)

    @property
    def modes(self) -> tuple[SimulationMode, ...]:
        """How years follow each other in the runs; those with the storage carried over, which count most, first."""
        return tuple(self.foresights)

    def foresight_benefit(self, mode: SimulationMode) -> FloatArray:
        """What perfect foresight brings in each year, in the unit of the objective, shape (years,)."""
        return self.foresights[mode].by_year.benefit

    @property
    def foresight_violations(self) -> Violations:
        """What no rule can keep that carries its storage over, since perfect foresight does not."""
        return self.foresights[SimulationMode.CONTINUOUS].violations

    def table(self) -> pd.DataFrame:
        """One row a mode, family and sample; the continuous runs, which count most, come first."""
        rows = []
        for result, score in (pair for mode in self.modes for pair in self.scores_of(mode)):
            misfit = np.nan if score.sample == TEST else result.misfit_m3s[Sample(score.sample)]  # a test has no plan
            rows.append(score.as_dict() | {"misfit_m3s": misfit})
        return pd.DataFrame(rows)

    def scores_of(self, mode: SimulationMode) -> list[tuple[FamilyResult, Score]]:
        """Scores of a mode by family: on training years, on held-out ones, and of the continuous runs on the test."""
        tested = self.tests if mode is SimulationMode.CONTINUOUS else ()
        runs = [[result.runs[mode, sample] for sample in Sample] for result in self.families]
        runs = [[*of_family, *tested[place : place + 1]] for place, of_family in enumerate(runs)]
        return [(result, run.score) for result, of_family in zip(self.families, runs, strict=True) for run in of_family]

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
        every = members if members > 1 else self.training.years
        return f"leave one {unit} out" if self.folds == every else f"{self.folds} blocks of {unit}s"

    @property
    def without_years(self) -> str:
        """Why no year is operated by itself, in words; empty if they are."""
        if SimulationMode.YEARLY in self.foresights:
            return ""
        ratio = storage_ratio(self.plan.reservoir, self.plan.inflow)
        if ratio == np.inf:
            reason = "the record has no inflow"
        elif ratio >= CARRY_OVER:
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
    reliability: float | None = None,
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
    reliability : float, optional
        Share of the months in which rules are to give the guaranteed power, or, where nothing is guaranteed, what the
        standard policy gives so often (`reservoir.rules.reliability`). Only rules that do in held-out years are best.
    fitter : callable, optional
        In place of `reservoir.rules.fit`, to keep fits (`reservoir.io.kept_fits`).
    progress : callable
        Told the stage, how much of it is done and how much there is.

    Raises
    ------
    InputError
        If there is no such family, fewer years or members than blocks, the horizon is not known, the test does not fit
        the reservoir, or the reliability is no share.
    """
    if test is not None:
        test = System.of(plan.reservoir).on_calendar(test)
        test.require_whole_members("the test of rules")
    fitted_to = ""
    planned = plan.horizon if horizon is None else Horizon.of(horizon).within(plan.inflow.calendar)
    if planned != plan.horizon and not plan.start:
        best = optimise(plan.reservoir, plan.inflow, solver=HOST_REFERENCE, horizon=planned, progress=progress)
        plan = replace(best, units=plan.units)
        fitted_to = f"the optimum of {horizon_text(plan)}, not the schedule of this plan"
    training = Training.of(plan)
    if reliability is not None:
        training = promising(training, reliability)
    model, start, solved = training.model, training.start_hm3, partial(progress, "perfect foresight")
    foresights = {SimulationMode.CONTINUOUS: Foresight.of(model, plan.inflow, start, solved)}
    if plan.horizon.is_year and storage_ratio(plan.reservoir, plan.inflow) < CARRY_OVER:  # a year says something
        foresights[SimulationMode.YEARLY] = Foresight.of(model, plan.inflow, start, solved, continuous=False)
    targets, forecast, fitter = Targets.of(training), Forecast(forecast), fitter or fit
    if training.promise is not None:
        fitter = partial(fit_promise, fitter)
    fitted = fitted_rules(families, training, forecast, folds, progress, fitter)
    rules = {(family, sample): fitted[family][sample] for family in fitted for sample in Sample}
    runs: dict[str, dict[Key, RecordEvaluation]] = {family: {} for family in fitted}
    for mode, foresight in foresights.items():
        known = start, foresight, targets, [sample for _, sample in rules], solved
        continuous = mode is SimulationMode.CONTINUOUS
        told = partial(progress, SIMULATION if continuous else f"{SIMULATION} {mode}")
        evaluated = evaluate_rules([*rules.values()], model, plan.inflow, *known, continuous=continuous, simulated=told)
        for (family, sample), run in zip(rules, evaluated, strict=True):
            runs[family][mode, sample] = run
    results = []
    for family, by_sample in fitted.items():
        misfits = {sample: misfit_m3s(of_years, training) for sample, of_years in by_sample.items()}
        results.append(FamilyResult(family, by_sample[Sample.TRAINING][0], runs[family], misfits))
    tests: list[RecordEvaluation] = []
    if test is not None:
        stage = partial(progress, "test of the rules")
        of_families = [[result.rule] * test.years for result in results]
        foreseen, samples = Foresight.of(model, test, start, stage), [TEST] * len(results)
        told = partial(progress, f"{SIMULATION} in the test")
        tests = evaluate_rules(of_families, model, test, start, foreseen, targets, samples, stage, simulated=told)
    return Evaluation(plan, training, forecast, folds, targets, foresights, tuple(results), fitted_to, tuple(tests))


def misfit_m3s(rules: Sequence[Rule], training: Training) -> float:
    """Root mean square of what rules, one a year, release more or less than the plan, in the plan's own situations.

    A rule may follow the plan less and yet make more energy.
    """
    return float(np.sqrt(np.mean((decisions(rules, training) - training.release_m3s) ** 2)))


def fitted_rules(
    families: Iterable[str],
    training: Training,
    forecast: Forecast,
    folds: int,
    progress: StageProgress = silent_stage,
    fitter: Fitter = fit,
) -> dict[str, dict[Sample, list[Rule]]]:
    """Fit rules of families, one a year each: to all years, and for every year to the years outside its block.

    A rule of held-out years has never seen the year that it operates, nor another year of its member. All families are
    fitted to the same years one after the other, so that what they have in common is worked out once (`made_once`).

    Parameters
    ----------
    families : iterable of str
    training : Training
        All optimised years.
    forecast : Forecast
    folds : int
        Number of blocks.
    progress : callable
        Told how many fits of a family are done, with the part of the one that is being made.
    fitter : callable, optional
        In place of `reservoir.rules.fit`.

    Returns
    -------
    dict of dict of list of Rule
        By family and sample, one rule a year; the years of a block share theirs.

    Raises
    ------
    InputError
        If there are more blocks than years, or than members.
    """
    members = len(training.first_years)
    if 1 < members < folds:
        problem, expected = "is not a valid number of folds", f"2 to {members}, the number of members"
        raise InputError(problem, expected, value=folds)
    rules: dict[str, dict[Sample, list[Rule]]] = {family: {sample: [] for sample in Sample} for family in families}
    parts = parts_of(training, folds)
    for done, block in enumerate([range(0), *parts]):
        years = training.select(outside(training.years, block)) if block else training
        for family, of_family in rules.items():
            tell = partial(_told_part, progress, f"fit {family}", done, len(parts) + 1)
            tell(0.0)
            sample, count = (Sample.HELD_OUT, len(block)) if block else (Sample.TRAINING, training.years)
            with parts_told(tell):
                of_family[sample] += [fitter(family, years, forecast)] * count
            tell(1.0)
    return rules


def _told_part(progress: StageProgress, stage: str, done: int, total: int, part: float) -> None:
    progress(stage, done + part, total)


#: What perfect foresight is called beside families of rules.
FORESIGHT = "foresight"


@dataclass(frozen=True, eq=False)
class MemberRuns:
    """What a family, or perfect foresight, makes of each member; arrays of shape (members,).

    Parameters
    ----------
    family, sample : str
    benefit : ndarray
        Mean of a year at equal end storage, in the unit of the objective.
    regret : ndarray
        What perfect foresight of the member brings more.
    firm_mw : ndarray
        Mean power of a month that is exceeded in nine months of ten.
    violates : ndarray of bool
        Whether any month of the member ends outside its storage bounds, or lacks water for its least release.
    objective : Objective
    """

    family: str
    sample: str
    benefit: FloatArray
    regret: FloatArray
    firm_mw: FloatArray
    violates: NDArray[np.bool_]
    objective: Objective

    @classmethod
    def of(cls, run: RecordEvaluation, best: Foresight | None = None) -> MemberRuns:
        """The members of a run, or of perfect foresight of the same record."""
        operation, members = run.operation if best is None else best.operation, run.inflow.member_count
        brought = run.at_equal_storage if best is None else run.foresight_benefit
        benefit, of_foresight = (each.reshape(members, -1).mean(axis=1) for each in (brought, run.foresight_benefit))
        ends = operation.storage_hm3[..., 1:].reshape(-1, len(run.reservoir.months))
        missed = (beyond_bounds(run.reservoir, ends, run.limits.storage_upper_hm3) != 0) | (
            operation.missing_m3s.reshape(ends.shape) > 0
        )
        return cls(
            family=run.score.family if best is None else FORESIGHT,
            sample=run.score.sample,
            benefit=benefit,
            regret=of_foresight - benefit,
            firm_mw=np.quantile(operation.power_mw.reshape(members, -1), FIRM_QUANTILE, axis=1),
            violates=missed.reshape(members, -1).any(axis=1),
            objective=run.reservoir.objective,
        )

    def as_dict(self) -> dict[str, Any]:
        """As a row of the table; benefits are named by their unit, and costs have no sign."""
        sign = -1.0 if self.objective.is_cost else 1.0
        suffix = benefit_suffix(self.objective)
        return {
            "family": self.family,
            "sample": str(self.sample),
            "members": len(self.benefit),
            f"best_{suffix}": sign * float(self.benefit.max()),
            f"median_{suffix}": sign * float(np.median(self.benefit)),
            f"worst_decile_{suffix}": sign * worst_decile(self.benefit),
            f"worst_{suffix}": sign * float(self.benefit.min()),
            "firm_median_mw": float(np.median(self.firm_mw)),
            "firm_worst_decile_mw": worst_decile(self.firm_mw),
            "firm_worst_mw": float(self.firm_mw.min()),
            f"regret_mean_{suffix}": float(self.regret.mean()),
            f"regret_median_{suffix}": float(np.median(self.regret)),
            f"regret_worst_decile_{suffix}": 0.0 - worst_decile(-self.regret),
            f"regret_largest_{suffix}": float(self.regret.max()),
            "violating_members": float(self.violates.mean()),
        }


def member_runs(evaluation: Evaluation) -> list[MemberRuns]:
    """Runs of members that no rule has seen, storage carried through each: perfect foresight's, then each family's.

    Those held out of the plan's ensemble first, then those of an ensemble that rules are tested on; nothing of records.
    """
    rows = []
    for runs in ([result.held_out for result in evaluation.families], evaluation.tests):
        if runs and runs[0].inflow.member_count > 1 and runs[0].foresight is not None:
            rows += [MemberRuns.of(runs[0], runs[0].foresight), *map(MemberRuns.of, runs)]
    return rows


def robustness_table(evaluation: Evaluation) -> pd.DataFrame | None:
    """A row for perfect foresight and each family, and each sample of members; None without an ensemble.

    Best, median, worst decile (the mean of the tenth of least energy) and worst of the members' mean annual energies,
    of their firm power, and of their regret; and the part of the members in which any month violates storage bounds
    or lacks water for the least release.
    """
    runs = member_runs(evaluation)
    return pd.DataFrame([each.as_dict() for each in runs]) if runs else None
