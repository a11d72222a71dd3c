"""Water years, their steps and the days of each step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.time_step import ONE_DAY, ONE_MONTH, TimeStep, step_starts
from reservoir.hydro.year_labels import YearLabels

MONTHS_PER_YEAR = 12
#: Water years of a record: a few fewer than Python's calendar has. Longer records are planned in parts.
MOST_YEARS = 8_000
SECONDS_PER_DAY = 86_400
#: Of each month where all are equal.
DAYS_OF_EQUAL_MONTH = 30
#: Of a mean year, leap days included: what a steady power makes in "a year" of no particular length.
HOURS_PER_YEAR = 8766
#: hm3 that 1 m3/s carries in such a year.
HM3_PER_YEAR_AND_M3S = HOURS_PER_YEAR * 3600 / 1e6
#: Of each calendar month, February in the mean of years with and without a leap day.
HOURS_OF_MONTHS = tuple(24 * days for days in (31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31))
MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Calendar:
    """Consecutive water years of equally many steps, or stretches of another length that begin a year apart.

    An ensemble has the same years several times, one member after another; a part of it may begin and end within one.

    Parameters
    ----------
    first_year : int
        Calendar year in which the first water year begins.
    years : int
        Number of water years, of all members together.
    first_month : int
        Calendar month (1 to 12) in which every water year begins.
    steps : int, optional
        Steps in a water year. Stretches with more overlap; between those with fewer, steps are left out.
    years_each : int, optional
        Water years of each member of an ensemble; all if not given, for there is one series.
    left_out : int
        Water years of an ensemble before the first of these, of which this is a part.
    equal_months : bool
        Whether every month has 30 days, as in published test problems.
    step : TimeStep
        What a step is: a month, unless something else is said.
    """

    first_year: int
    years: int
    first_month: int = 1
    steps: int = 0
    years_each: int = 0
    left_out: int = 0
    equal_months: bool = False
    step: TimeStep = TimeStep.MONTH

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", self.steps or self.step.per_year)

    @property
    def is_ensemble(self) -> bool:
        """Whether there are members."""
        return self.years_each > 0

    @cached_property
    def months(self) -> NDArray[np.int64]:
        """Calendar month in which the middle of each step lies, 1 to 12, shape (steps,)."""
        return np.resize(self.step.months(self.first_month), self.steps)

    @cached_property
    def begins_month(self) -> NDArray[np.bool_]:
        """Whether a step is the first of its month, shape (steps,)."""
        return np.append(True, self.months[1:] != self.months[:-1])

    @cached_property
    def edges(self) -> NDArray[np.datetime64]:
        """First day of each step, and the day after the last, shape (years, steps + 1) (``datetime64[D]``)."""
        begins = (self.start_years - 1970) * MONTHS_PER_YEAR + self.first_month - 1
        reached = np.arange(self.steps // self.step.per_year + 1) * MONTHS_PER_YEAR
        years = (begins[:, np.newaxis] + reached).astype("datetime64[M]")
        starts = step_starts(years, self.step).reshape(self.years, -1)
        return starts[:, : self.steps + 1]

    @property
    def starts(self) -> NDArray[np.datetime64]:
        """First day of each step, shape (years, steps) (``datetime64[D]``)."""
        return self.edges[:, :-1]

    @cached_property
    def days(self) -> NDArray[np.int64]:
        """Days in each step, shape (years, steps); leap years have a February of 29."""
        if self.equal_months:
            return np.full((self.years, self.steps), DAYS_OF_EQUAL_MONTH)
        return np.asarray(np.diff(self.edges, axis=1).astype(np.int64))

    @cached_property
    def part_of_month(self) -> NDArray[np.float64]:
        """Days of each step in parts of those of its month, shape (years, steps)."""
        if self.step is TimeStep.MONTH:
            return np.ones((self.years, self.steps))
        month = (self.starts + (self.days - 1) // 2 * ONE_DAY).astype("datetime64[M]")
        days_of_month = ((month + ONE_MONTH).astype("datetime64[D]") - month.astype("datetime64[D]")).astype(np.int64)
        return np.asarray(self.days / days_of_month)

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
        years, place = divmod(self.steps - 1, self.step.per_year)
        last = self.step.first_days(self.first_month)[place].astype("datetime64[M]").astype(np.int64)
        return YearLabels(self.start_years, years + int(last % MONTHS_PER_YEAR < self.first_month - 1))

    @cached_property
    def step_names(self) -> tuple[str, ...]:
        """Name of each step: its month's in short, or its first day such as ``11 Jan``."""
        return tuple(np.resize(step_names(self.step, self.first_month), self.steps).tolist())

    @property
    def hm3_per_m3s(self) -> NDArray[np.float64]:
        """Volume (hm3) that a flow of 1 m3/s carries in each step, shape (years, steps)."""
        return self.days.astype(np.float64) * (SECONDS_PER_DAY / 1e6)


def step_names(step: TimeStep, first_month: int) -> tuple[str, ...]:
    """Name of each step of a water year: its month's in short, or its first day such as ``11 Jan``."""
    days = step.first_days(first_month)[:-1]
    months = days.astype("datetime64[M]")
    names = [MONTH_NAMES[month] for month in (months.astype(np.int64) % MONTHS_PER_YEAR).tolist()]
    if step is TimeStep.MONTH:
        return tuple(names)
    of_month = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
    return tuple(f"{day} {name}" for day, name in zip(of_month.tolist(), names, strict=True))
