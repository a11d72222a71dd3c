"""Guide curve: a storage to end each month at, with a lower and an upper curve beside it.

The classical rule curve (Loucks and van Beek 2017, Water Resource Systems Planning and Management, ch. 4): the median
of the optimised storages is the guide, and the release is whatever reaches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reservoir.rules.monthly import Months
from reservoir.rules.rule import Forecast
from reservoir.rules.training import Training

FAMILY = "guide-curve"
#: Quantiles of the optimised storages that the lower and the upper curve follow.
LOWER_QUANTILE, UPPER_QUANTILE = 0.25, 0.75


@dataclass(frozen=True)
class GuideCurve:
    """Storages (hm3) at the end of each step: guide, lower and upper curve.

    The lower and upper curves show how far the optimised years spread; the release follows the guide.
    """

    reservoir: str
    forecast: Forecast
    months: Months
    guide_hm3: tuple[float, ...]
    lower_hm3: tuple[float, ...]
    upper_hm3: tuple[float, ...]

    family = FAMILY

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release that ends the month on the guide, with the month's mean inflow where its own is not known."""
        return self.months.release_to_reach(step, storage_hm3, self.guide_hm3[step], inflow_now_m3s)

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes the rule, as JSON can hold it."""
        return {
            "family": FAMILY,
            "reservoir": self.reservoir,
            "forecast": str(self.forecast),
            "months": self.months.to_dict(),
            "guide_hm3": list(self.guide_hm3),
            "lower_hm3": list(self.lower_hm3),
            "upper_hm3": list(self.upper_hm3),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> GuideCurve:
        """Read back what `to_dict` gave."""
        curves = (tuple(content[name]) for name in ("guide_hm3", "lower_hm3", "upper_hm3"))
        return cls(content["reservoir"], Forecast(content["forecast"]), Months.from_dict(content["months"]), *curves)


def fit(training: Training, forecast: Forecast) -> GuideCurve:
    """Take the median and the quartiles of the optimised storages at the end of each month."""
    quantiles = np.quantile(training.storage_end_hm3, (0.5, LOWER_QUANTILE, UPPER_QUANTILE), axis=0)
    curves = (tuple(float(value) for value in curve) for curve in quantiles)
    return GuideCurve(training.model.reservoir.name, forecast, Months.of(training), *curves)
