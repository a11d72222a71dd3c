"""How far a rule's decisions are from the plan's: a rule may follow the plan less and yet make more energy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.simulation import by_rule
from reservoir.rules.base.training import FloatArray, Training


def misfit_m3s(rules: Sequence[Rule], training: Training) -> float:
    """Root mean square of what rules release more or less than the plan, in the plan's own situations.

    Parameters
    ----------
    rules : sequence of Rule
        One a year.
    training : Training
        What the plan did.
    """
    return float(np.sqrt(np.mean((decisions(rules, training) - training.release_m3s) ** 2)))


def decisions(rules: Sequence[Rule], training: Training) -> FloatArray:
    """Releases that rules, one a year, ask for in the situations that the training years hold, shape (years, steps)."""
    if len(training.first_years) > 1:
        return _decisions_together(rules, training)
    asked = [
        [
            rule.release(
                step,
                float(training.storage_start_hm3[year, step]),
                float(training.inflow_m3s[year, step]) if rule.forecast is Forecast.MONTH else None,
                float(training.inflow_before_m3s[year, step]),
            )
            for step in range(training.steps)
        ]
        for year, rule in enumerate(rules)
    ]
    return np.array(asked)


def _decisions_together(rules: Sequence[Rule], training: Training) -> FloatArray:
    """As `decisions`, every step of all years at once."""
    asked = np.empty_like(training.inflow_m3s)
    for rule, years in by_rule(rules):
        for step in range(training.steps):
            now, before = training.inflow_m3s[years, step], training.inflow_before_m3s[years, step]
            known = now if rule.forecast is Forecast.MONTH else None
            asked[years, step] = rule.releases(step, training.storage_start_hm3[years, step], known, before)
    return asked
