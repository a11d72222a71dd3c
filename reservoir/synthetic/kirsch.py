"""Bootstrap of standardised months, correlated by Cholesky factors.

Kirsch, B. R., Characklis, G. W., Zeff, H. B. (2013): Evaluating the impact of alternative hydro-climate scenarios on
transfer agreements. J. Water Resour. Plann. Manage. 139:396-406.

Two things are added. Months whose logarithms are skewed are standardised by another power (`StandardisedMonths`). And
the years that are drawn for a month follow an autoregressive process from year to year: drawn independently, as in the
paper, the years keep the correlation across the year's end, but not that of annual flows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from reservoir.rules.inflow_model.standardised import StandardisedMonths
from reservoir.synthetic.base import FloatArray, as_recorded

#: Eigenvalues of a correlation matrix are raised to this.
_LEAST_EIGENVALUE = 1e-6
_MOST_PERSISTENCE = 0.95


@dataclass(frozen=True, eq=False)
class KirschModel:
    """The method fitted to a record.

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

    months: StandardisedMonths
    ordered: FloatArray
    of_last_year: FloatArray
    of_this_year: FloatArray
    persistence: float
    lead_years: int = 1

    def flows(self, uniform: FloatArray) -> FloatArray:
        """See `FlowModel.flows`."""
        return self.months.flows(self.values(uniform))

    def values(self, uniform: FloatArray) -> FloatArray:
        """See `ValueModel.values`."""
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


def fit(flow_m3s: FloatArray) -> KirschModel:
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
    spread = values.std(axis=0)
    ordered = np.sort(values, axis=0) / np.where(spread > 0, spread, 1.0)
    model = KirschModel(months, ordered, last, this, _persistence(flow_m3s, last, this))
    return as_recorded(model, flow_m3s)


def correlation_factor(values: FloatArray) -> FloatArray:
    """Upper Cholesky factor of the correlation of columns, shape (steps, steps).

    A matrix that is not positive definite is mended by raising its eigenvalues (Rousseeuw and Molenberghs 1993).
    """
    deviations = values - values.mean(axis=0)
    covariance = deviations.T @ deviations
    constant = np.diag(covariance) <= 0
    covariance[constant, constant] = 1.0
    spread = np.sqrt(np.diag(covariance))
    eigenvalues, vectors = np.linalg.eigh(covariance / np.outer(spread, spread))
    mended = (vectors * np.maximum(eigenvalues, _LEAST_EIGENVALUE)) @ vectors.T
    spread = np.sqrt(np.diag(mended))
    return np.linalg.cholesky(mended / np.outer(spread, spread)).T


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
