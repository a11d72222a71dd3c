"""The record of one series in a CSV file -> `Inflow`: every mistake found at once, with row and column."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.ranges import FLOW_M3S
from reservoir.hydro.water_years import whole_years, whole_years_of
from reservoir.io.inflow_csv.averaging import Steps, averaged
from reservoir.io.inflow_csv.caveats import caveat_mistakes, caveat_of
from reservoir.io.inflow_csv.cells import FILL_IN
from reservoir.io.inflow_csv.companions import companion_arrays, companion_notes
from reservoir.io.inflow_csv.dates import Month
from reservoir.io.inflow_csv.doubtful_values import thousands_mistakes
from reservoir.io.inflow_csv.layouts import read_record
from reservoir.io.inflow_csv.likely_cause import likely_cause
from reservoir.io.inflow_csv.one_series import series_mistakes
from reservoir.io.inflow_csv.record import MOST_YEARS, Record, StepValue, too_many_years
from reservoir.io.inflow_csv.row_period import dates_of
from reservoir.io.inflow_csv.stamps import stamp_mistakes, stamp_notes
from reservoir.io.inflow_csv.table import InflowTable, read_table
from reservoir.io.inflow_csv.units import HM3_PER_M3S_DAY, InflowUnit, choose_unit
from reservoir.io.inflow_reading import InflowReading, too_long
from reservoir.io.negative_values import negative_values
from reservoir.io.workbook import is_workbook

#: Calendar months.
MONTHS = range(1, MONTHS_PER_YEAR + 1)


def read_record_file(file: str, reading: InflowReading, first_month: int | None) -> Inflow:
    """Read the record of one series, see `reservoir.read_inflow`.

    Raises
    ------
    InputError
        With every mistake in the file and in the call.
    """
    table = read_table(file)
    record = read_record(table, reading)
    chosen = choose_unit(table, record, reading.unit)
    begins = int(first_month) if first_month is not None and first_month in MONTHS else record.first_month
    whole = len(record.values) // MONTHS_PER_YEAR if record.period.is_month else 0
    mistakes = [
        *([too_many_years(whole)] if whole > MOST_YEARS else ()),
        *([too_long(record.period.step, reading.step)] if record.period.is_longer_than(reading.step) else ()),
        *table.mistakes,
        *record.mistakes,
        *chosen.mistakes,
        *caveat_mistakes(table),
        *_month_mistakes(table, record, first_month),
        *thousands_mistakes(record.values),
        *stamp_mistakes(table, record, begins),
    ]
    if not mistakes and not record.values:
        mistakes = [Mistake("no row has a value", mend=FILL_IN, row=table.header.number)]
    if not mistakes:
        rows = list(dict.fromkeys(value.row for value in record.values))
        mistakes = [*series_mistakes(table, record.beside, rows, years=record.value_column is None)]
    if mistakes:
        cause = likely_cause(table, mistakes)
        raise InputError([*([cause] if cause else ()), *mistakes])
    notes = (*record.notes, *stamp_notes(record))
    as_written = record
    if reading.negative == "zero":
        record = replace(record, values=tuple(each._replace(value=max(each.value, 0.0)) for each in record.values))
    if record.period.is_month:
        first, months = record.values[0].ordinal, len(record.values)
        within, calendar, left_out = whole_years(first, months, begins, record.first_month)
    else:
        steps = Steps(reading.step, begins, reading.missing_days)
        by_step, touched = averaged(record, steps, amounts=chosen.unit.is_volume)
        notes, record = (*notes, *by_step.notes[len(record.notes) :]), by_step
        within, calendar, left_out = whole_years_of(touched, record.values[0].ordinal, len(record.values))
    inside = record.values[within]
    flow = _flow_m3s(inside, calendar, chosen.unit, of_days=not record.period.is_month)
    with np.errstate(over="ignore"):  # no flow is so large, but in months that are left out
        negative = _negative_notes(as_written, chosen.unit, reading.negative)
    beside = companion_arrays(record.companions, [value.row for value in inside], calendar.steps)
    losses = companion_notes(beside, record.companion_names, calendar.steps)
    return Inflow(
        flow,
        calendar,
        notes=(*notes, *losses, *left_out, *negative),
        caveat=caveat_of(table),
        source=file,
        sha256=hashlib.sha256(table.content).hexdigest(),
        unit=chosen.unit.name,
        unit_from=chosen.said_by,
        content=b"" if is_workbook(table.content) else table.content,
        reading=reading.as_dict(),
        allow_negative=reading.negative == "keep",
        **beside,
    )


def _negative_notes(record: Record, unit: InflowUnit, negative: str | None) -> tuple[str, ...]:
    """How many values are negative, and how much water that is, if they are not refused."""
    if negative is None:
        return ()
    values = np.array([each.value for each in record.values])
    ordinals = np.array([each.ordinal for each in record.values])
    days: NDArray[Any]
    if record.period.is_month:
        first = Month.at(int(ordinals[0]))
        days = Calendar(first.year, 1, first.month, len(values)).days[0]
        named = [str(Month.at(each.ordinal)) for each in record.values]
    else:
        days = record.period.lengths(ordinals) / record.period.per_day
        named = [str(day) for day in dates_of(ordinals)]
    volumes = values * unit.size * (1.0 if unit.is_volume else days * HM3_PER_M3S_DAY)
    return tuple(negative_values(volumes, named).note(negative))


def _month_mistakes(table: InflowTable, record: Record, first_month: int | None) -> Iterator[Mistake]:
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


def _flow_m3s(
    inside: Sequence[StepValue], calendar: Calendar, unit: InflowUnit, *, of_days: bool
) -> NDArray[np.float64]:
    """Mean flow of each step (m3/s), shape (years, steps); values may be means of days."""
    values = np.array([value.value for value in inside]).reshape(-1, calendar.steps)
    with np.errstate(over="ignore"):  # what is too large is refused below
        flow = unit.flow_of_days_m3s(values) if of_days else unit.flow_m3s(values, calendar)
    excessive = np.flatnonzero(np.abs(flow) > FLOW_M3S.most)
    if excessive.size:
        problem = f"the flow is too large for a river, if the unit is {unit.name}"
        expected = f"a mean flow of at most {FLOW_M3S.most:,.0f} m3/s"
        mend = 'check the value; if the unit is another, add a comment line such as "# unit: hm3"'
        raise InputError(inside[index].mistake(problem, expected, mend) for index in excessive.tolist())
    return flow
