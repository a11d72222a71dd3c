"""Read a file up to a size limit, and a pipe up to a time limit."""

from __future__ import annotations

import os
import select
import stat
import time
from contextlib import closing

from reservoir.errors import InputError, Mistake

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
