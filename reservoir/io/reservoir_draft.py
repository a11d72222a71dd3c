"""A first reservoir file from what there is: a level table, sheets of limits and of the plant, and an inflow record.

Numbers that nothing gives are guessed, so that the file plans at once and floods can pass: from the curve and the
record where these say something, else they are those of the template. Each is marked in the file with what it means.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from reservoir.errors import InputError, Mistake, shortened
from reservoir.hydro.attributes import LISTS, LONGEST_NAME, Attribute, Unit, YearEnd, plain, units_of
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR
from reservoir.hydro.curve_checks import invented_numbers
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.units import LENGTH_M
from reservoir.io.key_words import BY_LEVEL, TAILWATER, KeyMeant
from reservoir.io.level_table import LevelColumn, LevelTable, holds_levels, read_level_table
from reservoir.io.plant_table import Given, PlantTable, read_plant
from reservoir.io.records.cells import parse_number
from reservoir.io.records.reader import read_inflow
from reservoir.io.reservoir_toml.draft import KEYS, row_of
from reservoir.io.reservoir_toml.template import Value, literal, template
from reservoir.io.workbook import MOST_BYTES, sheets_of
from reservoir.text.data_file import read_limited
from reservoir.text.quantities import is_name, printable, typeset_unit

#: How far the guessed tailwater lies below the lowest level, as far as the curve is high within these ends, m; how far
#: it rises with the largest release, at most and as a part of that; its exponent.
_BELOW_M, _RISE_M, _RISE, _EXPONENT = (3.0, 43.0), 4.0, 1 / 3, 0.6
#: Guesses: turbine capacity over the mean flow, and output coefficient K, which the template has.
_CAPACITY, _COEFFICIENT = 1.5, 8.3
_OF_CURVE = "an end of the table, in place of yours"
_HALVINGS = 60


@dataclass(frozen=True)
class RecordScale:
    """What a first file needs to know of a record: flows, m3/s, and the calendar month in which its years begin."""

    mean_m3s: float
    largest_m3s: float
    first_month: int
    years: int
    unit: str

    @property
    def first_month_name(self) -> str:
        """The month in which its years begin."""
        return MONTH_NAMES[self.first_month - 1]

    @classmethod
    def of(cls, path: Path, reading: Mapping[str, Any], first_month: int | None = None) -> RecordScale:
        """Look at a record: the first month that keeps most of its years, unless one is given, and its largest flow.

        Raises
        ------
        InputError
            As `read_inflow` does.
        """
        record = _keeping_most(path, reading) if first_month is None else None
        record = record or read_inflow(path, first_month=first_month, **reading)
        largest = float(record.flow_m3s.max())
        for step in ("day", "week", "ten-days"):
            with suppress(InputError):  # a record of months has no shorter steps
                finest = read_inflow(path, first_month=record.calendar.first_month, step=step, **reading)
                largest = max(largest, float(finest.flow_m3s.max()))
                break
        return cls(
            record.mean_m3s,
            largest,
            record.calendar.first_month,
            record.years,
            f"{typeset_unit(record.unit)} ({record.unit_from})",
        )


def _keeping_most(path: Path, reading: Mapping[str, Any]) -> Inflow | None:
    """The record by the first month that keeps most of its years, the usual one if it does; None where no month does.

    Years that begin with the record's first month are as many as can be.
    """
    records, months, by_month = list[Inflow](), set(range(1, MONTHS_PER_YEAR + 1)), dict[int, int]()
    try:
        records.append(read_inflow(path, **reading))
        left_out = " ".join(str(note) for note in records[0].notes if "left out" in note)
        months = {int(month) for month in re.findall(r"\b\d{4}-(\d{2})\b", left_out)}
        months |= {month % MONTHS_PER_YEAR + 1 for month in months}  # the first month of days may not be whole
        by_month = InflowCheck(records[0]).years_by_first_month
    except InputError as refused:
        if any(mistake.row or mistake.column for mistake in refused.mistakes):  # wrong by any month
            raise
    most = max(by_month.values(), default=math.inf)
    for month in sorted(month for month in months if by_month.get(month, most) >= most):
        if max((record.years for record in records), default=0) < most:
            with suppress(InputError):
                records.append(read_inflow(path, first_month=month, **reading))
    return max(records, key=lambda record: record.years, default=None)


class Guess(NamedTuple):
    """A number that nobody gave: its key as written, the number as written, the key's row, what it was taken from."""

    key: str
    number: str
    row: Attribute | None
    source: str

    @property
    def meaning(self) -> str:
        """What it is, without the unit, which the key names."""
        of_formula = "tailwater by release, " * self.key.startswith("curves.tailrace.")
        meaning = re.sub(r", (m|MW)$", "", self.row.meaning) if self.row else "unknown"
        return of_formula + meaning

    def __str__(self) -> str:
        source = f" ({self.source})" if self.source else ""
        return f"{self.key} = {shortened(self.number, 32)}: {self.meaning}{source}"


