"""Read a table of level, storage and, if it is there, area."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.attributes import plain
from reservoir.hydro.units import AREA_KM2, LENGTH_M, VOLUME_HM3, key_suffix
from reservoir.io.records.cells import number_style, parse_number
from reservoir.io.records.heading import DATE
from reservoir.io.records.words import DATE_NAMES, DATE_PARTS, UNIT_FORMS, YEAR_NAMES, folded
from reservoir.io.workbook import MOST_BYTES, Sheet, chosen_sheet, is_workbook, sheets_of
from reservoir.text.data_file import bytes_in_limits, encoding_notes, encoding_of, read_limited, text_of
from reservoir.text.quantities import counted, typeset_unit


class _Quantity(NamedTuple):
    """Words that name a quantity, sizes of its units, and an example of a head."""

    words: re.Pattern[str]
    sizes: Mapping[str, float]
    example: str


_OF_LEVELS = "pool|water|surface|lake|forebay|level|elevation|elev|el|stage|wse?l?|height"
#: What a column may hold, in the order in which its words are looked for.
_QUANTITIES = {
    name: _Quantity(re.compile(rf"\b({words})\b|{chinese}"), sizes, example)
    for name, words, chinese, sizes, example in (
        ("area", "surface area|water surface|area|surface", "水面面积|水面积|面积", AREA_KM2, "area_acres"),
        (
            "storage",
            "storage|volume|vol|capacity|contents?|stored|gross|total",
            "总库容|库容",
            VOLUME_HM3,
            "storage_acre_ft",
        ),
        ("level", _OF_LEVELS, "库水位|水位|高程", LENGTH_M, "level_ft"),
    )
}
#: Words beside them that change nothing; anything else might be a multiplier or another unit.
_PLAIN = re.compile(
    r"[a-z]{3,}\d{2,4}|(?:18|19|20)\d\d|navd|ngvd|msl|a\.?s\.?l\.?|masl|above|sea|datum|in|of|the|at|reservoir|curve"
)


class Head(NamedTuple):
    """What a column holds: ``level``, ``storage`` or ``area``; and its unit, empty where no known one is named."""

    quantity: str
    unit: str

    @property
    def size(self) -> float:
        """The program's unit in one of the column's."""
        return _QUANTITIES[self.quantity].sizes[self.unit]

    @property
    def ending(self) -> str:
        """How a key in this unit ends."""
        return key_suffix(self.unit)


def head_of(text: str) -> Head | None:
    """Understand the head of a column; None if it is another quantity's."""
    words = re.sub(r"[\s_,;:()\[\]{}/]+", " ", folded(text.replace("m²", "m2"))).strip()
    quantity = next((name for name, known in _QUANTITIES.items() if known.words.search(words)), None)
    for of in ("storage", "area", "level") if quantity is None else (quantity,):
        for unit in (unit for unit in UNIT_FORMS if unit in _QUANTITIES[of].sizes):
            match = re.search(rf"(?<![\w-])(?:{UNIT_FORMS[unit]})(?![\w-])", words)
            if match:
                rest = f"{words[: match.start()]} {words[match.end() :]}"
                for known in _QUANTITIES.values():
                    rest = known.words.sub(" ", rest)
                known_unit = all(map(_PLAIN.fullmatch, rest.split()))
                return Head(of, unit if known_unit else "") if known_unit or quantity else None
    return None if quantity is None else Head(quantity, "")


_EXAMPLE = "a header such as level_m,storage_hm3,area_km2 or Elevation (ft),Storage (acre-feet)"
#: Lines above the header that may be titles.
_MOST_TITLES = 20
#: Titles of a column of months, beside which levels and storages are limits or results.
MONTH_TITLES = next(names for part, names, _ in DATE_PARTS if part == "month")
MONTH_TITLES |= {"months", "月份", "mes", "mês", "monat", "mois", "first_day"}


class LevelColumn(NamedTuple):
    """A column: its head as written, what it holds, and its numbers in its own unit, from the lowest level up."""

    title: str
    head: Head
    values: tuple[float, ...]

    @property
    def told(self) -> str:
        """What was understood, in words."""
        low, high = plain(self.values[0]), plain(self.values[-1])
        return f'{self.head.quantity} {low} to {high} {typeset_unit(self.head.unit)} (column "{self.title}")'


