"""One cell of a column of dates -> a month, and a day where it names one; or a mistake without its place."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.month_names import MONTH_OF_NAME
from reservoir.io.inflow_csv.summary_words import NO_SUMMARY, is_summary

#: No record is older than this; a year of fewer digits is a slip, or a synthetic year that can be numbered otherwise.
FIRST_YEAR = 1000
#: One less than the last year that Python's calendar knows, because a water year may end in the next.
LAST_YEAR = 9998

_ISO = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2})([T ]\d{2}:\d{2}(:\d{2})?)?)?", re.ASCII)
#: Year first, which leaves one order: ``1953/1/31``, as spreadsheets write it in China and Canada, ``1953.01.31``,
#: ``1953年1月31日``, ``1953年1月`` and ``19530131``.
_YEAR_FIRST = tuple(
    re.compile(form + r"(?:[T ]+(?P<clock>\d{1,2}:?\d{2}(?::\d{2})?))?", re.ASCII)
    for form in (
        r"(?P<year>\d{4})(?P<sign>[/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})",
        r"(?P<year>\d{4})年(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})日)?",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
    )
)
_SEPARATOR = r"[-/ ,.]*"
#: ``1953年1月上旬`` or ``1953-01-中旬``: the first, second or last ten days of a month.
_TEN_DAYS = re.compile(r"(\d{4})[-/年. ](\d{1,2})[-/月. ]?([上中下])旬", re.ASCII)
#: Dates with the month's name, which can be read in one way whatever their order.
_NAMED = tuple(
    re.compile(form + r"(?P<clock>[T ,]+\d{2}:?\d{2}(?::\d{2})?)?", re.ASCII | re.IGNORECASE)
    for form in (
        rf"(?P<day>\d{{1,2}}){_SEPARATOR}(?P<month>[a-z]{{3,9}}){_SEPARATOR}(?P<year>\d+)",
        rf"(?P<year>\d{{3,}}){_SEPARATOR}(?P<month>[a-z]{{3,9}})(?:{_SEPARATOR}(?P<day>\d{{1,2}}))?",
        r"(?P<month>[a-z]{3,9})\.?\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{3,})",
        rf"(?P<month>[a-z]{{3,9}}){_SEPARATOR}(?P<year>\d+)",
    )
)

_EXPECTED = "1953-01 or 1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953"
_MEND = "write dates as YYYY-MM or YYYY-MM-DD, without a time zone"
#: What a time such as 24:00 of a day within a month is.
NEXT_DAY = Mistake(
    "24:00 is the start of the next day, possibly in the next month",
    "the month of the flow, such as 1953-01",
    "write dates as YYYY-MM",
)
#: Minutes of a day: the minute of 24:00.
MINUTES = 24 * 60
_NO_SUCH_DATE = Mistake("the date does not exist", "a calendar date", "correct the date")


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


class Stamp(NamedTuple):
    """A date as it is written: its month, its day, 0 where it names none, and the minute of the day, up to 24:00.

    `timed` is whether a time is written.
    """

    month: Month
    day: int = 0
    minute: int = 0
    timed: bool = False

    @classmethod
    def at(cls, minutes: int) -> Stamp:
        """Give the time so many minutes after the beginning of day 0 of the calendar."""
        day = date.fromordinal(minutes // MINUTES)
        return cls(Month(day.year, day.month), day.day, minutes % MINUTES, True)

    @property
    def minutes(self) -> int:
        """Minutes since the beginning of day 0 of the calendar."""
        return self.day_ordinal * MINUTES + self.minute

    @property
    def ends_month(self) -> bool:
        """Whether its day is the last of the month."""
        return self.day > 0 and (date(*self.month, self.day) + timedelta(1)).day == 1

    def __str__(self) -> str:
        day = f"{self.month}-{self.day:02}"
        return f"{day} {self.minute // 60:02}:{self.minute % 60:02}" if self.timed else day

    @property
    def day_ordinal(self) -> int:
        """Days since the beginning of the calendar."""
        return date(*self.month, self.day).toordinal()


def parse_date(text: str) -> Stamp | Mistake:
    """Read a date whose year is first, one with the month's name, or the ten days of a month in Chinese."""
    tenth = _TEN_DAYS.fullmatch(text)
    if tenth:
        return _stamp(tenth[1], int(tenth[2]), str(1 + 10 * "上中下".index(tenth[3])), None)
    iso = _ISO.fullmatch(text)
    if iso:
        return _stamp(iso[1], int(iso[2]), iso[3], iso[4])
    first = next(filter(None, (form.fullmatch(text) for form in _YEAR_FIRST)), None)
    if first:
        clock = re.sub(r"\D", "", first["clock"] or "")
        return _stamp(first["year"], int(first["month"]), first["day"], clock.zfill(len(clock) + len(clock) % 2))
    found = next(filter(None, (form.fullmatch(text) for form in _NAMED)), None)
    parts = found.groupdict() if found else {}
    month = MONTH_OF_NAME.get(parts.get("month", "").casefold())
    return _stamp(parts["year"], month, parts.get("day"), parts["clock"]) if month else _no_date(text)


def year_mistake(year: str) -> Mistake | None:
    """Refuse a year of digits that no calendar has."""
    if len(year) <= 4 and FIRST_YEAR <= int(year) <= LAST_YEAR:
        return None
    return Mistake(
        "the year has two digits: the century is unknown" if len(year) == 2 else "the year is out of range",
        f"a year from {FIRST_YEAR} to {LAST_YEAR}",
        "write four digits, such as 1953; number synthetic years from 2001, for example",
    )


def _stamp(year: str, month: int, day: str | None, clock: str | None) -> Stamp | Mistake:
    wrong = year_mistake(year)
    if wrong:
        return wrong
    time = re.sub(r"\D", "", clock or "")
    try:
        hour, minute, second = (int(time[at : at + 2] or 0) for at in (0, 2, 4))
        datetime(int(year), month, int(day or 1), hour - (hour == 24 and minute == second == 0), minute, second)
    except ValueError:
        return _NO_SUCH_DATE
    return Stamp(Month(int(year), month), int(day or 0), hour * 60 + minute, bool(time))


def parse_month(text: str) -> Stamp | Mistake:
    """Read the date of a month: 24:00 may only end its last day."""
    found = parse_date(text)
    return NEXT_DAY if isinstance(found, Stamp) and found.minute == MINUTES and not found.ends_month else found


def _no_date(text: str) -> Mistake:
    unordered = re.fullmatch(r"\d{1,2}[/.\-]\d{1,2}[/.\-](\d{2}|\d{4})", text)
    problem = "ambiguous date: day and month cannot be distinguished" if unordered else "not a date that is understood"
    return Mistake(problem, _EXPECTED, NO_SUMMARY if is_summary(text) else _MEND)
