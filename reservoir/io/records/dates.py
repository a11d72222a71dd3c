"""Dates, years and months in cells and in headers: how they are written, and in which columns they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from itertools import chain, takewhile
from typing import NamedTuple

from reservoir.errors import Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR, month_name
from reservoir.io.records import words as known
from reservoir.io.records.cells import NO_SUMMARY
from reservoir.io.records.table import InflowTable
from reservoir.io.records.words import WordKind, folded, plain_heading, understand

#: No record is older than this; a year of fewer digits is a slip, or a synthetic year that can be numbered otherwise.
FIRST_YEAR = 1000
#: One less than the last year that Python's calendar knows, because a water year may end in the next.
LAST_YEAR = 9998
#: Minutes of a day: the minute of 24:00.
MINUTES = 24 * 60

_SEPARATOR, _MONTH = r"(?:[-/ ,.]| de )*", r"(?P<month>[a-zà-ÿÀ-ß]{3,10})"
#: How dates are written: each form can be read in one way.
_FORMS = tuple(
    re.compile(form, re.ASCII)
    for form in (
        # The first, second or last ten days of a month, as 1953年1月上旬 or 1953-01-中旬.
        r"(?P<year>\d{4})[-/年. ](?P<month>\d{1,2})[-/月. ]?(?P<tenth>[上中下])旬",
        r"(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{2})(?P<clock>[T ]\d{2}:\d{2}(?::\d{2})?)?)?",
        # A month alone: 2001/1, 2001.01, 01/2001, 01.2001; a spreadsheet makes 2001.1 of 2001.10.
        r"(?P<year>\d{4})(?:/|\.(?=\d\d))(?P<month>\d{1,2})",
        r"(?P<month>\d\d|\d(?=/))[-/.](?P<year>\d{4})",
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
                rf"(?P<day>\d{{1,2}}){_SEPARATOR}{_MONTH}{_SEPARATOR}(?P<year>\d+)",
                rf"(?P<year>\d{{3,}}){_SEPARATOR}{_MONTH}(?:{_SEPARATOR}(?P<day>\d{{1,2}}))?",
                rf"{_MONTH}\.?\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{3,}})",
                rf"{_MONTH}{_SEPARATOR}(?P<year>\d+)",
            )
        ),
    )
)
#: Dates of numbers, of which only the whole column or the caller says which is the day; and those with a month's name
#: and a year of two digits.
_NUMBERS = re.compile(
    r"(?P<first>\d{1,2})(?P<sign>[/.\-])(?P<second>\d{1,2})(?P=sign)(?P<year>\d{4}|\d{2})"
    r"(?P<clock>[T ,]+\d{1,2}:?\d{2}(?::\d{2})?)?(?: ?(?P<half>[AP])\.?M\.?)?",
    re.ASCII | re.IGNORECASE,
)
_SHORT_YEAR = re.compile(
    rf"(?i)(?:\d{{1,2}}{_SEPARATOR})?{_MONTH}{_SEPARATOR}(?P<year>\d{{2}})(?:[T ,]+\d{{2}}:?\d{{2}}.*)?", re.ASCII
)
#: Orders of such numbers: the groups that are the month and the day.
ORDERS = {"month-first": ("first", "second"), "day-first": ("second", "first")}
_CENTURY = "give the year of the earliest row, such as --first-year 1953, or write years of four digits"
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


class DateStyle(NamedTuple):
    """How dates are read that can be read in several ways."""

    #: One of `ORDERS`; empty where nobody knows.
    order: str = ""
    #: The first year that two digits may mean, of which the last is 99 later; 0 where nobody knows.
    first_year: int = 0


#: Only what can be read in one way.
AS_WRITTEN = DateStyle()


def parse_date(text: str, style: DateStyle = AS_WRITTEN) -> Stamp | Mistake:
    """Read a date whose year is first, one with the month's name, the ten days of a month in Chinese, or as `style`."""
    match = next(filter(None, (form.fullmatch(text) for form in _FORMS)), None)
    numbers = None if match else _NUMBERS.fullmatch(text)
    parts = match.groupdict() if match else {}
    if numbers and style.order:
        month_at, day_at = ORDERS[style.order]
        parts = numbers.groupdict() | {"month": numbers[month_at], "day": numbers[day_at]}
    named = parts.get("month", "")
    month = int(named) if named.isdecimal() else known.MONTH_OF_NAME.get(named.casefold())
    if month is None:
        ambiguous = "ambiguous date: day and month cannot be distinguished"
        expected = "1953-01 or 1953-01-31 (year, month, day), or a date with the month's name, such as 31-Jan-1953"
        mend = _mend(text, "write dates as YYYY-MM or YYYY-MM-DD, without a time zone")
        return Mistake(ambiguous if numbers else "not a date that is understood", expected, mend)
    year = parts["year"]
    if style.first_year and len(year) == 2:
        year = str(style.first_year + (int(year) - style.first_year) % 100)
    if wrong := year_mistake(year):
        return replace(wrong, mend=_CENTURY) if len(year) == 2 else wrong
    day = str(1 + 10 * "上中下".index(parts["tenth"])) if "tenth" in parts else parts.get("day")
    day = None if day == "00" else day  # GRDC writes months as 1950-01-00
    return _stamp(int(year), month, int(day or 0), parts.get("clock") or "", parts.get("half") or "")


