"""Names and units in messages about a reservoir: the fields of a Python object, or the keys of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from reservoir.errors import Mistake

#: How the unit at the end of a field's name is written after a number.
_UNITS = {"hm3": "hm3", "m3s": "m3/s", "m": "m", "mw": "MW", "gwh": "GWh", "km2": "km2", "mm": "mm"}


class Words(Protocol):
    """What a claim needs to say that it does not hold."""

    def mistake(self, name: str, problem: str, expected: str = "", mend: str = "") -> Mistake:
        """State a mistake at a field."""

    def amount(self, name: str, value: float) -> str:
        """Say a value of a field with its unit."""

    def named(self, name: str) -> str:
        """How the user knows a field."""


@dataclass(frozen=True)
class FieldWords:
    """Words for what was made in Python.

    Parameters
    ----------
    place : str
        The field that holds the fields spoken of; empty where they stand alone.
    values : mapping
        What was given, by field.
    names : mapping
        Fields that are called otherwise there.
    """

    place: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def named(self, name: str) -> str:
        """Name the field, below its place."""
        return ".".join(part for part in (self.place, self.names.get(name, name)) if part)

    def mistake(self, name: str, problem: str, expected: str = "", mend: str = "") -> Mistake:
        """State a mistake at a field, with its value where that is short to say."""
        value = self.values.get(name)
        shown = value if isinstance(value, str | int | float) else None
        return Mistake(problem, expected, mend, column=self.named(name), value=shown)

    def amount(self, name: str, value: float) -> str:
        """Say a value in the unit that the field's name ends in."""
        unit = _UNITS.get(name.rpartition("_")[2], "")
        return f"{plain(value)} {unit}".strip()


def plain(value: float) -> str:
    """Write a number for a reader: seven digits, no exponent unless it must."""
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.7g}"
