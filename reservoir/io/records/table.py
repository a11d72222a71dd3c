"""A file, or the sheet of a workbook, as a table of trimmed cells and its comments, within the limits stated here.

A form that a service delivers is brought to this shape here: its encoding, its delimiter, lines that are no data.
"""

from __future__ import annotations

import csv
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self, TypeVar

from reservoir.errors import InputError, Mistake
from reservoir.io.records.heading import (
    MOST_TITLES,
    Heading,
    Row,
    above_dates,
    heading,
    in_parts,
    names_dates,
    without_footnotes,
)
from reservoir.io.workbook import MOST_BYTES as BOOK_BYTES
from reservoir.io.workbook import MOST_CELLS, WORKBOOK, is_workbook
from reservoir.text.data_file import check_path, read_limited, text_of
from reservoir.text.quantities import counted, first_unprintable

#: What an inflow file may hold: five centuries of days, and no line that is a file by itself.
MOST_BYTES = 16_000_000
MOST_LINES = 200_000
MOST_CHARACTERS = 10_000
MOST_COMMENTS = 1_000
#: Characters of all comments: every word of theirs is weighed, as it may speak of the unit.
MOST_COMMENTED = 100_000
#: Columns of a file: services put a plant or a gauge in each.
MOST_COLUMNS = 250
#: Characters of all caveats of a file: they stand on every figure.
MOST_CAVEAT = 1_000

DELIMITERS = ",;\t"
#: A line of a reservoir file: a section, or a key with a value.
_TOML = re.compile(r"\s*(\[[\w.]+\]|[\w.]+\s*=\s*\S)")

T = TypeVar("T")


class Comment(NamedTuple):
    """One comment line, without its mark, or a title above the header."""

    number: int
    text: str
    noun: str = "comment"

    def says(self, key: str) -> str | None:
        """Give what stands after ``key:``, or None where the comment is about something else."""
        match = re.match(rf"{key}\s*[:=](.*)", self.text, re.IGNORECASE)
        return match[1].strip() if match else None


def cut(number: int, line: str, delimiter: str) -> Row | Mistake:
    """Cut a line of the file into trimmed cells."""
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        problem = f"the line cannot be split into cells ({error})"
        return Mistake(problem, mend="close every quotation mark on the same line", row=number, value=line)
    return Row(number, tuple(cell.strip() for cell in cells))


@dataclass(frozen=True)
class InflowTable:
    """Cells of an inflow file, before anybody knows what they mean."""

    #: What the file holds.
    content: bytes
    #: Names of the columns, as written.
    header: Row
    #: Data rows with as many cells as the header.
    rows: tuple[Row, ...]
    #: Lines that begin with ``#``, and titles.
    comments: tuple[Comment, ...]
    #: Rows that cannot be cut into cells; they are not in `rows`.
    mistakes: tuple[Mistake, ...] = ()
    delimiter: str = ","
    #: What rows beside the header say of the columns; its own header is that of this table unless a step changed it.
    heading: Heading | None = None
    #: How rows around the data were read; and which rows the caller asked for, as --column has it.
    notes: tuple[str, ...] = ()
    chosen: str = ""

    @property
    def caveats(self) -> tuple[tuple[int, str], ...]:
        """What ``# caveat: synthetic, not observed`` says, by its row."""
        said = ((comment.number, comment.says("caveat")) for comment in self.comments)
        return tuple((number, text.replace("\t", " ")) for number, text in said if text is not None)

    def renamed(self, names: Mapping[str, str]) -> Self:
        """With columns by other names."""
        return replace(self, header=Row(self.header.number, tuple(names.get(cell, cell) for cell in self.header.cells)))

    def parsed(self, column: int, parse: Callable[[str], T | Mistake]) -> tuple[dict[int, T], list[Mistake]]:
        """Read every cell of a column: what was understood by its row's number, and mistakes with their places."""
        name, understood, mistakes = self.header.cells[column], dict[int, T](), list[Mistake]()
        for row in self.rows:
            text = row.cells[column]
            value = parse(text)
            if isinstance(value, Mistake):
                mistakes.append(replace(value, row=row.number, column=name, value=text))
            else:
                understood[row.number] = value
        return understood, mistakes

    def column_option(self, *parts: str | None) -> str:
        """How a column, or rows by what a column says of them, are asked for, beside the rows that are already."""
        return f'--column "{"; ".join(filter(None, (self.chosen, *parts)))}"'

    def beside_header(self, what: Literal["units", "types"], place: int) -> str:
        """What a row beside the header says that a column is in, or of which type of HEC-DSS; empty where none does."""
        cells = getattr(self.heading, what, ())
        return cells[place] if place < len(cells) else ""

    def at_header(self, problem: str, expected: str, mend: str, column: str = "", value: object = None) -> Mistake:
        """A mistake that stands in the header."""
        return Mistake(problem, expected, mend, row=self.header.number, column=column, value=value)


