"""Text files of benchmark problems: read within limits, with strict numbers."""

from __future__ import annotations

import math
import re
from pathlib import Path

from reservoir.errors import InputError, Mistake
from reservoir.text.decoding import text_of
from reservoir.text.limited_read import read_limited

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
