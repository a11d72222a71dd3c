"""Columns beside the inflow of one row a month: net evaporation, withdrawal and price."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake
from reservoir.hydro.attributes import EVAPORATION_MM, FLOW_M3S, PRICE_PER_MWH, Range
from reservoir.hydro.units import DEPTH_MM, key_suffix
from reservoir.hydro.units import FLOW_M3S as FLOW_UNITS
from reservoir.io.inflow_csv.cells import no_flow, parse_flow, parse_number
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.unit_words import folded, parts_of
from reservoir.io.inflow_csv.units import unit_named
from reservoir.io.inflow_csv.vocabulary import JUDGES
from reservoir.io.missing_codes import codes_among, is_known_code
from reservoir.text.quantities import quantity


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

    def out_of_range(self, value: float) -> Mistake | None:
        """What is wrong with a number in the unit of the column."""
        if self.range.holds(value):
            return None
        expected = f"{self.range.least:g} to {self.range.most:g}"
        return Mistake("is out of range", expected, "check the value and its unit, which the column's name states")

    def read(self, text: str) -> float | Mistake:
        """Read a cell: a number within the range."""
        value = self.parse(text)
        return value if isinstance(value, Mistake) else self.out_of_range(value) or value


#: Known columns, by their names in small letters.
COMPANIONS: Mapping[str, Companion] = {
    **{
        f"evaporation_{unit}": Companion("evaporation_mm", parse_number, size, EVAPORATION_MM)
        for unit, size in DEPTH_MM.items()
    },
    "price_per_mwh": Companion("price_per_mwh", parse_number, 1.0, PRICE_PER_MWH),
    **{
        f"withdrawal_{key_suffix(unit)}": Companion("withdrawal_m3s", parse_flow, size, FLOW_M3S)
        for unit, size in FLOW_UNITS.items()
    },
}
#: Words of each quantity and what such a column must be called: those that are read, and others that name it, too.
_READ = {"evaporation": "evaporation", "evap": "evaporation"}
_READ |= dict.fromkeys(("withdrawal", "withdrawals"), "withdrawal") | dict.fromkeys(("price", "prices"), "price")
_ALSO = {
    **dict.fromkeys(
        ("evapo", "verdunstung", "évaporation", "evaporación", "evaporação", "evaporazione"), "evaporation"
    ),
    **dict.fromkeys(("abstraction", "abstractions", "entnahme", "prélèvement", "extracción", "captação"), "withdrawal"),
    **dict.fromkeys(("tariff", "preis", "strompreis", "prix", "precio", "preço", "prezzo", "电价"), "price"),
    **dict.fromkeys(("seepage", "leakage", "sickerung"), "seepage"),
}
_CHINESE = {"蒸发": "evaporation", "取水": "withdrawal", "渗漏": "seepage", "电价": "price"}
_GIVE = {
    "evaporation": "evaporation_mm or evaporation_in, for the net depth of a row's period",
    "withdrawal": "withdrawal_m3s or withdrawal_cfs, for a mean flow",
    "price": "price_per_mwh",
}
#: Words beside these that change nothing, and spellings of a depth; how alike a slip is to its word.
_PLAIN = frozenset({"net", "lake", "reservoir", "surface", "water", "total", "monthly", "mean", "average", "the", "of"})
_PLAIN |= {"per", "energy", "electricity", "power", "spot", "market"}
_DEPTHS = {"millimetres": "mm", "millimeters": "mm", "inch": "in", "inches": "in", "feet": "ft", "foot": "ft"}
_ALIKE, _LEAST_LETTERS = 0.84, 7
#: Evaporation and rain of a month stay below this, mm; a code is larger.
_LEAST_CODE = 900.0


def companion_of(name: str) -> Companion | None:
    """What a column beside the inflow is by its name, if that is clear."""
    known = COMPANIONS.get(name.casefold())
    text = folded(name).replace("day-ahead", "")
    words = [word for word in re.findall(r"[^\W_]+", text) if word not in _PLAIN]
    quantities = {_READ[word] for word in words if word in _READ}
    if known is not None or len(quantities) != 1:
        return known
    (quantity,) = quantities
    rest = [word for word in words if word not in _READ]
    if quantity == "evaporation":
        return COMPANIONS.get(f"evaporation_{_DEPTHS.get(rest[0], rest[0])}") if len(rest) == 1 else None
    if quantity == "price":
        read, size = COMPANIONS["price_per_mwh"], {"mwh": 1.0, "kwh": 1e3}.get(rest[-1] if rest else "", 0.0)
        currency = len(rest) == 1 or (len(rest) == 2 and len(rest[0]) == 3 and rest[0].isalpha())
        return read._replace(size=size) if size and currency else None
    unit = unit_named(re.sub(r"withdrawals?", " ", folded(name)))
    return None if unit is None or unit.is_volume else COMPANIONS["withdrawal_m3s"]._replace(size=unit.size)


def is_companion(name: str) -> bool:
    """Whether a column is one of them."""
    return companion_of(name) is not None


def nearly_named(name: str) -> Mistake | None:
    """Refuse a column that seems to be a loss or a price, by a name under which it is not read."""
    words = parts_of(name)
    if is_companion(name) or not JUDGES.isdisjoint(words):
        return None
    found = [_READ.get(word) or _ALSO.get(word) or _slip(word) for word in words]
    found += [quantity for word, quantity in _CHINESE.items() if word in name]
    quantity = next(filter(None, found), None)
    if quantity is None:
        return None
    if quantity == "seepage":
        mend = "give it in the reservoir file, and delete the column"
        return Mistake("is not read from a record", "a seepage in the reservoir file", mend, column=name)
    problem = f"seems to be {quantity}, but is not read by this name"
    mend = f"name it {_GIVE[quantity]}; or delete the column"
    return Mistake(problem, "a name and a unit that are understood", mend, column=name)


def _slip(word: str) -> str | None:
    """The quantity whose name is written nearly so."""
    if len(word) < _LEAST_LETTERS:
        return None
    alike = get_close_matches(word, ("evaporation", "withdrawal", "withdrawals", "abstraction"), 1, _ALIKE)
    return {**_READ, **_ALSO}[alike[0]] if alike else None


def codes_beside(field: str, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Missing-value codes among values of a field of `Inflow`, in the unit of their column, of their shape.

    Rain makes evaporation negative, and prices are what they are.
    """
    if field == "price_per_mwh":
        return np.zeros(values.shape, bool)
    low = [value for value in np.unique(values[values <= -_LEAST_CODE]).tolist() if is_known_code(value)]
    return (codes_among(np.maximum(values, 0.0)).sure & (values >= _LEAST_CODE)) | np.isin(values, low)


