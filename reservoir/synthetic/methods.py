"""Methods of synthetic inflow: each is fitted to a record, and makes flows of uniform numbers.

All standardise the months by a power that takes their skew (`StandardisedMonths`). Thomas and Fiering's regression and
that with errors of nearest neighbours remember more than a month (`MonthlyRegression`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from reservoir.rules.inflow_model import WARM_UP_YEARS, MonthlyRegression, uniform_numbers
from reservoir.rules.joint_inflow import factor_of
from reservoir.rules.standardised_months import StandardisedMonths

FloatArray = NDArray[np.float64]

#: Years that a method makes to know what it makes of the months of a river that falls dry, of random numbers that are
#: the same for every seed.
_TRIAL_YEARS, _TRIAL_STREAM = 20_000, 1


class FlowModel(Protocol):
    """A method fitted to a record.

    Attributes
    ----------
    lead_years : int
        Years of random numbers that it consumes before the first year of flows.
    mixes_months : bool
        Whether numbers of sites must correlate from month to month of a year, too, for flows to correlate in a month.
    """

    lead_years: int
    mixes_months: ClassVar[bool]

    def flows(self, uniform: FloatArray) -> FloatArray:
        """Flows (m3/s), shape (members, years, steps), from uniform numbers (members, lead_years + years, steps).

        A member depends on its own numbers alone, and its first years on their first numbers.
        """
        ...

    def innovations(self, flow_m3s: FloatArray) -> FloatArray:
        """What stands for the numbers in the record that the method was fitted to, shape (years, steps)."""
        ...


@dataclass(frozen=True, eq=False)
class _ByValues:
    """A method whose flows are those of standardised values of the months."""

    months: StandardisedMonths
    mixes_months: ClassVar[bool] = False

    def flows(self, uniform: FloatArray) -> FloatArray:
        """See `FlowModel.flows`."""
        return self.months.flows(self.values(uniform))

    def values(self, uniform: FloatArray) -> FloatArray:
        """Standardised values, shape (members, years, steps); see `FlowModel.flows`."""
        raise NotImplementedError

    def as_recorded(self, flow_m3s: FloatArray) -> Self:
        """The method with the means of the record and as many dry years, if the river falls dry; else as it is.

        The values of a dry month are no more normal than its flows, and what a method makes of them neither.
        """
        if not self.months.apart:
            return self
        years, steps = flow_m3s.shape
        drawn = self.lead_years + years  # type: ignore[attr-defined] # of every method
        values = self.values(uniform_numbers(0, 0, -(-_TRIAL_YEARS // years), drawn, steps, _TRIAL_STREAM))
        return replace(self, months=self.months.as_made(values).with_mean(flow_m3s.mean(axis=0), values))


_MOST_PERSISTENCE = 0.95


@dataclass(frozen=True, eq=False)
class KirschModel(_ByValues):
    """Bootstrap of standardised months, correlated by Cholesky factors.

    Kirsch, B. R., Characklis, G. W., Zeff, H. B. (2013): Evaluating the impact of alternative hydro-climate scenarios
    on transfer agreements. J. Water Resour. Plann. Manage. 139:396-406.

    Two things are added. Months whose logarithms are skewed are standardised by another power. And the years that are
    drawn for a month follow an autoregressive process from year to year: drawn independently, as in the paper, the
    years keep the correlation across the year's end, but not that of annual flows.

    Parameters
    ----------
    months : StandardisedMonths
    ordered : ndarray, shape (years, steps)
        Standardised record, each month from its lowest to its highest value; of mean 0 and variance 1.
    of_last_year, of_this_year : ndarray, shape (steps, steps)
        What the uncorrelated values of a year and of the year before contribute to the months of the year.
    persistence : float
        Correlation from year to year of the normal values that draw from a month's record.
    """

    ordered: FloatArray
    of_last_year: FloatArray
    of_this_year: FloatArray
    persistence: float
    lead_years: int = 1
    mixes_months: ClassVar[bool] = True

    @classmethod
    def fit(cls, flow_m3s: FloatArray) -> Self:
        """Fit the method to a record, shape (years, steps)."""
        months = StandardisedMonths.of(flow_m3s)
        values = months.values_of_record(flow_m3s)
        half = values.shape[1] // 2
        shifted = np.concatenate([values[:-1, half:], values[1:, :half]], axis=1)
        factor, shifted_factor = (correlation_factor(each) for each in (values, shifted))
        last, this = np.zeros_like(factor), np.zeros_like(factor)
        # The first half of a year stands behind the second half of the year before in the shifted matrix.
        last[half:, :half] = shifted_factor[:half, half:]
        this[:half, :half] = shifted_factor[half:, half:]
        this[:, half:] = factor[:, half:]
        ordered = np.sort(values, axis=0) / _spread(values)
        model = cls(months, ordered, last, this, _persistence(flow_m3s, last, this))
        return model.as_recorded(flow_m3s)

    def innovations(self, flow_m3s: FloatArray) -> FloatArray:
        """See `FlowModel.innovations`: standardised values of the record, freed of their correlation in a year."""
        values = self.months.values_of_record(flow_m3s)
        return solve_triangular(correlation_factor(values), (values / _spread(values)).T, trans="T").T

    def values(self, uniform: FloatArray) -> FloatArray:
        """See `FlowModel.flows`."""
        drawn = self._uncorrelated(uniform)
        before, now = drawn[:, :-1], drawn[:, 1:]
        values = np.zeros_like(now)
        for step in range(values.shape[-1]):  # a product of matrices may round differently for more members
            values += before[..., step, np.newaxis] * self.of_last_year[step]
            values += now[..., step, np.newaxis] * self.of_this_year[step]
        return values

    def _uncorrelated(self, uniform: FloatArray) -> FloatArray:
        """Values of the record drawn for every month by itself, shape of `uniform`."""
        normal = ndtri(uniform)
        for year in range(1, normal.shape[1]):
            normal[:, year] *= np.sqrt(1 - self.persistence**2)
            normal[:, year] += self.persistence * normal[:, year - 1]
        years, steps = self.ordered.shape
        place = np.minimum((ndtr(normal) * years).astype(np.int64), years - 1)
        return np.asarray(self.ordered[place, np.arange(steps)])


@dataclass(frozen=True, eq=False)
class ThomasFieringModel(_ByValues):
    """A regression for each month with normal noise.

    Thomas, H. A., Fiering, M. B. (1962): Mathematical synthesis of streamflow sequences. In: Maass et al., Design of
    Water-Resource Systems, chapter 12.
    """

    regression: MonthlyRegression
    lead_years: int = WARM_UP_YEARS

    @classmethod
    def fit(cls, flow_m3s: FloatArray) -> Self:
        """Fit the method to a record, shape (years, steps)."""
        months = StandardisedMonths.of(flow_m3s)
        return cls(months, MonthlyRegression.of(months.values_of_record(flow_m3s))).as_recorded(flow_m3s)

    def innovations(self, flow_m3s: FloatArray) -> FloatArray:
        """See `FlowModel.innovations`: the errors of the regression, from the second year on."""
        return self.regression.residual.T

    def values(self, uniform: FloatArray) -> FloatArray:
        """See `FlowModel.flows`."""
        return self.regression.values(uniform, self._noise)

    def _noise(self, step: int, predicted: FloatArray, uniform: FloatArray) -> FloatArray:
        return np.asarray(self.regression.deviation[step] * ndtri(uniform))


@dataclass(frozen=True, eq=False)
class NearestNeighbourModel(ThomasFieringModel):
    """A regression for each month, its errors drawn from the nearest months of the record.

    Lall, U., Sharma, A. (1996): A nearest neighbor bootstrap for resampling hydrologic time series. Water Resour. Res.
    32:679-693: of n years the sqrt(n) whose state is nearest, drawn with weights 1/rank. They resample the flow that
    followed; here, as in Prairie et al. (2006, J. Hydrol. Eng. 11:371-378), the error of a regression is resampled. The
    flows alone are too alike, since the neighbours of an extreme state are less extreme: by the month before as the
    state, annual flows of the bundled record vary 14 % less than they should, and hardly follow each other (0.02
    instead of 0.29). Here, the state is what the regression predicts.
    """

    def _noise(self, step: int, predicted: FloatArray, uniform: FloatArray) -> FloatArray:
        distance = np.abs(predicted[:, np.newaxis] - self.regression.predicted[step])
        nearest = np.argsort(distance, axis=1, kind="stable")
        # The first year of the record is not fitted.
        rank = np.searchsorted(kernel(self.regression.predicted.shape[1] + 1), uniform, side="right")
        return np.asarray(self.regression.residual[step, nearest[np.arange(len(rank)), rank]])


def _spread(values: FloatArray) -> FloatArray:
    """Standard deviation of columns; 1 of what is constant."""
    spread = values.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def kernel(years: int) -> FloatArray:
    """Cumulated weights of the neighbours of a record, the nearest first, proportional to 1/rank: (sqrt(years),)."""
    weights = np.cumsum(1.0 / np.arange(1, int(np.sqrt(years)) + 1))
    return np.asarray(weights / weights[-1])


def correlation_factor(values: FloatArray) -> FloatArray:
    """Upper Cholesky factor of the correlation of columns, shape (steps, steps), see `factor_of`."""
    deviations = values - values.mean(axis=0)
    covariance = deviations.T @ deviations
    constant = np.diag(covariance) <= 0
    covariance[constant, constant] = 1.0
    spread = np.sqrt(np.diag(covariance))
    return factor_of(covariance / np.outer(spread, spread))


def _persistence(flow_m3s: FloatArray, last: FloatArray, this: FloatArray) -> float:
    """The persistence with which annual flows correlate from year to year as in the record; 0 if they do already."""
    weight = flow_m3s.std(axis=0)
    parts = ((-1, last @ weight), (0, this @ weight))

    def covariance(persistence: float, lag: int) -> float:
        pairs = ((lag + late - early, one @ other) for early, one in parts for late, other in parts)
        return float(sum(product * persistence ** abs(years) for years, product in pairs))

    def excess(persistence: float) -> float:
        return covariance(persistence, 1) - target * covariance(persistence, 0)

    annual = flow_m3s.mean(axis=1) - flow_m3s.mean()
    variance = annual @ annual
    target = float(annual[1:] @ annual[:-1] / variance) if variance > 0 else 0.0
    if excess(0.0) >= 0:
        return 0.0
    return _MOST_PERSISTENCE if excess(_MOST_PERSISTENCE) <= 0 else float(brentq(excess, 0.0, _MOST_PERSISTENCE))
