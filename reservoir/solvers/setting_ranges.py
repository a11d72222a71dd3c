"""Settings of an engine kept within their ranges, all mistakes told together."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from reservoir.errors import InputError, Mistake


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


def _within(value: Any, low: float, high: float) -> bool:
    kind = Integral if isinstance(low, int) else Real
    return isinstance(value, kind) and not isinstance(value, bool) and bool(low <= value <= high)  # type: ignore[operator]
