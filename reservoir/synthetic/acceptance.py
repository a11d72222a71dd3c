"""Whether synthetic inflow is like its record: statistics of both, how they are compared, and what is acceptable.

With a reservoir, what optimised operation makes of both is compared too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.planning.checks import Check
from reservoir.planning.columns import FIRM_QUANTILE
from reservoir.planning.plan import StageProgress, optimise, silent_stage
from reservoir.planning.solving import DEVICE_REFERENCE
from reservoir.rules.standardised_months import TRACE
from reservoir.synthetic.ensemble import SyntheticInflow
from reservoir.synthetic.methods import FloatArray
from reservoir.synthetic.sites import SyntheticSites
from reservoir.text.quantities import counted


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


def monthly_skews(flow: FloatArray) -> FloatArray:
    """Skewness of each month; 0 of what is constant."""
    deviations = flow - flow.mean(axis=1, keepdims=True)
    variance = (deviations**2).mean(axis=1)
    return np.asarray((deviations**3).mean(axis=1) / np.where(variance > 0, variance, 1.0) ** 1.5)


def dry_parts(flow: FloatArray, trace: FloatArray | float = 0.0) -> FloatArray:
    """Part of the years in which each month has no more than a trace of flow (m3/s, of each step or one for all)."""
    return np.asarray((flow <= trace).mean(axis=1))


def monthly_correlations(flow: FloatArray, lag: int, other: FloatArray | None = None) -> FloatArray:
    """Correlation of each month with the month `lag` months before it, which may be of the year before.

    That is the month of the same flows, or of `other`, those of another site.
    """
    steps = flow.shape[-1]
    series, before = (each.reshape(len(flow), -1) for each in (flow, flow if other is None else other))
    correlations = []
    for step in range(steps):
        later = series[:, step + (steps if step < lag else 0) :: steps]
        earlier = before[:, (step - lag) % steps :: steps][:, : later.shape[1]]
        correlations.append(_correlation(earlier, later))
    return np.stack(correlations, axis=1)


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


def hurst_exponent(flow: FloatArray) -> FloatArray:
    """Hurst's K of the annual flows: log(R / S) / log(n / 2), with the rescaled range R / S of n years."""
    annual = flow.mean(axis=2)
    deviations = annual - annual.mean(axis=1, keepdims=True)
    summed = np.cumsum(deviations, axis=1)  # the last is 0, where the sum also begins
    spread = annual.std(axis=1)
    rescaled = np.ptp(summed, axis=1) / np.where(spread > 0, spread, 1.0)
    exponent = np.log(np.where(spread > 0, rescaled, 1.0)) / np.log(annual.shape[1] / 2)
    return np.asarray(exponent)[:, np.newaxis]


def _correlation(earlier: FloatArray, later: FloatArray) -> FloatArray:
    """Correlation along the last axis; 0 of what is constant."""
    one, other = (each - each.mean(axis=-1, keepdims=True) for each in (earlier, later))
    norm = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    return np.asarray((one * other).sum(axis=-1) / np.where(norm > 0, norm, 1.0))


def _annual_correlation(flow: FloatArray) -> FloatArray:
    annual = flow.mean(axis=2)
    return _correlation(annual[:, :-1], annual[:, 1:])[:, np.newaxis]


