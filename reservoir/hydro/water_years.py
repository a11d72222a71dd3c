"""Consecutive steps -> whole water years, and the names of the steps left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar
from reservoir.hydro.time_step import TimeStep
from reservoir.text.quantities import counted


def month_name(ordinal: int) -> str:
    """Write a month, counted from January of year 0, as ``1953-01``."""
    year, month = divmod(ordinal, MONTHS_PER_YEAR)
    return f"{year:04}-{month + 1:02}"


def step_name(calendar: Calendar, place: int) -> str:
    """Write a step of a calendar, counted from its first, as ``1953-01``, or as its first day if it is no month."""
    if calendar.step is TimeStep.MONTH:
        return month_name(calendar.first_year * MONTHS_PER_YEAR + calendar.first_month - 1 + place)
    return str(calendar.starts.ravel()[place])


def whole_years(
    first: int, months: int, first_month: int, own_first_month: int = 1
) -> tuple[slice, Calendar, tuple[str, ...]]:
    """Cut consecutive months into water years that begin in `first_month`, and leave out the months at either end.

    Parameters
    ----------
    first : int
        The first month, counted from January of year 0.
    months : int
        Number of months.
    first_month : int
        Calendar month, 1 to 12.
    own_first_month : int
        Calendar month in which the record's own years begin; if it is another, a note says how years are named.

    Returns
    -------
    slice
        The months of whole water years.
    Calendar
        Those years.
    tuple of str
        Which months were left out.

    Raises
    ------
    InputError
        If there is no whole water year.
    """
    year, place = divmod(first - (first_month - 1), MONTHS_PER_YEAR)
    touched = Calendar(year, -(-(place + months) // MONTHS_PER_YEAR), first_month)
    return whole_years_of(touched, place, months, own_first_month)


def whole_years_of(
    touched: Calendar, first: int, steps: int, own_first_month: int = 1
) -> tuple[slice, Calendar, tuple[str, ...]]:
    """The same for steps of any length.

    Parameters
    ----------
    touched : Calendar
        Water years that hold all of the steps.
    first : int
        The first step, counted from the first of that calendar.
    steps : int
        Number of steps.
    own_first_month : int
        As in `whole_years`.
    """
    per_year, first_month = touched.steps, touched.first_month
    start = -first % per_year
    years = (steps - start) // per_year
    if years < 1:
        raise InputError(_too_short(touched, first, steps))
    stop = start + years * per_year
    calendar = touched.span((first + start) // per_year, (first + stop) // per_year)
    named = (_naming(calendar),) if first_month not in (1, own_first_month) else ()
    left_out = _left_out(touched, (first, start), (first + stop, steps - stop))
    return slice(start, stop), calendar, (*named, *left_out)


def _naming(calendar: Calendar) -> str:
    months, year = [MONTH_NAMES[calendar.first_month - back] for back in (1, 2)], calendar.first_year
    span = f"{months[0]} {year} to {months[-1]} {year + 1}"
    return f"a water year is named by both its years: {calendar.labels[0]} is {span}"


def _left_out(touched: Calendar, before: tuple[int, int], after: tuple[int, int]) -> Iterator[str]:
    year = f"whole water year ({_year(touched.first_month)})"
    if before[1]:
        yield f"left out {_span(touched, *before)}, before the first {year}"
    if after[1]:
        yield f"left out {_span(touched, *after)}, after the last {year}"


def _year(first_month: int) -> str:
    return f"{MONTH_NAMES[first_month - 1]} to {MONTH_NAMES[first_month - 2]}"


def _span(calendar: Calendar, first: int, steps: int) -> str:
    """Name consecutive steps, those that are no months by their first and last day."""
    name = step_name(calendar, first)
    if steps == 1 and calendar.step in (TimeStep.MONTH, TimeStep.DAY):
        return name
    last = step_name(calendar, first + steps - 1)
    if calendar.step is not TimeStep.MONTH:
        year, place = divmod(first + steps - 1, calendar.steps)
        last = str(calendar.edges[year, place + 1] - np.timedelta64(1, "D"))
    return f"{name} to {last} ({counted(steps, calendar.step.noun)})"


def _too_short(touched: Calendar, first: int, steps: int) -> Mistake:
    noun = touched.step.noun
    return Mistake(
        f"no complete water year ({_year(touched.first_month)}) in {_span(touched, first, steps)}",
        "at least one complete water year",
        f"add {noun}s to the record, or set another first month of the water year",
    )