@dataclass(frozen=True)
class ReservoirDraft:
    """A first reservoir file: its text, how what was given was understood, and where each key of it is from."""

    text: str
    read: tuple[str, ...]
    places: Mapping[str, str]
    sources: Mapping[str, str]

    @property
    def guesses(self) -> tuple[Guess, ...]:
        """Numbers that nobody gave, in the order of the file."""
        left = invented_numbers(self.text.encode())
        return tuple(Guess(key, number, row_of(key), self.sources.get(key, "")) for key, number in left)


def units_typed(key: str) -> dict[str, tuple[Unit | None, bool]]:
    """Units in which a number of a key may be typed; whether it is then a level that stands for a storage."""
    row = TAILWATER if key == TAILWATER.key else KEYS[key]
    units: dict[str, tuple[Unit | None, bool]] = {unit.name: (unit, False) for unit in row.units}
    if key in BY_LEVEL:
        units |= {f"{unit.name} (level)": (unit, True) for unit in units_of("level_m")[1]}
    return units or {"": (None, False)}


def typed_value(key: str, text: str, unit: str) -> Given:
    """What somebody types for a key of the table: a number in one of its units; of what has months, twelve too.

    Raises
    ------
    InputError
        If it is no number, or there is no such key or unit.
    """
    if key != TAILWATER.key and key not in KEYS:
        raise InputError("is no key of a reservoir file", column=key)
    row = TAILWATER if key == TAILWATER.key else replace(KEYS[key], key=key)
    if unit not in units_typed(key):
        raise InputError("is no unit of this number", f"one of {', '.join(units_typed(key))}", column=key, value=unit)
    numbers = [parse_number(part) for part in re.split(r"[\s;]+", text.strip())]
    wrong = [replace(number, column=key, value=text) for number in numbers if isinstance(number, Mistake)]
    if len(numbers) > 1 and row.kind not in LISTS:
        wrong = [Mistake("are several numbers", "one number", column=key, value=text)]
    if wrong:
        raise InputError(wrong[0])
    value: Any = tuple(numbers) if len(numbers) > 1 else numbers[0]
    return Given(KeyMeant(row, *units_typed(key)[unit]), value, f"typed: {' '.join(text.split())} {unit}".strip())


def name_from(*texts: str) -> str:
    """The name of a reservoir that the first of some texts gives which has letters or digits."""
    cut = ("".join(letter if is_name(letter) else "-" for letter in text) for text in texts)
    return next(filter(None, (re.sub("-+", "-", text).strip("-_")[:LONGEST_NAME] for text in cut)), "reservoir")


