"""A table -> a record, in one of two layouts: a row a period with its date, or a row a year with a column a month.

What the rows by date stand for is found by their dates, and checked for periods that are missing or stand twice.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from io import BytesIO, StringIO
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import NamedTuple, TextIO

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.calendar import (
    DAYS_PER_WEEK,
    MONTH_NAMES,
    MONTHS_PER_YEAR,
    MOST_YEARS,
    TimeStep,
    month_name,
    year_label,
)
from reservoir.io.records import dates
from reservoir.io.records.cells import (
    StepValue,
    flows_among,
    is_missing,
    number_style,
    parse_number,
    without_blank_ends,
)
from reservoir.io.records.choice import require_one_series
from reservoir.io.records.columns import companion_of, nearly_named, passed_over_note, read_companions, value_column
from reservoir.io.records.dates import MINUTES, Stamp, Year, YearHeading, says_end
from reservoir.io.records.day_tables import DayTable, days_of
from reservoir.io.records.heading import Row
from reservoir.io.records.record import A_MONTH, InflowReading, Record, RowPeriod, too_many_years
from reservoir.io.records.table import InflowTable, content_of, cut
from reservoir.io.records.words import MEMBER_NAMES, WATER_YEAR_NAMES, WEEK_ENDS
from reservoir.text.data_file import head_lines
from reservoir.text.quantities import counted

_LAYOUTS = '"year,m01,...,m12" with one row per year, or "date,inflow_m3s" with one row per month or day'


def read_record(table: InflowTable, reading: InflowReading) -> Record:
    """Read the months, or days, of `table`, whichever layout its header announces.

    Returns
    -------
    Record
        With every mistake found; its values are to be used only if there is none.

    Raises
    ------
    InputError
        If the column of values is not clear.
    """
    header = table.header.cells
    of_days = DayTable.of(table, reading.column)
    if of_days is not None:
        keys = (of_days.down, *([] if of_days.year is None else [of_days.year]))
        require_one_series(table, keys, reading.column)
        return days_of(table, of_days, reading)
    of_dates, headings = dates.date_columns(header), dates.year_headings(header)
    months = sum(heading.month > 0 for heading in headings)
    # Where several name years, the one with the least beside it.
    of_years = (place for place, heading in enumerate(headings) if heading.year)
    year_at = min(of_years, key=lambda place: len(header[place]), default=None)
    if year_at is None and months == MONTHS_PER_YEAR and not header[0]:
        texts = [row.cells[0] for row in table.rows]
        year_at = 0 if texts and all(isinstance(dates.parse_year(text), Year) for text in texts) else None
    if of_dates is not None and months < MONTHS_PER_YEAR:
        reading.require_dates()
        require_one_series(table, of_dates, reading.column)
        return _by_date(table, of_dates, reading)
    if year_at is not None and months:
        # Told at once: every cell of so many rows could be wrong.
        rows = len(table.rows)
        if rows > MOST_YEARS:
            return Record(mistakes=(too_many_years(rows),))
        require_one_series(table, [year_at], reading.column)
        return _by_year(table, headings, year_at, reading)
    names = [cell.casefold() for cell in header]
    if re.match(r"\d{3,4}\b", names[0]):
        problem, mend = "the header line is missing: this line has data", "add a line with the column names above it"
    elif len(names) == 1:
        problem, mend = "the header has only one column", "separate the columns with commas, semicolons or tabs"
    elif "date" in names and "year" not in names:
        mend = 'name the column of years "year", and write only years in it'
        problem = "the header has a date and months"
    elif "year" in names:
        problem, mend = "the header has a year but no months", "name the twelve months m01 to m12, or Jan to Dec"
    elif months:
        problem, mend = "the header has months but no year", 'name the column of years "year"'
    else:
        problem, mend = "the header has neither a year nor a date", 'name the first column "year" or "date"'
    return Record(mistakes=(table.at_header(problem, _LAYOUTS, mend, value=", ".join(header)),))


#: Bytes in which comments and the header stand.
_HEAD_BYTES = 131_072


@dataclass(frozen=True, kw_only=True)
class MemberFile(InflowTable):
    """The head of a file with a column of members, whose rows are read in pieces; and the places of two columns."""

    file: str
    encoding: str
    member: int
    date: int
    #: The sheet of a workbook as CSV.
    sheet: bytes | None = None

    def opened(self) -> TextIO:
        """The text of the file, or of the sheet, from its beginning."""
        if self.sheet is not None:
            return StringIO(self.sheet.decode("utf-8"), newline="")
        return open(self.file, encoding=self.encoding, newline="")


def member_file(file: str, sheet: bytes | None = None) -> MemberFile | None:
    """Look for a column of members in a file, or a sheet of it; None where there is none, or nothing can be read."""
    with suppress(OSError, ValueError, InputError):
        if not stat.S_ISREG(os.stat(file).st_mode):
            return None  # a pipe is read once
        with open(file, "rb") if sheet is None else BytesIO(sheet) as opened:
            content = opened.read(_HEAD_BYTES)
        whole, encoding = head_lines(content)
        lines, delimiter, comments, _ = content_of(whole)
        header = cut(*lines[0], delimiter)
        names = [cell.casefold() for cell in header.cells] if isinstance(header, Row) else []
        member = next((names.index(name) for name in MEMBER_NAMES if name in names), None)
        places = dates.date_columns(names) or ()
        if isinstance(header, Row) and member is not None and len(places) == 1:
            head = InflowTable(b"", header, (), comments, delimiter=delimiter)
            of_file = {"file": file, "encoding": encoding, "sheet": sheet, "member": member, "date": places[0]}
            return MemberFile(**vars(head) | of_file)
    return None


def _sequence_mistakes(
    ordinals: Mapping[int, int],
    noun: str,
    column: str,
    mend: str,
    written: Callable[[int], str],
    undated: Sequence[Mistake],
) -> Iterator[Mistake]:
    """Name every year or month that stands twice, with how to mend that, and every hole between two of them.

    `ordinals` are theirs by row; `noun` is what one is called, `written` how the file writes one. Rows of the mistakes
    `undated` have no date that could be read: a hole that one of them may fill is not reported.
    """
    unread = {mistake.row for mistake in undated if mistake.row is not None}
    ordered = sorted((ordinal, row) for row, ordinal in ordinals.items())
    for (before, row_before), (after, row) in pairwise(ordered):
        if after == before:
            problem = f"the {noun} appears twice, first in row {row_before}"
            yield Mistake(problem, f"one row per {noun}", mend, row=row, column=column, value=written(after))
        elif after > before + 1 and not any(row_before < between < row for between in unread):
            first, last = written(before + 1), written(after - 1)
            missing = f"the {noun} {first} is" if first == last else f"the {noun}s {first} to {last} are"
            problem = f"{missing} missing between {written(before)} and {written(after)}"
            fill_in = "add the missing rows, or keep only the part of the record before or after the gap"
            yield Mistake(problem, mend=fill_in, row=row, column=column)


# Rows with dates.

#: Rows of a record follow each other by what they stand for more often than this.
_MOSTLY = 0.5
#: Days on which ten-day periods begin, and on which the first two end; days from one to the next.
_TEN_BEGINS, _TEN_ENDS, _TEN_DAYS_LAST = frozenset({1, 11, 21}), frozenset({10, 20}), range(8, 12)
#: More rows than this in one month, or more months of several rows, are a record of shorter steps, not a slip.
_MOST_SLIPS = 3


def _by_date(table: InflowTable, places: Sequence[int], reading: InflowReading) -> Record:
    """Read a table with dates, in one column or several, and a column of values, besides known companions."""
    table, clock = dates.with_clock(table, places)
    column = value_column(table, (*places, *clock), reading.column, reading.flood_column)
    header, place = table.header.cells, column.place
    stamps, undated, date_notes = dates.stamps_of(table, places, reading.date_style)
    comments = tuple(comment.text for comment in table.comments)
    of_rows = _row_dates(stamps, (*header, *comments), (*comments, *(header[at] for at in (*places, place))))
    is_month, of_dates = of_rows.period.step is TimeStep.MONTH, header[places[0]]
    style = number_style((row.cells[place] for row in table.rows), table.delimiter, flows=True)
    numbers, wrong = table.parsed(place, lambda text: style.parsed(text, parse_number))
    companions, wrong_beside = read_companions(table, column.companions)
    ordinals = {row: stamp.month for row, stamp in stamps.items()} if is_month else of_rows.first_days
    out_of_order = [*of_rows.mistakes(of_dates)]
    first_stamp = ""
    if is_month:
        out_of_order += _month_mistakes(table, ordinals, undated, of_dates)
        if len(stamps) == len(table.rows) > 0 and all(stamp.day == 1 for stamp in stamps.values()):
            first_stamp = "-".join(table.rows[0].cells[at] for at in places)
    cells = sorted(
        StepValue(ordinals[row.number], numbers[row.number], row.number, header[place], style.plain(row.cells[place]))
        for row in table.rows
        if row.number in ordinals and row.number in numbers
    )
    ends = ""
    if is_month:
        cells, wrong, ends = without_blank_ends(cells, [(ordinals.get(each.row or 0, 0), each) for each in wrong])
    flows, no_flows, flow_notes, codes = flows_among(cells, reading.negative, months=is_month)
    words = Counter(text for each in wrong if is_missing(text := str(each.value)) and re.search(r"\w", text))
    if words and not is_month:
        verb, count = "is" if len(words) == 1 else "are", counted(words.total(), "row")
        codes += (f"{', '.join(words)} {verb} read as no value ({count})",)
    type_of_values = table.beside_header("types", place).upper()
    cumulated = list[Mistake]()
    if type_of_values == "INST-CUM":
        problem, mend = "the values are sums since the beginning (INST-CUM)", "give their differences (PER-CUM)"
        cumulated = [table.at_header(problem, "means or sums of periods", mend, header[place])]
    elif type_of_values.startswith("INST"):
        codes += (f"values of the type {type_of_values} are instants, which are read as means of their periods",)
    notes = [*column.notes(header), *date_notes, *style.notes, *of_rows.notes, *filter(None, [ends]), *flow_notes]
    notes += codes
    if first_stamp and flows:
        month = flows[0].ordinal
        name = f"{MONTH_NAMES[month % MONTHS_PER_YEAR]} {month // MONTHS_PER_YEAR}"
        note = f"dates on the first of a month are read as that month: {month_name(month)}-01 is {name}; if the flow"
        notes.append(f"{note} is that of the previous month, write {month_name(month - 1)}")
    wrong = [mistake for mistake in wrong if is_month or not is_missing(str(mistake.value))]
    used = {value.row for value in flows}
    wrong_beside = [each for each in wrong_beside if each.row in used or not is_missing(str(each.value))]
    return Record(
        values=flows,
        period=of_rows.period,
        value_column=header[place],
        unit_texts=((header[place], header[place]), (header[place], table.beside_header("units", place))),
        first_stamp=first_stamp,
        beside=column.passed_over,
        companions=companions,
        mistakes=(*column.mistakes(table), *cumulated, *undated, *out_of_order, *wrong, *no_flows, *wrong_beside),
        notes=tuple(notes),
        codes=codes,
    )


def _month_mistakes(
    table: InflowTable, ordinals: Mapping[int, int], undated: Sequence[Mistake], column: str
) -> Iterator[Mistake]:
    rows_in = Counter(ordinals.values())
    crowded = [month for month, rows in rows_in.items() if rows > _MOST_SLIPS]
    doubled = [month for month, rows in rows_in.items() if rows > 1]
    if len(doubled) > max(_MOST_SLIPS, len(rows_in) / 2):
        crowded = doubled
    if crowded:
        rows = [row for row, month in ordinals.items() if month == min(crowded)]
        problem = f"the time step is shorter than a month: {len(rows)} rows in {month_name(min(crowded))}"
        expected = "one row per month, ten days, week or day, or equally many a day"
        mend = "average the flows of each month or day first, or keep only one station"
        yield Mistake(problem, expected, mend, row=rows[1], column=column)
        return
    mend = "delete one of the rows; average values of shorter steps than a month first"
    yield from _sequence_mistakes(ordinals, "month", column, mend, month_name, (*table.mistakes, *undated))


class _RowDates(NamedTuple):
    """What the dates of a table by date say."""

    #: What rows stand for.
    period: RowPeriod = A_MONTH
    #: Number of the first day of each row's period, by row; empty of months.
    first_days: Mapping[int, int] = MappingProxyType({})
    #: How the dates were read.
    notes: tuple[str, ...] = ()
    #: Why nobody knows which periods they name.
    doubts: tuple[Mistake, ...] = ()
    #: Rows of a part of a day that stand twice, and those where they do first.
    twice: Mapping[int, int] = MappingProxyType({})

    def mistakes(self, column: str) -> Iterator[Mistake]:
        """Periods that stand twice, and weeks that overlap; those that are missing are counted by step."""
        yield from (replace(doubt, column=column) for doubt in self.doubts)
        if self.period.per_day > 1:
            for row, first in self.twice.items():
                problem, mend = f"the time appears twice, first in row {first}", "delete one of the rows"
                yield Mistake(problem, f"{self.period.per_day} rows a day", mend, row=row, column=column)
            return
        noun = self.period.step.noun
        rows: dict[int, int] = {}
        for row, day in self.first_days.items():
            first = rows.setdefault(day, row)
            if first != row:
                problem, value = f"the {noun} appears twice, first in row {first}", str(date.fromordinal(day))
                mend = "delete one of the rows"
                yield Mistake(problem, f"one row per {noun}", mend, row=row, column=column, value=value)
        if self.period.step is TimeStep.WEEK:
            for before, after in pairwise(sorted(rows)):
                if (after - before) % DAYS_PER_WEEK:
                    problem, expected = f"is {after - before} days after the row before", "dates seven days apart"
                    yield Mistake(problem, expected, "correct the date", row=rows[after], column=column)


def _row_dates(stamps: Mapping[int, Stamp], texts: Sequence[str], claims: Sequence[str]) -> _RowDates:
    """Recognise what the dates of rows say.

    `texts` are comments and names of columns, which may say that a week is named by its last day; `claims` those that
    may say that all dates stand at the ends of their periods.
    """
    written = _as_written(stamps, texts)
    if written.period.step is TimeStep.MONTH:
        late = [row for row, stamp in stamps.items() if stamp.minute == MINUTES and not stamp.ends_month]
        return written._replace(doubts=tuple(replace(dates.NEXT_DAY, row=row, value=str(stamps[row])) for row in late))
    claim = next((text for text in claims if says_end(text)), "")
    timed = any(stamp.timed for stamp in stamps.values())
    if any(stamp.minute == MINUTES for stamp in stamps.values()):
        claim = "24:00"
    elif any(map(dates.says_begin, claims)):
        return written
    elif claim and written.period.step is TimeStep.WEEK and not timed:
        return _as_written(stamps, (*texts, "week ending"))
    elif not claim or not timed:
        return written._replace(doubts=tuple(_doubts(stamps, written, claim)))
    # The time at which a period of a part of a day begins; of a day or longer, its last day.
    length, whole_days = MINUTES // written.period.per_day, written.period.per_day == 1
    starts = {row: stamp.minutes - (MINUTES // 2 if whole_days else length) for row, stamp in stamps.items()}
    begins = {
        row: Stamp.at(start // MINUTES * MINUTES)._replace(timed=False) if whole_days else Stamp.at(start)
        for row, start in starts.items()
    }
    ended = _as_written(begins, (*texts, "week ending"))
    row = min(stamps, key=lambda number: stamps[number].minutes)
    hours = "hour" if length == 60 else f"{length / 60:g} hours"
    ended_by = str(begins[row]) if whole_days else f"the {hours} from {begins[row]} on"
    note = f'times are read as the ends of their periods ("{shortened(claim)}"): {stamps[row]} ends {ended_by}'
    return ended._replace(notes=(note, *ended.notes))


def _as_written(stamps: Mapping[int, Stamp], texts: Sequence[str]) -> _RowDates:
    """What dates say if each names the period that it stands in."""
    if len(stamps) < 2 or not all(stamp.day for stamp in stamps.values()):
        return _RowDates()
    days = {row: stamp.day_ordinal for row, stamp in stamps.items()}
    gaps = [after - before for before, after in pairwise(sorted(days.values()))]
    per_day = _rows_of_each_day(stamps)
    if per_day:
        return per_day.row_dates(stamps, days)
    if _mostly(gap == 1 for gap in gaps):
        return _RowDates(RowPeriod(TimeStep.DAY), days)
    if _mostly(gap in _TEN_DAYS_LAST for gap in gaps):
        named = ""
        if {stamp.day for stamp in stamps.values()} <= _TEN_BEGINS:
            named = "the 1st, the 11th and the 21st"
        elif all(stamp.day in _TEN_ENDS or stamp.ends_month for stamp in stamps.values()):
            named = "the 10th, the 20th and the last day"
        if named:
            begin = {row: 1 + 10 * min((stamp.day - 1) // 10, 2) for row, stamp in stamps.items()}
            first = {row: days[row] - stamp.day + begin[row] for row, stamp in stamps.items()}
            note = f"dates on {named} of months are read as ten-day periods"
            return _RowDates(RowPeriod(TimeStep.TEN_DAYS), first, (note,))
    if _mostly(gap == DAYS_PER_WEEK for gap in gaps):
        ends = any(map(WEEK_ENDS.search, texts))
        back = (DAYS_PER_WEEK - 1) * ends
        first_day = min(days.values())
        span = " to ".join(str(date.fromordinal(first_day - back + more)) for more in (0, DAYS_PER_WEEK - 1))
        note = f"dates of weeks are read as their {'last' if ends else 'first'} days: "
        note += f"{date.fromordinal(first_day)} is {span}"
        return _RowDates(RowPeriod(TimeStep.WEEK), {row: day - back for row, day in days.items()}, (note,))
    return _RowDates()


def _doubts(stamps: Mapping[int, Stamp], written: _RowDates, claim: str) -> Iterator[Mistake]:
    """Why dates of days or hours may stand at the end of their periods, though no time says so, or no text."""
    first_row, last_row = (choose(stamps, key=lambda row: stamps[row].minutes) for choose in (min, max))
    first, last, per_day = stamps[first_row], stamps[last_row], written.period.per_day
    if written.period.step is TimeStep.TEN_DAYS and first.day in _TEN_BEGINS:
        whole = False
    elif written.period.step is not TimeStep.DAY:
        return
    elif per_day > 1:
        whole = first.minute == MINUTES // per_day and last.minute == 0
    else:
        whole = first.day == 2 and last.day == 1 and (last.month - first.month) % MONTHS_PER_YEAR == 0
    if not claim and not whole:
        return
    why = f"the record has whole {'years' if per_day == 1 else 'days'} from {first} to {last}"
    why = f'"{shortened(claim)}" says so' if claim else why
    problem = f"each date may stand at the end of its period: {why}"
    expected = "times that say which day it is, or a comment that does"
    mend = 'add the line "# period beginning" if a date is the day or hour that begins with it; if it is the end of '
    mend += 'one, write the time (00:00, or 24:00 of the day before) and add "# period ending"'
    yield Mistake(problem, expected, mend, row=first_row, value=str(first))


def _mostly(which: Iterable[bool]) -> bool:
    true = [*which]
    return sum(true) > _MOSTLY * len(true)


class _PartsOfDays(NamedTuple):
    """Times of rows that most days have, and of others, in minutes of the day."""

    usual: tuple[int, ...]
    others: Mapping[int, tuple[int, ...]]

    def row_dates(self, stamps: Mapping[int, Stamp], days: Mapping[int, int]) -> _RowDates:
        """What such dates say: days that lack a row are missing, but for one of 23 hours where there is one of 25."""
        whole = set(self.usual) if len(self.usual) == 24 else set[int]()
        lengths = {day: len(minutes) for day, minutes in self.others.items() if set(minutes) <= whole}
        long, short = ([day for day, length in lengths.items() if length == 24 + step] for step in (1, -1))
        weekdays = {day % DAYS_PER_WEEK for day in long}
        short = [day for day in short if day % DAYS_PER_WEEK in weekdays]
        once_a_year = all(
            most <= 1 for each in (long, short) for most in Counter(date.fromordinal(day).year for day in each).values()
        )
        # The record may begin or end between the two; a day that lacks an hour without the other has a gap.
        summer_time = long and short and once_a_year and abs(len(long) - len(short)) <= 1
        rows = {day: lengths[day] for day in (*long, *short)} if summer_time else {}
        notes: tuple[str, ...] = ()
        if rows:
            named = ", ".join(str(date.fromordinal(day)) for day in sorted(rows)[:2])
            notes = (f"days of 23 and 25 hours are read as whole days ({named}{', ...' if len(rows) > 2 else ''})",)
        first, twice = dict[int, int](), dict[int, int]()
        for row, stamp in stamps.items():
            before = first.setdefault(stamp.minutes, row)
            if before != row and days[row] not in rows:
                twice[row] = before
        return _RowDates(
            RowPeriod(TimeStep.DAY, len(self.usual), tuple(sorted(rows.items()))), days, notes, twice=twice
        )


def _rows_of_each_day(stamps: Mapping[int, Stamp]) -> _PartsOfDays | None:
    """The times of rows that most days have, evenly apart, if the other days have no other times; else None."""
    times: dict[int, list[int]] = {}
    for stamp in stamps.values():
        times.setdefault(stamp.day_ordinal, []).append(stamp.minute)
    of_days = {day: tuple(sorted(minutes)) for day, minutes in times.items()}
    usual, count = Counter(of_days.values()).most_common(1)[0]
    if len(usual) < 2 or len(set(usual)) < len(usual) or MINUTES % len(usual):
        return None
    evenly = {after - before for before, after in pairwise(usual)} == {MINUTES // len(usual)}
    others = {day: minutes for day, minutes in of_days.items() if minutes != usual}
    inner = len(of_days) - (min(of_days) in others) - (max(of_days) in others and max(of_days) != min(of_days))
    known = all(set(minutes) <= set(usual) for minutes in others.values())
    return _PartsOfDays(usual, others) if evenly and known and count > _MOSTLY * inner else None


def stamp_mistakes(table: InflowTable, record: Record, first_month: int) -> Iterator[Mistake]:
    """Refuse dates on the first of a month where a comment or whole years say that they end the month before."""
    first, last = record.values[0], record.values[-1]
    why = dates.whole_years_late(first.ordinal, last.ordinal, len(record.values), first_month)
    for comment in reversed(table.comments):
        if says_end(comment.text):
            why = f"the comment in row {comment.number} mentions the end of the month"
    if why:
        mistake = dates.day_after(first.ordinal, why, "write dates as YYYY-MM")
        yield replace(mistake, row=first.row, value=record.first_stamp)


# Rows of years.


def _by_year(table: InflowTable, headings: Sequence[YearHeading], year_at: int, reading: InflowReading) -> Record:
    """Read a table with a column of years, at the place `year_at`, and twelve month columns, as their `headings` say.

    The first column of a month begins the water year. Where that is not January, ``1953/54`` begins in 1953, and so
    does 1953 unless the label, the column's name or the caller says that a water year is named by its end.
    """
    header = table.header.cells
    columns = [(place, heading.month) for place, heading in enumerate(headings) if heading.month]
    first_month = columns[0][1]

    def parse(text: str) -> Year | Mistake:
        year = dates.parse_year(text)
        if isinstance(year, Mistake) or first_month > 1 or not (year.is_pair or year.is_water):
            return year
        mend = "write one year, or begin the columns with the first month of the water year"
        return Mistake("a water year of two calendar years, but the months begin in January", str(year.number), mend)

    years, unnamed = table.parsed(year_at, parse)
    by_end, naming_notes = _naming(headings[year_at], header[year_at], years.values(), first_month, reading.water_year)
    starts = {row: year.number - (by_end and not year.is_pair) for row, year in years.items()}
    cells_of_months = (row.cells[place] for row in table.rows for place, _ in columns)
    style = number_style(cells_of_months, table.delimiter, flows=True)
    numbers = [table.parsed(place, lambda text: style.parsed(text, parse_number)) for place, _ in columns]
    cells = list[StepValue]()
    for row, texts in table.rows if starts else ():
        for (place, month), (understood, _) in zip(columns, numbers, strict=True):
            if row in starts and row in understood:
                ordinal = (starts[row] + (month < first_month)) * MONTHS_PER_YEAR + month - 1
                cells.append(StepValue(ordinal, understood[row], row, header[place], style.plain(texts[place])))
    cells.sort()
    missing = [
        ((starts[each.row] + (month < first_month)) * MONTHS_PER_YEAR + month - 1 if each.row in starts else 0, each)
        for (_, month), (_, wrong) in zip(columns, numbers, strict=True)
        for each in wrong
    ]
    cells, wrong_cells, ends = without_blank_ends(cells, missing)
    flows, no_flows, flow_notes, _ = flows_among(cells, reading.negative, months=True)
    beside = [at for at, name in enumerate(header) if name and headings[at] == YearHeading()]
    beside_names = [header[at] for at in beside]
    mend, written = "delete one of the rows, or correct its year", partial(year_label, later=int(first_month > 1))
    passed_over = (passed_over_note(beside_names, "read the columns of months"),) if beside else ()
    return Record(
        values=flows,
        first_month=first_month,
        beside=tuple(beside),
        unit_texts=tuple((name, of.unit) for name, of in zip(header, headings, strict=True) if of.unit),
        names_water_years=any(year.is_pair or year.is_water for year in years.values()),
        mistakes=(
            *_year_header_mistakes(table, headings, year_at, beside_names, reading),
            *unnamed,
            *_sequence_mistakes(starts, "year", header[year_at], mend, written, (*table.mistakes, *unnamed)),
            *wrong_cells,
            *no_flows,
        ),
        notes=(*passed_over, *style.notes, *filter(None, [ends]), *flow_notes, *naming_notes),
    )


def _naming(
    heading: YearHeading, column: str, years: Collection[Year], first_month: int, asked: str | None
) -> tuple[bool, tuple[str, ...]]:
    """Whether a water year is named by the calendar year in which it ends, and a note on that, if years have one."""
    if first_month == 1:
        return False, ()
    by_end, who = heading.year in WATER_YEAR_NAMES, f" (by the column name {column})"
    if asked is not None:
        by_end, who = asked == "ends", " (as asked)"
    elif any(year.is_water for year in years):
        by_end, who = True, " (by the label WY)"
    single = next((year for year in years if not year.is_pair), None)
    if single is None:
        return by_end, ()
    start = single.number - by_end
    begin, end = f"{MONTH_NAMES[first_month - 1]} {start}", f"{MONTH_NAMES[first_month - 2]} {start + 1}"
    verb, who = "ends" if by_end else "begins", who if by_end or asked else ""
    return by_end, (f"a row is named by the year in which it {verb}: {single.number} is {begin} to {end}{who}",)


def _year_header_mistakes(
    table: InflowTable, headings: Sequence[YearHeading], year_at: int, beside: Sequence[str], reading: InflowReading
) -> Iterator[Mistake]:
    """What is wrong with the header of a table by years, and with what the caller asks of it."""
    header, at_header = table.header.cells, table.at_header
    columns = [(place, heading.month) for place, heading in enumerate(headings) if heading.month]
    months = [month for _, month in columns]
    if reading.column is not None:
        mend = "leave it out: columns that are no months are passed over"
        problem = "the file has a column for each month"
        yield Mistake(problem, "a table by date", mend, column="column", value=reading.column)
    for name in beside:  # losses beside the months of the inflow, which would be passed over
        nearly = nearly_named(name)
        if nearly is not None or companion_of(name) is not None:
            problem = nearly.problem if nearly else "a table by years has no losses or prices of its months"
            mend = "give a table by date, a row a month; or delete the column"
            yield at_header(problem, "the year and twelve months of inflow", mend, name)
    for place, name in enumerate(header):
        if place != year_at and not name:
            mend = "delete the column, or the extra delimiter in the header"
            yield at_header("a column without a name", "the year and twelve months", mend, name)
        elif place != year_at and headings[place].year:
            yield at_header("a second year column", "the year and twelve months", "delete one of them", name)
    for (_, earlier), (place, month) in combinations(columns, 2):
        if earlier == month:
            problem, mend = f"a second column for {MONTH_NAMES[month - 1]}", "delete or rename one of them"
            yield at_header(problem, "one column per month", mend, header[place])
    missing = [name for month, name in enumerate(MONTH_NAMES, start=1) if month not in months]
    if missing:
        problem, mend = f"no column for {', '.join(missing)}", "add the missing columns, named m01 to m12 or Jan to Dec"
        yield at_header(problem, "twelve month columns", mend, value=", ".join(beside) or None)
    elif len(months) == MONTHS_PER_YEAR and any((month - months[0] - at) % 12 for at, month in enumerate(months)):
        expected, mend = "consecutive months, from the first month of the water year", "move the columns together with"
        problem = "the month columns are out of order"
        yield at_header(problem, expected, f"{mend} their values", value=", ".join(header))
    if months[0] == 1 and headings[year_at].year in WATER_YEAR_NAMES:
        problem = "the column names water years, but the months begin in January"
        mend = 'begin the columns with the first month of the water year, or name the column "year" for calendar years'
        yield at_header(problem, "the months from the first of the water year on", mend, header[year_at])
