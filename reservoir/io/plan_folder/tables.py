"""CSV tables: how they are written, and those of plans and of schedules by anyone read, without physics and so fast."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.calendar import MONTHS_PER_YEAR, MOST_YEARS
from reservoir.hydro.unit_system import UnitSystem
from reservoir.io.plan_folder.arrays import months_of_plan
from reservoir.io.plan_folder.files import AGAIN, SCHEDULE, changed, schedule_file
from reservoir.io.workbook import WORKBOOK, Sheet, chosen_sheet, sheets_of, write_workbook
from reservoir.text.data_file import encoding_of, read_limited, text_of

if TYPE_CHECKING:
    import pandas as pd

#: No table of a plan is larger: that many months are more than eight thousand years.
MOST_BYTES = 20_000_000
#: Lines of a table: the months of as many years as a record may have, and the heading.
_MOST_LINES = MOST_YEARS * MONTHS_PER_YEAR + 1
#: Bytes of the heading, which names every column.
_LONGEST_HEADING = 2_000
#: No flow or volume in a table is as large, and none but 0 as small: tables have six decimals.
_LARGEST, _SMALLEST = 1e15, 1e-9
_SCHEDULE = ("year", "month", "inflow_m3s", "release_m3s", "storage_start_hm3", "energy_gwh")
#: Decimals in tables; a millionth of a hm3 is a cubic metre.
FLOAT_FORMAT = "%.6f"
#: Numbers no farther from 0 than this are written as 0: half of the last decimal is rounded to the even one.
_LEAST_SHOWN = 5e-7
#: Rows that are written at once: a number takes many times its bytes as an object.
_ROWS = 100_000


def write_table(table: Mapping[str, ArrayLike] | pd.DataFrame, path: Path) -> None:
    """Write columns with six decimals of numbers, and nothing where there is none.

    The bytes are those of `DataFrame.to_csv`, which asks of every number whether it is one; but no zero has a sign.
    """
    columns = [np.asarray(table[name]) for name in map(str, table)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        for first in range(0, len(columns[0]), _ROWS):
            writer.writerows(zip(*(_cells(column[first : first + _ROWS]) for column in columns), strict=True))


def _cells(column: NDArray[Any]) -> list[Any]:
    if column.dtype.kind != "f":
        return list(column.tolist())
    # What six decimals show as a zero below 0 is 0.
    values = np.where((column <= 0) & (column >= -_LEAST_SHOWN), 0.0, column).tolist()
    return ["" if math.isnan(value) else FLOAT_FORMAT % value for value in values]


def read_schedule(folder: Path) -> pd.DataFrame:
    """The months of a plan in the program's units, as ``schedule.csv`` has them, or its arrays where there is none.

    Raises
    ------
    InputError
        If the file is missing, or holds what is no number.
    """
    import pandas as pd

    path = folder / SCHEDULE
    if schedule_file(folder) != path:
        return months_of_plan(folder)
    table = read_cells(path)
    units = UnitSystem.of_columns(table.columns)
    names = {name: units.program_column(name) for name in table.columns}
    require_one_of_each(path, names, AGAIN)
    table = table.rename(columns=names)
    missing = [units.column(name) for name in _SCHEDULE if name not in table.columns]
    if missing:
        raise changed(path, f"has no column {', '.join(missing)}")
    if table.empty:
        raise changed(path, "has no rows")
    numbers = {name: pd.to_numeric(table[name], errors="coerce").astype(float) for name in _SCHEDULE if name != "year"}
    mistakes = worth_telling(
        (
            replace(mistake, column=units.column(name))
            for name in numbers
            for mistake in _not_numbers(path, table[name], numbers[name])
        ),
        str(path),
    )
    if mistakes:
        raise InputError(mistakes)
    table = table.assign(**{name: column * units.size(name) for name, column in numbers.items()})
    return table.reset_index(drop=True)


def _not_numbers(path: Path, cells: pd.Series, numbers: pd.Series) -> Iterator[Mistake]:
    values, texts, places = numbers.to_numpy(), cells.to_numpy(), cells.index.to_numpy()
    size = np.abs(values)
    for row in np.flatnonzero(~(size <= _LARGEST) | (size > 0) & (size < _SMALLEST)):
        cell = str(texts[row])
        problem, value = ("is not a finite number", cell) if cell else ("is empty", None)
        if np.isfinite(values[row]):
            problem = "is out of range"
        yield Mistake(problem, "a number", AGAIN, str(path), int(places[row]), str(cells.name), value)


def write_tables(tables: Mapping[str, Any], folder: Path, workbook: str = "") -> list[str]:
    """Write tables, by the names of their CSV files; or as the sheets of one workbook. Returns the files' names."""
    if workbook:
        write_workbook({name.removesuffix(".csv"): table for name, table in tables.items()}, folder / workbook)
        return [workbook]
    for name, table in tables.items():
        write_table(table, folder / name)
    return list(tables)