def draft_of_workbook(
    path: Path,
    names: Sequence[str] = (),
    name: str = "",
    scale_of: Callable[[int | None], RecordScale | None] | None = None,
    typed: Sequence[Given] = (),
) -> ReservoirDraft:
    """The reservoir of a workbook with a level curve, and perhaps with limits, numbers of the plant and further curves.

    Parameters
    ----------
    path : Path
    names : sequence of str
        Sheets that are meant, where several may be.
    name : str
        Of the reservoir, in place of the one that a sheet or the file has.
    scale_of : callable, optional
        Looks at the record, for years that begin in the month that a sheet gives, if one does.
    typed : sequence of Given
        What counts in place of what the sheets give, and of guesses.

    Raises
    ------
    InputError
        With the mistakes of the sheets.
    """
    table = read_level_table(path, names)
    sheets = [sheet for sheet in sheets_of(read_limited(path, MOST_BYTES)) if not holds_levels(sheet)]
    plant = read_plant(sheets, str(path))
    given = {one.meant.row.key: one.value for one in plant.given}
    first_month = given.get("first_month")
    scale = scale_of(first_month if isinstance(first_month, int) else None) if scale_of else None
    try:
        return draft(name or name_from(str(given.get("name", "")), path.stem), table, plant, scale, typed)
    except InputError as refused:
        raise InputError(replace(mistake, file=str(path)) for mistake in refused.mistakes) from None


def draft(
    name: str,
    table: LevelTable | None,
    plant: PlantTable | None = None,
    record: RecordScale | None = None,
    typed: Sequence[Given] = (),
) -> ReservoirDraft:
    """Write a first reservoir file; without a table, the curve of the template stays. `typed` goes before sheets."""
    plant = plant or PlantTable()
    curves: dict[str, Any] = dict(plant.curves)
    values = dict[str, Value]()
    for given in (*plant.given, *typed):
        if given.meant.row is TAILWATER:
            points = {"coefficients": (given.value,), "level_unit": given.meant.unit.name if given.meant.unit else "m"}
            curves.setdefault("tailrace", (points, given.place))
        elif given.meant.row.key != "name":
            values[given.meant.row.key] = _value(given, table)
    if table is not None:
        source = f'sheet "{table.sheet}"' if table.sheet else "the table"
        curves["level"] = ({_key(column): column.values for column in (table.storage, table.level)}, source)
        if table.area is not None:
            curves["area"] = ({_key(column): column.values for column in (table.storage, table.area)}, source)
    of_sheets = {value.key: value.source for value in values.values()}
    of_sheets |= {f"curves.{curve}": source for curve, (_, source) in curves.items()}
    _guess_storages(values, table)
    _guess_flows(values, curves, table, record)
    text = template(name, list(values.values()), curves)
    guessed = {
        f"{value.key.rpartition('.')[0]}.{value.written}": value.source for value in values.values() if value.guess
    }
    return ReservoirDraft(text, tuple(map(printable, _read(table, plant))), of_sheets, guessed)


def _key(column: LevelColumn) -> str:
    return f"{column.head.quantity}_{column.head.ending}"


def _read(table: LevelTable | None, plant: PlantTable) -> Iterator[str]:
    """How the table and the sheets were understood."""
    if table is not None:
        of_sheet = f' from sheet "{table.sheet}"' if table.sheet else ""
        columns = "; ".join(column.told for column in (table.level, table.storage, table.area) if column is not None)
        yield f"level curve{of_sheet}, {len(table.level.values)} points: {columns}"
        if table.area is None:
            yield "no area: the slope of storage over level stands in for it"
        yield from table.notes
    of_sheets = dict[str, list[str]]()
    for given in plant.given:
        key = f"{given.meant.row.section}.{given.meant.written}".lstrip(".")
        by_level = " by the level curve" if given.meant.by_level else ""
        sheet, _, at = given.place.partition('", ')
        of_sheets.setdefault(f'{sheet}"', []).append(f"{key}{by_level} ({at})")
    for curve, (points, source) in plant.curves.items():
        of_sheets.setdefault(source, []).append(f"[curves.{curve}] ({', '.join(points)})")
    yield from (f"{sheet}: {', '.join(keys)}" for sheet, keys in of_sheets.items())
    if plant.not_read:
        yield f"not read: {', '.join(plant.not_read)}"


