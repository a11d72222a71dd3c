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
from reservoir.synthetic import statistics
from reservoir.synthetic.base import FloatArray
from reservoir.synthetic.droughts import worst_droughts

#: Synthetic records that are compared at least: the standard deviation of fewer is uncertain.
LEAST_RECORDS = 16
#: Part of the cases in which a sound method fails at a line of the table.
_MISSED = 0.05
#: Of the record's standard error: by how much the means of all synthetic years may differ.
_PART_OF_ERROR = 0.5
#: Differences below this part of the record's value are none.
_NEGLIGIBLE = 1e-3
#: Statistics that are flows, or their squares: the power of the unit of flow. All others have none.
FLOW_POWERS = {
    "mean of the month": 1,
    "deviation of the month": 1,
    "annual mean": 1,
    "annual variance": 2,
    "flow duration curve": 1,
}


class Claim(Enum):
    """What is asked of the record's value; see above."""

    ONE_OF_THEM = "one of them"
    AT_MOST = "at most"
    KEPT = "kept"


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
    """

    statistic: str
    places: tuple[str, ...]
    record: FloatArray
    synthetic: FloatArray
    claim: Claim = Claim.ONE_OF_THEM

    @property
    def deviation(self) -> FloatArray:
        """Distance of the record from the mean of the synthetic records, in their deviations, shape (values,)."""
        spread = self.synthetic.std(axis=0, ddof=1)
        distance = self.record - self.synthetic.mean(axis=0)
        if self.claim is not Claim.AT_MOST:
            distance = np.abs(distance)
        least = np.maximum(_NEGLIGIBLE * np.abs(self.record), np.finfo(np.float64).tiny)
        return np.asarray(distance / np.maximum(spread, least))

    @property
    def limit(self) -> float:
        """Largest deviation that sampling explains."""
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
        return Check(f"{self.statistic}{of}, in standard errors", float(self.deviation[worst]), self.limit)


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

    def drought(which: int, flow: FloatArray) -> FloatArray:
        return np.log1p(worst_droughts(flow, threshold)[which])[:, np.newaxis]

    months = calendar.step_names
    across = statistics.ACROSS
    pairs = tuple(f"{last}-{first}" for last in months[-across:] for first in months[:across])
    exceeded = tuple(f"{100 * part:g} %" for part in statistics.EXCEEDED)
    asked: Sequence[tuple[str, tuple[str, ...], Callable[[FloatArray], FloatArray], Claim]] = (
        ("mean of the month", months, statistics.monthly_means, Claim.KEPT),
        ("deviation of the month", months, statistics.monthly_deviations, Claim.ONE_OF_THEM),
        ("skew of the month", months, statistics.monthly_skews, Claim.ONE_OF_THEM),
        ("years without flow in the month", months, statistics.dry_parts, Claim.ONE_OF_THEM),
        ("lag-1 correlation", months, partial(statistics.monthly_correlations, lag=1), Claim.ONE_OF_THEM),
        ("lag-2 correlation", months, partial(statistics.monthly_correlations, lag=2), Claim.ONE_OF_THEM),
        ("correlation across the year's end", pairs, statistics.correlations_across_year_end, Claim.ONE_OF_THEM),
        ("annual mean", ("",), statistics.annual_means, Claim.KEPT),
        ("annual variance", ("",), statistics.annual_variances, Claim.ONE_OF_THEM),
        ("annual lag-1 correlation", ("",), statistics.annual_correlation, Claim.ONE_OF_THEM),
        ("flow duration curve", exceeded, statistics.duration_curve, Claim.ONE_OF_THEM),
        ("longest drought (logarithm)", ("",), partial(drought, 0), Claim.ONE_OF_THEM),
        ("severest drought (logarithm)", ("",), partial(drought, 1), Claim.ONE_OF_THEM),
        ("Hurst exponent", ("",), statistics.hurst_exponent, Claim.ONE_OF_THEM),
    )
    return [
        Comparison(name, places, of(record_m3s[np.newaxis])[0], of(synthetic_m3s), claim)
        for name, places, of, claim in asked
    ]
