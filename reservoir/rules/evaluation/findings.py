"""What families do against each other: findings of an evaluation, no checks of it. They decide no exit status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from reservoir.rules.evaluation.acceptance import (
    FITTED_NETWORK,
    HEADLINE,
    SEARCHED_NETWORK,
    STRONG,
    WEAK,
    avoidable_violation,
    best_fitted,
    best_names,
    better_than,
    fitted_families,
    tied,
)
from reservoir.rules.evaluation.evaluation import Evaluation, FamilyResult
from reservoir.rules.evaluation.scores import Score
from reservoir.rules.families.sdp.rule import Sdp
from reservoir.text.quantities import quantity


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
    return [
        *_recommended(evaluation),
        *_against_baselines(evaluation),
        *_stages(evaluation),
        *_best_possible(evaluation),
        *_years(evaluation),
    ]


def _recommended(evaluation: Evaluation) -> Iterator[Finding]:
    fitted = fitted_families(evaluation)
    if not fitted:
        return
    best = best_fitted(evaluation)
    if best is not None:
        better = [
            f"{each.family}, which {_set_aside(each)}, {part_of_foresight(each)}"
            for each in better_than(evaluation, best)
        ]
        more = f"; better than that: {'; '.join(better)}" if better else ""
        yield Finding("best family fitted to the plan", f"{best_names(evaluation)}: {part_of_foresight(best)}{more}")
        return
    nearest = min(fitted, key=lambda result: avoidable_violation(evaluation, result))
    amount = f"{avoidable_violation(evaluation, nearest):,.3g}"
    yield Finding(
        "best family fitted to the plan",
        f"none: every family violates limits that foresight satisfies, least {nearest.family} (relative sum {amount})",
    )


def _set_aside(result: FamilyResult) -> str:
    """Why a better family is not the best one fitted to the plan."""
    return "is not fitted to it" if result.family in (STRONG, WEAK) else "violates limits that foresight satisfies"


def _against_baselines(evaluation: Evaluation) -> Iterator[Finding]:
    best = best_fitted(evaluation)
    if best is None:
        return
    for name, what in ((STRONG, "strong"), (WEAK, "weak")):
        for baseline in (result for result in evaluation.families if result.family == name):
            less = best.scores[HEADLINE].regret - baseline.scores[HEADLINE].regret
            amount = f"{quantity(abs(less))} {evaluation.plan.objective.unit}".strip()
            said = f"{amount} a year {'less' if less <= 0 else 'more'} regret"
            said = "as much regret" if tied(evaluation, best, baseline) else said
            found = f"{said} ({part_of_foresight(baseline)})"
            yield Finding(f"{best.family} against {name}, the {what} baseline", found)


def _stages(evaluation: Evaluation) -> Iterator[Finding]:
    by_name = {result.family: result for result in evaluation.families}
    if {FITTED_NETWORK, SEARCHED_NETWORK} <= set(by_name):
        fitted, searched = (part_of_foresight(by_name[name]) for name in (FITTED_NETWORK, SEARCHED_NETWORK))
        yield Finding(f"{SEARCHED_NETWORK} against {FITTED_NETWORK}, its first stage", f"{searched}, {fitted}")


def _best_possible(evaluation: Evaluation) -> Iterator[Finding]:
    """How much of the best family's regret is ignorance of the future, by what dynamic programming expects."""
    best = best_fitted(evaluation)
    for result in evaluation.families:
        if best is None or not isinstance(result.rule, Sdp) or not isfinite(best.scores[HEADLINE].percent_of_foresight):
            continue
        expected, unit = result.rule.value_of_a_year(), evaluation.plan.objective.unit
        part = 100 * expected / float(result.accounts[HEADLINE].foresight.mean())
        lacks = 100 - best.scores[HEADLINE].percent_of_foresight
        share = f"{part:.2f} % of perfect foresight"
        said = f", so that of the {lacks:.2f} % that {best.family} lacks, {100 - part:.2f} are ignorance of the future"
        # The years of the record may have been better than the classes that the model makes of them, or poorer.
        if part >= 100:
            share, said = "no less than perfect foresight brings in these years", ""
        elif not 100 - part <= lacks <= 100:
            said = f", beside which what {best.family} lacks cannot be told apart"
        found = (
            f"{quantity(expected)} {unit} a year, {share}, with inflow as the classes of sdp have it{said}; estimated "
            "by a model, no bound"
        )
        yield Finding("what the best possible rule could expect", found)


def _years(evaluation: Evaluation) -> Iterator[Finding]:
    if evaluation.without_years:
        yield Finding("years by themselves", evaluation.without_years)


def part_of_foresight(result: FamilyResult) -> str:
    """What a family brings on held-out years beside perfect foresight, in words."""
    return _beside_foresight(result.scores[HEADLINE])


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
    on_test = {run.rule.family: run.score for run in evaluation.tests}
    told = {family: _beside_foresight(score) for family, score in on_test.items()}
    least = min(on_test, key=lambda family: on_test[family].regret)
    most = [least, *(family for family in on_test if family != least and told[family] == told[least])]
    names = f"{' and '.join(most)} {'does' if len(most) == 1 else 'do'} best"
    said = f"On the test ({evaluation.tests[0].inflow.span_text}) {names}, {told[least]}"
    best = best_fitted(evaluation)
    if best is None:
        return f"{said}."
    beside = f"the best fitted family on held-out years ({part_of_foresight(best)})"
    if best.family in most:
        return f"{said}; {best.family} is {beside} too."
    return f"{said}; {best.family}, {beside}, reaches {told[best.family]}."
