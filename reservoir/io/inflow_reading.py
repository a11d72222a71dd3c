"""How the caller wants an inflow file to be read, where the file can be read in several ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.hydro.time_step import TimeStep

#: Days that no month has.
MOST_MISSING_DAYS = 30
#: What may be asked for.
WATER_YEARS, NEGATIVES, STEPS = ("begins", "ends"), ("keep", "zero"), tuple(TimeStep)


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
        Days that a step may lack, 0 to 30.
    negative : str, optional
        What becomes of negative values: ``keep`` or ``zero``; without it, they are refused.
    step : TimeStep
        What the record is averaged to.

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
    step: TimeStep = TimeStep.MONTH

    def __post_init__(self) -> None:
        mistakes = tuple(self._mistakes())
        if mistakes:
            raise InputError(mistakes)
        object.__setattr__(self, "step", TimeStep(self.step))

    def _mistakes(self) -> Iterator[Mistake]:
        for name in ("unit", "column"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                yield Mistake("is no name", "a text", "give a text", column=name, value=value)
        for name, known in (("water_year", (None, *WATER_YEARS)), ("negative", (None, *NEGATIVES)), ("step", STEPS)):
            value = getattr(self, name)
            if value not in known:
                expected = " or ".join(str(each) for each in known if each)
                yield Mistake("is unknown", expected, "give one of these", column=name, value=value)
        days = self.missing_days
        if not isinstance(days, int) or isinstance(days, bool) or not 0 <= days <= MOST_MISSING_DAYS:
            expected = f"a whole number of days, 0 to {MOST_MISSING_DAYS}"
            yield Mistake("is out of range", expected, "give fewer days", column="missing_days", value=days)

    def require_months(self, what: str) -> None:
        """Refuse shorter steps for what is read by months only: InputError."""
        if self.step is not TimeStep.MONTH:
            problem = f'{what} is read by months only, not by step "{self.step}"'
            mend = f'plan months (step "{TimeStep.MONTH}"), or give the daily record of one series as a CSV file'
            raise InputError(Mistake(problem, "months", mend))

    def as_dict(self) -> dict[str, Any]:
        """What is not as usual, but for the step, which a calendar says."""
        given = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return {name: value for name, value, usual in given if value != usual and name != "step"}


def too_long(rows: TimeStep, step: TimeStep) -> Mistake:
    """Refuse a step shorter than what a row of a record stands for."""
    problem = f'the record has one value a {rows.noun}; step "{step}" needs a daily record'
    return Mistake(problem, f'step "{rows}" or longer', f'plan {rows.noun}s (step "{rows}"), or give a daily record')
