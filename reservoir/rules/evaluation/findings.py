"""What a test on other inflow says of families of rules, in words: findings of this evaluation, no checks of it."""

from __future__ import annotations

from reservoir.rules.evaluation.acceptance import best_fitted
from reservoir.rules.evaluation.evaluation import Evaluation, Sample, SimulationMode


def sentence_on_test(evaluation: Evaluation) -> str:
    """Which family makes the most energy on the test, and what the one does there that held-out years recommend.

    Empty without a test.
    """
    if not evaluation.tests:
        return ""
    on_test = {run.rule.family: run.score.percent_of_foresight for run in evaluation.tests}
    most = max(on_test, key=lambda family: on_test[family])
    span = evaluation.tests[0].inflow.span_text
    said = f"On the test ({span}) {most} generates the most energy, {on_test[most]:.2f} % of perfect foresight"
    best = best_fitted(evaluation)
    if best is None:
        return f"{said}."
    held_out = best.scores[SimulationMode.CONTINUOUS, Sample.HELD_OUT].percent_of_foresight
    beside = f"{best.family}, the best fitted family on held-out years ({held_out:.2f} %)"
    return f"{said}; {beside}, generates {on_test[best.family]:.2f} %."
