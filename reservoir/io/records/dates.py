"""Dates, years and months in cells and in headers: how they are written, and in which columns they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import chain, takewhile
from typing import NamedTuple

from reservoir.errors import Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR, month_name
from reservoir.io.records import words as known
from reservoir.io.records.cells import NO_SUMMARY
from reservoir.io.records.table import InflowTable
from reservoir.io.records.words import folded, understand

#: No record is older than this; a year of fewer digits is a slip, or a synthetic year that can be numbered otherwise.
FIRST_YEAR = 1000
#: One less than the last year that Python's calendar knows, because a water year may end in the next.
LAST_YEAR = 9998
#: Minutes of a day: the minute of 24:00.
MINUTES = 24 * 60

_SEPARATOR = r"[-/ ,.]*"
#: How dates are written: each form can be read in one way.
_FORMS = tuple(
    re.compile(form, re.ASCII)
    for form in (
        # The first, second or last ten days of a month, as 1953年1月上旬 or 1953-01-中旬.
        r"(?P<year>\d{4})[-/年. ](?P<month>\d{1,2})[-/月. ]?(?P<tenth>[上中下])旬",
        r"(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2})(?P<clock>[T ]\d{2}:\d{2}(?::\d{2})?)?)?",
        # Year first, which leaves one order: 1953/1/31, as spreadsheets write it in China and Canada, 1953.01.31,
        # 1953年1月31日, 1953年1月 and 19530131.
        *(
            form + r"(?P<clock>[T ]+\d{1,2}:?\d{2}(?::\d{2})?)?"
            for form in (
                r"(?P<year>\d{4})(?P<sign>[/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})",
                r"(?P<year>\d{4})年(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})日)?",
                r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
            )
        ),
        # With the month's name, whatever the order.
        *(
            rf"(?i){form}(?P<clock>[T ,]+\d{{2}}:?\d{{2}}(?::\d{{2}})?)?"
            for form in (
                rf"(?P<day>\d{{1,2}}){_SEPARATOR}(?P<month>[a-z]{{3,9}}){_SEPARATOR}(?P<year>\d+)",
                rf"(?P<year>\d{{3,}}){_SEPARATOR}(?P<month>[a-z]{{3,9}})(?:{_SEPARATOR}(?P<day>\d{{1,2}}))?",
                r"(?P<month>[a-z]{3,9})\.?\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{3,})",
                rf"(?P<month>[a-z]{{3,9}}){_SEPARATOR}(?P<year>\d+)",
            )
        ),
    )
)
#: What a time such as 24:00 of a day within a month is.
_START = "24:00 is the start of the next day, possibly in the next month"
NEXT_DAY = Mistake(_START, "the month of the flow, such as 1953-01", "write dates as YYYY-MM")


class Stamp(NamedTuple):
    """A date as it is written."""

    #: Counted from January of year 0.
    month: int
    #: 0 where it names none; and the minute of the day, up to 24:00.
    day: int = 0
    minute: int = 0
    #: Whether a time is written.
    timed: bool = False

    @classmethod
    def at(cls, minutes: int) -> Stamp:
        """Give the time so many minutes after the beginning of day 0 of the calendar."""
        day = date.fromordinal(minutes // MINUTES)
        return cls(day.year * MONTHS_PER_YEAR + day.month - 1, day.day, minutes % MINUTES, True)

    @property
    def day_ordinal(self) -> int:
        """Days since the beginning of the calendar."""
        return date(self.month // MONTHS_PER_YEAR, self.month % MONTHS_PER_YEAR + 1, self.day).toordinal()

    @property
    def minutes(self) -> int:
        """Minutes since the beginning of day 0 of the calendar."""
        return self.day_ordinal * MINUTES + self.minute

    @property
    def ends_month(self) -> bool:
        """Whether its day is the last of the month."""
        return self.day > 0 and date.fromordinal(self.day_ordinal + 1).day == 1

    def __str__(self) -> str:
        day = f"{month_name(self.month)}-{self.day:02}"
        return f"{day} {self.minute // 60:02}:{self.minute % 60:02}" if self.timed else day


def parse_date(text: str) -> Stamp | Mistake:
    """Read a date whose year is first, one with the month's name, or the ten days of a month in Chinese."""
    match = next(filter(None, (form.fullmatch(text) for form in _FORMS)), None)
    parts = match.groupdict() if match else {}
    named = parts.get("month", "")
    month = int(named) if named.isdecimal() else known.MONTH_OF_NAME.get(named.casefold())
    if month is None:
        unordered = re.fullmatch(r"\d{1,2}[/.\-]\d{1,2}[/.\-](\d{2}|\d{4})", text)
        ambiguous = "ambiguous date: day and month cannot be distinguished"
        expected = "1953-01 or 1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953"
        mend = _mend(text, "write dates as YYYY-MM or YYYY-MM-DD, without a time zone")
        return Mistake(ambiguous if unordered else "not a date that is understood", expected, mend)
    if wrong := year_mistake(parts["year"]):
        return wrong
    day = str(1 + 10 * "上中下".index(parts["tenth"])) if "tenth" in parts else parts.get("day")
    day = None if day == "00" else day  # GRDC writes months as 1950-01-00
    clock = re.sub(r"\D", "", parts.get("clock") or "")
    clock = clock.zfill(len(clock) + len(clock) % 2)
    hour, minute, second = (int(clock[at : at + 2] or 0) for at in (0, 2, 4))
    year = int(parts["year"])
    try:
        datetime(year, month, int(day or 1), hour - (hour == 24 and minute == second == 0), minute, second)
    except ValueError:
        return Mistake("the date does not exist", "a calendar date", "correct the date")
    return Stamp(year * MONTHS_PER_YEAR + month - 1, int(day or 0), hour * 60 + minute, bool(clock))


