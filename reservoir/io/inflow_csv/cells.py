"""One cell of an inflow file -> a flow, a year or a month; or a mistake without its place."""

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

_FLOW = "a number of 0 or more"
#: How to mend a month whose value is not known.
FILL_IN = "fill in the month's value, or keep only the complete part of the record"
_NO_SUMMARY = "delete rows of means and totals"
_INFINITE = Mistake("infinite flow", "a finite number", "correct the value")
_MISSING = Mistake("missing value", _FLOW, FILL_IN)
_MISSING_CODE = Mistake("negative flow, probably a missing-value code", _FLOW, FILL_IN)
_NEGATIVE = Mistake(
    "negative flow",
    _FLOW,
    "correct the value; smooth inflows computed from a reservoir balance first",
)
_NEXT_DAY = Mistake(
    "24:00 is the start of the next day, possibly in the next month",
    "the month of the flow, such as 1953-01",
    "write dates as YYYY-MM",
)
_NO_SUCH_DATE = Mistake("the date does not exist", "a calendar date", "correct the date")


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

    @property
    def before(self) -> Month:
        """The month before this one."""
        return Month.at(self.ordinal - 1)

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}"


def parse_flow(text: str) -> float | Mistake:
    """Read a flow or a volume: finite and not negative."""
    if not _NUMBER.fullmatch(text):
        if text.casefold() in MISSING_WORDS:
            return _MISSING
        return _INFINITE if _INFINITY.fullmatch(text) else _not_a_number(text)
    number = float(text)
    if math.isinf(number):
        return _INFINITE
    if number < 0:
        return _MISSING_CODE if number in MISSING_CODES else _NEGATIVE
    return abs(number)


def parse_number(text: str) -> float | Mistake:
    """Read a finite number of either sign."""
    negative = text.startswith("-") and _NUMBER.fullmatch(text)
    value = parse_flow(text.removeprefix("-") if negative else text)
    return -value if negative and not isinstance(value, Mistake) else value


def parse_year(text: str) -> Year | Mistake:
    """Read ``1953``, or ``1953/54`` or ``1953-54`` for a water year that begins in 1953."""
    match = _YEAR.fullmatch(text.translate(_DASHES))
    if not match:
        return _not_a_year(text)
    if not _in_calendar(match[1]):
        return _outside_calendar(match[1])
    start, end = int(match[1]), match[3]
    if not end or int(end) == (start + 1) % 10 ** len(end):
        return Year(start, spans_two=end is not None)
    if match[2] != "/":
        return _not_a_year(text)
    return Mistake(
        "a water year must span two consecutive years", f"{start}/{(start + 1) % 100:02d}", "correct the year"
    )


def parse_date(text: str) -> Month | Mistake:
    """Read the month of an ISO date; a day and a time of day are checked and otherwise ignored."""
    match = _DATE.fullmatch(text)
    if not match:
        return _not_iso(text)
    year, month, day, clock = match[1], match[2], match[3] or "01", match[4] or ""
    if not _in_calendar(year):
        return _outside_calendar(year)
    if clock[1:].startswith("24:00"):
        return _NEXT_DAY
    try:
        datetime.fromisoformat(f"{year}-{month}-{day}{clock}")
    except ValueError:
        return _NO_SUCH_DATE
    return Month(int(year), int(month))


def _in_calendar(year: str) -> bool:
    return len(year) <= 4 and FIRST_YEAR <= int(year) <= LAST_YEAR


def _not_a_number(text: str) -> Mistake:
    mend = "use only the digits 0 to 9, without unit or remark"
    if re.fullmatch(r"[+-]?[0-9.,_' \u00a0\u202f]+", text):
        mend = "use a decimal point and no thousands separator: 1412.5"
    return Mistake("not a number", "a number such as 413 or 412.5", mend)


def _not_a_year(text: str) -> Mistake:
    mend = "write only the year, or 1953/54 for a water year that begins in 1953"
    if re.match(r"\d{4}-\d{2}", text):
        mend = 'name the column "date" if there is one row per month'
    elif _SUMMARY.fullmatch(text):
        mend = _NO_SUMMARY
    return Mistake("not a year", "a whole number such as 1953, or 1953/54", mend)


def _outside_calendar(year: str) -> Mistake:
    return Mistake(
        "the year has two digits: the century is unknown" if len(year) == 2 else "the year is out of range",
        f"a year from {FIRST_YEAR} to {LAST_YEAR}",
        "write four digits, such as 1953; number synthetic years from 2001, for example",
    )


def _not_iso(text: str) -> Mistake:
    unordered = re.fullmatch(r"\d{1,2}[/.\-]\d{1,2}[/.\-](\d{2}|\d{4})", text)
    problem = "ambiguous date: day and month cannot be distinguished" if unordered else "not an ISO date"
    mend = "write dates as YYYY-MM or YYYY-MM-DD, without a time zone"
    return Mistake(
        problem, "1953-01 or 1953-01-31 (year, month, day)", _NO_SUMMARY if _SUMMARY.fullmatch(text) else mend
    )
