"""Which unit the comments of an inflow file claim: ``# unit: hm3``, ``# all values in hm3``, ``# inflow (hm3)``.

Prose that merely mentions a quantity, such as ``mean 1230 m3/s``, claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from reservoir.io.inflow_csv import vocabulary as known
from reservoir.io.inflow_csv.column_words import Saying, judged, understand
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
