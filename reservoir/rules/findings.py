"""What a result of rules must satisfy, what families do against each other, and which limits they violate.

The checks decide the exit status; what was found of families decides none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from reservoir.hydro.unit_system import labelled
from reservoir.planning.checks import BALANCE_TOLERANCE, Check, balance_residual, largest, release_excess
from reservoir.rules import Rule, rule_from_dict
from reservoir.rules.base.simulation import decisions
from reservoir.rules.base.training import Training
from reservoir.rules.evaluation import Evaluation, FamilyResult, Sample
from reservoir.rules.families.sdp import Sdp
from reservoir.rules.scores import RecordEvaluation, Score, SimulationMode, avoidable
from reservoir.text.quantities import quantity

#: Strong and weak baseline; every other family is fitted to the plan.
BASELINES = {"sdp": "strong", "standard": "weak"}
#: The two stages of one training.
STAGES = FITTED_NETWORK, SEARCHED_NETWORK = "ann-regression", "ann"
#: Perfect foresight is found on a grid: a rule may seem better by this part.
FORESIGHT_TOLERANCE = 1e-5
#: No more than this part of what perfect foresight brings is told apart: percentages have two decimals.
TIED = 5e-5
#: Years in which rules that were read back are compared.
CHECKED_YEARS = 12
_RELEASE_OUTSIDE = labelled("release outside its limits in any simulation: largest excess ({})", "m3/s")

#: The runs that count most: storage carried over, years that the rule has not seen.
HEADLINE = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)


def rules_checks(evaluation: Evaluation) -> list[Check]:
    """The acceptance table of an evaluation; claims about families that were left out are left out."""
    reservoir = evaluation.plan.reservoir
    runs = [run for result in evaluation.families for run in result.runs.values()] + list(evaluation.tests)
    operations = [(run.simulation.operation, run.inflow) for run in runs]
    residual = largest([balance_residual(*each) for each in operations]) / float(reservoir.storage_upper_hm3.max())
    excess = largest([release_excess(operation, reservoir) for operation, _ in operations])
    above = [_above_foresight(run) for run in runs if run.foresight is not None]
    bounded = "largest benefit of any rule above perfect foresight (fraction of perfect foresight's)"
    different = sum(_decides_differently(result.rule, evaluation.training) for result in evaluation.families)
    return [
        Check(
            "water balance of the simulations: largest residual (fraction of the largest storage)",
            residual,
            BALANCE_TOLERANCE,
        ),
        Check(_RELEASE_OUTSIDE, excess, 0),
        Check("rules that decide differently after saving and loading", different, 0),
        # No rule brings more, unless it violates limits that foresight keeps: that is charged.
        *([Check(bounded, largest(above), FORESIGHT_TOLERANCE)] if above else []),
    ]


def best_fitted(evaluation: Evaluation) -> FamilyResult | None:
    """The family of most held-out benefit among those that are fitted to the plan and keep all limits.

    What perfect foresight cannot keep is held against none. None where no family is left.
    """
    kept = [result for result in fitted_families(evaluation) if avoidable_violation(evaluation, result) <= 0]
    return max(kept, key=held_out) if kept else None


def tied(evaluation: Evaluation, result: FamilyResult, other: FamilyResult) -> bool:
    """Whether what two families bring in held-out years is told apart by no figure that is shown."""
    whole = float(np.abs(result.runs[HEADLINE].account.foresight.sum()))
    return abs(charged(evaluation, result) - charged(evaluation, other)) <= TIED * whole


def best_tied(evaluation: Evaluation) -> list[FamilyResult]:
    """The best family that is fitted to the plan, see `best_fitted`, and behind it those that are as good."""
    best = best_fitted(evaluation)
    if best is None:
        return []
    kept = [each for each in fitted_families(evaluation) if avoidable_violation(evaluation, each) <= 0]
    return [best, *(each for each in kept if each is not best and tied(evaluation, best, each))]


def better_than(evaluation: Evaluation, best: FamilyResult) -> list[FamilyResult]:
    """Families that bring more than the best one in held-out years, what they violate charged; the most first."""
    more = [each for each in evaluation.families if charged(evaluation, each) > charged(evaluation, best)]
    return sorted(
        (each for each in more if not tied(evaluation, best, each)), key=lambda each: -charged(evaluation, each)
    )


def charged(evaluation: Evaluation, result: FamilyResult) -> float:
    """What a family brings in held-out years, less what it violates beyond perfect foresight."""
    return held_out(result) - evaluation.plan.reservoir.penalty * avoidable_violation(evaluation, result)


def best_names(evaluation: Evaluation) -> str:
    """Names of `best_tied`, in words; empty if there is none."""
    names = [each.family for each in best_tied(evaluation)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} (tied)" if names else ""


def fitted_families(evaluation: Evaluation) -> list[FamilyResult]:
    """Families that are fitted to the plan."""
    return [result for result in evaluation.families if result.family not in BASELINES]


def avoidable_violation(evaluation: Evaluation, result: FamilyResult) -> float:
    """Sum of relative violations on held-out years beyond that of perfect foresight."""
    return avoidable(result.runs[HEADLINE].score.violation, evaluation.foresight_violations.relative)


def held_out(result: FamilyResult) -> float:
    """What a family brings in held-out years at equal end storage, in the unit of the objective."""
    return float(result.runs[HEADLINE].account.at_equal_storage.sum())


def _above_foresight(run: RecordEvaluation) -> float:
    """What a run brings more than perfect foresight, what it violates more charged, as a part of that."""
    reservoir, best = run.reservoir, float(run.account.foresight.sum())
    unavoidable = 0.0 if run.foresight is None else run.foresight.violations.relative
    charge = reservoir.penalty * avoidable(run.score.violation, unavoidable)
    least = reservoir.objective.least_scale(reservoir.installed_mw) * len(run.account.made)
    return (float(run.account.at_equal_storage.sum()) - charge - best) / max(abs(best), least, 1e-9)


def _decides_differently(rule: Rule, training: Training) -> bool:
    """Whether a rule decides otherwise once it is written and read back, in any month of years over the whole record.

    No more than `CHECKED_YEARS`: for some families decisions take long, and one that depended on more than its file
    says would differ in most.
    """
    years = np.unique(np.linspace(0, training.years - 1, CHECKED_YEARS).round().astype(np.int64))
    again, some = rule_from_dict(json.loads(json.dumps(rule.to_dict()))), training.select(years.tolist())
    one, other = (decisions([each] * some.years, some) for each in (rule, again))
    return not np.array_equal(one, other)


@dataclass(frozen=True)
class Finding:
    """What was compared, on held-out years with the storage carried over, and what came out, in words."""

    compared: str
    found: str

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


def findings(evaluation: Evaluation) -> list[Finding]:
    """All that can be said of the families that were fitted."""
    return list(_findings(evaluation))


def _findings(evaluation: Evaluation) -> Iterator[Finding]:
    best, fitted, objective = best_fitted(evaluation), fitted_families(evaluation), evaluation.plan.objective
    results = {result.family: result for result in evaluation.families}
    compared = "best family fitted to the plan"
    if best is not None:
        better = [
            f"{each.family}, which "
            f"{'is not fitted to it' if each.family in BASELINES else 'violates limits that foresight satisfies'}, "
            f"{part_of_foresight(each)}"
            for each in better_than(evaluation, best)
        ]
        more = f"; better than that: {'; '.join(better)}" if better else ""
        yield Finding(compared, f"{best_names(evaluation)}: {part_of_foresight(best)}{more}")
        for name in [name for name in BASELINES if name in results]:
            less = best.runs[HEADLINE].score.regret - results[name].runs[HEADLINE].score.regret
            amount = f"{quantity(abs(less))} {objective.unit}".strip()
            regret = f"{amount} a year {'less' if less <= 0 else 'more'} regret"
            regret = "as much regret" if tied(evaluation, best, results[name]) else regret
            beside = f"{regret} ({part_of_foresight(results[name])})"
            yield Finding(f"{best.family} against {name}, the {BASELINES[name]} baseline", beside)
    elif fitted:
        nearest = min(fitted, key=lambda result: avoidable_violation(evaluation, result))
        amount = f"least {nearest.family} (relative sum {avoidable_violation(evaluation, nearest):,.3g})"
        yield Finding(compared, f"none: every family violates limits that foresight satisfies, {amount}")
    if set(STAGES) <= set(results):
        first, searched = (part_of_foresight(results[name]) for name in STAGES)
        yield Finding(f"{SEARCHED_NETWORK} against {FITTED_NETWORK}, its first stage", f"{searched}, {first}")
    for result in evaluation.families:
        if best is None or not isfinite(best.runs[HEADLINE].score.percent_of_foresight):
            break
        if isinstance(result.rule, Sdp):
            yield _best_possible(result, result.rule.value_of_a_year(), best, objective.unit)
    if evaluation.without_years:
        yield Finding("years by themselves", evaluation.without_years)


def _best_possible(sdp: FamilyResult, expected: float, best: FamilyResult, unit: str) -> Finding:
    """How much of the best family's regret is ignorance of the future, by what sdp expects of a year."""
    percent = 100 * expected / float(sdp.runs[HEADLINE].account.foresight.mean())
    lacks = 100 - best.runs[HEADLINE].score.percent_of_foresight
    share = f"{percent:.2f} % of perfect foresight"
    said = f", so that of the {lacks:.2f} % that {best.family} lacks, {100 - percent:.2f} are ignorance of the future"
    # The years of the record may have been better than the classes that the model makes of them, or poorer.
    if percent >= 100:
        share, said = "no less than perfect foresight brings in these years", ""
    elif not 100 - percent <= lacks <= 100:
        said = f", beside which what {best.family} lacks cannot be told apart"
    with_classes = f"with inflow as the classes of sdp have it{said}; estimated by a model, no bound"
    return Finding(
        "what the best possible rule could expect", f"{quantity(expected)} {unit} a year, {share}, {with_classes}"
    )


