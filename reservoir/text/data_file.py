"""Text of files and pipes, within limits of size and time, decoded."""

from __future__ import annotations

import codecs
import math
import os
import re
import select
import stat
import time
from contextlib import closing
from pathlib import Path

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


#: Seconds that a pipe may stay silent, or without a writer, before it is given up.
PATIENCE_SECONDS = 10.0
_CHUNK = 1 << 20
#: Opening a pipe that nobody writes to would wait for ever. Windows knows text files, but not this flag.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_limited(path: str | os.PathLike[str], most: int) -> bytes:
    """Read a file, a pipe or a device as a whole.

    Parameters
    ----------
    path : str or path-like
    most : int
        Bytes beyond which the file is refused; no more than these are ever held.

    Raises
    ------
    OSError, ValueError
        As `open` does; a folder is an IsADirectoryError.
    InputError
        If it holds more than `most` bytes, or is a pipe into which nothing is written.
    """
    file = os.fspath(path)
    with closing(_Descriptor(os.open(file, _FLAGS))) as source:
        kind = os.fstat(source.number)
        if stat.S_ISDIR(kind.st_mode):
            raise IsADirectoryError(f"{file} is a folder")
        if stat.S_ISREG(kind.st_mode) and kind.st_size > most:
            raise InputError(_too_large(file, most))
        chunks: list[bytes] = []
        held = 0
        while chunk := source.chunk(file):
            held += len(chunk)
            if held > most:
                raise InputError(_too_large(file, most))
            chunks.append(chunk)
        return b"".join(chunks)


class _Descriptor:
    def __init__(self, number: int) -> None:
        self.number = number
        self._waits = stat.S_ISFIFO(os.fstat(number).st_mode)
        self._written = False

    def chunk(self, file: str) -> bytes:
        """What comes next; nothing at the end."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            if self._waits and not select.select([self.number], [], [], max(0.0, until - time.monotonic()))[0]:
                raise InputError(_silent(file))
            chunk = os.read(self.number, _CHUNK)
            if chunk or self._written or not self._waits:
                self._written = True
                return chunk
            # A pipe that no writer has opened yet is at its end, too.
            if time.monotonic() >= until:
                raise InputError(_silent(file))
            time.sleep(0.01)

    def close(self) -> None:
        os.close(self.number)


def _too_large(file: str, most: int) -> Mistake:
    size = f"{most / 1e6:,.0f} MB" if most >= 1e6 else f"{most / 1e3:,.0f} kB"
    return Mistake("is too large", f"at most {size}", "check that this is the right file", file=file)


def _silent(file: str) -> Mistake:
    problem = f"is a pipe that received no data for {PATIENCE_SECONDS:.0f} s"
    return Mistake(problem, mend="start the program that writes to it, or give a file", file=file)


#: Bytes of a file at most: several times what the largest problem takes.
MOST_BYTES = 4_000_000
#: Mistakes that are told of a file; who makes more has another file in mind.
MOST_MISTAKES = 20

_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
#: Characters of a number at most: more digits than any number needs.
_LONGEST = 60


def text_in_limits(path: Path) -> str:
    """The text of a file; InputError if it cannot be read, is too large or is no text."""
    try:
        return text_of(read_limited(path, MOST_BYTES), str(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            Mistake(f"the file cannot be read: {reason}", mend="check the path", file=str(path))
        ) from error


def whole_number(word: str) -> int | None:
    """A whole number in digits, of 15 at most; None for anything else."""
    return int(word) if _WHOLE.fullmatch(word) else None


def real_number(word: str) -> float:
    """A finite number in digits; NaN for anything else."""
    number = float(word) if len(word) <= _LONGEST and _REAL.fullmatch(word) else math.nan
    return number if math.isfinite(number) else math.nan


class Mistakes(list[Mistake]):
    """Mistakes of a file, told together when there are enough of them."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = str(path)

    def add(self, problem: str, expected: str, mend: str = "", *, row: int | None = None, value: object = None) -> None:
        """Keep one; InputError with all when there are as many as are told of a file."""
        self.append(Mistake(problem, expected, mend, file=self._file, row=row, value=value))
        if len(self) >= MOST_MISTAKES:
            self.tell()

    def tell(self) -> None:
        """Raise InputError if there are any."""
        if self:
            raise InputError(self)
