"""The unit of a record, from the caller, a comment, the header or an attribute; contradictions are mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import Mistake
from reservoir.hydro.calendar import SECONDS_PER_DAY, Calendar, TimeStep
from reservoir.hydro.inflow import ASSUMED
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from reservoir.io.records import words as known
from reservoir.io.records.table import InflowTable
from reservoir.io.records.words import Saying, Word, WordKind, folded, judged, understand, words_of

#: Volume that 1 m3/s carries in a day.
HM3_PER_M3S_DAY = SECONDS_PER_DAY / 1e6
#: Units that are understood.
ACCEPTED = f"{', '.join(FLOW_M3S)} (mean flow) or {', '.join(VOLUME_HM3)} (volume, or volume/day)"
#: Days of times of one length, per which a volume is a flow, and steps whose volume is one per such a time.
_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0}
_STEPS = {"month": TimeStep.MONTH, "ten-days": TimeStep.TEN_DAYS}


@dataclass(frozen=True)
class InflowUnit:
    """A unit of mean flow, or of the volume that a row's period brings."""

    #: As in the table of units.
    name: str
    #: One of it in m3/s, or in hm3 where it is a volume.
    size: float
    #: Whether a value is the volume of its period.
    is_volume: bool
    #: What that period must be, where the unit names it, as ``hm3/month`` does.
    of_step: TimeStep | None = None

    def flow_m3s(self, values: NDArray[np.float64], calendar: Calendar) -> NDArray[np.float64]:
        """Convert values of this unit, shape (years, steps), to mean flow (m3/s) with each month's real days."""
        return values * self.size / calendar.hm3_per_m3s if self.is_volume else values * self.size

    def equals(self, other: InflowUnit) -> bool:
        """Whether values of both are the same."""
        return (self.size, self.is_volume) == (other.size, other.is_volume)


#: Units by their names: of flow, of volume, and of volume for a time.
_UNITS = {name: InflowUnit(name, size, is_volume=False) for name, size in FLOW_M3S.items()}
for _name, _size in VOLUME_HM3.items():
    _UNITS[_name] = InflowUnit(_name, _size, is_volume=True)
    for _time, _days in _DAYS.items():
        _per_time = f"{_name}/{_time}"
        _UNITS[_per_time] = InflowUnit(_per_time, _size / (_days * HM3_PER_M3S_DAY), is_volume=False)
    for _time, _step in _STEPS.items():
        _UNITS[f"{_name}/{_time}"] = InflowUnit(_name, _size, is_volume=True, of_step=_step)


def unit_named(text: str) -> InflowUnit | None:
    """The one unit that a text names; None if it names none, several, or something that is not understood."""
    unit = understand(text).unit
    return None if unit is None else _UNITS[unit]


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


def claims_of(comment: str) -> list[tuple[str, Saying]]:
    """Units that a comment claims for the values, as written and as understood; one that is not has strange words."""
    text = _ABBREVIATED.sub(" ", folded(comment)).strip(" \t*=-~#")
    factor = _FACTOR.search(text)
    if factor:
        return [(factor[0], understand(factor[0]))]
    keyed = _WITH_SIGN.search(text) or _AT_START.match(text)
    if keyed:
        # A further sentence may follow, if it is no part of the unit.
        first, *others = re.split(r"[;,](?=\s|$)|\.(?=\s|$)", keyed[1].strip(), maxsplit=1)
        saying, further = understand(first), [understand(other) for other in others]
        if any((other.strange and not other.names) or set(other.units) - set(saying.units) for other in further):
            return [(keyed[1].strip(), understand(keyed[1]))]
        return [(first.strip(), saying)]
    return [claim for segment in _SEGMENTS.split(text) if (claim := _in_segment(segment.strip())) is not None]


def _in_segment(segment: str) -> tuple[str, Saying] | None:
    words = words_of(segment)
    if judged(words).is_other:
        return None
    behind = _IN.search(segment)
    if behind:
        tail = words_of(behind[1])
        speaks = any(word.kind in known.QUANTITIES or word.text in ("all", "data") for word in words)
        if _is_claim(tail) or (speaks and tail and _begins_unit(tail[0])):
            return behind[1], judged(tail)
    return (segment, judged(words)) if _is_claim(words) else None


