"""A regression for each month, its errors drawn from the nearest months of the record.

Lall, U., Sharma, A. (1996): A nearest neighbor bootstrap for resampling hydrologic time series. Water Resour. Res.
32:679-693: of n years the sqrt(n) whose state is nearest, drawn with weights 1/rank. They resample the flow that
followed; here, as in Prairie et al. (2006, J. Hydrol. Eng. 11:371-378), the error of a regression is resampled. The
flows alone are too alike, since the neighbours of an extreme state are less extreme: by the month before as the state,
annual flows of the bundled record vary 14 % less than they should, and hardly follow each other (0.02 instead of 0.29).
Here, the state is what the regression predicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reservoir.rules.inflow_model.monthly_regression import WARM_UP_YEARS, MonthlyRegression
from reservoir.rules.inflow_model.standardised import StandardisedMonths
from reservoir.synthetic.base import FloatArray, as_recorded


@dataclass(frozen=True, eq=False)
class NearestNeighbourModel:
    """The method fitted to a record; `kernel` has the cumulated weights of the neighbours, from the nearest on."""

    months: StandardisedMonths
    regression: MonthlyRegression
    kernel: FloatArray
    lead_years: int = WARM_UP_YEARS

    def flows(self, uniform: FloatArray) -> FloatArray:
        """See `FlowModel.flows`."""
        return self.months.flows(self.values(uniform))

    def values(self, uniform: FloatArray) -> FloatArray:
        """See `ValueModel.values`."""
        return self.regression.values(uniform, self._noise)

    def _noise(self, step: int, predicted: FloatArray, uniform: FloatArray) -> FloatArray:
        distance = np.abs(predicted[:, np.newaxis] - self.regression.predicted[step])
        nearest = np.argsort(distance, axis=1, kind="stable")
        rank = np.searchsorted(self.kernel, uniform, side="right")
        return np.asarray(self.regression.residual[step, nearest[np.arange(len(rank)), rank]])


def fit(flow_m3s: FloatArray) -> NearestNeighbourModel:
    """Fit the method to a record, shape (years, steps)."""
    months = StandardisedMonths.of(flow_m3s)
    regression = MonthlyRegression.of(months.values_of_record(flow_m3s))
    return as_recorded(NearestNeighbourModel(months, regression, kernel(len(flow_m3s))), flow_m3s)


def kernel(years: int) -> FloatArray:
    """Cumulated weights of the neighbours of a record, proportional to 1/rank, shape (sqrt(years),)."""
    weights = np.cumsum(1.0 / np.arange(1, int(np.sqrt(years)) + 1))
    return np.asarray(weights / weights[-1])
