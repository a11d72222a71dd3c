"""Workbooks (``.xlsx``): their sheets as cells of text, which sheet is meant, and tables written as sheets."""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reservoir.errors import InputError

#: How a workbook, which is an archive, begins; and how its name ends.
WORKBOOK, SUFFIXES = b"PK\x03\x04", (".xlsx", ".xlsm")
#: Bytes of a workbook; rows of a sheet, five centuries of days; its cells, a century of days of a country's plants.
MOST_BYTES, MOST_ROWS, MOST_CELLS, _MOST_CHARACTERS = 48_000_000, 200_000, 6_000_000, 48_000_000
#: Columns that are looked at, one more than a record may have; and rows that a sheet may have.
_COLUMNS, SHEET_ROWS = 251, 1_048_576
#: Bytes of all parts of a workbook, unpacked: in any case, and of one that is packed so tightly at most.
_USUAL_BYTES, _LARGEST_BYTES, _MOST_PACKED = 8_000_000, 300_000_000, 100
_SAVE = 'save the sheet as CSV (in a spreadsheet: "CSV UTF-8")'
_INSTALL = "pip install 'reservoir[excel]'"
#: How a cell begins in the parts of a workbook, and bytes that are looked at in one go.
_CELL, _CHUNK = re.compile(rb"<(?:\w+:)?c[ >]"), 1 << 20
#: Characters of a sheet's name.
_LONGEST_NAME = 31

Cells = Sequence[tuple[int, Sequence[str]]]


