"""Linear decision rule, improved by direct policy search: for the energy that the rule itself makes.

Least squares follow a plan that knows the future. From there every constant and factor is moved, one at a time, as long
as the training years, operated one after the other by the rule, make more energy (parameterisation, simulation,
optimisation: Koutsoyiannis and Economou 2003, Water Resour. Res. 39:1170). Where a search ends depends on single years:
the rule is the mean of several, each without a part of the years (bagging; Breiman 1996, Machine Learning 24:123).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import Training
from reservoir.rules.families.linear import rule as linear
from reservoir.rules.families.linear.rule import LinearRule
from reservoir.rules.folds import outside, parts_of

#: Searches whose mean is the rule, and the fewest years that one may do without; of fewer, one search has them all.
SEARCHES, YEARS_A_PART = 5, 6


class LinearSearchRule(LinearRule):
    """A `LinearRule` whose end storages may be any within the bounds."""

    family: Literal["linear-search"]  # type: ignore[assignment]


def fit(training: Training, forecast: Forecast) -> LinearSearchRule:
    """Begin with the least squares of `linear.fit`, search from there, and take the mean of the searches."""
    # Compiled code is loaded for fitting alone: an operator with a rule does not wait for it.
    from reservoir.rules.families.linear.trial import LinearTrial

    begun = linear.fit(training, forecast)
    start = np.column_stack([begun.constant_hm3, begun.factors])
    sample = training.searched()
    searches = [
        LinearTrial.of(sample.select(years), begun.months, forecast).improved(start) for years in _parts(sample)
    ]
    found = np.mean(searches, axis=0)
    lowest, highest = training.model.reservoir.storage_bounds_hm3
    return LinearSearchRule.fitted(
        training, forecast, constant_hm3=found[:, 0], factors=found[:, 1:], lowest_hm3=lowest, highest_hm3=highest
    )


def _parts(training: Training) -> list[list[int]]:
    """All years but one part of consecutive ones, for every part; all of them where there are too few to part."""
    years = training.years
    if years < YEARS_A_PART * SEARCHES:
        return [list(range(years))]
    return [outside(years, block) for block in parts_of(training, SEARCHES)]
