"""Flows as standardised values of nearly no skew, month by month, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from reservoir.rules.base.training import FloatArray

#: Standard deviations beyond which no value is let: one in 1e9 normal values is.
_MOST_DEVIATIONS = 6.0
#: Exponents of months with a zero, whose logarithm does not exist, are not smaller than this.
_LEAST_EXPONENT_WITH_ZEROS = 0.02
#: Part of a month's lowest flow that its lower bound may reach.
_MOST_OF_LOWEST = 0.95


@dataclass(frozen=True, eq=False)
class StandardisedMonths:
    """The Box-Cox transform of each month (Box and Cox 1964), standardised by its mean and deviation.

    Parameters
    ----------
    exponent : ndarray, shape (steps,)
        From 0, the logarithm (as Kirsch et al. 2013 have it), to 1, the flow itself; chosen so that the transformed
        record has no skew, as nearly as these bounds allow. In a month in which the river fell dry it is above 0.
    lower_m3s : ndarray, shape (steps,)
        Subtracted before the logarithm is taken, in months whose logarithm is skewed to the right: the lower bound of
        the lognormal distribution of three parameters (Matalas 1967, Water Resour. Res. 3:937-945); else 0.
    scale_m3s, mean, deviation : ndarray, shape (steps,)
        The record's mean flow; mean and standard deviation of the transformed record.
    dry_below : ndarray, shape (steps,)
        Values below this are no flow: as many of normal values as years of the record in which the month fell dry.
    """

    exponent: FloatArray
    lower_m3s: FloatArray
    scale_m3s: FloatArray
    mean: FloatArray
    deviation: FloatArray
    dry_below: FloatArray

    @classmethod
    def of(cls, flow_m3s: FloatArray) -> StandardisedMonths:
        """Fit to a record, shape (years, steps); months of a constant flow stay constant."""
        scale = flow_m3s.mean(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        relative = flow_m3s / scale
        exponent, lower = np.array([_without_skew(each) for each in relative.T]).T
        values = _transformed(relative - lower, exponent)
        dry_below = ndtri((flow_m3s == 0).mean(axis=0))
        return cls(exponent, lower * scale, scale, values.mean(axis=0), values.std(axis=0, ddof=1), dry_below)

    def values(self, flow_m3s: FloatArray) -> FloatArray:
        """Standardised values of flows, shape (..., steps)."""
        values = _transformed((flow_m3s - self.lower_m3s) / self.scale_m3s, self.exponent) - self.mean
        return np.asarray(np.divide(values, self.deviation, out=np.zeros_like(values), where=self.deviation > 0))

    def flows(self, values: FloatArray) -> FloatArray:
        """Flows (m3/s) of standardised values, shape (..., steps)."""
        dry = values < self.dry_below
        values = self.mean + self.deviation * np.clip(values, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)
        flows = np.empty_like(values)
        for step, exponent in enumerate(self.exponent):
            of_step = values[..., step]
            inverse = np.exp(of_step) if exponent == 0 else np.maximum(1 + exponent * of_step, 0) ** (1 / exponent)
            flows[..., step] = self.lower_m3s[step] + self.scale_m3s[step] * inverse
        flows[dry] = 0.0
        return flows


def _transformed(relative: FloatArray, exponent: FloatArray) -> FloatArray:
    logarithmic = exponent == 0
    power = np.where(logarithmic, 1.0, exponent)
    with np.errstate(divide="ignore"):
        return np.where(logarithmic, np.log(relative), (relative**power - 1) / power)


def _without_skew(relative: FloatArray) -> tuple[float, float]:
    """The exponent and the lower bound that leave no skew; the bounds that are nearest to it if there are none."""
    from scipy.optimize import brentq  # half a second, of which only fitting has need

    def skew(exponent: float, lower: float = 0.0) -> float:
        values = _transformed(relative - lower, np.array(exponent))
        deviations = values - values.mean()
        return float((deviations**3).sum())

    lowest = float(relative.min())
    if relative.max() == lowest:
        return 1.0, 0.0
    least = 0.0 if lowest > 0 else _LEAST_EXPONENT_WITH_ZEROS
    if skew(least) < 0:
        return 1.0 if skew(1.0) <= 0 else float(brentq(skew, least, 1.0)), 0.0
    most = _MOST_OF_LOWEST * lowest
    if skew(least, most) >= 0:
        return least, most
    return least, float(brentq(lambda lower: skew(least, lower), 0.0, most))
