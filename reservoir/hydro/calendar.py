"""Water years, their months and the days of each month."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

MONTHS_PER_YEAR = 12
SECONDS_PER_DAY = 86_400
#: Of a mean year, leap days included: what a steady power makes in "a year" of no particular length.
HOURS_PER_YEAR = 8766
#: Of each calendar month, February in the mean of years with and without a leap day.
HOURS_OF_MONTHS = tuple(24 * days for days in (31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31))
MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Calendar:
    """Consecutive water years of twelve calendar months, or stretches of another length that begin a year apart.

    Parameters
    ----------
    first_year : int
        Calendar year in which the first water year begins.
    years : int
        Number of water years.
    first_month : int
        Calendar month (1 to 12) in which every water year begins.
    steps : int
        Steps in a water year: 12. Stretches with more overlap; between those with fewer, months are left out.
    """

    first_year: int
    years: int
    first_month: int = 1
    steps: int = MONTHS_PER_YEAR

    @cached_property
    def months(self) -> NDArray[np.int64]:
        """Calendar month of each step, shape (steps,), values 1 to 12."""
        return (self.first_month - 1 + np.arange(self.steps)) % MONTHS_PER_YEAR + 1

    @cached_property
    def month_starts(self) -> NDArray[np.datetime64]:
        """First day of each step, shape (years, steps), in months (``datetime64[M]``)."""
        first = (self.first_year - 1970) * MONTHS_PER_YEAR + self.first_month - 1
        starts = first + MONTHS_PER_YEAR * np.arange(self.years)
        return (starts[:, np.newaxis] + np.arange(self.steps)).astype("datetime64[M]")

    @cached_property
    def days(self) -> NDArray[np.int64]:
        """Days in each step, shape (years, steps); leap years have a February of 29."""
        starts = self.month_starts
        length = (starts + np.timedelta64(1, "M")).astype("datetime64[D]") - starts.astype("datetime64[D]")
        return np.asarray(length.astype(np.int64))

    @property
    def start_years(self) -> range:
        """Calendar year in which each water year begins."""
        return range(self.first_year, self.first_year + self.years)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Name of each water year: ``1953``, ``1953/54`` where it spans two calendar years, or ``1953 to 1955``."""
        later = (self.first_month + self.steps - 2) // MONTHS_PER_YEAR
        if later > 1:
            return tuple(f"{year} to {year + later}" for year in self.start_years)
        return tuple(year_label(year, 1 + later) for year in self.start_years)

    @property
    def month_names(self) -> tuple[str, ...]:
        """Short English name of each step's month."""
        return tuple(MONTH_NAMES[month - 1] for month in self.months)

    @property
    def hm3_per_m3s(self) -> NDArray[np.float64]:
        """Volume (hm3) that a flow of 1 m3/s carries in each step, shape (years, steps)."""
        return self.days.astype(np.float64) * (SECONDS_PER_DAY / 1e6)


def year_label(start_year: int, first_month: int) -> str:
    """Name the water year that begins in `first_month` of `start_year`."""
    if first_month == 1:
        return str(start_year)
    return f"{start_year}/{(start_year + 1) % 100:02d}"