def caveat_mistakes(caveats: Iterable[tuple[int | None, str]]) -> Iterator[Mistake]:
    """Refuse caveats that a figure or a page cannot show, or that would fill it; one without a row is no comment."""
    length = 0
    for row, text in caveats:
        character = first_unprintable(text)
        if character:
            problem = f"the caveat has the unprintable character {character}"
            yield Mistake(problem, "plain text", "delete the character", row=row)
        length += len(text)
        if length > MOST_CAVEAT:
            subject, them = ("the caveat has", "it; it is") if row is None else ("the caveats have", "them; they are")
            problem, mend = f"{subject} more than {MOST_CAVEAT:,} characters", f"shorten {them} printed on every figure"
            yield Mistake(problem, "a sentence or two", mend, row=row)
            return


def read_table(path: str | os.PathLike[str], of_workbook: Callable[[bytes], bytes]) -> InflowTable:
    """Read `path` and cut it into cells; `of_workbook` gives the sheet of a workbook as CSV.

    Raises
    ------
    InputError
        If the file cannot be read, is too large, is no text (`text_of`), or holds no header.
    """
    try:
        data = read_limited(path, BOOK_BYTES if is_workbook(os.fspath(path)) else MOST_BYTES)
    except FileNotFoundError:
        raise InputError("the file does not exist", mend=check_path(path)) from None
    except IsADirectoryError:
        raise InputError("this is a folder", "a CSV file", "give a file in it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the file cannot be read: {reason}", mend="check the path and the permissions") from None
    content = content_of(of_workbook(data) if data.startswith(WORKBOOK) else data)
    delimiter = content.delimiter
    header = cut(*content.lines[0], delimiter)
    if isinstance(header, Mistake):
        raise InputError(header)
    columns = len(header.cells)
    if columns > MOST_COLUMNS or columns * len(content.lines) > MOST_CELLS:
        problem = f"the file has {columns:,} columns and {len(content.lines):,} rows"
        mend = "keep only the date and the inflow, or the year and twelve months"
        raise InputError(problem, f"at most {MOST_COLUMNS} columns, and {MOST_CELLS:,} cells", mend, row=header.number)
    cut_lines = (cut(*line, delimiter) for line in content.lines[1:])
    of_lines, footnotes = without_footnotes([row for row in cut_lines if isinstance(row, Mistake) or any(row.cells)])
    above = (cut(*line, delimiter) for line in content.above)
    beside = heading(header, [row for row in above if isinstance(row, Row)], of_lines)
    for cell in beside.header.cells:
        if character := first_unprintable(cell):
            problem, mend = f"a column name has the unprintable character {character}", "delete the character"
            raise InputError(problem, "plain text", mend, row=header.number, value=cell)
    header, of_lines = _without_padding(beside.header, [row for row in of_lines if row not in beside.below])
    comments = [comment for comment in content.comments if comment.number not in beside.used]
    comments += [
        Comment(row.number, " ".join(row.cells), "row") for row in beside.below if row.number not in beside.used
    ]
    comments += [Comment(number, text, "footnote") for number, text in footnotes]
    title = next((comment.text for comment in reversed(content.comments) if comment.noun == "title"), "")
    header, of_lines, notes = in_parts(header, of_lines, title)
    if footnotes:
        notes = (*notes, f"passed over {counted(len(footnotes), 'footnote')} below the table (row {footnotes[0][0]})")
    columns, rows, mistakes = len(header.cells), list[Row](), list[Mistake]()
    for row in of_lines:
        if isinstance(row, Mistake):
            mistakes.append(row)
        elif len(row.cells) == columns:
            rows.append(row)
        else:
            points = "; if commas are decimal marks, use points instead (412.5)" if delimiter == "," else ""
            add = "add the missing cells, one for each column of the header"
            mend = add if len(row.cells) < columns else f"remove the extra cells{points}"
            expected = f"{columns} cells, as in the header"
            mistakes.append(Mistake("wrong number of cells", expected, mend, row=row.number, value=len(row.cells)))
    if not of_lines:
        problem = "there are no data rows below the header"
        mistakes = [Mistake(problem, mend="add the data rows", row=header.number)]
    everything = tuple(sorted(comments))
    return InflowTable(data, header, tuple(rows), everything, tuple(mistakes), delimiter, beside, notes)