#: What is reckoned of flows alone (m3/s), shape (records, years, steps): shape (records, values). The duration curve is
#: of the flows that are exceeded in the parts `EXCEEDED` of the months.
STATISTICS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "mean of the month": lambda flow: np.asarray(flow.mean(axis=1)),
    "deviation of the month": lambda flow: np.asarray(flow.std(axis=1, ddof=1)),
    "skew of the month": monthly_skews,
    "largest flow of the month": lambda flow: np.asarray(flow.max(axis=1)),
    "annual mean": lambda flow: np.asarray(flow.mean(axis=(1, 2)))[:, np.newaxis],
    "annual variance": lambda flow: np.asarray(flow.mean(axis=2).var(axis=1, ddof=1))[:, np.newaxis],
    "annual lag-1 correlation": _annual_correlation,
    "flow duration curve": lambda flow: np.asarray(np.quantile(flow.reshape(len(flow), -1), 1 - EXCEEDED, axis=1).T),
    "Hurst exponent": hurst_exponent,
}


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
    flow_power : int
        1 of a flow, 2 of its square, 0 of what has no unit of flow.
    """

    statistic: str
    places: tuple[str, ...]
    record: FloatArray
    synthetic: FloatArray
    claim: Claim = Claim.ONE_OF_THEM
    own_spread: FloatArray | None = None
    flow_power: int = 0

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

    deviation, years = record_m3s.std(axis=0, ddof=1), np.sqrt(len(record_m3s))
    annual_error = record_m3s.mean(axis=1).std(ddof=1, keepdims=True) / years
    wet = _often_wet(record_m3s)
    months = calendar.step_names
    across = ACROSS
    pairs = tuple(f"{last}-{first}" for last in months[-across:] for first in months[:across])
    exceeded = tuple(f"{100 * part:g} %" for part in EXCEEDED)
    one, kept, beyond = Claim.ONE_OF_THEM, Claim.KEPT, Claim.NOT_BEYOND

    statistics = STATISTICS | {
        "years without flow in the month": partial(dry_parts, trace=trace),
        "lag-1 correlation": lambda flow: monthly_correlations(flow, 1) * (wet & np.roll(wet, 1)),
        "lag-2 correlation": lambda flow: monthly_correlations(flow, 2) * (wet & np.roll(wet, 2)),
        "correlation across the year's end": lambda flow: (
            correlations_across_year_end(flow) * np.outer(wet[-across:], wet[:across]).ravel()
        ),
        "longest drought (logarithm)": lambda flow: np.log1p(worst_droughts(flow, threshold)[0])[:, np.newaxis],
        "severest drought (logarithm)": lambda flow: np.log1p(worst_droughts(flow, threshold)[1])[:, np.newaxis],
    }
    asked: Sequence[tuple[str, tuple[str, ...], Claim, FloatArray | None, int]] = (
        ("mean of the month", months, kept, deviation / years, 1),
        ("deviation of the month", months, one, None, 1),
        ("skew of the month", months, one, None, 0),
        ("largest flow of the month", months, beyond, deviation, 1),
        ("years without flow in the month", months, one, None, 0),
        ("lag-1 correlation", months, one, None, 0),
        ("lag-2 correlation", months, one, None, 0),
        ("correlation across the year's end", pairs, one, None, 0),
        ("annual mean", ("",), kept, annual_error, 1),
        ("annual variance", ("",), one, None, 2),
        ("annual lag-1 correlation", ("",), one, None, 0),
        ("flow duration curve", exceeded, one, None, 1),
        ("longest drought (logarithm)", ("",), one, None, 0),
        ("severest drought (logarithm)", ("",), one, None, 0),
        ("Hurst exponent", ("",), one, None, 0),
    )
    return [
        Comparison(name, places, of(record_m3s[np.newaxis])[0], of(synthetic_m3s), claim, spread, power)
        for name, places, claim, spread, power in asked
        for of in [statistics[name]]
    ]


def _often_wet(record_m3s: FloatArray) -> NDArray[np.bool_]:
    """Months that flow in enough years to tell how they follow others, shape (steps,)."""
    return np.asarray((record_m3s > TRACE * record_m3s.mean(axis=0)).sum(axis=0) >= _FEWEST_WET)


def compare_sites(
    records_m3s: Mapping[str, FloatArray], synthetic_m3s: Mapping[str, FloatArray], calendar: Calendar
) -> list[Comparison]:
    """Compare how flows of sites follow each other; by site, the flows are those of `compare_flows`."""
    wet, months = {name: _often_wet(flow) for name, flow in records_m3s.items()}, calendar.step_names
    compared = []
    for lag, statistic, pairs, words in (
        (0, "cross-correlation", combinations, "{} and {}"),
        (1, "lag-1 cross-correlation", permutations, "{} after {}"),
    ):
        of_pairs = [*pairs(records_m3s, 2)]
        record, synthetic = (
            np.concatenate(
                [
                    monthly_correlations(flows[one], lag, flows[other]) * (wet[one] & np.roll(wet[other], lag))
                    for one, other in of_pairs
                ],
                axis=1,
            )
            for flows in ({name: flow[np.newaxis] for name, flow in records_m3s.items()}, synthetic_m3s)
        )
        places = tuple(f"{words.format(*pair)}, {month}" for pair in of_pairs for month in months)
        compared.append(Comparison(statistic, places, record[0], synthetic))
    return compared


def joined(of_sites: Mapping[str, Sequence[Comparison]]) -> list[Comparison]:
    """Each comparison of several sites in one; of one site as it is."""
    several = []
    for (name, one), *others in zip(*([(name, each) for each in of] for name, of in of_sites.items()), strict=True):
        sites = ((name, one), *others)
        places = [f"{site}, {place}".removesuffix(", ") for site, each in sites for place in each.places]
        parts = [each for _, each in sites]
        spreads = [each.own_spread for each in parts if each.own_spread is not None]
        several.append(
            replace(
                one,
                places=tuple(places) if others else one.places,
                record=np.concatenate([each.record for each in parts]),
                synthetic=np.concatenate([each.synthetic for each in parts], axis=1),
                own_spread=np.concatenate(spreads) if spreads else None,
            )
        )
    return several


#: Synthetic records that are optimised at most: some seconds of dynamic programming.
MOST_RECORDS = 24


@dataclass(frozen=True, eq=False)
class OptimisedRecords:
    """Optimised records, as dynamic programming operates them.

    Parameters
    ----------
    energy_gwh : ndarray, shape (records, years)
        Energy of each year.
    power_mw, storage_hm3 : ndarray, shape (records, years, steps)
        Mean power of each month, and storage at its end.
    """

    energy_gwh: FloatArray
    power_mw: FloatArray
    storage_hm3: FloatArray

    @property
    def firm_mw(self) -> FloatArray:
        """Least monthly power of each year, shape (records, years)."""
        return np.asarray(self.power_mw.min(axis=2))


def optimised(
    reservoir: Reservoir,
    flow_m3s: FloatArray,
    calendar: Calendar,
    *,
    device: str = "auto",
    progress: StageProgress = silent_stage,
) -> OptimisedRecords:
    """Optimise records of shape (records, years, steps), in m3/s, each by itself; `calendar` is that of one.

    Years that fill no window of the reservoir's horizon are left out.
    """
    horizon = Horizon.of(reservoir.horizon)
    window = horizon.years or 1
    years = flow_m3s.shape[1] // window * window or flow_m3s.shape[1]
    flow = flow_m3s[:, :years].reshape(-1, flow_m3s.shape[2])
    inflow = Inflow(flow, Calendar(calendar.first_year, len(flow), calendar.first_month, years_each=years))
    plan = optimise(reservoir, inflow, solver=DEVICE_REFERENCE, device=device, progress=progress)
    months = (len(flow_m3s), years, inflow.steps)
    return OptimisedRecords(
        plan.energy_gwh.reshape(months[:2]),
        plan.operation.power_mw.reshape(months),
        plan.operation.storage_hm3[:, 1:].reshape(months),
    )


def compare_energy(record: OptimisedRecords, synthetic: OptimisedRecords) -> list[Comparison]:
    """Compare the energy and the firm power of synthetic records with those of the record, which is one alone."""

    def both(name: str, one: FloatArray, many: FloatArray, claim: Claim = Claim.ONE_OF_THEM) -> Comparison:
        return Comparison(name, ("",), one, many[:, np.newaxis], claim)

    def firm(each: OptimisedRecords) -> FloatArray:
        return np.asarray(np.quantile(each.power_mw.reshape(len(each.power_mw), -1), FIRM_QUANTILE, axis=1))

    energy, energies = record.energy_gwh, synthetic.energy_gwh
    return [
        both("optimised energy, mean of the years", energy.mean(axis=1), energies.mean(axis=1)),
        both("optimised energy, deviation of the years", energy.std(axis=1, ddof=1), energies.std(axis=1, ddof=1)),
        both("optimised energy, distribution", *distances(energy[0], energies), Claim.AT_MOST),
        both("firm power of the record", firm(record), firm(synthetic)),
        both("firm power of the years, distribution", *distances(record.firm_mw[0], synthetic.firm_mw), Claim.AT_MOST),
    ]


def distances(record: FloatArray, synthetic: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Kolmogorov-Smirnov distances of samples of equally many years from all synthetic years of the others.

    Parameters
    ----------
    record : ndarray, shape (years,)
    synthetic : ndarray, shape (records, years)

    Returns
    -------
    record : ndarray, shape (1,)
        Of the record from the synthetic years.
    synthetic : ndarray, shape (records,)
        Of each synthetic record from the years of the others: what sampling makes of it, dependence of years included.
    """
    count = len(synthetic)
    others = (np.delete(synthetic, place, axis=0) for place in range(count))
    pairs = [(record, synthetic), *zip(synthetic, others, strict=True)]
    largest = np.array([stats.ks_2samp(one, many.ravel(), method="asymp").statistic for one, many in pairs])
    return largest[:1], largest[1:]


