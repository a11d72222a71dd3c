"""The record of one series in a CSV file -> `Inflow`: every mistake found at once, with row and column."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.ranges import FLOW_M3S
from reservoir.io.inflow_csv.caveats import caveat_mistakes, caveat_of
from reservoir.io.inflow_csv.companions import companion_arrays
from reservoir.io.inflow_csv.doubtful_values import code_mistakes, code_notes, thousands_mistakes
from reservoir.io.inflow_csv.layouts import read_record
from reservoir.io.inflow_csv.record import MOST_YEARS, MonthlyRecord, MonthlyValue, too_many_years
from reservoir.io.inflow_csv.stamps import stamp_mistakes, stamp_notes
from reservoir.io.inflow_csv.table import InflowTable, read_table
from reservoir.io.inflow_csv.units import InflowUnit, choose_unit
from reservoir.io.inflow_csv.years import whole_years

#: Calendar months.
MONTHS = range(1, MONTHS_PER_YEAR + 1)


def read_record_file(file: str, unit: str | None, first_month: int | None) -> Inflow:
    """Read the record of one series, see `reservoir.read_inflow`.

    Raises
    ------
    InputError
        With every mistake in the file and in the call.
    """
    table = read_table(file)
    record = read_record(table)
    chosen = choose_unit(table, record, unit)
    begins = int(first_month) if first_month is not None and first_month in MONTHS else record.first_month
    whole = len(record.readings) // MONTHS_PER_YEAR
    mistakes = [
        *([too_many_years(whole)] if whole > MOST_YEARS else ()),
        *table.mistakes,
        *record.mistakes,
        *chosen.mistakes,
        *caveat_mistakes(table),
        *_month_mistakes(table, record, first_month),
        *code_mistakes(record.readings),
        *thousands_mistakes(record.readings),
        *stamp_mistakes(table, record, begins),
    ]
    if mistakes:
        raise InputError(mistakes)
    inside, calendar, left_out = whole_years(record.readings, begins, record.first_month)
    return Inflow(
        _flow_m3s(inside, calendar, chosen.unit),
        calendar,
        notes=(*record.notes, *stamp_notes(record), *left_out, *code_notes(record.readings)),
        caveat=caveat_of(table),
        source=file,
        sha256=hashlib.sha256(table.content).hexdigest(),
        unit=chosen.unit.name,
        unit_from=chosen.said_by,
        content=table.content,
        **companion_arrays(record.companions, [reading.row for reading in inside], calendar.steps),
    )


def _month_mistakes(table: InflowTable, record: MonthlyRecord, first_month: int | None) -> Iterator[Mistake]:
    if first_month is None:
        return
    if first_month not in MONTHS:
        yield no_month(first_month)
    elif record.names_water_years and first_month != record.first_month:
        yield table.at_header(
            f"the record's water years (such as 1953/54) begin in {MONTH_NAMES[record.first_month - 1]}, "
            f"those of the reservoir in {MONTH_NAMES[first_month - 1]}",
            f"first month {record.first_month}",
            f"set first_month = {record.first_month} in the reservoir file, or name each row by the year in which it "
            "begins",
            value=first_month,
        )


def no_month(found: int) -> Mistake:
    """Refuse what is no calendar month."""
    mend = "give the calendar month in which the water year begins"
    return Mistake("is not a month", "1 to 12", mend, column="first_month", value=found)


def _flow_m3s(readings: Sequence[MonthlyValue], calendar: Calendar, unit: InflowUnit) -> NDArray[np.float64]:
    values = np.array([reading.value for reading in readings]).reshape(-1, MONTHS_PER_YEAR)
    flow = unit.flow_m3s(values, calendar)
    excessive = np.flatnonzero(flow > FLOW_M3S.most)
    if excessive.size:
        problem = f"the flow is too large for a river, if the unit is {unit.name}"
        expected = f"a mean flow of at most {FLOW_M3S.most:,.0f} m3/s"
        mend = 'check the value; if the unit is another, add a comment line such as "# unit: hm3"'
        raise InputError(readings[index].mistake(problem, expected, mend) for index in excessive.tolist())
    return flow
