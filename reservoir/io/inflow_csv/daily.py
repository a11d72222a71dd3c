"""A daily record -> its months: the mean of the days that have a value, if no more than allowed are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.step_means import StepMeans, step_means
from reservoir.hydro.water_years import month_name
from reservoir.io.inflow_csv.dates import Month
from reservoir.io.inflow_csv.record import Record, StepValue
from reservoir.text.quantities import counted

#: Fields of `Inflow` that a day adds to, and no mean.
_SUMS = frozenset({"evaporation_mm"})
#: Months that are named one by one.
_NAMED = 12


def month_edges(first: int, months: int) -> NDArray[np.int64]:
    """First days of consecutive months, and the day after the last, as days of the calendar.

    Parameters
    ----------
    first : int
        The first month, counted from January of year 0.
    months : int
    """
    return np.array([date(*Month.at(first + at), 1).toordinal() for at in range(months + 1)])


def monthly_record(record: Record, missing_days: int) -> Record:
    """Average the days of a record to months.

    Parameters
    ----------
    record : Record
        A daily one, without mistakes.
    missing_days : int
        Days that a month may lack.

    Raises
    ------
    InputError
        With the months that lack more, but for the first and the last: these are left out.
    """
    days = np.array([value.ordinal for value in record.values])
    months = [_month_of(day) for day in (days[0], days[-1])]
    edges = month_edges(months[0], months[1] - months[0] + 1)
    means = step_means(days, np.array([value.value for value in record.values]), edges)
    lacking = (means.missing > missing_days) | np.isnan(means.mean)
    inside = slice(int(lacking[0]), len(lacking) - int(lacking[-1]))
    if inside.start >= inside.stop:
        raise InputError(_gaps(record, months[0], means, slice(0, len(lacking)), missing_days, np.array([0, 0])))
    first_rows = np.searchsorted(days, edges[:-1])
    if lacking[inside].any():
        raise InputError(_gaps(record, months[0], means, inside, missing_days, first_rows))
    values = tuple(
        StepValue(months[0] + at, float(means.mean[at]), cell.row, cell.column, f"{means.mean[at]:.6g}")
        for at in range(inside.start, inside.stop)
        for cell in (record.values[first_rows[at]],)
    )
    return replace(
        record,
        values=values,
        companions=_companions(record, days, edges, values, inside),
        notes=(*record.notes, *_notes(record, months[0], means.missing, inside)),
    )


def _month_of(day: int) -> int:
    at = date.fromordinal(int(day))
    return Month(at.year, at.month).ordinal


def _companions(
    record: Record, days: NDArray[np.int64], edges: NDArray[np.int64], values: Sequence[StepValue], inside: slice
) -> Mapping[str, Mapping[int, float]]:
    """Further columns averaged, or added up, to months, by the row of each month's value."""
    found = {}
    for name, of_row in record.companions.items():
        daily = np.array([of_row[value.row] for value in record.values])
        monthly = step_means(days, daily, edges).mean * (np.diff(edges) if name in _SUMS else 1)
        found[name] = dict(zip((value.row for value in values), monthly[inside].tolist(), strict=True))
    return found


def _notes(record: Record, first: int, missing: NDArray[np.int64], inside: slice) -> tuple[str, ...]:
    told = [f"daily values are averaged to months ({counted(len(record.values), 'day')})"]
    lacking = [at for at in range(inside.start, inside.stop) if missing[at]]
    if lacking:
        told.append(f"averaged over fewer days: {_listed(first, missing, lacking)}")
    outside = [at for at in range(len(missing)) if not inside.start <= at < inside.stop]
    if outside:
        told.append(f"left out, as days are missing: {_listed(first, missing, outside)}")
    return tuple(told)


def _listed(first: int, missing: NDArray[np.int64], places: Sequence[int]) -> str:
    """Name months and how many days each lacks."""
    named = ", ".join(f"{month_name(first + at)} (lacks {counted(int(missing[at]), 'day')})" for at in places[:_NAMED])
    more = len(places) - _NAMED
    return named if more <= 0 else f"{named} and {counted(more, 'more month')}"


def _gaps(
    record: Record, first: int, means: StepMeans, inside: slice, missing_days: int, first_rows: NDArray[np.int64]
) -> Mistake:
    wrong = (means.missing > missing_days) | np.isnan(means.mean)
    lacking = [at for at in range(inside.start, inside.stop) if wrong[at]]
    most = max(int(means.missing[at]) for at in lacking)
    without = any(np.isnan(means.mean[at]) for at in lacking)
    problem = f"{counted(len(lacking), 'month')} with missing days: {_listed(first, means.missing, lacking)}"
    allow = "" if without else f", or allow {most} missing days a month (--missing-days {most})"
    mend = f"fill in the days{allow}, or keep only the part of the record before or after the gap"
    row = record.values[min(int(first_rows[lacking[0]]), len(record.values) - 1)].row
    return Mistake(problem, f"at most {counted(missing_days, 'missing day')} a month", mend, row=row)
