"""One cell of an inflow file -> a flow, a year or a month; or a mistake that does not yet know where it stands."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import NamedTuple

from reservoir.errors import Mistake

#: No record is older than this; a year of fewer digits is a slip, or a synthetic year that can be numbered otherwise.
FIRST_YEAR = 1000
#: One less than the last year that Python's calendar knows, because a water year may end in the next.
LAST_YEAR = 9998

MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "missing", "-", "--"})
MISSING_CODES = frozenset({-99.0, -99.9, -999.0, -999.9, -9999.0, -9999.9, -99999.0})

# Python's own float() and int() also take "1_000", full-width digits and the like.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_YEAR = re.compile(r"(\d+)(?:\s*([/-])\s*(\d{4}|\d{2}))?", re.ASCII)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
_SUMMARY = re.compile(
    r"(mean|average|avg|total|sum|min|max|median|std|mittel|summe|media|moyenne|平均|合计|多年)\w*.*", re.IGNORECASE
)
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2})([T ]\d{2}:\d{2}(:\d{2})?)?)?", re.ASCII)


class Year(NamedTuple):
    """Calendar year in which a row begins, and whether it is written as a water year, like ``1953/54``."""

    start: int
    spans_two: bool


class Month(NamedTuple):
    """A month of a calendar year."""

    year: int
    month: int

    @property
    def ordinal(self) -> int:
        """Months since the beginning of the calendar."""
        return self.year * 12 + self.month - 1

    @classmethod
    def at(cls, ordinal: int) -> Month:
        """Give the month whose `ordinal` this is."""
        return cls(ordinal // 12, ordinal % 12 + 1)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}"


def parse_flow(text: str) -> float | Mistake:
    """Read a flow or a volume: finite and not negative."""
    if not _NUMBER.fullmatch(text):
        if text.casefold() in MISSING_WORDS:
            return _missing_month()
        return _infinite() if _INFINITY.fullmatch(text) else _not_a_number(text)
    number = float(text)
    if math.isinf(number):
        return _infinite()
    if number < 0:
        return _negative(is_code=number in MISSING_CODES)
    return abs(number)


def parse_year(text: str) -> Year | Mistake:
    """Read ``1953``, or ``1953/54`` or ``1953-54`` for a water year that begins in 1953."""
    match = _YEAR.fullmatch(text.translate(_DASHES))
    if not match:
        return _not_a_year(text)
    if not _in_calendar(match[1]):
        return _outside_calendar(match[1])
    start, end = int(match[1]), match[3]
    if end and int(end) != (start + 1) % 10 ** len(end):
        return _not_consecutive(start) if match[2] == "/" else _not_a_year(text)
    return Year(start, spans_two=end is not None)


def parse_date(text: str) -> Month | Mistake:
    """Read the month of an ISO date; a day and a time of day are checked and otherwise ignored."""
    match = _DATE.fullmatch(text)
    if not match:
        return _not_iso(text)
    year, month, day, clock = match[1], match[2], match[3] or "01", match[4] or ""
    if not _in_calendar(year):
        return _outside_calendar(year)
    if clock[1:].startswith("24:00"):
        return _end_of_day()
    try:
        datetime.fromisoformat(f"{year}-{month}-{day}{clock}")
    except ValueError:
        return _no_such_date()
    return Month(int(year), int(month))


def _in_calendar(year: str) -> bool:
    return len(year) <= 4 and FIRST_YEAR <= int(year) <= LAST_YEAR


def _missing_month() -> Mistake:
    return Mistake(
        "missing month: the cell holds no value",
        expected="a number of 0 or more",
        mend="fill in the month's value, or keep only the part of the record that is complete",
    )


def _infinite() -> Mistake:
    return Mistake("infinite flow", expected="a finite number", mend="correct the value")


def _not_a_number(text: str) -> Mistake:
    separated = re.fullmatch(r"[+-]?[0-9.,_' \u00a0\u202f]+", text)
    mend = (
        "use a point as decimal mark and nothing between thousands: 1412.5"
        if separated
        else "write the digits 0 to 9, without a unit or a remark"
    )
    return Mistake("not a number", expected="a number such as 413 or 412.5", mend=mend)


def _negative(*, is_code: bool) -> Mistake:
    if is_code:
        return Mistake(
            "negative flow, which looks like a missing-value code",
            expected="a number of 0 or more",
            mend="fill in the month's value, or keep only the part of the record that is complete",
        )
    return Mistake(
        "negative flow",
        expected="a number of 0 or more",
        mend="correct the value; inflows computed from a reservoir's balance must be smoothed first",
    )


def _not_a_year(text: str) -> Mistake:
    dated = re.match(r"\d{4}-\d{2}", text)
    mend = (
        'name the column "date" if there is one row a month'
        if dated
        else "delete rows of means and totals"
        if _SUMMARY.fullmatch(text)
        else "write the year alone, or 1953/54 for a water year that begins in 1953"
    )
    return Mistake("not a year", expected="a whole number such as 1953, or 1953/54", mend=mend)


def _outside_calendar(year: str) -> Mistake:
    return Mistake(
        "a year of two digits: nobody knows the century" if len(year) == 2 else "the year is outside the calendar",
        expected=f"a year from {FIRST_YEAR} to {LAST_YEAR}",
        mend="write the year in full, with four digits such as 1953; number synthetic years from 2001, say",
    )


def _end_of_day() -> Mistake:
    return Mistake(
        "24:00 is the beginning of the next day, which may be in the next month",
        expected="the month whose flow this is, such as 1953-01",
        mend="write dates as YYYY-MM",
    )


def _not_consecutive(start: int) -> Mistake:
    return Mistake(
        "a water year joins two consecutive years",
        expected=f"{start}/{(start + 1) % 100:02d}",
        mend="correct the year",
    )


def _not_iso(text: str) -> Mistake:
    unordered = re.fullmatch(r"\d{1,2}[/.\-]\d{1,2}[/.\-](\d{2}|\d{4})", text)
    return Mistake(
        "ambiguous date: it does not say which number is the day" if unordered else "not an ISO date",
        expected="1953-01 or 1953-01-31 (year, month, day)",
        mend="delete rows of means and totals"
        if _SUMMARY.fullmatch(text)
        else "write dates as YYYY-MM or YYYY-MM-DD, without a time zone",
    )


def _no_such_date() -> Mistake:
    return Mistake("there is no such date", expected="a day that exists", mend="correct the date")
