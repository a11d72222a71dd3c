"""Bytes of a text file -> text, or one mistake that says how to save the file correctly."""

from __future__ import annotations

import codecs

from reservoir.errors import InputError, Mistake

_SAVE = 'save the file as UTF-8 text (in a spreadsheet: "CSV UTF-8")'


def text_of(data: bytes, file: str = "") -> str:
    """Decode UTF-8, with or without a byte order mark.

    Parameters
    ----------
    data : bytes
        What the file holds.
    file : str
        Its name, for the mistake; empty where the caller adds it.

    Raises
    ------
    InputError
        If the bytes are a workbook, UTF-16, binary or in another encoding.
    """
    if data.startswith(b"PK\x03\x04"):
        raise InputError(_not_text("the file is a workbook or an archive, not text", file, 1))
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(_not_text("the file is UTF-16, not UTF-8", file, 1))
    if b"\0" in data:
        row = _row_at(data, data.index(b"\0"))
        raise InputError(_not_text("the line has a NUL byte: binary data, or UTF-16 text", file, row))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from behind the byte order mark, hence its own copy of the bytes.
        row = _row_at(error.object, error.start)
        byte = f"0x{error.object[error.start]:02x}"
        raise InputError(_not_text(f"the line is not UTF-8: byte {byte}", file, row)) from error


def _row_at(data: bytes, position: int) -> int:
    before = data[:position].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1


def _not_text(problem: str, file: str, row: int) -> Mistake:
    return Mistake(problem, file=file, row=row, expected="UTF-8 text", mend=_SAVE)
