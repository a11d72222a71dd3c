"""Where the date of a row stands: in one column, or in columns of year, month, day and hour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.dates import Stamp, parse_date, year_mistake
from reservoir.io.inflow_csv.lines import DATE_NAMES
from reservoir.io.inflow_csv.month_names import MONTH_OF_NAME
from reservoir.io.inflow_csv.summary_words import NO_SUMMARY, is_summary
from reservoir.io.inflow_csv.table import InflowTable

#: Names of the parts of a date, in small letters.
_PARTS = (
    ("year", frozenset({"year", "yr", "yyyy", "年"})),
    ("month", frozenset({"month", "mon", "mo", "mm", "月"})),
    ("day", frozenset({"day", "dy", "dd", "日"})),
    ("hour", frozenset({"hour", "hr", "hh"})),
)
_LARGEST = {"month": 12, "day": 31, "hour": 24}


@dataclass(frozen=True)
class DateColumns:
    """The column of dates, or those of year, month, day and hour in this order, as far as there are any.

    Parameters
    ----------
    places : tuple of int
    """

    places: tuple[int, ...]

    def name(self, table: InflowTable) -> str:
        """The name of the column in which mistakes of a date are told."""
        return table.header.cells[self.places[0]]

    def stamps(self, table: InflowTable) -> tuple[dict[int, Stamp], list[Mistake]]:
        """The date of each row by its number, and what is wrong with some."""
        if len(self.places) == 1:
            return table.parsed(self.places[0], parse_date)
        stamps, mistakes = {}, list[Mistake]()
        for row in table.rows:
            found = self._stamp([row.cells[place] for place in self.places])
            if isinstance(found, Stamp):
                stamps[row.number] = found
            else:
                part, mistake = found
                place = self.places[part]
                mistakes.append(
                    replace(mistake, row=row.number, column=table.header.cells[place], value=row.cells[place])
                )
        return stamps, mistakes

    @staticmethod
    def _stamp(cells: Sequence[str]) -> Stamp | tuple[int, Mistake]:
        """The date of a row, or what is wrong with one of its parts, and the place of that part."""
        numbers: list[int] = []
        for part, ((name, _), text) in enumerate(zip(_PARTS, cells, strict=False)):
            number = _number(name, text)
            if isinstance(number, Mistake):
                return part, number
            numbers.append(number)
        year, *rest = numbers
        clock = f" {rest.pop():02}:00" if len(numbers) == len(_PARTS) else ""
        found = parse_date("-".join((str(year), *(f"{number:02}" for number in rest))) + clock)
        return found if isinstance(found, Stamp) else (len(rest), found)


def date_columns(header: Sequence[str]) -> DateColumns | None:
    """Find the column of dates; without one, columns of year and month, and of day and hour beside them."""
    names = [cell.casefold() for cell in header]
    date = next((place for place, name in enumerate(names) if name in DATE_NAMES), None)
    if date is not None:
        return DateColumns((date,))
    places: list[int] = []
    for _, known in _PARTS:
        place = next((place for place, name in enumerate(names) if name in known), None)
        if place is None:
            break
        places.append(place)
    return DateColumns(tuple(places)) if len(places) > 1 else None


def _number(name: str, text: str) -> int | Mistake:
    """A part of a date; months have names too, and spreadsheets write 1963.0."""
    if name == "month" and (month := MONTH_OF_NAME.get(text.casefold().rstrip("."))):
        return month
    whole = text.removesuffix(".0")
    number = int(whole) if whole.isascii() and whole.isdecimal() and len(whole) <= 4 else -1
    if name == "year":
        wrong = _no_part("a year", "a year such as 1953", text) if number < 0 else year_mistake(whole)
        return wrong or number
    least = 0 if name == "hour" else 1
    if least <= number <= _LARGEST[name]:
        return number
    return _no_part(f"a{'n' if name == 'hour' else ''} {name}", f"{least} to {_LARGEST[name]}", text)


def _no_part(what: str, expected: str, text: str) -> Mistake:
    return Mistake(f"not {what}", expected, NO_SUMMARY if is_summary(text) else "correct the cell")
