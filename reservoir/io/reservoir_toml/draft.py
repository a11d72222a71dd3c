"""A reservoir file as written: its text, and its keys in the program's units; what an unknown key may have meant.

A key is a stem and, where it holds a quantity, a unit: ``dead_hm3``. What stands where the unit should is read only if
the whole of it is a known unit of that quantity: in ``dead_mio_m3`` it is not. It is read here, once, so that the table
of attributes and the checks know the program's units only, while every message names the key, the number and the unit
that the user wrote.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.attributes import (
    ATTRIBUTES,
    CONVERSIONS,
    CURVES,
    LINK_ATTRIBUTES,
    SITE_ATTRIBUTES,
    Attribute,
    Kind,
    Unit,
    curve_keys,
    plain,
)
from reservoir.hydro.units import key_suffix
from reservoir.io.workbook import MOST_BYTES as BOOK_BYTES
from reservoir.io.workbook import is_workbook
from reservoir.text.data_file import check_path, read_limited, text_of


def _all_keys() -> dict[str, Attribute]:
    keys: dict[str, Attribute] = {}

    def add(row: Attribute, dotted: str) -> None:
        for place, letter in enumerate(dotted):
            if letter == ".":
                keys.setdefault(dotted[:place], Attribute(dotted[:place], "", kind=Kind.OTHER))
        keys.setdefault(dotted, row)

    for row in ATTRIBUTES:
        add(row, row.key)
    for curve in (*CURVES, "turbine"):
        for row in (row for rows in curve_keys(curve).values() for row in rows):
            add(row, f"curves.{curve}.{row.key}")
    return keys


#: Every key of a reservoir file, by dotted key; a section's has no meaning.
KEYS: Mapping[str, Attribute] = _all_keys()
#: The keys of each section, which is "" for the file.
KEYS_OF = {
    section: [row for key, row in KEYS.items() if key.rpartition(".")[0] == section]
    for section in {key.rpartition(".")[0] for key in KEYS}
}
#: And those of the entries of a system file.
KEYS_OF |= {"reservoirs": [*SITE_ATTRIBUTES], "links": [*LINK_ATTRIBUTES]}
#: The ways to say how much power water gives, and other keys of which a file has one.
WAYS_TO_POWER = tuple(f"curves.{name}" for name in (*CONVERSIONS.values(), "turbine"))
WAYS_TO_POWER += ("plant.output_coefficient", "plant.efficiency")
ONE_OF = (
    ("curves.capacity", "curves.turbine", "plant.hydraulic_capacity_m3s", "plant.unit_hydraulic_capacity_m3s"),
    ("plant.installed_capacity_mw", "plant.unit_capacity_mw"),
    ("curves.seepage", "losses.seepage_m3s"),
    ("curves.level", "storage.level_m"),
    ("plant.plant_factor", "plant.full_load_hours"),
    ("flood_space.upper_hm3", "flood_space.space_hm3"),
)
#: What makes a reservoir a run-of-river plant, which needs no dead and full storage.
RUN_OF_RIVER = ("storage.fixed_hm3", "storage.level_m")
#: How deep sections lie within each other.
DEPTH = max(key.count(".") for key in KEYS) + 1
#: A file that holds more keys than this is of another kind.
MOST_KEYS = 10 * len(KEYS)
LONGEST_KEY = 64
#: How like a stem a misspelt one is, and how like a whole key without a unit.
_LIKE_STEM, _LIKE_KEY, _SURELY = 0.75, 0.6, 0.9


#: A reservoir with long curves takes some 20 kB.
MOST_BYTES = 1_000_000
#: A dotted key of more parts takes the decoder ever longer: its time grows with their square.
MOST_PARTS = 32
#: Python converts no integer of more than 4,300 digits, and no quantity needs a tenth of them.
MOST_DIGITS = 400
_START_ANEW = '"reservoir new NAME" writes a commented file to start from'
_PART = r"""(?:[\w-]++|"(?:[^"\\]|\\.)*+"|'[^']*+')"""
_LONG_KEY = re.compile(rf"(?:^|[,=\[\]{{}}])[ \t]*+{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_PARTS}}}")
#: A row of a table: a year or a date, and further cells.
_OF_TABLE = re.compile(r"[\s\"]*\d[^,;\t=\[]*[,;\t]")
#: What is wrong with a line, by how the decoder's message begins.
_SYNTAX = {
    "Cannot overwrite": "repeats a key",
    "Cannot mutate": "repeats a key",
    "Cannot declare": "repeats a section",
    "Expected newline or end of document": "has extra text after the value",
    "Expected '='": "has a key without = and a value",
    "Invalid value": "has no value, or one that is not a number, text or list",
    "Invalid statement": "is neither key = value nor [section]",
    "Unclosed array": "is in a list without closing ]",
    "Unterminated string": "is in a text without closing quote",
}


