"""Sheets with what a reservoir file has: limits by month, numbers of the plant one below the other, further curves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.attributes import CURVES, LISTS, TURBINE, Attribute, Kind
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.io.key_words import KeyMeant, keys_meant, named_without_unit
from reservoir.io.level_table import MONTH_TITLES, holds_levels, with_units
from reservoir.io.records.cells import number_style, parse_number
from reservoir.io.records.heading import MOST_TITLES, above_dates
from reservoir.io.records.words import DATE_NAMES, MONTH_OF_NAME, YEAR_NAMES, folded
from reservoir.io.workbook import Cells, Sheet

#: Rows of a sheet that is one of these: more are a record.
_MOST_ROWS = 400
#: Columns of each curve but level and area.
_CURVES = {"turbine": [row.name for row in TURBINE if row.required]}
_CURVES |= {name: [curve.x, curve.y] for name, curve in CURVES.items() if name not in ("level", "area")}
_TEXTS = (Kind.TEXT, Kind.NAME, Kind.CHOICE, Kind.SPAN, Kind.UNIT)


class Given(NamedTuple):
    """What a sheet gives for a key: a number, a text, or a list by month, January first, in the unit of the key."""

    meant: KeyMeant
    value: Any
    place: str


class PlantTable(NamedTuple):
    """What sheets give: values, points of curves by section and key, and the names of what was not understood."""

    given: tuple[Given, ...] = ()
    curves: Mapping[str, tuple[Mapping[str, tuple[float, ...]], str]] = {}
    not_read: tuple[str, ...] = ()


def holds_plant(sheet: Sheet) -> bool:
    """Whether a sheet has limits by month, numbers of a plant, or one of its curves."""
    return _Reading(sheet).holds_any


def read_plant(sheets: Iterable[Sheet], file: str) -> PlantTable:
    """Read all such sheets among some.

    Raises
    ------
    InputError
        With every mistake, by sheet, row and column.
    """
    given, curves, not_read, mistakes = list[Given](), dict[str, Any](), list[str](), list[Mistake]()
    for reading in map(_Reading, sheets):
        if not reading.holds_any:
            continue
        of_sheet = f"{file}, sheet {reading.sheet.name}"
        for one in reading.given:
            first = next((other for other in given if other.meant.row.key == one.meant.row.key), None)
            if first is not None:
                problem = f"{one.meant.row.key} is given twice: {first.place} and {one.place}"
                mistakes.append(Mistake(problem, "one of them", "remove one", file=file))
            given.append(one)
        for name, curve in reading.curves.items():
            if name in curves:
                problem = f"[curves.{name}] is given twice: {curves[name][1]} and {curve[1]}"
                mistakes.append(Mistake(problem, "one of them", "remove one", file=file))
            curves[name] = curve
        mistakes += (replace(mistake, file=of_sheet) for mistake in reading.mistakes)
        not_read += (f'"{name}" (sheet {reading.sheet.name})' for name in reading.not_read)
    if mistakes:
        raise InputError(worth_telling(mistakes, file))
    return PlantTable(tuple(given), curves, tuple(not_read))


class _Reading:
    """What one sheet gives."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet, self.given, self.curves = sheet, list[Given](), dict[str, Any]()
        self.mistakes, self.not_read, self._used = list[Mistake](), list[str](), set[int]()
        rows = sheet.filled if len(sheet.rows) <= 2 * _MOST_ROWS else []
        names = {folded(cell).strip() for _, cells in rows[:20] for cell in cells}
        dated = above_dates([cells for _, cells in rows[:MOST_TITLES]]) is not None
        if dated or len(rows) > _MOST_ROWS or not names.isdisjoint(DATE_NAMES | YEAR_NAMES) or holds_levels(sheet):
            return
        self._style = number_style((cell for _, cells in rows for cell in cells), ",")
        for read in (self._curve, self._months_below, self._months_beside, self._numbers):
            for at in range(len(rows)):
                if rows[at][0] not in self._used:
                    read(rows, at)

    @property
    def holds_any(self) -> bool:
        """Whether anything of a reservoir was found, be it wrong."""
        return bool(self.given or self.curves or self.mistakes)

    def _curve(self, rows: Cells, at: int) -> None:
        """A header of the columns of one curve, with numbers below it."""
        titles, first = _titles(rows, at)
        columns = {meant.row.name: (place, meant) for place, title in reversed([*enumerate(titles)])
                   for meant in reversed(keys_meant(title, curves=True))}  # fmt: skip
        name = next((name for name, needed in _CURVES.items() if set(needed) <= set(columns)), None)
        if name is None:
            return
        points, used = list[list[float]](), {number for number, _ in rows[at:first]}
        for number, cells in rows[first:]:
            values = [self._number(cells[columns[key][0]]) for key in _CURVES[name]]
            if any(value is None for value in values):
                break
            points.append(values)  # type: ignore[arg-type]
            used.add(number)
        if len(points) > 1:
            self._used |= used
            points = sorted(points)
            written = [columns[key][1].written for key in _CURVES[name]]
            lists = dict(zip(written, map(tuple, zip(*points, strict=True)), strict=True))
            self.curves[name] = (lists, f'sheet "{self.sheet.name}"')

    def _months_below(self, rows: Cells, at: int) -> None:
        """A header with a column of months, and a row for each below it."""
        titles, first = _titles(rows, at)
        column = next((place for place, title in enumerate(titles) if folded(title).strip() in MONTH_TITLES), None)
        months = [] if column is None else [month_of(cells[column]) for _, cells in rows[first:]]
        count = next((place for place, month in enumerate(months) if not month), len(months))
        if column is None or not count:
            return
        self._used |= {number for number, _ in rows[at : first + count]}
        for place, title in enumerate(titles):
            if place != column and title:
                cells = [(number, cells[place]) for number, cells in rows[first : first + count]]
                self._by_month(title, months[:count], cells, rows[at][0], f'column "{title}"')

    def _months_beside(self, rows: Cells, at: int) -> None:
        """A header with twelve months, and a row for each quantity below it."""
        months = {place: month_of(cell) for place, cell in enumerate(rows[at][1]) if month_of(cell)}
        if sorted(months.values()) != list(range(1, MONTHS_PER_YEAR + 1)):
            return
        before = min(months)
        taken = set[int]()
        for number, cells in rows[at + 1 :]:
            title = " ".join(filter(None, cells[:before]))
            if not title or self._number(cells[before]) is None:
                break
            taken.add(number)
            values = [(number, cells[place]) for place in months]
            self._by_month(title, list(months.values()), values, number, f'row "{title}"')
        self._used |= taken | {rows[at][0]} if taken else taken

    def _by_month(
        self, title: str, months: Sequence[int], cells: Sequence[tuple[int, str]], row: int, place: str
    ) -> None:
        meant = [each for each in keys_meant(title) if each.row.kind in LISTS]
        if not meant:
            self._not_meant(title, row)
            return
        values = dict[int, float]()
        for month, (number, cell) in zip(months, cells, strict=True):
            value = self._number(cell)
            if value is None or month in values:
                problem = f"{MONTH_NAMES[month - 1]} is there twice" if month in values else "is not a number"
                mend = "give one number for each month"
                self.mistakes.append(Mistake(problem, "a number", mend, row=number, column=title, value=cell or None))
                return
            values[month] = value
        missing = [MONTH_NAMES[month - 1] for month in range(1, MONTHS_PER_YEAR + 1) if month not in values]
        if missing:
            problem, mend = f"lacks {', '.join(missing)}", "give a row for each month"
            self.mistakes.append(Mistake(problem, "twelve months", mend, row=row, column=title))
            return
        listed = _shares(meant[0], *(values[month] for month in range(1, MONTHS_PER_YEAR + 1)))
        one = listed[0] if len(set(listed)) == 1 else listed
        self.given.append(Given(meant[0], one, f'sheet "{self.sheet.name}", {place}'))

    def _numbers(self, rows: Cells, at: int) -> None:
        """A name, its value beside it, and perhaps its unit."""
        number, cells = rows[at]
        filled = [cell for cell in cells if cell]
        if len(filled) < 2 or not any(map(str.isalpha, filled[0])):
            return
        title, cell, unit = filled[0], filled[1], filled[2] if len(filled) > 2 else ""
        value = self._number(cell)
        if value is None and len(filled) > 2 and (third := self._number(unit)) is not None:
            value, cell, unit = third, unit, cell  # the unit stands before the value
        meant = (keys_meant(title, unit) if unit else []) or keys_meant(title)
        texts = [each for each in meant if each.row.kind in (*_TEXTS, Kind.MONTHS) or each.row.name == "first_month"]
        if texts:
            self.given.append(Given(texts[0], _text_of(texts[0].row, cell), f'sheet "{self.sheet.name}", row {number}'))
        elif value is not None and meant:
            if meant[0].row.kind is Kind.WHOLE:
                value = int(value) if value.is_integer() else value
            (value,) = _shares(meant[0], value)
            self.given.append(Given(meant[0], value, f'sheet "{self.sheet.name}", row {number} "{title}"'))
        elif value is not None:
            self._not_meant(title, number)

    def _not_meant(self, title: str, row: int) -> None:
        """Refuse a known quantity without a unit that is known; tell of what is no quantity of a reservoir."""
        known = named_without_unit(title)
        if known is None:
            self.not_read.append(title)
            return
        units = ", ".join(unit.name for unit in known.units)
        mend = f'add the unit, as in "{title} ({known.units[0].name})", and convert the numbers if it is another'
        mistake = Mistake("names no unit that is known", f"one of {units}", mend, row=row, value=title)
        self.mistakes.append(mistake)

    def _number(self, cell: str) -> float | None:
        value = self._style.parsed(cell, parse_number)
        return None if isinstance(value, Mistake) else value


