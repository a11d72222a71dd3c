"""Which column holds the inflow, what is read beside it, what is passed over, and what tells one series from another.

A further quantity beside the inflow is a row of `COMPANIONS`, with its words below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import EVAPORATION_MM, FLOOD_INDEX, FLOW_M3S, LOSS_HM3, PRICE_PER_MWH, Range
from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.inflow import RECORDED_LOSSES
from reservoir.hydro.unit_system import UnitSystem, UnitText
from reservoir.hydro.units import DEPTH_MM, VOLUME_HM3, key_suffix
from reservoir.hydro.units import FLOW_M3S as FLOW_UNITS
from reservoir.io.records import cells
from reservoir.io.records import words as known
from reservoir.io.records.cells import looks_like_number, parse_flow, parse_number
from reservoir.io.records.table import InflowTable
from reservoir.io.records.units import unit_named
from reservoir.io.records.words import BESIDE, JUDGES, WordKind, folded, parts_of, understand
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

    def codes_among(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Missing-value codes among values in the unit of the column, of their shape.

        Rain makes evaporation negative, and prices may be high.
        """
        low = (values <= -_LEAST_CODE) & cells.is_known_code(values)
        if self.field == "price_per_mwh":
            return low
        return low | (cells.codes_among(np.maximum(values, 0.0))[0] & (values >= _LEAST_CODE))


#: Known columns, by their names in small letters.
COMPANIONS: dict[str, Companion] = {}
for _unit, _size in DEPTH_MM.items():
    COMPANIONS[f"evaporation_{_unit}"] = Companion("evaporation_mm", parse_number, _size, EVAPORATION_MM)
COMPANIONS["price_per_mwh"] = Companion("price_per_mwh", parse_number, 1.0, PRICE_PER_MWH)
for _unit, _size in FLOW_UNITS.items():
    COMPANIONS[f"withdrawal_{key_suffix(_unit)}"] = Companion("withdrawal_m3s", parse_flow, _size, FLOW_M3S)
#: What flood space depends on, whatever the column is called.
FLOOD_COLUMN = Companion("flood_index", parse_number, 1.0, FLOOD_INDEX)
#: Further ones: losses as they were recorded, as volumes of a step, or as mean flows until steps are known.
_FURTHER = {"flood_index": FLOOD_COLUMN}
for _name in RECORDED_LOSSES:
    for _units, _field, _allowed in (
        (VOLUME_HM3, _name, LOSS_HM3),
        (FLOW_UNITS, f"{_name.removesuffix('_hm3')}_m3s", Range(-FLOW_M3S.most, FLOW_M3S.most)),
    ):
        for _unit, _size in _units.items():
            _key = f"{_name.removesuffix('hm3')}{key_suffix(_unit)}"
            _FURTHER[_key] = Companion(_field, parse_number, _size, _allowed)


def with_volumes(
    beside: Mapping[str, tuple[str, NDArray[np.float64]]], hm3_per_m3s: NDArray[np.float64]
) -> dict[str, tuple[str, NDArray[np.float64]]]:
    """What was read beside the inflow, by field, with recorded losses that were given as mean flows as volumes."""
    of_flows = {name.replace("_hm3", "_m3s"): name for name in RECORDED_LOSSES}
    return {
        of_flows.get(field, field): (column, values * hm3_per_m3s if field in of_flows else values)
        for field, (column, values) in beside.items()
    }


#: Quantities beside the inflow by words by which they are read, and by all that name them.
_READ = {word: name for name, words in known.COMPANION_WORDS.items() for word in words["read"].split()}
_ALL = _READ | {word: name for name, words in known.COMPANION_WORDS.items() for word in words["other"].split()}
#: Words in which a slip is looked for, how alike it is to one, and how long.
_MISSPELT, _ALIKE, _LEAST_LETTERS = ("evaporation", "withdrawal", "withdrawals", "abstraction"), 0.84, 7
#: Evaporation and rain of a month stay below this, mm, and a negative price above its negative; a code is larger.
_LEAST_CODE = 900.0


