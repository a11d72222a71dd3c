"""Inflow file (CSV) -> `Inflow`: every mistake found at once, with row and column."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io.inflow_csv.caveats import caveat_mistakes, caveat_of
from reservoir.io.inflow_csv.companions import companion_arrays
from reservoir.io.inflow_csv.doubtful_values import code_mistakes, code_notes, thousands_mistakes
from reservoir.io.inflow_csv.layouts import read_record
from reservoir.io.inflow_csv.record import MOST_YEARS, MonthlyRecord, MonthlyValue, too_many_years
from reservoir.io.inflow_csv.stamps import stamp_mistakes, stamp_notes
from reservoir.io.inflow_csv.table import InflowTable, read_table
from reservoir.io.inflow_csv.units import InflowUnit, choose_unit
from reservoir.io.inflow_csv.years import whole_years

#: No river carries this much; the Amazon in flood carries a third of it.
LARGEST_FLOW_M3S = 1e6

_MONTHS = range(1, MONTHS_PER_YEAR + 1)


def read_inflow(path: str | os.PathLike[str], *, unit: str | None = None, first_month: int | None = None) -> Inflow:
    """Read monthly inflows from a CSV file, one row a year or one row a month.

    Parameters
    ----------
    path : str or path-like
        UTF-8 text of at most 16 MB and 8,000 years; cells separated by commas, semicolons or tabs; lines that begin
        with ``#`` are comments, of which ``# unit: hm3`` and ``# caveat: text`` are understood. The header is ``year``
        and twelve months (``m01``, ``1``, ``Jan`` or ``January``), or ``date`` (``1953-01`` or ``1953-01-31``) and one
        column of values; beside it, ``evaporation_mm`` (net) and ``withdrawal_m3s`` are read too.
    unit : str, optional
        Unit of the values, one of `units.FLOW_M3S` (mean flow) or `units.VOLUME_HM3` (volume of the month). Without
        it, a comment or the value column's name (``volume_hm3``) says it; failing these, values that are called a
        flow, or by their months alone, are taken for m3/s. Whatever is not wholly understood is a mistake.
    first_month : int, optional
        Calendar month (1 to 12) in which the water year begins; by default, that of the first column of months, or
        January where there is one row a month. Months at either end that fill no whole water year are left out.

    Returns
    -------
    Inflow
        Mean flows (m3/s) of whole water years; its notes say which months were left out.

    Raises
    ------
    InputError
        With every mistake in the file and in the call.
    """
    file = os.fspath(path)
    try:
        return _read(file, unit, first_month)
    except InputError as refused:
        in_order = sorted(refused.mistakes, key=lambda mistake: mistake.row or 0)
        mistakes = [_in_file(mistake, file) for mistake in worth_telling(in_order, file)]
    raise InputError(mistakes)


def _in_file(mistake: Mistake, file: str) -> Mistake:
    """Name the file of a mistake, unless it is one of the call: what has a column there, but no row."""
    return mistake if mistake.column and mistake.row is None else replace(mistake, file=file)


def _read(file: str, unit: str | None, first_month: int | None) -> Inflow:
    table = read_table(file)
    record = read_record(table)
    chosen = choose_unit(table, record, unit)
    begins = int(first_month) if first_month is not None and first_month in _MONTHS else record.first_month
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
    if first_month not in _MONTHS:
        mend = "give the calendar month in which the water year begins"
        yield Mistake("is not a month", "1 to 12", mend, column="first_month", value=first_month)
    elif record.names_water_years and first_month != record.first_month:
        yield table.at_header(
            f"the record's water years (such as 1953/54) begin in {MONTH_NAMES[record.first_month - 1]}, "
            f"those of the reservoir in {MONTH_NAMES[first_month - 1]}",
            f"first month {record.first_month}",
            f"set first_month = {record.first_month} in the reservoir file, or name each row by the year in which it "
            "begins",
            value=first_month,
        )


def _flow_m3s(readings: Sequence[MonthlyValue], calendar: Calendar, unit: InflowUnit) -> NDArray[np.float64]:
    values = np.array([reading.value for reading in readings]).reshape(-1, MONTHS_PER_YEAR)
    flow = unit.flow_m3s(values, calendar)
    excessive = np.flatnonzero(flow > LARGEST_FLOW_M3S)
    if excessive.size:
        problem = f"the flow is too large for a river, if the unit is {unit.name}"
        expected = f"a mean flow of at most {LARGEST_FLOW_M3S:,.0f} m3/s"
        mend = 'check the value; if the unit is another, add a comment line such as "# unit: hm3"'
        raise InputError(readings[index].mistake(problem, expected, mend) for index in excessive.tolist())
    return flow