class LevelTable(NamedTuple):
    """A table of a lake; `area` may be missing, `notes` say what was left out."""

    level: LevelColumn
    storage: LevelColumn
    area: LevelColumn | None
    notes: tuple[str, ...] = ()
    sheet: str = ""


def read_level_table(path: Path, names: Sequence[str] = ()) -> LevelTable:
    """Read a CSV file with a header, or the sheet of a workbook that has one; `names` are sheets that are meant.

    Raises
    ------
    InputError
        With every mistake, by row and column.
    """
    file = str(path)
    try:
        if not is_workbook(path):
            if names:
                raise InputError("the file is no workbook", "no sheet", "leave it out", column="sheet", value=names[0])
            content = bytes_in_limits(path)
            table = _read(*_rows_of_text(text_of(content, file)))
            return table._replace(notes=(*encoding_notes(encoding_of(content)), *table.notes))
        sheets = sheets_of(read_limited(path, MOST_BYTES))
        sheet = chosen_sheet(sheets, names, holds_levels, "the level curve")
        if sheet is None:
            listed = ", ".join(sheet.name for sheet in sheets)
            problem = f"no sheet has a header that names a level and a storage (sheets: {listed})"
            raise InputError(problem, _EXAMPLE, "name the columns with their units")
        file = f"{path}, sheet {sheet.name}"
        return _read(list(sheet.filled), ",")._replace(sheet=sheet.name)
    except InputError as refused:
        mistakes = (
            mistake if mistake.column == "sheet" else replace(mistake, file=file) for mistake in refused.mistakes
        )
        raise InputError(worth_telling(mistakes, file)) from None
    except OSError as error:
        raise InputError(f"the file cannot be read: {error.strerror}", mend="check the path", file=file) from error


def holds_levels(sheet: Sheet) -> bool:
    """Whether a sheet has a header that names a level and a storage, and no dates: those are a record."""
    rows = list(sheet.filled)
    place = _header(rows)
    if place is None:
        return False
    names = {folded(cell).strip() for cell in rows[place][1]}
    dated = any(DATE.fullmatch(cell) for _, cells in rows[place + 1 : place + 3] for cell in cells)
    return not dated and names.isdisjoint(DATE_NAMES | YEAR_NAMES | MONTH_TITLES)


def has_levels(path: Path | None) -> bool:
    """Whether a file is a workbook with a level curve: a case of its own."""
    if path is None or not is_workbook(path):
        return False
    with suppress(InputError, OSError):  # the reader of the record says what is wrong
        return any(map(holds_levels, sheets_of(read_limited(path, MOST_BYTES))))
    return False


