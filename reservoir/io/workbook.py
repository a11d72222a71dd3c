"""A sheet of an ``.xlsx`` workbook as the text of a CSV file, row by row."""

from __future__ import annotations

import csv
import io
from datetime import date, datetime
from zipfile import BadZipFile

from reservoir.errors import InputError, Mistake

#: How a workbook, which is an archive, begins; and the end of its name.
_BEGIN, SUFFIX = b"PK\x03\x04", ".xlsx"
#: Rows and columns that are looked at: as many as of a CSV file.
_MOST_ROWS, _MOST_COLUMNS = 200_000, 100
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
        import openpyxl
    except ModuleNotFoundError:
        mend = f"pip install 'reservoir[excel]', or {_SAVE}"
        raise InputError(
            Mistake("the file is a workbook: it needs openpyxl, which is not installed", mend=mend)
        ) from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        texts = (_csv(sheet) for sheet in book.worksheets)
        text = next((text for text in texts if text.strip("\r\n,")), "")
    except (BadZipFile, KeyError, ValueError, OSError, EOFError, TypeError, AttributeError, SyntaxError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(Mistake(f"the file cannot be read as a workbook ({reason})", mend=_SAVE)) from error
    return text.encode()


def _csv(sheet: object) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = sheet.iter_rows(values_only=True, max_row=_MOST_ROWS, max_col=_MOST_COLUMNS)  # type: ignore[attr-defined]
    for row in rows:
        writer.writerow([_text(cell) for cell in row])
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
