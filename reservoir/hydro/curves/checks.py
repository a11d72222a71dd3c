"""Checks that every curve passes before it is evaluated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import FieldWords, Words
from reservoir.text.quantities import counted

#: Beyond these a formula follows its data no better, and overflows when its unit is converted.
MOST_COEFFICIENTS = 13
LARGEST_EXPONENT = 10
#: More points than a survey gives, and than can be joined at once.
MOST_POINTS = 10_000
#: Part of a table's range by which points lie apart; nearer ones give slopes without meaning.
LEAST_SPACING = 1e-9


def point_mistakes(x_name: str, x: Sequence[float], y_name: str, y: Sequence[float], words: Words) -> Iterator[Mistake]:
    """State why points cannot be joined: their number, and the first two that are not in rising order."""
    x_word = words.named(x_name).rpartition(".")[2]
    if len(x) != len(y):
        y_word = words.named(y_name).rpartition(".")[2]
        yield words.mistake(
            x_name, f"has {counted(len(x), 'value')}, but {y_word} has {len(y)}", "lists of the same length"
        )
    elif not 2 <= len(x) <= MOST_POINTS:
        found = "fewer than two points" if len(x) < 2 else f"{len(x)} points"
        yield words.mistake(x_name, f"has {found}", f"2 to {MOST_POINTS:,} points")
    spacing = LEAST_SPACING * abs(x[-1] - x[0]) if len(x) else 0.0
    for index, (before, after) in enumerate(pairwise(x), 1):
        if not after - before > spacing:
            points = (f"point {index} ({words.amount(x_name, before)})", f"point {index + 1}")
            pair = f"{points[0]} to {points[1]} ({words.amount(x_name, after)})"
            does = "increases too little" if after > before else "does not increase"
            yield words.mistake(x_name, f"{does} from {pair}", f"points in increasing order of {x_word}")
            return


def numbers(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """Finite numbers as Python's own.

    Raises
    ------
    InputError
        If they are anything else.
    """
    try:
        found = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        raise InputError(Mistake("is not a sequence of numbers", column=name)) from None
    if not all(map(math.isfinite, found)):
        raise InputError(Mistake("has a value that is not a finite number", "finite numbers", column=name))
    return found


def domain(values: Sequence[float]) -> tuple[float, float]:
    """A closed interval.

    Raises
    ------
    InputError
        If it is none.
    """
    ends = numbers("domain", values)
    if len(ends) != 2 or ends[0] > ends[1]:
        raise InputError(Mistake("is not an interval", "two numbers, the lower one first", column="domain"))
    return ends[0], ends[1]


def require_points(x: Sequence[float], y: Sequence[float]) -> None:
    """Refuse points that cannot be joined."""
    found = list(point_mistakes("x", x, "y", y, FieldWords()))
    if found:
        raise InputError(found)