def _without_padding(header: Row, rows: list[Row | Mistake]) -> tuple[Row, list[Row | Mistake]]:
    """Leave out what spreadsheets put at the end of lines: cells that are empty in the header and in every row."""
    whole = named = len(header.cells)
    while named > 1 and not header.cells[named - 1]:
        named -= 1
    if any(isinstance(row, Row) and any(row.cells[named:whole]) for row in rows):
        named = whole

    def shorter(row: Row | Mistake) -> Row | Mistake:
        return row if isinstance(row, Mistake) or any(row.cells[named:]) else Row(row.number, row.cells[:named])

    return Row(header.number, header.cells[:named]), [*map(shorter, rows)]


class Content(NamedTuple):
    """A file in lines with their numbers: from the header on, and titles above it."""

    lines: list[tuple[int, str]]
    #: The character between the cells of a line.
    delimiter: str
    comments: tuple[Comment, ...]
    above: list[tuple[int, str]]


def content_of(data: bytes) -> Content:
    """Decode a file, and look for its header.

    Raises
    ------
    InputError
        If it is no text, is too large, holds no header, or something else above it.
    """
    # Counted before anything is cut: every line costs more than its bytes.
    ends = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
    if ends > MOST_LINES:
        raise _too_much(f"the file has {ends:,} lines", f"at most {MOST_LINES:,} lines")
    # str.splitlines also breaks at form feeds and the like, which editors do not count as lines.
    # Old programs end a file with a control-Z.
    text = text_of(data).rstrip("\x1a").replace("\r\n", "\n").replace("\r", "\n")
    lines = [*enumerate(text.split("\n"), start=1)]
    for number, line in lines:
        if len(line) > MOST_CHARACTERS:
            problem = f"the line has {len(line):,} characters"
            raise _too_much(problem, f"at most {MOST_CHARACTERS:,} per line", number)
    lines = _unmarked(lines)
    comments = [Comment(number, said) for number, line in lines if (said := _comment(line)) is not None]
    if len(comments) > MOST_COMMENTS:
        raise _too_much(f"the file has {len(comments):,} comment lines", f"at most {MOST_COMMENTS:,}")
    commented = sum(len(comment.text) for comment in comments)
    if commented > MOST_COMMENTED:
        raise _too_much(f"the comments have {commented:,} characters", f"at most {MOST_COMMENTED:,} in total")
    # Types and widths of columns, such as 5s 15s 20d 14n of the US Geological Survey, are no data.
    others = ((number, line) for number, line in lines if line.strip() and _comment(line) is None)
    content = [(number, line) for number, line in others if not re.fullmatch(r"\d+[sdn](\t\d+[sdn])+", line.strip())]
    # A spreadsheet's first line may be sep=;
    announced = re.fullmatch(r'\s*"?sep=(.)"?[ ,;]*', content[0][1], re.IGNORECASE) if content else None
    delimiter = announced[1] if announced else ""
    if announced and delimiter not in DELIMITERS:
        expected, mend = "a comma, a semicolon or a tab", "save the file with commas, semicolons or tabs as delimiter"
        raise InputError("unknown delimiter", expected, mend, row=content[0][0], value=delimiter)
    content = content[1:] if announced else content
    if not content:
        problem = "the file has only comments" if comments else "the file is empty"
        raise InputError(problem, "a header line and data rows", "check that this is the right file")
    if _is_toml([line for _, line in content]):
        expected, mend = "a table of dates, or years, and inflow", "give it by --reservoir, and a record in its place"
        raise InputError("this is a reservoir file (TOML), not a record", expected, mend, row=content[0][0])
    place, delimiter = _header(content, delimiter)
    above, titles, content = content[:place], _titles(content, place), content[place:]
    return Content(content, delimiter, tuple(sorted((*comments, *titles))), above)


