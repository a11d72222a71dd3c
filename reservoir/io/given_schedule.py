"""Read a schedule by anyone: a CSV file with a release for each step of a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.month_series import first_days
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.plan_folder.tables import AGAIN, read_cells
from reservoir.planning.given_schedule import CLAIMS, RELEASE, SHORTAGE, GivenSchedule
from reservoir.planning.schedule import FIRST_DAY

FloatArray = NDArray[np.float64]

DATE = "date"
_MEND = "correct the file, and try again"


def read_given_schedule(path: Path, inflow: Inflow) -> GivenSchedule:
    """Read releases of consecutive steps of a record, whole water years of it.

    Raises
    ------
    InputError
        If the file cannot be read, has no releases, a cell is no number, or a step is missing, twice, or not of the
        record.
    """
    inflow.require_no_members("a schedule in a file of its own")
    try:
        cells = read_cells(path)
    except InputError as error:
        mended = [replace(each, mend=_MEND) if each.mend == AGAIN else each for each in error.mistakes]
        raise InputError(mended) from None
    units = UnitSystem.of_columns(cells.columns)
    cells = cells.rename(columns=units.program_column)
    if RELEASE not in cells:
        found = ", ".join(map(str, cells.columns))
        expected = "release_m3s, or release_cfs beside columns in acre_ft and ft"
        problem, mend = "has no column of releases with a known unit", "name the column so, with values in this unit"
        raise InputError(Mistake(problem, expected, mend, str(path), row=1, value=found))
    years = _years_of(path, cells, inflow)
    numbers = _numbers(path, cells, units)
    shape = years.flow_m3s.shape
    columns = {name: each.reshape(shape) for name, each in numbers.items()}
    digits = {name: 0.5 * 10.0 ** -_decimals(cells[name]) * units.size(name) for name in numbers}
    return GivenSchedule(path, years, columns, digits, units)


def _years_of(path: Path, cells: pd.DataFrame, inflow: Inflow) -> Inflow:
    """The years of the record whose steps the rows are, one after another."""
    name, found, wanted = _steps(path, cells, inflow)
    told = {"file": str(path), "column": name}
    if not len(found):
        raise InputError(Mistake("has no rows", f"a row for each step from {wanted[0]} on", _MEND, str(path)))
    begins = np.flatnonzero(wanted[:: inflow.steps] == found[0])
    if not begins.size:
        expected = f"the first step of a year of the record, {wanted[0]} to {wanted[-1]}"
        mend = "begin with the first step of a water year, or give the record that has it"
        raise InputError(Mistake("no year begins with it", expected, mend, row=2, value=str(found[0]), **told))
    first = int(begins[0])
    following = wanted[first * inflow.steps :]
    count = min(len(found), len(following))
    wrong = np.flatnonzero(found[:count] != following[:count])
    if wrong.size:
        row = int(wrong[0])
        mend = "give a row for each step, in order: add what is missing, leave out what is there twice"
        value, expected = str(found[row]), str(following[row])
        raise InputError(Mistake("is out of sequence", expected, mend, row=row + 2, value=value, **told))
    if len(found) > len(following):
        mend = "leave out later rows, or give the record that has them"
        value, expected = str(found[count]), f"no step after {wanted[-1]}, the last of the record"
        raise InputError(Mistake("is not in the record", expected, mend, row=count + 2, value=value, **told))
    if len(found) % inflow.steps:
        expected = f"{inflow.steps} rows for each year: {following[len(found)]} next"
        mend = "add the missing rows, or leave out the year"
        raise InputError(
            Mistake("ends within a year", expected, mend, row=len(found) + 1, value=str(found[-1]), **told)
        )
    return inflow.span(first, first + len(found) // inflow.steps)


def _steps(path: Path, cells: pd.DataFrame, inflow: Inflow) -> tuple[str, NDArray[np.object_], NDArray[np.object_]]:
    """The column that names the steps, these names in the file, and those of the record."""
    calendar = inflow.calendar
    dated = next((name for name in (DATE, FIRST_DAY) if name in cells), None)
    if dated:
        length = len("1953-01") if calendar.step is TimeStep.MONTH else len("1953-01-01")
        days = first_days(calendar).astype(str).str[:length]
        return dated, cells[dated].str.strip().str[:length].to_numpy(object), days.to_numpy(object)
    if calendar.step is not TimeStep.MONTH or not {"year", "month"} <= set(cells.columns):
        expected = f"{DATE} with days such as 1953-01-01"
        if calendar.step is TimeStep.MONTH:
            expected = f"{DATE} with months such as 1953-01, or year and month"
        raise InputError(Mistake("no column names the steps", expected, "add such a column", str(path), row=1))
    named = [f"{year}, month {month}" for year in calendar.labels for month in calendar.months]
    found = cells["year"].str.strip() + ", month " + cells["month"].str.strip().str.lstrip("0")
    return "month", found.to_numpy(object), np.array(named, object)


def _numbers(path: Path, cells: pd.DataFrame, units: UnitSystem) -> dict[str, FloatArray]:
    """The columns of numbers, in the program's units."""
    names = [name for name in (RELEASE, SHORTAGE, *CLAIMS) if name in cells]
    numbers = {name: pd.to_numeric(cells[name], errors="coerce").to_numpy(float) for name in names}

    def mistakes() -> Iterator[Mistake]:
        for name, values in numbers.items():
            for row in np.flatnonzero(~np.isfinite(values) | (values < 0) & (name in (RELEASE, SHORTAGE))).tolist():
                cell = str(cells[name].iloc[row])
                problem = "is negative" if np.isfinite(values[row]) else "is not a number" if cell else "is empty"
                expected = f"a number in the unit of the heading{', 0 or more' if name in (RELEASE, SHORTAGE) else ''}"
                yield Mistake(problem, expected, _MEND, str(path), row + 2, units.column(name), cell or None)

    wrong = worth_telling(mistakes(), str(path))
    if wrong:
        raise InputError(wrong)
    return {name: each * units.size(name) for name, each in numbers.items()}


def _decimals(cells: pd.Series) -> int:
    """Decimals of the cell that has most; a dozen of numbers with an exponent."""
    text = cells.str.strip().str.lower()
    return 12 if text.str.contains("e").any() else int(text.str.partition(".")[2].str.len().max())