def read_companions(table: InflowTable, columns: Sequence[int]) -> tuple[dict[str, dict[int, float]], list[Mistake]]:
    """Values of some columns, by field of `Inflow` and row, and what is wrong with them."""
    found: dict[str, dict[int, float]] = {}
    mistakes: list[Mistake] = []
    for column in columns:
        name = table.header.cells[column]
        known = companion_of(name)
        assert known is not None
        if known.field in found:
            problem, mend = "is a second column of the same quantity", f"keep one column of {name.partition('_')[0]}"
            mistakes.append(table.at_header(problem, "one column of each quantity", mend, column=name))
        values, wrong = table.parsed(column, known.parse)
        mistakes += wrong
        codes = codes_beside(known.field, np.array(list(values.values())))
        for (row, value), code in zip(values.items(), codes.tolist(), strict=True):
            mistake = no_flow(value, True) if code else known.out_of_range(value)
            if mistake is not None:
                mistakes.append(replace(mistake, row=row, column=name, value=value))
        found[known.field] = {row: value * known.size for row, value in values.items()}
    return found, mistakes


def companion_notes(fields: Mapping[str, NDArray[np.float64]], names: Mapping[str, str], steps: int) -> Iterator[str]:
    """What was read beside the inflow, as amounts, and from which columns.

    Parameters
    ----------
    fields : mapping of str to ndarray
        Fields of `Inflow`, of any shape.
    names : mapping of str to str
        Columns, by field.
    steps : int
        Steps of a year.
    """
    for field, values in fields.items():
        mean, column = float(np.mean(values)), names[field]
        if field == "evaporation_mm":
            yield f"evaporation {quantity(mean * steps)} mm a year, from column {column}"
        else:
            what = "withdrawal {} m3/s" if field == "withdrawal_m3s" else "price {} per MWh"
            yield f"{what.format(quantity(mean))} on average, from column {column}"


def companion_arrays(companions: Mapping[str, Mapping[int, float]], rows: Sequence[int], steps: int) -> dict[str, Any]:
    """Values of the rows of whole water years, as the fields of `Inflow`, shape (years, steps)."""
    return {name: np.array([values[row] for row in rows]).reshape(-1, steps) for name, values in companions.items()}