def companion_of(name: str, flood_column: str | None = None) -> Companion | None:
    """What a column beside the inflow is by its name, if that is clear; flood space may depend on one of any name."""
    if flood_column is not None and name.strip().casefold() == flood_column.strip().casefold():
        return FLOOD_COLUMN
    exact = COMPANIONS.get(name.casefold(), _FURTHER.get(name.casefold()))
    text = folded(name).replace("day-ahead", "")
    words = [word for word in re.findall(r"[^\W_]+", text) if word not in known.OF_LOSSES]
    quantities = {_READ[word] for word in words if word in _READ}
    if exact is not None or len(quantities) != 1:
        return exact
    rest = [word for word in words if word not in _READ]
    if quantities <= {"evaporation", "bank storage"}:
        unit = unit_named(re.sub(r"evap\w*|bank|storage|net|lake|total|monthly", " ", folded(name)))
        (stem,) = (each.replace(" ", "_") for each in quantities)
        if unit is not None:
            field = f"{stem}_{'hm3' if unit.is_volume else 'm3s'}"
            return _FURTHER[field]._replace(size=unit.size)
    if quantities == {"evaporation"}:
        spelt = rest[0] if len(rest) == 1 else ""
        depth = next((unit for unit in DEPTH_MM if spelt in known.ALL_SPELLINGS[unit]), spelt)
        return COMPANIONS.get(f"evaporation_{depth}")
    if quantities == {"price"}:
        size = {"mwh": 1.0, "kwh": 1e3}.get(rest[-1] if rest else "", 0.0)
        currency = len(rest) == 1 or (len(rest) == 2 and len(rest[0]) == 3 and rest[0].isalpha())
        return COMPANIONS["price_per_mwh"]._replace(size=size) if size and currency else None
    unit = unit_named(re.sub(r"withdrawals?", " ", folded(name)))
    return None if unit is None or unit.is_volume else COMPANIONS["withdrawal_m3s"]._replace(size=unit.size)


def nearly_named(name: str) -> Mistake | None:
    """Refuse a column that seems to be a loss or a price, by a name under which it is not read."""
    words, named = parts_of(name), list[str | None]()
    if companion_of(name) is not None or not JUDGES.isdisjoint(words):
        return None
    for word in words:  # and words written nearly so
        alike = get_close_matches(word, _MISSPELT, 1, _ALIKE) if len(word) >= _LEAST_LETTERS else []
        named.append(_ALL.get(word) or (_ALL[alike[0]] if alike else None))
    named += [quantity for quantity, words in known.COMPANION_WORDS.items() if words["within"] in name]
    quantity = next(filter(None, named), None)
    if quantity is None:
        return None
    if quantity == "seepage":
        mend = "give it in the reservoir file, and delete the column"
        return Mistake("is not read from a record", "a seepage in the reservoir file", mend, column=name)
    problem = f"seems to be {quantity}, but is not read by this name"
    write = " ".join(known.COMPANION_WORDS[quantity]["write"].split())
    mend = f"name it {write}; or delete the column"
    return Mistake(problem, "a name and a unit that are understood", mend, column=name)


def read_companions(
    table: InflowTable, companions: Mapping[int, Companion]
) -> tuple[dict[str, tuple[str, dict[int, float]]], list[Mistake]]:
    """Names and values of some columns, by field of `Inflow` and row, and what is wrong with them."""
    columns, mistakes = dict[str, tuple[str, dict[int, float]]](), list[Mistake]()
    for place, companion in companions.items():
        name = table.header.cells[place]
        values, wrong = table.parsed(place, companion.parse)
        mistakes += wrong
        codes = companion.codes_among(np.array(list(values.values())))
        for (row, value), code in zip(values.items(), codes.tolist(), strict=True):
            mistake = cells.no_flow(value, True) if code else companion.out_of_range(value)
            if mistake is not None:
                mistakes.append(replace(mistake, row=row, column=name, value=value))
        columns[companion.field] = (name, {row: value * companion.size for row, value in values.items()})
    return columns, mistakes


#: Before the name of the column in notes on what was read beside the inflow.
FROM_COLUMN = ", from column "


def companion_notes(columns: Mapping[str, tuple[str, NDArray[np.float64]]], steps: int) -> Iterator[str]:
    """What was read beside the inflow, as amounts: by field of `Inflow` the column, and its values of any shape."""
    for field, (column, values) in columns.items():
        mean = float(np.mean(values))
        if field == "evaporation_mm":
            yield f"evaporation {quantity(mean * steps)} mm a year{FROM_COLUMN}{column}"
        elif field == "withdrawal_m3s":
            yield _withdrawal_note(mean, column)
        elif field == "flood_index":
            yield f"flood index {quantity(mean)} on average{FROM_COLUMN}{column}"
        elif field.startswith(("evaporation", "bank_storage")):
            yield _loss_note(field, mean * steps, column)
        else:
            yield f"price {quantity(mean)} per MWh on average{FROM_COLUMN}{column}"


