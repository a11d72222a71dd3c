"""Headers and sentences, cut into words of known kinds, and what they say of values: a unit, or what forbids one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from reservoir.io.records import vocabulary as known
from reservoir.io.records.vocabulary import CHINESE, RATES, SPELLINGS, WORDS, Kind


class Word(NamedTuple):
    """A word, or the few that name a unit; `unit` is its name in the table of units."""

    kind: Kind
    text: str
    unit: str = ""


_UNIT_OF = {spelling: unit for unit, words in {**SPELLINGS, **RATES}.items() for spelling in words}
_LONGEST = max(spelling.count(" ") + 1 for spelling in _UNIT_OF)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−﹣－", "-") | dict.fromkeys("·⋅•∙․⸱_", " "))
_CJK = r"\u3400-\u9fff"
_BRACKETS = {"(": Kind.OPEN, "[": Kind.OPEN, "{": Kind.OPEN, ")": Kind.CLOSE, "]": Kind.CLOSE, "}": Kind.CLOSE}
#: Words of which others are joined; short ones that change nothing would be found in names.
_PARTS = {
    **dict.fromkeys((word for word in known.PLAIN | known.OTHER_PARTS if len(word) > 2), Kind.PLAIN),
    **dict.fromkeys((spelling for spelling in _UNIT_OF if spelling.isalnum() and len(spelling) > 2), Kind.UNIT),
    **dict.fromkeys(WORDS[Kind.DAILY], Kind.DAILY),
    **dict.fromkeys(WORDS[Kind.VOLUME] | WORDS[Kind.RUNOFF] | {"v"}, Kind.VOLUME),
    **dict.fromkeys(WORDS[Kind.OTHER], Kind.OTHER),
    **dict.fromkeys(WORDS[Kind.FLOW], Kind.FLOW),
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
    for kind, words in WORDS.items():
        if token in words:
            return kind
    # Several known words that are written together: a statistic, or not the inflow.
    kinds = (_cut_up(token) if len(token) <= _LONGEST_JOINED else None) or ()
    if len(kinds) > 1 and Kind.STATISTIC in kinds:
        return Kind.STATISTIC
    if len(kinds) > 1 and Kind.OTHER in kinds and Kind.FLOW not in kinds:
        return Kind.OTHER
    if re.search(f"[{_CJK}]", token):
        return next((kind for kind, form in CHINESE.items() if form.match(token)), Kind.NAME)
    short = len(token) < 4 and token.isascii()
    if short or not token.isalpha() or known.STRANGE_FORMS.fullmatch(token):
        return Kind.STRANGE
    return Kind.NAME


_NEVER = (Kind.STRANGE, Kind.NUMBER, Kind.STATISTIC)
_QUANTITIES = (Kind.FLOW, Kind.VOLUME, Kind.RUNOFF)
#: Units before which a word that is not known may be a multiplier; nobody gives a flow so.
_BARE = frozenset(unit for unit in ("m3", "acre-ft", *RATES) if unit.partition("/")[0] in ("m3", "acre-ft"))
_FLOWS = frozenset({"m3/s", "cfs", *RATES})


@dataclass(frozen=True)
class Saying:
    """A text about values, understood."""

    #: The units in it, by their names in the table of units, each once.
    units: tuple[str, ...]
    #: Words that forbid reading it: unknown units, multipliers, rates, statistics.
    strange: tuple[str, ...]
    #: Words that are not known and may be a river's or a station's.
    names: tuple[str, ...]
    #: What its words are.
    kinds: frozenset[Kind]

    @property
    def unit(self) -> str | None:
        """The one unit that it names; None if it names none, several, or something that is not understood."""
        return self.units[0] if len(self.units) == 1 and not self.strange else None

    @property
    def is_other(self) -> bool:
        """Whether it names another quantity, and no flow."""
        return Kind.OTHER in self.kinds and Kind.FLOW not in self.kinds

    @property
    def is_no_inflow(self) -> bool:
        """Whether it names another quantity, or a statistic of whatever it is."""
        return self.is_other or Kind.STATISTIC in self.kinds

    @property
    def means_flow(self) -> bool:
        """Whether it is a flow even where no unit stands."""
        return Kind.FLOW in self.kinds and not self.kinds & {Kind.VOLUME, Kind.RUNOFF, Kind.NAME, Kind.OTHER}


def understand(text: str) -> Saying:
    """Read a column's name or a claim such as ``# unit: hm3``."""
    return judged(words_of(text))


def judged(words: Sequence[Word]) -> Saying:
    """Judge the words of a column's name or of a claim."""
    # By the slash of ``Q/(m3/s)``, standards write that a quantity is in a unit.
    kinds = [word.kind for word in words]
    slashes = [at for at, word in enumerate(words[1:-1], 1) if word.text == "/" and kinds[at - 1] in _QUANTITIES]
    of_unit = {at for at in slashes if kinds[at + 1] in (Kind.UNIT, Kind.OPEN)}
    words = [word for at, word in enumerate(words) if at not in of_unit]
    units = tuple(dict.fromkeys(word.unit for word in words if word.kind is Kind.UNIT))
    strange = [word.text for word in words if word.kind in _NEVER]
    # ``inflow (in)`` is in inches, ``inflow in m3/s`` is not.
    following = [*(word.kind for word in words[1:]), Kind.CLOSE]
    strange += ["in" for word, kind in zip(words, following, strict=False) if word.text == "in" and kind is Kind.CLOSE]
    if units:
        strange += [word.text for word in _names_in_doubt(words)]
        if not set(units) <= _FLOWS:
            strange += [word.text for word in words if word.kind is Kind.DAILY]
        # The plural of m3 is written like m3/s.
        elif any(word.kind is Kind.VOLUME and word.text.isascii() for word in words):
            strange += [word.text for word in words if word.text == "m3s"]
    names = tuple(word.text for word in words if word.kind is Kind.NAME)
    return Saying(units, tuple(dict.fromkeys(strange)), names, frozenset(word.kind for word in words))


def _names_in_doubt(words: Sequence[Word]) -> Iterator[Word]:
    """Words not known that may change the unit: in its brackets, behind it, or just before m3 and acre-ft."""
    group = opened = 0
    grouped: list[tuple[int, Word]] = []  # with the number of the bracket they stand in, 0 outside
    for word in words:
        if word.kind in (Kind.OPEN, Kind.CLOSE):
            opened += word.kind is Kind.OPEN
            group = opened if word.kind is Kind.OPEN else 0
        else:
            grouped.append((group, word))
    of_unit = {place: group for place, (group, word) in enumerate(grouped) if word.kind is Kind.UNIT}
    for place, (group, word) in enumerate(grouped):
        if word.kind is Kind.NAME and group in of_unit.values() and (group or place > min(of_unit)):
            yield word
    for (_, before), (_, word) in pairwise(grouped):
        if before.kind is Kind.NAME and word.unit in _BARE:
            yield before
