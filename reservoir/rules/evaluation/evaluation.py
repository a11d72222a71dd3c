"""Fit every family, let it operate the record, and score it on the years it was fitted to and on years it never saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir_calendar import on_calendar_of
from reservoir.planning.plan import Plan, StageProgress, optimise, silent_stage
from reservoir.planning.sentences import horizon_text
from reservoir.planning.solver_choice import HOST_REFERENCE
from reservoir.rules import FAMILIES, Forecast, Rule, Training, fit
from reservoir.rules.base.foresight import foresight_over_record
from reservoir.rules.base.simulation import Simulation, simulate
from reservoir.rules.base.targets import Targets
from reservoir.rules.base.violations import Violations
from reservoir.rules.evaluation.misfit import misfit_m3s
from reservoir.rules.evaluation.record_evaluation import RecordEvaluation, evaluate_record
from reservoir.rules.evaluation.scores import Score, energy_at_equal_storage, energy_of_foresight, equal_storage, score
from reservoir.rules.folds import held_out_rules

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
    """Every year starts where the plan starts it; perfect foresight is the plan."""


@dataclass(frozen=True, eq=False)
class FamilyResult:
    """One family: its rule, fitted to all years, and what it did.

    Parameters
    ----------
    family : str
    rule : Rule
    simulations : mapping of (SimulationMode, Sample) to Simulation
    energy_gwh : mapping of (SimulationMode, Sample) to ndarray, shape (years,)
        At equal end storage.
    scores : mapping of (SimulationMode, Sample) to Score
    misfit_m3s : mapping of Sample to float
        How far its decisions are from the plan's, see `reservoir.rules.evaluation.misfit`.
    """

    family: str
    rule: Rule
    simulations: Mapping[tuple[SimulationMode, Sample], Simulation]
    energy_gwh: Mapping[tuple[SimulationMode, Sample], FloatArray]
    scores: Mapping[tuple[SimulationMode, Sample], Score]
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
    foresight : Operation
        Perfect foresight over the whole record, one step a month; of an ensemble, a row for each member.
    foresight_gwh : mapping of SimulationMode to ndarray, shape (years,)
        Energy of perfect foresight in each year, at equal end storage.
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
    foresight: Operation
    foresight_gwh: Mapping[SimulationMode, FloatArray]
    families: tuple[FamilyResult, ...]
    fitted_to: str = ""
    tests: tuple[RecordEvaluation, ...] = ()

    def table(self) -> pd.DataFrame:
        """One row a mode, family and sample; the continuous runs, which count most, come first."""
        return pd.DataFrame(
            [
                score.as_dict() | {"misfit_m3s": result.misfit_of(score.sample)}
                for mode in SimulationMode
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
    def foresight_violations(self) -> Violations:
        """Storages outside their bounds even with perfect foresight: no rule can keep them."""
        ends = self.foresight.storage_hm3[..., 1:].reshape(self.training.years, self.training.steps)
        return Violations.of(self.plan.reservoir, ends)

    @property
    def cross_validation(self) -> str:
        """How years were held out, in words."""
        members = self.plan.inflow.member_count
        unit = "member" if members > 1 else "year"
        if self.folds == (members if members > 1 else self.training.years):
            return f"leave one {unit} out"
        return f"{self.folds} blocks of {unit}s"


def evaluate(
    plan: Plan,
    *,
    forecast: Forecast = Forecast.MONTH,
    folds: int = FOLDS,
    families: Iterable[str] = tuple(FAMILIES),
    horizon: Horizon | str | int | None = None,
    test: Inflow | None = None,
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
        plan = optimise(plan.reservoir, plan.inflow, solver=HOST_REFERENCE, horizon=asked, progress=progress)
        fitted_to = f"the optimum of {horizon_text(plan)}, not the schedule of this plan"
    training = Training.of(plan)
    start = training.start_hm3
    told = partial(progress, "perfect foresight")
    foresight = foresight_over_record(training.model, plan.inflow, start, start, told)
    # A year that chooses its start uses up no more water than it began with, wherever others start.
    starts, ends = training.storage_start_hm3[:, 0], training.storage_end_hm3[:, -1]
    foresight_gwh = {
        SimulationMode.CONTINUOUS: energy_of_foresight(foresight, training.model, training.years, start),
        SimulationMode.YEARLY: equal_storage(plan.energy_gwh, ends, training.release_m3s, training.model, starts),
    }
    targets = Targets.of(training)
    empty = Evaluation(plan, training, Forecast(forecast), folds, targets, foresight, foresight_gwh, (), fitted_to)
    found = replace(empty, families=tuple(_evaluated(family, empty, progress) for family in families))
    return found if test is None else replace(found, tests=_tested(found, test, progress))


def _tested(evaluation: Evaluation, test: Inflow, progress: StageProgress) -> tuple[RecordEvaluation, ...]:
    """Operate another record or ensemble by the rule of every family, and once with perfect foresight."""
    model, start = evaluation.training.model, evaluation.training.start_hm3
    foresight = foresight_over_record(model, test, start, start, partial(progress, "perfect foresight of the test"))
    runs = []
    for result in evaluation.families:
        progress(f"test {result.family}", 0, 1)
        run = evaluate_record(
            result.rule,
            evaluation.plan.reservoir,
            test,
            start_hm3=start,
            targets=evaluation.targets,
            foresight=foresight,
            sample=TEST,
        )
        runs.append(run)
    return tuple(runs)


def _evaluated(family: str, evaluation: Evaluation, progress: StageProgress) -> FamilyResult:
    training, forecast, folds = evaluation.training, evaluation.forecast, evaluation.folds

    def fitted(done: int, total: int) -> None:
        progress(f"fit {family}", done + 1, total + 1)

    progress(f"fit {family}", 0, folds + 1)
    rule = fit(family, training, forecast)
    fitted(0, folds)
    held_out = held_out_rules(family, training, forecast, folds, fitted)
    samples = {Sample.TRAINING: [rule] * training.years, Sample.HELD_OUT: held_out}
    simulations, energies, scores = {}, {}, {}
    model, start = training.model, training.start_hm3
    for mode in SimulationMode:
        for sample, rules in samples.items():
            continuous = mode is SimulationMode.CONTINUOUS
            done = simulate(rules, model, evaluation.plan.inflow, start, continuous=continuous)
            energy = energy_at_equal_storage(done, model, start)
            simulations[mode, sample], energies[mode, sample] = done, energy
            best, targets = evaluation.foresight_gwh[mode], evaluation.targets
            scores[mode, sample] = score(done, model, energy, best, targets, family=family, run=mode, sample=sample)
    misfits = {sample: misfit_m3s(rules, training) for sample, rules in samples.items()}
    return FamilyResult(family, rule, simulations, energies, scores, misfits)