def read_sheets(path: Path) -> dict[str, dict[str, NDArray[Any]]]:
    """The tables of a workbook that `write_tables` wrote, every cell as text, by the names of their CSV files."""
    sheets = {}
    for sheet in sheets_of(read_limited(path, MOST_BYTES)):
        columns = zip(*sheet.rows[1:], strict=True)
        sheets[f"{sheet.name}.csv"] = {
            heading: np.array(column, object) for heading, column in zip(sheet.rows[0], columns, strict=True)
        }
    return sheets


def _schedule_of_workbook(content: bytes, names: Sequence[str]) -> bytes:
    """The sheet with a header that names a release, as CSV; `names` are sheets that are meant."""

    def holds(sheet: Sheet) -> bool:
        return any(cell.strip().casefold().startswith("release") for cell in sheet.rows[0])

    sheets = sheets_of(content)
    sheet = chosen_sheet(sheets, names, holds, "the schedule")
    if sheet is None:
        listed = ", ".join(sheet.name for sheet in sheets)
        problem = f"no sheet has a first row with a release (sheets: {listed})"
        raise InputError(problem, "a column such as release_m3s", "name the column so")
    return sheet.csv()


def read_cells(path: Path, mend: str = AGAIN, names: Sequence[str] = ()) -> pd.DataFrame:
    """Every cell of a CSV file, or of the sheet of a workbook that is a schedule, as text; `attrs` has the encoding.

    The index has the number of each row as an editor shows it. `mend` is how a wrong one is to be mended, `names` are
    sheets that are meant.
    """
    import pandas as pd

    refused = partial(InputError, mend=mend, file=str(path))
    try:
        content = read_limited(path, MOST_BYTES)
    except FileNotFoundError as error:
        raise refused("is missing") from error
    except (OSError, ValueError) as error:
        raise refused(f"cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if content.startswith(WORKBOOK):
        content = _schedule_of_workbook(content, names)
    if len(content.partition(b"\n")[0]) > _LONGEST_HEADING:
        raise refused(f"has a header of more than {_LONGEST_HEADING:,} bytes")
    lines = content.count(b"\n")
    if lines > _MOST_LINES:
        raise refused(f"has {lines:,} lines; a plan has at most {_MOST_LINES:,}")
    try:
        text = text_of(content, str(path))
    except InputError as error:
        raise InputError([replace(mistake, mend=mend) for mistake in error.mistakes]) from error
    heading, rows, numbers, row = list[str](), list[list[str]](), list[int](), 1
    reader = csv.reader(StringIO(text, newline=None), strict=True)  # lines may end as on old Macintoshes
    try:
        for cells in reader:
            if len(cells) < 2 and not "".join(cells).strip():
                pass  # a blank line
            elif not heading:
                names = [name.strip() for name in cells]
                for name in (name for place, name in enumerate(names) if name and name in names[:place]):
                    raise refused("is there twice", "each column once", row=row, column=name)
                heading = [name or f"Unnamed: {place}" for place, name in enumerate(cells)]
            elif len(cells) > len(heading):
                expected = f"{len(heading)}, as in the header"
                raise refused(f"has {len(cells)} cells", expected, row=row)
            else:
                rows.append(cells + [""] * (len(heading) - len(cells)))
                numbers.append(row)
            row = reader.line_num + 1
    except csv.Error as error:
        if "field larger" in str(error):
            raise refused(f"cannot be read as a table ({error})") from error
        raise refused("has quotation marks that do not enclose a whole cell", row=row) from error
    if not heading:
        raise refused("is empty")
    frame = pd.DataFrame(rows, numbers, heading, dtype=str)
    frame.attrs["encoding"] = encoding_of(content)
    return frame


def require_one_of_each(path: Path, quantities: Mapping[str, str], mend: str) -> None:
    """Refuse a table of which several columns are of one quantity; `quantities` has that of each heading.

    Raises
    ------
    InputError
        With these columns.
    """
    for quantity in dict.fromkeys(quantities.values()):
        alike = [name for name, named in quantities.items() if named == quantity]
        if len(alike) > 1:
            problem = "are columns of one quantity"
            raise InputError(problem, "one of them", mend, str(path), row=1, value=", ".join(alike))
