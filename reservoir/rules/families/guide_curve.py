"""Guide curve: a storage to end each month at, with a lower and an upper curve beside it.

The classical rule curve (Loucks and van Beek 2017, Water Resource Systems Planning and Management, ch. 4): the median
of the optimised storages is the guide, and the release is whatever reaches it.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import numpy as np

from reservoir.rules.base.fields import Monthly, not_above, not_below
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import FloatArray, Training

FAMILY: Final = "guide-curve"
#: Quantiles of the optimised storages that the lower and the upper curve follow.
LOWER_QUANTILE, UPPER_QUANTILE = 0.25, 0.75


class GuideCurve(Rule):
    """Storages (hm3) at the end of each step: guide, lower and upper curve.

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


def fit(training: Training, forecast: Forecast) -> GuideCurve:
    """Take the median and the quartiles of the optimised storages at the end of each month."""
    shares = (0.5, LOWER_QUANTILE, UPPER_QUANTILE)
    guide, lower, upper = np.quantile(training.storage_end_hm3, shares, axis=0)
    return GuideCurve.fitted(training, forecast, guide_hm3=guide, lower_hm3=lower, upper_hm3=upper)
