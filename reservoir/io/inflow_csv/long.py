"""The long layout: one row per month, with its date and its value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.cells import Month, parse_date, parse_flow
from reservoir.io.inflow_csv.companions import COMPANIONS, is_companion, read_companions
from reservoir.io.inflow_csv.record import MonthlyRecord, MonthlyValue, PeriodIndex, TimeAxis, sequence_mistakes
from reservoir.io.inflow_csv.table import InflowTable

#: More rows than this in one month, or more months of several rows, are a record of shorter steps, not a slip.
_MOST_SLIPS = 3


def read_long(table: InflowTable) -> MonthlyRecord:
    """Read a table with a column ``date`` and one column of values, of any name, besides known companions."""
    date_column = [cell.casefold() for cell in table.header.cells].index("date")
    others = [index for index in range(len(table.header.cells)) if index != date_column]
    companion_columns = [index for index in others if is_companion(table.header.cells[index])]
    value_columns = [index for index in others if index not in companion_columns]
    dates, undated = table.parsed(date_column, parse_date)
    mistakes = (*undated, *_sequence_mistakes(table, dates, undated, date_column))
    if len(value_columns) != 1:
        return MonthlyRecord(mistakes=(not_one_value(table, value_columns), *mistakes))
    (value_column,) = value_columns
    name = table.header.cells[value_column]
    flows, wrong = table.parsed(value_column, parse_flow)
    companions, wrong_beside = read_companions(table, companion_columns)
    return MonthlyRecord(
        readings=tuple(
            sorted(
                MonthlyValue(dates[number], flows[number], number, name, cells[value_column])
                for number, cells in table.rows
                if number in dates and number in flows
            )
        ),
        value_column=name,
        unit_texts=((name, name),),
        first_stamp=_first_stamp([row.cells[date_column] for row in table.rows]),
        companions=companions,
        mistakes=(*mistakes, *wrong, *wrong_beside),
    )


def _first_stamp(stamps: Sequence[str]) -> str:
    """The first of the dates, if every one is the first day of a month."""
    return stamps[0] if stamps and all(stamp[7:10] == "-01" for stamp in stamps) else ""


def _sequence_mistakes(
    table: InflowTable, dates: Mapping[int, Month], undated: Sequence[Mistake], column: int
) -> Iterator[Mistake]:
    stamps = [PeriodIndex(date.ordinal, row) for row, date in dates.items()]
    scale = TimeAxis(
        "month",
        column=table.header.cells[column],
        mend_double="delete one of the rows; average daily values to monthly values first",
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
    mend = "average the flows of each month first, or keep only one station"
    return Mistake(problem, "one row per month", mend, row=rows[1], column=scale.column)


def not_one_value(table: InflowTable, columns: Sequence[int]) -> Mistake:
    """Refuse a table that has none, or several, columns of values beside the date."""
    names = [table.header.cells[index] or "(no name)" for index in columns]
    problem, mend = "no column besides the date", "add an inflow column"
    if names:
        problem = f"{len(names)} columns besides the date: {', '.join(names)}"
        mend = f"keep only the inflow column, and {', '.join(COMPANIONS)} if there are any"
    return table.at_header(problem, "one value column, such as inflow_m3s", mend)
