"""The units in which results are shown and written: everything inside is SI, and only here is it converted back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from reservoir.errors import InputError, Mistake, restated
from reservoir.hydro import units
from reservoir.hydro.units import key_suffix
from reservoir.text.quantities import quantity

if TYPE_CHECKING:
    import pandas as pd


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
#: How texts write the program's units, by the ends of its names.
_WRITTEN = {
    "GWh per hm³": "gwh_per_hm3",
    "GWh per hm3": "gwh_per_hm3",
    "m³/s": "m3s",
    "m3/s": "m3s",
    "hm³": "hm3",
    "hm3": "hm3",
    "m": "m",
}
#: Their names by these ends: for people, and for machines without typography.
_SPELLED = {"gwh_per_hm3": "GWh per hm³", "m3s": "m³/s", "hm3": "hm³", "m": "m"}
_NAMES = {ending: name for name, ending in _WRITTEN.items()}
#: What may follow a unit in the head of a column.
_RATES = ("", "a year", "per year")
#: Of a number in a text, as many as a quantity has: nobody can tell whether "50 m3/s" is 50 or 50.4.
_LEAST_FIGURES = 4
#: Of a number for machines: an amount that was given in a unit comes back as it was given.
_FIGURES = 12


class UnitText(str):
    """A sentence or a label that can be said in other units: a string, as it is said in the program's.

    What is made of it by other strings, an f-string among them, is a string that cannot.

    Parameters
    ----------
    said : callable
        What it says in some units; called with `SI` for the string itself.
    unit : str
        Of a label, the unit of the numbers beside it, as `UnitSystem.unit_name` reads it.

    Examples
    --------
    >>> note = UnitText(lambda units: f"The lake holds {units.stated(12.5, 'hm3')}.")
    >>> note, US.text(note)
    ('The lake holds 12.5 hm³.', 'The lake holds 10,134 acre-ft.')
    """

    said: Callable[[UnitSystem], str]
    unit: str

    def __new__(cls, said: Callable[[UnitSystem], str], unit: str = "", plain: str | None = None) -> UnitText:
        """Make it, as it is said in the program's units; or with `plain` for the string, as files have it."""
        words = super().__new__(cls, said(SI) if plain is None else plain)
        words.said, words.unit = said, unit
        return words

    def __str__(self) -> UnitText:
        return self  # str(words) says the same in other units, too: who draws text makes strings of it

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (self[:],)  # another process gets the string


def labelled(form: str, unit: str) -> UnitText:
    """The label of an axis or a column with its unit in place of ``{}``: ``labelled("Storage ({})", "hm³")``."""
    return UnitText(lambda units: form.format(units.unit_name(unit)), unit, form.format(unit))