def _is_claim(words: Sequence[Word]) -> bool:
    """Whether there is a unit, and nothing but what belongs to one."""
    rest = _without_quantities(words)
    saying = judged(rest)
    return any(map(_is_unit, rest)) and not saying.names and not saying.is_other


def _begins_unit(word: Word) -> bool:
    """Whether what the values are said to be in begins with a unit, known or not."""
    multiplies = word.kind in (WordKind.STRANGE, WordKind.NUMBER) and known.MULTIPLIERS.fullmatch(word.text) is not None
    return multiplies or _is_unit(word) or word.text in known.DEPTHS


def _is_unit(word: Word) -> bool:
    unread = word.kind is WordKind.STRANGE and known.UNREAD_UNITS.fullmatch(word.text) is not None
    return word.kind is WordKind.UNIT or unread


def _without_quantities(words: Sequence[Word]) -> list[Word]:
    """Leave numbers out, with the unit that follows; a power of ten at the very beginning multiplies the unit."""
    others, quantity = list[Word](), False
    for place, word in enumerate(words):
        is_number = word.kind is WordKind.NUMBER and not (place == 0 and _POWER_OF_TEN.fullmatch(word.text))
        if not is_number and not (quantity and word.kind in (WordKind.UNIT, WordKind.STRANGE)):
            others.append(word)
        quantity = is_number
    return others


class _Claim(NamedTuple):
    """What somebody says that the unit is: who, in which words, how these are understood, and a mistake's place."""

    source: str
    text: str
    saying: Saying
    at: partial[Mistake]
    #: Whether the name of a column says it.
    of_name: bool = False

    @property
    def is_name(self) -> bool:
        """Whether what is not understood is the number of a station in brackets, or a letter or two beside its name."""
        saying = self.saying
        name = bool(saying.names) and not saying.units and not saying.kinds & {*known.QUANTITIES, WordKind.OTHER}
        return name and all(
            word not in known.DEPTHS and re.fullmatch(r"\d{1,3}|[a-z]{1,2}", word) for word in saying.strange
        )


def choose_unit(
    table: InflowTable,
    value_column: str | None,
    unit_texts: Sequence[tuple[str, str]],
    argument: str | None,
    step: TimeStep = TimeStep.MONTH,
) -> tuple[InflowUnit, str, tuple[Mistake, ...]]:
    """Find the unit of `table`: m3/s where nobody names one and the values are said to be flows.

    Comments may name it (``# unit: hm3``), the caller's `argument`, and names of columns: `unit_texts` has these and
    what of each may be a unit (``inflow_m3s``, ``Jan (hm3)``). `value_column` is None where each month has its own;
    `step` is what a row stands for.

    Returns
    -------
    InflowUnit, str, tuple of Mistake
        The unit, where it was said, and what is wrong about it.
    """
    claims = [*_claims(table, unit_texts, argument)]
    if any(claim.saying.unit and not claim.of_name for claim in claims):
        claims = [claim for claim in claims if not (claim.of_name and claim.is_name)]
    wrong = list[Mistake]()
    for claim in (claim for claim in claims if claim.saying.unit is None):
        units, strange = ", ".join(claim.saying.units), " ".join(claim.saying.strange)
        problem = f"two units: {units}" if len(claim.saying.units) > 1 else "unknown unit"
        problem = f'{units} with the unknown "{strange}"' if units and strange else problem
        wrong.append(claim.at(problem, ACCEPTED, "convert the values, or give one of these units", value=claim.text))
    wrong += _no_inflow(table, value_column) if value_column is not None else ()
    if wrong or not claims:
        return _UNITS["m3/s"], ASSUMED, tuple(wrong or _doubts(table, value_column))
    first, unit, mistakes = claims[0], _UNITS[claims[0].saying.unit or ""], list[Mistake]()
    for claim in claims:
        if not _UNITS[claim.saying.unit or ""].equals(unit):
            problem = f"contradictory units: {first.source} gives {first.text}, {claim.source} gives {claim.text}"
            mend = "check which unit is right, and correct or remove the other"
            mistakes.append(claim.at(problem, "one unit", mend))
    for claim in claims:
        if _UNITS[claim.saying.unit or ""].of_step not in (None, step):
            problem = f"values of {claim.text}, but a row is that of a {step.noun}"
            mend = "convert the values, or name the unit of a flow or of the volume of a row"
            mistakes.append(claim.at(problem, ACCEPTED, mend, value=claim.text))
    return unit, f"from {first.source}", tuple(mistakes)


