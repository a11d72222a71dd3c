"""Keys of a reservoir file, or of a system file, changed in its text, so that all else stays as its user wrote it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any

from reservoir.errors import InputError
from reservoir.io.reservoir_toml.draft import known_unit, parsed
from reservoir.io.reservoir_toml.writer import written
from reservoir.io.system_file import key_lines
from reservoir.text.data_file import text_of

#: Where a key stands: sections, places in lists of entries, and the key.
Place = tuple[str | int, ...]


def edited(content: bytes, file: str, values: Mapping[Place, Any]) -> bytes:
    """Change keys of a file, add them to their sections, or remove them; comments and all other lines stay.

    Parameters
    ----------
    content : bytes
    file : str
        Its name, for messages.
    values : mapping of Place to object
        Texts, numbers or lists, by where they stand: ``("storage", "full_hm3")``, ``("reservoirs", 1, "file")``; None
        removes a key, or a section.

    Returns
    -------
    bytes
        The file, in UTF-8. A reader has to judge it.

    Raises
    ------
    InputError
        If it is no TOML, or a key is written in a way that cannot be changed so.
    """
    text, tree = text_of(content, file), deepcopy(parsed(content, file))
    for place, value in values.items():
        *sections, key = place
        holder: Any = tree
        for part in sections:
            holder = holder.setdefault(part, {}) if isinstance(holder, dict) else holder[part]
        if value is None:
            del holder[key]
            text = _without(text, place)
        else:
            holder[key] = value
            text = _with_key(text, place, f"{key} = {written(value)}")
        with suppress(ValueError):
            if tomllib.loads(text) == tree:
                continue
        dotted = ".".join(map(str, place))
        problem, expected = (
            "cannot be changed as it is written",
            f"a line [{place[0]}], and {key} = ... in a line below it",
        )
        raise InputError(problem, expected, "write it so", file=file, column=dotted)
    return text.encode()


def _with_key(text: str, place: Place, line: str) -> str:
    """The text with a line in place of that of a key; where there is none, behind the line of its section."""
    lines, places = text.split("\n"), key_lines(text.encode())
    section, number = ".".join(map(str, place[:-1])), places.get(".".join(map(str, place)))
    ending = "\r" if lines[0].endswith("\r") else ""
    if number is None:
        if not section or section in places:
            lines.insert(places[section] if section else 0, line + ending)
        else:
            head = f"[{'.'.join(str(part) for part in place[:-1] if isinstance(part, str))}]"
            entry = f"{place[0]}.{place[1]}." if isinstance(place[1], int) else ""
            inside = [row for key, row in places.items() if entry and f"{key}.".startswith(entry)]
            end = _last_line(lines, max(inside)) if inside else len(lines) - (not lines[-1])
            lines[end:end] = [ending, head + ending, line + ending]
            lines += [""] * bool(lines[-1].strip())
        return "\n".join(lines)
    first, last = number - 1, _last_line(lines, number)
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    comment = _comment(lines[first]) if last == number else ""
    lines[first:last] = [f"{indent}{line}{comment}{ending}"]
    return "\n".join(lines)


def _without(text: str, place: Place) -> str:
    """The text without the lines of a key, or of a section up to the next one; comments before that stay."""
    lines, places, dotted = text.split("\n"), key_lines(text.encode()), ".".join(map(str, place))
    first = places.get(dotted, 0) - 1
    if first >= 0 and not lines[first].lstrip().startswith("["):
        del lines[first : _last_line(lines, first + 1)]
    else:
        inside = [number for key, number in places.items() if f"{key}.".startswith(f"{dotted}.")]
        first, last = min(inside, default=1) - 1, max(inside, default=0)
        del lines[first : _last_line(lines, last) if last > first + 1 else last]
    return "\n".join(lines)


def _last_line(lines: Sequence[str], number: int) -> int:
    """The number of the last line of a value that begins in a line."""
    return next((stop for stop in range(number, len(lines) + 1) if _is_whole(lines[number - 1 : stop])), number)


def differences(before: Mapping[str, Any], after: Mapping[str, Any], at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """What `edited` has to change so that a file has other keys: first those that it removes, by where they stand."""
    yield from (((*at, key), None) for key in before if key not in after)
    for key, value in after.items():
        old: Any = before.get(key)
        if isinstance(value, dict):
            yield from differences(old if isinstance(old, dict) else {}, value, (*at, key))
        elif _are_entries(value) and _are_entries(old) and len(value) == len(old):
            for place, entries in enumerate(zip(old, value, strict=True)):
                yield from differences(*entries, (*at, key, place))
        elif old != value:
            yield (*at, key), value


def _are_entries(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _is_whole(lines: Sequence[str]) -> bool:
    """Whether lines are a key with all of its value; where nothing is, the last line of a file says so."""
    try:
        tomllib.loads("\n".join((*lines, "")))  # of which the last may end in a return
    except ValueError:
        return False
    return True


def _comment(line: str) -> str:
    """The comment behind a value, with the blanks before it."""
    for place in (place for place, letter in enumerate(line) if letter == "#"):
        if _is_whole([line[:place]]):
            return line[len(line[:place].rstrip()) :].rstrip("\r")
    return ""


def place_of(tree: Mapping[str, Any], sections: Sequence[str | int], key: str, file: str) -> Place:
    """Where a file has a key that may be typed without its unit; the key as it is typed where the file has none.

    Raises
    ------
    InputError
        If the file has it in another unit.
    """
    holder: Any = tree
    for part in sections:
        holder = holder[part] if isinstance(part, int) or part in holder else {}
    own = [name for name in holder if not isinstance(holder[name], dict)] if isinstance(holder, dict) else []
    if key not in own:
        section = ".".join(part for part in sections if isinstance(part, str)).removeprefix("reservoirs").lstrip(".")
        name, unit = known_unit(section, key)
        for other in own:
            row, of_other = known_unit(section, other)
            if of_other is not None and row.startswith(f"{key}_") and other.startswith(f"{key}_"):
                return (*sections, other)
            if unit is not None and row == name:
                problem, mend = "is in another unit there", f"write {other}, and the numbers in its unit"
                raise InputError(
                    problem, f"{other}, as the file has it", mend, file=file, column=f"{section}.{key}".lstrip(".")
                )
    return (*sections, key)
