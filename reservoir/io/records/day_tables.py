"""Tables of days by months, as yearbooks print them, and of months by days, as HYDAT and others deliver them."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, TimeStep
from reservoir.io.records import words as known
from reservoir.io.records.cells import StepValue, flows_among, is_missing, number_style, parse_number
from reservoir.io.records.columns import passed_over_note
from reservoir.io.records.dates import Year, parse_year, year_headings
from reservoir.io.records.heading import Row, year_in
from reservoir.io.records.record import InflowReading, Record, RowPeriod
from reservoir.io.records.table import InflowTable
from reservoir.io.records.words import JUDGES, parts_of, understand

_MOST_DAYS, _LEAST_DAYS = 31, 28
#: The name of a column of one day of each row's month: FLOW1, DAY01, Vazao01, 1, 1日.
_DAY_COLUMN = re.compile(r"(?P<name>(?:.*[^\W\d])?[ _.-]*?)0?(?P<day>[1-9]|[12]\d|3[01])日?")


class DayTable(NamedTuple):
    """Where a table has its years, and days or months; and which columns have the others."""

    #: Place of the column of years; None where a title says the year.
    year: int | None
    #: Place of the column of days, or of months; and columns of months, or of days, by their places.
    down: int
    across: dict[int, int]
    #: Whether days stand below each other.
    days_down: bool
    #: What the columns of days are called before their numbers.
    name: str = ""

    @classmethod
    def of(cls, table: InflowTable, wanted: str | None) -> DayTable | None:
        """Recognise such a table by its header; None of another one.

        Raises
        ------
        InputError
            If it has several values of each day, and the caller names none of them.
        """
        header = table.header.cells
        headings = year_headings(header)
        months = {at: heading.month for at, heading in enumerate(headings) if heading.month}
        year_names = known.YEAR_NAMES | known.DATE_PARTS[0][1]
        years = [at for at, name in enumerate(header) if name.casefold() in year_names]
        year = years[0] if years else None
        groups = dict[str, dict[int, int]]()
        for at, name in enumerate(header):
            match = _DAY_COLUMN.fullmatch(name)
            if match and JUDGES.isdisjoint(parts_of(match["name"])):
                groups.setdefault(match["name"].strip(" _.-"), {})[at] = int(match["day"])
        groups = {
            name: days
            for name, days in groups.items()
            if len(days) == len(set(days.values())) >= _LEAST_DAYS and not understand(name).is_no_inflow
        }
        of_month = _named(table, known.DATE_PARTS[1][1], MONTHS_PER_YEAR)
        if groups and of_month is not None:
            chosen = [name for name in groups if wanted is None or name.casefold() == wanted.casefold()]
            if len(chosen) != 1:
                problem = f"several values of each day: {', '.join(groups)}" if wanted is None else "no such columns"
                mend = f"name them as the header does, without the number (--column {next(iter(groups))})"
                raise InputError(table.at_header(problem, f"one of {', '.join(groups)}", mend, value=wanted))
            days = groups[chosen[0]]
            return cls(year, of_month, days, days_down=False, name=chosen[0])
        of_day = _named(table, known.DATE_PARTS[2][1], _MOST_DAYS)
        if of_day is not None and len(set(months.values())) == len(months) == MONTHS_PER_YEAR and of_day not in months:
            return cls(year, of_day, months, days_down=True)
        return None


def _named(table: InflowTable, names: frozenset[str], most: int) -> int | None:
    """The place of a column of such a name; or of the first, if it has no name and all numbers up to so many."""
    header = [name.casefold() for name in table.header.cells]
    place = next((at for at, name in enumerate(header) if name in names), None)
    if place is None and not header[0] and table.rows:
        cells = {row.cells[0].casefold().rstrip(".") for row in table.rows}
        numbers = {int(text) if text.isdecimal() else known.MONTH_OF_NAME.get(text, 0) for text in cells}
        if len(numbers) == most and numbers == {*range(1, most + 1)}:
            return 0
    return place


def days_of(table: InflowTable, days: DayTable, reading: InflowReading) -> Record:
    """Read the days of such a table.

    Returns
    -------
    Record
        Of days, with every mistake found.

    Raises
    ------
    InputError
        If nothing says the year, or the title says that the values are no flows.
    """
    _require_flows(table, reading)
    header, first_month = table.header.cells, next(iter(days.across.values())) if days.days_down else 1
    years, mistakes, notes = _years(table, days, first_month, reading)
    style = number_style((row.cells[at] for row in table.rows for at in days.across), table.delimiter, flows=True)
    part, _, allowed = known.DATE_PARTS[2 if days.days_down else 1]

    def parse(text: str) -> int | Mistake:
        named = known.MONTH_OF_NAME.get(text.casefold().rstrip(".")) if not days.days_down else None
        whole = text.removesuffix(".0").rstrip("日月")
        number = named or (int(whole) if whole.isascii() and whole.isdecimal() and len(whole) < 3 else -1)
        return (
            number
            if number in allowed
            else Mistake(f"not a {part}", f"{allowed[0]} to {allowed[-1]}", "correct the cell")
        )

    numbers, wrong_down = table.parsed(days.down, parse)
    mistakes += wrong_down
    cells = list[StepValue]()
    for row in (row for row in table.rows if row.number in numbers and row.number in years):
        number = numbers[row.number]
        for at, across in days.across.items():
            month, day = (across, number) if days.days_down else (number, across)
            text, year = row.cells[at], years[row.number] + (month < first_month)
            value = style.parsed(text, parse_number)
            wrong = value if isinstance(value, Mistake) else None
            if day > monthrange(year, month)[1]:
                problem = f"a value on {year}-{month:02}-{day:02}, which does not exist"
                wrong = None if value == 0 else wrong if is_missing(text) else Mistake(problem, "no value", "delete it")
            elif not isinstance(value, Mistake):
                ordinal = date(year, month, day).toordinal()
                cells.append(StepValue(ordinal, value, row.number, header[at], style.plain(text)))
            if wrong is not None and not is_missing(text):
                mistakes.append(replace(wrong, row=row.number, column=header[at], value=text))
    cells.sort()
    for before, after in pairwise(cells):
        if before.ordinal == after.ordinal:
            problem = f"the day {date.fromordinal(after.ordinal)} appears twice, first in row {before.row}"
            mistakes.append(after.mistake(problem, "one value a day", "delete one of the rows"))
    flows, no_flows, flow_notes, codes = flows_among(cells, reading.negative, months=False)
    beside = [at for at in range(len(header)) if at not in (days.down, days.year, *days.across)]
    beside = [at for at in beside if JUDGES.isdisjoint(parts_of(header[at]))]
    first, *_, last = days.across
    if days.days_down:
        read = f"a table of days by months: days down, {header[first]} to {header[last]} across"
    else:
        read = f"a table of months by days: read columns {header[first]} to {header[last]}"
    passed_over = [header[at] or "(no name)" for at in beside]
    headings = year_headings(header)
    unit_texts = [(header[at], headings[at].unit) for at in days.across if days.days_down]
    unit_texts += [(days.name, days.name)] if len(days.name) > 1 or understand(days.name).means_flow else []
    return Record(
        values=flows,
        period=RowPeriod(TimeStep.DAY),
        first_month=first_month,
        unit_texts=tuple(texts for texts in unit_texts if texts[1]),
        beside=tuple(beside),
        mistakes=(*mistakes, *no_flows),
        notes=(passed_over_note(passed_over, read) if passed_over else read, *notes, *style.notes, *flow_notes, *codes),
        codes=codes,
    )


def _filled(table: InflowTable, place: int) -> InflowTable:
    """Write a year that stands in the first row of its days into the others, as in cells that are joined."""
    rows, year = list[Row](), ""
    for row in table.rows:
        year = row.cells[place] or year
        rows.append(row._replace(cells=(*row.cells[:place], year, *row.cells[place + 1 :])))
    return replace(table, rows=tuple(rows))


def _require_flows(table: InflowTable, reading: InflowReading) -> None:
    """Refuse levels and the like, which are printed in the same form: InputError."""
    titles = [comment for comment in table.comments if comment.noun == "title"]
    other = next((title for title in titles if understand(title.text).is_other), None)
    if other is None or reading.unit or any(understand(title.text).kinds & {*known.QUANTITIES} for title in titles):
        return
    problem = "the title does not speak of a flow"
    mend = "check that this is the table of flows; if it is, give their unit (--unit m3/s)"
    raise InputError(problem, "a table of daily flows", mend, row=other.number, value=other.text)


def _years(
    table: InflowTable, days: DayTable, first_month: int, reading: InflowReading
) -> tuple[dict[int, int], list[Mistake], list[str]]:
    """The calendar year in which each row's year begins, by row; what is wrong with some; and how they were read."""
    if days.year is None:
        titles = [comment for comment in table.comments if comment.noun == "title"]
        text = year_in([comment.text for comment in titles])
        of_title = parse_year(text) if text else None
        if not isinstance(of_title, Year) or (of_title.is_pair and first_month == 1):
            problem = "a table of days by months without a year"
            mend = 'add a column "year", or a title above the header that names one year'
            raise InputError(table.at_header(problem, "a column or a title that says the year", mend))
        water = any(re.search(r"water.?year", comment.text, re.IGNORECASE) for comment in titles)
        years = {row.number: of_title._replace(is_water=water) for row in table.rows}
        mistakes = list[Mistake]()
        notes = [f"the year {text} is that of the title"]
    else:
        years, mistakes = _filled(table, days.year).parsed(days.year, parse_year)
        notes = []
    if first_month == 1:
        reading.require_dates()
        return {row: year.number for row, year in years.items()}, mistakes, notes
    name = "year" if days.year is None else table.header.cells[days.year].casefold()
    by_end = name in known.WATER_YEAR_NAMES or any(year.is_water for year in years.values())
    if reading.water_year is not None:
        by_end = reading.water_year == "ends"
    starts = {row: year.number - (by_end and not year.is_pair) for row, year in years.items()}
    if starts and not all(year.is_pair for year in years.values()):
        start = min(starts.values())
        span = f"{MONTH_NAMES[first_month - 1]} {start} to {MONTH_NAMES[first_month - 2]} {start + 1}"
        notes.append(f"a row is named by the year in which it {'ends' if by_end else 'begins'}: the first is {span}")
    return starts, mistakes, notes
