"""Rows of several series in one table, such as stations or sensors: which rows the caller asks for, or a refusal.

`--column` names a column, or rows by what a column says of them: ``SENSOR_TYPE=INFLOW``, ``flow; station=Upper``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from reservoir.errors import InputError, shortened
from reservoir.io.records.cells import looks_like_number
from reservoir.io.records.columns import may_tell_series
from reservoir.io.records.heading import TITLE
from reservoir.io.records.table import InflowTable
from reservoir.io.records.words import QUANTITIES, folded, parts_of, understand

#: Columns that name a station, the most series of one column that are told apart, and those that are named.
STATION = re.compile(r"(station|site|gage|gauge|river|location|sensor|name)([ _-]?(no|id|name|number|code))?")
_MOST_SERIES, _NAMED = 400, 5
_NAMES = frozenset({"name", "nom", "nome", "nombre", "type"})


def chosen_rows(table: InflowTable, wanted: str | None) -> tuple[InflowTable, str | None]:
    """Keep the rows that the caller asks for by `wanted`; what is left of it names the column of values.

    Raises
    ------
    InputError
        If no row is of the series that is asked for.
    """
    names = [name.casefold() for name in table.header.cells]
    if wanted is None or wanted.strip().casefold() in names:
        return table, wanted
    column = None
    for part in filter(None, map(str.strip, wanted.split(";"))):
        name, equals, value = (text.strip() for text in part.partition("="))
        if not equals or part.casefold() in names or name.casefold() not in names:
            column = part
            continue
        at = names.index(name.casefold())
        rows = tuple(row for row in table.rows if _same(row.cells[at]) == _same(value))
        if not rows:
            values = ", ".join(dict.fromkeys(row.cells[at] for row in table.rows))
            expected = f"one of {shortened(values, 200)}"
            problem = f"no row has {name} = {value}"
            raise InputError(problem, expected, "name one of these", column="column", value=wanted)
        chosen = "; ".join(filter(None, (table.chosen, f"{table.header.cells[at]}={value}")))
        note = f"read the {len(rows):,} of {len(table.rows):,} rows in which {table.header.cells[at]} is {value}"
        table = replace(table, rows=rows, notes=(*table.notes, note), chosen=chosen)
    return table, column


def _same(text: str) -> str:
    return " ".join(text.split()).casefold()


def require_one_series(table: InflowTable, keys: Sequence[int], wanted: str | None) -> None:
    """Refuse rows of several series that have the same dates; `keys` are the places of these: InputError."""
    dates = [tuple(row.cells[at] for at in keys) for row in table.rows]
    if len(set(dates)) == len(dates):
        return
    header, best = table.header.cells, None
    for at, name in enumerate(header):
        if at in keys or not (name == TITLE or may_tell_series(name)):
            continue
        values = [row.cells[at] for row in table.rows]
        different = len(set(values))
        repeated = max(Counter(zip(dates, values, strict=True)).values())
        words = not all(map(looks_like_number, filter(None, values)))
        rank = (-repeated, words, not _NAMES.isdisjoint(parts_of(name)), -different)
        if 1 < different <= _MOST_SERIES and (best is None or rank > best[0]):
            best = (rank, at)
    if best is None or best[0][0] == -max(Counter(dates).values()):
        return
    at = best[1]
    name, values = header[at], [*dict.fromkeys(row.cells[at] for row in table.rows if row.cells[at])]
    named = ", ".join(values[:_NAMED]) + (", ..." if len(values) > _NAMED else "")
    what = f"{len(values)} stations" if STATION.fullmatch(folded(name).strip()) else f"{len(values)} series ({name})"
    sayings = {value: understand(value) for value in values}
    flows = [value for value in values if sayings[value].kinds & {*QUANTITIES} and not sayings[value].is_no_inflow]
    example = table.column_option(wanted, f"{name}={(flows or values)[0]}")
    problem = f"the file has the rows of {what}, one below the other: {named}"
    mend = f"name the rows to read, such as {example}, or keep only these"
    raise InputError(problem, "the rows of one series", mend)