@dataclass(frozen=True)
class UnitSystem:
    """Units by the ends of the program's names; what is not among them is shown as it is.

    Parameters
    ----------
    name : str
        ``si`` or ``us``.
    by_ending : mapping of str to DisplayUnit
        Of ``m3s``, ``hm3``, ``m`` and ``gwh_per_hm3``; empty for SI.
    """

    name: str
    by_ending: Mapping[str, DisplayUnit]

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
            raise InputError("unknown units", f"one of {', '.join(SYSTEMS)}", column="units", value=name) from None

    @classmethod
    def of_columns(cls, names: Iterable[str]) -> UnitSystem:
        """The system that the columns of a table are in."""
        endings = {f"_{unit.ending}" for unit in US.by_ending.values()}
        return US if any(name.endswith(tuple(endings)) for name in names) else SI

    def unit(self, name: str) -> DisplayUnit | None:
        """In what a column of the program is shown; None where it stays."""
        return next((unit for ending, unit in self.by_ending.items() if name.endswith(f"_{ending}")), None)

    def column(self, name: str) -> str:
        """What a column of the program is called: ``storage_hm3`` becomes ``storage_acre_ft``."""
        endings = ((ending, unit.ending) for ending, unit in self.by_ending.items())
        return next((name.removesuffix(ours) + theirs for ours, theirs in endings if name.endswith(f"_{ours}")), name)

    def program_column(self, name: str) -> str:
        """What a column of this system is called in the program."""
        endings = ((ending, unit.ending) for ending, unit in self.by_ending.items())
        return next((name.removesuffix(theirs) + ours for ours, theirs in endings if name.endswith(f"_{theirs}")), name)

    def size(self, name: str) -> float:
        """The program's unit of a column in one of those in which it is shown."""
        unit = self.unit(name)
        return 1.0 if unit is None else unit.size

    def columns(self, table: Mapping[str, Any] | pd.DataFrame) -> dict[str, Any]:
        """Columns of a table of the program in these units, and by names that say so."""
        sized = ((name, table[name], self.unit(name)) for name in map(str, table))
        return {self.column(name): values / unit.size if unit else values for name, values, unit in sized}

    def values(self, quantities: Mapping[str, Any]) -> dict[str, Any]:
        """Quantities of the program by their names, in these units and by their names there."""
        return {
            self.column(name): float(f"{value / self.size(name):.{_FIGURES}g}")
            if self.unit(name) and isinstance(value, int | float)
            else value
            for name, value in quantities.items()
        }

    def amount(self, value: float, ending: str) -> tuple[float, str]:
        """A quantity in these units, and the unit; `ending` is that of the program's name."""
        unit = self.by_ending.get(ending)
        return (value, _SPELLED[ending]) if unit is None else (value / unit.size, unit.name)

    def per_volume(self, value: float, unit: str) -> tuple[float, str]:
        """A worth of one hm3 in some unit of worth as that of one of these volumes, and its unit."""
        if unit == "GWh":
            return self.amount(value, "gwh_per_hm3")
        return value * self.size("_hm3"), f"{unit} per {self.amount(0.0, 'hm3')[1]}".strip()

    def written(self, value: float, ending: str, form: str = "") -> str:
        """A quantity and its unit for reading, by a form of numbers or as `quantity` has it: ``1,766 cfs``."""
        amount, unit = self.amount(value, ending)
        return f"{format(amount, form) if form else quantity(amount)} {unit}"

    def stated(self, value: float, unit: str, form: str = "") -> str:
        """A quantity and its unit in a sentence: what is stated by a form in the program's units, no more precise.

        Parameters
        ----------
        value : float
            In the program's unit.
        unit : str
            As `number` has it.
        form : str
            Of the number; by default as `quantity` has it.
        """
        return f"{self.number(value, unit, form)} {self.unit_name(unit)}"

    def number(self, value: float, unit: str, form: str = "") -> str:
        """The number of `stated`, without its unit, which is one of the program's as texts write it: ``hm3``, ``hm³``.

        In another unit it is the shortest that what the form writes may stand for, with four figures at least: a level
        of 1,720 ft, which texts write as 524.26 m, is 1,720 ft again.
        """
        number, other = format(value, form) if form else quantity(value), self.by_ending.get(_WRITTEN[unit])
        return _rewritten(number, other.size) if other and math.isfinite(value) else number

    def unit_name(self, unit: str) -> str:
        """A unit of the program, or a rate in it such as ``hm3 a year``, in this system for people; others as they are.

        In SI, ``hm3`` is spelt ``hm³``.
        """
        name, _, rate = (unit, "", "") if unit in _WRITTEN else unit.partition(" ")
        if name not in _WRITTEN or rate not in _RATES:
            return unit
        other = self.by_ending.get(_WRITTEN[name])
        return f"{_SPELLED[_WRITTEN[name]] if other is None else other.name} {rate}".rstrip()

    def text(self, text: str) -> str:
        """A sentence or label in this system, if it was made to be said in others too; any other as it is."""
        return text.said(self) if isinstance(text, UnitText) else text

    def of_label(self, label: str) -> DisplayUnit | None:
        """The unit in place of that of a label; None where it stays."""
        return self.by_ending.get(_WRITTEN.get(label.unit, "")) if isinstance(label, UnitText) else None

    @property
    def as_dict(self) -> dict[str, str]:
        """The system, and its units by quantity, for provenance."""
        quantities = {"flow": "m3s", "volume": "hm3", "level": "m"}
        names = _NAMES | {ending: unit.name for ending, unit in self.by_ending.items()}
        return {"system": self.name} | {what: names[ending] for what, ending in quantities.items()}


def _rewritten(number: str, size: float) -> str:
    """The shortest number in another unit that the one written may stand for, with four figures at least."""
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


#: Quantities of options, and of arguments that options set.
_QUANTITIES = {
    **{"--level": "level_m", "--storage": "storage_hm3", "--inflow": "inflow_m3s"},
    **{"start_level_m": "level_m", "start_hm3": "storage_hm3"},
}


def told_in(units: UnitSystem) -> AbstractContextManager[None]:
    """State mistakes in the units of a call: amounts, and values of options that were given in them."""

    def in_units(mistake: Mistake) -> Mistake:
        value = mistake.value
        if isinstance(value, float):
            value = float(f"{value / units.size(_QUANTITIES.get(mistake.column, '')):.12g}")  # as it was given
            value = int(value) if value.is_integer() else value
        problem, expected, mend = map(units.text, (mistake.problem, mistake.expected, mistake.mend))
        return replace(mistake, problem=problem, expected=expected, mend=mend, value=value)

    return restated(in_units)
