"""An ensemble of synthetic inflow from a record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.rules.inflow_model.monthly_regression import uniform_numbers
from reservoir.synthetic import method_named
from reservoir.synthetic.adjustments import Adjustments, FlowAdjuster
from reservoir.synthetic.base import FloatArray, FlowModel

#: Years of a record, below which nothing is fitted to it.
LEAST_YEARS = 15
#: No date is written with more than four digits.
_LAST_YEAR = 9999
#: Years that are made at once: what a method takes of memory on the way.
_BLOCK_YEARS = 100_000
#: Characters of a caveat: readers of inflow files take so many (see `reservoir.io.inflow_csv.caveats`), and all of it
#: stands on figures.
_MOST_CAVEAT = 900


@dataclass(frozen=True, eq=False)
class SyntheticInflow:
    """A method fitted to a record: makes any part of an ensemble without end.

    Parameters
    ----------
    record : Inflow
    method : str
        A name of `METHODS`.
    model : FlowModel
    adjuster : FlowAdjuster
    seed : int
    """

    record: Inflow
    method: str
    model: FlowModel
    adjuster: FlowAdjuster
    seed: int

    def flows(self, first: int, stop: int, years: int) -> FloatArray:
        """Flows (m3/s) of the members `first` up to `stop`, shape (stop - first, years, steps).

        A member is the same whichever others are made, and its first years are, whichever follow.
        """
        margins = 0 if self.adjuster.before_fit else 2 * self.adjuster.margin_years
        drawn = years + self.model.lead_years + margins
        made = self.model.flows(uniform_numbers(self.seed, first, stop, drawn, self.record.steps))
        return made if self.adjuster.before_fit else self.adjuster.adjusted(made)

    def ensemble(self, members: int, years: int | None = None) -> Inflow:
        """The first members, of as many years as the record or of `years`.

        Raises
        ------
        InputError
            If their last year has more than four digits.
        """
        years = self.record.years if years is None else years
        first_year = self.record.calendar.first_year
        if first_year + years > _LAST_YEAR:
            problem, expected = "a member is too long", f"at most {_LAST_YEAR - first_year} years"
            raise InputError(Mistake(problem, expected, "make more members", column="member_years", value=years))
        block = max(_BLOCK_YEARS // years, 1)
        parts = [self.flows(first, min(first + block, members), years) for first in range(0, members, block)]
        flow = np.concatenate(parts).reshape(-1, self.record.steps)
        calendar = Calendar(first_year, len(flow), self.record.calendar.first_month, years_each=years)
        return Inflow(flow, calendar, caveat=self.caveat)

    @property
    def adjusted_record(self) -> FloatArray:
        """The flows of the record (m3/s), adjusted as the ensemble is, shape (years, steps)."""
        return self.adjuster.of_record(self.record.flow_m3s)

    @property
    def caveat(self) -> str:
        """What every file and figure says of the ensemble."""
        labels, source = self.record.labels, Path(self.record.source).name or "a record"
        text = f"synthetic inflow by {self.method}, seed {self.seed}, from {source} ({labels[0]} to {labels[-1]})"
        if words := self.adjuster.words(self.record.calendar.step_names):
            text += f", adjusted: {words}"
        if self.record.caveat:
            text += f"; that record: {self.record.caveat}"
        return shortened(text, _MOST_CAVEAT)


def synthetic_inflow(
    record: Inflow, method: str, *, seed: int = 1, adjustments: Adjustments | None = None
) -> SyntheticInflow:
    """Fit a method of synthetic inflow to a record.

    Parameters
    ----------
    record : Inflow
        Of months, at least `LEAST_YEARS` years.
    method : str
        A name of `METHODS`.
    seed : int
        The same seed gives the same flows.
    adjustments : Adjustments, optional
        Of the climate; none by default.

    Raises
    ------
    InputError
        If the method is unknown, the record is too short or an ensemble, or a month cannot vary as much as asked.
    """
    chosen = method_named(method)
    record.require_months("synthetic inflow")
    if record.calendar.is_ensemble:
        problem, mend = "the inflow has members", "give the record that the ensemble was made from"
        raise InputError(Mistake(problem, "one record", mend, file=record.source))
    if record.years < LEAST_YEARS:
        problem, expected = "the record is too short to derive synthetic inflow from", f"at least {LEAST_YEARS} years"
        mend = "extend the record, for example with that of a neighbouring gauge"
        raise InputError(Mistake(problem, expected, mend, file=record.source, value=record.years))
    flow = np.asarray(record.flow_m3s)
    if flow.min() < 0:
        problem, mend = "the record has negative flows", "set them to zero (--negative zero)"
        raise InputError(Mistake(problem, "flows of 0 m3/s or more", mend, file=record.source, value=float(flow.min())))
    adjuster = FlowAdjuster.of(adjustments or Adjustments(), flow, record.calendar.first_month)
    fitted = chosen.fit(adjuster.of_record(flow) if adjuster.before_fit else flow)
    return SyntheticInflow(record, method, fitted, adjuster, seed)
