"""The wide layout: one row per year, one column per month."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import combinations
from typing import NamedTuple

from reservoir.errors import Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.year_labels import year_label
from reservoir.io.inflow_csv.cells import parse_number
from reservoir.io.inflow_csv.companions import is_companion, nearly_named
from reservoir.io.inflow_csv.dates import Month, year_mistake
from reservoir.io.inflow_csv.doubtful_values import flows_among
from reservoir.io.inflow_csv.lines import WATER_YEAR_NAMES
from reservoir.io.inflow_csv.month_headers import MonthColumn, month_columns, unit_texts, year_name
from reservoir.io.inflow_csv.number_style import NumberStyle, number_style
from reservoir.io.inflow_csv.record import PeriodIndex, Record, StepValue, TimeAxis, sequence_mistakes
from reservoir.io.inflow_csv.summary_words import NO_SUMMARY, is_summary
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.value_column import passed_over_note
from reservoir.io.inflow_reading import InflowReading

_YEAR = re.compile(
    r"(?P<water>w\.?y\.?|(?:water|hydrologic(?:al)?)[ _-]?year)?[ _-]*(?P<first>\d+)"
    r"(?:\s*(?P<sign>[/-])\s*(?P<second>\d{4}|\d{2}))?",
    re.ASCII | re.IGNORECASE,
)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


class YearForm(Enum):
    """How a year is written."""

    PLAIN = "1953"
    BOTH = "1953/54"
    WATER = "WY1953"


class Year(NamedTuple):
    """A year as it is written; of ``1953/54`` the first."""

    number: int
    form: YearForm

    def start(self, *, by_end: bool) -> int:
        """Calendar year in which it begins, if one number is that of the calendar year in which it ends."""
        return self.number - (by_end and self.form is not YearForm.BOTH)


def parse_year(text: str) -> Year | Mistake:
    """Read ``1953``, ``WY1953``, or ``1953/54`` or ``1953-54`` for a water year that begins in 1953."""
    match = _YEAR.fullmatch(text.translate(_DASHES))
    if not match or (match["water"] is None and not text[:1].isdecimal()):
        return _not_a_year(text)
    wrong = year_mistake(match["first"])
    if wrong:
        return wrong
    first, second = int(match["first"]), match["second"]
    if second is None:
        return Year(first, YearForm.WATER if match["water"] else YearForm.PLAIN)
    if int(second) == (first + 1) % 10 ** len(second):
        return Year(first, YearForm.BOTH)
    if match["sign"] != "/":
        return _not_a_year(text)
    return Mistake(
        "a water year must span two consecutive years", f"{first}/{(first + 1) % 100:02d}", "correct the year"
    )


def _not_a_year(text: str) -> Mistake:
    mend = "write only the year, or 1953/54 for a water year that begins in 1953"
    if re.match(r"\d{4}-\d{2}", text):
        mend = 'name the column "date" if there is one row per month'
    elif is_summary(text):
        mend = NO_SUMMARY
    return Mistake("not a year", "a whole number such as 1953, 1953/54 or WY1954", mend)


def read_wide(table: InflowTable, year_at: int, reading: InflowReading) -> Record:
    """Read a table with a column of years, at the place `year_at`, and twelve month columns.

    The first column of a month begins the water year. Where that is not January, ``1953/54`` begins in 1953, and so
    does 1953 unless the label, the column's name or the caller says that a water year is named by its end.
    """
    header = table.header.cells
    columns = month_columns(header)
    first_month = columns[0].month
    years, unnamed = table.parsed(year_at, partial(_parse_year, first_month=first_month))
    naming = _Naming.of(header[year_at], years.values(), first_month, reading.water_year)
    starts = {row: year.start(by_end=naming.by_end) for row, year in years.items()}
    style = number_style((row.cells[each.position] for row in table.rows for each in columns), table.delimiter)
    numbers = [table.parsed(column.position, lambda text: style.parsed(text, parse_number)) for column in columns]
    cells = sorted(_values(table, columns, starts, [understood for understood, _ in numbers], style))
    flows = flows_among(cells, reading.negative, months=True)
    axis = TimeAxis(
        "year",
        column=header[year_at],
        mend_double="delete one of the rows, or correct its year",
        written=partial(year_label, later=int(first_month > 1)),
        unreadable=table.unreadable(unnamed),
    )
    beside = tuple(place for place, name in enumerate(header) if _is_extra(name, place, columns, year_at))
    return Record(
        values=flows.values,
        first_month=first_month,
        beside=beside,
        unit_texts=unit_texts(header),
        names_water_years=any(year.form is not YearForm.PLAIN for year in years.values()),
        mistakes=(
            *_option_mistakes(reading),
            *(mistake for at in beside for mistake in _loss_mistakes(table, header[at])),
            *_header_mistakes(table, columns, year_at),
            *_january_mistakes(table, year_at, first_month),
            *unnamed,
            *sequence_mistakes([PeriodIndex(start, row) for row, start in starts.items()], axis),
            *(mistake for _, wrong in numbers for mistake in wrong),
            *flows.mistakes,
        ),
        notes=(
            *((passed_over_note([header[at] for at in beside], "read the columns of months"),) if beside else ()),
            *style.notes,
            *flows.notes,
            *naming.notes(years.values(), first_month),
        ),
    )


class _Naming(NamedTuple):
    """Which calendar year names a water year, and who says so."""

    by_end: bool
    told_by: str

    @classmethod
    def of(cls, column: str, years: Collection[Year], first_month: int, asked: str | None) -> _Naming:
        if first_month == 1:
            return cls(False, "")
        if asked is not None:
            return cls(asked == "ends", "as asked")
        if any(year.form is YearForm.WATER for year in years):
            return cls(True, "by the label WY")
        named = year_name(column)
        return cls(True, f"by the column name {column}") if named in WATER_YEAR_NAMES else cls(False, "")

    def notes(self, years: Collection[Year], first_month: int) -> Iterator[str]:
        """How rows are named."""
        single = [year for year in years if year.form is not YearForm.BOTH]
        if first_month == 1 or not single:
            return
        number, start = single[0].number, single[0].start(by_end=self.by_end)
        begin, end = f"{MONTH_NAMES[first_month - 1]} {start}", f"{MONTH_NAMES[first_month - 2]} {start + 1}"
        told = f" ({self.told_by})" if self.told_by else ""
        verb = "ends" if self.by_end else "begins"
        yield f"a row is named by the year in which it {verb}: {number} is {begin} to {end}{told}"


def _parse_year(text: str, *, first_month: int) -> Year | Mistake:
    year = parse_year(text)
    if isinstance(year, Year) and year.form is not YearForm.PLAIN and first_month == 1:
        return Mistake(
            "a water year of two calendar years, but the months begin in January",
            expected=str(year.number),
            mend="write one year, or begin the columns with the first month of the water year",
        )
    return year


def _values(
    table: InflowTable,
    columns: Sequence[MonthColumn],
    starts: Mapping[int, int],
    numbers: Sequence[Mapping[int, float]],
    style: NumberStyle,
) -> Iterator[StepValue]:
    first, names = columns[0].month, table.header.cells
    for number, cells in table.rows:
        if number in starts:
            for (position, month), understood in zip(columns, numbers, strict=True):
                if number in understood:
                    when = Month(starts[number] + (month < first), month).ordinal
                    yield StepValue(when, understood[number], number, names[position], style.plain(cells[position]))


def _loss_mistakes(table: InflowTable, name: str) -> Iterator[Mistake]:
    """Losses beside the months of the inflow, which would be passed over."""
    nearly = nearly_named(name)
    if nearly is not None or is_companion(name):
        problem = nearly.problem if nearly else "a table by years has no losses or prices of its months"
        mend = "give a table by date, a row a month; or delete the column"
        yield table.at_header(problem, "the year and twelve months of inflow", mend, name)


def _option_mistakes(reading: InflowReading) -> Iterator[Mistake]:
    if reading.column is not None:
        problem, mend = (
            "the file has a column for each month",
            "leave it out: columns that are no months are passed over",
        )
        yield Mistake(problem, "a table by date", mend, column="column", value=reading.column)


def _january_mistakes(table: InflowTable, year_at: int, first_month: int) -> Iterator[Mistake]:
    name = table.header.cells[year_at]
    if first_month == 1 and year_name(name) in WATER_YEAR_NAMES:
        yield table.at_header(
            "the column names water years, but the months begin in January",
            "the months from the first of the water year on",
            'begin the columns with the first month of the water year, or name the column "year" for calendar years',
            name,
        )


def _is_extra(name: str, place: int, columns: Sequence[MonthColumn], year_at: int) -> bool:
    """Whether a column is passed over."""
    known = place == year_at or any(place == column.position for column in columns)
    return not known and name != "" and year_name(name) is None


def _header_mistakes(table: InflowTable, columns: Sequence[MonthColumn], year_at: int) -> Iterator[Mistake]:
    for place, name in enumerate(table.header.cells):
        if place != year_at and not name:
            problem, mend = "a column without a name", "delete the column, or the extra delimiter in the header"
            yield table.at_header(problem, "the year and twelve months", mend, name)
        elif place != year_at and year_name(name) is not None:
            yield table.at_header("a second year column", "the year and twelve months", "delete one of them", name)
    for earlier, column in combinations(columns, 2):
        if earlier.month == column.month:
            problem = f"a second column for {MONTH_NAMES[column.month - 1]}"
            name = table.header.cells[column.position]
            yield table.at_header(problem, "one column per month", "delete or rename one of them", name)
    months = [column.month for column in columns]
    missing = [name for month, name in enumerate(MONTH_NAMES, start=1) if month not in months]
    if missing:
        mend = "add the missing columns, named m01 to m12 or Jan to Dec"
        extra = [name for place, name in enumerate(table.header.cells) if _is_extra(name, place, columns, year_at)]
        yield table.at_header(
            f"no column for {', '.join(missing)}", "twelve month columns", mend, value=", ".join(extra) or None
        )
    elif len(months) == MONTHS_PER_YEAR and not _consecutive(months):
        yield table.at_header(
            "the month columns are out of order",
            "consecutive months, from the first month of the water year",
            "move the columns together with their values",
            value=", ".join(table.header.cells),
        )


def _consecutive(months: Sequence[int]) -> bool:
    return all((month - months[0]) % MONTHS_PER_YEAR == step for step, month in enumerate(months))
