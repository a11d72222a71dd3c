"""An inflow file as a table of trimmed cells, each row with the number that an editor shows."""

from __future__ import annotations

import csv
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from reservoir.errors import InputError, Mistake
from reservoir.hydro.inflow_csv.text import text_of

DELIMITERS = ",;\t"

T = TypeVar("T")


class Row(NamedTuple):
    """One line of the file, cut into trimmed cells."""

    number: int
    cells: tuple[str, ...]


class Comment(NamedTuple):
    """One comment line, without its mark."""

    number: int
    text: str

    def says(self, key: str) -> str | None:
        """Give what stands after ``key:``, or None where the comment is about something else."""
        match = re.match(rf"{key}\s*[:=](.*)", self.text, re.IGNORECASE)
        return match[1].strip() if match else None


@dataclass(frozen=True)
class InflowTable:
    """Cells of an inflow file, before anybody knows what they mean.

    Parameters
    ----------
    file, sha256 : str
        The file as it was named, and the hash of its bytes.
    header : Row
        Names of the columns, as written.
    rows : tuple of Row
        Data rows with as many cells as the header.
    comments : tuple of Comment
        Lines that begin with ``#``.
    mistakes : tuple of Mistake
        Rows that cannot be cut into cells; they are not in `rows`.
    """

    file: str
    sha256: str
    header: Row
    rows: tuple[Row, ...]
    comments: tuple[Comment, ...]
    mistakes: tuple[Mistake, ...]

    def unreadable(self, column: Iterable[object]) -> frozenset[int]:
        """Give the numbers of the rows that could not be cut into cells, or have a mistake in this parsed column."""
        mistakes = (*self.mistakes, *mistakes_in(column))
        return frozenset(mistake.row for mistake in mistakes if mistake.row is not None)

    def parsed(self, column: int, parse: Callable[[str], T | Mistake]) -> list[T | Mistake]:
        """Read every cell of a column; the mistakes among the results know their place."""
        results = [(row, parse(row.cells[column])) for row in self.rows]
        return [self._placed(result, row, column) if isinstance(result, Mistake) else result for row, result in results]

    def _placed(self, mistake: Mistake, row: Row, column: int) -> Mistake:
        name = self.header.cells[column]
        return replace(mistake, file=self.file, row=row.number, column=name, value=row.cells[column])


def mistakes_in(column: Iterable[object]) -> tuple[Mistake, ...]:
    """Pick the mistakes out of a parsed column."""
    return tuple(result for result in column if isinstance(result, Mistake))


def read_table(path: str | os.PathLike[str]) -> InflowTable:
    """Read `path` and cut it into cells.

    Raises
    ------
    InputError
        If the file cannot be read, is not UTF-8 text, or holds no header.
    """
    file = os.fspath(path)
    data = _bytes_of(file)
    lines = _lines(text_of(data, file))
    comments = tuple(Comment(number, _comment(line)) for number, line in lines if _is_comment(line))
    content = [(number, line) for number, line in lines if line.strip() and not _is_comment(line)]
    if not content:
        raise InputError(_no_header(file, has_comments=bool(comments)))
    delimiter = _delimiter(content[0][1])
    header, *found = [_cut(number, line, delimiter, file) for number, line in content]
    if isinstance(header, Mistake):
        raise InputError(header)
    rows, mistakes = _fitting(found, header, delimiter, file)
    return InflowTable(file, hashlib.sha256(data).hexdigest(), header, rows, comments, mistakes)


def _bytes_of(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except FileNotFoundError:
        mistake = Mistake("there is no such file", file=file, mend="check the name and the folder")
    except IsADirectoryError:
        mistake = Mistake("this is a folder", file=file, expected="a CSV file", mend="name a file in it")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        mistake = Mistake(f"the file cannot be read: {reason}", file=file, mend="check its name and permissions")
    raise InputError(mistake)


def _lines(text: str) -> list[tuple[int, str]]:
    # str.splitlines also breaks at form feeds and the like, which editors do not count as lines.
    return list(enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1))


def _is_comment(line: str) -> bool:
    # Spreadsheets put quotation marks round a comment that holds a comma, and pad it with delimiters.
    return line.lstrip(' \t"').startswith("#")


def _comment(line: str) -> str:
    return line.rstrip(" ,;\t").strip(' \t"').lstrip("# \t")


def _delimiter(header: str) -> str:
    unquoted = re.sub(r'"[^"]*"', "", header)
    return max(DELIMITERS, key=unquoted.count)


def _cut(number: int, line: str, delimiter: str, file: str) -> Row | Mistake:
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        return Mistake(
            f"the line cannot be cut into cells ({error})",
            file=file,
            row=number,
            value=line,
            mend="close every quotation mark on the line where it opens",
        )
    return Row(number, tuple(cell.strip() for cell in cells))


def _fitting(
    found: list[Row | Mistake], header: Row, delimiter: str, file: str
) -> tuple[tuple[Row, ...], tuple[Mistake, ...]]:
    filled = [row for row in found if isinstance(row, Mistake) or any(row.cells)]
    rows = tuple(row for row in filled if isinstance(row, Row) and len(row.cells) == len(header.cells))
    return rows, tuple(_row_mistakes(filled, header, delimiter, file))


def _row_mistakes(found: list[Row | Mistake], header: Row, delimiter: str, file: str) -> Iterator[Mistake]:
    if not found:
        yield Mistake("there are no rows below the header", file=file, row=header.number, mend="add the record's rows")
    for row in found:
        if isinstance(row, Mistake):
            yield row
        elif len(row.cells) != len(header.cells):
            yield _misfit(row, len(header.cells), delimiter, file)


def _misfit(row: Row, columns: int, delimiter: str, file: str) -> Mistake:
    if len(row.cells) < columns:
        mend = "fill in what is missing, one cell for each column of the header"
    elif delimiter == ",":
        mend = "remove the extra cells; if commas are decimal marks here, write points instead (412.5)"
    else:
        mend = "remove the extra cells"
    return Mistake(
        "wrong number of cells",
        file=file,
        row=row.number,
        value=len(row.cells),
        expected=f"{columns} cells, as in the header",
        mend=mend,
    )


def _no_header(file: str, *, has_comments: bool) -> Mistake:
    return Mistake(
        "the file holds comments only" if has_comments else "the file is empty",
        file=file,
        expected="a header line, then the record's rows",
        mend="check that this is the file you mean",
    )
