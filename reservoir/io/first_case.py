"""A case from files as a newcomer has them: how they were read, what nobody gave, and what is wrong where."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import plain
from reservoir.hydro.inflow import ASSUMED, Inflow
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.io.key_words import BY_LEVEL, TAILWATER
from reservoir.io.level_table import read_level_table
from reservoir.io.plant_table import Given
from reservoir.io.records.choice import has_record
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_draft import (
    Guess,
    RecordScale,
    ReservoirDraft,
    draft,
    draft_of_workbook,
    name_from,
    typed_value,
    units_typed,
)
from reservoir.io.reservoir_toml.draft import KEYS, known_unit, parsed
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.io.reservoir_toml.template import require_name
from reservoir.io.workbook import is_workbook, own_sheets, require_cells, sheets_of

#: How a record is read, by the arguments of `read_inflow`: what a reader is asked, a hint, and the answers there are.
READING: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "unit": ("Unit of the inflow", "m3/s, cfs, hm3, acre-ft, ...", ()),
    "column": ("Column of the inflow", "its name; or OTHER=VALUE for the rows of one series", ()),
    "missing_days": ("Days that a month may lack", "0 to 30", ()),
    "negative": ("What becomes of negative values", "", ("keep", "zero")),
    "dates": ("Order in dates such as 10/01/1990", "", ("month-first", "day-first")),
    "water_year": ("Year by which the file names its water years", "", ("begins", "ends")),
    "first_year": ("Year of the earliest row", "where years have two digits", ()),
}
_WHOLE = ("missing_days", "first_year")
#: What may be given in place of an invented number that few people have, and in place of what.
_INSTEAD = {
    TAILWATER.key: ("curves.tailrace.offset_m", "in place of the numbers of the formula"),
    "plant.efficiency": ("plant.output_coefficient", "in place of K"),
}
_ORDER = {key: place for place, key in enumerate(KEYS)}


def _key(written: str) -> str:
    """The table's key for one as a file has it."""
    section, _, name = written.rpartition(".")
    return f"{section}.{known_unit(section, name)[0]}".lstrip(".")


@dataclass
class FirstCase:
    """What was made of a table of levels, of a record, and of what was typed.

    Parameters
    ----------
    kept : mapping of str to str
        Invented numbers that were agreed to, as the draft has them, by key.

    Attributes
    ----------
    faults : dict
        Mistakes by ``table``, ``inflow``, ``name``, ``reservoir``, the argument of `READING` or the key they are about.
    typed : dict
        What stands in place of guesses, by key.
    sheets : dict
        Names of the sheets of ``table`` and ``inflow``, where these are workbooks.
    draft, check, scale
        The reservoir file, the record and its scale; None where they could not be read.
    words : tuple of str
        Options of a command that reads the record as it was read.
    """

    kept: Mapping[str, str]
    faults: dict[str, list[Mistake]] = field(default_factory=dict)
    typed: dict[str, Given] = field(default_factory=dict)
    sheets: dict[str, list[str]] = field(default_factory=dict)
    draft: ReservoirDraft | None = None
    check: InflowCheck | None = None
    scale: RecordScale | None = None
    words: tuple[str, ...] = ()

    @contextmanager
    def telling(self, about: str) -> Iterator[None]:
        """Note what is refused inside, by the field that it names, or else by what it is about."""
        try:
            yield
        except InputError as refused:
            for mistake in refused.mistakes:
                of_level = (key for key, given in self.typed.items() if mistake.problem.startswith(given.place))
                key = next(of_level, _key(mistake.column))
                place = key if key in {*KEYS, *READING, TAILWATER.key} else about
                told = replace(mistake, file=Path(mistake.file).name, column="" if place == key else mistake.column)
                self.faults.setdefault(place, []).append(told)

    def guesses(self) -> dict[str, Guess]:
        """Invented numbers by the keys of the table."""
        return {_key(guess.key): guess for guess in self.draft.guesses} if self.draft else {}

    def left(self) -> Iterator[Mistake]:
        """What nobody gave, and nobody agreed to."""
        mend = "give yours, or say that you keep this assumption"
        if self.check and self.check.inflow.unit_from == ASSUMED:
            yield Mistake("nobody gave the unit", "such as m3/s or cfs", "give it", column="unit", value=ASSUMED)
        for key, guess in self.guesses().items():
            if self.kept.get(key) != guess.number:
                yield Mistake("nobody gave this number", guess.meaning, mend, column=key, value=guess.number)

    def fields(self) -> Iterator[dict[str, Any]]:
        """A field for each number that nobody gave or that was typed, and for what may stand in place of some."""
        if self.draft is None or self.scale is None:
            return
        fields = dict[str, dict[str, Any]]()
        for key, guess in self.guesses().items():
            unit = guess.row.unit(guess.key.rpartition(".")[2]) if guess.row else None
            kept, named = self.kept.get(key) == guess.number, unit.name if unit else ""
            fields[key] = {"number": guess.number, "unit": named, "source": guess.source, "kept": kept}
        instead = {key: {"instead": words} for key, (of, words) in _INSTEAD.items() if of in fields}
        asked = {*fields, *instead, *self.typed}
        curve: Mapping[str, list[float]] = parsed(self.draft.text.encode(), "")["curves"]["level"]
        (written, storages), *_ = (each for each in curve.items() if each[0].startswith("storage_"))
        for key in sorted(asked, key=lambda key: _ORDER.get(key, _ORDER["curves.tailrace"])):
            row, units = TAILWATER if key == TAILWATER.key else KEYS[key], units_typed(key)
            shown = {"unit": next(iter(units)), **instead.get(key, {}), **fields.get(key, {})}
            unit = known_unit("curves.level", written)[1] if key in BY_LEVEL else units[shown["unit"]][0]
            ends = (
                (storages[0], storages[-1])
                if key in BY_LEVEL
                else [end / (unit.size if unit else 1) for end in row.allowed]
            )
            expected = f"{plain(ends[0])} to {plain(ends[1])} {unit.name if unit else ''}".strip()
            meaning = row.meaning if row is TAILWATER else Guess(key, "", row, "").meaning
            shown["expected"] = expected if all(map(math.isfinite, ends)) else ""
            yield {"key": key, "meaning": meaning.removesuffix(", m"), "units": [*units], **shown}


