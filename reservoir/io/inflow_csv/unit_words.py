"""Split a header or a sentence into words and classify each: a unit, a quantity, a name, or unknown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from reservoir.io.inflow_csv import vocabulary as known


class Kind(Enum):
    """What a word is."""

    UNIT = "a unit that is known"
    NUMBER = "a number"
    STRANGE = "a unit, a multiplier or a rate that is not known"
    STATISTIC = "not the mean or the sum of a month"
    DAILY = "of a day"
    FLOW = "a flow"
    VOLUME = "a volume"
    RUNOFF = "a flow or a volume"
    OTHER = "another quantity"
    PLAIN = "a word that changes nothing"
    NAME = "a name, perhaps"
    OPEN = "an opening bracket"
    CLOSE = "a closing bracket"


class Word(NamedTuple):
    """A word, or the few that name a unit; `unit` is its name in the table of units."""

    kind: Kind
    text: str
    unit: str = ""


_SPELLINGS = {**known.SPELLINGS, **known.RATES}
_UNIT_OF = {spelling: unit for unit, words in _SPELLINGS.items() for spelling in words}
_LONGEST = max(spelling.count(" ") + 1 for spelling in _UNIT_OF)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−﹣－", "-") | dict.fromkeys("·⋅•∙․⸱_", " "))
_CJK = r"\u3400-\u9fff"
_BRACKETS = {"(": Kind.OPEN, "[": Kind.OPEN, "{": Kind.OPEN, ")": Kind.CLOSE, "]": Kind.CLOSE, "}": Kind.CLOSE}
_WORDS = {
    Kind.FLOW: known.FLOW,
    Kind.VOLUME: known.VOLUME,
    Kind.RUNOFF: known.RUNOFF,
    Kind.PLAIN: known.PLAIN | known.SHORT,
    Kind.STATISTIC: known.STATISTIC,
    Kind.DAILY: known.DAILY,
    Kind.STRANGE: known.STRANGE,
    Kind.OTHER: known.OTHER,
}
_CHINESE = {
    Kind.OTHER: known.CHINESE_OTHER,
    Kind.STRANGE: known.CHINESE_UNIT,
    Kind.VOLUME: known.CHINESE_VOLUME,
    Kind.FLOW: known.CHINESE_FLOW,
    Kind.RUNOFF: known.CHINESE_RUNOFF,
}
#: Words of which others are joined; short ones that change nothing would be found in names.
_PARTS = {
    **dict.fromkeys((word for word in known.PLAIN | known.OTHER_PARTS if len(word) > 2), Kind.PLAIN),
    **dict.fromkeys((spelling for spelling in _UNIT_OF if spelling.isalnum() and len(spelling) > 2), Kind.UNIT),
    **dict.fromkeys(known.DAILY, Kind.DAILY),
    **dict.fromkeys(known.VOLUME | known.RUNOFF | {"v"}, Kind.VOLUME),
    **dict.fromkeys(known.OTHER, Kind.OTHER),
    **dict.fromkeys(known.FLOW, Kind.FLOW),
    **dict.fromkeys(known.STATISTIC_PARTS, Kind.STATISTIC),
    **dict.fromkeys((f"{letter}{percent}" for letter in "pq" for percent in range(1, 100)), Kind.STATISTIC),
}
_LONGEST_JOINED = 40


def folded(text: str) -> str:
    """One spelling for what typography writes in many: ``m³·s⁻¹`` and ``M^3 s-1`` are ``m3 s-1``."""
    # Compatibility would make 10⁶ of a million and 106 of both.
    text = re.sub("([0-9])([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"\1^\2", text)
    text = unicodedata.normalize("NFKC", text).translate(_DASHES).casefold()
    text = re.sub(r"(?<![a-z])([hk]?m|mm|ft|км|м)\s?(?:\^|\*\*)\s?3(?!\d)", r"\g<1>3", text)
    return re.sub(r"(?<![a-z])s\s?(?:\^|\*\*)\s?\(?-1\)?", "s-1", text)


def parts_of(name: str) -> list[str]:
    """The plain words of a column's name, also where capitals separate them: ``SensorType`` is sensor, type."""
    apart = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])", " ", name)
    return re.findall(r"[^\W\d_]+", folded(apart))


def words_of(text: str) -> tuple[Word, ...]:
    """Cut a text into words, units as long as they can be."""
    return tuple(_matched(list(_tokens(folded(text)))))


def _tokens(text: str) -> Iterator[str]:
    text = re.sub(rf"(?<=[{_CJK}])(?=[a-z0-9])|(?<=[a-z0-9])(?=[{_CJK}])", " ", text)
    # 入库水量亿m3: the multiplier belongs to the unit, but 百亿 is another.
    text = re.sub(r"(?<![十百千万亿兆])亿\s?(?=立方米|m3)", " 亿 ", text)
    # One word each, so that a comment about them is found; of these only litres a second are read.
    text = re.sub(r"(?<![a-z])(?:l|lit[re]{2}s?)\s?/\s?s(?:ec)?(?![a-z])", " lps ", text)
    text = re.sub(r"(?<![a-z])ml\s?/\s?s(?:ec)?(?![a-z])", " mlps ", text)
    text = re.sub(r"(?<![a-z])mm\s?/\s?(?:d|day|month|mon|a|yr|year)(?![a-z])", " mmday ", text)
    for token in re.findall(r"""[()\[\]{}/]|[^\s()\[\]{}/<>,;:=|"'.?!]+""", text):
        if "-" in token.strip("-") and token not in _UNIT_OF and token != "s-1":
            yield from (part for part in token.split("-") if part)
        elif token.strip("-"):
            yield token


def _matched(tokens: Sequence[str]) -> Iterator[Word]:
    place = 0
    while place < len(tokens):
        for length in range(min(_LONGEST, len(tokens) - place), 0, -1):
            text = " ".join(tokens[place : place + length])
            if text in _UNIT_OF:
                yield Word(Kind.UNIT, text, _UNIT_OF[text])
                break
        else:
            length = 1
            yield Word(_kind(tokens[place]), tokens[place])
        place += length


def _joined(token: str) -> Kind | None:
    """What several known words say that are written together: that they are a statistic, or not the inflow."""
    found = _cut_up(token) if len(token) <= _LONGEST_JOINED else None
    if found is None or len(found) < 2:
        return None
    if Kind.STATISTIC in found:
        return Kind.STATISTIC
    return Kind.OTHER if Kind.OTHER in found and Kind.FLOW not in found else None


@lru_cache(maxsize=4096)  # an end that is none is met by many beginnings
def _cut_up(token: str) -> tuple[Kind, ...] | None:
    """The kinds of the known words that a token consists of; None of another token."""
    if not token:
        return ()
    for length in range(len(token), 0, -1):
        kind = _PARTS.get(token[:length]) or (Kind.NUMBER if token[:length].isdecimal() else None)
        rest = None if kind is None else _cut_up(token[length:])
        if kind is not None and rest is not None:
            return (kind, *rest)
    return None


def _kind(token: str) -> Kind:
    if token in _BRACKETS:
        return _BRACKETS[token]
    if token.isdecimal():
        return Kind.NUMBER
    for kind, words in _WORDS.items():
        if token in words:
            return kind
    joined = _joined(token)
    if joined is not None:
        return joined
    if re.search(f"[{_CJK}]", token):
        return next((kind for kind, form in _CHINESE.items() if form.match(token)), Kind.NAME)
    short = len(token) < 4 and token.isascii()
    if short or not token.isalpha() or known.STRANGE_FORMS.fullmatch(token):
        return Kind.STRANGE
    return Kind.NAME
