"""Time steps: into what a water year is divided."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

#: A January without a leap day in its water year, whichever month that begins with.
_JANUARY = np.datetime64("2001-01")
#: A bare number has no unit to be added to a date.
ONE_MONTH, ONE_DAY = np.timedelta64(1, "M"), np.timedelta64(1, "D")
DAYS_PER_WEEK = 7
_FIRST_DAYS_OF_TEN = np.array([0, 10, 20])


class TimeStep(StrEnum):
    """How long a step is. Every water year has equally many, which begin on the same days each year."""

    MONTH = "month"
    TEN_DAYS = "ten-days"
    """From the 1st, the 11th and the 21st of each month; the third has 8 to 11 days."""
    WEEK = "week"
    """Counted from the first day of the water year; the 52nd has 8 or 9 days."""
    DAY = "day"
    """28 February and a leap day are one step of two days."""

    @property
    def per_year(self) -> int:
        """Steps of a water year."""
        return _PER_YEAR[self]

    @property
    def noun(self) -> str:
        """What one of them is called in a sentence."""
        return "ten-day period" if self is TimeStep.TEN_DAYS else self.value

    def first_days(self, first_month: int) -> NDArray[np.datetime64]:
        """First day of each step of a water year without a leap day, and of the next year, shape (per_year + 1,)."""
        begins = np.array([_JANUARY + (first_month - 1) * ONE_MONTH])
        return np.append(step_starts(begins, self), (begins + 12 * ONE_MONTH).astype("datetime64[D]"))

    def months(self, first_month: int) -> NDArray[np.int64]:
        """Calendar month (1 to 12) in which the middle of each step of a water year lies, shape (per_year,)."""
        edges = self.first_days(first_month)
        middles = edges[:-1] + (np.diff(edges) - ONE_DAY) // 2
        return np.asarray(middles.astype("datetime64[M]").astype(np.int64) % 12 + 1)

    def listed(self, values: NDArray[np.float64], first_month: int) -> NDArray[np.float64]:
        """A value of each step as lists have them: from January on, weeks in the order of the water year.

        Parameters
        ----------
        values : ndarray, shape (12,) or (per_year,)
            Of calendar months, January first, which is that of each of their steps; or such a list.
        first_month : int
        """
        if len(values) == self.per_year:
            return values
        return np.asarray(values[self.months(first_month if self is TimeStep.WEEK else 1) - 1])

    def in_water_year(self, values: NDArray[np.float64], first_month: int) -> NDArray[np.float64]:
        """Such a list in the order of the water year."""
        if self is TimeStep.WEEK:
            return values
        january_on = self.first_days(1)
        begins = int(np.searchsorted(january_on, (_JANUARY + (first_month - 1) * ONE_MONTH).astype("datetime64[D]")))
        return np.roll(values, -begins)


_PER_YEAR = {TimeStep.MONTH: 12, TimeStep.TEN_DAYS: 36, TimeStep.WEEK: 52, TimeStep.DAY: 365}


def step_starts(begins: NDArray[np.datetime64], step: TimeStep) -> NDArray[np.datetime64]:
    """First day of each step of water years that begin in these months (``datetime64[M]``), shape (..., per_year)."""
    first_months = begins[..., np.newaxis]
    match step:
        case TimeStep.WEEK:
            return np.asarray(first_months.astype("datetime64[D]") + DAYS_PER_WEEK * np.arange(step.per_year) * ONE_DAY)
        case TimeStep.DAY:
            return _days(begins)
    months = (first_months + np.arange(12) * ONE_MONTH).astype("datetime64[D]")
    if step is TimeStep.MONTH:
        return np.asarray(months)
    starts: NDArray[np.datetime64] = np.add(months[..., np.newaxis], _FIRST_DAYS_OF_TEN * ONE_DAY)
    return starts.reshape(*begins.shape, step.per_year)


def _days(begins: NDArray[np.datetime64]) -> NDArray[np.datetime64]:
    """Every day of water years but leap days."""
    months = (begins[..., np.newaxis] + np.arange(12) * ONE_MONTH).astype("datetime64[D]")
    first = int(begins.ravel()[0].astype(np.int64)) % 12
    lengths = np.roll([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], -first)
    within = np.concatenate([np.arange(length) for length in lengths])
    return np.asarray(np.repeat(months, lengths, axis=-1) + within * ONE_DAY)
