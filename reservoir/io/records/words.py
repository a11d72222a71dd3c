"""The words of ``data/words.toml``, forms of further ones, and sentences cut into words of known kinds.

All words are folded: lower case, without accents of typography (``m³`` is ``m3``, ``–`` is ``-``). What sentences say
of values is a unit, or what forbids one.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from reservoir.runtime import package_text

_WORDS = tomllib.loads(package_text("data", "words.toml"))


def _sets(table: str) -> dict[str, frozenset[str]]:
    """Words by their names in a table: single ones in a text, or a list of such as have spaces."""
    lists = {name: words for name, words in _WORDS[table].items() if not isinstance(words, dict)}
    return {name: frozenset(words.split() if isinstance(words, str) else words) for name, words in lists.items()}


_HEADINGS, _CELLS, _KINDS, _JOINED = map(_sets, ("headings", "cells", "kinds", "parts"))


_PATTERNS = {name: form for name, form in _WORDS["patterns"].items() if isinstance(form, str)}
SUMMARY, ENDS, BEGINS, WEEK_ENDS, STRANGE_FORMS, UNREAD_UNITS, MULTIPLIERS, CHINESE_SERIES = (
    re.compile(_PATTERNS[name].replace("\n", "").replace("<period>", _PATTERNS["period"]), re.IGNORECASE)
    for name in ("summary", "ends", "begins", "week_ends", "strange", "unread", "multipliers", "chinese_series")
)


def _month_names(words: str) -> dict[str, int]:
    """Calendar month (1 to 12) by its names, also without accents."""
    names = ((name, month) for month, one in enumerate(words.split(), start=1) for name in one.split("|"))
    forms = ((unicodedata.normalize("NFKD", name), name, month) for name, month in names)
    return {spelt: month for apart, name, month in forms for spelt in (name, re.sub("[\u0300-\u036f]", "", apart))}


#: Calendar month by its name, short or full, in each language; and in any.
MONTHS_BY_LANGUAGE = {language: _month_names(words) for language, words in _WORDS["months"].items()}
MONTH_OF_NAME = {name: month for names in MONTHS_BY_LANGUAGE.values() for name, month in names.items()}
#: Names of the column of dates, and such as others have too; and of years; a water year is named by its end.
DATE_NAMES, PERHAPS_DATE_NAMES, WATER_YEAR_NAMES = (_HEADINGS[name] for name in ("date", "perhaps_date", "water_year"))
YEAR_NAMES = _HEADINGS["calendar_year"] | WATER_YEAR_NAMES
#: Names of the columns of the parts of a date, from the longest on; the least and the largest number of each.
DATE_PARTS = tuple(
    (part, frozenset(_WORDS["headings"]["part"][part].split()), allowed)
    for part, allowed in {"year": range(10_000), "month": range(1, 13), "day": range(1, 32), "hour": range(26)}.items()
)
#: Names of the column of an ensemble's members, of dimensions of NetCDF that are members even where there is one, and
#: of a column that tells the unit of each row.
MEMBER_NAMES = ("member", "scenario")
MEMBER_DIMENSIONS = (*MEMBER_NAMES, "realization", "ensemble", "number")
UNIT_NAMES = _HEADINGS["unit"]
#: Cells in the place of a value that is not known, and of a flow of zero.
MISSING_WORDS, ZERO_WORDS = _CELLS["missing"] | {"", "#n/a n/a", "no data"}, _CELLS["zero"]


class WordKind(Enum):
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


#: Spellings of each unit, of those of records alone, and of times for which a volume can be given.
ALL_SPELLINGS: Mapping[str, tuple[str, ...]] = {unit: tuple(spelt) for unit, spelt in _WORDS["spellings"].items()}
SPELLINGS = {unit: spelt for unit, spelt in ALL_SPELLINGS.items() if unit in {**FLOW_M3S, **VOLUME_HM3}}
TIMES: Mapping[str, tuple[str, ...]] = {time: tuple(spelt) for time, spelt in _WORDS["times"].items()}


def _forms_of(unit: str) -> Iterator[str]:
    """The spellings of a unit, with or without spaces between their words, and its further form."""
    yield from (re.escape(spelling).replace("\\ ", " ?") for spelling in ALL_SPELLINGS.get(unit, ()))
    if unit in _WORDS["forms"]:
        of_other = {f"<{other}>": f"(?:{'|'.join(map(re.escape, spelt))})" for other, spelt in ALL_SPELLINGS.items()}
        yield re.sub("<.*?>", lambda other: of_other[other[0]], _WORDS["forms"][unit])


#: Regular expressions of units in headings of a reservoir's tables, multiples before what they are multiples of.
UNIT_FORMS: Mapping[str, str] = {unit: "|".join(_forms_of(unit)) for unit in (*ALL_SPELLINGS, "per-mwh")}
#: Names of the quantities of a reservoir by their keys, and words in them that mean the same, or nothing.
KEY_NAMES: Mapping[str, str] = _WORDS["keys"]
SAME = {word: meaning for meaning, words in _WORDS["same"].items() for word in words.split()}
#: Spellings of volumes for a time, by their names such as ``hm3/day``.
RATES: Mapping[str, tuple[str, ...]] = {
    f"{volume}/{time}": tuple(
        f"{spelling} {sign} {word}" for spelling in SPELLINGS[volume] for word in words for sign in ("/", "per")
    )
    for volume in VOLUME_HM3
    for time, words in TIMES.items()
}
#: Words of each kind, in the order in which a word is looked for.
WORDS: Mapping[WordKind, frozenset[str]] = {WordKind[name.upper()]: words for name, words in _KINDS.items()} | {
    WordKind.PLAIN: _KINDS["plain"] | _JOINED["none"]
}
#: Words in the names of columns beside the values (``data/words.toml`` says of each what it means).
BESIDE, OF_SERIES, JUDGES, VARYING, CODED, OF_LOSSES = (
    _HEADINGS[name] for name in ("beside", "of_series", "judging", "varying", "coded", "of_losses")
)
#: Words of cells that say how good a value is, and how it was found.
HOW_GOOD = _CELLS["how_good"]
#: Quantities beside the inflow, and by which words each is known.
COMPANION_WORDS: Mapping[str, Mapping[str, str]] = _WORDS["companions"]
#: Depths, which only a sentence about the values can mean.
DEPTHS = frozenset({"mm", "cm", "m", "in", "ft", "inch", "inches", "feet", "metres", "meters"})
#: Danish and Swedish know another "af".
UNCERTAIN_IN_PROSE = frozenset({"af"})
#: Kinds of Chinese words, in which others are looked for.
CHINESE = {WordKind[name.upper()]: re.compile(form) for name, form in _WORDS["patterns"]["chinese"].items()}


class Word(NamedTuple):
    """A word, or the few that name a unit; `unit` is its name in the table of units."""

    kind: WordKind
    text: str
    unit: str = ""


_UNIT_OF = {spelling: unit for unit, words in {**SPELLINGS, **RATES}.items() for spelling in words}
_LONGEST = max(spelling.count(" ") + 1 for spelling in _UNIT_OF)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−﹣－", "-") | dict.fromkeys("·⋅•∙․⸱_", " "))
_CJK = r"\u3400-\u9fff"
_BRACKETS = dict.fromkeys("([{", WordKind.OPEN) | dict.fromkeys(")]}", WordKind.CLOSE)
#: Words of which others are joined; short ones that change nothing would be found in names.
_PARTS = {
    **dict.fromkeys((word for word in _KINDS["plain"] | _JOINED["other"] if len(word) > 2), WordKind.PLAIN),
    **dict.fromkeys((spelling for spelling in _UNIT_OF if spelling.isalnum() and len(spelling) > 2), WordKind.UNIT),
    **dict.fromkeys(WORDS[WordKind.DAILY], WordKind.DAILY),
    **dict.fromkeys(WORDS[WordKind.VOLUME] | WORDS[WordKind.RUNOFF] | {"v"}, WordKind.VOLUME),
    **dict.fromkeys(WORDS[WordKind.OTHER], WordKind.OTHER),
    **dict.fromkeys(WORDS[WordKind.FLOW], WordKind.FLOW),
    **dict.fromkeys(WORDS[WordKind.STATISTIC] | _JOINED["statistic"], WordKind.STATISTIC),
    **dict.fromkeys((f"{letter}{percent}" for letter in "pq" for percent in range(1, 100)), WordKind.STATISTIC),
}
_LONGEST_JOINED = 40
#: Words with a hyphen in them, and marks of footnotes behind a word.
_HYPHENED = frozenset(word for words in WORDS.values() for word in words if "-" in word)
_MARKS = re.compile(r"(?<=[\w)\]])[*†‡§^]+(?=\s|\(|$)(?!\s*\(?\s*\d)")


def folded(text: str) -> str:
    """One spelling for what typography writes in many: ``m³·s⁻¹`` and ``M^3 s-1`` are ``m3 s-1``."""
    text = _MARKS.sub("", text)
    # Compatibility would make 10⁶ of a million and 106 of both.
    text = re.sub("([0-9])([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", r"\1^\2", text)
    text = unicodedata.normalize("NFKC", text).translate(_DASHES).casefold()
    text = re.sub(r"(?<![a-z])([hk]?m|mm|ft|км|м)\s?(?:\^|\*\*)\s?3(?!\d)", r"\g<1>3", text)
    return re.sub(r"(?<![a-z])s\s?(?:\^|\*\*)\s?\(?-1\)?", "s-1", text)


def plain_heading(name: str) -> str:
    """The name of a column without a mark of comments, a time zone or a form in brackets: ``#Timestamp [UTC]``."""
    return re.sub(r"^[#\s]+|\s*[(\[][^()\[\]]*[)\]]\s*$|\s(utc|gmt)\s*$", "", folded(name)).strip()