def file_content(path: str | Path) -> bytes:
    """Read the bytes; a hash is of these, before any decoding.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read, or it is too large.
    """
    try:
        return read_limited(path, BOOK_BYTES if is_workbook(path) else MOST_BYTES)
    except FileNotFoundError:
        problem, mend = "does not exist", f"{check_path(path)}; {_START_ANEW}"
    except IsADirectoryError:
        problem, mend = "is a folder, not a file", "give the TOML file in it"
    except OSError as error:
        problem, mend = f"cannot be read: {error.strerror}", ""
    except ValueError as error:
        problem, mend = f"cannot be read: {error}", "check the path"
    raise InputError(problem, "a reservoir file (TOML)", mend, file=str(path))


def parsed(content: bytes, file: str) -> dict[str, Any]:
    """Decode a file's bytes.

    Raises
    ------
    InputError
        If they are not TOML, or hold what no reservoir file needs and no decoder takes.
    """
    text = text_of(content, file)
    for row, line in enumerate(text.split("\n"), 1):
        digits = re.search(rf"[\d_]{{{MOST_DIGITS + 1},}}|0[xX][\da-fA-F_]{{{MOST_DIGITS + 1},}}", line)
        if digits:
            problem = f"has a number of {len(digits[0]):,} digits"
            raise InputError(problem, f"at most {MOST_DIGITS}", "round it", file=file, row=row)
        if line.count(".") >= MOST_PARTS and _LONG_KEY.search(line):
            problem = f"has a key of more than {MOST_PARTS} parts"
            raise InputError(problem, "section.key", "write it below its [section]", file=file, row=row)
    try:
        tree = tomllib.loads(text)
    except RecursionError:
        mend = "write the sections and lists without nesting"
        raise InputError("has too many nested lists or sections", mend=mend, file=file) from None
    except ValueError as error:
        raise InputError(_not_toml(str(error), text, file)) from None
    if not tree:
        raise InputError("is empty", "a reservoir file (TOML)", _START_ANEW, file=file)
    return tree


def _not_toml(message: str, text: str, file: str) -> Mistake:
    """Take the place out of the decoder's message, and show the line that it stopped at."""
    lines = text.rstrip().split("\n")
    place = re.search(r" \(at (?:line (\d+)|end of document)", message)
    row = min(int(place[1]), len(lines)) if place and place[1] else len(lines)
    said = message[: place.start()] if place else message
    content = [line for line in lines if line.strip() and line[0] != "#"]
    if "=" not in "".join(content) and 2 * sum(_OF_TABLE.match(line) is not None for line in content) >= len(content):
        mend = (
            f'give the record in its own place, and a reservoir file here: {_START_ANEW}, with "--from TABLE" of levels'
        )
        return Mistake("is a table, such as a record of inflow", "a reservoir file (TOML)", mend, file=file)
    problem = next((words for begin, words in _SYNTAX.items() if said.startswith(begin)), f"is not TOML: {said}")
    expected = 'key = value, with text in "quotes", lists in [brackets] and decimals with a point'
    line = lines[row - 1].strip() or None
    return Mistake(problem, "" if problem.startswith("repeats") else expected, file=file, row=row, value=line)


def known_unit(section: str, written: str) -> tuple[str, Unit | None]:
    """The table's name for a key as written, with its unit; the key itself and None where it is no such key."""
    for row in KEYS_OF.get(section, ()):
        unit = row.unit(written)
        if unit is not None:
            return row.name, unit
    return written, None


def row_of(dotted: str) -> Attribute | None:
    """The row of a key as written, with any unit; None where it is no such key."""
    section, _, written = dotted.rpartition(".")
    return KEYS.get(f"{section}.{known_unit(section, written)[0]}".lstrip("."))


class Entry(NamedTuple):
    """What the user wrote at one place: the whole key, the value and its unit; and the value in the program's unit."""

    key: str
    value: object
    unit: Unit | None
    scaled: object = None


