"""What a result of rules must satisfy; what families do against each other are `findings`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from reservoir.planning.checks import BALANCE_TOLERANCE, Check, balance_residual, largest, release_excess
from reservoir.rules import Rule, rule_from_dict
from reservoir.rules.base.training import Training
from reservoir.rules.evaluation.accounts import Account
from reservoir.rules.evaluation.evaluation import Evaluation, FamilyResult, Sample, SimulationMode
from reservoir.rules.evaluation.misfit import decisions
from reservoir.rules.evaluation.scores import Score, avoidable

#: Strong and weak baseline; every other family is fitted to the plan.
STRONG, WEAK = "sdp", "standard"
#: The two stages of one training.
FITTED_NETWORK, SEARCHED_NETWORK = "ann-regression", "ann"
#: Perfect foresight is found on a grid: a rule may seem better by this part.
FORESIGHT_TOLERANCE = 1e-5
#: No more than this part of what perfect foresight brings is told apart: percentages have two decimals.
TIED = 5e-5

#: The runs that count most: storage carried over, years that the rule has not seen.
HEADLINE = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)


def rules_checks(evaluation: Evaluation) -> list[Check]:
    """The acceptance table of an evaluation; claims about families that were left out are left out."""
    reservoir, inflow = evaluation.plan.reservoir, evaluation.plan.inflow
    runs = [(each.operation, inflow) for result in evaluation.families for each in result.simulations.values()]
    runs += [(each.simulation.operation, each.inflow) for each in evaluation.tests]
    residual = largest([balance_residual(*each) for each in runs]) / float(reservoir.storage_upper_hm3.max())
    excess = largest([release_excess(operation, reservoir) for operation, _ in runs])
    different = sum(_decides_differently(result.rule, evaluation.training) for result in evaluation.families)
    return [
        Check(
            "water balance of the simulations: largest residual (fraction of the largest storage)",
            residual,
            BALANCE_TOLERANCE,
        ),
        Check("release outside its limits in any simulation: largest excess (m3/s)", excess, 0),
        Check("rules that decide differently after saving and loading", different, 0),
        *_bounded_by_foresight(evaluation),
    ]


def best_fitted(evaluation: Evaluation) -> FamilyResult | None:
    """The family of most held-out benefit among those that are fitted to the plan and keep all limits.

    What perfect foresight cannot keep is held against none. None where no family is left.
    """
    kept = [result for result in fitted_families(evaluation) if avoidable_violation(evaluation, result) <= 0]
    return max(kept, key=held_out) if kept else None


def tied(evaluation: Evaluation, result: FamilyResult, other: FamilyResult) -> bool:
    """Whether what two families bring in held-out years is told apart by no figure that is shown."""
    whole = float(np.abs(result.accounts[HEADLINE].foresight.sum()))
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
    return [result for result in evaluation.families if result.family not in (STRONG, WEAK)]


def avoidable_violation(evaluation: Evaluation, result: FamilyResult) -> float:
    """Sum of relative violations on held-out years beyond that of perfect foresight."""
    return avoidable(result.scores[HEADLINE].violation, evaluation.foresight_violations.relative)


def held_out(result: FamilyResult) -> float:
    """What a family brings in held-out years at equal end storage, in the unit of the objective."""
    return float(result.accounts[HEADLINE].at_equal_storage.sum())


def _bounded_by_foresight(evaluation: Evaluation) -> list[Check]:
    """No rule brings more than perfect foresight, unless it violates limits that foresight keeps: that is charged."""
    parts = [_above_foresight(evaluation, *run) for run in _accounted(evaluation)]
    check = "largest benefit of any rule above perfect foresight (fraction of perfect foresight's)"
    return [Check(check, largest(parts), FORESIGHT_TOLERANCE)] if parts else []


def _accounted(evaluation: Evaluation) -> Iterator[tuple[Account, Score, float]]:
    """Each run's account, its score, and the violations of perfect foresight."""
    unavoidable = {mode: evaluation.foresight_violations_of(mode).relative for mode in evaluation.modes}
    for result in evaluation.families:
        for key, account in result.accounts.items():
            yield account, result.scores[key], unavoidable[key[0]]
    for run in evaluation.tests:
        if run.foresight_violations is not None:
            yield run.account, run.score, run.foresight_violations.relative


def _above_foresight(evaluation: Evaluation, account: Account, score: Score, unavoidable: float) -> float:
    reservoir, best = evaluation.plan.reservoir, float(account.foresight.sum())
    charge = reservoir.penalty * avoidable(score.violation, unavoidable)
    least = reservoir.objective.least_scale(reservoir.installed_mw) * len(account.made)
    return (float(account.at_equal_storage.sum()) - charge - best) / max(abs(best), least, 1e-9)


def _decides_differently(rule: Rule, training: Training) -> bool:
    """Whether a rule read back decides otherwise than one of the same values, both asked month by month.

    What the rule itself has worked out for many decisions at once may differ from that by a rounding.
    """
    same = type(rule)(**{name: getattr(rule, name) for name in type(rule).model_fields})
    again = rule_from_dict(json.loads(json.dumps(rule.to_dict())))
    one, other = (decisions([each] * training.years, training) for each in (same, again))
    return not np.array_equal(one, other)
