"""Synthetic inflow of several sites together: each by its own fitted method, their random numbers correlated by month.

The method of a site makes flows that rise with its numbers, so that sites with correlated numbers have correlated
flows, whatever these are distributed like and however they follow each other (normal to anything; Cario and Nelson
1997). The correlations of the numbers are those with which the flows correlate as on record, as nearly as they can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from reservoir.errors import InputError, shortened
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.rules.inflow_model import uniform_numbers
from reservoir.rules.joint_inflow import correlations, factor_of, scores
from reservoir.synthetic import METHODS, method_named
from reservoir.synthetic.ensemble import MOST_CAVEAT, Adjustments, SyntheticInflow, laid_out, synthetic_inflow
from reservoir.synthetic.methods import FloatArray

#: Years that are made to see how flows correlate, of numbers that are the same for every seed; and how often the
#: correlations of the numbers are corrected by what is seen.
_TRIAL_YEARS, _TRIAL_STREAM, _ROUNDS = 5000, 1, 8
#: Methods of several sites.
_TOGETHER = [name for name, method in METHODS.items() if method.rises]
#: Uniform numbers whose normal quantiles are finite.
_UNIFORM = (2.0**-54, 1 - 2.0**-53)


@dataclass(frozen=True, eq=False)
class SyntheticSites:
    """A method fitted to the records of several sites: makes any part of an ensemble of them without end.

    Parameters
    ----------
    sites : mapping of str to SyntheticInflow
        By the name of the site, of records of the same years.
    factor : ndarray, shape (sites x steps, sites x steps)
        Upper Cholesky factor of the correlation of the normal numbers of a year. Those of a site do not correlate with
        each other, and those of the first are those of a site alone.
    """

    sites: Mapping[str, SyntheticInflow]
    factor: FloatArray

    @property
    def first(self) -> SyntheticInflow:
        """The first site: its method, seed and calendar are those of all."""
        return next(iter(self.sites.values()))

    def flows_of_sites(self, first: int, stop: int, years: int) -> Mapping[str, FloatArray]:
        """Flows (m3/s) of the members `first` up to `stop`, of each site of shape (stop - first, years, steps).

        A member is the same whichever others are made, and its first years are, whichever follow.
        """
        if len(self.sites) == 1:  # whose record may be adjusted after the fit, as that of several never is
            return {name: site.flows(first, stop, years) for name, site in self.sites.items()}
        return dict(zip(self.sites, self._made(self.first.seed, first, stop, years), strict=True))

    def _made(self, seed: int, first: int, stop: int, years: int, stream: int = 0) -> Iterator[FloatArray]:
        """The flows of one site after another; streams of numbers are even or odd ones."""
        models, steps = [site.model for site in self.sites.values()], self.first.record.steps
        size = first, stop, years + models[0].lead_years, steps
        numbers = [uniform_numbers(seed, *size, stream + 2 * place) for place in range(len(models))]
        normal = np.concatenate([np.moveaxis(ndtri(each), -1, 0) for each in numbers])
        for place, model in enumerate(models):
            for step in range(steps) if place else ():
                of_step = self.factor[:, place * steps + step]
                # A product of matrices may round differently for more members.
                correlated = sum(of_step[other] * normal[other] for other in np.flatnonzero(of_step))
                numbers[place][..., step] = np.clip(ndtr(correlated), *_UNIFORM)
            yield model.flows(numbers[place])

    def fitted(self) -> SyntheticSites:
        """With the correlations of numbers that make flows correlate as in the (adjusted) records of the same years."""
        records = [site.adjusted_record for site in self.sites.values()]
        years, steps = records[0].shape
        models, wanted = [site.model for site in self.sites.values()], correlations(scores(np.stack(records)))
        same_month, same_site = np.eye(steps)[:, np.newaxis], np.eye(len(models))[:, np.newaxis, :, np.newaxis]
        record = [model.innovations(flow) for model, flow in zip(models, records, strict=True)]
        of_numbers = correlations(np.stack(record))
        if not models[0].mixes_months:
            of_numbers = of_numbers * same_month
        fitted = self
        for _ in range(_ROUNDS):
            of_numbers = np.where(same_site, same_month, np.clip(of_numbers, -1.0, 1.0))
            fitted = replace(self, factor=factor_of(of_numbers.reshape(len(self.factor), -1)))
            made = np.stack([*fitted._made(0, 0, -(-_TRIAL_YEARS // years), years, _TRIAL_STREAM)])
            missing = wanted - correlations(scores(made.reshape(len(made), -1, steps)))
            of_numbers = (fitted.factor.T @ fitted.factor).reshape(wanted.shape) + missing * same_month
        return fitted

    def ensemble(self, members: int, years: int | None = None) -> SiteInflows:
        """The first members at all sites, of as many years as the records or of `years`; see `laid_out`."""
        record = self.first.record
        years = record.years if years is None else years
        calendar, blocks = laid_out(record, members, years)
        parts = [self.flows_of_sites(first, stop, years) for first, stop in blocks]
        flows = {name: np.concatenate([part[name] for part in parts]).reshape(-1, record.steps) for name in self.sites}
        return SiteInflows({name: Inflow(flow, calendar, caveat=self.caveat) for name, flow in flows.items()})

    @property
    def caveat(self) -> str:
        """What every file and figure says of the ensemble."""
        return shortened("; ".join(dict.fromkeys(site.caveat for site in self.sites.values())), MOST_CAVEAT)

    @property
    def calendar(self) -> Calendar:
        """The calendar of the records."""
        return self.first.calendar

    @property
    def method(self) -> str:
        """A name of `reservoir.synthetic.METHODS`."""
        return self.first.method

    @property
    def methods(self) -> Sequence[str]:
        """The methods that could be fitted to the same."""
        return _TOGETHER

    def by(self, method: str) -> SyntheticSites:
        """Another method, fitted to the same."""
        records = SiteInflows({name: site.record for name, site in self.sites.items()})
        return synthetic_sites(records, method, seed=self.first.seed, adjustments=self.first.adjuster.adjustments)


def synthetic_sites(
    records: SiteInflows, method: str, *, seed: int = 1, adjustments: Adjustments | None = None
) -> SyntheticSites:
    """Fit a method of synthetic inflow to the records of several sites, see `synthetic_inflow`; of one, it is that.

    Raises
    ------
    InputError
        As there, and if the method does not draw sites together.
    """
    several = len(records) > 1
    if several and not method_named(method).rises:
        problem, expected = "does not draw several sites together", " or ".join(_TOGETHER)
        raise InputError(problem, expected, "choose one of them", column="method", value=method)
    sites = {
        name: synthetic_inflow(record, method, seed=seed, adjustments=adjustments, before_fit=several)
        for name, record in records.items()
    }
    together = SyntheticSites(sites, np.eye(len(sites) * records.steps))
    return together.fitted() if several else together
