"""A record of days, weeks or ten-day periods -> steps: means of the days that have a value, if not many are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar
from reservoir.hydro.step_means import StepMeans, step_means
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.water_years import step_name
from reservoir.io.inflow_csv.record import Record, StepValue
from reservoir.io.inflow_csv.row_period import DayValues, RowPeriod, dates_of, day_numbers, of_days
from reservoir.text.quantities import counted

#: Fields of `Inflow` that a day adds to, and no mean.
_SUMS = frozenset({"evaporation_mm"})
#: Steps that are named one by one.
_NAMED = 12


@dataclass(frozen=True)
class Steps:
    """How a record is divided.

    Parameters
    ----------
    step : TimeStep
    first_month : int
        Calendar month in which the water year begins.
    missing_days : int
        Days that a step may lack.
    """

    step: TimeStep
    first_month: int
    missing_days: int


@dataclass(frozen=True, eq=False)
class _Divided:
    """The days of a record by the steps from its first to its last day, each step by its place in a calendar."""

    calendar: Calendar
    first: int
    edges: NDArray[np.int64]
    means: StepMeans
    allowed: int

    @classmethod
    def of(cls, each: DayValues, steps: Steps) -> _Divided:
        months = dates_of(each.days[[0, -1]]).astype("datetime64[M]").astype(np.int64) - (steps.first_month - 1)
        first_year, last_year = (1970 + months // MONTHS_PER_YEAR).tolist()
        calendar = Calendar(first_year, last_year - first_year + 1, steps.first_month, step=steps.step)
        edges = day_numbers(np.append(calendar.starts.ravel(), calendar.edges[-1, -1]))
        first, last = (np.searchsorted(edges, each.days[[0, -1]], side="right") - 1).tolist()
        edges = edges[first : last + 2]
        return cls(calendar, first, edges, step_means(each.days, each.values, edges), steps.missing_days)

    @cached_property
    def lacking(self) -> NDArray[np.bool_]:
        """Steps of which too many days are missing."""
        return (self.means.missing > self.allowed) | np.isnan(self.means.mean)

    @cached_property
    def inside(self) -> slice:
        """The steps but for the first and the last, where these are incomplete."""
        return slice(int(self.lacking[0]), len(self.lacking) - int(self.lacking[-1]))

    def listed(self, places: Sequence[int]) -> str:
        """Name steps and how many days each lacks."""
        named = ", ".join(map(self._named, places[:_NAMED]))
        more = len(places) - _NAMED
        return named if more <= 0 else f"{named} and {counted(more, f'more {self.calendar.step.noun}')}"

    def _named(self, place: int) -> str:
        name = step_name(self.calendar, self.first + place)
        if self.calendar.step is TimeStep.DAY:
            return name
        return f"{name} (lacks {counted(int(self.means.missing[place]), 'day')})"


def averaged(record: Record, steps: Steps, *, amounts: bool) -> tuple[Record, Calendar]:
    """Average the rows of a record over steps.

    Parameters
    ----------
    record : Record
        Of rows shorter than a month, without mistakes.
    steps : Steps
        None of which is shorter than what a row stands for.
    amounts : bool
        Whether its values are volumes of their rows' periods.

    Returns
    -------
    record : Record
        A value for each step: the mean of its days; its ordinal is the place in the calendar.
    calendar : Calendar
        The water years that these steps lie in.

    Raises
    ------
    InputError
        With the steps that lack more days than allowed, but for the first and the last: these are left out.
    """
    first_days = np.array([value.ordinal for value in record.values])
    each = of_days(record.period, first_days, np.array([value.value for value in record.values]), amounts=amounts)
    if not len(each.days):
        problem = f"no day has all of its {record.period.per_day} rows"
        raise InputError(Mistake(problem, "whole days", "fill in the rows", row=record.values[0].row))
    divided = _Divided.of(each, steps)
    inside, means = divided.inside, divided.means
    cells = [record.values[at] for at in _first_rows(record.period, first_days, divided.edges)]
    if inside.start >= inside.stop:
        raise InputError(_gaps(divided, range(len(divided.lacking)), cells, record.codes))
    if divided.lacking[inside].any():
        raise InputError(_gaps(divided, range(inside.start, inside.stop), cells, record.codes))
    values = tuple(
        StepValue(divided.first + at, float(means.mean[at]), cells[at].row, cells[at].column, f"{means.mean[at]:.6g}")
        for at in range(inside.start, inside.stop)
    )
    companions = _companions(record, first_days, divided, values)
    notes = (*record.notes, *_notes(record, divided))
    return replace(record, values=values, companions=companions, notes=notes), divided.calendar


def _first_rows(period: RowPeriod, first_days: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Place of the first row of each step, or of the row nearest to it."""
    last_days = first_days + period.lengths(first_days) - 1
    return np.minimum(np.searchsorted(last_days, edges[:-1]), len(first_days) - 1)


def _companions(
    record: Record, first_days: NDArray[np.int64], divided: _Divided, values: Sequence[StepValue]
) -> Mapping[str, Mapping[int, float]]:
    """Further columns averaged, or added up, to steps, by the row of each step's value."""
    found = {}
    days = np.diff(divided.edges)
    for name, of_row in record.companions.items():
        rows, is_sum = np.array([of_row[value.row] for value in record.values]), name in _SUMS
        each = of_days(record.period, first_days, rows, amounts=is_sum)
        by_step = step_means(each.days, each.values, divided.edges).mean * (days if is_sum else 1)
        found[name] = dict(zip((value.row for value in values), by_step[divided.inside].tolist(), strict=True))
    return found


def _notes(record: Record, divided: _Divided) -> Iterator[str]:
    period, step, inside = record.period, divided.calendar.step, divided.inside
    rows = counted(len(record.values), "row" if period.per_day > 1 else period.step.noun)
    if period != RowPeriod(step):
        yield f"{period.adjective} values are averaged to {step.noun}s ({rows})"
    elif step is TimeStep.WEEK:
        yield f"weekly values are averaged over the weeks of the water year, which begin with it ({rows})"
    lacking = [at for at in range(inside.start, inside.stop) if divided.means.missing[at]]
    if lacking:
        yield f"averaged over fewer days: {divided.listed(lacking)}"
    outside = [at for at in range(len(divided.lacking)) if not inside.start <= at < inside.stop]
    if outside:
        yield f"left out, as days are missing: {divided.listed(outside)}"


def _gaps(divided: _Divided, among: range, cells: Sequence[StepValue], codes: Sequence[str]) -> Mistake:
    step, means = divided.calendar.step, divided.means
    lacking = [at for at in among if divided.lacking[at]]
    most = max(int(means.missing[at]) for at in lacking)
    allow = f", or allow {most} missing days a {step.noun} (--missing-days {most})"
    problem = f"{counted(len(lacking), step.noun)} with missing days: {divided.listed(lacking)}"
    if step is TimeStep.DAY:
        problem = f"{counted(len(lacking), 'missing day')}: {divided.listed(lacking)}"
    problem = "; ".join((problem, *codes))
    if any(np.isnan(means.mean[at]) for at in lacking):
        allow = ""
    mend = f"fill in the days{allow}, or keep only the part of the record before or after the gap"
    expected = f"at most {counted(divided.allowed, 'missing day')} a {step.noun}"
    return Mistake(problem, expected, mend, row=cells[lacking[0]].row)
