"""The files of a plan's folder and its tables as written; without physics, so that reading is fast."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.content_hash import content_sha256
from reservoir.io.records.dates import MOST_YEARS
from reservoir.planning.column_names import FIRM_POWER, REFERENCE_ENERGY, REFERENCE_OBJECTIVE
from reservoir.planning.proofs import PROVEN_BOUND, PROVEN_GAP
from reservoir.text.data_file import read_limited, text_of
from reservoir.text.strict_json import read_json


def wrong_row(text: str) -> Mistake | None:
    """First row of a table with more cells than its header, or a quotation mark out of place.

    Parameters
    ----------
    text : str
        What the file holds.

    Returns
    -------
    Mistake or None
        With its row, as an editor counts them, and without the file; None where every row can be read.
    """
    rows = csv.reader(StringIO(text, newline=None), strict=True)
    columns, row = 0, 1
    try:
        for cells in rows:
            columns = columns or len(cells)
            if len(cells) > columns:
                return Mistake(f"has {len(cells)} cells", f"{columns}, as in the header", row=row)
            row = rows.line_num + 1
    except csv.Error:
        return Mistake("has quotation marks that do not enclose a whole cell", row=row)
    return None


_Value = TypeVar("_Value")
#: Files of a plan's folder; the first tells it from any other folder, the last is of plans by dynamic programming.
PROVENANCE, SCHEDULE, SUMMARY, WATER_VALUES = "plan.json", "schedule.csv", "summary.csv", "water_values.csv"
#: Of plans of ensembles.
MEMBERS = "members.csv"
#: In place of both tables where a plan is written as NetCDF or Zarr.
NETCDF, ZARR = DATASET_NAMES = "plan.nc", "plan.zarr"
#: Copies of what was planned.
RESERVOIR, INFLOW = "reservoir.toml", "inflow.csv"
#: Key of ``plan.json`` that says of the copy of the record what it is, if it is not the file itself.
COPY = "copy"
#: Folder of the figures.
FIGURES = "figures"
#: How to mend a file that is not as it was written.
AGAIN = "run `reservoir plan` again, or restore the file"
#: No file of a plan is larger: that many months are more than eight thousand years.
MOST_BYTES = 20_000_000
#: Nor is its provenance, which tells of every month outside its limits.
MOST_PROVENANCE_BYTES = 10_000_000
#: Lines of a table: the months of as many years as a record may have, and the heading.
_MOST_LINES = MOST_YEARS * MONTHS_PER_YEAR + 1
#: Bytes of the heading, which names every column.
_LONGEST_HEADING = 2_000
#: No flow, volume, energy or count in a table is as large, and none but 0 as small: tables have six decimals.
_LARGEST, _SMALLEST = 1e15, 1e-9
_SCHEDULE = ("year", "month", "inflow_m3s", "release_m3s", "storage_start_hm3", "energy_gwh")
_SUMMARY = ("year", REFERENCE_ENERGY, "generations", "evaluations")
#: Columns of plans with another objective than energy, by the column that they stand for.
OTHER_NAMES = {REFERENCE_OBJECTIVE: REFERENCE_ENERGY}
#: Of plans by dynamic programming alone.
WATER_VALUE = "water_value_gwh_per_hm3"
#: Name of the member, in tables of ensembles.
MEMBER = "member"
_WATER_VALUES = ("mean_gwh_per_hm3", "q10_gwh_per_hm3", "q90_gwh_per_hm3")
#: Whose schedule a year holds, and the gap of the solver's own; plans of earlier versions have neither, and the second
#: is there only where a year holds the reference's.
SOURCE, ENGINE_GAP = "source", "engine_gap"
#: Columns with empty cells: where there is no water value, or no gap.
_SOMETIMES_EMPTY = {WATER_VALUE, *_WATER_VALUES, ENGINE_GAP, PROVEN_BOUND, PROVEN_GAP}
#: Of the reference; not there where it violates nothing, and in plans whose ``reference_gwh`` is less the penalty.
REFERENCE_VIOLATION = "reference_violation"
#: Of a withdrawal; there of reservoirs with losses or withdrawals.
SHORTAGE = "shortage_m3s"


def read_schedule(folder: Path) -> pd.DataFrame:
    """The months of a plan, as ``schedule.csv`` has them.

    Raises
    ------
    InputError
        If the file is missing, or holds what is no number.
    """
    return _table(folder / SCHEDULE, _SCHEDULE, (SHORTAGE, WATER_VALUE))


def schedule_file(folder: Path) -> Path:
    """Where the schedule of a plan stands: ``schedule.csv``, or the dataset that is there in its place."""
    return next(
        (path for path in (folder / name for name in (SCHEDULE, *DATASET_NAMES)) if path.exists()), folder / SCHEDULE
    )


def schedule_sha256(folder: Path) -> str:
    """Hash of the schedule's file, by which a rule knows the plan that it was fitted to.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    path = schedule_file(folder)
    if path.name == SCHEDULE:
        return sha256_of(path)
    try:
        return content_sha256(path)
    except OSError as error:
        raise changed(path, f"cannot be read ({error.strerror})") from error


