"""An inflow file as a table of trimmed cells, each row with the number that an editor shows."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from reservoir.errors import InputError, Mistake
from reservoir.io.inflow_csv.lines import Comment, Content, Line, bytes_of, content_of
from reservoir.io.workbook import csv_of_workbook, is_workbook
from reservoir.text.quantities import first_unprintable

#: Columns of a file; a year, twelve months and what people keep beside them are far fewer.
MOST_COLUMNS = 100
#: Cells of a file: two centuries of days in a dozen columns.
MOST_CELLS = 1_000_000

T = TypeVar("T")


class Row(NamedTuple):
    """One line of the file, cut into trimmed cells."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class InflowTable:
    """Cells of an inflow file, before anybody knows what they mean.

    Parameters
    ----------
    content : bytes
        What it holds.
    header : Row
        Names of the columns, as written.
    rows : tuple of Row
        Data rows with as many cells as the header.
    comments : tuple of Comment
        Lines that begin with ``#``.
    mistakes : tuple of Mistake
        Rows that cannot be cut into cells; they are not in `rows`.
    delimiter : str
        The character between cells.
    """

    content: bytes
    header: Row
    rows: tuple[Row, ...]
    comments: tuple[Comment, ...]
    mistakes: tuple[Mistake, ...]
    delimiter: str = ","

    def unreadable(self, mistakes: Iterable[Mistake]) -> frozenset[int]:
        """Give the numbers of the rows that could not be cut into cells, or have one of the mistakes of a column."""
        return frozenset(mistake.row for mistake in (*self.mistakes, *mistakes) if mistake.row is not None)

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

    def at_header(self, problem: str, expected: str, mend: str, column: str = "", value: object = None) -> Mistake:
        """A mistake that stands in the header."""
        return Mistake(problem, expected, mend, row=self.header.number, column=column, value=value)


def read_table(path: str | os.PathLike[str]) -> InflowTable:
    """Read `path` and cut it into cells.

    Raises
    ------
    InputError
        If the file cannot be read, is too large, is not UTF-8 text, or holds no header.
    """
    data = bytes_of(path)
    content = content_of(csv_of_workbook(data) if is_workbook(data) else data)
    header = cut(content.lines[0], content.delimiter)
    if isinstance(header, Mistake):
        raise InputError(header)
    _check_header(header, len(content.lines))
    found = [cut(line, content.delimiter) for line in content.lines[1:]]
    filled = [row for row in found if isinstance(row, Mistake) or any(row.cells)]
    header, filled = _without_padding(header, filled)
    rows = tuple(row for row in filled if isinstance(row, Row) and len(row.cells) == len(header.cells))
    mistakes = tuple(_row_mistakes(filled, header, content))
    return InflowTable(data, header, rows, content.comments, mistakes, content.delimiter)


def cut(line: Line, delimiter: str) -> Row | Mistake:
    """Cut a line into trimmed cells."""
    try:
        cells = next(csv.reader([line.text], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        problem = f"the line cannot be split into cells ({error})"
        mend = "close every quotation mark on the same line"
        return Mistake(problem, mend=mend, row=line.number, value=line.text)
    return Row(line.number, tuple(cell.strip() for cell in cells))


def _check_header(header: Row, lines: int) -> None:
    columns = len(header.cells)
    if columns > MOST_COLUMNS or columns * lines > MOST_CELLS:
        problem = f"the file has {columns:,} columns and {lines:,} rows"
        mend = "keep only the date and the inflow, or the year and twelve months"
        expected = f"at most {MOST_COLUMNS} columns, and {MOST_CELLS:,} cells"
        raise InputError(Mistake(problem, expected, mend, row=header.number))
    for cell in header.cells:
        found = first_unprintable(cell)
        if found:
            problem = f"a column name has the unprintable character {found}"
            raise InputError(Mistake(problem, "plain text", "delete the character", row=header.number, value=cell))


def _without_padding(header: Row, found: list[Row | Mistake]) -> tuple[Row, list[Row | Mistake]]:
    """Leave out what spreadsheets put at the end of lines: cells that are empty in the header and in every row."""
    named = len(header.cells)
    while named > 1 and not header.cells[named - 1]:
        named -= 1
    if any(isinstance(row, Row) and any(row.cells[named : len(header.cells)]) for row in found):
        named = len(header.cells)
    return Row(header.number, header.cells[:named]), [
        Row(row.number, row.cells[:named]) if isinstance(row, Row) and not any(row.cells[named:]) else row
        for row in found
    ]


def _row_mistakes(found: list[Row | Mistake], header: Row, content: Content) -> Iterator[Mistake]:
    if not found:
        yield Mistake("there are no data rows below the header", mend="add the data rows", row=header.number)
    for row in found:
        if isinstance(row, Mistake):
            yield row
        elif len(row.cells) != len(header.cells):
            yield _misfit(row, len(header.cells), content.delimiter)


def _misfit(row: Row, columns: int, delimiter: str) -> Mistake:
    if len(row.cells) < columns:
        mend = "add the missing cells, one for each column of the header"
    elif delimiter == ",":
        mend = "remove the extra cells; if commas are decimal marks, use points instead (412.5)"
    else:
        mend = "remove the extra cells"
    expected = f"{columns} cells, as in the header"
    return Mistake("wrong number of cells", expected, mend, row=row.number, value=len(row.cells))
