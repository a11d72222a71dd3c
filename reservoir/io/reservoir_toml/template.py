"""The commented reservoir file to start from, and values written into it in the place of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reservoir import runtime
from reservoir.errors import InputError
from reservoir.hydro.attributes import ATTRIBUTES, LONGEST_NAME, YearEnd
from reservoir.io.reservoir_toml.draft import KEYS, ONE_OF, WAYS_TO_POWER
from reservoir.text.quantities import is_name, printable

_SECTION = re.compile(r"(?:# )?\[([\w.]+)\]\s*(?:#.*)?")
#: Storages of the template that a year does without which ends in these ways.
_CHOSEN: Mapping[str, tuple[str, ...]] = {
    YearEnd.CYCLIC: ("storage.initial_hm3", "storage.final_hm3"),
    YearEnd.FREE: ("storage.final_hm3",),
    YearEnd.VALUED: ("storage.final_hm3",),
}


class Value(NamedTuple):
    """A value for a key: the table's key, how it is written within its section, as TOML has it, and where it is from.

    What is a `guess` is marked in the file until it is another number, with its `meaning`.
    """

    key: str
    written: str
    text: str
    source: str
    guess: bool = False

    @property
    def meaning(self) -> str:
        """What the number is."""
        row = KEYS.get(self.key)
        return row.meaning if row else ""

    @property
    def line(self) -> str:
        """The line of the file."""
        if not self.guess:
            return f"{self.written} = {self.text} # {printable(self.source)}"
        return f"{self.written} = {self.text} # invented ({self.text}): replace it; {self.meaning} ({self.source})"


def require_name(name: str) -> None:
    """Refuse a name that no reservoir file has: InputError."""
    if not is_name(name) or name[0] in "-_" or len(name) > LONGEST_NAME:
        expected = f"letters, digits, - and _, at most {LONGEST_NAME} characters"
        raise InputError("is not a valid reservoir name", expected, "choose another name", value=name)


def template(
    name: str,
    values: Sequence[Value] = (),
    curves: Mapping[str, tuple[Mapping[str, Any], str]] | None = None,
) -> str:
    """The template under a reservoir's name, with values and curves, and every key of the table that it lacks.

    Parameters
    ----------
    name : str
    values : sequence of Value
    curves : mapping, optional
        Points of tables or coefficients, by the section's name and their keys as written; and where they are from.

    Raises
    ------
    InputError
        If the name has other characters than a reservoir file allows.
    """
    require_name(name)
    text = runtime.package_text("data", "template.toml").replace('"NAME"', f'"{name}"')
    further = [row for row in ATTRIBUTES if not re.search(rf"\b{row.name}\b", text)]
    lines = text.splitlines()
    lines += [f"# In [{row.section}], optional: {row.description}.\n# {row.name} = {row.default}" for row in further]
    given = {value.key for value in values} | {f"curves.{curve}" for curve in curves or ()}
    for keys in (WAYS_TO_POWER, *ONE_OF):
        if given & set(keys):
            for key in set(keys) - given:
                _remove(lines, key)
    end = next((value.text.strip('"') for value in values if value.key == "storage.year_end"), YearEnd.FIXED)
    for key in _CHOSEN.get(end, ()):
        if key not in given:
            _remove(lines, key)
    for value in values:
        _put(lines, value)
    for curve, (points, source) in (curves or {}).items():
        _remove(lines, f"curves.{curve}")
        kind = "polynomial" if "coefficients" in points else "table"
        block = [f"# From {printable(source)}.", f"[curves.{curve}]", *[f'kind = "{kind}"'] * (curve != "turbine")]
        lines += ["", *block, *(_list(key, numbers) for key, numbers in points.items())]
    return "\n".join([*lines, ""])


def _span(lines: Sequence[str], section: str) -> tuple[int, int]:
    """The lines of a section, its heading among them, which may be a comment; nothing behind the end of the file."""
    heads = [(place, match[1]) for place, line in enumerate(lines) if (match := _SECTION.fullmatch(line))]
    if not section:
        return 0, heads[0][0]
    first = next((at for at, (_, name) in enumerate(heads) if name == section), None)
    if first is None:
        return len(lines), len(lines)
    return heads[first][0], heads[first + 1][0] if first + 1 < len(heads) else len(lines)


def _remove(lines: list[str], key: str) -> None:
    """Make a comment of a key, or of all lines of a section."""
    section, _, name = key.rpartition(".")
    begin, end = _span(lines, key if key.startswith("curves.") else section)
    stem = KEYS[key].stem if key in KEYS else name
    for place in range(begin, end):
        if lines[place][:1] not in ("", "#") and (
            key.startswith("curves.") or re.match(rf"{stem}(_\w+)? = ", lines[place])
        ):
            lines[place] = f"# {lines[place].partition(' # invented')[0]}"


def _put(lines: list[str], value: Value) -> None:
    """Write a key in the place of the one that is there, or of its comment, or as the first of its section."""
    row = KEYS.get(value.key)
    section, _, name = value.key.rpartition(".")
    begin, end = _span(lines, section)
    if begin == len(lines):
        lines += ["", f"[{section}]"]
        end = len(lines)
    elif section:
        lines[begin] = lines[begin].removeprefix("# ")
    stem = row.stem if row is not None and row.units else name
    form = re.compile(rf"(# )?{stem}{'_[a-z0-9_]+' if row is not None and row.units else ''} = .*")
    places = [place for place in range(begin, end) if form.fullmatch(lines[place])]
    active = [place for place in places if not lines[place].startswith("#")]
    place = next(iter(active or places), None)
    if place is None:
        lines.insert(begin + bool(section), value.line)
    else:
        lines[place] = value.line


def _list(key: str, numbers: Sequence[float] | str) -> str:
    """A key with a text, or with a list of numbers, ten a line."""
    if isinstance(numbers, str):
        return f"{key} = {literal(numbers)}"
    rows = [", ".join(map(repr, numbers[first : first + 10])) for first in range(0, len(numbers), 10)]
    return f"{key} = " + (f"[{rows[0]}]" if len(rows) == 1 else "[\n    " + ",\n    ".join(rows) + ",\n]")


def literal(value: Any) -> str:
    """A number, a text or a list as TOML has it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(map(literal, value))}]" if isinstance(value, list | tuple) else repr(value)
