"""Whether the rows of a table are those of one series: columns that say where, what and how, and that change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from reservoir.errors import Mistake
from reservoir.io.inflow_csv import vocabulary as known
from reservoir.io.inflow_csv.cells import looks_like_number
from reservoir.io.inflow_csv.column_words import understand
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.unit_words import Kind, parts_of

#: Characters of a code that judges a value.
_SHORT_CODE = 3
#: Values of a column of few, numbers of series, and rows of an average block of equal ones; of a table by years, fewer.
_MOST_VALUES, _FEW_NUMBERS, _LONG_BLOCK, _LONG_BLOCK_OF_YEARS = 20, 4, 12, 2
_CHINESE_SERIES = re.compile("站|河名|河流|水库名|要素|项目|指标|类型")


class Change(NamedTuple):
    """The first place at which a column changes, and what it says before and from there on."""

    place: int
    before: str
    after: str


def may_tell_series(name: str) -> bool:
    """Whether a column is of such a name."""
    words = set(parts_of(name))
    return bool(words & known.OF_SERIES or _CHINESE_SERIES.search(name)) and not words & known.JUDGES


def change_of_series(name: str, cells: Sequence[str], long_block: int = _LONG_BLOCK) -> Change | None:
    """Where a column that nobody asked for tells that other rows are of another series; None where it does not.

    Parameters
    ----------
    name : str
        Its header.
    cells : sequence of str
        In the order of time; empty ones say nothing.
    long_block : int
        Rows of a block of equal cells that no flag of single values makes.
    """
    filled = [(place, text) for place, cell in enumerate(cells) if (text := " ".join(cell.split()))]
    values = {text.casefold() for _, text in filled}
    words = set(parts_of(name))
    of_series = may_tell_series(name)
    short = bool(words & known.CODED) and all(len(value) <= _SHORT_CODE for value in values)
    if len(values) < 2 or words & known.JUDGES or (not of_series and (words & known.VARYING or short)):
        return None
    if all(_says_how_good(value) for value in values):
        return None
    saying, numbers = understand(name), all(map(looks_like_number, values))
    a_quantity = saying.units or saying.kinds & {Kind.OTHER, Kind.FLOW, Kind.VOLUME, Kind.RUNOFF, Kind.STATISTIC}
    if numbers and (a_quantity or any("." in value for value in values)):
        return None
    changes = [
        Change(place, before, after)
        for (_, before), (place, after) in pairwise(filled)
        if before.casefold() != after.casefold()
    ]
    in_blocks = len(values) <= _MOST_VALUES and len(filled) >= long_block * (len(changes) + 1)
    if not of_series:
        return changes[0] if in_blocks and not a_quantity and len(filled) > len(cells) / 2 else None
    each_its_own = len(values) > _MOST_VALUES and len(values) > len(filled) / 4
    return changes[0] if in_blocks or not (len(values) > _FEW_NUMBERS if numbers else each_its_own) else None


def _says_how_good(value: str) -> bool:
    words = re.findall(r"[^\W\d_]+", value)
    return bool(words) and known.HOW_GOOD.issuperset(words)


def series_mistakes(
    table: InflowTable, beside: Sequence[int], rows: Sequence[int], *, years: bool
) -> Iterator[Mistake]:
    """Refuse a table whose rows are those of several series, one after another.

    Parameters
    ----------
    table : InflowTable
    beside : sequence of int
        Places of the columns that are passed over.
    rows : sequence of int
        Numbers of the rows with values, in the order of time.
    years : bool
        Whether a row is a year.
    """
    cells_of = dict(table.rows)
    for column in beside:
        name = table.header.cells[column]
        found = change_of_series(
            name, [cells_of[row][column] for row in rows], _LONG_BLOCK_OF_YEARS if years else _LONG_BLOCK
        )
        if found is not None:
            yield several_series(name, found, row=rows[found.place])


def several_series(name: str, found: Change, *, row: int | None = None) -> Mistake:
    """Refuse rows of several series."""
    problem = f"{name} changes from {found.before} to {found.after}: the rows are not those of one series"
    mend = f"keep the rows of one {name}; if all are of one series, delete this column"
    return Mistake(problem, "the rows of one series", mend, row=row, column=name, value=found.after)