def _mend(text: str, otherwise: str) -> str:
    return NO_SUMMARY if known.SUMMARY.fullmatch(text) else otherwise


def parse_month(text: str) -> Stamp | Mistake:
    """Read the date of a month: 24:00 may only end its last day."""
    stamp = parse_date(text)
    return NEXT_DAY if isinstance(stamp, Stamp) and stamp.minute == MINUTES and not stamp.ends_month else stamp


def year_mistake(year: str) -> Mistake | None:
    """Refuse a year of digits that no calendar has."""
    if len(year) <= 4 and FIRST_YEAR <= int(year) <= LAST_YEAR:
        return None
    problem = "the year has two digits: the century is unknown" if len(year) == 2 else "the year is out of range"
    mend = "write four digits, such as 1953; number synthetic years from 2001, for example"
    return Mistake(problem, f"a year from {FIRST_YEAR} to {LAST_YEAR}", mend)


def date_columns(header: Sequence[str]) -> tuple[int, ...] | None:
    """Find the column of dates; without one, columns of year and month, and of day and hour beside them, in order."""
    names = [cell.casefold() for cell in header]
    of_date = next((place for place, name in enumerate(names) if name in known.DATE_NAMES), None)
    if of_date is not None:
        return (of_date,)
    parts = ([place for place, name in enumerate(names) if name in spelt][:1] for _, spelt, _ in known.DATE_PARTS)
    places = tuple(chain(*takewhile(bool, parts)))
    return places if len(places) > 1 else None


#: Times in a column of their own, and what it is called.
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?|\d{4}")
_CLOCKS = frozenset({"", "time", "clock", "hh:mm", "hhmm", "hora", "uhrzeit"})


def with_clock(table: InflowTable, places: Sequence[int]) -> tuple[InflowTable, tuple[int, ...]]:
    """Put the times of a column beside that of dates, as ``01JAN2001,2400``, behind these; the place of that column."""
    header, at = table.header.cells, places[0] + 1
    if len(places) > 1 or at >= len(header) - 1 or header[at].casefold() not in _CLOCKS or not table.rows:
        return table, ()
    if not all(_CLOCK.fullmatch(row.cells[at]) for row in table.rows):
        return table, ()
    rows = (
        row._replace(cells=(*row.cells[: at - 1], f"{row.cells[at - 1]} {row.cells[at]}", *row.cells[at:]))
        for row in table.rows
    )
    return replace(table, rows=tuple(rows)), (at,)


def stamps_of(table: InflowTable, places: Sequence[int]) -> tuple[dict[int, Stamp], list[Mistake]]:
    """The date of each row by its number, from the `date_columns`, and what is wrong with some."""
    if len(places) == 1:
        return table.parsed(places[0], parse_date)
    stamps, mistakes = dict[int, Stamp](), list[Mistake]()
    for row in table.rows:
        part, stamp = _put_together([row.cells[place] for place in places])
        if isinstance(stamp, Stamp):
            stamps[row.number] = stamp
        else:
            name, value = table.header.cells[places[part]], row.cells[places[part]]
            mistakes.append(replace(stamp, row=row.number, column=name, value=value))
    return stamps, mistakes


def _put_together(cells: Sequence[str]) -> tuple[int, Stamp | Mistake]:
    """The date of a row in several columns; or what is wrong with one of its parts, by the place of that part."""
    numbers: list[int] = []
    for part, ((name, _, allowed), text) in enumerate(zip(known.DATE_PARTS, cells, strict=False)):
        number = known.MONTH_OF_NAME.get(text.casefold().rstrip(".")) if name == "month" else None
        if number is None:
            whole = text.removesuffix(".0")  # spreadsheets write 1963.0
            number = int(whole) if whole.isascii() and whole.isdecimal() and len(whole) <= 4 else -1
            if number not in allowed:
                expected = "a year such as 1953" if name == "year" else f"{allowed[0]} to {allowed[-1]}"
                problem = f"not a{'n' if name == 'hour' else ''} {name}"
                return part, Mistake(problem, expected, _mend(text, "correct the cell"))
            if name == "year" and (wrong := year_mistake(whole)):
                return part, wrong
        numbers.append(number)
    year, *rest = numbers
    # The hour 25 of a day that is one longer stands at its end, as the hour 24 does.
    clock = f" {min(rest.pop(), 24):02}:00" if len(numbers) == len(known.DATE_PARTS) else ""
    return len(rest), parse_date("-".join((str(year), *(f"{number:02}" for number in rest))) + clock)