def _stamp(year: int, month: int, day: int, clock: str, half: str) -> Stamp | Mistake:
    """A date of numbers, if the calendar has it; `half` is the first letter of a.m. or p.m."""
    clock = re.sub(r"\D", "", clock)
    clock = clock.zfill(len(clock) + len(clock) % 2)
    hour, minute, second = (int(clock[at : at + 2] or 0) for at in (0, 2, 4))
    if half and 1 <= hour <= 12:
        hour = hour % 12 + 12 * (half.casefold() == "p")
    try:
        datetime(year, month, day or 1, hour - (hour == 24 and minute == second == 0), minute, second)
    except ValueError:
        return Mistake("the date does not exist", "a calendar date", "correct the date")
    return Stamp(year * MONTHS_PER_YEAR + month - 1, day, hour * 60 + minute, bool(clock))


def _mend(text: str, otherwise: str) -> str:
    return NO_SUMMARY if known.SUMMARY.fullmatch(text) else otherwise


def parse_month(text: str, style: DateStyle = AS_WRITTEN) -> Stamp | Mistake:
    """Read the date of a month: 24:00 may only end its last day."""
    stamp = parse_date(text, style)
    return NEXT_DAY if isinstance(stamp, Stamp) and stamp.minute == MINUTES and not stamp.ends_month else stamp


def year_mistake(year: str) -> Mistake | None:
    """Refuse a year of digits that no calendar has."""
    if len(year) <= 4 and FIRST_YEAR <= int(year) <= LAST_YEAR:
        return None
    problem = "the year has two digits: the century is unknown" if len(year) == 2 else "the year is out of range"
    mend = "write four digits, such as 1953; number synthetic years from 2001, for example"
    return Mistake(problem, f"a year from {FIRST_YEAR} to {LAST_YEAR}", mend)


#: What a stretch has, of a row for each of its days or months, in a steady record at least, and in another at most.
_STEADY, _UNSTEADY = 0.8, 0.5
#: Spreadsheets know no date before this year.
_FIRST_YEAR_OF_SHEETS, _MOST_DAYS = 1900, 31


class Understood(NamedTuple):
    """How a column of dates is read: what a reader should know, or why nobody can say which dates they are."""

    style: DateStyle = AS_WRITTEN
    notes: tuple[str, ...] = ()
    doubt: Mistake | None = None


def style_of(texts: Sequence[str], asked: DateStyle = AS_WRITTEN, *, is_past: bool = True) -> Understood:
    """Find out from a whole column which number of a date is the day, and the century of years of two digits.

    `texts` are its cells in the order of the file; `asked` is what the caller says of either; `is_past` whether no date
    lies after this year. In a column that has dates of other kinds as well, these remain mistakes.
    """
    numbers = [match for match in map(_NUMBERS.fullmatch, texts) if match]
    named = [match for match in map(_SHORT_YEAR.fullmatch, texts) if match]
    dates = numbers or [match for match in named if match["month"].casefold() in known.MONTH_OF_NAME]
    if not dates or any(form.fullmatch(numbers[0][0]) for form in _FORMS if numbers):
        return Understood()
    written = [match[0] for match in dates]
    others = set(texts).difference(written)
    short = {len(match["year"]) == 2 for match in dates}
    if len(short) > 1 or any(isinstance(parse_date(text), Stamp) for text in others):
        return Understood()
    orders, why = _orders(numbers, asked.order, short={True} == short) if numbers else ([""], "")
    styles = [DateStyle(order) for order in orders]
    if True in short:
        ends = {int(dates[at]["year"]) for at in (0, -1)}
        centuries = (_FIRST_YEAR_OF_SHEETS, _FIRST_YEAR_OF_SHEETS + 100) if is_past else ()
        firsts = [asked.first_year] if asked.first_year else [century + end for century in centuries for end in ends]
        styles = [DateStyle(order, first) for order in orders for first in firsts]
    if len(styles) == 1 and (asked.order or not numbers) and (asked.first_year or True not in short):
        return Understood(styles[0], (_note(written, styles[0], asked, why),))
    stamps = {style: _in_order(written, style, asked) for style in styles}
    sound = [style for style in styles if stamps[style]]
    if len({style.order for style in sound}) > 1:
        steady = {style: _steadiness(stamps[style]) for style in sound}
        even = [style for style in sound if steady[style] >= _STEADY]
        if all(steady[style] <= _UNSTEADY for style in sound if style not in even):
            sound, why = even, "so the rows are evenly apart"
    if len(sound) == 1:
        return Understood(sound[0], (_note(written, sound[0], asked, why),))
    if not numbers or (True in short and len(orders) == 1):
        return Understood(DateStyle(orders[0]))  # every year is a mistake
    problem = "ambiguous date: day and month cannot be distinguished"
    expected = "one order in all rows, which a day above 12 shows, or rows that are evenly apart"
    mend = "give --dates month-first or --dates day-first" + f"; and {_CENTURY}" * (True in short)
    return Understood(doubt=Mistake(problem, expected, mend, value=written[0]))