def _claims(table: InflowTable, unit_texts: Sequence[tuple[str, str]], argument: str | None) -> Iterator[_Claim]:
    """What the caller says, then comments, the header and columns of units."""
    if argument is not None:
        saying = understand(argument)
        saying = understand("") if saying.kinds - {WordKind.UNIT} else saying
        yield _Claim("the unit argument", argument, saying, partial(Mistake, column="unit"))
    for comment in table.comments:
        for text, saying in () if comment.says("caveat") is not None else claims_of(comment.text):
            source = f"the {comment.noun} in row {comment.number}"
            # A name beside a unit that is claimed may be a multiplier in a language that is not known here.
            whole = understand("") if saying.names else saying
            yield _Claim(source, text, whole, partial(Mistake, row=comment.number))
    sayings = set()
    for column, text in unit_texts:
        saying = understand(text)
        # A number of a series, such as 19450_00060_00003, is no unit.
        if any(map(str.isalpha, text)) and (saying.units or saying.strange) and saying not in sayings:
            sayings.add(saying)
            at = partial(Mistake, row=table.header.number, column=column)
            of_name = text in column
            source = "the column name" if of_name else "the row of units"
            yield _Claim(source, " ".join(saying.strange) or ", ".join(saying.units), saying, at, of_name)
    for place, name in enumerate(table.header.cells):
        if name.casefold() in known.UNIT_NAMES:  # it says the unit of each row: of one series always the same
            first_rows = {row.cells[place].strip(): row.number for row in reversed(table.rows)}
            for text, number in first_rows.items():
                if text:
                    at = partial(Mistake, row=number, column=name)
                    yield _Claim(f"the column {name}", text, understand(text), at)


#: A column of daily flows of the US Geological Survey, and its statistic: 00003 is the mean.
_OF_SURVEY = re.compile(r"(?:\d+_)?00060_(\d{5})")


def _no_inflow(table: InflowTable, column: str) -> Iterator[Mistake]:
    """Refuse a column of another quantity, or of another statistic."""
    if understand(column).is_other:
        problem, expected = "the column does not seem to be inflow", "monthly inflow, as mean flow or volume"
        mend = "keep the inflow column; if this is it, name it inflow_m3s, or inflow with another unit"
        yield table.at_header(problem, expected, mend, column)
    statistic = _OF_SURVEY.fullmatch(column)
    if statistic and statistic[1] != "00003":
        problem = f"the column is no mean: {statistic[1]} is another statistic of the day"
        mend = "give the column of daily means, which ends in 00003"
        yield table.at_header(problem, "daily means", mend, column)


def _doubts(table: InflowTable, column: str | None) -> Iterator[Mistake]:
    """Why m3/s must not be taken for granted."""
    if column is not None and not understand(column).means_flow:
        mend = 'name the column inflow_m3s (or inflow_hm3, ...), add a line "# unit: m3/s", or give the unit'
        yield table.at_header("the unit of the values is not given", ACCEPTED, f"{mend} (--unit m3/s)", column)
        return
    for comment in table.comments:
        # Units of flows and volumes that it speaks of without a number before them.
        segments = map(words_of, _SEGMENTS.split(folded(comment.text)))
        words = [word for segment in segments if not judged(segment).is_other for word in _without_quantities(segment)]
        words = [word for word in words if _is_unit(word) and word.text not in known.UNCERTAIN_IN_PROSE]
        others = [word.unit or word.text for word in words if word.unit != "m3/s"]
        if others:
            problem = f"a {comment.noun} mentions {others[0]}, but the unit of the values is not given"
            mend = f'add a line such as "# unit: m3/s" or "# unit: {others[0]}", or give --unit'
            yield Mistake(problem, ACCEPTED, mend, row=comment.number)
