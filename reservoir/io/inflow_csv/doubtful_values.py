"""Numbers that may not be flows: missing-value codes, and points that may separate thousands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.cells import FILL_IN
from reservoir.io.inflow_csv.record import StepValue

#: 99, 999, 9999, 999.9, 9999.99 and their like.
_CODE = re.compile(r"99+(\.(9+|0*))?")
_GROUPED = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_WHOLE = re.compile(r"\d+")
#: From how many times the largest other value a code stands out, however often it stands there; a short one may be
#: a flood of a small river, and is no news among other values.
_STANDS_OUT, _SHORT_STANDS_OUT, _SHORT = 2.0, 5.0, 100.0
#: Whole numbers this many times larger than one with three decimals, and numbers that are written without thousands.
_LARGER, _HUNDREDS = 10.0, range(100, 1000)

_Numbered = tuple[int, StepValue]


def code_mistakes(values: Sequence[StepValue]) -> Iterator[Mistake]:
    """Refuse codes that stand out of the record, or in months that follow each other."""
    codes, largest = _codes(values)
    for code, places in codes.items():
        if _is_surely_code(code, places, largest):
            for _, reading in places:
                more = f"{reading.text}{'' if '.' in reading.text else '.'}1"
                mend = f"{FILL_IN}; if the value is right, add a digit: {more}"
                yield reading.mistake("looks like a missing-value code", "the flow or volume of the month", mend)


def code_notes(values: Sequence[StepValue]) -> Iterator[str]:
    """Codes that may well be flows."""
    codes, largest = _codes(values)
    for code, places in codes.items():
        if code >= _SHORT and not _is_surely_code(code, places, largest):
            _, first = places[0]
            times = "" if len(places) == 1 else f", {len(places)} times"
            place = f"row {first.row}, column {first.column}{times}"
            yield f"{first.text} ({place}) is read as a value, not as a missing-value code"


def _codes(values: Sequence[StepValue]) -> tuple[dict[float, list[_Numbered]], float]:
    """What may be codes, numbered among all values, and the largest other value."""
    found: dict[float, list[_Numbered]] = {}
    largest = 0.0
    for number, reading in enumerate(values):
        if _CODE.fullmatch(reading.text):
            found.setdefault(reading.value, []).append((number, reading))
        elif reading.value > largest:
            largest = reading.value
    return found, largest


def _is_surely_code(code: float, places: Sequence[_Numbered], largest: float) -> bool:
    if code > (_STANDS_OUT if code >= _SHORT else _SHORT_STANDS_OUT) * largest:
        return True
    return len(places) > 1 and (
        code > largest or (code >= _SHORT and any(after == before + 1 for (before, _), (after, _) in pairwise(places)))
    )


def thousands_mistakes(values: Sequence[StepValue]) -> Iterator[Mistake]:
    """Refuse ``1.110`` among whole numbers, where the point may stand between thousands."""
    grouped = [reading for reading in values if _GROUPED.fullmatch(reading.text)]
    whole = [reading.value for reading in values if _WHOLE.fullmatch(reading.text)] if grouped else []
    if not whole or len(grouped) + len(whole) < len(values):
        return
    hundreds = max(whole) in _HUNDREDS
    for reading in grouped:
        if hundreds or median(whole) >= _LARGER * reading.value:
            number = reading.text.replace(".", "")
            yield reading.mistake(
                "three decimals among whole numbers: the point may be a decimal point or a thousands separator",
                "numbers without thousands separator",
                f"write {number}, or {reading.text}0 if the point is a decimal point",
            )
