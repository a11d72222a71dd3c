"""The rows of an ensemble in a long CSV file: a row a member and month, read in pieces, each text understood once."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.errors import MOST_MISTAKES, InputError, Mistake
from reservoir.io.inflow_csv.dates import parse_month
from reservoir.io.inflow_csv.table import Row
from reservoir.text.quantities import first_unprintable

#: Rows of a piece, and characters of a member's name.
_PIECE, MOST_NAME = 500_000, 100


class NumberColumn(NamedTuple):
    """How one cell of a column of numbers is read, and the lowest and the highest number that it takes."""

    parse: Callable[[str], float | Mistake]
    lowest: float = 0.0
    highest: float = np.inf

    def takes(self, values: NDArray[np.float64]) -> bool:
        """Whether these are all numbers of the column."""
        return bool(np.isfinite(values).all() and ((values >= self.lowest) & (values <= self.highest)).all())


@dataclass(frozen=True)
class MemberLayout:
    """What stands where in such a file.

    Parameters
    ----------
    file : str
    delimiter : str
    header : Row
    member, date : int
        Places of these columns.
    numbers : mapping of int to NumberColumn
        Columns of numbers, by their places.
    texts : tuple of int
        Places of columns of texts that are asked for.
    """

    file: str
    delimiter: str
    header: Row
    member: int
    date: int
    numbers: Mapping[int, NumberColumn]
    texts: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class MemberRows:
    """The rows of a file, in its order.

    Parameters
    ----------
    layout : MemberLayout
    names : tuple of str
        Members, in the order in which they first appear.
    member : ndarray of int, shape (rows,)
        Place of each row's member among them.
    month : ndarray of int, shape (rows,)
        Months since the beginning of the calendar.
    values : mapping of int to ndarray, shape (rows,)
        Columns of numbers, by their places.
    texts : mapping of int to (tuple of str, ndarray of int)
        Columns of texts, by their places: different texts, and which of them a row has.
    """

    layout: MemberLayout
    names: tuple[str, ...]
    member: NDArray[np.int32]
    month: NDArray[np.int32]
    values: Mapping[int, NDArray[np.float64]]
    texts: Mapping[int, tuple[tuple[str, ...], NDArray[np.int32]]]

    def at(self, place: int, problem: str, expected: str, mend: str, column: int, value: object = None) -> Mistake:
        """A mistake in the row at a place."""
        number, _ = next(islice(_data_rows(self.layout), place, None))
        name = self.layout.header.cells[column]
        return Mistake(problem, expected, mend, row=number, column=name, value=value)


def read_member_rows(layout: MemberLayout) -> MemberRows:
    """Read the rows below the header.

    Raises
    ------
    InputError
        With the first mistakes in cells.
    """
    names: dict[str, int] = {}
    found: dict[int, dict[str, int]] = {place: {} for place in layout.texts}
    parts: list[tuple[NDArray[Any], ...]] = []
    try:
        for piece in _pieces(layout):
            member = _numbered(piece[layout.member], names)
            month = _codes(piece[layout.date], _ordinal)
            values = [piece[place].to_numpy() for place in layout.numbers]
            good = (column.takes(each) for column, each in zip(layout.numbers.values(), values, strict=True))
            if (month < 0).any() or not all(good):
                raise ValueError("a number or a date is out of range")
            texts = [_numbered(piece[place], each) for place, each in found.items()]
            parts.append((member, month, *values, *texts))
        if any(wrong_name(name) for name in names):
            raise ValueError("a name of a member is wrong")
    except (ValueError, pd.errors.ParserWarning) as error:
        raise InputError(_mistakes(layout, str(error))) from None
    if not any(len(member) for member, *_ in parts):
        problem, mend = "there are no data rows below the header", "add the data rows"
        raise InputError(Mistake(problem, mend=mend, row=layout.header.number))
    member, month, *each = (np.concatenate(column) for column in zip(*parts, strict=True))
    numbers = dict(zip(layout.numbers, each, strict=False))
    which = {place: (tuple(found[place]), codes) for place, codes in zip(found, each[len(numbers) :], strict=True)}
    return MemberRows(layout, tuple(names), member, month, numbers, which)


def _pieces(layout: MemberLayout) -> Iterator[pd.DataFrame]:
    """Some rows at a time."""
    kinds: dict[Any, Any] = {layout.member: "category", layout.date: "category"}
    kinds |= dict.fromkeys(layout.numbers, "float64")
    columns = list(range(len(layout.header.cells)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        reader = pd.read_csv(
            layout.file,
            sep=layout.delimiter,
            header=None,
            index_col=False,
            skiprows=layout.header.number,
            names=columns,
            dtype={place: kinds.get(place, "category") for place in columns},
            keep_default_na=False,
            skipinitialspace=True,
            encoding="utf-8",
            chunksize=_PIECE,
        )
        with reader:
            yield from reader


def _numbered(column: pd.Series[Any], numbers: dict[str, int]) -> NDArray[np.int32]:
    """The number of each text of a column of categories, where new ones get the next."""
    return _codes(column, lambda text: numbers.setdefault(text, len(numbers)))


def _codes(column: pd.Series[Any], code_of: Callable[[str], int]) -> NDArray[np.int32]:
    """The number of each cell of a column of categories; that of each text is asked for once, as they appear."""
    texts, codes = column.cat.categories.tolist(), column.cat.codes.to_numpy()
    numbers = np.zeros(len(texts), np.int32)
    for code in pd.unique(codes):
        numbers[code] = code_of(str(texts[code]).strip())
    return np.asarray(numbers[codes])


def _ordinal(date: str) -> int:
    """Months since the beginning of the calendar; -1 of what is no date."""
    stamp = parse_month(date)
    return -1 if isinstance(stamp, Mistake) else stamp.month.ordinal


def wrong_name(name: str) -> Mistake | None:
    """What is wrong with the name of a member, if anything."""
    if not name:
        return Mistake("missing value", "the name of a member", "name the member in every row")
    if len(name) > MOST_NAME or first_unprintable(name):
        return Mistake("is no name of a member", f"at most {MOST_NAME} printable characters", "shorten the name")
    return None


def _data_rows(layout: MemberLayout) -> Iterator[tuple[int, list[str]]]:
    """Every row that is not blank, with its number; one after another, for what is wrong in them."""
    with open(layout.file, encoding="utf-8", newline="") as text:
        yield from _cut(text, layout)


def _cut(text: TextIO, layout: MemberLayout) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(text, delimiter=layout.delimiter, skipinitialspace=True)
    for cells in rows:
        if rows.line_num > layout.header.number and any(cells):
            yield rows.line_num, [cell.strip() for cell in cells]


def _mistakes(layout: MemberLayout, reason: str) -> list[Mistake]:
    """The first mistakes in cells, or the reason why no cells can be read."""
    parsers: dict[int, Callable[[str], Any]] = {layout.member: wrong_name, layout.date: parse_month}
    parsers |= {place: column.parse for place, column in layout.numbers.items()}
    columns, found = len(layout.header.cells), list[Mistake]()
    try:
        for row, cells in _data_rows(layout):
            if len(cells) != columns:
                expected, mend = f"{columns} cells, as in the header", "add the missing cells, or remove the extra ones"
                found.append(Mistake("wrong number of cells", expected, mend, row=row, value=len(cells)))
            else:
                read = ((place, parse(cells[place])) for place, parse in parsers.items())
                found += [
                    replace(each, row=row, column=layout.header.cells[place], value=cells[place])
                    for place, each in read
                    if isinstance(each, Mistake)
                ]
            if len(found) > MOST_MISTAKES:
                break
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except csv.Error as error:
        reason = str(error)
    mend = "save it as CSV with one row a member and month"
    return found or [Mistake(f"the file cannot be read as a table ({reason})", mend=mend)]