@dataclass(frozen=True)
class Draft:
    """A parsed reservoir file, not yet checked; puts claims that do not hold in the words of its user (`Words`).

    Parameters
    ----------
    file : str
        Its name, for messages.
    entries : mapping of str to Entry
        What the user wrote, by dotted key with the program's unit at its end, in the order of the file; sections too.
    mistakes : tuple of Mistake
        Quantities that are given twice, in two units.
    section : str
        The section whose keys are spoken of; empty for the whole file.
    keys : mapping
        Dotted keys of what is called otherwise in the file.
    """

    file: str
    entries: Mapping[str, Entry]
    mistakes: tuple[Mistake, ...]
    section: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, written: Mapping[str, Any], file: str) -> Draft:
        """Bring a parsed file to the program's units.

        Raises
        ------
        InputError
            If it holds far too many keys.
        """
        entries, mistakes = dict[str, Entry](), list[Mistake]()
        for count, (dotted, entry) in enumerate(_entries(written)):
            if count == MOST_KEYS:
                problem, mend = f"has more than {MOST_KEYS:,} keys", "check that this is the right file"
                raise InputError(problem, "a reservoir file (TOML)", mend, file=file)
            key, value = entry.key, shown(entry.value)
            if dotted is None:
                key = shortened(key, LONGEST_KEY) or '""'
                mistakes.append(Mistake("is not a known key", mend="remove it", file=file, column=key, value=value))
            elif dotted in entries:
                first, second = entries[dotted].key.rpartition(".")[2], key.rpartition(".")[2]
                problem, mend = f"is the same quantity as {first}, in another unit", f"remove {first} or {second}"
                mistakes.append(Mistake(problem, "one of the two keys", mend, file, column=key, value=value))
            else:
                entries[dotted] = entry
        return cls(file, entries, tuple(mistakes))

    def has(self, dotted: str) -> bool:
        """Whether the user gave this key, in whatever unit."""
        return dotted in self.entries

    def has_section(self, name: str) -> bool:
        """Whether the user gave a section, of whatever keys."""
        return self.has(name) and isinstance(self.entries[name].value, dict)

    def entry(self, name: str) -> Entry:
        """Find what the user wrote at a key; where nothing is written, the key itself."""
        dotted = self.keys.get(name) or ".".join(part for part in (self.section, name) if part)
        section, _, key = dotted.rpartition(".")
        return self.entries.get(dotted, Entry(dotted, None, known_unit(section, key)[1]))

    def named(self, name: str) -> str:
        """A key as the user wrote it."""
        return self.entry(name).key

    def amount(self, name: str, value: float) -> str:
        """Say a value in the unit that the user chose for a key."""
        unit = self.entry(name).unit
        if unit is None:
            return plain(value)
        return f"{plain(value / unit.size)} {'x ' * unit.name[0].isdigit()}{unit.name}"

    def mistake(self, name: str, problem: str, expected: str = "", mend: str = "", place: int | None = None) -> Mistake:
        """State a mistake at a key, or a place of its list, with what the user wrote there."""
        key, value, *_ = self.entry(name)
        value = value[place] if place is not None and isinstance(value, list) else value
        return Mistake(problem, expected, mend, file=self.file, column=key, value=shown(value))

    def in_order(self, mistakes: Iterable[Mistake]) -> list[Mistake]:
        """Sort mistakes as their keys stand in the file; what is missing stands with its section, or last."""
        order = [entry.key for entry in self.entries.values()]

        def position(mistake: Mistake) -> int:
            key = mistake.column
            while key and key not in order:
                key = key.rpartition(".")[0]
            return order.index(key) if key else len(order)

        return sorted(mistakes, key=position)


def shown(value: object) -> object:
    """A value as a message shows it; None where it is too much to show."""
    if value is None or isinstance(value, dict | list):
        return None
    return value if isinstance(value, str | int | float) else str(value)


def _entries(table: Mapping[str, Any], section: str = "", prefix: str = "") -> Iterator[tuple[str | None, Entry]]:
    """What is written, by dotted key; by None what no key of a reservoir file can be: with a point it would be two."""
    seen: set[str] = set()
    for key, value in table.items():
        name, unit = (key, None) if isinstance(value, dict) else known_unit(section, key)
        dotted = f"{section}.{name}".lstrip(".") if 0 < len(name) <= LONGEST_KEY and "." not in name else None
        scaled = _unit_of_formula(dotted, value) if unit is None else _scaled(value, unit.size)
        yield dotted, Entry(prefix + key, value, unit, scaled)
        # What lies deeper than any key of a reservoir file is no part of one, and is not looked into.
        if isinstance(value, dict) and dotted and name not in seen and dotted.count(".") < DEPTH - 1:
            yield from _entries(value, dotted, f"{prefix}{key}.")
        seen.add(name)


