"""One cell of numbers of an inflow file -> a flow; or a mistake without its place."""

from __future__ import annotations

import math
import re

from reservoir.errors import Mistake
from reservoir.io.missing_codes import is_known_code

MISSING_WORDS = frozenset(
    {"", "na", "n/a", "#n/a", "#n/a n/a", "<na>", "n.a.", "nan", "-nan", "1.#qnan", "-1.#ind", "nat", "null", "nil"}
    | {"none", "missing", "no data", "nodata", "-", "--", "---", ".", "..", "...", "*", "**", "***", "/", "缺测", "缺"}
)

# Python's own float() and int() also take "1_000", full-width digits and the like.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_FLOW = "a number of 0 or more"
#: How to mend a month whose value is not known.
FILL_IN = "fill in the month's value, or keep only the complete part of the record"
_INFINITE = Mistake("infinite flow", "a finite number", "correct the value")
_MISSING = Mistake("missing value", _FLOW, FILL_IN)
_MISSING_CODE = Mistake("negative flow, probably a missing-value code", _FLOW, FILL_IN)
_CODE = Mistake("looks like a missing-value code", "the flow or volume of the month", FILL_IN)
_NEGATIVE = Mistake(
    "negative flow",
    _FLOW,
    "correct the value; if it is computed from a reservoir balance, choose --negative keep or --negative zero",
)


def parse_flow(text: str) -> float | Mistake:
    """Read a flow or a volume: finite and not negative."""
    number = parse_number(text)
    return number if isinstance(number, Mistake) or number >= 0 else no_flow(number)


def parse_number(text: str) -> float | Mistake:
    """Read a finite number of either sign."""
    if not _NUMBER.fullmatch(text):
        if text.casefold() in MISSING_WORDS:
            return _MISSING
        return _INFINITE if _INFINITY.fullmatch(text) else _not_a_number(text)
    number = float(text)
    return _INFINITE if math.isinf(number) else number + 0.0  # no -0.0


def no_flow(number: float, code: bool | None = None) -> Mistake:
    """Refuse a number that is negative, or a code of a missing value."""
    if is_known_code(number) if code is None else code:
        return _MISSING_CODE if number < 0 else _CODE
    return _NEGATIVE


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value."""
    number = parse_number(text)
    return number is _MISSING if isinstance(number, Mistake) else is_known_code(number)


def looks_like_number(text: str) -> bool:
    """Whether a cell is a number, however its thousands and decimals are written."""
    return re.fullmatch(r"[+-]?\d[\d.,]*(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE) is not None


def _not_a_number(text: str) -> Mistake:
    mend = "use only the digits 0 to 9, without unit or remark"
    if re.fullmatch(r"[+-]?[0-9.,_' \u00a0\u202f]+", text):
        mend = "use a decimal point and no thousands separator: 1412.5"
    return Mistake("not a number", "a number such as 413 or 412.5", mend)
