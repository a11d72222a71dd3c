"""Which column of a table by date holds the inflow, and which ones are passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from reservoir.errors import InputError, Mistake
from reservoir.io.inflow_csv.cells import is_missing, looks_like_number
from reservoir.io.inflow_csv.column_words import understand
from reservoir.io.inflow_csv.companions import COMPANIONS, is_companion, nearly_named
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.unit_words import Kind, folded
from reservoir.io.inflow_csv.vocabulary import BESIDE

_ONE = "one value column, such as inflow_m3s"
#: Rows that are looked at to find out whether a column has numbers.
_LOOKED_AT = 400


class ValueColumn(NamedTuple):
    """The column of values, and what stands beside it."""

    place: int
    companions: tuple[int, ...]
    passed_over: tuple[int, ...]

    def mistakes(self, table: InflowTable) -> Iterator[Mistake]:
        """Losses that would be passed over because of their names."""
        found = (nearly_named(table.header.cells[place]) for place in self.passed_over)
        yield from (replace(mistake, row=table.header.number) for mistake in found if mistake is not None)

    def notes(self, header: Sequence[str]) -> tuple[str, ...]:
        """Which columns were passed over."""
        names = [header[place] or "(no name)" for place in self.passed_over]
        return (passed_over_note(names, f"read column {header[self.place]}"),) if names else ()


def passed_over_note(names: Sequence[str], read: str) -> str:
    """Say which columns were not read."""
    return f"{read}, passed over {', '.join(names)}"


def value_column(table: InflowTable, date: Sequence[int], wanted: str | None) -> ValueColumn:
    """Find the column of values.

    Parameters
    ----------
    table : InflowTable
    date : sequence of int
        Places of the columns that say of when, and of which member, a value is.
    wanted : str, optional
        Its name, if the caller gives it.

    Raises
    ------
    InputError
        If there is none, or if there are several and the caller names none of them.
    """
    header = table.header.cells
    others = [place for place in range(len(header)) if place not in date]
    companions = tuple(place for place in others if is_companion(header[place]))
    candidates = [place for place in others if place not in companions]
    if wanted is not None:
        found = [place for place in candidates if header[place].casefold() == wanted.strip().casefold()]
    else:
        found = candidates if len(candidates) == 1 else [at for at in candidates if _may_be_inflow(table, at)]
    if len(found) != 1:
        raise InputError(_not_one_value(table, found or candidates, wanted, len(found)))
    return ValueColumn(found[0], companions, tuple(place for place in candidates if place != found[0]))


def _may_be_inflow(table: InflowTable, place: int) -> bool:
    """Whether a column may be the inflow, by its name and its cells."""
    name = table.header.cells[place]
    saying = understand(name)
    words = re.findall(r"[^\W_]+", folded(name))
    beside = not BESIDE.isdisjoint(words) and all(word in BESIDE or word.isdecimal() for word in words)
    if beside or saying.is_other or Kind.STATISTIC in saying.kinds or nearly_named(name):
        return False
    cells = [row.cells[place] for row in table.rows[:_LOOKED_AT] if not is_missing(row.cells[place])]
    return not table.rows or sum(map(looks_like_number, cells)) * 2 > len(cells)


def _not_one_value(table: InflowTable, columns: Sequence[int], wanted: str | None, found: int) -> Mistake:
    """Refuse a table that has none, or several, columns of values beside the date."""
    names = ", ".join(table.header.cells[place] or "(no name)" for place in columns)
    if not columns:
        return table.at_header("no column besides the date", _ONE, "add an inflow column")
    if wanted is not None:
        problem = f"{found} columns of this name" if found else f"no such column; the file has {names}"
        mend = "give the name as the header has it"
        return Mistake(problem, "a name in the header", mend, column="column", value=wanted)
    problem = f"{len(columns)} columns besides the date: {names}"
    beside = ", ".join(name for name in COMPANIONS)
    mend = f"name the column to read (--column NAME), or keep only the inflow column, and {beside} if there are any"
    return table.at_header(problem, _ONE, mend)