#: What is compared with a reservoir alone.
_OPTIMISED = "optimised energy and firm power"
#: Synthetic records that are compared at most: more would not make the sampling error known any better.
_MOST_COMPARED = 1000


@dataclass(frozen=True, eq=False)
class Assessment:
    """Synthetic inflow compared with its record.

    Parameters
    ----------
    comparisons : tuple of Comparison
    optimised : tuple of OptimisedRecords, optional
        The record's operation, and that of synthetic records.
    not_checked : str
        What could not be compared, and why; empty if all was.
    of_sites : mapping of str to sequence of Comparison
        The flows of each site by itself; the name of a site alone is empty.
    """

    comparisons: tuple[Comparison, ...]
    optimised: tuple[OptimisedRecords, OptimisedRecords] | None
    not_checked: str
    of_sites: Mapping[str, Sequence[Comparison]] = field(default_factory=dict)

    @property
    def checks(self) -> list[Check]:
        """The acceptance table."""
        return [each.check for each in self.comparisons]

    @property
    def failed(self) -> list[str]:
        """Statistics that are not accepted."""
        return [each.statistic for each in self.comparisons if each.check.passed is False]


def assessed(
    source: SyntheticInflow | SyntheticSites,
    members: int,
    reservoir: Reservoir | None = None,
    *,
    device: str = "auto",
    progress: StageProgress = silent_stage,
) -> Assessment:
    """Compare the first members of an ensemble, each as long as the record, with the record.

    Members of other lengths begin with the same years, so that these are of the same ensemble. There are at least
    `LEAST_RECORDS`.

    Parameters
    ----------
    source : SyntheticInflow or SyntheticSites
    members : int
        As many as the ensemble has.
    reservoir : Reservoir, optional
        Whose operation is optimised by dynamic programming, with the record's inflow and the first members'.
    device : str
        OpenCL device for that.
    progress : callable
        Told the years that are optimised.
    """
    records = {name: site.adjusted_record for name, site in source.sites.items()}
    (first, record), calendar = next(iter(records.items())), source.calendar
    flows = source.flows_of_sites(0, min(max(members, LEAST_RECORDS), _MOST_COMPARED), len(record))
    of_sites = {name: compare_flows(records[name], flow, calendar) for name, flow in flows.items()}
    if len(records) > 1:
        comparisons = (*joined(of_sites), *compare_sites(records, flows, calendar))
        return Assessment(comparisons, None, f"{_OPTIMISED}: of several sites, flows alone are compared", of_sites)
    comparisons, flow = tuple(of_sites[first]), flows[first]
    if reservoir is None:
        return Assessment(comparisons, None, f"{_OPTIMISED}: no reservoir is given", of_sites)
    if reservoir.ramp_up_m3s is not None or reservoir.ramp_down_m3s is not None:
        why_not = f"{_OPTIMISED}: dynamic programming cannot limit the change of the release"
        return Assessment(comparisons, None, why_not, of_sites)
    if reservoir.flood_space is not None:
        column = reservoir.flood_space.column
        why_not = f'{_OPTIMISED}: flood space depends on the column "{column}", which synthetic inflow does not have'
        return Assessment(comparisons, None, why_not, of_sites)
    both = (
        optimised(reservoir, record[None], calendar, device=device, progress=progress),
        optimised(reservoir, flow[:MOST_RECORDS], calendar, device=device, progress=progress),
    )
    return Assessment((*comparisons, *compare_energy(*both)), both, "", of_sites)


