"""A continuous monthly record -> whole water years."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar
from reservoir.io.inflow_csv.record import MonthlyValue


def whole_years(
    readings: Sequence[MonthlyValue], first_month: int, own_first_month: int = 1
) -> tuple[Sequence[MonthlyValue], Calendar, tuple[str, ...]]:
    """Cut a record into water years that begin in `first_month`, and leave out the months at either end.

    Parameters
    ----------
    readings : sequence of MonthlyValue
        Consecutive months.
    first_month : int
        Calendar month, 1 to 12.
    own_first_month : int
        Calendar month in which the file's own years begin; where it is another, it is said how years are named.

    Returns
    -------
    sequence of MonthlyValue
        Twelve for each water year, in order.
    Calendar
        Those years.
    tuple of str
        Which months were left out.

    Raises
    ------
    InputError
        If no whole water year remains.
    """
    start = (first_month - readings[0].month.month) % MONTHS_PER_YEAR
    years = (len(readings) - start) // MONTHS_PER_YEAR
    if years < 1:
        raise InputError(_too_short(readings, first_month))
    end = start + years * MONTHS_PER_YEAR
    inside = readings[start:end]
    calendar = Calendar(first_year=inside[0].month.year, years=years, first_month=first_month)
    named = (_naming(calendar),) if first_month not in (1, own_first_month) else ()
    return inside, calendar, (*named, *_notes(readings[:start], readings[end:], first_month))


def _naming(calendar: Calendar) -> str:
    months, year = calendar.month_names, calendar.first_year
    span = f"{months[0]} {year} to {months[-1]} {year + 1}"
    return f"a water year is named by both its years: {calendar.labels[0]} is {span}"


def _notes(before: Sequence[MonthlyValue], after: Sequence[MonthlyValue], first_month: int) -> Iterator[str]:
    year = f"whole water year ({MONTH_NAMES[first_month - 1]} to {MONTH_NAMES[first_month - 2]})"
    if before:
        yield f"left out {_span(before)}, before the first {year}"
    if after:
        yield f"left out {_span(after)}, after the last {year}"


def _span(months: Sequence[MonthlyValue]) -> str:
    first, last = months[0].month, months[-1].month
    return str(first) if len(months) == 1 else f"{first} to {last} ({len(months)} months)"


def _too_short(readings: Sequence[MonthlyValue], first_month: int) -> Mistake:
    year = f"{MONTH_NAMES[first_month - 1]} to {MONTH_NAMES[first_month - 2]}"
    return Mistake(
        f"no complete water year ({year}) in {_span(readings)}",
        "at least one complete water year",
        "add months to the record, or set another first month of the water year",
    )
