"""Determine the layout of an inflow file from its header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.time_step import DAYS_PER_WEEK, TimeStep
from reservoir.io.inflow_csv.cells import is_missing, parse_number
from reservoir.io.inflow_csv.companions import companion_of, read_companions
from reservoir.io.inflow_csv.date_columns import DateColumns, date_columns
from reservoir.io.inflow_csv.dates import MINUTES, NEXT_DAY, Month, Stamp
from reservoir.io.inflow_csv.doubtful_values import flows_among
from reservoir.io.inflow_csv.month_headers import month_columns, year_column
from reservoir.io.inflow_csv.number_style import number_style
from reservoir.io.inflow_csv.record import (
    MOST_YEARS,
    PeriodIndex,
    Record,
    StepValue,
    TimeAxis,
    sequence_mistakes,
    too_many_years,
)
from reservoir.io.inflow_csv.row_period import A_MONTH, RowPeriod
from reservoir.io.inflow_csv.stamps import says_begin, says_end
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.value_column import value_column
from reservoir.io.inflow_csv.wide import read_wide
from reservoir.io.inflow_reading import InflowReading

#: Rows of a record follow each other by what they stand for more often than this.
_MOSTLY = 0.5
#: Days on which ten-day periods begin, and on which the first two end.
_TEN_BEGINS, _TEN_ENDS = frozenset({1, 11, 21}), frozenset({10, 20})
_TEN_DAYS_LAST = range(8, 12)
_WEEK_ENDS = re.compile(r"\bweek[- _]?end(?:s|ing)\b|\b(?:ends?|last day) of (?:the |each |every )?week\b", re.I)


@dataclass(frozen=True)
class RowDates:
    """What the dates of a table by date say.

    Parameters
    ----------
    period : RowPeriod
        What rows stand for.
    first_days : mapping of int to int
        Number of the first day of each row's period, by row; empty of months.
    notes : tuple of str
        How the dates were read.
    doubts : tuple of Mistake
        Why nobody knows which periods they name.
    """

    period: RowPeriod
    first_days: Mapping[int, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[Mistake, ...] = ()

    @classmethod
    def of(cls, stamps: Mapping[int, Stamp], texts: Sequence[str], claims: Sequence[str]) -> RowDates:
        """Recognise them.

        Parameters
        ----------
        stamps : mapping of int to Stamp
            By row.
        texts : sequence of str
            Comments and names of columns, which may say that a week is named by its last day.
        claims : sequence of str
            Those that may say that all dates stand at the ends of their periods.
        """
        written = cls._as_written(stamps, texts)
        if written.period.is_month:
            late = [row for row, stamp in stamps.items() if stamp.minute == MINUTES and not stamp.ends_month]
            return replace(written, doubts=tuple(replace(NEXT_DAY, row=row, value=str(stamps[row])) for row in late))
        said = next((text for text in claims if says_end(text)), "")
        if any(stamp.minute == MINUTES for stamp in stamps.values()):
            said = "24:00"
        elif any(map(says_begin, claims)):
            return written
        elif said and written.period.step is TimeStep.WEEK and not any(stamp.timed for stamp in stamps.values()):
            return cls._as_written(stamps, (*texts, "week ending"))
        elif not said or not any(stamp.timed for stamp in stamps.values()):
            return replace(written, doubts=tuple(_doubts(stamps, written, said)))
        length = MINUTES // written.period.per_day
        begins = {row: _begin(stamp, length) for row, stamp in stamps.items()}
        found = cls._as_written(begins, (*texts, "week ending"))
        row = min(stamps, key=lambda each: stamps[each].minutes)
        note = f'times are read as the ends of their periods ("{shortened(said)}"): {stamps[row]} ends {begins[row]}'
        return replace(found, notes=(note, *found.notes))

    @classmethod
    def _as_written(cls, stamps: Mapping[int, Stamp], texts: Sequence[str]) -> RowDates:
        """What they say if each names the period that it stands in."""
        if len(stamps) < 2 or not all(stamp.day for stamp in stamps.values()):
            return cls(A_MONTH)
        days = {row: stamp.day_ordinal for row, stamp in stamps.items()}
        gaps = [after - before for before, after in pairwise(sorted(days.values()))]
        per_day = _rows_of_each_day(stamps.values())
        if per_day:
            return cls(RowPeriod(TimeStep.DAY, per_day), days)
        if _mostly(gap == 1 for gap in gaps):
            return cls(RowPeriod(TimeStep.DAY), days)
        if _mostly(gap in _TEN_DAYS_LAST for gap in gaps) and (named := _ten_days(stamps.values())):
            first = {row: stamp.day_ordinal - stamp.day + _first_of_ten(stamp.day) for row, stamp in stamps.items()}
            note = f"dates on {named} of months are read as ten-day periods"
            return cls(RowPeriod(TimeStep.TEN_DAYS), first, (note,))
        if _mostly(gap == DAYS_PER_WEEK for gap in gaps):
            return cls._weeks(days, texts)
        return cls(A_MONTH)

    @classmethod
    def _weeks(cls, days: Mapping[int, int], texts: Sequence[str]) -> RowDates:
        ends = any(map(_WEEK_ENDS.search, texts))
        back = (DAYS_PER_WEEK - 1) * ends
        first = min(days.values())
        span = f"{date.fromordinal(first)} is {' to '.join(map(str, _week(first - back)))}"
        note = f"dates of weeks are read as their {'last' if ends else 'first'} days: {span}"
        return cls(RowPeriod(TimeStep.WEEK), {row: day - back for row, day in days.items()}, (note,))

    def mistakes(self, column: str) -> Iterator[Mistake]:
        """Periods that stand twice, and weeks that overlap; those that are missing are counted by step."""
        yield from (replace(doubt, column=column) for doubt in self.doubts)
        if self.period.per_day > 1:
            return
        noun = self.period.step.noun
        rows: dict[int, int] = {}
        for row, day in self.first_days.items():
            first = rows.setdefault(day, row)
            if first != row:
                problem, mend = f"the {noun} appears twice, first in row {first}", "delete one of the rows"
                value = date.fromordinal(day).isoformat()
                yield Mistake(problem, f"one row per {noun}", mend, row=row, column=column, value=value)
        if self.period.step is TimeStep.WEEK:
            for before, after in pairwise(sorted(rows)):
                if (after - before) % DAYS_PER_WEEK:
                    problem = f"is {after - before} days after the row before"
                    expected, mend = "dates seven days apart", "correct the date"
                    yield Mistake(problem, expected, mend, row=rows[after], column=column)


def _begin(stamp: Stamp, length: int) -> Stamp:
    """The time at which a period of a part of a day begins; of a day or longer, its last day."""
    if length < MINUTES:
        return Stamp.at(stamp.minutes - length)
    return Stamp.at((stamp.minutes - MINUTES // 2) // MINUTES * MINUTES)._replace(timed=False)


def _doubts(stamps: Mapping[int, Stamp], written: RowDates, said: str) -> Iterator[Mistake]:
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
        whole = first.day == 2 and last.day == 1 and last.month.month == first.month.month
    if not said and not whole:
        return
    why = f'"{shortened(said)}" says so' if said else f"the record has whole days from {first} to {last}"
    if not said and per_day == 1:
        why = f"the record has whole years from {first} to {last}"
    problem = f"each date may stand at the end of its period: {why}"
    expected = "times that say which day it is, or a comment that does"
    mend = (
        'add the line "# period beginning" if a date is the day or hour that begins with it; if it is the end of one, '
    )
    mend += 'write the time (00:00, or 24:00 of the day before) and add "# period ending"'
    yield Mistake(problem, expected, mend, row=first_row, value=str(first))


def _mostly(found: Iterable[bool]) -> bool:
    each = list(found)
    return sum(each) > _MOSTLY * len(each)


def _ten_days(stamps: Iterable[Stamp]) -> str:
    """How ten-day periods are named by days of the month; empty where they are not."""
    some = list(stamps)
    days = {stamp.day for stamp in some}
    if days <= _TEN_BEGINS:
        return "the 1st, the 11th and the 21st"
    if all(stamp.day in _TEN_ENDS or stamp.ends_month for stamp in some):
        return "the 10th, the 20th and the last day"
    return ""


def _first_of_ten(day: int) -> int:
    return 1 + 10 * min((day - 1) // 10, 2)


def _week(first: int) -> tuple[date, date]:
    return date.fromordinal(first), date.fromordinal(first + DAYS_PER_WEEK - 1)


def _rows_of_each_day(stamps: Iterable[Stamp]) -> int:
    """Rows of a day, if all days have rows at the same times, evenly apart; else 0.

    The first and the last day may lack some.
    """
    times: dict[int, list[int]] = {}
    for stamp in stamps:
        times.setdefault(stamp.day_ordinal, []).append(stamp.minute)
    usual, _ = Counter(tuple(sorted(each)) for each in times.values()).most_common(1)[0]
    if len(usual) < 2 or len(set(usual)) < len(usual):
        return 0
    evenly = {after - before for before, after in pairwise(usual)} == {MINUTES // len(usual)}
    ends: Sequence[int] = (min(times), max(times))
    others = (each for day, each in times.items() if day not in ends)
    alike = all(tuple(sorted(each)) == usual for each in others) and all(set(times[day]) <= set(usual) for day in ends)
    once = all(len(set(times[day])) == len(times[day]) for day in ends)
    return len(usual) if evenly and alike and once and MINUTES % len(usual) == 0 else 0


#: More rows than this in one month, or more months of several rows, are a record of shorter steps, not a slip.
_MOST_SLIPS = 3


def read_long(table: InflowTable, date: DateColumns, reading: InflowReading) -> Record:
    """Read a table with dates, in one column or several, and a column of values, besides known companions.

    Raises
    ------
    InputError
        If the column of values is not clear.
    """
    found = value_column(table, date.places, reading.column)
    header, place = table.header.cells, found.place
    stamps, undated = date.stamps(table)
    said = tuple(comment.text for comment in table.comments)
    dates = RowDates.of(stamps, (*header, *said), (*said, *(header[at] for at in (*date.places, place))))
    is_month, told_at = dates.period.is_month, date.name(table)
    style = number_style((row.cells[place] for row in table.rows), table.delimiter)
    numbers, wrong = table.parsed(place, lambda text: style.parsed(text, parse_number))
    companions, wrong_beside = read_companions(table, found.companions)
    ordinals = {row: stamp.month.ordinal for row, stamp in stamps.items()} if is_month else dates.first_days
    out_of_order = [*dates.mistakes(told_at)]
    if is_month:
        out_of_order += _month_mistakes(table, ordinals, undated, told_at)
    cells = sorted(
        StepValue(ordinals[row.number], numbers[row.number], row.number, header[place], style.plain(row.cells[place]))
        for row in table.rows
        if row.number in ordinals and row.number in numbers
    )
    flows = flows_among(cells, reading.negative, months=is_month)
    return Record(
        values=flows.values,
        period=dates.period,
        value_column=header[place],
        unit_texts=((header[place], header[place]),),
        first_stamp=_first_stamp(table, date, stamps) if is_month else "",
        beside=found.passed_over,
        companions=companions,
        companion_names={known.field: header[at] for at in found.companions if (known := companion_of(header[at]))},
        mistakes=(
            *found.mistakes(table),
            *undated,
            *out_of_order,
            *(each for each in wrong if is_month or not is_missing(str(each.value))),
            *flows.mistakes,
            *wrong_beside,
        ),
        notes=(*found.notes(header), *style.notes, *dates.notes, *flows.notes, *flows.codes),
        codes=flows.codes,
    )


def _first_stamp(table: InflowTable, date: DateColumns, stamps: Mapping[int, Stamp]) -> str:
    """The first of the dates as it is written, if every one is the first day of a month."""
    at_first_day = len(stamps) == len(table.rows) > 0 and all(stamp.day == 1 for stamp in stamps.values())
    return "-".join(table.rows[0].cells[place] for place in date.places) if at_first_day else ""


def _month_mistakes(
    table: InflowTable, ordinals: Mapping[int, int], undated: Sequence[Mistake], column: str
) -> Iterator[Mistake]:
    stamps = [PeriodIndex(ordinal, row) for row, ordinal in ordinals.items()]
    scale = TimeAxis(
        "month",
        column=column,
        mend_double="delete one of the rows; average values of shorter steps than a month first",
        written=lambda ordinal: str(Month.at(ordinal)),
        unreadable=table.unreadable(undated),
    )
    rows_in = Counter(stamp.ordinal for stamp in stamps)
    crowded = [ordinal for ordinal, rows in rows_in.items() if rows > _MOST_SLIPS]
    doubled = [ordinal for ordinal, rows in rows_in.items() if rows > 1]
    if len(doubled) > max(_MOST_SLIPS, len(rows_in) / 2):
        crowded = doubled
    if crowded:
        yield _shorter_steps(stamps, min(crowded), scale)
    else:
        yield from sequence_mistakes(stamps, scale)


def _shorter_steps(stamps: Sequence[PeriodIndex], crowded: int, scale: TimeAxis) -> Mistake:
    rows = [stamp.row for stamp in stamps if stamp.ordinal == crowded]
    problem = f"the time step is shorter than a month: {len(rows)} rows in {scale.written(crowded)}"
    expected = "one row per month, ten days, week or day, or equally many a day"
    mend = "average the flows of each month or day first, or keep only one station"
    return Mistake(problem, expected, mend, row=rows[1], column=scale.column)


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
    names = [cell.casefold() for cell in table.header.cells]
    date = date_columns(table.header.cells)
    if date is not None and len(month_columns(table.header.cells)) < MONTHS_PER_YEAR:
        if reading.water_year is not None:
            raise InputError(no_names_of_years(reading.water_year))
        return read_long(table, date, reading)
    year_at = year_column(table.header.cells)
    if year_at is not None and month_columns(table.header.cells):
        # Told at once: every cell of so many rows could be wrong.
        rows = len(table.rows)
        if rows > MOST_YEARS:
            return Record(mistakes=(too_many_years(rows),))
        return read_wide(table, year_at, reading)
    problem, mend = _unknown_header(names)
    mistake = table.at_header(problem, _LAYOUTS, mend, value=", ".join(table.header.cells))
    return Record(mistakes=(mistake,))


def no_names_of_years(asked: str) -> Mistake:
    """Refuse to name water years by one of their years where dates say which they are."""
    problem = "the file has dates, which say in which year a month is"
    return Mistake(problem, "a table by years", "leave it out", column="water_year", value=asked)


def _unknown_header(names: list[str]) -> tuple[str, str]:
    if re.match(r"\d{3,4}\b", names[0]):
        return "the header line is missing: this line has data", "add a line with the column names above it"
    if len(names) == 1:
        return "the header has only one column", "separate the columns with commas, semicolons or tabs"
    if "date" in names and "year" not in names:
        return "the header has a date and months", 'name the column of years "year", and write only years in it'
    if "year" in names:
        return "the header has a year but no months", "name the twelve months m01 to m12, or Jan to Dec"
    if month_columns(names):
        return "the header has months but no year", 'name the column of years "year"'
    return "the header has neither a year nor a date", 'name the first column "year" or "date"'
