"""An ensemble forecast of inflow: the months to come, of several members, from a CSV or NetCDF file."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.inflow import ASSUMED
from reservoir.hydro.water_years import month_name
from reservoir.io.inflow_csv.ensemble import ensemble_series, member_file
from reservoir.io.inflow_netcdf import is_netcdf, netcdf_series
from reservoir.io.inflow_reading import InflowReading


@dataclass(frozen=True, eq=False)
class InflowForecast:
    """Mean flows of consecutive months.

    Parameters
    ----------
    first : int
        The first month, counted from January of year 0.
    flow_m3s : ndarray, shape (members, months)
    source : str
        The file.
    """

    first: int
    flow_m3s: NDArray[np.float64]
    source: str

    def require_from(self, month: int) -> None:
        """Refuse a forecast that begins in another calendar month than that which is decided on: InputError."""
        if self.first % MONTHS_PER_YEAR + 1 != month:
            problem = f"the forecast begins in {month_name(self.first)}"
            expected = f"a first month that is the one of --month ({MONTH_NAMES[month - 1]})"
            mend = "leave out the months before, or give the month that it begins in"
            raise InputError(Mistake(problem, expected, mend, file=self.source))


def read_inflow_forecast(path: str | os.PathLike[str], unless_said: str = "") -> InflowForecast:
    """Read an ensemble forecast; its months need not fill a year.

    Parameters
    ----------
    path : str or path-like
        CSV with a column ``date``, a column ``member`` or ``scenario``, and one of values; or NetCDF or Zarr with a
        dimension of members. The unit is said as in records of inflow (`reservoir.read_inflow`).
    unless_said : str
        The unit in place of m3/s where m3/s would be assumed.

    Raises
    ------
    InputError
        With the first mistakes in the file, or if it has no members.
    """
    file = os.fspath(path)
    try:
        return _read(file, unless_said)
    except InputError as refused:
        mistakes = [replace(mistake, file=file) for mistake in worth_telling(refused.mistakes, file)]
    raise InputError(mistakes)


def _read(file: str, unless_said: str) -> InflowForecast:
    found = None if is_netcdf(file) else member_file(file)
    if not is_netcdf(file) and found is None:
        raise InputError(_no_members(file))
    series = netcdf_series(file, InflowReading()) if found is None else ensemble_series(found, InflowReading())
    if series.members is None:
        raise InputError(_no_members(file))
    if unless_said and series.about.get("unit_from") == ASSUMED:
        assert found is not None  # NetCDF says its unit
        series = ensemble_series(found, InflowReading(unit=unless_said))
    return InflowForecast(series.first, series.flow_m3s(), file)


def _no_members(file: str) -> Mistake:
    if not os.path.exists(file):
        return Mistake("the file does not exist", mend="check the path")
    problem = "is no ensemble forecast: there are no members in it"
    return Mistake(problem, "CSV with columns date, member and inflow, or NetCDF with a dimension member")
