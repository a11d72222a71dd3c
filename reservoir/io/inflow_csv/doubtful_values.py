"""Numbers that may not be flows: missing-value codes, negative ones, and points that may separate thousands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import NamedTuple

import numpy as np

from reservoir.errors import Mistake
from reservoir.io.inflow_csv.cells import no_flow
from reservoir.io.inflow_csv.record import StepValue
from reservoir.io.missing_codes import codes_among

_GROUPED = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_WHOLE = re.compile(r"\d+")
#: Whole numbers this many times larger than one with three decimals, and numbers that are written without thousands.
_LARGER, _HUNDREDS = 10.0, range(100, 1000)

#: Days of which codes are named.
_NAMED = 3


class Flows(NamedTuple):
    """What a column of numbers says.

    Parameters
    ----------
    values : tuple of StepValue
        Those that are flows or volumes.
    mistakes : tuple of Mistake
        Of the others, unless they are days, which may be missing.
    notes : tuple of str
        What is written like a code, and is none.
    codes : tuple of str
        Codes of days, which are missing.
    """

    values: tuple[StepValue, ...]
    mistakes: tuple[Mistake, ...]
    notes: tuple[str, ...]
    codes: tuple[str, ...]


def flows_among(values: Sequence[StepValue], negative: str | None, *, months: bool) -> Flows:
    """Tell flows from codes that stand for none, and from negative numbers unless these are asked for.

    Parameters
    ----------
    values : sequence of StepValue
        All numbers of a column, in the order of time.
    negative : str or None
        What is to become of negative values; None refuses them.
    months : bool
        Whether each is the value of a month, which may not be missing.
    """
    sure, doubtful = codes_among(np.array([each.value for each in values]))
    mistakes = [
        replace(_mistake(each, code, negative), row=each.row, column=each.column, value=each.text)
        for each, code in zip(values, sure.tolist(), strict=True)
        if (months if code else each.value < 0 and negative is None)
    ]
    flows = tuple(each for each, code in zip(values, sure, strict=True) if not code)
    codes = _by_text(values, np.flatnonzero(sure).tolist())
    return Flows(
        flows,
        tuple(mistakes),
        tuple(_read_notes(_by_text(values, np.flatnonzero(doubtful).tolist()))),
        () if months else tuple(_code_notes(codes)),
    )


def _mistake(found: StepValue, code: bool, negative: str | None) -> Mistake:
    """What is wrong with a number, and how to write it if it is no code in spite of its looks."""
    mistake = no_flow(found.value, code)
    if not code or (found.value < 0 and negative is None) or "e" in found.text.casefold():
        return mistake
    digit = f"{found.text}{'' if '.' in found.text else '.'}1"
    return replace(mistake, mend=f"{mistake.mend}; if the value is right, add a digit: {digit}")


def _by_text(values: Sequence[StepValue], places: Sequence[int]) -> dict[str, list[StepValue]]:
    found: dict[str, list[StepValue]] = {}
    for place in places:
        found.setdefault(values[place].text, []).append(values[place])
    return found


def _read_notes(found: Mapping[str, Sequence[StepValue]]) -> Iterator[str]:
    """Codes that may well be flows."""
    for text, (first, *others) in found.items():
        times = f", {1 + len(others)} times" if others else ""
        yield f"{text} (row {first.row}, column {first.column}{times}) is read as a value, not as a missing-value code"


def _code_notes(found: Mapping[str, Sequence[StepValue]]) -> Iterator[str]:
    """Days that have a code in the place of a value."""
    for text, cells in found.items():
        rows = ", ".join(str(each.row) for each in cells[:_NAMED])
        more = f" and {len(cells) - _NAMED:,} more" if len(cells) > _NAMED else ""
        plural = "s" if len(cells) > 1 else ""
        yield f"{text} is read as a missing value, not as a flow (row{plural} {rows}{more})"


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
