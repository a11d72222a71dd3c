"""The unit of an inflow file, from the caller, a comment or the header; contradictions are mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake
from reservoir.hydro.calendar import SECONDS_PER_DAY, Calendar
from reservoir.hydro.inflow import ASSUMED
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from reservoir.io.inflow_csv import vocabulary as known
from reservoir.io.inflow_csv.column_words import Saying, judged, understand
from reservoir.io.inflow_csv.record import Record
from reservoir.io.inflow_csv.table import InflowTable
from reservoir.io.inflow_csv.unit_words import Kind, Word, folded, words_of

_KEY = "(?:units?|einheit(?:en)?|unités?|unidad(?:es)?|unidades?|unità|eenheid|单位)"
_WITH_SIGN = re.compile(rf"(?<!\w){_KEY}(?:\s(?:of|for|in|de)\s[^:=]{{1,60}}?)?\s*(?:[:=]|\s(?:is|are)\s)(.*)")
_AT_START = re.compile(rf"\W*{_KEY}(?!\w)(.*)")
_SEGMENTS = re.compile(r"[,;:.!?](?=\s|$)|[()\[\]{}]|\s-\s")
#: A point that ends an abbreviation, as in "Mio. m3", ends no sentence.
_ABBREVIATED = re.compile(r"\.\s+(?=(?:h?m|mm|ft)3|m3|acre|cfs|af\b|mcm|cubic|亿|立方)")
#: "x 1000", "multiply by 10^6": what the values are to be multiplied by.
_FACTOR = re.compile(
    r"(?:\bmultipl(?:y|ied)(?: (?:values|flows|all|each|it|them))?|\bdivided?|\bscaled|\btimes|(?<!\w)x|\*)"
    r"\s*(?:by\s*)?"
    r"(?:10+|10\^\d+|1?e\d+|1(?:,000)+)(?![\d.])"
)
_IN = re.compile(r"(?:^|\s)in\s+(.*)")
_POWER_OF_TEN = re.compile("10+")


class Claim(NamedTuple):
    """What a comment claims the unit to be, as written, and how it was understood."""

    text: str
    saying: Saying


def claims_of(comment: str) -> list[Claim]:
    """Units that a comment claims for the values; one that is not understood has no unit, or strange words."""
    text = _ABBREVIATED.sub(" ", folded(comment)).strip(" \t*=-~#")
    factor = _FACTOR.search(text)
    if factor:
        return [Claim(factor[0], understand(factor[0]))]
    keyed = _WITH_SIGN.search(text) or _AT_START.match(text)
    if keyed:
        return [_keyed(keyed[1])]
    return [claim for segment in _SEGMENTS.split(text) if (claim := _in_segment(segment.strip())) is not None]


def mentions_of(comment: str) -> list[str]:
    """Units of flows and volumes that a comment speaks of without a number before them."""
    segments = [words_of(segment) for segment in _SEGMENTS.split(folded(comment))]
    words = [word for segment in segments if not judged(segment).is_other for word in _without_quantities(segment)]
    return [word.unit or word.text for word in words if _is_unit(word) and word.text not in known.UNCERTAIN_IN_PROSE]


def _keyed(rest: str) -> Claim:
    """What stands behind ``unit:``; a further sentence may follow, if it is no part of the unit."""
    first, *others = re.split(r"[;,](?=\s|$)|\.(?=\s|$)", rest.strip(), maxsplit=1)
    saying = understand(first)
    beside = [understand(other) for other in others]
    if any((other.strange and not other.names) or set(other.units) - set(saying.units) for other in beside):
        return Claim(rest.strip(), understand(rest))
    return Claim(first.strip(), saying)


def _in_segment(segment: str) -> Claim | None:
    words = words_of(segment)
    if judged(words).is_other:
        return None
    found = _IN.search(segment)
    if found:
        tail = words_of(found[1])
        if _is_claim(tail) or (_speaks_of_values(words) and _begins_with_unit(tail)):
            return Claim(found[1], judged(tail))
    if _is_claim(words):
        return Claim(segment, judged(words))
    return None


def _is_claim(words: Sequence[Word]) -> bool:
    """Whether there is a unit, and nothing but what belongs to one."""
    rest = _without_quantities(words)
    if not any(_is_unit(word) for word in rest):
        return False
    saying = judged(rest)
    return not saying.names and not saying.is_other


def _begins_with_unit(words: Sequence[Word]) -> bool:
    """Whether what the values are said to be in begins like a unit, known or not."""
    first = next(iter(words), None)
    return first is not None and (
        _is_unit(first)
        or first.text in known.DEPTHS
        or (first.kind in (Kind.STRANGE, Kind.NUMBER) and known.MULTIPLIERS.fullmatch(first.text) is not None)
    )


def _speaks_of_values(words: Sequence[Word]) -> bool:
    return any(word.kind in (Kind.FLOW, Kind.VOLUME, Kind.RUNOFF) or word.text in ("all", "data") for word in words)


def _is_unit(word: Word) -> bool:
    return word.kind is Kind.UNIT or (word.kind is Kind.STRANGE and known.UNREAD_UNITS.fullmatch(word.text) is not None)


def _without_quantities(words: Sequence[Word]) -> list[Word]:
    """Leave numbers out, with the unit that follows; a power of ten at the very beginning multiplies the unit."""
    kept: list[Word] = []
    quantity = False
    for place, word in enumerate(words):
        if word.kind is Kind.NUMBER and not (place == 0 and _POWER_OF_TEN.fullmatch(word.text)):
            quantity = True
        elif quantity and word.kind in (Kind.UNIT, Kind.STRANGE):
            quantity = False
        else:
            quantity = False
            kept.append(word)
    return kept


#: Volume that 1 m3/s carries in a day.
HM3_PER_M3S_DAY = SECONDS_PER_DAY / 1e6
#: Units that are understood.
ACCEPTED = f"{', '.join(FLOW_M3S)} (mean flow) or {', '.join(VOLUME_HM3)} (volume, or volume/day)"
#: Days of times of one length, per which a volume is a flow, and steps whose volume is one per such a time.
_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0}
_STEPS = {"month": TimeStep.MONTH, "ten-days": TimeStep.TEN_DAYS}


@dataclass(frozen=True)
class InflowUnit:
    """A unit of mean flow, or of the volume that a row's period brings.

    Parameters
    ----------
    name : str
        As in the table of units.
    size : float
        One of it in m3/s, or in hm3 where it is a volume.
    is_volume : bool
        Whether a value is the volume of its period.
    of_step : TimeStep, optional
        What that period must be, where the unit names it, as ``hm3/month`` does.
    """

    name: str
    size: float
    is_volume: bool
    of_step: TimeStep | None = None

    def flow_m3s(self, values: NDArray[np.float64], calendar: Calendar) -> NDArray[np.float64]:
        """Convert values of this unit, shape (years, steps), to mean flow (m3/s) with each month's real days."""
        return values * self.size / calendar.hm3_per_m3s if self.is_volume else values * self.size

    def flow_of_days_m3s(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert flows, or volumes of one day each, to mean flow (m3/s)."""
        return values * (self.size / HM3_PER_M3S_DAY if self.is_volume else self.size)


def _known_units() -> dict[str, InflowUnit]:
    """Units by their names: of flow, of volume, and of volume for a time."""
    units = {name: InflowUnit(name, size, is_volume=False) for name, size in FLOW_M3S.items()}
    for volume, size in VOLUME_HM3.items():
        units[volume] = InflowUnit(volume, size, is_volume=True)
        for time, days in _DAYS.items():
            name = f"{volume}/{time}"
            units[name] = InflowUnit(name, size / (days * HM3_PER_M3S_DAY), is_volume=False)
        for time, step in _STEPS.items():
            units[f"{volume}/{time}"] = InflowUnit(volume, size, is_volume=True, of_step=step)
    return units


_UNITS = _known_units()


def unit_named(text: str) -> InflowUnit | None:
    """The one unit that a text names; None if it names none, several, or something that is not understood."""
    saying = understand(text)
    return _UNITS[saying.units[0]] if len(saying.units) == 1 and not saying.strange else None


#: Names of a column that tells the unit of each row.
_UNIT_COLUMNS = frozenset({"unit", "units", "uom", "einheit", "unité", "unidad", "unidade", "单位"})


@dataclass(frozen=True)
class UnitChoice:
    """The unit of a file, where it was said, and what is wrong about it."""

    unit: InflowUnit = _UNITS["m3/s"]
    said_by: str = ASSUMED
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True)
class _Claim:
    source: str
    text: str
    saying: Saying
    at: partial[Mistake]

    @property
    def unit(self) -> InflowUnit | None:
        whole = len(self.saying.units) == 1 and not self.saying.strange
        return _UNITS[self.saying.units[0]] if whole else None


def choose_unit(table: InflowTable, record: Record, argument: str | None) -> UnitChoice:
    """Find the unit of `table`: m3/s where nobody names one and the values are said to be flows.

    Parameters
    ----------
    table : InflowTable
        Its comments may name a unit: ``# unit: hm3``.
    record : Record
        Its headers may name a unit: ``inflow_m3s``, ``Jan (hm3)``.
    argument : str or None
        The unit that the caller names.
    """
    claims = [*_argued(argument), *_commented(table), *_headed(table, record), *_in_cells(table)]
    wrong = (*(_unknown(claim) for claim in claims if claim.unit is None), *_of_something_else(table, record))
    known = [(claim, claim.unit) for claim in claims if claim.unit is not None]
    if wrong:
        return UnitChoice(mistakes=wrong)
    if not known:
        return UnitChoice(mistakes=tuple(_doubts(table, record)))
    first, unit = known[0]
    differing = [claim for claim, other in known if (other.size, other.is_volume) != (unit.size, unit.is_volume)]
    mistakes = [_contradiction(first, claim) for claim in differing]
    mistakes += [
        _of_other_rows(claim, record) for claim, other in known if other.of_step not in (None, record.period.step)
    ]
    return UnitChoice(unit, f"from {first.source}", tuple(mistakes))


def _argued(argument: str | None) -> Iterator[_Claim]:
    if argument is not None:
        saying = understand(argument)
        if saying.kinds - {Kind.UNIT}:
            saying = understand("")
        yield _Claim("the unit argument", argument, saying, partial(Mistake, column="unit"))


def _commented(table: InflowTable) -> Iterator[_Claim]:
    for comment in table.comments:
        for text, saying in () if comment.says("caveat") is not None else claims_of(comment.text):
            source = f"the {comment.noun} in row {comment.number}"
            # A name beside a unit that is claimed may be a multiplier in a language that is not known here.
            whole = saying if not saying.names else understand("")
            yield _Claim(source, text, whole, partial(Mistake, row=comment.number))


def _in_cells(table: InflowTable) -> Iterator[_Claim]:
    """What a column of units says: of one series in all rows the same."""
    for place, name in enumerate(table.header.cells):
        if name.casefold() in _UNIT_COLUMNS:
            first = {row.cells[place].strip(): row.number for row in reversed(table.rows)}
            for text, row in first.items():
                if text:
                    yield _Claim(f"the column {name}", text, understand(text), partial(Mistake, row=row, column=name))


def _headed(table: InflowTable, record: Record) -> Iterator[_Claim]:
    seen = set()
    for column, text in record.unit_texts:
        saying = understand(text)
        if not any(map(str.isalpha, text)):
            continue  # a number of a series, such as 19450_00060_00003, is no unit
        if (saying.units or saying.strange) and saying not in seen:
            seen.add(saying)
            at = partial(Mistake, row=table.header.number, column=column)
            yield _Claim("the column name", " ".join(saying.strange) or ", ".join(saying.units), saying, at)


def _of_something_else(table: InflowTable, record: Record) -> Iterator[Mistake]:
    if record.value_column is not None and understand(record.value_column).is_other:
        yield table.at_header(
            "the column does not seem to be inflow",
            "monthly inflow, as mean flow or volume",
            "keep the inflow column; if this is it, name it inflow_m3s, or inflow with another unit",
            record.value_column,
        )
    name = record.value_column or ""
    statistic = _OF_SURVEY.fullmatch(name)
    if statistic and statistic[1] != "00003":
        problem = f"the column is no mean: {statistic[1]} is another statistic of the day"
        mend = "give the column of daily means, which ends in 00003"
        yield table.at_header(problem, "daily means", mend, name)


#: A column of daily flows of the US Geological Survey, and its statistic: 00003 is the mean.
_OF_SURVEY = re.compile(r"(?:\d+_)?00060_(\d{5})")


def _doubts(table: InflowTable, record: Record) -> Iterator[Mistake]:
    """Why m3/s must not be taken for granted."""
    if record.value_column is not None and not understand(record.value_column).means_flow:
        mend = 'name the column inflow_m3s (or inflow_hm3, ...), add a line "# unit: m3/s", or give the unit'
        problem = "the unit of the values is not given"
        yield table.at_header(problem, ACCEPTED, f"{mend} (--unit m3/s)", record.value_column)
        return
    for comment in table.comments:
        others = [unit for unit in mentions_of(comment.text) if unit != "m3/s"]
        if others:
            problem = f"a {comment.noun} mentions {others[0]}, but the unit of the values is not given"
            mend = f'add a line such as "# unit: m3/s" or "# unit: {others[0]}", or give --unit'
            yield Mistake(problem, ACCEPTED, mend, row=comment.number)


def _unknown(claim: _Claim) -> Mistake:
    units = ", ".join(claim.saying.units)
    problem = f"two units: {units}" if len(claim.saying.units) > 1 else "unknown unit"
    if claim.saying.units and claim.saying.strange:
        problem = f'{units} with the unknown "{" ".join(claim.saying.strange)}"'
    return claim.at(problem, ACCEPTED, "convert the values, or give one of these units", value=claim.text)


def _of_other_rows(claim: _Claim, record: Record) -> Mistake:
    problem = f"values of {claim.text}, but a row is that of a {record.period.step.noun}"
    mend = "convert the values, or name the unit of a flow or of the volume of a row"
    return claim.at(problem, ACCEPTED, mend, value=claim.text)


def _contradiction(first: _Claim, second: _Claim) -> Mistake:
    problem = f"contradictory units: {first.source} gives {first.text}, {second.source} gives {second.text}"
    return second.at(problem, "one unit", "check which unit is right, and correct or remove the other")
