"""What the rows of a table by date stand for: a month, ten days, a week, a day, or a part of one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.time_step import DAYS_PER_WEEK, ONE_MONTH, TimeStep
from reservoir.io.inflow_csv.dates import MINUTES

#: Day numbers of Python's calendar, which begin with year 1, are those of NumPy's and this.
_DAY_OF_1970 = 719_163
_LAST_TEN_BEGIN = 20
#: From the shortest to the longest.
_BY_LENGTH = (TimeStep.DAY, TimeStep.WEEK, TimeStep.TEN_DAYS, TimeStep.MONTH)


class RowPeriod(NamedTuple):
    """What the value of a row is that of.

    Parameters
    ----------
    step : TimeStep
        A month, ten days of one, seven days, or a day.
    per_day : int
        Rows of each day; more than one in a record of hours.
    """

    step: TimeStep = TimeStep.MONTH
    per_day: int = 1

    @property
    def is_month(self) -> bool:
        """Whether it is a month."""
        return self.step is TimeStep.MONTH

    @property
    def adjective(self) -> str:
        """What values of it are called."""
        if self.per_day > 1:
            hours = MINUTES / self.per_day / 60
            return "hourly" if hours == 1 else f"{hours:g}-hour"
        return {"day": "daily", "week": "weekly", "ten-days": "ten-day", "month": "monthly"}[self.step]

    def is_longer_than(self, step: TimeStep) -> bool:
        """Whether rows are fewer than such steps."""
        return _BY_LENGTH.index(self.step) > _BY_LENGTH.index(step)

    def lengths(self, first_days: NDArray[np.int64]) -> NDArray[np.int64]:
        """Days of each period, by its first day; no months."""
        if self.step is not TimeStep.TEN_DAYS:
            return np.full(len(first_days), DAYS_PER_WEEK if self.step is TimeStep.WEEK else 1)
        days = dates_of(first_days)
        months = days.astype("datetime64[M]")
        next_month = day_numbers((months + ONE_MONTH).astype("datetime64[D]"))
        is_last = (days - months.astype("datetime64[D]")).astype(np.int64) == _LAST_TEN_BEGIN
        return np.where(is_last, next_month - first_days, 10)


#: What a row of a table by months is.
A_MONTH = RowPeriod()


class DayValues(NamedTuple):
    """Values of days.

    Parameters
    ----------
    days : ndarray of int, shape (days,)
        Day numbers, ascending.
    values : ndarray, shape (days,)
    """

    days: NDArray[np.int64]
    values: NDArray[np.float64]


def of_days(
    period: RowPeriod, first_days: NDArray[np.int64], values: NDArray[np.float64], *, amounts: bool
) -> DayValues:
    """Values of rows spread over their days, or brought together where a day has several.

    A day that lacks some of its rows is left out.

    Parameters
    ----------
    period : RowPeriod
        What rows stand for.
    first_days : ndarray of int, shape (rows,)
        Day numbers on which their periods begin, ascending.
    values : ndarray, shape (rows,)
    amounts : bool
        Whether a value is the sum of its period, such as a volume, and not its mean.
    """
    if period.step is TimeStep.DAY:
        days, place, count = np.unique(first_days, return_inverse=True, return_counts=True)
        total = np.bincount(place, weights=values, minlength=len(days))
        whole = count == period.per_day
        return DayValues(days[whole], (total if amounts else total / count)[whole])
    lengths = period.lengths(first_days)
    ends = np.cumsum(lengths)
    within = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
    return DayValues(
        np.repeat(first_days, lengths) + within, np.repeat(values / lengths if amounts else values, lengths)
    )


def day_numbers(dates: NDArray[np.datetime64]) -> NDArray[np.int64]:
    """Days of the calendar by number, as `datetime.date.toordinal` has them."""
    return np.asarray(dates.astype("datetime64[D]").astype(np.int64) + _DAY_OF_1970)


def dates_of(days: NDArray[np.int64]) -> NDArray[np.datetime64]:
    """Days of the calendar by their numbers."""
    return (days - _DAY_OF_1970).astype("datetime64[D]")
