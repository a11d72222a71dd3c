"""Which rules violate limits or miss demands, how often and by how much, and what no rule can avoid."""

from __future__ import annotations

from reservoir.rules.base.violations import Violations
from reservoir.rules.evaluation.acceptance import STRONG, WEAK, best_names
from reservoir.rules.evaluation.evaluation import TEST, Evaluation, FamilyResult, Sample, SimulationMode
from reservoir.rules.evaluation.scores import Score

#: What a plant and a lake may have to deliver.
DEMANDS = "the minimum release, the demanded withdrawal or the minimum power"


def shortfalls(evaluation: Evaluation) -> list[str]:
    """A sentence for perfect foresight and each family that violates the limits, storage carried through the record.

    The last one states the consequence for the choice of a rule; empty if all limits are satisfied.
    """
    months = evaluation.training.years * evaluation.training.steps
    found = []
    unavoidable = evaluation.foresight_violations
    if unavoidable.months:
        found.append(
            f"Perfect foresight violates the storage limits {_months(unavoidable, months)}: no rule can satisfy all."
        )
    if unavoidable.unmet_months:
        found.append(f"Perfect foresight misses {DEMANDS} in {unavoidable.unmet_months} of {months} months.")
    for place, result in enumerate(evaluation.families):
        by_sample = {str(sample): (_violations(result, sample), months) for sample in Sample}
        if evaluation.tests:
            run = evaluation.tests[place]
            by_sample[TEST] = _of_score(run.score), run.inflow.flow_m3s.size
        said = [f"{_months(each, count)} ({sample})" for sample, (each, count) in by_sample.items() if each.months]
        if said:
            found.append(f"The rule {result.family} violates the storage limits {' and '.join(said)}.")
        missed = [
            f"in {each.unmet_months} of {count} months ({sample})"
            for sample, (each, count) in by_sample.items()
            if each.unmet_months
        ]
        if missed:
            found.append(f"The rule {result.family} misses {DEMANDS} {' and '.join(missed)}.")
    return [*found, _choice(evaluation)] if found else []


def _violations(result: FamilyResult, sample: Sample) -> Violations:
    return _of_score(result.scores[SimulationMode.CONTINUOUS, sample])


def _of_score(score: Score) -> Violations:
    return Violations(score.months_violated, score.largest_violation_hm3, score.violation, score.months_unmet)


def _months(violations: Violations, months: int) -> str:
    return f"in {violations.months} of {months} months by up to {violations.largest_hm3:,.3g} hm3"


def _choice(evaluation: Evaluation) -> str:
    rule = "A rule that violates limits which foresight satisfies is never chosen as best"
    best = best_names(evaluation)
    if best:
        return f"{rule}; the best family fitted to the plan is {best}."
    if all(result.family in (STRONG, WEAK) for result in evaluation.families):
        return f"{rule}."
    return f"{rule}. On held-out years every family fitted to the plan does so: none is recommended."
