"""A continuous monthly record -> whole water years."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow_csv.record import Reading


@dataclass(frozen=True)
class WholeYears:
    """The months that fill whole water years.

    Parameters
    ----------
    readings : sequence of Reading
        Twelve for each water year, in order.
    calendar : Calendar
        Those years.
    notes : tuple of str
        Which months were left out.
    """

    readings: Sequence[Reading]
    calendar: Calendar
    notes: tuple[str, ...]


def whole_years(readings: Sequence[Reading], first_month: int, file: str) -> WholeYears:
    """Cut a record into water years that begin in `first_month`, and leave out the months at either end.

    Parameters
    ----------
    readings : sequence of Reading
        Consecutive months.
    first_month : int
        Calendar month, 1 to 12.
    file : str
        Where the record comes from, for the mistake.

    Raises
    ------
    InputError
        If no whole water year remains.
    """
    start = (first_month - readings[0].month.month) % MONTHS_PER_YEAR
    years = (len(readings) - start) // MONTHS_PER_YEAR
    if years < 1:
        raise InputError(_too_short(readings, first_month, file))
    end = start + years * MONTHS_PER_YEAR
    inside = readings[start:end]
    return WholeYears(
        inside,
        Calendar(first_year=inside[0].month.year, years=years, first_month=first_month),
        tuple(_notes(readings[:start], readings[end:], first_month)),
    )


def _notes(before: Sequence[Reading], after: Sequence[Reading], first_month: int) -> Iterator[str]:
    begin, end = MONTH_NAMES[first_month - 1], MONTH_NAMES[first_month - 2]
    if before:
        yield f"left out {_span(before)}, before the first whole water year ({begin} to {end})"
    if after:
        yield f"left out {_span(after)}, after the last whole water year ({begin} to {end})"


def _span(months: Sequence[Reading]) -> str:
    first, last = months[0].month, months[-1].month
    return str(first) if len(months) == 1 else f"{first} to {last} ({len(months)} months)"


def _too_short(readings: Sequence[Reading], first_month: int, file: str) -> Mistake:
    begin, end = MONTH_NAMES[first_month - 1], MONTH_NAMES[first_month - 2]
    return Mistake(
        f"no whole water year, {begin} to {end}, lies in {_span(readings)}",
        file=file,
        expected=f"at least the twelve months of one water year, {begin} to {end}",
        mend="add months to the record, or name another first month of the water year",
    )