def _value(given: Given, table: LevelTable | None) -> Value:
    """A value of a sheet as a key of the file; of a level that stands for a storage, this storage."""
    meant, value, written = given.meant, given.value, given.meant.written
    if meant.by_level:
        if table is None:
            raise InputError(f"{given.place} gives levels, but there is no level curve", "a table of level and storage")
        size = (meant.unit.size if meant.unit else 1.0) / table.level.head.size
        levels = value if isinstance(value, tuple) else (value,)
        storages = tuple(_storage_at(table, level * size, given.place) for level in levels)
        value = storages if isinstance(value, tuple) else storages[0]
        written = f"{meant.row.stem}_{table.storage.head.ending}"
    return Value(meant.row.key, written, literal(value), given.place)


def _storage_at(table: LevelTable, level: float, place: str) -> float:
    """The storage at a level, both in the units of the table."""
    low, high = table.level.values[0], table.level.values[-1]
    if not low <= level <= high:
        expected = f"{plain(low)} to {plain(high)} {table.level.head.unit}, the range of the level curve"
        mend = "correct the level, or extend the curve"
        raise InputError(f"{place} is outside the level curve", expected, mend, value=level)
    curve = Table(table.storage.values, table.level.values)
    low, high = table.storage.values[0], table.storage.values[-1]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if float(curve(middle)) >= level else (middle, high)
    return min(float(f"{high:.10g}"), table.storage.values[-1])


def _numbers(value: Value) -> list[float]:
    """The numbers of a value of the file."""
    parsed = tomllib.loads(f"value = {value.text}")["value"]
    return [float(number) for number in (parsed if isinstance(parsed, list) else [parsed])]


def _guess_storages(values: dict[str, Value], table: LevelTable | None) -> None:
    """Dead, full, initial and final storage, and the levels to draw: from the marks and limits, else from the table."""
    if table is None:
        return
    storage, level = table.storage, table.level
    ending, curve = storage.head.ending, Table(storage.values, level.values)

    def in_table(value: Value) -> list[float]:
        unit = KEYS[value.key].unit(value.written)
        size = level.head.size if value.key.endswith("_m") else storage.head.size
        times = (unit.size if unit else 1.0) / size
        return [number if times == 1 else float(f"{number * times:.12g}") for number in _numbers(value)]

    for stem, mark, limit, pick, place in (("dead", "dead", "lower", min, 0), ("full", "normal", "upper", max, -1)):
        key = f"storage.{stem}_hm3"
        of_mark, of_limit = values.get(f"marks.{mark}_m"), values.get(f"storage.{limit}_hm3")
        if key not in values:
            value, source, guess = storage.values[place], _OF_CURVE, True
            if of_mark is not None:
                value, source, guess = _storage_at(table, in_table(of_mark)[0], of_mark.source), of_mark.source, False
            elif of_limit is not None:
                value, source, guess = pick(in_table(of_limit)), of_limit.source, False
            elif stem == "dead" and (lowest := values.get("plant.operating_level_m")):  # below it, turbines stand still
                value, source = _storage_at(table, in_table(lowest)[0], lowest.source), lowest.source
            values[key] = Value(key, f"{stem}_{ending}", literal(value), source, guess)
        if of_mark is None:
            at_end = min(max(in_table(values[key])[0], storage.values[0]), storage.values[-1])
            text = literal(round(float(curve(at_end)), 6))
            mark_key = f"marks.{mark}_m"
            values[mark_key] = Value(mark_key, f"{mark}_{level.head.ending}", text, f"the level at {stem} storage")
    end = values["storage.year_end"].text.strip('"') if "storage.year_end" in values else YearEnd.FIXED
    if "storage.initial_hm3" not in values and end != YearEnd.CYCLIC:
        value, source = in_table(values["storage.full_hm3"])[0], "full"
        if "storage.upper_hm3" in values:  # kept all year, it breaks no limit
            value, source = min(in_table(values["storage.upper_hm3"])), "the smallest upper limit of the months"
        values["storage.initial_hm3"] = Value("storage.initial_hm3", f"initial_{ending}", literal(value), source, True)
    if "storage.final_hm3" not in values and end == YearEnd.FIXED:
        initial = values["storage.initial_hm3"]
        written = initial.written.replace("initial", "final")
        values["storage.final_hm3"] = initial._replace(key="storage.final_hm3", written=written)


