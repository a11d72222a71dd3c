"""A regression for each month with normal noise.

Thomas, H. A., Fiering, M. B. (1962): Mathematical synthesis of streamflow sequences. In: Maass et al., Design of
Water-Resource Systems, chapter 12. The months are standardised by a power that takes their skew (`StandardisedMonths`),
and the regression remembers more than a month (`MonthlyRegression`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from reservoir.rules.inflow_model.monthly_regression import WARM_UP_YEARS, MonthlyRegression
from reservoir.rules.inflow_model.standardised import StandardisedMonths
from reservoir.synthetic.base import FloatArray, as_recorded


@dataclass(frozen=True, eq=False)
class ThomasFieringModel:
    """The method fitted to a record."""

    months: StandardisedMonths
    regression: MonthlyRegression
    lead_years: int = WARM_UP_YEARS

    def flows(self, uniform: FloatArray) -> FloatArray:
        """See `FlowModel.flows`."""
        return self.months.flows(self.values(uniform))

    def values(self, uniform: FloatArray) -> FloatArray:
        """See `ValueModel.values`."""
        return self.regression.values(uniform, self._noise)

    def _noise(self, step: int, predicted: FloatArray, uniform: FloatArray) -> FloatArray:
        return np.asarray(self.regression.deviation[step] * ndtri(uniform))


def fit(flow_m3s: FloatArray) -> ThomasFieringModel:
    """Fit the method to a record, shape (years, steps)."""
    months = StandardisedMonths.of(flow_m3s)
    regression = MonthlyRegression.of(months.values_of_record(flow_m3s))
    return as_recorded(ThomasFieringModel(months, regression), flow_m3s)
