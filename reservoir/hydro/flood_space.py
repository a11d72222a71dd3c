"""Flood space: how high a lake may be, by the time of the year and by a column of the record, such as snow."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.hydro.calendar import ONE_DAY, TimeStep

FloatArray = NDArray[np.float64]

#: Days of the year that dates are interpolated in; of no leap year.
_DAYS, _YEAR = 365, 2001


@dataclass(frozen=True, eq=False)
class FloodSpace:
    """The highest storage at the end of a step, between the values of a table and held at its ends.

    Parameters
    ----------
    column : str
        The column of the record that it depends on.
    values : tuple of float
        Values of that column, rising.
    upper_hm3 : array_like, shape (values, 12), (values, steps) or (values, dates)
        Highest storage for each value: at the end of calendar months, January first, of steps, or on dates.
    dates : tuple of str
        Days of the year such as ``04-01``, in order, between which it is interpolated; none where it is by month.
    """

    column: str
    values: tuple[float, ...]
    upper_hm3: Any
    dates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(float, self.values)))
        object.__setattr__(self, "dates", tuple(self.dates))
        object.__setattr__(self, "upper_hm3", tuple(np.array(row, np.float64) for row in self.upper_hm3))

    @property
    def stated(self) -> list[Any]:
        """All that it says, as numbers and texts, for digests."""
        return [list(self.values), [row.tolist() for row in self.upper_hm3], list(self.dates)]

    def by_step(self, step: TimeStep, first_month: int) -> FloatArray:
        """Highest storages at the ends of the steps of a water year, shape (values, steps)."""
        if not self.dates:
            rows = (step.in_water_year(step.listed(row, first_month), first_month) for row in self.upper_hm3)
            return np.stack([*rows])
        ends = step.first_days(first_month)[1:] - ONE_DAY
        days = (ends - ends.astype("datetime64[Y]").astype("datetime64[D]")).astype(float)
        known = [day_of_year(date) for date in self.dates]
        return np.stack([np.interp(days, known, row, period=_DAYS) for row in self.upper_hm3])

    def upper_of(self, index: ArrayLike, step: TimeStep, first_month: int) -> FloatArray:
        """Highest storages for values of the column, shape (years, steps); steps begin with the water year."""
        given, table = np.asarray(index, np.float64), self.by_step(step, first_month)
        columns = (np.interp(given[:, at], self.values, table[:, at % table.shape[1]]) for at in range(given.shape[1]))
        return np.stack([*columns], axis=1)


def is_day_of_year(date: str) -> bool:
    """Whether a text is a month and a day of it, such as ``04-01``."""
    try:
        return day_of_year(date) >= 0
    except ValueError:
        return False


def day_of_year(date: str) -> int:
    """Days of a year before a date such as ``04-01``; ValueError if it is none."""
    return datetime.date.fromisoformat(f"{_YEAR}-{date}").timetuple().tm_yday - 1
