"""What rules must satisfy, and what is claimed of them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from reservoir.hydro.objective import Operation
from reservoir.planning.checks import BALANCE_TOLERANCE, Check, balance_residual, release_excess
from reservoir.rules import Rule, rule_from_dict
from reservoir.rules.base.training import Training
from reservoir.rules.base.violations import ROUNDING
from reservoir.rules.evaluation.evaluation import Evaluation, FamilyResult, Sample, SimulationMode
from reservoir.rules.evaluation.misfit import decisions

#: Strong and weak baseline; every other family is fitted to the plan.
STRONG, WEAK = "sdp", "standard"
#: The two stages of one training.
FITTED_NETWORK, SEARCHED_NETWORK = "ann-regression", "ann"
#: The best fitted family makes at least this part of the strong baseline's energy in years that neither has seen.
STRONG_PART = 0.995
#: Perfect foresight is found on a grid: a rule may seem better by this part.
FORESIGHT_TOLERANCE = 1e-5

_HEADLINE = (SimulationMode.CONTINUOUS, Sample.HELD_OUT)


def rules_checks(evaluation: Evaluation) -> list[Check]:
    """The acceptance table of an evaluation; claims about families that were left out are left out."""
    reservoir, inflow = evaluation.plan.reservoir, evaluation.plan.inflow
    runs = [(each.operation, inflow) for result in evaluation.families for each in result.simulations.values()]
    runs += [(each.simulation.operation, each.inflow) for each in evaluation.tests]
    residual = _most([balance_residual(*each) for each in runs]) / float(reservoir.storage_upper_hm3.max())
    excess = _most([release_excess(operation, reservoir) for operation, _ in runs])
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
        *_within_bounds(evaluation),
        *_comparisons(evaluation),
    ]


def best_fitted(evaluation: Evaluation) -> FamilyResult | None:
    """The family of most held-out energy among those that are fitted to the plan and keep the storage bounds.

    Months that perfect foresight cannot keep are held against none. None where no family is left.
    """
    kept = [result for result in _fitted(evaluation) if _avoidable_violation(evaluation, result) <= 0]
    return max(kept, key=_held_out_gwh) if kept else None


def _fitted(evaluation: Evaluation) -> list[FamilyResult]:
    return [result for result in evaluation.families if result.family not in (STRONG, WEAK)]


def _avoidable_violation(evaluation: Evaluation, result: FamilyResult) -> float:
    """Sum of relative violations on held-out years beyond that of perfect foresight."""
    beyond = result.scores[_HEADLINE].violation - evaluation.foresight_violations.relative
    return max(beyond, 0.0) if not beyond <= ROUNDING else 0.0


def _within_bounds(evaluation: Evaluation) -> list[Check]:
    """The family that is recommended keeps the limits of the storage; where none does, the one that comes nearest."""
    fitted = _fitted(evaluation)
    if not fitted:
        return []
    best = best_fitted(evaluation)
    chosen = best or min(fitted, key=lambda result: _avoidable_violation(evaluation, result))
    what = "the best fitted family" if best else "the fitted family with the smallest violation"
    check = f"held-out storage outside limits that foresight satisfies, {what} ({chosen.family})"
    return [Check(check, _avoidable_violation(evaluation, chosen), 0.0)]


def _bounded_by_foresight(evaluation: Evaluation) -> list[Check]:
    """No rule makes more than perfect foresight, unless it leaves bounds that foresight keeps: that is charged."""
    bounded = {
        SimulationMode.CONTINUOUS: _foresight_comes_back(evaluation.foresight),
        SimulationMode.YEARLY: _comes_back(evaluation.training),
    }
    penalty = evaluation.plan.reservoir.penalty
    violation = {
        SimulationMode.CONTINUOUS: evaluation.foresight_violations.relative,
        SimulationMode.YEARLY: float(evaluation.plan.violation.sum()),
    }
    parts = [
        (energy.sum() - penalty * (result.scores[mode, sample].violation - violation[mode]))
        / evaluation.foresight_gwh[mode].sum()
        for result in evaluation.families
        for (mode, sample), energy in result.energy_gwh.items()
        if bounded[mode]
    ]
    parts += [
        (run.energy_gwh.sum() - penalty * (run.score.violation - run.foresight_violations.relative))
        / run.foresight_gwh.sum()
        for run in evaluation.tests
        if run.foresight is not None and run.foresight_gwh is not None and run.foresight_violations is not None
        if _foresight_comes_back(run.foresight)
    ]
    check = "largest energy of any rule, fraction of perfect foresight's"
    return [Check(check, _most(parts), 1 + FORESIGHT_TOLERANCE)] if parts else []


def _comparisons(evaluation: Evaluation) -> list[Check]:
    best = best_fitted(evaluation)
    baselines = {result.family: result for result in evaluation.families if result.family in (STRONG, WEAK)}
    least = {STRONG: STRONG_PART, WEAK: 1.0}
    if best is None:
        return []
    return [
        Check(
            f"held-out energy of the best fitted family ({best.family}), fraction of {name}'s",
            _held_out_gwh(best) / _held_out_gwh(baseline),
            least[name],
            at_least=True,
        )
        for name, baseline in baselines.items()
    ]


def _held_out_gwh(result: FamilyResult) -> float:
    return float(result.energy_gwh[_HEADLINE].sum())


def _comes_back(training: Training) -> bool:
    """Whether the plan's years end where they all begin: only then does no rule make more at equal end storage."""
    return bool(np.allclose(training.storage_end_hm3[:, -1], training.start_hm3, rtol=1e-6))


def _foresight_comes_back(foresight: Operation) -> bool:
    """Whether the record, or every member, can be completed at the storage that it began with."""
    storage = foresight.storage_hm3
    return bool(np.allclose(storage[..., -1], storage[..., 0], rtol=1e-6))


def _most(values: Sequence[float]) -> float:
    """The largest value; no number where one of them is none, which the builtin would miss."""
    return float(np.max(values))


def _decides_differently(rule: Rule, training: Training) -> bool:
    again = rule_from_dict(json.loads(json.dumps(rule.to_dict())))
    one, other = (decisions([each] * training.years, training) for each in (rule, again))
    return not np.array_equal(one, other)
