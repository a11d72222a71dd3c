"""Rules that end each month at a storage: a guide curve, and one that is linear in what is known at its start.

The linear decision rule is that of
ReVelle, Joeres and Kirby 1969, Water Resour. Res. 5:767; fitted to optimised years by least squares as in implicit
stochastic optimisation (Young 1967). The end storage is fitted rather than the release: where the optimum holds a
storage whatever flows in, the release follows the inflow by itself. How it is searched for is in `linear_operation`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import numpy as np

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.rules.base.fields import Monthly, Numbers, count, not_above, not_below
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import Decisions, FloatArray, Training

GUIDE_CURVE: Final = "guide-curve"
#: Quantiles of the optimised storages that the lower and the upper curve follow.
LOWER_QUANTILE, UPPER_QUANTILE = 0.25, 0.75


class GuideCurve(Rule):
    """Storages (hm3) at the end of each step: guide, lower and upper curve.

    The classical rule curve (Loucks and van Beek 2017, Water Resource Systems Planning and Management, ch. 4): the
    median of the optimised storages is the guide, and the release is whatever reaches it.
    The lower and upper curves show how far the optimised years spread; the release follows the guide.
    """

    family: Literal["guide-curve"]
    guide_hm3: Monthly
    lower_hm3: Annotated[Monthly, not_above("guide_hm3")]
    upper_hm3: Annotated[Monthly, not_below("guide_hm3")]

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases that end the month on the guide, with the month's mean inflow where its own is not known."""
        return self.months.releases_to_reach(step, storage_hm3, self.guide_hm3[step], inflow_now_m3s)


def fit_guide_curve(training: Training, forecast: Forecast) -> GuideCurve:
    """Take the median and the quartiles of the optimised storages at the end of each month."""
    shares = (0.5, LOWER_QUANTILE, UPPER_QUANTILE)
    guide, lower, upper = np.quantile(training.storage_end_hm3, shares, axis=0)
    return GuideCurve.fitted(training, forecast, guide_hm3=guide, lower_hm3=lower, upper_hm3=upper)


LINEAR: Final = "linear"
#: A column that varies less than this part of its largest value, such as a start storage that is always nearly full,
#: tells nothing: so little is what a solver leaves open, and in operation the rule meets far more.
LEAST_VARIATION = 5e-3
#: Factors of what is known in a month.
Factors = Annotated[Numbers, count(3, "one each for the start storage, the inflow before and the inflow now")]


class LinearRule(Rule):
    """End storage (hm3) of each step = constant + factors x (start storage, inflow before, inflow now).

    ``factors`` holds three numbers a step; the last is 0 where the month's inflow is not known. The end storage is kept
    within what the training years had there, so that the rule does not extrapolate.
    """

    family: Literal["linear"]
    constant_hm3: Monthly
    factors: Annotated[tuple[Factors, ...], count(MONTHS_PER_YEAR, "one list per month")]
    lowest_hm3: Monthly
    highest_hm3: Annotated[Monthly, not_below("lowest_hm3")]

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases that end the month at the fitted storage."""
        known = (storage_hm3, inflow_before_m3s, 0.0 if inflow_now_m3s is None else inflow_now_m3s)
        target = self.constant_hm3[step] + sum(
            factor * value for factor, value in zip(self.factors[step], known, strict=True)
        )
        target = np.clip(target, self.lowest_hm3[step], self.highest_hm3[step])
        return self.months.releases_to_reach(step, storage_hm3, target, inflow_now_m3s)


class LinearSearchRule(LinearRule):
    """A `LinearRule` whose end storages may be any within the bounds."""

    family: Literal["linear-search"]  # type: ignore[assignment]


def fit(training: Training, forecast: Forecast) -> LinearRule:
    """Fit each month by least squares; factors that the years cannot tell apart come out smallest."""
    decided = training.decisions
    fitted = np.array([_fit_step(decided, step, forecast) for step in range(training.steps)])
    return LinearRule.fitted(
        training,
        forecast,
        constant_hm3=fitted[:, 0],
        factors=fitted[:, 1:],
        lowest_hm3=decided.storage_end_hm3.min(axis=0),
        highest_hm3=decided.storage_end_hm3.max(axis=0),
    )


def _fit_step(decided: Decisions, step: int, forecast: Forecast) -> FloatArray:
    """Constant and factors of one step, on centred columns so that the constant takes no part in the choice."""
    columns = [decided.storage_start_hm3[:, step], decided.inflow_before_m3s[:, step]]
    if forecast is Forecast.MONTH:
        columns.append(decided.inflow_m3s[:, step])
    known, end = np.column_stack(columns), decided.storage_end_hm3[:, step]
    spread = known.std(axis=0)
    scale = np.where(spread > LEAST_VARIATION * np.abs(known).max(axis=0), spread, np.inf)
    solution = np.linalg.lstsq((known - known.mean(axis=0)) / scale, end - end.mean(), rcond=1e-9)[0]
    factors = np.zeros(3)
    factors[: len(solution)] = solution / scale
    return np.concatenate([[end.mean() - factors[: len(solution)] @ known.mean(axis=0)], factors])
