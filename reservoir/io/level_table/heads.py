"""What the head of a column says: level, storage or area, and in which unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from reservoir.hydro.units import AREA_KM2, LENGTH_M, VOLUME_HM3, key_suffix
from reservoir.io.inflow_csv.unit_words import folded

#: Words that name a quantity.
_QUANTITIES: Mapping[str, re.Pattern[str]] = {
    "area": re.compile(r"\b(surface area|water surface|area|surface)\b|面积"),
    "storage": re.compile(r"\b(storage|volume|vol|capacity|contents?|stored|gross|total)\b|库容"),
    "level": re.compile(r"\b(pool|water|surface|lake|forebay|level|elevation|elev|el|stage|wse?l?|height)\b|水位"),
}
_ACRE_FEET = r"(?:acre[- ]?(?:feet|foot|ft)|ac[- ]?ft|af)"
_MILLION, _THOUSAND = r"(?:million|mio\.?|10\^6|1e6|mill?)", r"(?:thousands?|1000|1,000|10\^3|1e3)"
_CUBIC = r"(?:m3|cubic met(?:re|er)s?|立方米)"
#: Spellings of units, longer ones first.
_UNITS: tuple[tuple[str, str, str], ...] = (
    ("storage", "maf", rf"maf|{_MILLION} (?:of )?{_ACRE_FEET}"),
    ("storage", "kaf", rf"kaf|{_THOUSAND} (?:of )?{_ACRE_FEET}"),
    ("storage", "taf", r"taf"),
    ("storage", "acre-ft", _ACRE_FEET),
    ("storage", "hm3", rf"hm3|{_MILLION} {_CUBIC}"),
    ("storage", "Mm3", r"mm3"),
    ("storage", "MCM", r"mcm"),
    ("storage", "1e8m3", r"1e8 ?m3|亿 ?(?:m3|立方米)"),
    ("storage", "km3", r"km3"),
    ("storage", "m3", _CUBIC),
    ("area", "km2", r"km(?:\^?2|²)|sq(?:uare)?\.? ?km"),
    ("area", "ha", r"ha|hectares?"),
    ("area", "acres", r"acres?|ac"),
    ("level", "ft", r"ft|feet|foot"),
    ("level", "m", r"m|met(?:re|er)s?|masl|米"),
)
#: Words beside them that change nothing; anything else might be a multiplier or another unit.
_PLAIN = re.compile(
    r"[a-z]{3,}\d{2,4}|(?:18|19|20)\d\d|navd|ngvd|msl|a\.?s\.?l\.?|masl|above|sea|datum|in|of|the|at|reservoir|curve"
)
_SIZES: Mapping[str, Mapping[str, float]] = {"level": LENGTH_M, "storage": VOLUME_HM3, "area": AREA_KM2}


class Head(NamedTuple):
    """What a column holds.

    Parameters
    ----------
    quantity : str
        ``level``, ``storage`` or ``area``.
    unit : str
        As the table of units names it; empty where the head names none that is known.
    """

    quantity: str
    unit: str

    @property
    def size(self) -> float:
        """The program's unit in one of the column's."""
        return _SIZES[self.quantity][self.unit]

    @property
    def ending(self) -> str:
        """How a key in this unit ends."""
        return key_suffix(self.unit)

    @property
    def known(self) -> str:
        """The units of its quantity."""
        return ", ".join(_SIZES[self.quantity])


def head_of(text: str) -> Head | None:
    """Understand the head of a column; None if it is another quantity's."""
    words = re.sub(r"[\s_,;:()\[\]{}/]+", " ", folded(text.replace("m²", "m2"))).strip()
    quantity = next((name for name, pattern in _QUANTITIES.items() if pattern.search(words)), None)
    found = _unit(words, quantity)
    if found is not None:
        return found
    return None if quantity is None else Head(quantity, "")


def _unit(words: str, quantity: str | None) -> Head | None:
    for of, unit, pattern in _UNITS:
        match = re.search(rf"(?<![\w-])(?:{pattern})(?![\w-])", words)
        if match and quantity in (None, of):
            rest = f"{words[: match.start()]} {words[match.end() :]}"
            for each in _QUANTITIES.values():
                rest = each.sub(" ", rest)
            strange = [word for word in rest.split() if not _PLAIN.fullmatch(word)]
            return Head(of, "" if strange else unit)
    return None