def sha256_of(path: Path) -> str:
    """Hash of a file of a plan's folder; raises as `schedule_sha256` does."""
    try:
        return hashlib.sha256(read_limited(path, MOST_BYTES)).hexdigest()
    except (OSError, ValueError) as error:
        raise changed(path, f"cannot be read ({getattr(error, 'strerror', None) or error})") from error


def read_summary(folder: Path) -> pd.DataFrame:
    """The years of a plan, as ``summary.csv`` has them; raises as `read_schedule` does."""
    return _table(folder / SUMMARY, _SUMMARY, (REFERENCE_VIOLATION, ENGINE_GAP, FIRM_POWER, PROVEN_BOUND, PROVEN_GAP))


def read_water_values(folder: Path) -> pd.DataFrame:
    """Water values by month and storage, as ``water_values.csv`` has them; raises as `read_schedule` does."""
    table = _table(folder / WATER_VALUES, ("month", "storage_hm3", "level_m", *_WATER_VALUES, "years"))
    return table.astype({"month": np.int64, "years": np.int64})


def read_caveats(folder: Path) -> tuple[str, ...]:
    """Caveats to show with every result of a plan, as ``plan.json`` has them.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    return _stated(folder, lambda origin: tuple(str(each) for each in origin.get("caveats", ())))


def read_units(folder: Path) -> str:
    """Name of the units that a plan is shown in, as ``plan.json`` has it; raises as `read_caveats` does."""
    return _stated(folder, lambda origin: str(origin.get("units", {}).get("system", "si")))


def _stated(folder: Path, taken: Callable[[Any], _Value]) -> _Value:
    """What is taken from the provenance of a plan."""
    path = folder / PROVENANCE
    try:
        return taken(read_json(path, MOST_PROVENANCE_BYTES))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise changed(path, "is not the provenance of a plan") from error


def changed(path: Path, problem: str) -> InputError:
    """Refuse a file of a plan's folder that is not as it was written."""
    return InputError(Mistake(problem, mend=AGAIN, file=str(path)))


