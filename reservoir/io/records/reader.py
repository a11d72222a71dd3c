"""Inflow file -> `Inflow` or `InflowForecast`, whatever its format; of one series, every mistake with its place."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import MOST_ALIKE, InputError, Mistake, worth_telling
from reservoir.hydro.attributes import FLOW_M3S
from reservoir.hydro.calendar import (
    MONTH_NAMES,
    MONTHS_PER_YEAR,
    MOST_YEARS,
    Calendar,
    TimeStep,
    month_name,
    whole_years,
)
from reservoir.hydro.inflow import ASSUMED, FileRows, Inflow
from reservoir.io.containers import is_netcdf
from reservoir.io.level_table import holds_levels
from reservoir.io.records.cells import FILL_IN, looks_like_number, negative_note, thousands_mistakes
from reservoir.io.records.choice import STATION, chosen_rows, record_sheet
from reservoir.io.records.columns import companion_notes, series_mistakes, with_volumes
from reservoir.io.records.layouts import member_file, read_record, stamp_mistakes
from reservoir.io.records.record import (
    InflowReading,
    Record,
    Series,
    averaged,
    dates_of,
    day_numbers,
    too_large,
    too_many_years,
)
from reservoir.io.records.table import InflowTable, caveat_mistakes, read_table
from reservoir.io.records.units import HM3_PER_M3S_DAY, InflowUnit, choose_unit
from reservoir.io.records.words import folded
from reservoir.io.workbook import MOST_BYTES, WORKBOOK, Sheet, is_workbook
from reservoir.text.data_file import check_path, encoding_notes, encoding_of, read_limited

FloatArray = NDArray[np.float64]


def read_inflow(
    path: str | os.PathLike[str],
    *,
    unit: str | None = None,
    first_month: int | None = None,
    column: str | None = None,
    water_year: str | None = None,
    missing_days: int = 0,
    negative: str | None = None,
    step: TimeStep | str = TimeStep.MONTH,
    dates: str | None = None,
    first_year: int | None = None,
    flood_column: str | None = None,
    sheet: str | Sequence[str] = (),
) -> Inflow:
    """Read the inflows of steps: one record, or an ensemble of several members, which has months.

    Parameters
    ----------
    path : str or path-like
        A CSV file; a workbook (``.xlsx``), which needs the extra ``excel``; or NetCDF (``.nc``) or Zarr (``.zarr``),
        which need the extra ``netcdf``.

        CSV is text in UTF-8, UTF-16 or GB18030; cells separated by commas, semicolons or tabs; lines that begin with
        ``#`` are comments, of which ``# unit: hm3`` and ``# caveat: text`` are understood. The header is ``year`` and
        twelve months (``m01``, ``1``, ``Jan`` or ``January``), or ``date`` (``1953-01``, ``1953-01-31`` or
        ``31-Jan-1953``) and one column of values, with a row a month, ten days, a week, a day or some hours; beside it,
        ``evaporation_mm`` (net) and ``withdrawal_m3s`` are read too. At most 16 MB and 8,000 years.

        With a further column ``member`` or ``scenario``, it is an ensemble, of any size: every member has the same
        months, in any order of rows.

        NetCDF and Zarr have one variable by time, in months, and by member if it is an ensemble (CF conventions).
    unit : str, optional
        Unit of the values, one of `units.FLOW_M3S` (mean flow) or `units.VOLUME_HM3` (volume of the month). Without
        it, a comment or the value column's name (``volume_hm3``) says it, or the attribute ``units``; failing these,
        values of a CSV file that are called a flow, or by their months alone, are taken for m3/s. Whatever is not
        wholly understood is a mistake.
    first_month : int, optional
        Calendar month (1 to 12) in which the water year begins; by default, that of the first column of months, or
        January where there is one value a month. Months at either end that fill no whole water year are left out.

    column : str, optional
        Name of the column of values, or of the variable of NetCDF and Zarr, if there are several; of a table also the
        rows of one series, by what a column says: ``SENSOR_TYPE=INFLOW``, or ``flow; station=Upper``.
    water_year : str, optional
        ``begins`` or ``ends``: the calendar year by which rows of a table by years are named, where the water year
        does not begin in January. Without it, a column or a label ``WY`` means its end, a plain year its beginning.
    missing_days : int
        Days that a step may lack in a record of days, weeks or ten-day periods; it is then the mean of the others.
    negative : str, optional
        ``keep`` or ``zero``: what becomes of negative values, which are refused without it. A note says how much
        water that is.
    step : TimeStep or str
        ``month``, ``ten-days``, ``week`` or ``day``: steps that the record is averaged to, none shorter than what its
        rows stand for.
    dates : str, optional
        ``month-first`` or ``day-first``: the order in dates such as ``10/01/1990``, where the column does not show it.
    first_year : int, optional
        Year of the earliest row where dates have years of two digits (``1-Oct-03``) and the order of the rows does not
        show the century.
    flood_column : str, optional
        Name of the column that the flood space of the reservoir depends on (`Reservoir.flood_space`).
    sheet : str or sequence of str
        Sheets of a workbook that are meant, of which the record is one. Without it, the record is the sheet that has
        dates, or years, and flows; several such sheets are refused.

    Returns
    -------
    Inflow
        Mean flows (m3/s) of whole water years; its notes say how the file was understood, and which steps were left
        out.

    Raises
    ------
    InputError
        With every mistake in the file and in the call; of an ensemble, with the first ones.
    """
    asked = (unit, column, water_year, missing_days, negative, step, flood_column, first_month)
    return inflow_of(os.fspath(path), InflowReading(*asked, dates, first_year, sheet))  # type: ignore[arg-type]


def inflow_of(file: str, reading: InflowReading) -> Inflow:
    """Read the inflows of steps as asked for; raises as `read_inflow` does."""
    try:
        series = _series_of(file, reading)
        inflow = _read_table(file, reading) if series is None else series.inflow(reading.first_month)
        unused = tuple(reading.unused_notes(inflow.notes))
        return replace(inflow, notes=(*inflow.notes, *unused)) if unused else inflow
    except InputError as refused:
        in_order = worth_telling(sorted(refused.mistakes, key=lambda mistake: mistake.row or 0), file)

    def of_file(mistake: Mistake) -> Mistake:
        # One of the call has a column there, but no row, and no file.
        return mistake if mistake.column and mistake.row is None else replace(mistake, file=file)

    raise InputError(map(of_file, in_order))


def _series_of(file: str, reading: InflowReading) -> Series | None:
    """The months of an ensemble, or of NetCDF; None of a table of one series."""
    if is_netcdf(file):  # what reads these is imported where there is one
        from reservoir.io.records.netcdf import netcdf_series

        reading.require_no_sheet()
        return netcdf_series(file, reading)
    sheet, note = None, ""
    if os.path.isfile(file) and is_workbook(file):
        chosen, note = record_sheet(read_limited(file, MOST_BYTES), tuple(reading.sheet))
        sheet = chosen.csv()
    members = member_file(file, sheet)
    if members is None:
        return None
    from reservoir.io.records.members import ensemble_series

    if sheet is None:
        reading.require_no_sheet()
    series = ensemble_series(members.renamed(reading.named), reading)
    return replace(series, about={**series.about, "notes": (note, *series.about["notes"])}) if note else series


def _sound_record(table: InflowTable, reading: InflowReading) -> tuple[Record, InflowUnit, str, int]:
    """The record of one series, its unit, where that was said, and the month in which water years begin.

    Raises
    ------
    InputError
        With every mistake in the file and in the call.
    """
    record = read_record(table, reading)
    rows_are, values, step, mistakes = record.period.step, record.values, reading.step, list[Mistake]()
    unit, unit_from, wrong_unit = choose_unit(table, record.value_column, record.unit_texts, reading.unit, rows_are)
    wrong_month = [*reading.first_month_mistakes()]
    begins = record.first_month if reading.first_month is None or wrong_month else int(reading.first_month)
    if record.names_water_years and begins != record.first_month:
        of_record, of_reservoir = (MONTH_NAMES[month - 1] for month in (record.first_month, begins))
        problem = f"the record's water years (such as 1953/54) begin in {of_record}, those of the reservoir in"
        mend = f"set first_month = {record.first_month} in the reservoir file, or name each row by the year in which it"
        expected = f"first month {record.first_month}"
        wrong_month.append(table.at_header(f"{problem} {of_reservoir}", expected, f"{mend} begins", value=begins))
    if rows_are is TimeStep.MONTH and len(values) // MONTHS_PER_YEAR > MOST_YEARS:
        mistakes.append(too_many_years(len(values) // MONTHS_PER_YEAR))
    if rows_are.per_year < step.per_year:
        problem = f'the record has one value a {rows_are.noun}; step "{step}" needs a daily record'
        mend = f'plan {rows_are.noun}s (step "{rows_are}"), or give a daily record'
        mistakes.append(Mistake(problem, f'step "{rows_are}" or longer', mend))
    mistakes += [
        *table.mistakes,
        *record.mistakes,
        *wrong_unit,
        *caveat_mistakes(table.caveats),
        *wrong_month,
        *thousands_mistakes(values),
        *(stamp_mistakes(table, record, begins) if record.first_stamp and values else ()),
    ]
    if not mistakes and not values:
        raise InputError("no row has a value", mend=FILL_IN, row=table.header.number)
    if not mistakes:
        rows = list(dict.fromkeys(value.row for value in values))
        years = record.value_column is None
        mistakes = [*series_mistakes(table, record.beside, rows, years=years, column=reading.column)]
    if mistakes:
        if holds_levels(Sheet("", (table.header.cells, *(row.cells for row in table.rows)))):
            expected, mend = (
                "a table of dates, or years, and inflow",
                '"reservoir new NAME --from FILE" makes a reservoir',
            )
            problem = "this is a table of levels and storages, not a record"
            raise InputError(problem, expected, f"{mend} file of it; give the record in its place")
        cause = _likely_cause(table, mistakes)
        raise InputError([*([cause] if cause else ()), *mistakes])
    return record, unit, unit_from, begins


def table_of(file: str, reading: InflowReading) -> InflowTable:
    """The cells of a file, or of the sheet of a workbook, which a note names; raises as `read_table` does."""
    of_sheet: tuple[str, ...] = ()

    def of_workbook(data: bytes) -> bytes:
        nonlocal of_sheet
        sheet, note = record_sheet(data, tuple(reading.sheet))
        of_sheet = (note,) if note else ()
        return sheet.csv()

    table = read_table(file, of_workbook)
    if not table.content.startswith(WORKBOOK):
        reading.require_no_sheet()
    return replace(table, notes=(*of_sheet, *table.notes))


def _read_table(file: str, reading: InflowReading) -> Inflow:
    """Read the record of one series; raises as `_sound_record` does."""
    table = table_of(file, reading)
    table, column = chosen_rows(table.renamed(reading.named), reading.column)
    record, unit, unit_from, begins = _sound_record(table, replace(reading, column=column))
    values, by_month = record.values, record.period.step is TimeStep.MONTH
    flows = record
    if reading.negative == "zero":
        flows = replace(record, values=tuple(value._replace(value=max(value.value, 0.0)) for value in values))
    if by_month:
        holding = Calendar.holding(values[0].ordinal, len(values), begins)
        within, calendar, left_out = whole_years(*holding, len(values), record.first_month)
    else:
        flows, touched = averaged(flows, reading, begins, amounts=unit.is_volume)
        within, calendar, left_out = whole_years(touched, flows.values[0].ordinal, len(flows.values))
    inside = flows.values[within]
    steps = np.array([value.value for value in inside]).reshape(-1, calendar.steps)
    with np.errstate(over="ignore"):  # what is too large is refused; of months that are left out, nobody asks
        of_days = unit.size / HM3_PER_M3S_DAY if unit.is_volume else unit.size  # of flows, or volumes of one day each
        flow = unit.flow_m3s(steps, calendar) if by_month else steps * of_days
        excessive = np.flatnonzero(np.abs(flow) > FLOW_M3S.most).tolist()
        if excessive:
            problem, expected = too_large(unit)
            mend = 'check the value; if the unit is another, add a comment line such as "# unit: hm3"'
            raise InputError(inside[at].mistake(problem, expected, mend) for at in excessive)
        negative = _negative_notes(record, unit, reading.negative) if reading.negative else ()
    as_read = {
        field: (name, np.array([of_key[each.row if by_month else each.ordinal] for each in inside]).reshape(flow.shape))
        for field, (name, of_key) in flows.companions.items()
    }
    beside = with_volumes(as_read, calendar.hm3_per_m3s)
    caveat = " ".join(text for _, text in table.caveats if text)
    about: dict[str, Any] = {field: column for field, (_, column) in beside.items()} | reading.about(file, unit_from)
    about |= {"sha256": hashlib.sha256(table.content).hexdigest(), "caveat": caveat, "unit": unit.name}
    notes = (*table.notes, *flows.notes, *companion_notes(beside, calendar.steps), *left_out, *negative)
    content = b"" if table.content.startswith(WORKBOOK) else table.content
    about["rows"] = _file_rows(record, unit)
    notes = (*encoding_notes(encoding_of(content)), *notes)
    return Inflow(flow, calendar, notes=notes, content=content, **about)


def _file_rows(record: Record, unit: InflowUnit) -> FileRows:
    """The rows of a record as mean flows."""
    values = np.array([value.value for value in record.values])
    starts, days = _starts_and_days(record)
    flow = values * unit.size / (days * HM3_PER_M3S_DAY if unit.is_volume else 1.0)
    rows = FileRows(starts, flow, record.period.step, record.period.per_day)
    if rows.step is not TimeStep.DAY:
        return rows
    whole, _ = record.period.of_days(day_numbers(starts), values, amounts=False)
    return rows._replace(days=dates_of(whole))


def _starts_and_days(record: Record) -> tuple[NDArray[np.datetime64], FloatArray]:
    """The month, or the first day, of each row, and the days of its period."""
    ordinals = np.array([value.ordinal for value in record.values])
    if record.period.step is TimeStep.MONTH:
        months = (ordinals - 1970 * MONTHS_PER_YEAR).astype("datetime64[M]")
        return months, np.asarray(Calendar.of_months(int(ordinals[0]), len(ordinals)).days[0], np.float64)
    return dates_of(ordinals), record.period.lengths(ordinals) / record.period.per_day


def _negative_notes(record: Record, unit: InflowUnit, negative: str) -> tuple[str, ...]:
    """How many values are negative, and how much water that is."""
    values = np.array([value.value for value in record.values])
    starts, days = _starts_and_days(record)
    volumes = values * unit.size * (1.0 if unit.is_volume else days * HM3_PER_M3S_DAY)
    return negative_note(volumes, list(map(str, starts)), negative)


def read_inflow_forecast(
    path: str | os.PathLike[str], unless_said: str = "", month: int | None = None, **reading: Any
) -> FloatArray:
    """Read an ensemble forecast; its months need not fill a year.

    Parameters
    ----------
    path : str or path-like
        CSV, or a workbook, with a column ``date``, a column ``member`` or ``scenario``, and one of values; or NetCDF
        or Zarr with a dimension of members. The unit is said as in records of inflow (`reservoir.read_inflow`).
    unless_said : str
        The unit in place of m3/s where m3/s would be assumed.
    month : int, optional
        Calendar month that is decided on: that of the first values.
    **reading
        How the file is to be read, as in `reservoir.read_inflow`.

    Returns
    -------
    ndarray, shape (members, months)
        Mean flows of consecutive months to come (m3/s).

    Raises
    ------
    InputError
        With the first mistakes in the file, or if it has no members, or begins in another month.
    """
    file = os.fspath(path)
    try:
        series = _series_of(file, InflowReading(**reading))
        if series is None or series.members is None:
            if not os.path.exists(file):
                raise InputError("the file does not exist", mend=check_path(file))
            expected = "a table with columns date, member and inflow, or NetCDF with a dimension member"
            raise InputError("is no ensemble forecast: there are no members in it", expected)
        if unless_said and series.about["unit_from"] == ASSUMED:
            series = _series_of(file, InflowReading(**{**reading, "unit": unless_said})) or series
        flow = series.flow_m3s()
        if month is not None and series.first % MONTHS_PER_YEAR + 1 != month:
            expected = f"a first month that is the one of --month ({MONTH_NAMES[month - 1]})"
            mend = "leave out the months before, or give the month that it begins in"
            raise InputError(f"the forecast begins in {month_name(series.first)}", expected, mend)
        return flow
    except InputError as refused:
        mistakes = [replace(mistake, file=file) for mistake in worth_telling(refused.mistakes, file)]
    raise InputError(mistakes)


#: Part of all rows that a mistake must stand in to be that of the file, and rows a year of a daily file.
_NEARLY_ALL, _DAYS_A_YEAR = 0.8, 100
#: Cells of a row in which its date is looked for, and dates of days, with their years.
_DATE_CELLS = 4
_DATED = re.compile(r"(?:(\d{4})[-/.]\w+[-/.]\w+|\w+[-/.]\w+[-/.](\d{4}|\d{2}))(?:[ T].*)?", re.ASCII)


def _likely_cause(table: InflowTable, mistakes: Sequence[Mistake]) -> Mistake | None:
    """What the mistakes of a table most likely come from; None of a few, or of many of different kinds."""
    header = table.header.cells
    of_stations = next((at for at, name in enumerate(header) if STATION.fullmatch(folded(name).strip())), None)
    stations = {row.cells[of_stations] for row in table.rows} if of_stations is not None else set[str]()
    kinds = Counter((wrong.problem, wrong.column) for wrong in mistakes if wrong.row is not None)
    if not kinds:
        return None
    (problem, column), count = kinds.most_common(1)[0]
    rows = len(table.rows) + len({wrong.row for wrong in table.mistakes})
    if count <= MOST_ALIKE or count < _NEARLY_ALL * rows:
        return None
    looks_like = _looks_like(table, column, f" of the station {stations.pop()}" if len(stations) == 1 else "")
    mend = next(wrong.mend for wrong in mistakes if (wrong.problem, wrong.column) == (problem, column))
    what = f"{problem} in column {column}" if column else problem
    return Mistake(f"nearly every row ({count:,} of {rows:,}) has the same mistake ({what}){looks_like}", mend=mend)


def _looks_like(table: InflowTable, column: str, station: str) -> str:
    """What kind of file it looks like; empty where nothing says so."""
    dates = (_DATED.fullmatch(cell) for row in table.rows for cell in row.cells[:_DATE_CELLS])
    years = {date[1] or date[2] for date in dates if date}
    if years and len(table.rows) >= _DAYS_A_YEAR * len(years):
        return f": this looks like a daily file{station}"
    if column in table.header.cells:
        place = table.header.cells.index(column)
        texts = sum(not looks_like_number(row.cells[place]) for row in table.rows)
        if texts > _NEARLY_ALL * len(table.rows):
            return f": this looks like a column of texts{station}"
    return f": this looks like a file{station}" if station else ""
