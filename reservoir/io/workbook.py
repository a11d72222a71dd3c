"""A sheet of an ``.xlsx`` workbook as the text of a CSV file, row by row."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import date, datetime

from reservoir.errors import InputError, Mistake
from reservoir.io.containers import library_call, require_size
from reservoir.io.inflow_csv.lines import MOST_BYTES, MOST_LINES

#: How a workbook, which is an archive, begins; and the end of its name.
_BEGIN, SUFFIX = b"PK\x03\x04", ".xlsx"
#: Columns that are looked at, one more than a CSV file may have, and rows of a sheet.
_COLUMNS, _MOST_ROWS = 101, 1_048_576
#: Bytes of all parts of a workbook, unpacked: in any case, and of one that is packed so tightly at most.
_USUAL_BYTES, _LARGEST_BYTES, _MOST_PACKED = 8_000_000, 120_000_000, 100
_SAVE = 'save the sheet as CSV (in a spreadsheet: "CSV UTF-8")'


def is_workbook(data: bytes) -> bool:
    """Whether these bytes may be a workbook."""
    return data.startswith(_BEGIN)


def csv_of_workbook(data: bytes) -> bytes:
    """Write the first sheet that has cells as CSV: values as they are, dates in ISO form, one line a row.

    Raises
    ------
    InputError
        If it is no workbook, has no cells or too many, or openpyxl is not installed.
    """
    try:
        import openpyxl  # noqa: F401
    except ModuleNotFoundError:
        mend = f"pip install 'reservoir[excel]', or {_SAVE}"
        raise InputError(
            Mistake("the file is a workbook: it needs openpyxl, which is not installed", mend=mend)
        ) from None
    return library_call(lambda: _first_sheet(data), _refused).encode("utf-8", "surrogatepass")


def _refused(reason: str) -> InputError:
    return InputError(Mistake(f"the file cannot be read as a workbook ({reason})", mend=_SAVE))


def _first_sheet(data: bytes) -> str:
    import openpyxl

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        declared = sum(each.file_size for each in archive.infolist())
    require_size(declared, min(len(data), _LARGEST_BYTES // _MOST_PACKED), _USUAL_BYTES, _MOST_PACKED)
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    return next((text for text in map(_csv, book.worksheets) if text.strip("\r\n,")), "")


def _csv(sheet: object) -> str:
    """Rows up to the last one that has a cell, as wide as the widest.

    What a sheet says of its own size is not asked: programs write one cell there, or all that a sheet may have.
    """
    found: list[list[str]] = []
    blank = characters = 0
    rows = sheet.iter_rows(values_only=True, max_row=_MOST_ROWS, max_col=_COLUMNS)  # type: ignore[attr-defined]
    for row in rows:
        if row.count(None) == len(row):
            blank += 1
            continue
        cells = [_text(cell) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        found += [[] for _ in range(blank)]
        found.append(cells)
        blank = 0
        characters += sum(map(len, cells))
        for many, most, noun in ((len(found), MOST_LINES, "rows"), (characters, MOST_BYTES, "characters")):
            if many > most:
                mend = "keep only the sheet and the columns of the record"
                raise InputError(Mistake(f"the sheet has {many:,} {noun} or more", f"at most {most:,}", mend))
    text, width = io.StringIO(), max(map(len, found), default=0)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([*cells, *[""] * (width - len(cells))] for cells in found)
    return text.getvalue()


def _text(cell: object) -> str:
    """A cell as it would stand in a CSV file."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time().isoformat() == "00:00:00" else cell.isoformat(" ", "minutes")
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, float):
        return f"{cell:.0f}" if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    return " ".join(str(cell).split())