def _unmarked(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Lines, of which the header has no mark of a comment, as in ``#Timestamp,Value`` above data without another."""
    filled = ((at, line) for at, (_, line) in enumerate(lines) if line.strip())
    before = -1
    for at, line in filled:
        if _comment(line) is None:
            marked, header = lines[before] if before >= 0 else (0, "")
            header, is_data = re.sub(r"#+\s*", "", header, count=1), re.match(r'[\s"]*\d', line)
            marks = (mark for mark in DELIMITERS if 0 < header.count(mark) == line.count(mark))
            if is_data and any(names_dates(header.split(mark)) for mark in marks):
                return [*lines[:before], (marked, header), *lines[before + 1 :]]
            return lines
        before = at
    return lines


def _header(content: Sequence[tuple[int, str]], announced: str) -> tuple[int, str]:
    """The place of the header among lines, and the delimiter that it has most of.

    A delimiter between cells of which one names dates or years goes before others. Where no line names them, the header
    stands above the first dates. Where there is no header, the first line is taken for it, whose mistake is told later.
    """
    of_first_line = ""
    for place, (_, line) in enumerate(content[:MOST_TITLES]):
        unquoted = re.sub(r'"[^"]*"', "", line)
        ranks = {mark: (names_dates(line.split(mark)), unquoted.count(mark)) for mark in announced or DELIMITERS}
        delimiter = max(ranks, key=ranks.__getitem__)
        if ranks[delimiter][0]:
            return place, delimiter
        of_first_line = of_first_line or delimiter
    for mark in announced or DELIMITERS:
        rows = [cut(number, line, mark) for number, line in content[: MOST_TITLES + 3]]
        at = above_dates([row.cells if isinstance(row, Row) else () for row in rows])
        if at is not None:
            return at, mark
    return 0, of_first_line


def _is_toml(lines: Sequence[str]) -> bool:
    """Whether lines are sections and keys with values, also where one of them is wrong."""
    if not _TOML.match(lines[0]):
        return False
    with suppress(ValueError, RecursionError):
        return bool(tomllib.loads("\n".join(lines)))
    return sum(_TOML.match(line) is not None for line in lines) > len(lines) / 2


def _comment(line: str) -> str | None:
    """What a comment says, without its mark; None of another line.

    Spreadsheets put quotation marks round a comment that holds a comma, and pad it with delimiters.
    """
    text = line.rstrip(" ,;\t").strip(' \t"')
    return text.lstrip("# \t") if text.startswith("#") else None


def _titles(content: Sequence[tuple[int, str]], header: int) -> list[Comment]:
    """Lines above the header, which are read like comments."""
    for number, line in content[:header]:
        cells = [cell for cell in re.split(f"[{DELIMITERS}]", line) if cell.strip(' "')]
        if len(cells) > 1 and re.match(r"\W*\d{4}\b[^a-zA-Z]*$", line):
            problem = f"a line of data above the header in row {content[header][0]}"
            mend = 'put the header above all data, or "# " before the line'
            raise InputError(problem, "the header as the first line", mend, row=number, value=line)
    return [
        Comment(number, line.rstrip(" ,;\t").strip(' \t"').lstrip("/%; "), "title") for number, line in content[:header]
    ]


def _too_much(problem: str, expected: str, row: int | None = None) -> InputError:
    return InputError(problem, expected, "check that this is a monthly inflow record", row=row)