def _rows_of_text(text: str) -> tuple[list[tuple[int, Sequence[str]]], str]:
    """Rows of cells with their numbers, without empty lines and comments; and what stands between cells."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    content = [(number, line) for number, line in enumerate(lines, 1) if line.strip(" ,;\t") and line[0] != "#"]
    counts = {mark: sum(line.count(mark) for _, line in content) for mark in "\t;,"}
    delimiter = next((mark for mark, count in counts.items() if count >= len(content) > 0), ",")
    cut = ((number, next(csv.reader([line], delimiter=delimiter), [])) for number, line in content)
    return [(number, [cell.strip() for cell in cells]) for number, cells in cut], delimiter


def _header(rows: Sequence[tuple[int, Sequence[str]]]) -> int | None:
    """The place of the header: the first row that names a level and a storage."""
    heads = ({head.quantity for head in map(head_of, cells) if head} for _, cells in rows[: _MOST_TITLES + 1])
    return next((at for at, quantities in enumerate(heads) if {"level", "storage"} <= quantities), None)


def with_units(titles: Sequence[str], below: Sequence[str]) -> list[str] | None:
    """Titles with the units that stand in a row of their own below them; None where that row is no such row."""
    filled = [cell for cell in below if cell]
    if not filled or any(re.search(r"^[\d.,+-]+$", cell) for cell in filled):
        return None
    return [f"{title} {cell}".strip() for title, cell in zip(titles, below, strict=False)]


def _read(rows: list[tuple[int, Sequence[str]]], delimiter: str) -> LevelTable:
    place = _header(rows)
    number, titles = (rows[place or 0][0], list(rows[place or 0][1])) if rows else (1, [])
    if place is None:
        problem = "no header names a level and a storage" if rows else "the file is empty"
        mend, header = "name the columns with their units", ", ".join(titles)[:80]
        raise InputError(problem, _EXAMPLE, mend, row=number, value=header or None)
    units = with_units(titles, rows[place + 1][1]) if rows[place + 1 :] else None
    titles, place = (units, place + 1) if units else (titles, place)
    columns = _columns(number, titles)
    style = number_style((cell for _, cells in rows[place + 1 :] for cell in cells), delimiter)
    points, mistakes = list[tuple[int, list[float]]](), list[Mistake]()
    for row, cells in rows[place + 1 :]:
        numbers = []
        for at in columns.values():
            cell = cells[at] if at < len(cells) else ""
            value = style.parsed(cell, _parse_cell)
            if isinstance(value, Mistake):
                mistakes.append(replace(value, row=row, column=titles[at], value=cell))
            else:
                numbers.append(value)
        points.append((row, numbers))
    if mistakes:
        raise InputError(mistakes)
    if len(points) < 2:
        raise InputError(f"has {counted(len(points), 'row')} of numbers", "2 or more", "give the whole table")
    # From the lowest level up; of several empty ones at the bottom, the highest.
    points = points if points[0][1][0] <= points[-1][1][0] else points[::-1]
    notes = style.notes
    empty = sum(values[1] == 0 for _, values in points)
    if empty >= 2 and all(values[1] == 0 for _, values in points[:empty]):
        points = points[empty - 1 :]
        notes += (f"left out {counted(empty - 1, 'level')} at the bottom, where the storage is 0 too",)
    for (_, before), (row, after) in pairwise(points):
        for at, (low, high, title) in enumerate(zip(before, after, columns.values(), strict=True)):
            if high < low or (high == low and at < 2):
                problem = f"{plain(high)} does not lie above {plain(low)}, that of the level below"
                expected = "level and storage that increase together, and an area that does not decrease"
                mend = "correct or remove the row"
                mistakes.append(Mistake(problem, expected, mend, row=row, column=titles[title]))
    if mistakes:
        raise InputError(mistakes)
    named = {
        head.quantity: LevelColumn(titles[at], head, tuple(values[place] for _, values in points))
        for place, (head, at) in enumerate(columns.items())
    }
    return LevelTable(named["level"], named["storage"], named.get("area"), notes)


def _parse_cell(text: str) -> float | Mistake:
    number = parse_number(text)
    if isinstance(number, Mistake):
        mend = "correct the cell, or remove the row"
        return Mistake("is not a number" if text else "is empty", "a number", mend)
    return number


def _columns(row: int, titles: list[str]) -> dict[Head, int]:
    """Place of the column of level, of storage and, if it is there, of area."""
    places, mistakes = dict[str, tuple[Head, int]](), list[Mistake]()
    heads = ((place, head_of(title), title) for place, title in enumerate(titles))
    for place, head, title in ((place, head, title) for place, head, title in heads if head is not None):
        if head.quantity in places:
            problem = f'is a second column of {head.quantity} beside "{titles[places[head.quantity][1]]}"'
            expected, mend = "one column of each quantity", "remove one of them"
            mistakes.append(Mistake(problem, expected, mend, row=row, column=title))
        elif not head.unit:
            known = _QUANTITIES[head.quantity]
            expected = f"one of {', '.join(known.sizes)}"
            mend = f"add the unit to the header, as in {known.example}, and convert the numbers if it is another"
            mistakes.append(Mistake("names no unit that is known", expected, mend, row=row, column=title))
        places.setdefault(head.quantity, (head, place))
    if mistakes:
        raise InputError(mistakes)
    return dict(places[quantity] for quantity in ("level", "storage", "area") if quantity in places)