def part_of_foresight(result: FamilyResult) -> str:
    """What a family brings on held-out years beside perfect foresight, in words."""
    return _beside_foresight(result.runs[HEADLINE].score)


def _beside_foresight(score: Score) -> str:
    if score.has_percent:
        return f"{score.percent_of_foresight:.2f} % of perfect foresight"
    return f"{quantity(score.regret)} {score.objective.unit}".strip() + " a year of regret"


def sentence_on_test(evaluation: Evaluation) -> str:
    """Which family does best on the test, and how the one does there that held-out years recommend.

    Empty without a test.
    """
    if not evaluation.tests:
        return ""
    on_test = {run.score.family: run.score for run in evaluation.tests}
    in_words = {family: _beside_foresight(score) for family, score in on_test.items()}
    least = min(on_test, key=lambda family: on_test[family].regret)
    most = [least, *(family for family in on_test if family != least and in_words[family] == in_words[least])]
    names = f"{' and '.join(most)} {'does' if len(most) == 1 else 'do'} best"
    said = f"On the test ({evaluation.tests[0].inflow.span_text}) {names}, {in_words[least]}"
    best = best_fitted(evaluation)
    if best is None:
        return f"{said}."
    beside = f"the best fitted family on held-out years ({part_of_foresight(best)})"
    if best.family in most:
        return f"{said}; {best.family} is {beside} too."
    return f"{said}; {best.family}, {beside}, reaches {in_words[best.family]}."