def _titles(rows: Cells, at: int) -> tuple[list[str], int]:
    """Titles of a row, with the units that stand below them; and the place of the row behind."""
    titles = list(rows[at][1])
    units = with_units(titles, rows[at + 1][1]) if at + 1 < len(rows) and not month_of(rows[at + 1][1][0]) else None
    return (units, at + 2) if units else (titles, at + 1)


def _shares(meant: KeyMeant, *values: float) -> tuple[float, ...]:
    """Values of a key; per cent, of which one is above 1, as shares."""
    if meant.unit is None or meant.unit.name != "%" or max(values) <= 1:
        return values
    return tuple(float(f"{value / 100:.12g}") for value in values)


def month_of(text: str) -> int:
    """The calendar month (1 to 12) that a text names; 0 of another text."""
    name = folded(text).strip(" .")
    digits = re.fullmatch(r"m?0?(\d{1,2})月?", name)
    month = int(digits[1]) if digits else MONTH_OF_NAME.get(name, 0)
    return month if month <= MONTHS_PER_YEAR else 0


def _text_of(row: Attribute, cell: str) -> Any:
    """A cell as the value of a key of texts, or of months."""
    if row.kind is Kind.MONTHS:
        return [month_of(part) for part in re.split(r"[\s,;]+", cell) if part]
    if row.name == "first_month":
        return month_of(cell) or cell
    return cell.casefold() if row.kind is Kind.CHOICE else cell
