"""Text of files and pipes, within limits of size and time, decoded."""

from __future__ import annotations

import codecs
import math
import os
import re
import select
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from reservoir.errors import InputError, Mistake

#: Words of records and tables in Chinese. What is no UTF-8, is sound as GB18030 and has one is read as that: other
#: encodings have none of these bytes side by side by chance.
_CHINESE = re.compile("年[月份度]|月|站|日期|时间|流量|径流|水[位库量]|来水|库容|高程|面积")
#: How encodings are called where a file is not UTF-8.
_NAMES = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "gb18030": "GB18030"}


def encoding_of(data: bytes) -> str:
    """The encoding of a text, or of its first lines, as Python calls it; UTF-8 also of what is none that is read."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in data:
        # Digits, commas and ends of lines have a byte of zero each, all on the same side.
        zeros = {"utf-16-le": data[1::2].count(0), "utf-16-be": data[::2].count(0)}
        encoding = max(zeros, key=zeros.__getitem__)
        text = data.decode(encoding, "replace")
        return encoding if "\0" not in text and sum(map(str.isascii, text)) > len(text) / 2 else "utf-8"
    with suppress(UnicodeDecodeError):
        data.decode("utf-8")
        return "utf-8"
    with suppress(UnicodeDecodeError):
        return "gb18030" if _CHINESE.search(data.decode("gb18030")) else "utf-8"
    return "utf-8"


def encoding_notes(encoding: str) -> tuple[str, ...]:
    """What a reader should know of the encoding of a file (`encoding_of`): nothing of UTF-8."""
    name = _NAMES.get(encoding)
    return (f"the file is read as {name} text, not as UTF-8",) if name else ()


def head_lines(head: bytes) -> tuple[bytes, str]:
    """The whole lines at the beginning of a text, and the encoding of the file; those of UTF-16 are given in UTF-8."""
    lines = head[: head.rfind(b"\n") + 1] or head
    encoding = encoding_of(lines)
    if encoding.startswith("utf-16"):
        text = head.decode(encoding, "ignore")
        lines = (text[: text.rfind("\n") + 1] or text).encode("utf-8", "replace")
    return lines, encoding


def text_of(data: bytes, file: str = "") -> str:
    """Decode UTF-8 or UTF-16, with or without a byte order mark, or GB18030.

    Parameters
    ----------
    data : bytes
        What the file holds.
    file : str
        Its name, for the mistake; empty where the caller adds it.

    Raises
    ------
    InputError
        If the bytes are a workbook, binary or in another encoding.
    """
    encoding, problem, row = encoding_of(data), "", 1
    if data.startswith(b"PK\x03\x04"):
        problem = "the file is a workbook or an archive, not text"
    elif encoding == "utf-8" and b"\0" in data:
        problem, row = "the line has a NUL byte: binary data, or UTF-16 text", _row_at(data, data.index(b"\0"))
    else:
        try:
            return data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
        except UnicodeDecodeError as error:
            # The decoder counts from behind the byte order mark, hence its own copy of the bytes.
            problem = f"the line is not {_NAMES.get(encoding, 'UTF-8')}: byte 0x{error.object[error.start]:02x}"
            row = _row_at(error.object, error.start)
    mend = 'save the file as UTF-8 text (in a spreadsheet: "CSV UTF-8")'
    raise InputError(problem, "UTF-8 text", mend, file=file, row=row)


def _row_at(data: bytes, position: int) -> int:
    before = data[:position].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1


def check_path(path: str | os.PathLike[str]) -> str:
    """How to mend the path of a file that is not there: by files beside it of nearly its name."""
    wanted = Path(path)
    with suppress(OSError, ValueError):
        present = sorted(os.listdir(wanted.parent))
        alike = [name for name in present if Path(name).stem.casefold() == wanted.stem.casefold()]
        if near := alike[:3] or get_close_matches(wanted.name, present, 1, 0.75):
            return f"check the path; there is {' and '.join(str(wanted.with_name(name)) for name in near)}"
    return "check the path"


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
    descriptor = os.open(file, _FLAGS)
    try:
        kind = os.fstat(descriptor)
        if stat.S_ISDIR(kind.st_mode):
            raise IsADirectoryError(f"{file} is a folder")
        content, size = list[bytes](), 0
        too_large = stat.S_ISREG(kind.st_mode) and kind.st_size > most
        for chunk in () if too_large else _chunks(descriptor, file, waits=stat.S_ISFIFO(kind.st_mode)):
            content.append(chunk)
            size += len(chunk)
            if size > most:
                too_large = True
                break
        if too_large:
            limit = f"{most / 1e6:,.0f} MB" if most >= 1e6 else f"{most / 1e3:,.0f} kB"
            mend = "check that this is the right file"
            raise InputError("is too large", f"at most {limit}", mend, file=file)
        return b"".join(content)
    finally:
        os.close(descriptor)


def _chunks(descriptor: int, file: str, *, waits: bool) -> Iterator[bytes]:
    """What a file holds, or what comes through a pipe."""
    written = False
    while True:
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            if waits and not select.select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
                raise InputError(_silent(file))
            chunk = os.read(descriptor, _CHUNK)
            if chunk or written or not waits:
                break
            # A pipe that no writer has opened yet is at its end, too.
            if time.monotonic() >= until:
                raise InputError(_silent(file))
            time.sleep(0.01)
        if not chunk:
            return
        written = True
        yield chunk


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
    return text_of(bytes_in_limits(path), str(path))


def bytes_in_limits(path: Path) -> bytes:
    """What a file holds; InputError if it cannot be read or is too large."""
    try:
        return read_limited(path, MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the file cannot be read: {reason}", mend=check_path(path), file=str(path)) from error


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