def parts_of(name: str) -> list[str]:
    """The plain words of a column's name, also where capitals separate them: ``SensorType`` is sensor, type."""
    apart = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])", " ", name)
    return re.findall(r"[^\W\d_]+", folded(apart))


def words_of(text: str) -> tuple[Word, ...]:
    """Cut a text into words, units as long as they can be."""
    text = folded(text)
    text = re.sub(rf"(?<=[{_CJK}])(?=[a-z0-9])|(?<=[a-z0-9])(?=[{_CJK}])", " ", text)
    # 入库水量亿m3: the multiplier belongs to the unit, but 百亿 is another.
    text = re.sub(r"(?<![十百千万亿兆])([亿万])\s?(?=立方米|m3)", r" \1 ", text)
    # One word each, so that a comment about them is found; of these only litres a second are read.
    text = re.sub(r"(?<![a-z])(?:l|lit[re]{2}s?)\s?/\s?s(?:ec)?(?![a-z])", " lps ", text)
    text = re.sub(r"(?<![a-z])ml\s?/\s?s(?:ec)?(?![a-z])", " mlps ", text)
    text = re.sub(r"(?<![a-z])mm\s?/\s?(?:d|day|month|mon|a|yr|year)(?![a-z])", " mmday ", text)
    tokens, words = list[str](), list[Word]()
    for token in re.findall(r"""[()\[\]{}/]|[^\s()\[\]{}/<>,;:=|"'.?!]+""", text):
        hyphened = "-" in token.strip("-") and token not in _UNIT_OF and token != "s-1" and token not in _HYPHENED
        tokens += [part for part in token.split("-") if part] if hyphened else [token] if token.strip("-") else []
    place = 0
    while place < len(tokens):
        for length in range(min(_LONGEST, len(tokens) - place), 0, -1):
            spelling = " ".join(tokens[place : place + length])
            if spelling in _UNIT_OF:
                words.append(Word(WordKind.UNIT, spelling, _UNIT_OF[spelling]))
                break
        else:
            length = 1
            words.append(Word(_kind(tokens[place]), tokens[place]))
        place += length
    return tuple(words)


