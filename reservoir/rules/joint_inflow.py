"""The inflow model of several sites together: that of each, and how what their regressions leave correlates.

Each site follows itself (`InflowModel`); in every month the noise of all is drawn together. With which correlation the
flows of a month correlate as in the record follows from the regressions (the covariances of the months are linear in
those of the noise), but for months that fall dry or have bounds: flows are made to see what is missing there. How sites
follow each other from month to month comes of both (a contemporaneous model; Camacho, McLeod and Hipel 1985, Water
Resour. Bull. 21:709).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from reservoir.rules.base.fields import Block, Known, Numbers, Refusal, check
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.inflow_model import (
    FEWEST_YEARS_OF_CORRELATION,
    InflowModel,
    at_rest_moments,
    futures_of_sites,
    normal_numbers,
)
from reservoir.rules.standardised_months import ndtri

#: Members and months of each (the first year makes no flow), to see how flows of rivers that fall dry correlate,
#: and how often the correlations are corrected by what is seen.
_TRIAL, _STREAM, _ROUNDS = (200, 12 * 26), 1, 3
#: Eigenvalues of a correlation matrix are raised to this.
_LEAST_EIGENVALUE = 1e-6


def _of_sites(rows: tuple[tuple[Numbers, ...], ...], known: Known) -> Any:
    sites = known.get("sites", ())
    for step, row in enumerate(rows if sites else ()):
        if len(row) != len(sites) or any(len(each) != len(sites) for each in row):
            yield Refusal("has the wrong number of values", "a square of the sites", (step,))
    if sites and len(rows) != len(sites[0].noise):
        yield Refusal("has the wrong number of values", "one square per month")


class JointInflowModel(Block):
    """Inflow of consecutive months of several sites.

    Parameters
    ----------
    sites : tuple of InflowModel
        Of each.
    factor : tuple of tuple of tuple of float
        Lower Cholesky factor of the correlation of the noise of the sites, by step.
    """

    sites: tuple[InflowModel, ...]
    factor: Annotated[tuple[tuple[Numbers, ...], ...], check(_of_sites)]

    @staticmethod
    def of(trainings: Sequence[Training]) -> JointInflowModel:
        """Fit to the same training years of all sites."""
        models = tuple(map(InflowModel.of, trainings))
        records = np.stack([np.maximum(each.inflow_m3s, 0.0) for each in trainings])
        sites, years, steps = records.shape
        apart = np.broadcast_to(np.eye(sites), (steps, sites, sites))
        model = JointInflowModel(sites=models, factor=apart.tolist())
        if sites == 1 or years < FEWEST_YEARS_OF_CORRELATION:
            return model
        wanted, trial = correlations_of_months(scores(records)), normal_numbers(0, *_TRIAL, sites, _STREAM)
        of_values, of_noise = wanted, _of_noise(models)
        rounds = _ROUNDS if any(each.months.falls_dry.any() for each in models) else 0
        for done in range(rounds + 1):
            factor = _factor(models, of_noise, of_values)
            model = JointInflowModel(sites=models, factor=factor.tolist())
            if done < rounds:
                made = np.moveaxis(model.futures(0, np.empty((1, 0, sites)), trial)[0], -1, 0)
                of_values = of_values + wanted - correlations_of_months(scores(made.reshape(sites, -1, steps)))
        return model

    @cached_property
    def _past(self) -> tuple[FloatArray, FloatArray]:
        """Mean and covariance of the twelve months that end with each step, see `at_rest_moments`."""
        factor, noise = np.array(self.factor), np.array([each.noise for each in self.sites]).T
        covariance = factor @ factor.swapaxes(1, 2) * noise[:, :, np.newaxis] * noise[:, np.newaxis]
        return at_rest_moments(np.array([each.coefficients for each in self.sites]), covariance)

    def futures(self, step: int, known_m3s: FloatArray, normal: FloatArray) -> FloatArray:
        """Flows (m3/s) from a step on, given those of the months before it; see `futures_of_sites`."""
        return futures_of_sites(self.sites, np.array(self.factor), self._past, step, known_m3s, normal)


def _of_noise(models: Sequence[InflowModel]) -> FloatArray:
    """What noise of one step, the same at all sites, comes to in each step: (steps of noise, steps, sites, sites)."""
    sites, steps = len(models), len(models[0].noise)
    unit = np.eye(steps)[:, :, np.newaxis, np.newaxis] * np.ones((sites, sites))
    coefficients = np.array([each.coefficients for each in models])
    return np.array([at_rest_moments(coefficients, each)[1][:, :sites, :sites] for each in unit])


def _factor(models: Sequence[InflowModel], of_noise: FloatArray, correlation: FloatArray) -> FloatArray:
    """Factors of the correlation of noise with which values of a month correlate so, both (steps, sites, sites)."""
    noise = np.array([each.noise for each in models]).T
    covariance = np.linalg.pinv(of_noise.transpose(2, 3, 1, 0)) @ correlation.transpose(1, 2, 0)[..., np.newaxis]
    covariance, spread = covariance[..., 0].transpose(2, 0, 1), noise[:, :, np.newaxis] * noise[:, np.newaxis]
    of_step = np.clip(np.divide(covariance, spread, out=np.zeros_like(spread), where=spread > 0), -1.0, 1.0)
    return np.array([factor_of(np.where(np.eye(len(models)), 1.0, each)).T for each in of_step])


def correlations(values: FloatArray) -> FloatArray:
    """Correlations of all months of all sites, (sites, years, steps): (sites, steps, sites, steps).

    What is constant correlates with nothing.
    """
    deviations = _of_length_one(values)
    return np.asarray(np.einsum("ays,byt->asbt", deviations, deviations, optimize=True))


def correlations_of_months(values: FloatArray) -> FloatArray:
    """As `correlations`, of sites within a month: (steps, sites, sites)."""
    deviations = _of_length_one(values).transpose(2, 0, 1)
    return np.asarray(deviations @ deviations.swapaxes(1, 2))


def _of_length_one(values: FloatArray) -> FloatArray:
    deviations = values - values.mean(axis=1, keepdims=True)
    norm = np.sqrt((deviations**2).sum(axis=1, keepdims=True))
    return np.asarray(deviations / np.where(norm > 0, norm, 1.0))


def scores(flow_m3s: FloatArray) -> FloatArray:
    """Normal scores of the ranks of flows in their month, which no method's transform changes, (sites, years, steps).

    Years without flow have that of their middle rank.
    """
    from scipy.stats import rankdata  # of which only fitting has need

    return np.asarray(ndtri((rankdata(flow_m3s, axis=1) - 0.5) / flow_m3s.shape[1]))


def factor_of(correlation: FloatArray) -> FloatArray:
    """Upper Cholesky factor of a correlation matrix.

    One that is not positive definite is mended by raising its eigenvalues (Rousseeuw and Molenberghs 1993).
    """
    eigenvalues, vectors = np.linalg.eigh(correlation)
    mended = (vectors * np.maximum(eigenvalues, _LEAST_EIGENVALUE)) @ vectors.T
    spread = np.sqrt(np.diag(mended))
    return np.asarray(np.linalg.cholesky(mended / np.outer(spread, spread)).T)
