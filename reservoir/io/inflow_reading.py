"""How the caller wants an inflow file to be read, where the file can be read in several ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from reservoir.errors import InputError, Mistake

#: Days that no month has.
MOST_MISSING_DAYS = 30
#: What may be asked for.
WATER_YEARS, NEGATIVES = ("begins", "ends"), ("keep", "zero")


@dataclass(frozen=True)
class InflowReading:
    """What the caller says about an inflow file.

    Parameters
    ----------
    unit : str, optional
        Unit of the values.
    column : str, optional
        Name of the column of values, or of the variable.
    water_year : str, optional
        ``begins`` or ``ends``: the calendar year that names a water year.
    missing_days : int
        Days of a month that a daily record may lack, 0 to 30.
    negative : str, optional
        What becomes of negative values: ``keep`` or ``zero``; without it, they are refused.

    Raises
    ------
    InputError
        With every one that is out of range.
    """

    unit: str | None = None
    column: str | None = None
    water_year: str | None = None
    missing_days: int = 0
    negative: str | None = None

    def __post_init__(self) -> None:
        mistakes = tuple(self._mistakes())
        if mistakes:
            raise InputError(mistakes)

    def _mistakes(self) -> Iterator[Mistake]:
        for name in ("unit", "column"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                yield Mistake("is no name", "a text", "give a text", column=name, value=value)
        for name, known in (("water_year", WATER_YEARS), ("negative", NEGATIVES)):
            value = getattr(self, name)
            if value is not None and value not in known:
                yield Mistake("is unknown", " or ".join(known), "give one of these", column=name, value=value)
        days = self.missing_days
        if not isinstance(days, int) or isinstance(days, bool) or not 0 <= days <= MOST_MISSING_DAYS:
            expected = f"a whole number of days, 0 to {MOST_MISSING_DAYS}"
            yield Mistake("is out of range", expected, "give fewer days", column="missing_days", value=days)

    def as_dict(self) -> dict[str, Any]:
        """What is not as usual."""
        given = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return {name: value for name, value, usual in given if value != usual}
