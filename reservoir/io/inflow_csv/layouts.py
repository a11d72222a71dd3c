"""Determine the layout of an inflow file from its header."""

from __future__ import annotations

import re

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.io.inflow_csv.long import read_long
from reservoir.io.inflow_csv.month_headers import month_columns, year_column
from reservoir.io.inflow_csv.record import MOST_YEARS, MonthlyRecord, too_many_years
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.wide import read_wide

_LAYOUTS = '"year,m01,...,m12" with one row per year, or "date,inflow_m3s" with one row per month'


def read_record(table: InflowTable) -> MonthlyRecord:
    """Read the months of `table`, whichever layout its header announces.

    Returns
    -------
    MonthlyRecord
        With every mistake found; its readings are to be used only if there is none.
    """
    names = [cell.casefold() for cell in table.header.cells]
    if "date" in names and len(month_columns(table.header.cells)) < MONTHS_PER_YEAR:
        return read_long(table)
    year_at = year_column(table.header.cells)
    if year_at is not None and month_columns(table.header.cells):
        # Told at once: every cell of so many rows could be wrong.
        rows = len(table.rows)
        if rows > MOST_YEARS:
            return MonthlyRecord(mistakes=(too_many_years(rows),))
        return read_wide(table, year_at)
    problem, mend = _unknown_header(names)
    mistake = table.at_header(problem, _LAYOUTS, mend, value=", ".join(table.header.cells))
    return MonthlyRecord(mistakes=(mistake,))


def _unknown_header(names: list[str]) -> tuple[str, str]:
    if re.match(r"\d{3,4}\b", names[0]):
        return "the header line is missing: this line has data", "add a line with the column names above it"
    if len(names) == 1:
        return "the header has only one column", "separate the columns with commas, semicolons or tabs"
    if "date" in names and "year" not in names:
        return "the header has a date and months", 'name the column of years "year", and write only years in it'
    if "year" in names and "month" in names:
        return "year and month are in two columns", 'join them into one column "date", written as 1953-01'
    if "year" in names:
        return "the header has a year but no months", "name the twelve months m01 to m12, or Jan to Dec"
    if month_columns(names):
        return "the header has months but no year", 'name the column of years "year"'
    return "the header has neither a year nor a date", 'name the first column "year" or "date"'