def first_case(
    table: Path | None,
    record: Path | None,
    *,
    name: str = "",
    sheets: Sequence[str] = (),
    reading: Mapping[str, str] | None = None,
    typed: Mapping[str, tuple[str, str]] | None = None,
    kept: Mapping[str, str] | None = None,
    most_cells: int | None = None,
) -> FirstCase:
    """Read what there is of two files, with all that was typed; refuses nothing, but tells it.

    Parameters
    ----------
    table, record : Path, optional
        Of levels and storages, and of inflow, which may be a sheet of the former.
    name : str
        Of the reservoir; by default as the file says, or is called.
    sheets : sequence of str
        Those that are meant, of either file.
    reading : mapping of str to str
        How the record is read, by the names of `READING`.
    typed : mapping of str to pair of str
        Numbers in place of guesses, with their units as `units_typed` has them, by key.
    kept : mapping of str to str
        As `FirstCase` has them.
    most_cells : int, optional
        More, in a workbook, are refused before they are read.
    """
    case, how = FirstCase(kept or {}), dict[str, Any]()
    for key, (text, unit) in (typed or {}).items():
        with case.telling(key):
            case.typed[key] = typed_value(key, text, unit)
    for which, path in (("table", table), ("inflow", record)):
        with case.telling(which):
            if path and is_workbook(path):
                content = path.read_bytes()
                require_cells(content, most_cells or len(content))
                case.sheets[which] = [sheet.name for sheet in sheets_of(content)]
    table, record = (None if which in case.faults else path for which, path in (("table", table), ("inflow", record)))
    record = table if table and not record and "inflow" not in case.faults and has_record(table) else record
    for argument, text in (reading or {}).items():
        with case.telling(argument):
            if argument in _WHOLE and not text.isdecimal():
                raise InputError("is no whole number", "digits alone", value=text)
            how |= {argument: int(text) if argument in _WHOLE else text} if argument in READING else {}
    case.words = tuple(word for given, text in how.items() for word in (f"--{given.replace('_', '-')}", str(text)))
    how["sheet"] = tuple(own_sheets(record, sheets)) if record else ()
    case.words += tuple(word for sheet in how["sheet"] for word in ("--sheet", sheet))

    def scale_of(first_month: int | None = None) -> RecordScale | None:
        with case.telling("inflow"):  # how the levels are read is shown whatever the record is
            case.scale = _scale(record, record.stat().st_mtime_ns, first_month, *how.items()) if record else None
        return case.scale

    def drafted(given: Iterable[Given]) -> ReservoirDraft | None:
        if table and is_workbook(table):
            return draft_of_workbook(table, own_sheets(table, sheets), name, scale_of, [*given])
        return (
            draft(name or name_from(table.stem), read_level_table(table), None, scale_of(), [*given]) if table else None
        )

    with case.telling("name"):
        require_name(name or "reservoir")
    name = "" if "name" in case.faults else name
    with case.telling("table"):
        case.draft = drafted(case.typed.values())
    with suppress(InputError):  # what is told of a number that was typed hides no others
        case.draft = case.draft or drafted(each for key, each in case.typed.items() if key not in case.faults)
    scale, lake = case.scale or ("inflow" not in case.faults and scale_of()) or None, None
    with case.telling("reservoir"):
        lake = reservoir_of(case.draft.text.encode(), "") if case.draft else None
    with case.telling("inflow"):
        if record and scale:
            first_month = lake.first_month if lake else scale.first_month
            case.check = InflowCheck(_inflow(record, record.stat().st_mtime_ns, first_month, *how.items()), lake)
    return case


@lru_cache(maxsize=4)
def _scale(path: Path, changed: int, first_month: int | None, *how: tuple[str, Any]) -> RecordScale:
    return RecordScale.of(path, dict(how), first_month)


@lru_cache(maxsize=4)
def _inflow(path: Path, changed: int, first_month: int, *how: tuple[str, Any]) -> Inflow:
    return read_inflow(path, first_month=first_month, **dict(how))
