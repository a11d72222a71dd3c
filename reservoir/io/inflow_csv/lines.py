"""The lines of an inflow file: comments, header and data, within the size limits stated here."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reservoir.errors import InputError, Mistake
from reservoir.text.data_file import read_limited, text_of

#: What an inflow file may hold: five centuries of days, and no line that is a file by itself.
MOST_BYTES = 16_000_000
MOST_LINES = 200_000
MOST_CHARACTERS = 10_000
MOST_COMMENTS = 1_000
#: Characters of all comments: every word of theirs is weighed, as it may speak of the unit.
MOST_COMMENTED = 100_000

DELIMITERS = ",;\t"
#: Names of the column of dates, and of years, in small letters; a water year is named by its end.
DATE_NAMES = frozenset(
    {"date", "datetime", "date time", "date/time", "timestamp", "yyyy-mm-dd", "datum", "dato", "fecha"}
    | {"日期", "时间", "年月", "年月日", "日付"}
) | {f"week{sign}{word}" for sign in " _" for word in ("ending", "beginning", "starting")}
WATER_YEAR_NAMES = frozenset({"wy", "water year", "water_year", "wateryear", "hydrological year", "hydrologic year"})
YEAR_NAMES = frozenset({"year", "年份", "年度", "année", "jahr", "año", "ano"}) | WATER_YEAR_NAMES
#: Lines above the header that are looked through for it.
_MOST_TITLES = 20
#: Columns that every header has one of.
_HEADER_NAMES = DATE_NAMES | YEAR_NAMES


class Line(NamedTuple):
    """A line with the number that an editor shows."""

    number: int
    text: str


class Comment(NamedTuple):
    """One comment line, without its mark, or a title above the header."""

    number: int
    text: str
    noun: str = "comment"

    def says(self, key: str) -> str | None:
        """Give what stands after ``key:``, or None where the comment is about something else."""
        match = re.match(rf"{key}\s*[:=](.*)", self.text, re.IGNORECASE)
        return match[1].strip() if match else None


@dataclass(frozen=True)
class Content:
    """The lines of a file that are no comments, from the header on, and the character between their cells."""

    lines: tuple[Line, ...]
    delimiter: str
    comments: tuple[Comment, ...]


def bytes_of(path: str | os.PathLike[str]) -> bytes:
    """What a file, or a pipe, holds.

    Raises
    ------
    InputError
        If it cannot be read, or is larger than MOST_BYTES.
    """
    try:
        return read_limited(path, MOST_BYTES)
    except FileNotFoundError:
        mistake = Mistake("the file does not exist", mend="check the path")
    except IsADirectoryError:
        mistake = Mistake("this is a folder", "a CSV file", "give a file in it")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        mistake = Mistake(f"the file cannot be read: {reason}", mend="check the path and the permissions")
    raise InputError(mistake)


def content_of(data: bytes) -> Content:
    """Decode a file and find its header.

    Raises
    ------
    InputError
        If it is not UTF-8 text, is too large, holds no header, or something else above it.
    """
    lines = _lines(data)
    comments = tuple(Comment(line.number, _comment(line.text)) for line in lines if _is_comment(line.text))
    if len(comments) > MOST_COMMENTS:
        raise _too_much(f"the file has {len(comments):,} comment lines", f"at most {MOST_COMMENTS:,}")
    commented = sum(len(comment.text) for comment in comments)
    if commented > MOST_COMMENTED:
        raise _too_much(f"the comments have {commented:,} characters", f"at most {MOST_COMMENTED:,} in total")
    content = [line for line in lines if line.text.strip() and not _is_comment(line.text)]
    delimiter, content = _announced_delimiter(content)
    if not content:
        problem = "the file has only comments" if comments else "the file is empty"
        expected, mend = "a header line and data rows", "check that this is the right file"
        raise InputError(Mistake(problem, expected, mend))
    titles, content = _titles(content, delimiter)
    content = content[:1] + content[1 + _is_widths(content[1:2]) :]
    comments = tuple(sorted((*comments, *titles)))
    return Content(tuple(content), delimiter or delimiter_of(content[0].text), comments)


def delimiter_of(header: str) -> str:
    """The delimiter that a header has most of, before others if one of its cells then is ``date`` or ``year``."""
    unquoted = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=lambda delimiter: (_is_header(header, delimiter), unquoted.count(delimiter)))


def _lines(data: bytes) -> list[Line]:
    # Counted before anything is cut: every line costs more than its bytes.
    ends = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    if ends > MOST_LINES:
        raise _too_much(f"the file has {ends:,} lines", f"at most {MOST_LINES:,} lines")
    # str.splitlines also breaks at form feeds and the like, which editors do not count as lines.
    # Old programs end a file with a control-Z.
    text = text_of(data.rstrip(b"\x1a")).replace("\r\n", "\n").replace("\r", "\n")
    lines = [Line(number, line) for number, line in enumerate(text.split("\n"), start=1)]
    long = next((line for line in lines if len(line.text) > MOST_CHARACTERS), None)
    if long is not None:
        problem = f"the line has {len(long.text):,} characters"
        raise _too_much(problem, f"at most {MOST_CHARACTERS:,} per line", long.number)
    return lines


def _is_comment(line: str) -> bool:
    # Spreadsheets put quotation marks round a comment that holds a comma, and pad it with delimiters.
    return line.lstrip(' \t"').startswith("#")


def _comment(line: str) -> str:
    return line.rstrip(" ,;\t").strip(' \t"').lstrip("# \t")


def _announced_delimiter(content: list[Line]) -> tuple[str, list[Line]]:
    """The delimiter that a spreadsheet's first line ``sep=;`` announces, or none, and the lines behind it."""
    found = re.fullmatch(r'\s*"?sep=(.)"?[ ,;]*', content[0].text, re.IGNORECASE) if content else None
    if not found:
        return "", content
    if found[1] not in DELIMITERS:
        mend = "save the file with commas, semicolons or tabs as delimiter"
        expected = "a comma, a semicolon or a tab"
        raise InputError(Mistake("unknown delimiter", expected, mend, row=content[0].number, value=found[1]))
    return found[1], content[1:]


