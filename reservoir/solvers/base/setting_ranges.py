"""Settings of an engine kept within their ranges, all mistakes told together."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from reservoir.errors import InputError, Mistake

#: Points of a trace of which each costs memory.
MOST_POINTS = 10**6


def require_ranges(settings: Any, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Refuse settings that are out of range.

    Parameters
    ----------
    settings : object
        With an attribute of each name.
    ranges : mapping of str to pair
        Smallest and largest value of each setting; a whole number is asked for where the smallest is one.

    Raises
    ------
    InputError
        With every setting that is wrong.
    """
    mistakes = [
        Mistake(
            f"{name} is out of range",
            f"{low} to {high}{', a whole number' if isinstance(low, int) else ''}",
            f"choose another {name}",
            value=getattr(settings, name),
        )
        for name, (low, high) in ranges.items()
        if not _within(getattr(settings, name), low, high)
    ]
    if mistakes:
        raise InputError(mistakes)


def require_count(what: str, count: int, most: int, mend: str) -> None:
    """Refuse settings that together make too much of something, before it is allocated; InputError says of what."""
    if count > most:
        raise InputError(Mistake(f"there would be too many {what}", f"at most {most:,}", mend, value=count))


def _within(value: Any, low: float, high: float) -> bool:
    kind = Integral if isinstance(low, int) else Real
    return isinstance(value, kind) and not isinstance(value, bool) and bool(low <= value <= high)  # type: ignore[operator]
