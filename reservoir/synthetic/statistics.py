"""Statistics of records of monthly flows: arrays of shape (records, years, steps) in, (records, values) out."""

from __future__ import annotations

import numpy as np

from reservoir.synthetic.base import FloatArray


def worst_droughts(flow: FloatArray, threshold: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Length of the longest drought and deficit of the severest, each of shape (records,).

    Parameters
    ----------
    flow : ndarray, shape (records, years, steps)
        Flows (m3/s).
    threshold : ndarray, shape (steps,)
        A month with less (m3/s) belongs to a drought.

    Returns
    -------
    duration, severity : ndarray, shape (records,)
        Months; sum of what is missing to the threshold, m3/s times months.
    """
    records, years, steps = flow.shape
    missing = (threshold - flow).reshape(records, years * steps)
    length, deficit, duration, severity = np.zeros((4, records))
    for month in missing.T:
        short = month > 0
        length = np.where(short, length + 1, 0.0)
        deficit = np.where(short, deficit + month, 0.0)
        duration, severity = np.maximum(duration, length), np.maximum(severity, deficit)
    return duration, severity


#: Parts of the months in which the flows of the duration curve are exceeded.
EXCEEDED = np.array([0.01, 0.02, 0.05, *np.arange(0.1, 0.95, 0.1).round(1), 0.95, 0.98, 0.99])
#: Months before the year's end, and as many behind it, of which the correlations are compared.
ACROSS = 3


def monthly_means(flow: FloatArray) -> FloatArray:
    """Mean flow of each month (m3/s)."""
    return np.asarray(flow.mean(axis=1))


def monthly_deviations(flow: FloatArray) -> FloatArray:
    """Standard deviation of each month (m3/s)."""
    return np.asarray(flow.std(axis=1, ddof=1))


def monthly_skews(flow: FloatArray) -> FloatArray:
    """Skewness of each month."""
    return _skew(np.moveaxis(flow, 1, -1))


def monthly_maxima(flow: FloatArray) -> FloatArray:
    """Largest flow of each month (m3/s)."""
    return np.asarray(flow.max(axis=1))


def dry_parts(flow: FloatArray, trace: FloatArray | float = 0.0) -> FloatArray:
    """Part of the years in which each month has no more than a trace of flow (m3/s, of each step or one for all)."""
    return np.asarray((flow <= trace).mean(axis=1))


def monthly_correlations(flow: FloatArray, lag: int) -> FloatArray:
    """Correlation of each month with the month `lag` months before it, which may be of the year before."""
    steps = flow.shape[-1]
    series = flow.reshape(len(flow), -1)
    found = []
    for step in range(steps):
        later = series[:, step + (steps if step < lag else 0) :: steps]
        earlier = series[:, (step - lag) % steps :: steps][:, : later.shape[1]]
        found.append(_correlation(earlier, later))
    return np.stack(found, axis=1)


def correlations_across_year_end(flow: FloatArray) -> FloatArray:
    """Correlations of the last months of a year with the first ones of the next, `ACROSS` times `ACROSS`."""
    steps = flow.shape[-1]
    return np.stack(
        [
            _correlation(flow[:, :-1, steps - back], flow[:, 1:, step])
            for back in range(ACROSS, 0, -1)
            for step in range(ACROSS)
        ],
        axis=1,
    )


def annual_means(flow: FloatArray) -> FloatArray:
    """Mean of the annual flows (m3/s)."""
    return np.asarray(flow.mean(axis=(1, 2)))[:, np.newaxis]


def annual_variances(flow: FloatArray) -> FloatArray:
    """Variance of the annual flows ((m3/s)2)."""
    return np.asarray(flow.mean(axis=2).var(axis=1, ddof=1))[:, np.newaxis]


def annual_correlation(flow: FloatArray) -> FloatArray:
    """Correlation of the annual flow with that of the year before."""
    annual = flow.mean(axis=2)
    return _correlation(annual[:, :-1], annual[:, 1:])[:, np.newaxis]


def duration_curve(flow: FloatArray) -> FloatArray:
    """Flows (m3/s) that are exceeded in the parts `EXCEEDED` of the months."""
    return np.asarray(np.quantile(flow.reshape(len(flow), -1), 1 - EXCEEDED, axis=1).T)


def hurst_exponent(flow: FloatArray) -> FloatArray:
    """Hurst's K of the annual flows: log(R / S) / log(n / 2), with the rescaled range R / S of n years."""
    annual = flow.mean(axis=2)
    deviations = annual - annual.mean(axis=1, keepdims=True)
    summed = np.cumsum(deviations, axis=1)  # the last is 0, where the sum also begins
    spread = annual.std(axis=1)
    rescaled = np.ptp(summed, axis=1) / np.where(spread > 0, spread, 1.0)
    exponent = np.log(np.where(spread > 0, rescaled, 1.0)) / np.log(annual.shape[1] / 2)
    return np.asarray(exponent)[:, np.newaxis]


def _skew(values: FloatArray) -> FloatArray:
    deviations = values - values.mean(axis=-1, keepdims=True)
    variance = (deviations**2).mean(axis=-1)
    return np.asarray((deviations**3).mean(axis=-1) / np.where(variance > 0, variance, 1.0) ** 1.5)


def _correlation(earlier: FloatArray, later: FloatArray) -> FloatArray:
    """Correlation along the last axis; 0 of what is constant."""
    one, other = (each - each.mean(axis=-1, keepdims=True) for each in (earlier, later))
    norm = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    return np.asarray((one * other).sum(axis=-1) / np.where(norm > 0, norm, 1.0))
