"""Consecutive months -> whole water years, and the names of the months left out."""

from __future__ import annotations

from collections.abc import Iterator

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar


def month_name(ordinal: int) -> str:
    """Write a month, counted from January of year 0, as ``1953-01``."""
    year, month = divmod(ordinal, MONTHS_PER_YEAR)
    return f"{year:04}-{month + 1:02}"


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
    start = (first_month - 1 - first) % MONTHS_PER_YEAR
    years = (months - start) // MONTHS_PER_YEAR
    if years < 1:
        raise InputError(_too_short(first, months, first_month))
    stop = start + years * MONTHS_PER_YEAR
    calendar = Calendar((first + start) // MONTHS_PER_YEAR, years, first_month)
    named = (_naming(calendar),) if first_month not in (1, own_first_month) else ()
    left_out = _left_out((first, start), (first + stop, months - stop), first_month)
    return slice(start, stop), calendar, (*named, *left_out)


def _naming(calendar: Calendar) -> str:
    months, year = calendar.step_names, calendar.first_year
    span = f"{months[0]} {year} to {months[-1]} {year + 1}"
    return f"a water year is named by both its years: {calendar.labels[0]} is {span}"


def _left_out(before: tuple[int, int], after: tuple[int, int], first_month: int) -> Iterator[str]:
    year = f"whole water year ({_year(first_month)})"
    if before[1]:
        yield f"left out {_span(*before)}, before the first {year}"
    if after[1]:
        yield f"left out {_span(*after)}, after the last {year}"


def _year(first_month: int) -> str:
    return f"{MONTH_NAMES[first_month - 1]} to {MONTH_NAMES[first_month - 2]}"


def _span(first: int, months: int) -> str:
    name = month_name(first)
    return name if months == 1 else f"{name} to {month_name(first + months - 1)} ({months} months)"


def _too_short(first: int, months: int, first_month: int) -> Mistake:
    return Mistake(
        f"no complete water year ({_year(first_month)}) in {_span(first, months)}",
        "at least one complete water year",
        "add months to the record, or set another first month of the water year",
    )
