"""Columns beside the inflow of one row a month: net evaporation, withdrawal and price."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from reservoir.errors import Mistake
from reservoir.hydro.ranges import EVAPORATION_MM, FLOW_M3S, PRICE_PER_MWH, Range
from reservoir.hydro.units import FLOW_M3S as FLOW_UNITS
from reservoir.hydro.units import key_suffix
from reservoir.io.inflow_csv.cells import parse_flow, parse_number
from reservoir.io.inflow_csv.table import InflowTable


class Companion(NamedTuple):
    """A column known by its name: a field of `Inflow`, how a cell is read, its size in the unit of that field."""

    field: str
    parse: Callable[[str], float | Mistake]
    size: float
    allowed: Range

    @property
    def range(self) -> Range:
        """What is allowed, in the unit of the column."""
        return Range(self.allowed.least / self.size, self.allowed.most / self.size)

    def read(self, text: str) -> float | Mistake:
        """Read a cell: a number within the range."""
        value = self.parse(text)
        if isinstance(value, Mistake) or self.range.holds(value):
            return value
        expected = f"{self.range.least:g} to {self.range.most:g}"
        return Mistake("is out of range", expected, "check the value and its unit, which the column's name states")


#: Known columns, by their names in small letters.
COMPANIONS: Mapping[str, Companion] = {
    "evaporation_mm": Companion("evaporation_mm", parse_number, 1.0, EVAPORATION_MM),
    "price_per_mwh": Companion("price_per_mwh", parse_number, 1.0, PRICE_PER_MWH),
    **{
        f"withdrawal_{key_suffix(unit)}": Companion("withdrawal_m3s", parse_flow, size, FLOW_M3S)
        for unit, size in FLOW_UNITS.items()
    },
}


def is_companion(name: str) -> bool:
    """Whether a column is one of them."""
    return name.casefold() in COMPANIONS


def read_companions(table: InflowTable, columns: Sequence[int]) -> tuple[dict[str, dict[int, float]], list[Mistake]]:
    """Values of some columns, by field of `Inflow` and row, and what is wrong with them."""
    found: dict[str, dict[int, float]] = {}
    mistakes: list[Mistake] = []
    for column in columns:
        name = table.header.cells[column]
        known = COMPANIONS[name.casefold()]
        if known.field in found:
            problem, mend = "is a second column of the same quantity", f"keep one column of {name.partition('_')[0]}"
            mistakes.append(table.at_header(problem, "one column of each quantity", mend, column=name))
        values, wrong = table.parsed(column, known.read)
        mistakes += wrong
        found[known.field] = {row: value * known.size for row, value in values.items()}
    return found, mistakes


def companion_arrays(companions: Mapping[str, Mapping[int, float]], rows: Sequence[int], steps: int) -> dict[str, Any]:
    """Values of the rows of whole water years, as the fields of `Inflow`, shape (years, steps)."""
    return {name: np.array([values[row] for row in rows]).reshape(-1, steps) for name, values in companions.items()}