@lru_cache(maxsize=4096)  # an end that is none is met by many beginnings
def _cut_up(token: str) -> tuple[WordKind, ...] | None:
    """The kinds of the known words that a token consists of; None of another token."""
    if not token:
        return ()
    for length in range(len(token), 0, -1):
        kind = _PARTS.get(token[:length]) or (WordKind.NUMBER if token[:length].isdecimal() else None)
        rest = None if kind is None else _cut_up(token[length:])
        if kind is not None and rest is not None:
            return (kind, *rest)
    return None


def _kind(token: str) -> WordKind:
    if token in _BRACKETS:
        return _BRACKETS[token]
    if token.isdecimal():
        return WordKind.NUMBER
    for kind, words in WORDS.items():
        if token in words:
            return kind
    # Several known words that are written together: a statistic, or not the inflow.
    kinds = (_cut_up(token) if len(token) <= _LONGEST_JOINED else None) or ()
    if len(kinds) > 1 and WordKind.STATISTIC in kinds:
        return WordKind.STATISTIC
    if len(kinds) > 1 and WordKind.OTHER in kinds and WordKind.FLOW not in kinds:
        return WordKind.OTHER
    if re.search(f"[{_CJK}]", token):
        return next((kind for kind, form in CHINESE.items() if form.match(token)), WordKind.NAME)
    short = len(token) < 4 and token.isascii()
    if short or not token.isalpha() or STRANGE_FORMS.fullmatch(token):
        return WordKind.STRANGE
    return WordKind.NAME


