"""Read a table of level, storage and, if it is there, area."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.attributes import plain
from reservoir.hydro.units import AREA_KM2, LENGTH_M, VOLUME_HM3, key_suffix
from reservoir.io.records.cells import number_style, parse_number
from reservoir.io.records.words import SPELLINGS, folded
from reservoir.text.data_file import text_in_limits
from reservoir.text.quantities import counted


class _Quantity(NamedTuple):
    """Words that name a quantity, spellings of its units, longer ones first, their sizes, and an example of a head."""

    words: re.Pattern[str]
    units: Mapping[str, str]
    sizes: Mapping[str, float]
    example: str


def spelt(unit: str) -> str:
    """The spellings of a unit of records, with or without spaces between their words."""
    return "|".join(re.escape(spelling).replace("\\ ", " ?") for spelling in SPELLINGS[unit])


#: Multipliers of a volume in the head of a column, which a record must not have.
_MILLION, _THOUSAND = r"(?:million|mio\.?|10\^6|1e6|mill?) ", r"(?:thousands?|1000|1,000|10\^3|1e3) "
_ACRE_FEET, _CUBIC = f"(?:of )?(?:{spelt('acre-ft')})", f"(?:{spelt('m3')}|cubic met(?:re|er))"
#: What a column may hold, in the order in which its words are looked for.
QUANTITIES = {
    "area": _Quantity(
        re.compile(r"\b(surface area|water surface|area|surface)\b|面积"),
        {"km2": r"km(?:\^?2|²)|sq(?:uare)?\.? ?km", "ha": r"ha|hectares?", "acres": r"acres?|ac"},
        AREA_KM2,
        "area_acres",
    ),
    "storage": _Quantity(
        re.compile(r"\b(storage|volume|vol|capacity|contents?|stored|gross|total)\b|库容"),
        {
            **{unit: spelt(unit) for unit in ("maf", "kaf", "taf", "acre-ft", *VOLUME_HM3)},
            "maf": f"{spelt('maf')}|{_MILLION}{_ACRE_FEET}",
            "kaf": f"{spelt('kaf')}|{_THOUSAND}{_ACRE_FEET}",
            "acre-ft": _ACRE_FEET,
            "hm3": f"{spelt('hm3')}|{_MILLION}{_CUBIC}",
            "m3": _CUBIC,
        },
        VOLUME_HM3,
        "storage_acre_ft",
    ),
    "level": _Quantity(
        re.compile(r"\b(pool|water|surface|lake|forebay|level|elevation|elev|el|stage|wse?l?|height)\b|水位"),
        {"ft": r"ft|feet|foot", "m": r"m|met(?:re|er)s?|masl|米"},
        LENGTH_M,
        "level_ft",
    ),
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
        return QUANTITIES[self.quantity].sizes[self.unit]

    @property
    def ending(self) -> str:
        """How a key in this unit ends."""
        return key_suffix(self.unit)


def head_of(text: str) -> Head | None:
    """Understand the head of a column; None if it is another quantity's."""
    words = re.sub(r"[\s_,;:()\[\]{}/]+", " ", folded(text.replace("m²", "m2"))).strip()
    quantity = next((name for name, known in QUANTITIES.items() if known.words.search(words)), None)
    for of in ("storage", "area", "level") if quantity is None else (quantity,):
        for unit, pattern in QUANTITIES[of].units.items():
            match = re.search(rf"(?<![\w-])(?:{pattern})(?![\w-])", words)
            if match:
                rest = f"{words[: match.start()]} {words[match.end() :]}"
                for known in QUANTITIES.values():
                    rest = known.words.sub(" ", rest)
                return Head(of, unit if all(map(_PLAIN.fullmatch, rest.split())) else "")
    return None if quantity is None else Head(quantity, "")


_EXAMPLE = "a header such as level_m,storage_hm3,area_km2 or Elevation (ft),Storage (acre-feet)"
#: Lines above the header that may be titles.
_MOST_TITLES = 20


class LevelColumn(NamedTuple):
    """A column: its head as written, what it holds, and its numbers in its own unit, from the lowest level up."""

    title: str
    head: Head
    values: tuple[float, ...]

    @property
    def told(self) -> str:
        """What was understood, in words."""
        low, high = plain(self.values[0]), plain(self.values[-1])
        return f'{self.head.quantity} {low} to {high} {self.head.unit} (column "{self.title}")'


class LevelTable(NamedTuple):
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
        mistakes = (replace(mistake, file=str(path)) for mistake in refused.mistakes)
        raise InputError(worth_telling(mistakes, str(path))) from None


def _read(path: Path) -> LevelTable:
    # Rows of cells with their numbers, without empty lines and comments.
    lines = text_in_limits(path).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    content = [(number, line) for number, line in enumerate(lines, 1) if line.strip(" ,;\t") and line[0] != "#"]
    counts = {mark: sum(line.count(mark) for _, line in content) for mark in "\t;,"}
    delimiter = next((mark for mark, count in counts.items() if count >= len(content) > 0), ",")
    cut = ((number, next(csv.reader([line], delimiter=delimiter), [])) for number, line in content)
    rows = [(number, [cell.strip() for cell in cells]) for number, cells in cut]
    # The header is the first row that names a level and a storage.
    heads = ({head.quantity for head in map(head_of, cells) if head} for _, cells in rows[: _MOST_TITLES + 1])
    place = next((at for at, quantities in enumerate(heads) if {"level", "storage"} <= quantities), None)
    number, titles = rows[place or 0] if rows else (1, [])
    if place is None:
        problem = "no header names a level and a storage" if rows else "the file is empty"
        mend, header = "name the columns with their units", ", ".join(titles)[:80]
        raise InputError(problem, _EXAMPLE, mend, row=number, value=header or None)
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
            known = QUANTITIES[head.quantity]
            expected = f"one of {', '.join(known.sizes)}"
            mend = f"add the unit to the header, as in {known.example}, and convert the numbers if it is another"
            mistakes.append(Mistake("names no unit that is known", expected, mend, row=row, column=title))
        places.setdefault(head.quantity, (head, place))
    if mistakes:
        raise InputError(mistakes)
    return dict(places[quantity] for quantity in ("level", "storage", "area") if quantity in places)