def _unit_of_formula(dotted: str | None, value: object) -> object:
    """The table's name of a unit that a formula is in, however it is spelt; any other value as it is."""
    row = KEYS.get(dotted or "")
    if row is None or row.kind is not Kind.UNIT or not isinstance(value, str) or value in row.choices:
        return value
    from reservoir.io.key_words import unit_meant  # a file that has the table's own names waits for no words

    return unit_meant(value[:LONGEST_KEY], {key_suffix(name): name for name in row.choices}) or value


def _scaled(value: object, size: float) -> object:
    if isinstance(value, list):
        rows = ([_scaled(each, size) for each in item] if _is_row(item) else item for item in value)
        return [item if isinstance(item, list) else _scaled(item, size) for item in rows]
    if size == 1.0 or isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        return value
    # Twelve digits, so that one volume written in two units becomes one number.
    return float(f"{value * size:.12g}")


def _is_row(item: object) -> bool:
    return isinstance(item, list) and not any(isinstance(each, list) for each in item)


def _guess(section: str, written: str) -> tuple[Attribute, str] | None:
    """What an unknown key of a section was meant to be, and what stands behind the stem; None if it is like none."""
    known = KEYS_OF.get(section, [])
    without_unit = {row.stem: row for row in known if not row.units}
    for near in difflib.get_close_matches(written, without_unit, n=1, cutoff=_SURELY):
        return without_unit[near], ""
    for row in sorted(known, key=lambda row: -len(row.stem)):
        if written == row.stem or written.startswith(f"{row.stem}_"):
            return row, written[len(row.stem) + 1 :]
    words = written.split("_")
    near_keys: list[tuple[float, tuple[Attribute, str]]] = []
    for row in known:
        for count in range(1, len(words) + 1) if row.units else [len(words)]:
            stem, ending = "_".join(words[:count]), "_".join(words[count:])
            likeness = difflib.SequenceMatcher(None, stem, row.stem).ratio()
            if likeness >= (_LIKE_STEM if row.units else _LIKE_KEY):
                near_keys.append((likeness, (row, ending)))
    return max(near_keys, key=lambda near: near[0])[1] if near_keys else None


def unknown_key(dotted: str, draft: Draft) -> tuple[Mistake, str]:
    """State that a key is not known, and which key of its section it was meant to be, as far as can be guessed."""
    from reservoir.io.key_words import keys_meant, unit_meant

    section, _, name = dotted.rpartition(".")
    written = draft.entry(dotted).key.rpartition(".")[2]
    for meant in keys_meant(written, section=section):  # in other words, such as dead_storage_hm3
        ending = written.removeprefix(f"{meant.row.stem}_")
        if unit_meant(ending, {unit.suffix: unit.name for unit in meant.row.units}):
            continue  # the key itself, in a unit that no key is in
        mend = f"write {meant.written} if that is meant"
        return draft.mistake(dotted, "is not a known key", meant.row.description, mend), meant.row.key
    guess = _guess(section, written)
    if guess:
        return draft.mistake(dotted, *_almost(*guess)), f"{section}.{guess[0].name}".lstrip(".")
    elsewhere = [known for known in KEYS if known.rpartition(".")[2] == name]
    if elsewhere:
        return draft.mistake(dotted, "is not a known key here", mend=f"move it {home(elsewhere[0])}"), ""
    known = ", ".join(row.name for row in KEYS_OF.get(section, ()))
    return draft.mistake(dotted, "is not a known key", f"one of {known}" if known else "", "remove it"), ""


def _almost(row: Attribute, ending: str) -> tuple[str, str, str]:
    """Say what a key was probably meant to be, and never another unit than it may have been written in."""
    problem, unit = "is not a known key", row.unit(f"{row.stem}_{ending}")
    if unit:
        return problem, row.description, f"write {row.written(unit)} if that is meant"
    if not row.units and ending:
        return problem, f"{row.stem}: {row.description}", "convert the value"
    if not row.units:
        return problem, row.description, f"write {row.stem} if that is meant"
    named = {row.written(unit): unit.name for unit in row.units}
    choices = ", ".join(f"{key} ({name})" if name[0].isupper() else key for key, name in named.items())
    several = len(row.units) > 1
    if ending:
        mend = f"convert {'it to one of these units' if several else 'the value'}"
        return f'{problem}: "{ending}" is not a known unit', f"{'one of ' * several}{choices}", mend
    others = f"otherwise, one of {choices}" if several else "otherwise, convert it"
    return problem, row.description, f"write {row.name} if it is in {row.units[0].name}; {others}"


def home(dotted: str) -> str:
    """Where a file has a key."""
    section = dotted.rpartition(".")[0]
    return f"below the line [{section}]" if section else "to the top of the file, above the first [section]"
