"""Read a table of level, storage and, if it is there, area."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.attributes import plain
from reservoir.hydro.units import AREA_KM2, LENGTH_M, VOLUME_HM3, key_suffix
from reservoir.io.inflow_csv.number_style import NumberStyle, number_style
from reservoir.io.inflow_csv.unit_words import folded
from reservoir.text.data_file import real_number, text_in_limits
from reservoir.text.quantities import counted

#: Words that name a quantity.
_QUANTITIES: Mapping[str, re.Pattern[str]] = {
    "area": re.compile(r"\b(surface area|water surface|area|surface)\b|面积"),
    "storage": re.compile(r"\b(storage|volume|vol|capacity|contents?|stored|gross|total)\b|库容"),
    "level": re.compile(r"\b(pool|water|surface|lake|forebay|level|elevation|elev|el|stage|wse?l?|height)\b|水位"),
}
_ACRE_FEET = r"(?:acre[- ]?(?:feet|foot|ft)|ac[- ]?ft|af)"
_MILLION, _THOUSAND = r"(?:million|mio\.?|10\^6|1e6|mill?)", r"(?:thousands?|1000|1,000|10\^3|1e3)"
_CUBIC = r"(?:m3|cubic met(?:re|er)s?|立方米)"
#: Spellings of units, longer ones first.
_UNITS: tuple[tuple[str, str, str], ...] = (
    ("storage", "maf", rf"maf|{_MILLION} (?:of )?{_ACRE_FEET}"),
    ("storage", "kaf", rf"kaf|{_THOUSAND} (?:of )?{_ACRE_FEET}"),
    ("storage", "taf", r"taf"),
    ("storage", "acre-ft", _ACRE_FEET),
    ("storage", "hm3", rf"hm3|{_MILLION} {_CUBIC}"),
    ("storage", "Mm3", r"mm3"),
    ("storage", "MCM", r"mcm"),
    ("storage", "1e8m3", r"1e8 ?m3|亿 ?(?:m3|立方米)"),
    ("storage", "km3", r"km3"),
    ("storage", "m3", _CUBIC),
    ("area", "km2", r"km(?:\^?2|²)|sq(?:uare)?\.? ?km"),
    ("area", "ha", r"ha|hectares?"),
    ("area", "acres", r"acres?|ac"),
    ("level", "ft", r"ft|feet|foot"),
    ("level", "m", r"m|met(?:re|er)s?|masl|米"),
)
#: Words beside them that change nothing; anything else might be a multiplier or another unit.
_PLAIN = re.compile(
    r"[a-z]{3,}\d{2,4}|(?:18|19|20)\d\d|navd|ngvd|msl|a\.?s\.?l\.?|masl|above|sea|datum|in|of|the|at|reservoir|curve"
)
_SIZES: Mapping[str, Mapping[str, float]] = {"level": LENGTH_M, "storage": VOLUME_HM3, "area": AREA_KM2}


class Head(NamedTuple):
    """What a column holds.

    Parameters
    ----------
    quantity : str
        ``level``, ``storage`` or ``area``.
    unit : str
        As the table of units names it; empty where the head names none that is known.
    """

    quantity: str
    unit: str

    @property
    def size(self) -> float:
        """The program's unit in one of the column's."""
        return _SIZES[self.quantity][self.unit]

    @property
    def ending(self) -> str:
        """How a key in this unit ends."""
        return key_suffix(self.unit)

    @property
    def known(self) -> str:
        """The units of its quantity."""
        return ", ".join(_SIZES[self.quantity])


def head_of(text: str) -> Head | None:
    """Understand the head of a column; None if it is another quantity's."""
    words = re.sub(r"[\s_,;:()\[\]{}/]+", " ", folded(text.replace("m²", "m2"))).strip()
    quantity = next((name for name, pattern in _QUANTITIES.items() if pattern.search(words)), None)
    found = _unit(words, quantity)
    if found is not None:
        return found
    return None if quantity is None else Head(quantity, "")


def _unit(words: str, quantity: str | None) -> Head | None:
    for of, unit, pattern in _UNITS:
        match = re.search(rf"(?<![\w-])(?:{pattern})(?![\w-])", words)
        if match and quantity in (None, of):
            rest = f"{words[: match.start()]} {words[match.end() :]}"
            for each in _QUANTITIES.values():
                rest = each.sub(" ", rest)
            strange = [word for word in rest.split() if not _PLAIN.fullmatch(word)]
            return Head(of, "" if strange else unit)
    return None


_EXAMPLE = "a header such as level_m,storage_hm3,area_km2 or Elevation (ft),Storage (acre-feet)"
#: Lines above the header that may be titles.
_MOST_TITLES = 20


@dataclass(frozen=True)
class LevelColumn:
    """A column: its head as written, what it holds, and its numbers in its own unit, from the lowest level up."""

    title: str
    head: Head
    values: tuple[float, ...]

    @property
    def told(self) -> str:
        """What was understood, in words."""
        low, high = plain(self.values[0]), plain(self.values[-1])
        return f'{self.head.quantity} {low} to {high} {self.head.unit} (column "{self.title}")'


@dataclass(frozen=True)
class LevelTable:
    """A table of a lake; `area` may be missing, `notes` say what was left out."""

    level: LevelColumn
    storage: LevelColumn
    area: LevelColumn | None
    notes: tuple[str, ...] = ()