def _table(path: Path, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> pd.DataFrame:
    """A CSV file with the columns needed, and others if they are there, all but the year's label finite numbers.

    In the program's units, whichever the file has.
    """
    table = read_cells(path)
    units = UnitSystem.of_columns(table.columns)
    names = {name: units.program_column(name) for name in table.columns}
    names = {name: OTHER_NAMES.get(known, known) for name, known in names.items()}
    require_one_of_each(path, names, AGAIN)
    table = table.rename(columns=names)
    missing = [units.column(name) for name in needed if name not in table.columns]
    if missing:
        raise changed(path, f"has no column {', '.join(missing)}")
    if table.empty:
        raise changed(path, "has no rows")
    read = [name for name in (*needed, *optional) if name != "year" and name in table.columns]
    numbers = {name: pd.to_numeric(table[name], errors="coerce").astype(float) for name in read}
    mistakes = worth_telling(
        (
            replace(each, column=units.column(name))
            for name in numbers
            for each in _not_numbers(path, table[name], numbers[name])
        ),
        str(path),
    )
    if mistakes:
        raise InputError(mistakes)
    return table.assign(**{name: each * units.size(name) for name, each in numbers.items()})


def read_cells(path: Path) -> pd.DataFrame:
    """Every cell of a CSV file as text."""
    try:
        content = read_limited(path, MOST_BYTES)
    except FileNotFoundError as error:
        raise InputError(Mistake("is missing", mend=AGAIN, file=str(path))) from error
    except (OSError, ValueError) as error:
        raise changed(path, f"cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if len(content.partition(b"\n")[0]) > _LONGEST_HEADING:
        raise changed(path, f"has a header of more than {_LONGEST_HEADING:,} bytes")
    lines = content.count(b"\n")
    if lines > _MOST_LINES:
        raise changed(path, f"has {lines:,} lines; a plan has at most {_MOST_LINES:,}")
    try:
        text = text_of(content, str(path))
    except InputError as refused:
        raise InputError([replace(each, mend=AGAIN) for each in refused.mistakes]) from refused
    try:  # lines may end as on old Macintoshes
        heading = [name.strip() for name in next(csv.reader(StringIO(text, newline=None)), [])]
    except csv.Error as error:
        raise changed(path, f"cannot be read as a table ({error})") from error
    twice = [name for place, name in enumerate(heading) if name and name in heading[:place]]
    if twice:  # pandas would give the second another name
        raise InputError(Mistake("is there twice", "each column once", AGAIN, str(path), row=1, column=twice[0]))
    try:
        table = pd.read_csv(BytesIO(content), dtype=str, keep_default_na=False)
    except pd.errors.EmptyDataError as error:
        raise changed(path, "is empty") from error
    except ValueError as error:
        raise _uneven(path, text, " ".join(str(error).split())) from error
    if not isinstance(table.index, pd.RangeIndex):  # what pandas makes of the cells that the heading does not name
        raise _uneven(path, text, "rows have more cells than the header")
    return table.fillna("")


def require_one_of_each(path: Path, quantities: Mapping[str, str], mend: str) -> None:
    """Refuse a table of which several columns are of one quantity; `quantities` has that of each heading.

    Raises
    ------
    InputError
        With these columns.
    """
    for quantity in dict.fromkeys(quantities.values()):
        alike = [name for name, each in quantities.items() if each == quantity]
        if len(alike) > 1:
            problem = "are columns of one quantity"
            raise InputError(Mistake(problem, "one of them", mend, str(path), row=1, value=", ".join(alike)))


def _uneven(path: Path, text: str, reason: str) -> InputError:
    """Refuse a table by its first wrong row, or for the reason given where no row is wrong by itself."""
    mistake = wrong_row(text) or Mistake(f"cannot be read as a table ({reason})")
    return InputError(replace(mistake, mend=AGAIN, file=str(path)))


def _not_numbers(path: Path, cells: pd.Series, numbers: pd.Series) -> Iterator[Mistake]:
    # A plan without a reference has no number there, in any year.
    if cells.name == REFERENCE_ENERGY and (cells == "").all():
        return
    values, texts = numbers.to_numpy(), cells.to_numpy()
    size = np.abs(values)
    wrong = ~(size <= _LARGEST) | (size > 0) & (size < _SMALLEST) & (cells.name not in (ENGINE_GAP, PROVEN_GAP))
    if cells.name in _SOMETIMES_EMPTY:
        wrong &= texts != ""
    for row in np.flatnonzero(wrong):
        cell = str(texts[row])
        problem, found = ("is not a finite number", cell) if cell else ("is empty", None)
        if np.isfinite(values[row]):
            problem = "is out of range"
        # The heading is row 1.
        yield Mistake(problem, "a number", AGAIN, str(path), int(row) + 2, str(cells.name), found)
