"""Rows and columns of means and totals, which spreadsheets keep beside a record."""

from __future__ import annotations

import re

#: How to mend a row of them.
NO_SUMMARY = "delete rows of means and totals"
_SUMMARY = re.compile(
    r"(mean|average|avg|total|sum|min|max|median|std|mittel|summe|media|moyenne|平均|合计|多年)\w*.*", re.IGNORECASE
)


def is_summary(text: str) -> bool:
    """Whether a cell names a mean or a total in the place of a date."""
    return _SUMMARY.fullmatch(text) is not None
