"""One cell of numbers of an inflow file -> a flow; or a mistake without its place."""

from __future__ import annotations

import math
import re

from reservoir.errors import Mistake

MISSING_WORDS = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "missing", "-", "--"})
MISSING_CODES = frozenset({-99.0, -99.9, -999.0, -999.9, -9999.0, -9999.9, -99999.0})

# Python's own float() and int() also take "1_000", full-width digits and the like.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_FLOW = "a number of 0 or more"
#: How to mend a month whose value is not known.
FILL_IN = "fill in the month's value, or keep only the complete part of the record"
_INFINITE = Mistake("infinite flow", "a finite number", "correct the value")
_MISSING = Mistake("missing value", _FLOW, FILL_IN)
_MISSING_CODE = Mistake("negative flow, probably a missing-value code", _FLOW, FILL_IN)
_NEGATIVE = Mistake(
    "negative flow",
    _FLOW,
    "correct the value; if it is computed from a reservoir balance, choose --negative keep or --negative zero",
)


def parse_flow(text: str) -> float | Mistake:
    """Read a flow or a volume: finite and not negative."""
    if not _NUMBER.fullmatch(text):
        if text.casefold() in MISSING_WORDS:
            return _MISSING
        return _INFINITE if _INFINITY.fullmatch(text) else _not_a_number(text)
    number = float(text)
    if math.isinf(number):
        return _INFINITE
    if number < 0:
        return _MISSING_CODE if number in MISSING_CODES else _NEGATIVE
    return abs(number)


def parse_number(text: str) -> float | Mistake:
    """Read a finite number of either sign."""
    negative = text.startswith("-") and _NUMBER.fullmatch(text)
    value = parse_flow(text.removeprefix("-") if negative else text)
    return -value if negative and not isinstance(value, Mistake) else value


def parse_signed_flow(text: str) -> float | Mistake:
    """Read a flow or a volume that may be negative, but no missing-value code."""
    flow = parse_flow(text)
    return float(text) if flow is _NEGATIVE else flow


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value."""
    return parse_flow(text) in (_MISSING, _MISSING_CODE)


def looks_like_number(text: str) -> bool:
    """Whether a cell is a number, however its thousands and decimals are written."""
    return re.fullmatch(r"[+-]?\d[\d.,]*(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE) is not None


def _not_a_number(text: str) -> Mistake:
    mend = "use only the digits 0 to 9, without unit or remark"
    if re.fullmatch(r"[+-]?[0-9.,_' \u00a0\u202f]+", text):
        mend = "use a decimal point and no thousands separator: 1412.5"
    return Mistake("not a number", "a number such as 413 or 412.5", mend)
