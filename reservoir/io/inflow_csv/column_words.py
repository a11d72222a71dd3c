"""Units in the name of a value column, or in a claim such as ``# unit: hm3``: fully understood, or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reservoir.io.inflow_csv.unit_words import Kind, Word, words_of
from reservoir.io.inflow_csv.vocabulary import RATES

_NEVER = (Kind.STRANGE, Kind.NUMBER, Kind.STATISTIC)
_QUANTITIES = (Kind.FLOW, Kind.VOLUME, Kind.RUNOFF)
_BRACKETS = (Kind.OPEN, Kind.CLOSE)
#: Units before which a word that is not known may be a multiplier; nobody gives a flow so.
_BARE = frozenset(unit for unit in ("m3", "acre-ft", *RATES) if unit.partition("/")[0] in ("m3", "acre-ft"))
_FLOWS = frozenset({"m3/s", "cfs", *RATES})


@dataclass(frozen=True)
class Saying:
    """A text about values, understood.

    Parameters
    ----------
    units : tuple of str
        The units in it, by their names in the table of units, each once.
    strange : tuple of str
        Words that forbid reading it: unknown units, multipliers, rates, statistics.
    names : tuple of str
        Words that are not known and may be a river's or a station's.
    kinds : frozenset of Kind
        What its words are.
    """

    units: tuple[str, ...]
    strange: tuple[str, ...]
    names: tuple[str, ...]
    kinds: frozenset[Kind]

    @property
    def is_other(self) -> bool:
        """Whether it names another quantity, and no flow."""
        return Kind.OTHER in self.kinds and Kind.FLOW not in self.kinds

    @property
    def means_flow(self) -> bool:
        """Whether it is a flow even where no unit stands."""
        return Kind.FLOW in self.kinds and not self.kinds & {Kind.VOLUME, Kind.RUNOFF, Kind.NAME, Kind.OTHER}


def understand(text: str) -> Saying:
    """Read a column's name or a claim."""
    return judged(words_of(text))


def judged(words: Sequence[Word]) -> Saying:
    """Judge the words of a column's name or of a claim."""
    words = _without_quotients(words)
    units = tuple(dict.fromkeys(word.unit for word in words if word.kind is Kind.UNIT))
    strange = [word.text for word in words if word.kind in _NEVER]
    strange += _inches(words)
    if units:
        strange += [word.text for word in _names_in_doubt(words)]
        if not set(units) <= _FLOWS:
            strange += [word.text for word in words if word.kind is Kind.DAILY]
        # The plural of m3 is written like m3/s.
        elif any(word.kind is Kind.VOLUME and word.text.isascii() for word in words):
            strange += [word.text for word in words if word.text == "m3s"]
    return Saying(
        units,
        tuple(dict.fromkeys(strange)),
        tuple(word.text for word in words if word.kind is Kind.NAME),
        frozenset(word.kind for word in words),
    )


def _without_quotients(words: Sequence[Word]) -> list[Word]:
    """Leave out the slash of ``Q/(m3/s)``, by which standards write that a quantity is in a unit."""
    return [
        word
        for place, word in enumerate(words)
        if not (
            word.text == "/"
            and 0 < place < len(words) - 1
            and words[place - 1].kind in _QUANTITIES
            and words[place + 1].kind in (Kind.UNIT, Kind.OPEN)
        )
    ]


def _inches(words: Sequence[Word]) -> list[str]:
    """``inflow (in)`` is in inches, ``inflow in m3/s`` is not."""
    ends = {Kind.CLOSE, None}
    followers = [*(word.kind for word in words[1:]), None]
    return [word.text for word, after in zip(words, followers, strict=False) if word.text == "in" and after in ends]


def _names_in_doubt(words: Sequence[Word]) -> Iterator[Word]:
    """Words not known that may change the unit: in its brackets, behind it, or just before m3 and acre-ft."""
    behind = False
    group_of_unit = {group for group, word in _grouped(words) if word.kind is Kind.UNIT}
    for group, word in _grouped(words):
        behind = behind or word.kind is Kind.UNIT
        if word.kind is Kind.NAME and group in group_of_unit and (group > 0 or behind):
            yield word
    for before, word in pairwise([word for word in words if word.kind not in _BRACKETS]):
        if before.kind is Kind.NAME and word.unit in _BARE:
            yield before


def _grouped(words: Sequence[Word]) -> Iterator[tuple[int, Word]]:
    """Words with the number of the bracket they stand in, 0 outside."""
    group, opened = 0, 0
    for word in words:
        if word.kind is Kind.OPEN:
            opened += 1
            group = opened
        elif word.kind is Kind.CLOSE:
            group = 0
        else:
            yield group, word
