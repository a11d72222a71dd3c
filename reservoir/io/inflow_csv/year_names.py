"""One cell of a column of years -> a year, and which of the years of a water year it names; or a mistake."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.dates import year_mistake
from reservoir.io.inflow_csv.summary_words import NO_SUMMARY, is_summary

_YEAR = re.compile(
    r"(?P<water>w\.?y\.?|(?:water|hydrologic(?:al)?)[ _-]?year)?[ _-]*(?P<first>\d+)"
    r"(?:\s*(?P<sign>[/-])\s*(?P<second>\d{4}|\d{2}))?",
    re.ASCII | re.IGNORECASE,
)
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))


class YearForm(Enum):
    """How a year is written."""

    PLAIN = "1953"
    BOTH = "1953/54"
    WATER = "WY1953"


class Year(NamedTuple):
    """A year as it is written; of ``1953/54`` the first."""

    number: int
    form: YearForm

    def start(self, *, by_end: bool) -> int:
        """Calendar year in which it begins, if one number is that of the calendar year in which it ends."""
        return self.number - (by_end and self.form is not YearForm.BOTH)


def parse_year(text: str) -> Year | Mistake:
    """Read ``1953``, ``WY1953``, or ``1953/54`` or ``1953-54`` for a water year that begins in 1953."""
    match = _YEAR.fullmatch(text.translate(_DASHES))
    if not match or (match["water"] is None and not text[:1].isdecimal()):
        return _not_a_year(text)
    wrong = year_mistake(match["first"])
    if wrong:
        return wrong
    first, second = int(match["first"]), match["second"]
    if second is None:
        return Year(first, YearForm.WATER if match["water"] else YearForm.PLAIN)
    if int(second) == (first + 1) % 10 ** len(second):
        return Year(first, YearForm.BOTH)
    if match["sign"] != "/":
        return _not_a_year(text)
    return Mistake(
        "a water year must span two consecutive years", f"{first}/{(first + 1) % 100:02d}", "correct the year"
    )


def _not_a_year(text: str) -> Mistake:
    mend = "write only the year, or 1953/54 for a water year that begins in 1953"
    if re.match(r"\d{4}-\d{2}", text):
        mend = 'name the column "date" if there is one row per month'
    elif is_summary(text):
        mend = NO_SUMMARY
    return Mistake("not a year", "a whole number such as 1953, 1953/54 or WY1954", mend)
