"""The reservoir file to start from, with the curves of a table of level, storage and area."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from reservoir.io.level_table import LevelColumn, LevelTable
from reservoir.io.placing.whole_file import write_new
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.io.reservoir_toml.template import mark_of, template_text

#: How far the invented tailwater of the template lies below its lowest level, m.
_BELOW_M = 43.0
_FROM_TABLE = "an end of the table, in place of yours"


def write_from_table(name: str, table: LevelTable, target: Path, *, force: bool = False) -> Path:
    """Write the template under a reservoir's name with the level curve and the area of a table, in its units.

    The storage limits are the ends of the table, and the invented tailwater lies below its lowest level; all other
    values are the template's.

    Raises
    ------
    InputError
        If the name, or the reservoir that results, cannot be.
    OutputError
        If the file exists and `force` is off, or cannot be written.
    """
    text = _with_table(template_text(name), table)
    reservoir_of(text.encode(), str(target))
    write_new(target, text, force=force, choose="choose another --out", replace="give --force to replace it")
    return target


def _with_table(text: str, table: LevelTable) -> str:
    level, storage = table.level, table.storage
    text = _replaced(text, "dead_hm3", _key("dead", storage, storage.values[0]))
    text = _replaced(text, "full_hm3", _key("full", storage, storage.values[-1]))
    text = _replaced(text, "initial_hm3", _key("initial", storage, storage.values[-1]))
    text = _replaced(text, "final_hm3", _key("final", storage, storage.values[-1]))
    for stem, value in (("normal", level.values[-1]), ("dead", level.values[0])):
        text = _replaced(text, f"{stem}_m", f"{stem}_{level.head.ending} = {value!r} # {_FROM_TABLE}")
    below = round(level.values[0] - _BELOW_M / level.head.size, 2)
    text = _replaced(text, "offset_m", f"offset_{level.head.ending} = {below!r} {mark_of(repr(below))}")
    curve = f"{_list('storage', storage)}\n{_list('level', level)}"
    text = _curve(text, "level", curve)
    if table.area is None:
        return text
    area = f"{_list('storage', storage)}\n{_list('area', table.area)}\n"
    return f'{text.rstrip()}\n\n# From the table, as the level curve.\n[curves.area]\nkind = "table"\n{area}'


def _key(stem: str, column: LevelColumn, value: float) -> str:
    return f"{stem}_{column.head.ending} = {value!r} {mark_of(repr(value))}; {_FROM_TABLE}"


def _list(stem: str, column: LevelColumn) -> str:
    return f"{stem}_{column.head.ending} = {_wrapped(column.values)}"


def _wrapped(values: Sequence[float]) -> str:
    lines = [", ".join(map(repr, values[first : first + 10])) for first in range(0, len(values), 10)]
    return f"[{lines[0]}]" if len(lines) == 1 else "[\n    " + ",\n    ".join(lines) + ",\n]"


def _replaced(text: str, key: str, line: str) -> str:
    """Put a line in the place of the first of a key that is no comment."""
    return re.sub(rf"(?m)^{key} = .*$", lambda _: line, text, count=1)


def _curve(text: str, name: str, points: str) -> str:
    """Put points in the place of those of a curve's table; the other kinds stay as comments."""
    pattern = rf'(\[curves\.{name}\]\nkind = "table"\n)\w+ = \[.*\n\w+ = \[.*'
    return re.sub(pattern, lambda found: found[1] + points, text, count=1)