def _orders(numbers: Sequence[re.Match[str]], asked: str, *, short: bool) -> tuple[list[str], str]:
    """Orders in which the numbers can be days and months, and why only these."""
    if asked:
        return [asked], ""
    if short and all(int(match["year"]) <= _MOST_DAYS for match in numbers):
        return [], ""  # the first number may be the year
    pairs = [(int(match["first"]), int(match["second"])) for match in numbers]
    days_first = any(second <= MONTHS_PER_YEAR < first for first, second in pairs)
    months_first = any(first <= MONTHS_PER_YEAR < second for first, second in pairs)
    possible = {"month-first": not days_first, "day-first": not months_first}
    return [order for order, is_possible in possible.items() if is_possible], "the other number is no month"


def _in_order(texts: Sequence[str], style: DateStyle, asked: DateStyle) -> list[Stamp]:
    """Dates read so, if they are in the order of time, or its reverse, and none lies in the future; else none."""
    stamps = [stamp for text in texts if isinstance(stamp := parse_date(text, style), Stamp)]
    ordered, of_rows = sorted(stamps), style.first_year and not asked.first_year
    if ordered not in (stamps, stamps[::-1]) or (of_rows and ordered[:1] == ordered[-1:]):
        return []
    years = [stamp.month // MONTHS_PER_YEAR for stamp in (*ordered[:1], *ordered[-1:])]
    is_possible = not of_rows or (years[:1] == [style.first_year] and years[-1] <= date.today().year)
    return stamps if is_possible else []


def _steadiness(stamps: Sequence[Stamp]) -> float:
    """Rows in the stretch of some dates, of one for each of its months, or days."""
    months, days = [stamp.month for stamp in stamps], {stamp.day_ordinal for stamp in stamps}
    of_months = len(months) / (max(months) - min(months) + 1) if len(set(months)) == len(months) else 0.0
    return max(of_months, len(days) / (max(days) - min(days) + 1))


def _note(texts: Sequence[str], style: DateStyle, asked: DateStyle, why: str) -> str:
    """How dates are read, with the one that shows it best."""
    why = "as asked" if asked.order else why
    stamps = {text: stamp for text in texts if isinstance(stamp := parse_date(text, style), Stamp)}
    if not stamps:
        return f"dates are read {style.order.replace('-', ' ')} ({why})"

    def distinct(text: str) -> tuple[bool, bool]:
        stamp = stamps[text]
        return stamp.day > MONTHS_PER_YEAR, stamp.day != stamp.month % MONTHS_PER_YEAR + 1

    shows = max(stamps, key=distinct)
    example = f"{shows} is {stamps[shows] if stamps[shows].day else month_name(stamps[shows].month)}"
    order = f"dates are read {style.order.replace('-', ' ')}: {example} ({why})" if style.order else ""
    if not style.first_year:
        return order
    first, last = (choose(stamps.values()).month // MONTHS_PER_YEAR for choose in (min, max))
    by = ", as asked" if asked.first_year else ", in the order of the rows and none to come"
    century = f"years of two digits are read as {first} to {last}{by}"
    return f"{order}; {century}" if order else f"{century}: {example}"


def date_columns(header: Sequence[str]) -> tuple[int, ...] | None:
    """Find the column of dates; without one, columns of year and month, and of day and hour beside them, in order."""
    names = [{cell.casefold(), plain_heading(cell)} for cell in header]

    def named(words: Set[str]) -> list[int]:
        return [place for place, name in enumerate(names) if name & words][:1]

    parts = chain(*takewhile(bool, (named(spelt) for _, spelt, _ in known.DATE_PARTS)))
    places = named(known.DATE_NAMES) or [*parts]
    if len(places) == 1 and not names[places[0]] & known.DATE_NAMES:
        places = []
    return tuple(places or named(known.PERHAPS_DATE_NAMES)) or None


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


def stamps_of(
    table: InflowTable, places: Sequence[int], asked: DateStyle = AS_WRITTEN
) -> tuple[dict[int, Stamp], list[Mistake], tuple[str, ...]]:
    """The date of each row by its number, from the `date_columns`, what is wrong with some, and how they are read."""
    if len(places) == 1:
        place = places[0]
        style, notes, doubt = style_of([row.cells[place] for row in table.rows], asked)
        if doubt is not None:
            first = next(row.number for row in table.rows if row.cells[place] == doubt.value)
            return {}, [replace(doubt, row=first, column=table.header.cells[place])], ()
        return *table.parsed(place, partial(parse_date, style=style)), notes
    stamps, mistakes = dict[int, Stamp](), list[Mistake]()
    for row in table.rows:
        part, stamp = _put_together([row.cells[place] for place in places])
        if isinstance(stamp, Stamp):
            stamps[row.number] = stamp
        else:
            name, value = table.header.cells[places[part]], row.cells[places[part]]
            mistakes.append(replace(stamp, row=row.number, column=name, value=value))
    return stamps, mistakes, ()


def _put_together(cells: Sequence[str]) -> tuple[int, Stamp | Mistake]:
    """The date of a row in several columns; or what is wrong with one of its parts, by the place of that part."""
    numbers: list[int] = []
    for part, ((name, _, allowed), text) in enumerate(zip(known.DATE_PARTS, cells, strict=False)):
        number = known.MONTH_OF_NAME.get(text.casefold().rstrip(".")) if name == "month" else None
        if number is None:
            whole = re.sub(r"(\.0|[年日时])$", "", text)  # spreadsheets write 1963.0
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


_MONTH_NUMBERS = {
    name: month for month in range(1, 13) for name in (f"m{month:02}", f"m{month}", f"{month:02}", f"{month}")
}
#: Months by their names and numbers, in each language.
_MONTHS_OF = [
    _MONTH_NUMBERS | {name + point: month for name, month in names.items() for point in ("", ".")}
    for names in known.MONTHS_BY_LANGUAGE.values()
]
#: A year or a month and what stands behind it: ``Jan (hm3)``, ``m01_cfs``, ``1月流量``; behind a bare number only what
#: is in brackets.
_NAME_AND_MORE = re.compile(
    r"\s*(?:([^\W\d_]+\.?|m\d{1,2})(?=[\s_\-,:(\[])|(\d{1,2}月)|(\d{1,2})\s*(?=[(\[]))(.+)", re.IGNORECASE
)


class YearHeading(NamedTuple):
    """What the name of a column says in a table by years; nothing of a column beside these."""

    #: The calendar month that it is named after, as m01, m1, 1, Jan, Sept, January or 1月, in any case; 0 of no month.
    month: int = 0
    #: The name of a column of years in small letters.
    year: str = ""
    #: What stands behind either, where it means the unit of the months.
    unit: str = ""

    @classmethod
    def of(cls, name: str, months: Mapping[str, int]) -> YearHeading:
        """Understand the name of a column, by the names of months in one language."""
        folded_name = name.casefold()
        if folded_name in known.YEAR_NAMES or folded_name in months:
            return cls(months.get(folded_name, 0), folded_name if folded_name in known.YEAR_NAMES else "")
        match = _NAME_AND_MORE.fullmatch(name)
        if match:
            named = (match[1] or match[2] or match[3]).casefold()
            month, year, more = months.get(named, 0), "year" * (named == "year"), match[4]
            if month and any(word in months for word in re.findall(r"\d+月|[^\W\d_]+", more.casefold())):
                return cls()  # jan-dez is a sum or a mean of the year
            saying = understand(more)
            is_unit = saying.units or any(not word.isdecimal() for word in saying.strange)
            if (month or year) and (is_unit or saying.kinds == {WordKind.FLOW}):
                return cls(month, year, more)
        return cls()


def year_headings(header: Sequence[str]) -> list[YearHeading]:
    """Understand the names of columns, with the months of the language in which most of them are."""
    languages = ([YearHeading.of(name, months) for name in header] for months in _MONTHS_OF)
    return max(languages, key=lambda headings: len({heading.month for heading in headings if heading.month}))


class Year(NamedTuple):
    """A year as it is written: ``1953``; ``1953/54``, a pair, of which the first; or ``WY1953``, a water year."""

    number: int
    is_pair: bool = False
    is_water: bool = False


_YEAR = re.compile(
    r"(?P<water>w\.?y\.?|(?:water|hydrologic(?:al)?)[ _-]?year)?[ _-]*(?P<first>\d+)"
    r"(?:\s*(?P<sign>[/-])\s*(?P<second>\d{4}|\d{2}))?年?",
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
