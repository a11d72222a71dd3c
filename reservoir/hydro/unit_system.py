"""The units in which results are shown and written: everything inside is SI, and only here is it converted back."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from reservoir.errors import InputError, Mistake
from reservoir.hydro import units
from reservoir.hydro.units import key_suffix
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    import pandas as pd


class _Input(Protocol):
    """A reservoir or an inflow."""

    @property
    def own_words(self) -> tuple[str, ...]:
        """What the user wrote and results repeat."""


class DisplayUnit(NamedTuple):
    """A unit in place of one of the program's.

    Parameters
    ----------
    name : str
        As the table of units has it.
    ending : str
        How names of columns in it end.
    size : float
        One of it in the program's unit.
    """

    name: str
    ending: str
    size: float


_US = {
    "gwh_per_hm3": ("MWh/acre-ft", units.WATER_VALUE_GWH_PER_HM3),
    "hm3": ("acre-ft", units.VOLUME_HM3),
    "m3s": ("cfs", units.FLOW_M3S),
    "m": ("ft", units.LENGTH_M),
}
#: How texts write the program's units, by the ends of its names; longer ones first, of which others are a part.
_WRITTEN = {
    "GWh per hm³": "gwh_per_hm3",
    "GWh per hm3": "gwh_per_hm3",
    "m³/s": "m3s",
    "m3/s": "m3s",
    "hm³": "hm3",
    "hm3": "hm3",
    "m": "m",
}
_UNIT = rf"({'|'.join(map(re.escape, _WRITTEN))})(?![\w/³]|[.-]\w)"
_NUMBER = r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
#: An amount, or two of one unit: ``4,662 to 14,557 hm3``.
_AMOUNT = re.compile(rf"(?<![\w.])(?:({_NUMBER})( to | of the | and ))?({_NUMBER}) {_UNIT}")
#: A unit by itself, as in the label of an axis: ``Storage (hm³)``. A worth per hm3 is no volume.
_ALONE = re.compile(rf"(?:^|(?<=[(\s]))(?<!per ){_UNIT}(?=[)\s,;:]|$)")
#: Of a number in a text, as many as a quantity has: nobody can tell whether "50 m3/s" is 50 or 50.4.
_LEAST_FIGURES = 4
#: Of a number for machines: an amount that was given in a unit comes back as it was given.
_FIGURES = 12


@dataclass(frozen=True)
class UnitSystem:
    """Units by the ends of the program's names; what is not among them is shown as it is.

    Parameters
    ----------
    name : str
        ``si`` or ``us``.
    by_ending : mapping of str to DisplayUnit
        Of ``m3s``, ``hm3``, ``m`` and ``gwh_per_hm3``; empty for SI.
    own_words : tuple of str
        The user's own, which no text in these units rewrites, see `keeping`.
    """

    name: str
    by_ending: Mapping[str, DisplayUnit]
    own_words: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, name: str) -> UnitSystem:
        """The system of a name.

        Raises
        ------
        InputError
            If there is none.
        """
        try:
            return SYSTEMS[name]
        except KeyError:
            raise InputError(
                Mistake("unknown units", f"one of {', '.join(SYSTEMS)}", column="units", value=name)
            ) from None

    @classmethod
    def of_columns(cls, names: Iterable[str]) -> UnitSystem:
        """The system that the columns of a table are in."""
        endings = {f"_{unit.ending}" for unit in US.by_ending.values()}
        return US if any(name.endswith(tuple(endings)) for name in names) else SI

    def keeping(self, *inputs: _Input | None) -> UnitSystem:
        """The same system, whose texts keep the user's own words as they are: a caveat, a member's name, a currency.

        What stands in quotation marks is kept anyway.
        """
        words = {word for each in inputs if each is not None for word in each.own_words}
        kept = {word for word in words if word not in _WRITTEN and self.label(word) != word}
        longest_first = sorted({*self.own_words, *kept}, key=len, reverse=True)
        return replace(self, own_words=tuple(longest_first)) if kept else self

    def unit(self, name: str) -> DisplayUnit | None:
        """In what a column of the program is shown; None where it stays."""
        return next((unit for ending, unit in self.by_ending.items() if name.endswith(f"_{ending}")), None)

    def column(self, name: str) -> str:
        """What a column of the program is called: ``storage_hm3`` becomes ``storage_acre_ft``."""
        for ending, unit in self.by_ending.items():
            if name.endswith(f"_{ending}"):
                return f"{name.removesuffix(ending)}{unit.ending}"
        return name

    def program_column(self, name: str) -> str:
        """What a column of this system is called in the program."""
        for ending, unit in self.by_ending.items():
            if name.endswith(f"_{unit.ending}"):
                return f"{name.removesuffix(unit.ending)}{ending}"
        return name

    def size(self, name: str) -> float:
        """The program's unit of a column in one of those in which it is shown."""
        unit = self.unit(name)
        return 1.0 if unit is None else unit.size

    def table(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table of the program in these units, with columns that say so."""
        changed = {name: table[name] / self.size(name) for name in table.columns if self.unit(name)}
        return table.assign(**changed).rename(columns=self.column) if changed else table

    def values(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Quantities of the program by their names, in these units and by their names there."""
        return {
            self.column(name): float(f"{value / self.size(name):.{_FIGURES}g}")
            if self.unit(name) and isinstance(value, int | float)
            else value
            for name, value in found.items()
        }

    def amount(self, value: float, ending: str) -> tuple[float, str]:
        """A quantity in these units, and the unit; `ending` is that of the program's name."""
        unit = self.by_ending.get(ending)
        names = {"m3s": "m3/s", "hm3": "hm3", "m": "m", "gwh_per_hm3": "GWh per hm3"}
        return (value, names[ending]) if unit is None else (value / unit.size, unit.name)

    def per_volume(self, value: float, unit: str) -> tuple[float, str]:
        """A worth of one hm3 in some unit of worth as that of one of these volumes, and its unit."""
        if unit == "GWh":
            return self.amount(value, "gwh_per_hm3")
        return value * self.size("_hm3"), f"{unit} per {self.amount(0.0, 'hm3')[1]}".strip()

    def written(self, value: float, ending: str, form: str = "") -> str:
        """A quantity and its unit for reading, by a form of numbers or as `quantity` has it: ``1,766 cfs``."""
        amount, unit = self.amount(value, ending)
        return f"{format(amount, form) if form else quantity(amount)} {unit}"

    def text(self, text: str) -> str:
        """A sentence of the program with its amounts in this system."""
        return self._beside_own_words(text, lambda part: _AMOUNT.sub(self._converted, part))

    def label(self, text: str) -> str:
        """The label of an axis, or the head of a column, with its unit in this system: ``Storage (hm³)``."""
        return self._beside_own_words(
            self.text(text), lambda part: _ALONE.sub(lambda found: self.by_ending[_WRITTEN[found[1]]].name, part)
        )

    def of_label(self, label: str) -> DisplayUnit | None:
        """The unit in place of that which a label names; None where it stays."""
        found = None if self.label(label) == label else _ALONE.search(label)
        return self.by_ending.get(_WRITTEN[found[1]]) if found else None

    def _beside_own_words(self, text: str, changed: Callable[[str], str]) -> str:
        """A text, changed where it does not repeat what the user wrote."""
        if not self.by_ending:
            return text
        # Where a caveat begins a sentence its first letter is large.
        own = "|".join((r'"[^"]*"', *(rf"(?<!\w){re.escape(word)}(?!\w)" for word in self.own_words)))
        parts = re.split(f"({own})", text, flags=re.IGNORECASE)
        return "".join(part if place % 2 else changed(part) for place, part in enumerate(parts))

    def _converted(self, found: re.Match[str]) -> str:
        unit = self.by_ending[_WRITTEN[found[4]]]
        first = f"{_rewritten(found[1], unit.size)}{found[2]}" if found[1] else ""
        return f"{first}{_rewritten(found[3], unit.size)} {unit.name}"

    @property
    def as_dict(self) -> dict[str, str]:
        """The system, and its units by quantity, for provenance."""
        quantities = {"flow": "m3s", "volume": "hm3", "level": "m"}
        return {"system": self.name} | {what: self.amount(0.0, ending)[1] for what, ending in quantities.items()}


def _rewritten(number: str, size: float) -> str:
    """The shortest number in another unit that the one written may stand for, with four figures at least.

    A level of 1,720 ft, which texts write as 524.26 m, is 1,720 ft again.
    """
    mantissa, _, exponent = number.replace(",", "").replace("−", "-").partition("e")
    value = float(f"{mantissa}e{exponent or 0}") / size
    step = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])) / size
    most = math.floor(math.log10(abs(value))) + 1 - _LEAST_FIGURES if value else 0
    finest = min(math.floor(math.log10(step)), most)
    places = range(most, finest, -1)
    place = next((place for place in places if abs(round(value, -place) - value) < step / 2), finest)
    text = f"{round(value, -place):,.{max(-place, 0)}f}"
    return text.replace("-", "−") if "−" in number else text


#: Metres, cubic metres a second and hm3.
SI = UnitSystem("si", MappingProxyType({}))
#: Feet, cfs and acre-feet; energy and power stay GWh and MW.
US = UnitSystem(
    "us",
    MappingProxyType({end: DisplayUnit(name, key_suffix(name), sizes[name]) for end, (name, sizes) in _US.items()}),
)
SYSTEMS: Mapping[str, UnitSystem] = {"si": SI, "us": US}
