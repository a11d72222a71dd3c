"""What a result of rules must satisfy, what families do against each other, and which limits they violate.

The checks decide the exit status; what was found of families decides none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from reservoir.hydro.step import REPAIR_TOLERANCE
from reservoir.hydro.unit_system import SI, UnitSystem, labelled
from reservoir.planning.checks import BALANCE_TOLERANCE, Check, balance_residual, largest, release_excess
from reservoir.rules import FAMILIES, Rule, rule_from_dict
from reservoir.rules.base.simulation import decisions
from reservoir.rules.base.targets import GUARANTEED_POWER, PROMISED_POWER
from reservoir.rules.base.training import Training
from reservoir.rules.evaluation import Evaluation, FamilyResult, Sample
from reservoir.rules.families.sdp import Sdp
from reservoir.rules.scores import RecordEvaluation, SimulationMode
from reservoir.text.quantities import counted, quantity

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


def rules_checks(evaluation: Evaluation) -> list[Check]:
    """The acceptance table of an evaluation; claims about families that were left out are left out."""
    reservoir = evaluation.plan.reservoir
    runs = [run for result in evaluation.families for run in result.runs.values()] + list(evaluation.tests)
    most_hm3 = float(reservoir.storage_upper_hm3.max())
    residual = largest([balance_residual(run.operation, run.inflow) for run in runs]) / most_hm3
    excess = largest([release_excess(run.operation, reservoir) for run in runs])
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


def best_tied(evaluation: Evaluation) -> list[FamilyResult]:
    """Families that are as good in held-out years as the best of those that are fitted to the plan, which comes first.

    The best brings most, keeps all limits, and the promised power as often as is asked for; what perfect foresight
    cannot keep is held against none. None where no family is left.
    """
    fitted = [result for result in evaluation.families if result.family not in BASELINES]
    share = evaluation.targets.share or 0.0
    kept = [result for result in fitted if result.held_out.avoidable_violation <= 0 and reached(result) >= share]
    best = max(kept, key=lambda result: result.held_out.charged, default=None)
    return [] if best is None else [best, *(each for each in kept if each is not best and tied(best, each))]


def reached(result: FamilyResult) -> float:
    """Share of the held-out months in which a family gives the power of the target."""
    return result.held_out.score.firm_reliability


def best_fitted(evaluation: Evaluation) -> FamilyResult | None:
    """The first of `best_tied`, if there is any."""
    return next(iter(best_tied(evaluation)), None)


def tied(result: FamilyResult, other: FamilyResult) -> bool:
    """Whether what two families bring in held-out years is told apart by no figure that is shown."""
    whole = float(np.abs(result.held_out.foresight_benefit.sum()))
    return abs(result.held_out.charged - other.held_out.charged) <= TIED * whole


def better_than(evaluation: Evaluation, best: FamilyResult) -> list[FamilyResult]:
    """Families that bring more than the best one in held-out years, what they violate charged; the most first."""
    more = [each for each in evaluation.families if each.held_out.charged > best.held_out.charged]
    return sorted((each for each in more if not tied(best, each)), key=lambda each: -each.held_out.charged)


def best_names(evaluation: Evaluation) -> str:
    """Names of `best_tied`, in words; empty if there is none."""
    names = [each.family for each in best_tied(evaluation)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} (tied)" if names else ""


def _above_foresight(run: RecordEvaluation) -> float:
    """What a run brings more than perfect foresight, what it violates more charged, as a part of that."""
    best, reservoir = float(run.foresight_benefit.sum()), run.reservoir
    least = reservoir.objective.least_scale(reservoir.installed_mw) * len(run.made)
    return (run.charged - best) / max(abs(best), least, 1e-9)


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
    said, best, objective = list[Finding](), best_fitted(evaluation), evaluation.plan.objective
    results = {result.family: result for result in evaluation.families}
    fitted = [result for family, result in results.items() if family not in BASELINES]
    compared = "best family fitted to the plan"
    if best is not None:
        better = [
            f"{each.family}, which {_not_best(evaluation, each)}, {each.held_out.score.beside_foresight}"
            for each in better_than(evaluation, best)
        ]
        more = f"; better than that: {'; '.join(better)}" if better else ""
        said.append(Finding(compared, f"{best_names(evaluation)}: {best.held_out.score.beside_foresight}{more}"))
        for name in [name for name in BASELINES if name in results]:
            other = results[name].held_out.score
            less = best.held_out.score.regret - other.regret
            amount = f"{quantity(abs(less))} {objective.unit}".strip()
            regret = f"{amount} a year {'less' if less <= 0 else 'more'} regret"
            regret = "as much regret" if tied(best, results[name]) else regret
            title = f"{best.family} against {name}, the {BASELINES[name]} baseline"
            said.append(Finding(title, f"{regret} ({other.beside_foresight})"))
    elif _all_violate(fitted):
        nearest = min(fitted, key=lambda result: result.held_out.avoidable_violation)
        amount = f"least {nearest.family} (relative sum {nearest.held_out.avoidable_violation:,.3g})"
        said.append(Finding(compared, f"none: every family violates limits that foresight satisfies, {amount}"))
    elif fitted:
        said.append(
            Finding(compared, f"none: every family fitted to the plan {_misses(evaluation)} or violates limits")
        )
    said += _on_promise(evaluation, best)
    if set(STAGES) <= set(results):
        first, searched = (results[name].held_out.score.beside_foresight for name in STAGES)
        said.append(Finding(f"{SEARCHED_NETWORK} against {FITTED_NETWORK}, its first stage", f"{searched}, {first}"))
    # With a promise, the values of sdp are no energy: they have the price of failing months in them.
    shared = evaluation.targets.share is not None
    if best is not None and not shared and isfinite(best.held_out.score.percent_of_foresight):
        for result in evaluation.families:
            if isinstance(result.rule, Sdp):
                said.append(_best_possible(result, result.rule.value_of_a_year(), best, objective.unit))
    if evaluation.without_years:
        said.append(Finding("years by themselves", evaluation.without_years))
    return said


def spills(evaluation: Evaluation) -> list[Finding]:
    """Of each family fitted to the plan that spills in held-out years while there is room in the lake: why."""
    results = [result for result in evaluation.families if result.family not in BASELINES]
    said = [(result.family, spill_with_room(result.held_out, evaluation.plan.units)) for result in results]
    return [Finding(f"spill of {family} with room in the lake", words) for family, words in said if words]


#: Spill counts that is more than this part of the release, while at least this part of the range of storages is free.
SPILL, ROOM = 1e-3, 0.01
#: Months ahead whose limits are looked at.
AHEAD = 2
#: Why water passes the turbines by with room in the lake; where none of these, the family says why.
BEFORE_LIMIT = f"the storage limit falls within {AHEAD} months"
LEAST_RELEASE = "the least release is more than the turbines take"
NO_TURBINES = "the turbines stand still: too little head, or below their operating level"


def spill_with_room(run: RecordEvaluation, units: UnitSystem = SI) -> str:
    """How much a rule spills in months that end with room in the lake, and why; empty if it does not.

    A month has the first of the reasons that holds.
    """
    operation, limits = run.operation, run.limits
    upper, lower = limits.storage_upper_hm3, float(limits.storage_lower_hm3.min())
    end, release, spill = operation.storage_hm3[:, 1:], operation.release_m3s, operation.spill_m3s
    spilled = (spill > SPILL * release) & (upper - end > ROOM * (float(upper.max()) - lower))
    if not spilled.any():
        return ""
    volume_hm3 = spill * run.inflow.calendar.hm3_per_m3s
    steps = np.arange(upper.shape[1])
    ahead = np.min([upper[:, (steps + months) % len(steps)] for months in range(1, AHEAD + 1)], axis=0)
    slack = REPAIR_TOLERANCE * float(limits.release_upper_m3s.max())
    reasons = {
        BEFORE_LIMIT: (ahead < upper) & (end + volume_hm3 > ahead),
        LEAST_RELEASE: release <= limits.release_lower_m3s + slack,
        NO_TURBINES: operation.turbined_m3s <= slack,
        FAMILIES[run.rule.family].spill_reason: np.ones_like(spilled),
    }
    parts, left = [], spilled
    for reason, holds in reasons.items():
        if count := int((left & holds).sum()):
            parts.append((count, f"{reason} ({counted(count, 'month')})"))
        left = left & ~holds
    a_year = units.written(float(volume_hm3[spilled].sum()) / len(release), "hm3")
    months = f"{int(spilled.sum()):,} of {counted(spilled.size, 'month')}"
    return f"{a_year} a year in {months}: {'; '.join(text for _, text in sorted(parts, reverse=True))}"


def _all_violate(results: Sequence[FamilyResult]) -> bool:
    return bool(results) and all(result.held_out.avoidable_violation > 0 for result in results)


def _misses(evaluation: Evaluation) -> str:
    """What a family does that does not keep the promise."""
    targets = evaluation.targets
    return f"gives {quantity(targets.firm_mw)} MW in less than {100 * (targets.share or 0.0):g} % of the months"


def _not_best(evaluation: Evaluation, result: FamilyResult) -> str:
    """Why a family is not the best that brings more."""
    if result.family in BASELINES:
        return "is not fitted to it"
    violates = result.held_out.avoidable_violation > 0
    return "violates limits that foresight satisfies" if violates else _misses(evaluation)


def _on_promise(evaluation: Evaluation, best: FamilyResult | None) -> list[Finding]:
    """Which families keep a power that is promised; how often the best does, where nobody asked for a share."""
    targets = evaluation.targets
    power = f"{quantity(targets.firm_mw)} MW"
    if targets.share is None:
        if best is None or targets.origin not in (GUARANTEED_POWER, PROMISED_POWER) or reached(best) >= 1:
            return []
        often = f"{best.family} gives it in {reached(best):.1%} of the held-out months"
        return [Finding(f"{power}, {targets.origin}", f"{often}; --reliability SHARE fits rules that keep it")]
    results = sorted(evaluation.families, key=lambda result: (-reached(result), result.family))
    words = {result.family: f"{result.family} ({reached(result):.1%})" for result in results}
    kept = [words[result.family] for result in results if reached(result) >= targets.share]
    missed = [words[result.family] for result in results if reached(result) < targets.share]
    said = f"given in held-out months by {', '.join(kept)}" if kept else f"by no family; the most by {missed.pop(0)}"
    said += f"; less often by {', '.join(missed)}" if missed else ""
    return [Finding(f"{power} in {100 * targets.share:g} % of the months", said)]


def _best_possible(sdp: FamilyResult, expected: float, best: FamilyResult, unit: str) -> Finding:
    """How much of the best family's regret is ignorance of the future, by what sdp expects of a year."""
    percent = 100 * expected / float(sdp.held_out.foresight_benefit.mean())
    lacks = 100 - best.held_out.score.percent_of_foresight
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


def sentence_on_test(evaluation: Evaluation) -> str:
    """Which family does best on the test, and how the one does there that held-out years recommend.

    Empty without a test.
    """
    if not evaluation.tests:
        return ""
    on_test = {run.score.family: run.score for run in evaluation.tests}
    in_words = {family: score.beside_foresight for family, score in on_test.items()}
    least = min(on_test, key=lambda family: on_test[family].regret)
    most = [least, *(family for family in on_test if family != least and in_words[family] == in_words[least])]
    names = f"{' and '.join(most)} {'does' if len(most) == 1 else 'do'} best"
    said = f"On the test ({evaluation.tests[0].inflow.span_text}) {names}, {in_words[least]}"
    best = best_fitted(evaluation)
    if best is None:
        return f"{said}."
    beside = f"the best fitted family on held-out years ({best.held_out.score.beside_foresight})"
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
    best, rule = best_names(evaluation), "A rule that violates limits which foresight satisfies is never chosen as best"
    if best:
        rule += f"; the best family fitted to the plan is {best}"
    elif _all_violate([result for result in evaluation.families if result.family not in BASELINES]):
        rule += ". On held-out years every family fitted to the plan does so: none is recommended"
    return [*sentences, f"{rule}."] if sentences else []
