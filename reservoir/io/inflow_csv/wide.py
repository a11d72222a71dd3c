"""The wide layout: one row per year, one column per month."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations

from reservoir.errors import Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.year_labels import year_label
from reservoir.io.inflow_csv.cells import Month, Year, parse_flow, parse_year
from reservoir.io.inflow_csv.month_headers import MonthColumn, month_columns, unit_texts
from reservoir.io.inflow_csv.record import MonthlyRecord, MonthlyValue, PeriodIndex, TimeAxis, sequence_mistakes
from reservoir.io.inflow_csv.table import InflowTable


def read_wide(table: InflowTable, year_at: int) -> MonthlyRecord:
    """Read a table with a column of years, at the place `year_at`, and twelve month columns.

    The first column of a month begins the water year. Where that is not January, a row named ``1953`` or ``1953/54``
    begins in 1953.
    """
    columns = month_columns(table.header.cells)
    first_month = columns[0].month
    years, unnamed = table.parsed(year_at, partial(_parse_year, first_month=first_month))
    flows = [table.parsed(column.position, parse_flow) for column in columns]
    axis = TimeAxis(
        "year",
        column=table.header.cells[year_at],
        mend_double="delete one of the rows, or correct its year",
        written=partial(year_label, later=int(first_month > 1)),
        unreadable=table.unreadable(unnamed),
    )
    return MonthlyRecord(
        readings=tuple(sorted(_readings(table, columns, years, [understood for understood, _ in flows]))),
        first_month=first_month,
        unit_texts=unit_texts(table.header.cells),
        names_water_years=any(year.spans_two for year in years.values()),
        mistakes=(
            *_header_mistakes(table, columns, year_at),
            *unnamed,
            *sequence_mistakes([PeriodIndex(year.start, row) for row, year in years.items()], axis),
            *(mistake for _, wrong in flows for mistake in wrong),
        ),
        notes=tuple(_notes(years.values(), first_month)),
    )


def _parse_year(text: str, *, first_month: int) -> Year | Mistake:
    year = parse_year(text)
    if isinstance(year, Year) and year.spans_two and first_month == 1:
        return Mistake(
            "a water year of two calendar years, but the months begin in January",
            expected=str(year.start),
            mend="write one year, or begin the columns with the first month of the water year",
        )
    return year


def _readings(
    table: InflowTable,
    columns: Sequence[MonthColumn],
    years: Mapping[int, Year],
    flows: Sequence[Mapping[int, float]],
) -> Iterator[MonthlyValue]:
    first, names = columns[0].month, table.header.cells
    for number, cells in table.rows:
        if number in years:
            for (position, month), flow in zip(columns, flows, strict=True):
                if number in flow:
                    when = Month(years[number].start + (month < first), month)
                    yield MonthlyValue(when, flow[number], number, names[position], cells[position])


def _notes(years: Iterable[Year], first_month: int) -> Iterator[str]:
    plain = [year.start for year in years if not year.spans_two]
    if first_month != 1 and plain:
        begin, end = f"{MONTH_NAMES[first_month - 1]} {plain[0]}", f"{MONTH_NAMES[first_month - 2]} {plain[0] + 1}"
        yield f"a row is named by the year in which it begins: {plain[0]} is {begin} to {end}"


def _header_mistakes(table: InflowTable, columns: Sequence[MonthColumn], year_at: int) -> Iterator[Mistake]:
    known = {column.position for column in columns} | {year_at}
    for position, name in enumerate(table.header.cells):
        if position not in known:
            problem, mend = _not_a_month(name)
            yield table.at_header(problem, "the year and twelve months", mend, name)
    for earlier, column in combinations(columns, 2):
        if earlier.month == column.month:
            problem = f"a second column for {MONTH_NAMES[column.month - 1]}"
            name = table.header.cells[column.position]
            yield table.at_header(problem, "one column per month", "delete or rename one of them", name)
    months = [column.month for column in columns]
    missing = [name for month, name in enumerate(MONTH_NAMES, start=1) if month not in months]
    if missing:
        mend = "add the missing columns, named m01 to m12 or Jan to Dec"
        yield table.at_header(f"no column for {', '.join(missing)}", "twelve month columns", mend)
    elif len(months) == MONTHS_PER_YEAR and not _consecutive(months):
        yield table.at_header(
            "the month columns are out of order",
            "consecutive months, from the first month of the water year",
            "move the columns together with their values",
            value=", ".join(table.header.cells),
        )


def _consecutive(months: Sequence[int]) -> bool:
    return all((month - months[0]) % MONTHS_PER_YEAR == step for step, month in enumerate(months))


def _not_a_month(name: str) -> tuple[str, str]:
    if not name:
        return "a column without a name", "delete the column, or the extra delimiter in the header"
    if name.casefold() == "year":
        return "a second year column", "delete one of them"
    return "a column that is neither the year nor a month", "delete the column, or rename it after its month"
