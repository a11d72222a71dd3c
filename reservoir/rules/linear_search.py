"""Linear decision rule, improved by direct policy search: for the energy that the rule itself makes.

Least squares follow a plan that knows the future. From there every constant and factor is moved, one at a time, as long
as the training years, operated one after the other by the rule, make more energy (parameterisation, simulation,
optimisation: Koutsoyiannis and Economou 2003, Water Resour. Res. 39:1170).
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from reservoir.rules import linear
from reservoir.rules.linear import LinearRule
from reservoir.rules.rule import Forecast
from reservoir.rules.training import Training

FAMILY: Final = "linear-search"


class LinearSearchRule(LinearRule):
    """A `LinearRule` whose end storages may be any within the bounds."""

    family: Literal["linear-search"]  # type: ignore[assignment]


def fit(training: Training, forecast: Forecast) -> LinearSearchRule:
    """Begin with the least squares of `linear.fit`, and search from there."""
    # Compiled code is loaded for fitting alone: an operator with a rule does not wait for it.
    from reservoir.rules.linear_trial import LinearTrial

    begun = linear.fit(training, forecast)
    plant = training.model.reservoir
    found = LinearTrial.of(training, begun.months, forecast).improved(
        np.column_stack([begun.constant_hm3, begun.factors])
    )
    return LinearSearchRule(
        family=FAMILY,
        reservoir=plant.name,
        forecast=forecast,
        months=begun.months,
        constant_hm3=found[:, 0].tolist(),
        factors=found[:, 1:].tolist(),
        lowest_hm3=plant.by_step(plant.storage_lower_hm3).tolist(),
        highest_hm3=plant.by_step(plant.storage_upper_hm3).tolist(),
    )