def _titles(content: list[Line], delimiter: str) -> tuple[list[Comment], list[Line]]:
    """Lines above the header, which are read like comments, and the lines from the header on.

    Where there is no header, nothing is a title: the mistake of the first line is told later.
    """
    headers = (_is_header(line.text, delimiter or delimiter_of(line.text)) for line in content[:_MOST_TITLES])
    place = next((place for place, is_header in enumerate(headers) if is_header), 0)
    data = next((line for line in content[:place] if re.match(r"\W*\d{4}\b[^a-zA-Z]*$", line.text)), None)
    if data:
        problem = f"a line of data above the header in row {content[place].number}"
        mend = 'put the header above all data, or "# " before the line'
        raise InputError(Mistake(problem, "the header as the first line", mend, row=data.number, value=data.text))
    titles = [Comment(line.number, _comment(line.text).lstrip("/%; "), "title") for line in content[:place]]
    return titles, content[place:]


def _is_widths(line: Sequence[Line]) -> bool:
    """Whether a line tells types and widths of columns, such as ``5s 15s 20d 14n`` of the US Geological Survey."""
    return any(re.fullmatch(r"\d+[sdn](\t\d+[sdn])+", each.text.strip()) for each in line)


def _is_header(line: str, delimiter: str) -> bool:
    return bool(_HEADER_NAMES & {cell.strip(' "').casefold() for cell in line.split(delimiter)})


def _too_much(problem: str, expected: str, row: int | None = None) -> InputError:
    mend = "check that this is a monthly inflow record"
    return InputError(Mistake(problem, expected, mend, row=row))
