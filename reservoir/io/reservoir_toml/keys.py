"""The keys of a reservoir file, their allowed units, and the likely meaning of an unknown key.

A key is a stem and, where it holds a quantity, a unit: ``dead_hm3``. What stands where the unit should is read only if
the whole of it is a known unit of that quantity: in ``dead_mio_m3`` it is not.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import NamedTuple, get_args

from pydantic import BaseModel

from reservoir.hydro import units
from reservoir.hydro.units import key_suffix
from reservoir.io.reservoir_toml.schema import FILE


class Unit(NamedTuple):
    """A unit in which a key may be written."""

    name: str
    suffix: str
    size: float


#: How else the unit of a key is written, by its usual ending.
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "m3s": ("cms", "cumecs"),
    "cfs": ("ft3s",),
    "acre_ft": ("af", "acft"),
    "ha": ("hectares",),
    "in": ("inches",),
    "ft": ("feet",),
}


def _family(sizes: Mapping[str, float]) -> tuple[Unit, ...]:
    return tuple(Unit(name, key_suffix(name), size) for name, size in sizes.items())


#: The units of a quantity, the program's own first, by the end of the schema's keys.
_FAMILIES: Mapping[str, tuple[Unit, ...]] = {
    "gwh_per_hm3": _family(units.WATER_VALUE_GWH_PER_HM3),
    "per_hm3": tuple(Unit(f"1/{name}", f"per_{key_suffix(name)}", 1 / size) for name, size in units.VOLUME_HM3.items()),
    "hm3": _family(units.VOLUME_HM3),
    "m3s": _family(units.FLOW_M3S),
    "m3_per_kwh": _family(units.RATE_M3_PER_KWH),
    "km2": _family(units.AREA_KM2),
    "mm": _family(units.DEPTH_MM),
    "mw": _family(units.POWER_MW),
    "gwh": _family(units.ENERGY_GWH),
    "m": _family(units.LENGTH_M),
}
#: How like a stem a misspelt one is, and how like a whole key without a unit.
_LIKE_STEM, _LIKE_KEY, _SURELY = 0.75, 0.6, 0.9


class Key(NamedTuple):
    """A key of the schema within its section; without `units` where it holds no quantity."""

    stem: str
    units: tuple[Unit, ...]

    @classmethod
    def of(cls, name: str) -> Key:
        """Take a key of the schema apart."""
        for ending, family in _FAMILIES.items():
            if name.endswith(f"_{ending}"):
                return cls(name.removesuffix(f"_{ending}"), family)
        return cls(name, ())

    @property
    def name(self) -> str:
        """As the schema has it."""
        return self.written(self.units[0]) if self.units else self.stem

    def written(self, unit: Unit) -> str:
        """As a file has it that uses a unit."""
        return f"{self.stem}_{unit.suffix}"

    def unit(self, written: str) -> Unit | None:
        """The unit of a key as written; None where it is not wholly this stem and a unit of this quantity."""
        ending = written.lower().removeprefix(f"{self.stem}_")
        if ending == written.lower():
            return None
        return next((unit for unit in self.units if ending in (unit.suffix, *_SPELLINGS.get(unit.suffix, ()))), None)

    @property
    def choices(self) -> str:
        """Every way to write it."""
        named = {self.written(unit): unit.name for unit in self.units}
        return ", ".join(f"{key} ({name})" if name[0].isupper() else key for key, name in named.items())


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _keys(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, field in model.model_fields.items():
        key = prefix + (field.alias or name)
        yield key, field.description or ""
        for section in _models(field.annotation):
            yield from _keys(section, f"{key}.")


#: Meaning of every key of a reservoir file, by dotted key; a section's is empty.
KEYS: Mapping[str, str] = dict(_keys(FILE))
#: How deep sections lie within each other.
DEPTH = max(key.count(".") for key in KEYS) + 1


def siblings(section: str) -> list[Key]:
    """The keys of a section, which is "" for the file."""
    return [Key.of(known.rpartition(".")[2]) for known in KEYS if known.rpartition(".")[0] == section]


def known_unit(section: str, written: str) -> tuple[str, Unit | None]:
    """The schema's name for a key as written, with its unit; the key itself and None where it is no such key."""
    for key in siblings(section):
        unit = key.unit(written)
        if unit is not None:
            return key.name, unit
    return written, None


class Guess(NamedTuple):
    """What an unknown key was meant to be.

    Parameters
    ----------
    key : Key
    ending : str
        What stands after the stem; "" if nothing does.
    """

    key: Key
    ending: str

    @property
    def unit(self) -> Unit | None:
        """The unit that the ending is; only the stem is misspelt then."""
        return self.key.unit(f"{self.key.stem}_{self.ending}")


def guess(section: str, written: str) -> Guess | None:
    """Find the key of a section that an unknown key was meant to be; None if it is like none."""
    known = siblings(section)
    plain = {key.stem: key for key in known if not key.units}
    for near in difflib.get_close_matches(written, plain, n=1, cutoff=_SURELY):
        return Guess(plain[near], "")
    for key in sorted(known, key=lambda key: -len(key.stem)):
        if written == key.stem or written.startswith(f"{key.stem}_"):
            return Guess(key, written[len(key.stem) + 1 :])
    near_keys = [*_misspelt(written, known)]
    return max(near_keys, key=lambda found: found[0])[1] if near_keys else None


def _misspelt(written: str, known: list[Key]) -> Iterator[tuple[float, Guess]]:
    words = written.split("_")
    for key in known:
        for count in range(1, len(words) + 1) if key.units else [len(words)]:
            stem, ending = "_".join(words[:count]), "_".join(words[count:])
            likeness = difflib.SequenceMatcher(None, stem, key.stem).ratio()
            if likeness >= (_LIKE_STEM if key.units else _LIKE_KEY):
                yield likeness, Guess(key, ending)
