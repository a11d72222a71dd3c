"""What people call the quantities of a reservoir: their words, with a unit, as keys of a reservoir file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from reservoir.hydro.attributes import ATTRIBUTES, Attribute, Unit, curve_keys, units_of
from reservoir.hydro.units import key_suffix
from reservoir.io.records.words import KEY_NAMES, SAME, UNIT_FORMS, folded

#: Where a quantity of the tables below is a level that stands for a storage: the level curve says which.
BY_LEVEL = tuple(f"storage.{stem}_hm3" for stem in ("dead", "full", "initial", "final", "lower", "upper"))
#: A constant tailwater, which no key of the table is.
TAILWATER = Attribute("curves.tailrace.tailwater_m", "the constant level below the dam, m")
#: Forms of units by the end of keys, and texts that end with one.
_UNITS = {key_suffix(unit): form for unit, form in UNIT_FORMS.items()}
_ENDS = {ending: re.compile(rf"(.*?)(?: |(?<![a-z0-9/^-]))(?:{form})") for ending, form in _UNITS.items()}
_PERCENT = Unit("%", "percent", 0.01)


class KeyMeant(NamedTuple):
    """A key that a text means: its row, in which unit; and whether it is given as a level that stands for a storage."""

    row: Attribute
    unit: Unit | None
    by_level: bool = False

    @property
    def written(self) -> str:
        """The key within its section, as a file has it; of a fraction in percent, that of the fraction."""
        return self.row.name if self.unit in (None, _PERCENT) else self.row.written(self.unit)  # type: ignore[arg-type]


def _bag(text: str) -> frozenset[str]:
    """Words of a text that tell quantities apart."""
    return frozenset(SAME.get(word, word) for word in re.findall(r"[^\W_]+", folded(text))) - {"nothing"}


def _names_of(row: Attribute, more: str) -> Iterator[frozenset[str]]:
    yield _bag(row.stem)
    if row.section and not row.section.startswith("curves."):
        yield _bag(f"{row.section.partition('.')[0].replace('marks', 'level')} {row.stem}")
    yield from (_bag(name) for name in more.split(";") if name)


@cache
def _rows(curves: bool) -> tuple[tuple[Attribute, frozenset[frozenset[str]]], ...]:
    """Rows with the words for each; of a level that is a mark and a storage's, the mark stands first."""
    if not curves:
        ordered = sorted((*ATTRIBUTES, TAILWATER), key=lambda row: row.section != "marks")
        return tuple((row, frozenset(_names_of(row, KEY_NAMES.get(row.key, "")))) for row in ordered)
    rows = []
    for key, names in KEY_NAMES.items():
        if not key.startswith("curves.") or key == TAILWATER.key:
            continue
        curve, _, name = key.removeprefix("curves.").partition(".")
        keys = curve_keys(curve)
        row = next(row for row in keys.get("table", keys.get("", ())) if row.name == name)
        of_curve = Attribute(key, row.meaning)
        rows.append((of_curve, frozenset(_bag(each) for each in (of_curve.stem, *names.split(";")))))
    return tuple(rows)


def _without_unit(text: str) -> Iterator[tuple[str, str]]:
    """A text as a quantity and the unit at its end, by the end of keys; and as a whole with no unit."""
    words = re.sub(r"[\s_,;:()\[\]{}]+", " ", folded(text)).strip()
    for ending, form in _ENDS.items():
        match = form.fullmatch(words)
        if match and match[1].strip():
            yield match[1], ending
    yield words, ""


def keys_meant(text: str, unit: str = "", *, curves: bool = False, section: str | None = None) -> list[KeyMeant]:
    """Keys that a name may mean, the likelier first.

    Parameters
    ----------
    text : str
        Such as ``Installed capacity (MW)``, ``dead_storage_mcm`` or ``死水位``.
    unit : str
        The unit, where it stands elsewhere.
    curves : bool
        Whether columns of curves are meant, and not numbers of the reservoir.
    section : str, optional
        The only section that is looked at.
    """
    exact = re.sub(r"\W+", "_", f"{text} {unit}".strip()).casefold()
    meant = [] if curves else list(_keys_written(exact, section))
    for name, ending in _without_unit(f"{text} {unit}".strip() if unit else text):
        bag = _bag(name)
        for row, names in _rows(curves):
            if bag and bag in names and section in (None, row.section):
                meant += _in_unit(row, ending)
            if row.key in BY_LEVEL and section is None and (_as_storage(bag) in names or bag in names):
                meant += [KeyMeant(row, unit, True) for unit in units_of("level_m")[1] if unit.suffix == ending]
    return meant


def _keys_written(text: str, section: str | None) -> Iterator[KeyMeant]:
    """Keys of a file as they are, or behind the name of their section."""
    for row, _ in _rows(False):
        first = row.section.partition(".")[0]
        for name in (text, text.removeprefix(f"{first}_") if section in (None, row.section) else text):
            unit = row.unit(name)
            if section in (None, row.section) and (unit or (not row.units and name == row.name)):
                yield KeyMeant(row, unit)
                break


def named_without_unit(text: str) -> Attribute | None:
    """The row with a unit that a name means, but for a unit that is missing or not known; None where there is none."""
    bag = _bag(re.sub(r"[(\[{].*?[)\]}]", " ", text))
    return next((row for row, names in _rows(False) if row.units and bag and bag in names), None)


def _as_storage(bag: frozenset[str]) -> frozenset[str]:
    return frozenset(bag - {"level"} | {"storage"}) if "level" in bag else bag


def _in_unit(row: Attribute, ending: str) -> Iterator[KeyMeant]:
    """A row in a unit, if it has that unit, or no unit and needs none."""
    if ending == "percent" and row.name in ("efficiency", "plant_factor"):
        yield KeyMeant(row, _PERCENT)
    elif not row.units and ending == ("per_mwh" if row.name.endswith("per_mwh") else ""):
        yield KeyMeant(row, None)
    else:
        yield from (KeyMeant(row, unit) for unit in row.units if unit.suffix == ending)


def unit_meant(text: str, choices: Mapping[str, str]) -> str | None:
    """The unit of a formula that a text spells; `choices` are their names by the end of keys. None of another text."""
    words = re.sub(r"[\s_]+", " ", folded(text)).strip()
    return next((choices[end] for end, form in _UNITS.items() if end in choices and re.fullmatch(form, words)), None)
