"""The header of the wide layout: which column holds the years, which a month, and what unit their names say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reservoir.io.inflow_csv.column_words import Saying, understand
from reservoir.io.inflow_csv.lines import YEAR_NAMES
from reservoir.io.inflow_csv.month_names import MONTH_OF_NAME

_MONTH_OF = {
    **{name: month for month in range(1, 13) for name in (f"m{month:02}", f"m{month}", f"{month:02}", f"{month}")},
    **{name + point: month for name, month in MONTH_OF_NAME.items() for point in ("", ".")},
}
#: A month and what stands behind it: ``Jan (hm3)``, ``m01_cfs``; behind a bare number only what is in brackets.
_MONTH_AND_MORE = re.compile(r"\s*(?:([a-z]+\.?|m\d{1,2})(?=[\s_\-,:(\[])|(\d{1,2})\s*(?=[(\[]))(.+)", re.IGNORECASE)


class MonthColumn(NamedTuple):
    """A column that holds one calendar month of every year."""

    position: int
    month: int


def month_columns(header: Sequence[str]) -> tuple[MonthColumn, ...]:
    """Find the columns named after months: m01, m1, 1, Jan, Sept or January, in any case, with a unit or without."""
    found = ((index, _month_and_unit(cell)) for index, cell in enumerate(header))
    return tuple(MonthColumn(index, split[0]) for index, split in found if split is not None)


def year_column(header: Sequence[str]) -> int | None:
    """Find the column of years; a unit may stand behind its name, where it means that of the months."""
    places = [index for index, cell in enumerate(header) if year_name(cell) is not None]
    return min(places, key=lambda place: len(header[place])) if places else None


def year_name(cell: str) -> str | None:
    """The name of a column of years in small letters, without a unit that stands behind it; None of another column."""
    folded = cell.casefold()
    if folded in YEAR_NAMES:
        return folded
    return "year" if _unit_of_year(cell) else None


def unit_texts(header: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What the columns' names say beside year and month, with these names."""
    splits = ((cell, _month_and_unit(cell)) for cell in header)
    texts = ((cell, _unit_of_year(cell) if split is None else split[1]) for cell, split in splits)
    return tuple((cell, text) for cell, text in texts if text)


def _month_and_unit(cell: str) -> tuple[int, str] | None:
    month = _MONTH_OF.get(cell.casefold())
    if month is not None:
        return month, ""
    found = _MONTH_AND_MORE.fullmatch(cell)
    if not found:
        return None
    month = _MONTH_OF.get((found[1] or found[2]).casefold())
    return (month, found[3]) if month is not None and _speaks_of_unit(understand(found[3])) else None


def _unit_of_year(cell: str) -> str:
    found = re.fullmatch(r"year[\s_\-,:]*(?=[\s_\-,:(\[])(.+)", cell, re.IGNORECASE)
    return found[1] if found and _speaks_of_unit(understand(found[1])) else ""


def _speaks_of_unit(saying: Saying) -> bool:
    return bool(saying.units) or any(not word.isdecimal() for word in saying.strange)
