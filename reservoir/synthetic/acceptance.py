"""Whether synthetic inflow is like its record: statistics of both, how they are compared, and what is acceptable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy as np
from scipy import stats

from reservoir.hydro.calendar import Calendar
from reservoir.planning.checks import Check
from reservoir.rules.inflow_model.standardised import TRACE
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


#: Synthetic records that are compared at least: the standard deviation of fewer is uncertain.
LEAST_RECORDS = 16
#: Part of the cases in which a sound method fails at a line of the table.
_MISSED = 0.05
#: Of the record's standard error: by how much the means of all synthetic years may differ.
_PART_OF_ERROR = 0.5
#: Standard errors of synthetic records count up to so many of the record's own, for means.
_MOST_OWN_ERRORS = 2.0
#: Standard deviations of the record's month by which the largest synthetic flows may exceed its own on average: in 80
#: random records that fall dry, of 15 to 60 years, no method reached 4.
_MOST_BEYOND = 6.0
#: Fewer years in which a month flows do not tell how it follows others: such correlations count as 0.
_FEWEST_WET = 5
#: Differences below this part of the record's value are none.
_NEGLIGIBLE = 1e-3
#: Statistics that are flows, or their squares: the power of the unit of flow. All others have none.
FLOW_POWERS = {
    "mean of the month": 1,
    "deviation of the month": 1,
    "largest flow of the month": 1,
    "annual mean": 1,
    "annual variance": 2,
    "flow duration curve": 1,
}


class Claim(Enum):
    """What is asked of the record's value; see above."""

    ONE_OF_THEM = "one of them"
    AT_MOST = "at most"
    KEPT = "kept"
    NOT_BEYOND = "not beyond"


@dataclass(frozen=True, eq=False)
class Comparison:
    """A statistic of the record and of synthetic records of its length.

    Parameters
    ----------
    statistic : str
    places : tuple of str
        What each value belongs to, such as a month.
    record : ndarray, shape (values,)
    synthetic : ndarray, shape (records, values)
    claim : Claim
        What is asked of it.
    own_spread : ndarray, shape (values,), optional
        Of means, the record's own standard error; of largest flows, its standard deviation.
    """

    statistic: str
    places: tuple[str, ...]
    record: FloatArray
    synthetic: FloatArray
    claim: Claim = Claim.ONE_OF_THEM
    own_spread: FloatArray | None = None

    @property
    def deviation(self) -> FloatArray:
        """Distance of the record from the mean of the synthetic records, in their deviations, shape (values,)."""
        spread = self.synthetic.std(axis=0, ddof=1)
        distance = self.record - self.synthetic.mean(axis=0)
        if self.claim is Claim.NOT_BEYOND:
            distance = -distance
        elif self.claim is not Claim.AT_MOST:
            distance = np.abs(distance)
        if self.own_spread is not None:
            beyond = self.claim is Claim.NOT_BEYOND
            spread = self.own_spread if beyond else np.minimum(spread, _MOST_OWN_ERRORS * self.own_spread)
        least = np.maximum(_NEGLIGIBLE * np.abs(self.record), np.finfo(np.float64).tiny)
        return np.asarray(distance / np.maximum(spread, least))

    @property
    def limit(self) -> float:
        """Largest deviation that sampling explains."""
        if self.claim is Claim.NOT_BEYOND:
            return _MOST_BEYOND
        count, values = self.synthetic.shape
        sides = 1 if self.claim is Claim.AT_MOST else 2
        quantile = stats.t.ppf(1 - _MISSED / (sides * values), count - 1)
        if self.claim is Claim.KEPT:
            return float(_PART_OF_ERROR + quantile / np.sqrt(count))
        return float(quantile * np.sqrt(1 + 1 / count))

    @property
    def check(self) -> Check:
        """The line of the acceptance table: the value that deviates most."""
        worst = int(np.argmax(self.deviation))
        of = f" ({self.places[worst]})" if len(self.places) > 1 else ""
        unit = "the record's standard deviations" if self.claim is Claim.NOT_BEYOND else "standard errors"
        return Check(f"{self.statistic}{of}, in {unit}", float(self.deviation[worst]), self.limit)


def compare_flows(record_m3s: FloatArray, synthetic_m3s: FloatArray, calendar: Calendar) -> list[Comparison]:
    """Compare the flows of synthetic records with those of the record.

    Parameters
    ----------
    record_m3s : ndarray, shape (years, steps)
    synthetic_m3s : ndarray, shape (records, years, steps)
        At least `LEAST_RECORDS`, as long as the record.
    calendar : Calendar
        Of the record.
    """
    threshold = np.median(record_m3s, axis=0)
    trace = TRACE * record_m3s.mean(axis=0)

    def drought(which: int, flow: FloatArray) -> FloatArray:
        return np.log1p(worst_droughts(flow, threshold)[which])[:, np.newaxis]

    deviation, years = record_m3s.std(axis=0, ddof=1), np.sqrt(len(record_m3s))
    annual_error = record_m3s.mean(axis=1).std(ddof=1, keepdims=True) / years
    wet = (record_m3s > trace).sum(axis=0) >= _FEWEST_WET
    months = calendar.step_names
    across = ACROSS
    pairs = tuple(f"{last}-{first}" for last in months[-across:] for first in months[:across])
    exceeded = tuple(f"{100 * part:g} %" for part in EXCEEDED)
    one, kept, beyond = Claim.ONE_OF_THEM, Claim.KEPT, Claim.NOT_BEYOND

    def lagged(lag: int) -> Callable[[FloatArray], FloatArray]:
        return lambda flow: monthly_correlations(flow, lag) * (wet & np.roll(wet, lag))

    def across_year_end(flow: FloatArray) -> FloatArray:
        return correlations_across_year_end(flow) * np.outer(wet[-across:], wet[:across]).ravel()

    asked: Sequence[tuple[str, tuple[str, ...], Callable[[FloatArray], FloatArray], Claim, FloatArray | None]] = (
        ("mean of the month", months, monthly_means, kept, deviation / years),
        ("deviation of the month", months, monthly_deviations, one, None),
        ("skew of the month", months, monthly_skews, one, None),
        ("largest flow of the month", months, monthly_maxima, beyond, deviation),
        ("years without flow in the month", months, partial(dry_parts, trace=trace), one, None),
        ("lag-1 correlation", months, lagged(1), one, None),
        ("lag-2 correlation", months, lagged(2), one, None),
        ("correlation across the year's end", pairs, across_year_end, one, None),
        ("annual mean", ("",), annual_means, kept, annual_error),
        ("annual variance", ("",), annual_variances, one, None),
        ("annual lag-1 correlation", ("",), annual_correlation, one, None),
        ("flow duration curve", exceeded, duration_curve, one, None),
        ("longest drought (logarithm)", ("",), partial(drought, 0), one, None),
        ("severest drought (logarithm)", ("",), partial(drought, 1), one, None),
        ("Hurst exponent", ("",), hurst_exponent, one, None),
    )
    return [
        Comparison(name, places, of(record_m3s[np.newaxis])[0], of(synthetic_m3s), claim, spread)
        for name, places, of, claim, spread in asked
    ]
