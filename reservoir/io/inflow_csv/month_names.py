"""English names of months, as headers and dates write them."""

from __future__ import annotations

from collections.abc import Mapping

_FULL_NAMES = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
#: Calendar month (1 to 12) by its name in small letters: ``jan``, ``january`` and ``sept``.
MONTH_OF_NAME: Mapping[str, int] = {
    name: month for month, full in enumerate(_FULL_NAMES, start=1) for name in (full[:3], full)
} | {"sept": 9}
