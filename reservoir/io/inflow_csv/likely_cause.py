"""The one cause that a screenful of mistakes has, if they look like it: told before them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from reservoir.errors import MOST_ALIKE, Mistake
from reservoir.io.inflow_csv.cells import looks_like_number
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.unit_words import folded

#: Part of all rows that a mistake must stand in to be that of the file, and rows a year of a daily file.
_NEARLY_ALL, _DAYS_A_YEAR = 0.8, 100
#: Columns that name a station, and the most stations that are named.
_STATION = re.compile(r"(station|site|gage|gauge|river|location|sensor|name)([ _-]?(no|id|name|number|code))?")
_MOST_STATIONS, _NAMED = 200, 5
#: Cells of a row in which its date is looked for, and dates of days, with their years.
_DATE_CELLS = 4
_DATED = re.compile(r"(?:(\d{4})[-/.]\w+[-/.]\w+|\w+[-/.]\w+[-/.](\d{4}|\d{2}))(?:[ T].*)?", re.ASCII)
_NUMBERED = re.compile(r"(\d{1,2})[/.\-](\d{1,2})[/.\-](\d{4}|\d{2})(?:[ T].*)?")


def likely_cause(table: InflowTable, mistakes: Sequence[Mistake]) -> Mistake | None:
    """What the mistakes of a table most likely come from; None of a few, or of many of different kinds."""
    stations = _stations(table)
    if len(stations) > 1 and any("twice" in each.problem or "time step" in each.problem for each in mistakes):
        return _several_stations(table, stations)
    kinds = Counter((each.problem, each.column) for each in mistakes if each.row is not None)
    if not kinds:
        return None
    (problem, column), count = kinds.most_common(1)[0]
    rows = len(table.rows) + len({each.row for each in table.mistakes})
    if count <= MOST_ALIKE or count < _NEARLY_ALL * rows:
        return None
    if problem.startswith("ambiguous date"):
        return _numbered_dates(table, column, stations)
    mend = next(each.mend for each in mistakes if (each.problem, each.column) == (problem, column))
    like = _looks_like(table, column, stations)
    what = f"{problem} in column {column}" if column else problem
    return Mistake(f"nearly every row ({count:,} of {rows:,}) has the same mistake ({what}){like}", mend=mend)


def _stations(table: InflowTable) -> tuple[str, ...]:
    """Names in a column of stations, in their order; none where there is no such column."""
    for place, name in enumerate(table.header.cells):
        if _STATION.fullmatch(folded(name).strip()):
            found = tuple(dict.fromkeys(row.cells[place] for row in table.rows if row.cells[place]))
            return found if len(found) <= _MOST_STATIONS else ()
    return ()


def _several_stations(table: InflowTable, stations: Sequence[str]) -> Mistake:
    named = ", ".join(stations[:_NAMED]) + (", ..." if len(stations) > _NAMED else "")
    problem = f"the file has the rows of {len(stations)} stations, one below the other: {named}"
    return Mistake(problem, "the rows of one station", "keep the rows of one station")


def _numbered_dates(table: InflowTable, column: str, stations: Sequence[str]) -> Mistake:
    """Dates such as 01/02/1964 in every row; which number is the day may show in the whole column."""
    cells = [row.cells[table.header.cells.index(column)] for row in table.rows]
    parts = [found for found in map(_NUMBERED.fullmatch, cells) if found]
    first, second = (max((int(part[at]) for part in parts), default=0) for at in (1, 2))
    order = ""
    if first > 12 >= second:
        order = ", day first"
    elif second > 12 >= first:
        order = ", month first"
    problem = f"all dates are numbers such as {cells[0]}{order}{_looks_like(table, column, stations)}"
    mend = "write dates as YYYY-MM-DD, or with the month's name, such as 01-Jan-1964 (a date format of the spreadsheet)"
    return Mistake(problem, "dates that can be read in one way", mend)


def _looks_like(table: InflowTable, column: str, stations: Sequence[str]) -> str:
    """What kind of file it looks like; empty where nothing says so."""
    station = f" of the station {stations[0]}" if len(stations) == 1 else ""
    found = (_DATED.fullmatch(cell) for row in table.rows for cell in row.cells[:_DATE_CELLS])
    years = {year[1] or year[2] for year in found if year}
    if years and len(table.rows) >= _DAYS_A_YEAR * len(years):
        return f": this looks like a daily file{station}"
    if column in table.header.cells:
        place = table.header.cells.index(column)
        texts = sum(not looks_like_number(row.cells[place]) for row in table.rows)
        if texts > _NEARLY_ALL * len(table.rows):
            return f": this looks like a column of texts{station}"
    return f": this looks like a file{station}" if station else ""