_MONTH_OF = {
    **{name: month for month in range(1, 13) for name in (f"m{month:02}", f"m{month}", f"{month:02}", f"{month}")},
    **{name + point: month for name, month in known.MONTH_OF_NAME.items() for point in ("", ".")},
}
#: A year or a month and what stands behind it: ``Jan (hm3)``, ``m01_cfs``; behind a bare number only what is in
#: brackets.
_NAME_AND_MORE = re.compile(r"\s*(?:([a-z]+\.?|m\d{1,2})(?=[\s_\-,:(\[])|(\d{1,2})\s*(?=[(\[]))(.+)", re.IGNORECASE)


class YearHeading(NamedTuple):
    """What the name of a column says in a table by years; nothing of a column beside these."""

    #: The calendar month that it is named after, as m01, m1, 1, Jan, Sept or January, in any case; 0 of no month.
    month: int = 0
    #: The name of a column of years in small letters.
    year: str = ""
    #: What stands behind either, where it means the unit of the months.
    unit: str = ""

    @classmethod
    def of(cls, name: str) -> YearHeading:
        """Understand the name of a column."""
        folded_name = name.casefold()
        if folded_name in known.YEAR_NAMES or folded_name in _MONTH_OF:
            return cls(_MONTH_OF.get(folded_name, 0), folded_name if folded_name in known.YEAR_NAMES else "")
        match = _NAME_AND_MORE.fullmatch(name)
        if match:
            saying, named = understand(match[3]), (match[1] or match[2]).casefold()
            month, year = _MONTH_OF.get(named, 0), "year" * (named == "year")
            if (month or year) and (saying.units or any(not word.isdecimal() for word in saying.strange)):
                return cls(month, year, match[3])
        return cls()


class Year(NamedTuple):
    """A year as it is written: ``1953``; ``1953/54``, a pair, of which the first; or ``WY1953``, a water year."""

    number: int
    is_pair: bool = False
    is_water: bool = False


_YEAR = re.compile(
    r"(?P<water>w\.?y\.?|(?:water|hydrologic(?:al)?)[ _-]?year)?[ _-]*(?P<first>\d+)"
    r"(?:\s*(?P<sign>[/-])\s*(?P<second>\d{4}|\d{2}))?",
    re.ASCII | re.IGNORECASE,
)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


def parse_year(text: str) -> Year | Mistake:
    """Read ``1953``, ``WY1953``, or ``1953/54`` or ``1953-54`` for a water year that begins in 1953."""
    match = _YEAR.fullmatch(text.translate(_DASHES))
    if match and (match["water"] is not None or text[:1].isdecimal()):
        if wrong := year_mistake(match["first"]):
            return wrong
        first, second = int(match["first"]), match["second"]
        if second is None:
            return Year(first, is_water=bool(match["water"]))
        if int(second) == (first + 1) % 10 ** len(second):
            return Year(first, is_pair=True)
        if match["sign"] == "/":
            problem = "a water year must span two consecutive years"
            return Mistake(problem, f"{first}/{(first + 1) % 100:02d}", "correct the year")
    mend = "write only the year, or 1953/54 for a water year that begins in 1953"
    if re.match(r"\d{4}-\d{2}", text):
        mend = 'name the column "date" if there is one row per month'
    return Mistake("not a year", "a whole number such as 1953, 1953/54 or WY1954", _mend(text, mend))


def says_end(text: str) -> bool:
    """Whether a text says that dates stand at the end of their periods; of storages it says nothing of flows."""
    parts = re.split(r"[,;()]|[.:](?=\s|$)", folded(text))
    return any(known.ENDS.search(part.replace("-", " ")) and not understand(part).is_other for part in parts)


def says_begin(text: str) -> bool:
    """Whether a text says that dates stand at the beginning of their periods."""
    return known.BEGINS.search(folded(text).replace("-", " ")) is not None


def whole_years_late(first: int, last: int, months: int, first_month: int) -> str:
    """Why dates on the first of months may be the days after their ends: whole years begin one month late; or nothing.

    Late is a month after January or after `first_month`, in which the water year begins; `first` and `last` are counted
    from January of year 0.
    """
    begins = first % MONTHS_PER_YEAR + 1
    late = begins in {2, first_month % MONTHS_PER_YEAR + 1} and begins != first_month
    whole = months % MONTHS_PER_YEAR == 0
    return f"the record has whole years from {month_name(first)} to {month_name(last)}" if late and whole else ""


def day_after(first: int, why: str, mend: str) -> Mistake:
    """Refuse such dates, of which the first names that month."""
    problem = f"each date may be the day after the end of its month: {why}"
    return Mistake(problem, f"the month of the flow: {month_name(first - 1)} or {month_name(first)}", mend)
