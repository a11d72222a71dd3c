"""The long layout: one row per month, or shorter period, with its date and its value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.cells import is_missing, parse_number
from reservoir.io.inflow_csv.companions import companion_of, read_companions
from reservoir.io.inflow_csv.date_columns import DateColumns
from reservoir.io.inflow_csv.dates import Month, Stamp
from reservoir.io.inflow_csv.doubtful_values import flows_among
from reservoir.io.inflow_csv.number_style import number_style
from reservoir.io.inflow_csv.record import PeriodIndex, Record, StepValue, TimeAxis, sequence_mistakes
from reservoir.io.inflow_csv.row_dates import RowDates
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.value_column import value_column
from reservoir.io.inflow_reading import InflowReading

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