_NEVER = (WordKind.STRANGE, WordKind.NUMBER, WordKind.STATISTIC)
#: What the values of a record may be.
QUANTITIES = (WordKind.FLOW, WordKind.VOLUME, WordKind.RUNOFF)
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
    kinds: frozenset[WordKind]

    @property
    def unit(self) -> str | None:
        """The one unit that it names; None if it names none, several, or something that is not understood."""
        return self.units[0] if len(self.units) == 1 and not self.strange else None

    @property
    def is_other(self) -> bool:
        """Whether it names another quantity, and no flow."""
        return WordKind.OTHER in self.kinds and WordKind.FLOW not in self.kinds

    @property
    def is_no_inflow(self) -> bool:
        """Whether it names another quantity, or a statistic of whatever it is."""
        return self.is_other or WordKind.STATISTIC in self.kinds

    @property
    def means_flow(self) -> bool:
        """Whether it is a flow even where no unit stands."""
        others = {WordKind.VOLUME, WordKind.RUNOFF, WordKind.NAME, WordKind.OTHER}
        return WordKind.FLOW in self.kinds and not self.kinds & others


def understand(text: str) -> Saying:
    """Read a column's name or a claim such as ``# unit: hm3``."""
    return judged(words_of(text))


def judged(words: Sequence[Word]) -> Saying:
    """Judge the words of a column's name or of a claim."""
    # By the slash of ``Q/(m3/s)``, standards write that a quantity is in a unit.
    kinds = [word.kind for word in words]
    slashes = [at for at, word in enumerate(words[1:-1], 1) if word.text == "/" and kinds[at - 1] in QUANTITIES]
    of_unit = {at for at in slashes if kinds[at + 1] in (WordKind.UNIT, WordKind.OPEN)}
    words = [word for at, word in enumerate(words) if at not in of_unit]
    units = tuple(dict.fromkeys(word.unit for word in words if word.kind is WordKind.UNIT))
    strange = [word.text for word in words if word.kind in _NEVER]
    # ``inflow (in)`` is in inches, ``inflow in m3/s`` is not.
    following = [*(word.kind for word in words[1:]), WordKind.CLOSE]
    before = [word.text for word, kind in zip(words, following, strict=False) if kind is WordKind.CLOSE]
    strange += [text for text in before if text == "in"]
    if units:
        strange += [word.text for word in _names_in_doubt(words)]
        if not set(units) <= _FLOWS:
            strange += [word.text for word in words if word.kind is WordKind.DAILY]
        # The plural of m3 is written like m3/s.
        elif any(word.kind is WordKind.VOLUME and word.text.isascii() for word in words):
            strange += [word.text for word in words if word.text == "m3s"]
    names = tuple(word.text for word in words if word.kind is WordKind.NAME)
    return Saying(units, tuple(dict.fromkeys(strange)), names, frozenset(word.kind for word in words))


def _names_in_doubt(words: Sequence[Word]) -> Iterator[Word]:
    """Words not known that may change the unit: in its brackets, behind it, or just before m3 and acre-ft."""
    group = opened = 0
    grouped: list[tuple[int, Word]] = []  # with the number of the bracket they stand in, 0 outside
    for word in words:
        if word.kind in (WordKind.OPEN, WordKind.CLOSE):
            opened += word.kind is WordKind.OPEN
            group = opened if word.kind is WordKind.OPEN else 0
        else:
            grouped.append((group, word))
    of_unit = {place: group for place, (group, word) in enumerate(grouped) if word.kind is WordKind.UNIT}
    for place, (group, word) in enumerate(grouped):
        if word.kind is WordKind.NAME and group in of_unit.values() and (group or place > min(of_unit)):
            yield word
    for (_, before), (_, word) in pairwise(grouped):
        if before.kind is WordKind.NAME and word.unit in _BARE:
            yield before