def _loss_note(field: str, sum_of_steps: float, column: str) -> UnitText:
    """Of volumes their sum of a year, of flows their mean."""
    stem, _, unit = field.rpartition("_")
    instead = ", in place of evaporation by area" if stem == "evaporation" else ""

    def said(units: UnitSystem) -> str:
        if unit == "hm3":
            amount = f"{units.stated(sum_of_steps, 'hm3')} a year"
        else:
            amount = f"{units.stated(sum_of_steps / MONTHS_PER_YEAR, 'm3/s')} on average"
        return f"{stem.replace('_', ' ')} {amount}{instead}{FROM_COLUMN}{column}"

    return UnitText(said)


def _withdrawal_note(mean_m3s: float, column: str) -> UnitText:
    return UnitText(lambda units: f"withdrawal {units.stated(mean_m3s, 'm3/s')} on average{FROM_COLUMN}{column}")


_ONE = "one value column, such as inflow_m3s"
#: Rows that are looked at to find out whether a column has numbers.
_LOOKED_AT = 400


class ValueColumn(NamedTuple):
    """The place of the column of values, and of what stands beside it."""

    place: int
    companions: Mapping[int, Companion]
    passed_over: tuple[int, ...]

    def mistakes(self, table: InflowTable) -> Iterator[Mistake]:
        """Losses that would be passed over because of their names, and second columns of one quantity."""
        nearly = (nearly_named(table.header.cells[place]) for place in self.passed_over)
        yield from (replace(mistake, row=table.header.number) for mistake in nearly if mistake is not None)
        fields = [companion.field.rpartition("_")[0] for companion in self.companions.values()]
        for at, place in enumerate(self.companions):
            if fields[at] in fields[:at]:
                name, problem = table.header.cells[place], "is a second column of the same quantity"
                mend = f"keep one column of {name.partition('_')[0]}"
                yield table.at_header(problem, "one column of each quantity", mend, column=name)

    def notes(self, header: Sequence[str]) -> tuple[str, ...]:
        """Which columns were passed over."""
        names = [header[place] or "(no name)" for place in self.passed_over]
        return (passed_over_note(names, f"read column {header[self.place]}"),) if names else ()


def passed_over_note(names: Sequence[str], read: str) -> str:
    """Say which columns were not read."""
    return f"{read}, passed over {', '.join(names)}"


def value_column(
    table: InflowTable, dates: Sequence[int], wanted: str | None, flood_column: str | None = None
) -> ValueColumn:
    """Find the column of values, beside those that say of when, and of which member, a value is.

    Flood space may depend on one of any name (`flood_column`).

    Raises
    ------
    InputError
        If there is none, or if there are several and the caller names none of them.
    """
    header = table.header.cells
    others = [place for place in range(len(header)) if place not in dates]
    known_as = {place: companion_of(header[place], flood_column) for place in others}
    companions = {place: companion for place, companion in known_as.items() if companion is not None}
    candidates = [place for place in others if place not in companions]
    further = table.heading.labels if table.heading else ()
    labels = [[*header], *([*row.cells, *[""] * len(header)] for row in further)]  # columns of titles have none
    if wanted is not None:
        text = wanted.strip().casefold()
        of_rows = ([at for at in candidates if row[at].casefold() == text] for row in labels)
        places = next(filter(None, of_rows), [])
    else:
        places = candidates if len(candidates) == 1 else [at for at in candidates if _may_be_inflow(table, at)]
    if len(places) == 1:
        blank = {place for place in candidates if not (header[place] or any(row.cells[place] for row in table.rows))}
        passed_over = tuple(place for place in candidates if place != places[0] and place not in blank)
        return ValueColumn(places[0], companions, passed_over)
    columns = places or candidates
    told_apart = [row for row in labels if row is labels[0] or len({row[at] for at in columns}) == len(columns)]
    of_each = [" = ".join(dict.fromkeys(filter(None, (row[at] for row in told_apart)))) for at in columns]
    one_of = ", by any of its names" if any(" = " in each for each in of_each) else ""
    names = ("; " if one_of else ", ").join(each or "(no name)" for each in of_each)
    if not columns:
        raise InputError(table.at_header("no column besides the date", _ONE, "add an inflow column"))
    if wanted is not None:
        problem = f"{len(places)} columns of this name" if places else f"no such column; the file has {names}"
        mend = "give the name as the header has it"
        raise InputError(problem, "a name in the header", mend, column="column", value=wanted)
    problem, beside = f"{len(columns)} columns besides the date: {names}", ", ".join(COMPANIONS)
    name = table.column_option("NAME") if table.chosen else "--column NAME"
    mend = f"name the column to read ({name}{one_of}), or keep only the inflow column, and {beside} if there are any"
    raise InputError(table.at_header(problem, _ONE, mend))


