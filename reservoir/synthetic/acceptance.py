"""Whether synthetic inflow is like its record: statistics of synthetic records as long as the record, and its own.

Sampling error is what synthetic records of the record's length differ by, so that every threshold follows from them:

- *One of them*: the record's value lies where 95 % of further synthetic records would (the prediction interval of
  Student's t); of several values, such as those of the months, all lie there (Bonferroni).
- *At most*: the same for a distance, which may be as small as it likes.
- *Kept*: mean flows are volumes of water, and a method is fitted to them. The mean of all synthetic years differs
  from the record's by at most half a standard error of the record, and the sampling error (95 %) of these years.
"""

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
from reservoir.synthetic import statistics
from reservoir.synthetic.base import FloatArray
from reservoir.synthetic.statistics import worst_droughts

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
    across = statistics.ACROSS
    pairs = tuple(f"{last}-{first}" for last in months[-across:] for first in months[:across])
    exceeded = tuple(f"{100 * part:g} %" for part in statistics.EXCEEDED)
    one, kept, beyond = Claim.ONE_OF_THEM, Claim.KEPT, Claim.NOT_BEYOND

    def lagged(lag: int) -> Callable[[FloatArray], FloatArray]:
        return lambda flow: statistics.monthly_correlations(flow, lag) * (wet & np.roll(wet, lag))

    def across_year_end(flow: FloatArray) -> FloatArray:
        return statistics.correlations_across_year_end(flow) * np.outer(wet[-across:], wet[:across]).ravel()

    asked: Sequence[tuple[str, tuple[str, ...], Callable[[FloatArray], FloatArray], Claim, FloatArray | None]] = (
        ("mean of the month", months, statistics.monthly_means, kept, deviation / years),
        ("deviation of the month", months, statistics.monthly_deviations, one, None),
        ("skew of the month", months, statistics.monthly_skews, one, None),
        ("largest flow of the month", months, statistics.monthly_maxima, beyond, deviation),
        ("years without flow in the month", months, partial(statistics.dry_parts, trace=trace), one, None),
        ("lag-1 correlation", months, lagged(1), one, None),
        ("lag-2 correlation", months, lagged(2), one, None),
        ("correlation across the year's end", pairs, across_year_end, one, None),
        ("annual mean", ("",), statistics.annual_means, kept, annual_error),
        ("annual variance", ("",), statistics.annual_variances, one, None),
        ("annual lag-1 correlation", ("",), statistics.annual_correlation, one, None),
        ("flow duration curve", exceeded, statistics.duration_curve, one, None),
        ("longest drought (logarithm)", ("",), partial(drought, 0), one, None),
        ("severest drought (logarithm)", ("",), partial(drought, 1), one, None),
        ("Hurst exponent", ("",), statistics.hurst_exponent, one, None),
    )
    return [
        Comparison(name, places, of(record_m3s[np.newaxis])[0], of(synthetic_m3s), claim, spread)
        for name, places, of, claim, spread in asked
    ]