def read_level_table(path: Path) -> LevelTable:
    """Read a CSV file with a header.

    Raises
    ------
    InputError
        With every mistake, by row and column.
    """
    try:
        return _read(path)
    except InputError as refused:
        raise InputError(worth_telling((_at(path, each) for each in refused.mistakes), str(path))) from None


def _at(path: Path, mistake: Mistake) -> Mistake:
    return Mistake(
        mistake.problem, mistake.expected, mistake.mend, str(path), mistake.row, mistake.column, mistake.value
    )


def _read(path: Path) -> LevelTable:
    rows, delimiter = _rows(text_in_limits(path))
    place = _header(rows)
    number, titles = rows[place]
    columns = _columns(number, titles)
    style = number_style((cell for _, cells in rows[place + 1 :] for cell in cells), delimiter)
    points, mistakes = [], []
    for row, cells in rows[place + 1 :]:
        found = [_number(row, titles[at], cells[at] if at < len(cells) else "", style) for at in columns.values()]
        mistakes += [each for each in found if isinstance(each, Mistake)]
        points.append((row, [each for each in found if not isinstance(each, Mistake)]))
    if not mistakes:
        points, notes = _upwards(points)
        mistakes = list(_out_of_order(points, [titles[at] for at in columns.values()]))
    if mistakes:
        raise InputError(mistakes)
    named = {
        head.quantity: LevelColumn(titles[at], head, tuple(values[place] for _, values in points))
        for place, (head, at) in enumerate(columns.items())
    }
    return LevelTable(named["level"], named["storage"], named.get("area"), (*style.notes, *notes))


def _rows(text: str) -> tuple[list[tuple[int, list[str]]], str]:
    """Rows of cells with their numbers, without empty lines and comments, and what stands between cells."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    content = [(number, line) for number, line in enumerate(lines, 1) if line.strip(" ,;\t") and line[0] != "#"]
    counts = {mark: sum(line.count(mark) for _, line in content) for mark in "\t;,"}
    delimiter = next((mark for mark, count in counts.items() if count >= len(content) > 0), ",")
    rows = []
    for number, line in content:
        cells = next(csv.reader([line], delimiter=delimiter), [])
        rows.append((number, [cell.strip() for cell in cells]))
    return rows, delimiter


def _header(rows: Sequence[tuple[int, list[str]]]) -> int:
    """Place of the header: the first row that names a level and a storage."""
    for place, (_, cells) in enumerate(rows[: _MOST_TITLES + 1]):
        quantities = {head.quantity for head in map(head_of, cells) if head}
        if {"level", "storage"} <= quantities:
            return place
    row, cells = rows[0] if rows else (1, [])
    found = ", ".join(cells)[:80]
    problem = "no header names a level and a storage" if rows else "the file is empty"
    raise InputError(Mistake(problem, _EXAMPLE, "name the columns with their units", row=row, value=found or None))


def _columns(row: int, titles: Sequence[str]) -> dict[Head, int]:
    """Place of each quantity's column."""
    found: dict[str, tuple[Head, int]] = {}
    mistakes = []
    for place, title in enumerate(titles):
        head = head_of(title)
        if head is None:
            continue
        if head.quantity in found:
            other = titles[found[head.quantity][1]]
            problem = f'is a second column of {head.quantity} beside "{other}"'
            mistakes.append(
                Mistake(problem, "one column of each quantity", "remove one of them", row=row, column=title)
            )
        elif not head.unit:
            example = {"level": "level_ft", "storage": "storage_acre_ft", "area": "area_acres"}[head.quantity]
            mend = f"add the unit to the header, as in {example}, and convert the numbers if it is another"
            mistakes.append(Mistake("names no unit that is known", f"one of {head.known}", mend, row=row, column=title))
        found.setdefault(head.quantity, (head, place))
    if mistakes:
        raise InputError(mistakes)
    return dict(found[quantity] for quantity in ("level", "storage", "area") if quantity in found)


def _number(row: int, title: str, cell: str, style: NumberStyle) -> float | Mistake:
    parsed = style.parsed(cell, real_number)
    if isinstance(parsed, Mistake):
        return Mistake(parsed.problem, parsed.expected, parsed.mend, row=row, column=title, value=cell)
    if math.isnan(parsed):
        mend = "correct the cell, or remove the row"
        return Mistake("is not a number" if cell else "is empty", "a number", mend, row=row, column=title, value=cell)
    return parsed


Points = list[tuple[int, list[float]]]


def _upwards(points: Points) -> tuple[Points, tuple[str, ...]]:
    """The points from the lowest level up; of several empty ones at the bottom, the highest."""
    if len(points) < 2:
        raise InputError(Mistake(f"has {counted(len(points), 'row')} of numbers", "2 or more", "give the whole table"))
    ordered = points if points[0][1][0] <= points[-1][1][0] else points[::-1]
    empty = sum(1 for _, values in ordered if values[1] == 0)
    if empty < 2 or any(values[1] != 0 for _, values in ordered[:empty]):
        return ordered, ()
    return ordered[empty - 1 :], (f"left out {counted(empty - 1, 'level')} at the bottom, where the storage is 0 too",)


def _out_of_order(points: Points, titles: Sequence[str]) -> Iterator[Mistake]:
    for (_, before), (row, after) in pairwise(points):
        for place, title in enumerate(titles):
            rise = after[place] - before[place]
            if rise < 0 or (rise == 0 and place < 2):
                problem = f"{plain(after[place])} does not lie above {plain(before[place])}, that of the level below"
                expected = "level and storage that increase together, and an area that does not decrease"
                yield Mistake(problem, expected, "correct or remove the row", row=row, column=title)
