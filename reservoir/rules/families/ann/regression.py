"""The first stage of the `ann` rule alone: its network, fitted to the optimised years and not searched further."""

from __future__ import annotations

from typing import Literal

from reservoir.rules.base.rule import Forecast
from reservoir.rules.base.training import Training
from reservoir.rules.families.ann.rule import AnnRule


class AnnRegressionRule(AnnRule):
    """An `AnnRule` as the regression leaves it."""

    family: Literal["ann-regression"]  # type: ignore[assignment]


def fit(training: Training, forecast: Forecast) -> AnnRule:
    """The first stage of `reservoir.rules.families.ann.training`."""
    from reservoir.rules.families.ann.training import trained

    found = trained(training, forecast)
    return AnnRegressionRule.of(training, forecast, found.scales, found.network, found.fitted)
