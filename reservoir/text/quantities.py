"""Words for quantities, and text that can be printed."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

#: Control characters, halves of pairs, direction overrides, and code points that are no characters: a terminal obeys
#: some of them, XML allows none of most, and a figure has no glyph for any.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufeff"
    + "".join(chr(plane << 16 | 0xFFFE) + chr(plane << 16 | 0xFFFF) for plane in range(17))
    + "]"
)


def first_unprintable(text: str) -> str | None:
    """Name the first character that cannot be shown, as ``U+001B``; None where there is none."""
    match = _UNPRINTABLE.search(text)
    return None if match is None else f"U+{ord(match[0]):04X}"


def printable(text: str) -> str:
    r"""Write every character that cannot be shown as its escape, such as ``\x1b``; ends of line stay."""
    return _UNPRINTABLE.sub(lambda match: match[0] if match[0] == "\n" else ascii(match[0])[1:-1], text)


def is_name(text: str) -> bool:
    """Whether a text is a name of letters of any script, digits, - and _, which every disk takes in names of files."""
    return bool(text) and all(letter in "-_" or unicodedata.category(letter)[0] in "LMN" for letter in text)


def quantity(value: float) -> str:
    """Write a number for reading: whole from a thousand on, four figures below."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def decimals_of(largest: float, figures: int = 3) -> int:
    """Decimals that numbers up to a largest one need to have so many figures; none from thousands on."""
    return max(0, figures - 1 - math.floor(math.log10(abs(largest)))) if largest and math.isfinite(largest) else 0


#: Of so many numbers, some are nearer to each other than a tenth of their range.
_MANY = 10


def told_apart(values: Sequence[float]) -> list[str]:
    """Numbers with as many decimals, four figures of the largest and two of their range; a dash for what is none.

    Of ten numbers or more, three of their range.
    """
    known = [value for value in values if math.isfinite(value)] or [0.0]
    of_range = 2 if len(known) < _MANY else 3
    decimals = max(decimals_of(max(map(abs, known)), 4), decimals_of(max(known) - min(known), of_range))
    return [f"{value:,.{decimals}f}" if math.isfinite(value) else "–" for value in values]


def percentage(part: float) -> str:
    """Write a part in per cent, with three figures or from 1 % down two: ``63.8 %``, ``0.0023 %``."""
    value = 100 * part
    return f"{value:.{decimals_of(value, 3 if abs(value) >= 1 else 2)}f} %"


def near_names(name: str, known: Mapping[str, str]) -> list[str]:
    """Names that a word may stand for, the nearest first: those that have it in them, are spelt alike, or do that.

    Parameters
    ----------
    name : str
    known : mapping of str to str
        What each name means.
    """
    word = name.casefold().replace("_", "-").strip()
    if not word or word in known:
        return [word] if word else []
    parts = [each for each in known if word in each or (len(each) > 2 and each in word)]
    words = [each for each, meaning in known.items() if re.search(rf"\b{re.escape(word)}", meaning.casefold())]
    return list(dict.fromkeys([*parts, *get_close_matches(word, known, 3, 0.7), *(words if len(word) > 2 else [])]))


def typeset_unit(unit: str) -> str:
    """Write a unit for people: ``hm3`` is ``hm³``, ``m3/s`` is ``m³/s``, ``km2`` is ``km²``."""
    return re.sub(r"(?<=m)[23](?!\d)", lambda power: "²" if power[0] == "2" else "³", unit)


def counted(count: int, what: str = "year") -> str:
    """Write a number of things: ``1 year``, ``62 years``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"