def _may_be_inflow(table: InflowTable, place: int) -> bool:
    """Whether a column may be the inflow, by its name and its cells."""
    name = table.header.cells[place]
    words = re.findall(r"[^\W_]+", folded(name))
    beside = not BESIDE.isdisjoint(words) and all(word in BESIDE or word.isdecimal() for word in words)
    if beside or understand(name).is_no_inflow or nearly_named(name):
        return False
    names_series = may_tell_series(name) and not understand(name).kinds & {*known.QUANTITIES, WordKind.UNIT}
    if names_series and len({row.cells[place] for row in table.rows}) <= _FEW_NUMBERS < len(table.rows):
        return False
    filled = [row.cells[place] for row in table.rows[:_LOOKED_AT] if not cells.is_missing(row.cells[place])]
    flows = sum(looks_like_number(cell) or cell.casefold() in known.ZERO_WORDS for cell in filled)
    return not table.rows or flows * 2 > len(filled)


#: Characters of a code that judges a value.
_SHORT_CODE = 3
#: Values of a column of few, numbers of series, and rows of an average block of equal ones; of a table by years, fewer.
_MOST_VALUES, _FEW_NUMBERS, _LONG_BLOCK, _LONG_BLOCK_OF_YEARS = 20, 4, 12, 2


def may_tell_series(name: str) -> bool:
    """Whether a column is of such a name that it may tell one series from another."""
    words = set(parts_of(name))
    return bool(words & known.OF_SERIES or known.CHINESE_SERIES.search(name)) and not words & JUDGES


def several_series(name: str, texts: Sequence[str], long_block: int = _LONG_BLOCK) -> tuple[int, Mistake] | None:
    """The first place at which a column that nobody asked for tells that the rows are no longer of the same series.

    `texts` are those of its cells, in the order of time; empty ones say nothing. A block of `long_block` equal ones is
    made by no flag of single values. The mistake comes without its row; None where the rows may be of one series.
    """
    values = {text.casefold() for cell in {*texts} if (text := " ".join(cell.split()))}
    words, of_series = set(parts_of(name)), may_tell_series(name)
    short = bool(words & known.CODED) and all(len(value) <= _SHORT_CODE for value in values)
    if len(values) < 2 or words & JUDGES or (not of_series and (words & known.VARYING or short)):
        return None
    words_of_values = [re.findall(r"[^\W\d_]+", value) for value in values]
    if all(value and known.HOW_GOOD.issuperset(value) for value in words_of_values):
        return None
    saying, numbers = understand(name), all(map(looks_like_number, values))
    a_quantity = saying.units or saying.kinds & {*known.QUANTITIES, WordKind.OTHER, WordKind.STATISTIC}
    if numbers and (a_quantity or any("." in value for value in values)):
        return None
    filled = [(place, text) for place, cell in enumerate(texts) if (text := " ".join(cell.split()))]
    pairs = ((place, before, after) for (_, before), (place, after) in pairwise(filled))
    changes = [change for change in pairs if change[1].casefold() != change[2].casefold()]
    in_blocks = len(values) <= _MOST_VALUES and len(filled) >= long_block * (len(changes) + 1)
    if of_series:
        each_its_own = len(values) > _MOST_VALUES and len(values) > len(filled) / 4
        one_series = not in_blocks and (len(values) > _FEW_NUMBERS if numbers else each_its_own)
    else:
        one_series = not in_blocks or bool(a_quantity) or len(filled) <= len(texts) / 2
    if one_series:
        return None
    place, before, after = changes[0]
    problem = f"{name} changes from {before} to {after}: the rows are not those of one series"
    mend = f"keep the rows of one {name}; if all are of one series, delete this column"
    return place, Mistake(problem, "the rows of one series", mend, column=name, value=after)


def series_mistakes(
    table: InflowTable, beside: Sequence[int], rows: Sequence[int], *, years: bool, column: str | None = None
) -> Iterator[Mistake]:
    """Refuse a table whose rows are those of several series, one after another.

    `beside` are the places of the columns that are passed over, `rows` the numbers of the rows with values, in the
    order of time; a row may be that of a year. `column` is what the caller asks for.
    """
    cells_of = dict(table.rows)
    long_block = _LONG_BLOCK_OF_YEARS if years else _LONG_BLOCK
    for at in beside:
        name, texts = table.header.cells[at], [cells_of[row][at] for row in rows]
        change = several_series(name, texts, long_block)
        if change is not None:
            first = next(filter(None, texts))
            mend = f"name the rows to read, such as {table.column_option(column, f'{name}={first}')}; if all are of one"
            yield replace(change[1], row=rows[change[0]], mend=f"{mend} series, delete this column")