#: What a plant and a lake may have to deliver.
DEMANDS = "the minimum release, the demanded withdrawal or the minimum power"


def shortfalls(evaluation: Evaluation) -> list[str]:
    """A sentence for perfect foresight and each family that violates the limits, storage carried through the record.

    The last one states the consequence for the choice of a rule; empty if all limits are satisfied.
    """
    months = evaluation.training.years * evaluation.training.steps
    volume = partial(evaluation.plan.units.stated, unit="hm3", form=",.3g")
    sentences = []
    unavoidable = evaluation.foresight_violations
    if unavoidable.months:
        extent = f"in {unavoidable.months} of {months} months by up to {volume(unavoidable.largest_hm3)}"
        sentences.append(f"Perfect foresight violates the storage limits {extent}: no rule can satisfy all.")
    if unavoidable.unmet_months:
        sentences.append(f"Perfect foresight misses {DEMANDS} in {unavoidable.unmet_months} of {months} months.")
    for place, result in enumerate(evaluation.families):
        runs = [result.runs[SimulationMode.CONTINUOUS, sample] for sample in Sample] + list(
            evaluation.tests[place:][:1]
        )
        violated, missed = [], []
        for score, count in ((run.score, run.inflow.flow_m3s.size) for run in runs):
            if score.months_violated:
                extent = f"{score.months_violated} of {count} months by up to {volume(score.largest_violation_hm3)}"
                violated.append(f"in {extent} ({score.sample})")
            if score.months_unmet:
                missed.append(f"in {score.months_unmet} of {count} months ({score.sample})")
        if violated:
            sentences.append(f"The rule {result.family} violates the storage limits {' and '.join(violated)}.")
        if missed:
            sentences.append(f"The rule {result.family} misses {DEMANDS} {' and '.join(missed)}.")
    return [*sentences, _choice(evaluation)] if sentences else []


def _choice(evaluation: Evaluation) -> str:
    rule = "A rule that violates limits which foresight satisfies is never chosen as best"
    best = best_names(evaluation)
    if best:
        return f"{rule}; the best family fitted to the plan is {best}."
    if all(result.family in BASELINES for result in evaluation.families):
        return f"{rule}."
    return f"{rule}. On held-out years every family fitted to the plan does so: none is recommended."
