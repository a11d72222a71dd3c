"""Standard output and error on which unknown characters, full disks and closed pipes are not fatal."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import Any, TextIO

from reservoir.text.quantities import printable

#: What stands for characters that an encoding does not know; an escape for all others.
_PLAIN = {"≤": "<=", "≥": ">=", "…": "...", "–": "-", "—": "-", "×": "x", "·": ".", "²": "2", "³": "3", "°": " deg"}
_ERRORS = "reservoir.plain"


class PatientRaw(io.RawIOBase):
    """A stream that takes everything: once it cannot be written, the rest is lost and the error remembered."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.error: OSError | None = None

    def writable(self) -> bool:
        """Always."""
        return True

    def isatty(self) -> bool:
        """Whether a person looks on."""
        return bool(self.raw.isatty())

    def fileno(self) -> int:
        """Number of the stream underneath."""
        return int(self.raw.fileno())

    def write(self, data: Any) -> int:
        """Write, or lose."""
        if self.error is None:
            try:
                return int(self.raw.write(data) or 0)
            except OSError as error:
                self.error = error
        return memoryview(data).nbytes


def prepare_streams() -> None:
    """Take the place of both standard streams; those that were closed lead to nowhere."""
    codecs.register_error(_ERRORS, _plain)
    for number in range(3):  # else the next file opened would be taken for a closed one
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        buffer = getattr(stream, "buffer", None)
        raw = getattr(buffer, "raw", buffer)  # without a buffer where Python was told to write at once
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(raw, io.RawIOBase) and not isinstance(raw, PatientRaw):
            setattr(sys, name, _patient(stream, raw))


def lost_output() -> str:
    """Say why standard output could not be written as a whole; empty if it was, or if its reader left."""
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    error = raw.error if isinstance(raw, PatientRaw) else None
    return "" if error is None or error.errno in (errno.EPIPE, errno.EINVAL) else str(error.strerror or error)


def say(text: str, stream: TextIO | None = None) -> None:
    """Write a line with nothing in it that a terminal would obey."""
    (stream or sys.stdout).write(printable(text) + "\n")


def warn(text: str) -> None:
    """Write a line on standard error, as `say` does."""
    say(text, sys.stderr)


def _patient(stream: TextIO, raw: Any) -> TextIO:
    stream.flush()
    buffer = io.BufferedWriter(PatientRaw(raw))
    at_once = stream is sys.stderr or raw.isatty()
    return io.TextIOWrapper(buffer, encoding=stream.encoding, errors=_ERRORS, line_buffering=at_once)


def _plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    found = error.object[error.start : error.end]
    return "".join(_PLAIN.get(each) or ascii(each)[1:-1] for each in found), error.end
