"""A reservoir file as its user wrote it, beside the same tree in the program's units.

The unit of a volume or a flow stands at the end of its key. It is read here, once, so that the schema and the checks
know hm3 and m3/s only, while every message names the key, the number and the unit that the user wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from reservoir.errors import Mistake
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3, key_suffix

#: A place in the tree: the keys that lead to it.
Path = tuple[str, ...]


class Unit(NamedTuple):
    """A unit in which a key may be written."""

    name: str
    suffix: str
    canonical: str
    size: float


#: Every unit that a key can end in, with the suffix and the size of the program's own unit.
UNITS = tuple(
    Unit(name, key_suffix(name), canonical, size)
    for canonical, family in (("hm3", VOLUME_HM3), ("m3s", FLOW_M3S))
    for name, size in family.items()
)


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
    """A parsed reservoir file, not yet checked.

    Parameters
    ----------
    file : str
        Its name, for messages.
    tree : dict
        What it holds, with volumes in hm3 and flows in m3/s, under keys that end so.
    entries : mapping of tuple of str to Entry
        What the user wrote, by place in `tree`.
    mistakes : tuple of Mistake
        Quantities that are given twice, in two units.
    """

    file: str
    tree: dict[str, Any]
    entries: Mapping[Path, Entry]
    mistakes: tuple[Mistake, ...]

    @classmethod
    def of(cls, written: Mapping[str, Any], file: str) -> Draft:
        """Bring a parsed file to the program's units."""
        entries: dict[Path, Entry] = {}
        mistakes = []
        for path, entry in _entries(written):
            if path in entries:
                mistakes.append(_twice(entries[path], entry, file))
            else:
                entries[path] = entry
        return cls(file, _nested(entries), entries, tuple(mistakes))

    def has(self, dotted: str) -> bool:
        """Whether the user gave this key, in whatever unit."""
        return tuple(dotted.split(".")) in self.entries

    def entry(self, dotted: str) -> Entry:
        """Find what the user wrote at a key of the tree; where nothing is written, the key itself."""
        return self.entries.get(tuple(dotted.split(".")), Entry(dotted, None, unit_of(dotted)))

    def amount(self, dotted: str, value: float) -> str:
        """Say a value in the unit that the user chose for a key."""
        unit = self.entry(dotted).unit
        if unit is None:
            return f"{plain(value)} m" if dotted.endswith("_m") else plain(value)
        return f"{plain(value / unit.size)} {'x ' * unit.name[0].isdigit()}{unit.name}"

    def mistake(self, dotted: str, problem: str, expected: str = "", mend: str = "") -> Mistake:
        """State a mistake at a key of the tree, with what the user wrote there."""
        entry = self.entry(dotted)
        value = None if isinstance(entry.value, dict | list) else entry.value
        return Mistake(problem, expected, mend, file=self.file, column=entry.key, value=value)

    def in_order(self, mistakes: Iterable[Mistake]) -> list[Mistake]:
        """Sort mistakes as their keys stand in the file; what is missing stands with its section, or last."""
        order = [entry.key for entry in self.entries.values()]

        def position(mistake: Mistake) -> int:
            key = mistake.column
            while key and key not in order:
                key = key.rpartition(".")[0]
            return order.index(key) if key else len(order)

        return sorted(mistakes, key=position)


def plain(value: float) -> str:
    """Write a number for a reader: seven digits, no exponent unless it must."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.7g}"


def unit_of(key: str) -> Unit | None:
    """Find the unit that a key ends in; None where it ends in no volume or flow."""
    return next((unit for unit in UNITS if key.lower().endswith(f"_{unit.suffix}")), None)


def _entries(table: Mapping[str, Any], above: Path = (), prefix: str = "") -> Iterator[tuple[Path, Entry]]:
    seen: set[str] = set()
    for key, value in table.items():
        unit = None if isinstance(value, dict) else unit_of(key)
        name = key if unit is None else key[: -len(unit.suffix)] + unit.canonical
        yield (*above, name), Entry(prefix + key, value, unit)
        if isinstance(value, dict) and name not in seen:
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
        return [_scaled(item, size) for item in value]
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
        value=None if isinstance(second.value, dict | list) else second.value,
    )