#: Lines of the table that are named one by one.
_NAMED = 3


def what_to_try(
    source: SyntheticInflow | SyntheticSites,
    assessment: Assessment,
    members: int,
    reservoir: Reservoir | None = None,
    *,
    device: str = "auto",
    progress: StageProgress = silent_stage,
) -> str:
    """What to try where lines of the table fail: the methods that pass all of them, if any does; empty if none fails.

    Parameters
    ----------
    source, members, reservoir, device, progress
        As of `assessed`, which compares the other methods in the same way.
    assessment : Assessment
        Of the source.
    """
    failed = {source.method: assessment.failed}
    if not failed[source.method]:
        return ""
    for method in source.methods:
        if method != source.method:
            other = source.by(method)
            failed[method] = assessed(other, members, reservoir, device=device, progress=progress).failed
    if passed := [method for method, lines in failed.items() if not lines]:
        return f"--method {' or '.join(passed)}: with the same seed every line passes"
    least = min(failed, key=lambda method: len(failed[method]))
    lines = ", ".join(failed[least][:_NAMED]) + (", ..." if len(failed[least]) > _NAMED else "")
    return (
        "another --seed: a sound method fails at a line in one case of twenty. No method passes with this one; "
        f"{least} fails least ({counted(len(failed[least]), 'line')}: {lines}). Where the same lines fail again, the "
        f"methods cannot repeat this record of {counted(source.calendar.years)}: give a longer one, or use members for "
        "nothing that depends on these lines"
    )
