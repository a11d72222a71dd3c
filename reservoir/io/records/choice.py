"""Which part of a file is the record: the sheet of a workbook, and the rows of one of several series.

Of sheets it is the one with dates or years, and among several the one with an inflow. `--column` names a column, or
rows by what a column says of them: ``SENSOR_TYPE=INFLOW``, ``flow; station=Upper``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from reservoir.errors import InputError, shortened
from reservoir.io.level_table import holds_levels
from reservoir.io.plant_table import holds_plant
from reservoir.io.records.cells import looks_like_number
from reservoir.io.records.columns import may_tell_series
from reservoir.io.records.heading import TITLE, Row, above_dates, names_dates
from reservoir.io.records.table import InflowTable, content_of, cut
from reservoir.io.records.words import QUANTITIES, WordKind, folded, parts_of, understand
from reservoir.io.workbook import MOST_BYTES, Sheet, chosen_sheet, sheets_of
from reservoir.text.data_file import read_limited

#: Rows from the header on in which dates are looked for, and those in which the header is.
_LOOKED_AT, _MOST_ABOVE = 5, 200


@lru_cache(maxsize=1)  # a sheet may be an ensemble, and then is one record
def record_sheet(data: bytes, names: tuple[str, ...] = ()) -> tuple[Sheet, str]:
    """The sheet of a workbook that is a record, and how it was chosen; nothing where there was no choice.

    Where no sheet has dates or years, it is the first that is neither a level curve nor numbers of a reservoir, whose
    mistakes are told.

    Parameters
    ----------
    data : bytes
    names : tuple of str
        Sheets that the caller names; others of them may be the curve, or the limits.

    Raises
    ------
    InputError
        If it is no workbook or has no cells, a name is that of no sheet, or several sheets may be the record.
    """
    sheets = sheets_of(data)
    others = [sheet for sheet in sheets if holds_levels(sheet) or holds_plant(sheet)]
    rest = [sheet for sheet in sheets if sheet not in others]
    named = [sheet for sheet in rest if sheet.name.strip().casefold() in {name.strip().casefold() for name in names}]
    dated = [sheet for sheet in named or rest if _header(sheet)]
    of_inflow = [sheet for sheet in dated if _names_inflow(sheet)]
    candidates = named or (of_inflow if len(dated) > 1 and of_inflow else dated)
    sheet = chosen_sheet(sheets, names, lambda sheet: sheet in candidates, "the inflow")
    if sheet is None and not rest and sheets:
        listed = ", ".join(each.name for each in sheets)
        problem, expected = f"no sheet holds an inflow (sheets: {listed})", "a sheet with dates, or years, and flows"
        raise InputError(problem, expected, "add such a sheet, or give the record as a file of its own")
    sheet = sheet or (rest[0] if rest else Sheet("", ()))
    of_no_use = [] if any(map(holds_levels, others)) else others  # limits without a curve
    passed_over = [each.name for each in (*rest, *of_no_use) if each != sheet]
    note = f'inflow from sheet "{sheet.name}"' if len(sheets) > 1 else ""
    return sheet, f"{note}, passed over {', '.join(passed_over)}" if note and passed_over else note


def has_record(path: Path) -> bool:
    """Whether a sheet of a workbook has dates or years, and is no table of a reservoir."""
    with suppress(InputError, OSError):  # the reader of the reservoir says what is wrong
        sheets = sheets_of(read_limited(path, MOST_BYTES))
        return any(_header(sheet) and not holds_levels(sheet) and not holds_plant(sheet) for sheet in sheets)
    return False


def _header(sheet: Sheet) -> tuple[str, ...]:
    """The header of a sheet with dates, years or months; nothing of another."""
    with suppress(InputError):
        content = content_of(sheet._replace(rows=sheet.rows[:_MOST_ABOVE]).csv())
        rows = [cut(*line, content.delimiter) for line in content.lines[:_LOOKED_AT]]
        cells = [row.cells if isinstance(row, Row) else () for row in rows]
        if names_dates(cells[0]) or above_dates(cells) == 0:
            return cells[0]
    return ()


def _names_inflow(sheet: Sheet) -> bool:
    """Whether a column, or the sheet's own name, speaks of a flow and of no other quantity."""
    names = _header(sheet)
    sayings = [understand(text) for text in (*names, sheet.name)]
    spoken = any({*QUANTITIES, WordKind.UNIT} & saying.kinds and not saying.is_no_inflow for saying in sayings)
    return spoken and not understand(sheet.name).is_other


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
