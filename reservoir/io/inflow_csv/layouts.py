"""Determine the layout of an inflow file from its header."""

from __future__ import annotations

import re

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.io.inflow_csv.date_columns import date_columns
from reservoir.io.inflow_csv.long import read_long
from reservoir.io.inflow_csv.month_headers import month_columns, year_column
from reservoir.io.inflow_csv.record import MOST_YEARS, Record, too_many_years
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.wide import read_wide
from reservoir.io.inflow_reading import InflowReading

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
