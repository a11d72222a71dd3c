"""Decode the bytes of a reservoir file as TOML."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.text.limited_read import read_limited

#: A reservoir with long curves takes some 20 kB.
MOST_BYTES = 1_000_000
#: A dotted key of more parts takes the decoder ever longer: its time grows with their square.
MOST_PARTS = 32
#: Python converts no integer of more than 4,300 digits, and no quantity needs a tenth of them.
MOST_DIGITS = 400

_START_ANEW = '"reservoir new NAME" writes a commented file to start from'
_PART = r"""(?:[\w-]++|"(?:[^"\\]|\\.)*+"|'[^']*+')"""
_LONG_KEY = re.compile(rf"(?:^|[,=\[\]{{}}])[ \t]*+{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}")

#: What is wrong with a line, by how the decoder's message begins.
_SYNTAX = {
    "Cannot overwrite": "repeats a key",
    "Cannot mutate": "repeats a key",
    "Cannot declare": "repeats a section",
    "Expected newline or end of document": "has extra text after the value",
    "Expected '='": "has a key without = and a value",
    "Invalid value": "has no value, or one that is not a number, text or list",
    "Invalid statement": "is neither key = value nor [section]",
    "Unclosed array": "is in a list without closing ]",
    "Unterminated string": "is in a text without closing quote",
}


def file_content(path: str | Path) -> bytes:
    """Read the bytes; a hash is of these, before any decoding.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read, or it is too large.
    """
    try:
        return read_limited(path, MOST_BYTES)
    except FileNotFoundError:
        problem, mend = "does not exist", f"check the path; {_START_ANEW}"
    except IsADirectoryError:
        problem, mend = "is a folder, not a file", "give the TOML file in it"
    except OSError as error:
        problem, mend = f"cannot be read: {error.strerror}", ""
    except ValueError as error:
        problem, mend = f"cannot be read: {error}", "check the path"
    raise InputError(Mistake(problem, "a reservoir file (TOML)", mend, file=str(path)))


def parsed(content: bytes, file: str) -> dict[str, Any]:
    """Decode a file's bytes.

    Raises
    ------
    InputError
        If they are not TOML, or hold what no reservoir file needs and no decoder takes.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
        mend = "save the file as UTF-8"
        raise InputError(Mistake("is not UTF-8 text", mend=mend, file=file, row=row)) from None
    _require_decodable(text, file)
    try:
        tree = tomllib.loads(text)
    except RecursionError:
        mend = "write the sections and lists without nesting"
        raise InputError(Mistake("has too many nested lists or sections", mend=mend, file=file)) from None
    except ValueError as error:
        raise InputError(_not_toml(str(error), text, file)) from None
    if not tree:
        raise InputError(Mistake("is empty", "a reservoir file (TOML)", _START_ANEW, file=file))
    return tree


def _require_decodable(text: str, file: str) -> None:
    for row, line in enumerate(text.split("\n"), 1):
        digits = re.search(rf"[\d_]{{{MOST_DIGITS + 1},}}|0[xX][\da-fA-F_]{{{MOST_DIGITS + 1},}}", line)
        if digits:
            problem = f"has a number of {len(digits[0]):,} digits"
            raise InputError(Mistake(problem, f"at most {MOST_DIGITS}", "round it", file=file, row=row))
        if line.count(".") >= MOST_PARTS and _LONG_KEY.search(line):
            problem = f"has a key of more than {MOST_PARTS} parts"
            raise InputError(Mistake(problem, "section.key", "write it below its [section]", file=file, row=row))


def _not_toml(message: str, text: str, file: str) -> Mistake:
    """Take the place out of the decoder's message, and show the line that it stopped at."""
    lines = text.rstrip().split("\n")
    place = re.search(r" \(at (?:line (\d+)|end of document)", message)
    row = min(int(place[1]), len(lines)) if place and place[1] else len(lines)
    said = message[: place.start()] if place else message
    found = lines[row - 1].strip() or None
    problem = next((words for begin, words in _SYNTAX.items() if said.startswith(begin)), f"is not TOML: {said}")
    expected = 'key = value, with text in "quotes", lists in [brackets] and decimals with a point'
    return Mistake(problem, "" if problem.startswith("repeats") else expected, file=file, row=row, value=found)
