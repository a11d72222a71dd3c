"""Inflow file -> `Inflow`, whatever its format."""

from __future__ import annotations

import os
from dataclasses import replace

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.time_step import TimeStep
from reservoir.io.inflow_csv.ensemble import member_file, read_ensemble
from reservoir.io.inflow_csv.layouts import no_names_of_years
from reservoir.io.inflow_csv.reader import MONTHS, no_month, read_record_file
from reservoir.io.inflow_netcdf import is_netcdf, read_netcdf
from reservoir.io.inflow_reading import InflowReading


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
) -> Inflow:
    """Read the inflows of steps: one record, or an ensemble of several members, which has months.

    Parameters
    ----------
    path : str or path-like
        A CSV file; a workbook (``.xlsx``), which needs the extra ``excel``; or NetCDF (``.nc``) or Zarr (``.zarr``),
        which need the extra ``netcdf``.

        CSV is UTF-8 text; cells separated by commas, semicolons or tabs; lines that begin with ``#`` are comments, of
        which ``# unit: hm3`` and ``# caveat: text`` are understood. The header is ``year`` and twelve months (``m01``,
        ``1``, ``Jan`` or ``January``), or ``date`` (``1953-01``, ``1953-01-31`` or ``31-Jan-1953``) and one column of
        values, with a row a month, ten days, a week, a day or some hours; beside it, ``evaporation_mm`` (net) and
        ``withdrawal_m3s`` are read too. At most 16 MB and 8,000 years.

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
        Name of the column of values, or of the variable of NetCDF and Zarr, if there are several.
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
    file = os.fspath(path)
    try:
        reading = InflowReading(unit, column, water_year, missing_days, negative, step)  # type: ignore[arg-type]
        return _read(file, reading, first_month)
    except InputError as refused:
        in_order = sorted(refused.mistakes, key=lambda mistake: mistake.row or 0)
        mistakes = [_in_file(mistake, file) for mistake in worth_telling(in_order, file)]
    raise InputError(mistakes)


def _read(file: str, reading: InflowReading, first_month: int | None) -> Inflow:
    netcdf = is_netcdf(file)
    members = None if netcdf else member_file(file)
    if not netcdf and members is None:
        return read_record_file(file, reading, first_month)
    if first_month is not None and first_month not in MONTHS:
        raise InputError(no_month(first_month))
    if reading.water_year is not None:
        raise InputError(no_names_of_years(reading.water_year))
    reading.require_months("an ensemble" if members else "NetCDF or Zarr")
    return read_ensemble(members, reading, first_month) if members else read_netcdf(file, reading, first_month)


def _in_file(mistake: Mistake, file: str) -> Mistake:
    """Name the file of a mistake, unless it is one of the call: what has a column there, but no row."""
    return mistake if mistake.column and mistake.row is None else replace(mistake, file=file)