class Sheet(NamedTuple):
    """A sheet that has cells: its name, and every row of it as text, all as wide as the widest."""

    name: str
    rows: tuple[tuple[str, ...], ...]

    @property
    def filled(self) -> Cells:
        """Rows that have cells, with the numbers that a spreadsheet shows."""
        return [(number, cells) for number, cells in enumerate(self.rows, 1) if any(cells)]

    def csv(self) -> bytes:
        """What a spreadsheet would save of it."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.rows)
        return text.getvalue().encode("utf-8", "surrogatepass")


def require_cells(data: bytes, most: int) -> None:
    """Refuse a workbook with more cells than `most` in all its sheets, before anything else reads it: InputError."""
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts, cells = archive.infolist(), 0
        if sum(part.file_size for part in parts) > _LARGEST_BYTES:
            return  # refused by whatever reads it
        for part in (part for part in parts if part.filename.startswith("xl/worksheets/")):
            with archive.open(part) as opened:
                for chunk in iter(lambda opened=opened: opened.read(_CHUNK), b""):  # type: ignore[misc]
                    cells += len(_CELL.findall(chunk))
                    if cells > most:
                        mend = "keep only the sheets and columns that are needed"
                        raise InputError(f"the workbook has more than {most:,} cells", f"at most {most:,}", mend)


def is_workbook(path: str | Path | None) -> bool:
    """Whether a file is a workbook, by its first bytes; a pipe, which is read once, by its name."""
    if path is None or not Path(path).is_file():
        return path is not None and str(path).casefold().endswith(SUFFIXES)
    with Path(path).open("rb") as opened:
        return opened.read(len(WORKBOOK)) == WORKBOOK


@lru_cache(maxsize=2)  # a case is read for its curve, its limits and its inflow, of one workbook or two
def sheets_of(data: bytes) -> tuple[Sheet, ...]:
    """All sheets that have cells: values as they are, dates in ISO form.

    Raises
    ------
    InputError
        If it is no workbook, has no cells or too many, or openpyxl is not installed.
    """
    try:
        import openpyxl
    except ModuleNotFoundError:
        mend = f"{_INSTALL}, or {_SAVE}"
        raise InputError("the file is a workbook: it needs openpyxl, which is not installed", mend=mend) from None

    from reservoir.io.containers import library_call, require_size  # what reads arrays, and no reservoir file waits for

    def sheets() -> tuple[Sheet, ...]:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            declared = sum(part.file_size for part in archive.infolist())
        require_size(declared, min(len(data), _LARGEST_BYTES // _MOST_PACKED), _USUAL_BYTES, _MOST_PACKED)
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        return tuple(sheet for sheet in map(_sheet, book.worksheets) if sheet.rows)

    def refused(reason: str) -> InputError:
        return InputError(f"the file cannot be read as a workbook ({reason})", mend=_SAVE)

    return library_call(sheets, refused)


def _sheet(sheet: Any) -> Sheet:
    """Rows up to the last one that has a cell, as wide as the widest.

    What a sheet says of its own size is not asked: programs write one cell there, or all that a sheet may have.
    """
    filled: list[list[str]] = []
    texts: dict[str, str] = {}  # flows repeat
    blank = characters = width = 0
    for row in sheet.iter_rows(values_only=True, max_row=SHEET_ROWS, max_col=_COLUMNS):
        if row.count(None) == len(row):
            blank += 1
            continue
        cells = [texts.setdefault(text, text) for text in map(_text, row)]
        while cells and not cells[-1]:
            cells.pop()
        filled += [*([] for _ in range(blank)), cells]
        blank = 0
        characters, width = characters + sum(map(len, cells)), max(width, len(cells))
        sizes = {"rows": len(filled), "cells": width * len(filled), "characters": characters}
        for (noun, many), most in zip(sizes.items(), (MOST_ROWS, MOST_CELLS, _MOST_CHARACTERS), strict=True):
            if many > most:
                mend = "keep only the sheet and the columns of the record"
                raise InputError(f"the sheet has {many:,} {noun} or more", f"at most {most:,}", mend)
    return Sheet(sheet.title, tuple((*cells, *[""] * (width - len(cells))) for cells in filled) if width else ())


def _text(cell: object) -> str:
    """A cell as it would stand in a CSV file."""
    if isinstance(cell, float):
        return f"{cell:.0f}" if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time().isoformat() == "00:00:00" else cell.isoformat(" ", "minutes")
    if cell is None or isinstance(cell, date):
        return "" if cell is None else cell.isoformat()
    return " ".join(str(cell).split())


def chosen_sheet(
    sheets: Sequence[Sheet], names: Sequence[str], holds: Callable[[Sheet], bool], what: str
) -> Sheet | None:
    """The one sheet that holds something; None where none does.

    Parameters
    ----------
    sheets : sequence of Sheet
    names : sequence of str
        Sheets that the caller names; of several that hold it, the one among these is meant.
    holds : callable
    what : str
        What is looked for, for the message.

    Raises
    ------
    InputError
        If a name is that of no sheet, or several sheets hold it.
    """
    require_sheets(sheets, names)
    candidates = [sheet for sheet in sheets if holds(sheet)]
    meant = [sheet for sheet in candidates if _folded(sheet.name) in map(_folded, names)] or candidates
    if len(meant) > 1:
        listed = ", ".join(sheet.name for sheet in meant)
        problem = f"{len(meant)} sheets may be {what}: {listed}"
        raise InputError(problem, "one of them", f'name it, such as sheet "{meant[0].name}"', column="sheet")
    return meant[0] if meant else None


def require_sheets(sheets: Sequence[Sheet], names: Sequence[str]) -> None:
    """Refuse the name of a sheet that is not there: InputError."""
    for name in names:
        if _folded(name) not in (_folded(sheet.name) for sheet in sheets):
            listed = ", ".join(sheet.name for sheet in sheets)
            raise InputError("there is no such sheet", f"one of {listed}", "give sheet", column="sheet", value=name)


def own_sheets(path: Path, names: Sequence[str]) -> list[str]:
    """Those of some names that are sheets of a workbook; none where the file is no workbook."""
    if not names or not is_workbook(path):
        return []
    present = {_folded(sheet.name) for sheet in sheets_of(path.read_bytes())}
    return [name for name in names if _folded(name) in present]


def _folded(name: str) -> str:
    return name.strip().casefold()


def write_workbook(tables: Mapping[str, Mapping[str, Any]], path: Path, caveat: str = "") -> None:
    """Write tables as the sheets of a workbook: numbers as numbers, dates as dates, the heading in bold and frozen.

    Parameters
    ----------
    tables : mapping of str to mapping
        Columns of each sheet by their headings, which have the units; arrays of one length.
    path : Path
    caveat : str
        What must be said of the first sheet, in a row above its heading; readers of records understand it.

    Raises
    ------
    InputError
        If a table has more rows than a sheet may have, or openpyxl is not installed.
    """
    require_openpyxl(max((len(table[heading]) for table in tables.values() for heading in [*table][:1]), default=0))
    import openpyxl
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    book = openpyxl.Workbook(write_only=True)
    for name, table in tables.items():
        columns = [np.asarray(table[heading]) for heading in table]
        sheet = book.create_sheet(name[:_LONGEST_NAME])
        above = [f"# caveat: {caveat}"] if caveat and name == next(iter(tables)) else []
        sheet.freeze_panes = f"A{2 + len(above)}"
        if above:
            sheet.append(above)
        titles = [WriteOnlyCell(sheet, str(heading)) for heading in table]
        for title in titles:
            title.font = Font(bold=True)
        sheet.append(titles)
        for row in zip(*map(_values, columns), strict=True):
            sheet.append(row)
    book.save(path)


def require_openpyxl(rows: int = 0, most: int = SHEET_ROWS - 1) -> None:
    """Refuse to write a workbook of so many rows a sheet, or where what writes it is not installed: InputError."""
    if find_spec("openpyxl") is None:
        raise InputError("xlsx needs openpyxl, which is not installed", mend=_INSTALL, column="format")
    if rows > most:
        problem, expected = f"a sheet of {rows:,} rows", f"at most {most:,} rows in a sheet"
        raise InputError(problem, expected, "choose the format csv or netcdf", column="format")


def _values(column: np.ndarray[Any, Any]) -> list[Any]:
    """Cells of a column; texts that are whole numbers or days are such."""
    if column.dtype.kind == "f":
        # As in CSV, six decimals, of which zero has no sign.
        return [value if math.isfinite(value) else None for value in (np.round(column, 6) + 0.0).tolist()]
    return [_value(value) for value in column.tolist()] if column.dtype.kind in "OUM" else column.tolist()


def _value(value: Any) -> Any:
    if not isinstance(value, str):
        return None if isinstance(value, float) and not math.isfinite(value) else value
    if value.isdecimal():
        return int(value) if str(int(value)) == value else value  # a name such as 007
    for read in (date.fromisoformat, float):
        with suppress(ValueError):
            number = read(value)
            return None if isinstance(number, float) and not math.isfinite(number) else number
    return value or None
