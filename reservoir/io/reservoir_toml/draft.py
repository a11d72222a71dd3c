"""A reservoir file as written, and the same tree in the program's units.

The unit of a quantity stands at the end of its key. It is read here, once, so that the schema and the checks know the
program's units only, while every message names the key, the number and the unit that the user wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reservoir.errors import InputError, Mistake
from reservoir.hydro.wording import plain
from reservoir.io.reservoir_toml.keys import DEPTH, KEYS, Unit, known_unit

#: A place in the tree: the keys that lead to it.
Path = tuple[str, ...]

#: A file that holds more keys than this is of another kind.
MOST_KEYS = 10 * len(KEYS)
LONGEST_KEY = 64


class Entry(NamedTuple):
    """What the user wrote at one place."""

    key: str
    value: object
    unit: Unit | None

    @property
    def converted(self) -> object:
        """The value in the program's unit."""
        return self.value if self.unit is None else _scaled(self.value, self.unit.size)


@dataclass(frozen=True)
class Draft:
    """A parsed reservoir file, not yet checked; puts claims that do not hold in the words of its user.

    Parameters
    ----------
    file : str
        Its name, for messages.
    tree : dict
        What it holds, in the program's units, under keys that end so.
    entries : mapping of tuple of str to Entry
        What the user wrote, by place in `tree`.
    mistakes : tuple of Mistake
        Quantities that are given twice, in two units.
    section : str
        The section whose keys are spoken of; empty for the whole file.
    keys : mapping
        Dotted keys of what is called otherwise in the file.
    """

    file: str
    tree: dict[str, Any]
    entries: Mapping[Path, Entry]
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
        entries: dict[Path, Entry] = {}
        mistakes = []
        for count, (path, entry) in enumerate(_entries(written)):
            if count == MOST_KEYS:
                problem, mend = f"has more than {MOST_KEYS:,} keys", "check that this is the right file"
                raise InputError(Mistake(problem, "a reservoir file (TOML)", mend, file=file))
            if path in entries:
                mistakes.append(_twice(entries[path], entry, file))
            elif not _could_be_known(path[-1]):
                mistakes.append(_no_key(entry, file))
            else:
                entries[path] = entry
        return cls(file, _nested(entries), entries, tuple(mistakes))

    def has(self, dotted: str) -> bool:
        """Whether the user gave this key, in whatever unit."""
        return tuple(dotted.split(".")) in self.entries

    def entry(self, name: str) -> Entry:
        """Find what the user wrote at a key of the tree; where nothing is written, the key itself."""
        dotted = self.keys.get(name) or ".".join(part for part in (self.section, name) if part)
        section, _, key = dotted.rpartition(".")
        return self.entries.get(tuple(dotted.split(".")), Entry(dotted, None, known_unit(section, key)[1]))

    def named(self, name: str) -> str:
        """A key as the user wrote it."""
        return self.entry(name).key

    def amount(self, name: str, value: float) -> str:
        """Say a value in the unit that the user chose for a key."""
        unit = self.entry(name).unit
        if unit is None:
            return plain(value)
        return f"{plain(value / unit.size)} {'x ' * unit.name[0].isdigit()}{unit.name}"

    def mistake(self, name: str, problem: str, expected: str = "", mend: str = "") -> Mistake:
        """State a mistake at a key of the tree, with what the user wrote there."""
        entry = self.entry(name)
        return Mistake(problem, expected, mend, file=self.file, column=entry.key, value=shown(entry.value))

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


def _could_be_known(key: str) -> bool:
    """Whether a key is worth comparing with those that are known: one with a point would be taken for two."""
    return 0 < len(key) <= LONGEST_KEY and "." not in key


def _entries(table: Mapping[str, Any], above: Path = (), prefix: str = "") -> Iterator[tuple[Path, Entry]]:
    seen: set[str] = set()
    for key, value in table.items():
        name, unit = (key, None) if isinstance(value, dict) else known_unit(".".join(above), key)
        yield (*above, name), Entry(prefix + key, value, unit)
        # What lies deeper than any key of a reservoir file is no part of one, and is not looked into.
        if isinstance(value, dict) and name not in seen and _could_be_known(key) and len(above) + 1 < DEPTH:
            yield from _entries(value, (*above, name), f"{prefix}{key}.")
        seen.add(name)


def _nested(entries: Mapping[Path, Entry]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for (*above, name), entry in entries.items():
        table = tree
        for section in above:
            table = table[section]
        table[name] = {} if isinstance(entry.value, dict) else entry.converted
    return tree


def _scaled(value: object, size: float) -> object:
    if isinstance(value, list):
        return [item if isinstance(item, list) else _scaled(item, size) for item in value]
    if size == 1.0 or isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        return value
    # Twelve digits, so that one volume written in two units becomes one number.
    return float(f"{value * size:.12g}")


def _twice(first: Entry, second: Entry, file: str) -> Mistake:
    keys = first.key.rpartition(".")[2], second.key.rpartition(".")[2]
    return Mistake(
        f"is the same quantity as {keys[0]}, in another unit",
        expected="one of the two keys",
        mend=f"remove {keys[0]} or {keys[1]}",
        file=file,
        column=second.key,
        value=shown(second.value),
    )


def _no_key(entry: Entry, file: str) -> Mistake:
    key = entry.key if len(entry.key) <= LONGEST_KEY else entry.key[: LONGEST_KEY - 1] + "…"
    return Mistake("is not a known key", mend="remove it", file=file, column=key or '""', value=shown(entry.value))