def _guess_flows(
    values: dict[str, Value], curves: dict[str, Any], table: LevelTable | None, record: RecordScale | None
) -> None:
    """First month and largest release from the record, the plant from its mean flow, the tailwater from the curve."""

    def guess(key: str, value: float, source: str, written: str = "") -> None:
        if key not in values:
            values[key] = Value(key, written or key.rpartition(".")[2], literal(value), source, True)

    if record is not None:
        if "first_month" not in values:
            source = f"keeps most years of the record, {record.years}"
            values["first_month"] = Value("first_month", "first_month", str(record.first_month), source)
        largest = f"the largest flow of the record is {record.largest_m3s:.4g} m³/s"
        guess("release.upper_m3s", _rounded_up(record.largest_m3s), largest)
        guess("release.lower_m3s", 0.0, "no flow is asked for")
    if table is None:
        return
    size, low = table.level.head.size, table.level.values[0]
    drop_m = round(min(max((table.level.values[-1] - low) * size, _BELOW_M[0]), _BELOW_M[1]), 1)
    below = low - drop_m / size
    head_m = (table.level.values[-1] - below) * table.level.head.size
    if "tailrace" not in curves:
        ending = table.level.head.ending
        source = f"{drop_m:g} m below the lowest level of the table"
        guess("curves.tailrace.offset_m", round(below, 2), source, f"offset_{ending}")
        if record is not None:
            rise_m = min(_RISE_M, _RISE * drop_m)
            factor = float(f"{rise_m / _rounded_up(record.largest_m3s) ** _EXPONENT:.3g}")
            guess("curves.tailrace.factor", factor, f"a rise of {rise_m:.3g} m at the largest flow")
    else:
        points, _ = curves["tailrace"]
        low, unit = next((values[0], key) for key, values in points.items() if not key.startswith("release_"))
        of_unit = LENGTH_M["ft"] if unit.endswith("ft") or points.get("level_unit") == "ft" else 1.0
        head_m = max(table.level.values[-1] * size - low * of_unit, 1.0)
    if record is None or {"turbine"} & set(curves):
        return
    capacity_m3s = min(float(f"{_CAPACITY * record.mean_m3s:.2g}"), _rounded_up(record.largest_m3s))
    if (
        not {"plant.hydraulic_capacity_m3s", "plant.unit_hydraulic_capacity_m3s"} & set(values)
        and "capacity" not in curves
    ):
        source = f"{_CAPACITY} times the mean flow of the record, at most the largest"
        guess("plant.hydraulic_capacity_m3s", capacity_m3s, source)
    if not {"plant.installed_capacity_mw", "plant.unit_capacity_mw"} & set(values):
        if "plant.hydraulic_capacity_m3s" in values:
            given = values["plant.hydraulic_capacity_m3s"]
            unit = KEYS[given.key].unit(given.written)
            capacity_m3s = _numbers(given)[0] * (unit.size if unit else 1.0)
        power = _COEFFICIENT * capacity_m3s * head_m / 1e3
        guess("plant.installed_capacity_mw", float(f"{power:.2g}"), "that discharge at the largest head")


def _rounded_up(flow: float) -> float:
    """A flow to two digits, no smaller."""
    digits = 10.0 ** (math.floor(math.log10(max(flow, 1e-3))) - 1)
    return float(f"{math.ceil(flow / digits - 1e-9) * digits:.12g}")
