"""Water years, their months and the days of each month."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.year_labels import YearLabels

MONTHS_PER_YEAR = 12
SECONDS_PER_DAY = 86_400
#: Of each month where all are equal.
DAYS_OF_EQUAL_MONTH = 30
#: Of a mean year, leap days included: what a steady power makes in "a year" of no particular length.
HOURS_PER_YEAR = 8766
#: Of each calendar month, February in the mean of years with and without a leap day.
HOURS_OF_MONTHS = tuple(24 * days for days in (31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31))
MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Calendar:
    """Consecutive water years of twelve calendar months, or stretches of another length that begin a year apart.

    An ensemble has the same years several times, one member after another; a part of it may begin and end within one.

    Parameters
    ----------
    first_year : int
        Calendar year in which the first water year begins.
    years : int
        Number of water years, of all members together.
    first_month : int
        Calendar month (1 to 12) in which every water year begins.
    steps : int
        Steps in a water year: 12. Stretches with more overlap; between those with fewer, months are left out.
    years_each : int, optional
        Water years of each member of an ensemble; all if not given, for there is one series.
    left_out : int
        Water years of an ensemble before the first of these, of which this is a part.
    equal_months : bool
        Whether every month has 30 days, as in published test problems.
    """

    first_year: int
    years: int
    first_month: int = 1
    steps: int = MONTHS_PER_YEAR
    years_each: int = 0
    left_out: int = 0
    equal_months: bool = False

    @property
    def is_ensemble(self) -> bool:
        """Whether there are members."""
        return self.years_each > 0

    @cached_property
    def months(self) -> NDArray[np.int64]:
        """Calendar month of each step, shape (steps,), values 1 to 12."""
        return (self.first_month - 1 + np.arange(self.steps)) % MONTHS_PER_YEAR + 1

    @cached_property
    def month_starts(self) -> NDArray[np.datetime64]:
        """First day of each step, shape (years, steps), in months (``datetime64[M]``)."""
        starts = (self.start_years - 1970) * MONTHS_PER_YEAR + self.first_month - 1
        return (starts[:, np.newaxis] + np.arange(self.steps)).astype("datetime64[M]")

    @cached_property
    def days(self) -> NDArray[np.int64]:
        """Days in each step, shape (years, steps); leap years have a February of 29."""
        starts = self.month_starts
        if self.equal_months:
            return np.full(starts.shape, DAYS_OF_EQUAL_MONTH)
        length = (starts + np.timedelta64(1, "M")).astype("datetime64[D]") - starts.astype("datetime64[D]")
        return np.asarray(length.astype(np.int64))

    @cached_property
    def of_member(self) -> NDArray[np.int64]:
        """Place in the whole ensemble of the member that each water year belongs to, shape (years,)."""
        return (self.left_out + np.arange(self.years)) // (self.years_each or self.years)

    @cached_property
    def start_years(self) -> NDArray[np.int64]:
        """Calendar year in which each water year begins, shape (years,)."""
        return self.first_year + (self.left_out + np.arange(self.years)) % (self.years_each or self.years)

    def span(self, first: int, stop: int) -> Calendar:
        """The water years from the place `first` up to `stop`."""
        if not self.is_ensemble:
            return replace(self, first_year=self.first_year + first, years=stop - first)
        return replace(self, years=stop - first, left_out=self.left_out + first)

    @cached_property
    def labels(self) -> YearLabels:
        """Name of each water year: ``1953``, ``1953/54`` where it spans two calendar years, or ``1953 to 1955``."""
        return YearLabels(self.start_years, (self.first_month + self.steps - 2) // MONTHS_PER_YEAR)

    @property
    def month_names(self) -> tuple[str, ...]:
        """Short English name of each step's month."""
        return tuple(MONTH_NAMES[month - 1] for month in self.months)

    @property
    def hm3_per_m3s(self) -> NDArray[np.float64]:
        """Volume (hm3) that a flow of 1 m3/s carries in each step, shape (years, steps)."""
        return self.days.astype(np.float64) * (SECONDS_PER_DAY / 1e6)
