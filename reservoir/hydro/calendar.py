"""Water years: their steps, the days and the names of each, and whole years cut out of consecutive steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.text.quantities import counted

#: A January without a leap day in its water year, whichever month that begins with.
_JANUARY = np.datetime64("2001-01")
#: A bare number has no unit to be added to a date.
ONE_MONTH, ONE_DAY = np.timedelta64(1, "M"), np.timedelta64(1, "D")
DAYS_PER_WEEK = 7
_FIRST_DAYS_OF_TEN = np.array([0, 10, 20])


class CalendarKind(StrEnum):
    """How long months are: as they are, 30 days each as in published test problems, or as in a mean year."""

    REAL = "real"
    EQUAL_MONTHS = "equal-months"
    MEAN_MONTHS = "mean-months"
    """February has 28.25 days, so that every year is as long as any other."""

    @property
    def words(self) -> str:
        """What a record of it has."""
        return self.value.replace("-", " ") if self is not CalendarKind.REAL else "months as they are"


class TimeStep(StrEnum):
    """How long a step is. Every water year has equally many, which begin on the same days each year."""

    MONTH = "month", 12
    TEN_DAYS = "ten-days", 36, "ten-day period"
    """From the 1st, the 11th and the 21st of each month; the third has 8 to 11 days."""
    WEEK = "week", 52
    """Counted from the first day of the water year; the 52nd has 8 or 9 days."""
    DAY = "day", 365
    """28 February and a leap day are one step of two days."""

    #: Steps of a water year.
    per_year: int
    #: What one of them is called in a sentence.
    noun: str

    def __new__(cls, name: str, per_year: int = 0, noun: str = "") -> TimeStep:
        """Make a member of the name that files and options have."""
        step = str.__new__(cls, name)
        step._value_, step.per_year, step.noun = name, per_year, noun or name
        return step

    @property
    def hours(self) -> float:
        """Hours of one; of those that are not all as long, of a mean one."""
        return {TimeStep.DAY: 24.0, TimeStep.WEEK: 168.0}.get(self, HOURS_PER_YEAR / self.per_year)

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


@dataclass(frozen=True, eq=False)
class YearLabels(Sequence[str]):
    """Names of water years: ``1953``, ``1953/54``, ``1953 to 1955``; of an ensemble ``3: 1953``. Equal to their tuple.

    Parameters
    ----------
    start_years : ndarray, shape (years,)
        Calendar years in which they begin.
    later : int
        How many calendar years later they end.
    members : ndarray of str, shape (years,), optional
        Names of the members of an ensemble that they belong to.
    """

    start_years: NDArray[np.int64]
    later: int = 0
    members: NDArray[np.str_] | None = None

    def __len__(self) -> int:
        return len(self.start_years)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice | NDArray[np.integer]) -> YearLabels: ...
    def __getitem__(self, index: int | slice | NDArray[np.integer]) -> str | YearLabels:
        member = None if self.members is None else self.members[index]
        if isinstance(index, slice | np.ndarray):
            return replace(self, start_years=self.start_years[index], members=member)
        year = year_label(int(self.start_years[index]), self.later)
        return year if member is None else f"{member}: {year}"

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def some_labels(labels: Sequence[str], which: slice | NDArray[np.integer]) -> Sequence[str]:
    """Some of the names, by their places."""
    if isinstance(labels, YearLabels):
        return labels[which]
    return labels[which] if isinstance(which, slice) else tuple(labels[place] for place in which.tolist())


def year_label(start_year: int, later: int) -> str:
    """Name the water year that begins in a calendar year and ends so many later."""
    if later > 1:
        return f"{start_year} to {start_year + later}"
    return f"{start_year}/{(start_year + 1) % 100:02d}" if later else str(start_year)


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
HOURS_PER_DAY = 24
HOURS_OF_MONTHS = tuple(HOURS_PER_DAY * days for days in (31, 28.25, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31))
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
    kind : CalendarKind
        How long months are.
    step : TimeStep
        What a step is: a month, unless something else is said.
    """

    first_year: int
    years: int
    first_month: int = 1
    steps: int = 0
    years_each: int = 0
    left_out: int = 0
    kind: CalendarKind = CalendarKind.REAL
    step: TimeStep = TimeStep.MONTH

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", self.steps or self.step.per_year)
        object.__setattr__(self, "kind", CalendarKind(self.kind))

    @classmethod
    def holding(cls, first: int, months: int, first_month: int) -> tuple[Calendar, int]:
        """The water years that hold so many months, and in them the place of the first, itself counted from year 0."""
        year, place = divmod(first - (first_month - 1), MONTHS_PER_YEAR)
        return cls(year, -(-(place + months) // MONTHS_PER_YEAR), first_month), place

    @classmethod
    def of_months(cls, first: int, months: int) -> Calendar:
        """So many months as one year of theirs; the first is counted from January of year 0."""
        return cls(first // MONTHS_PER_YEAR, 1, first % MONTHS_PER_YEAR + 1, months)

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
    def days(self) -> NDArray[np.int64] | NDArray[np.float64]:
        """Days in each step, shape (years, steps); leap years have a real February of 29."""
        if self.kind is CalendarKind.EQUAL_MONTHS:
            return np.full((self.years, self.steps), DAYS_OF_EQUAL_MONTH)
        if self.kind is CalendarKind.MEAN_MONTHS:
            return np.tile(np.array(HOURS_OF_MONTHS)[self.months - 1] / HOURS_PER_DAY, (self.years, 1))
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
        return np.asarray(self.days, np.float64) * (SECONDS_PER_DAY / 1e6)


def step_names(step: TimeStep, first_month: int) -> tuple[str, ...]:
    """Name of each step of a water year: its month's in short, or its first day such as ``11 Jan``."""
    days = step.first_days(first_month)[:-1]
    months = days.astype("datetime64[M]")
    names = [MONTH_NAMES[month] for month in (months.astype(np.int64) % MONTHS_PER_YEAR).tolist()]
    if step is TimeStep.MONTH:
        return tuple(names)
    of_month = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
    return tuple(f"{day} {name}" for day, name in zip(of_month.tolist(), names, strict=True))


def month_name(ordinal: int) -> str:
    """Write a month, counted from January of year 0, as ``1953-01``."""
    year, month = divmod(ordinal, MONTHS_PER_YEAR)
    return f"{year:04}-{month + 1:02}"


def step_name(calendar: Calendar, place: int) -> str:
    """Write a step of a calendar, counted from its first, as ``1953-01``, or as its first day if it is no month."""
    if calendar.step is TimeStep.MONTH:
        return month_name(calendar.first_year * MONTHS_PER_YEAR + calendar.first_month - 1 + place)
    return str(calendar.starts.ravel()[place])


def whole_years(
    touched: Calendar, first: int, steps: int, own_first_month: int = 1
) -> tuple[slice, Calendar, tuple[str, ...]]:
    """Cut consecutive steps into whole water years, and leave out the steps at either end.

    Parameters
    ----------
    touched : Calendar
        Water years that hold all of the steps (`Calendar.holding`).
    first : int
        The first step, counted from the first of that calendar.
    steps : int
        Number of steps.
    own_first_month : int
        Calendar month in which the record's own years begin; if it is another, a note says how years are named.

    Returns
    -------
    slice
        The steps of whole water years.
    Calendar
        Those years.
    tuple of str
        Which steps were left out.

    Raises
    ------
    InputError
        If there is no whole water year.
    """
    per_year, first_month, noun = touched.steps, touched.first_month, touched.step.noun
    begin, end = MONTH_NAMES[first_month - 1], MONTH_NAMES[first_month - 2]
    start = -first % per_year
    years = (steps - start) // per_year
    if years < 1:
        problem = f"no complete water year ({begin} to {end}) in {_span(touched, first, steps)}"
        mend = f"add {noun}s to the record, or set another first month of the water year"
        raise InputError(problem, "at least one complete water year", mend)
    stop = start + years * per_year
    calendar, notes = touched.span((first + start) // per_year, (first + stop) // per_year), list[str]()
    if first_month not in (1, own_first_month):
        span = f"{begin} {calendar.first_year} to {end} {calendar.first_year + 1}"
        notes.append(f"a water year is named by both its years: {calendar.labels[0]} is {span}")
    if start:
        notes.append(f"left out {_span(touched, first, start)}, before the first whole water year ({begin} to {end})")
    if steps > stop:
        after = _span(touched, first + stop, steps - stop)
        notes.append(f"left out {after}, after the last whole water year ({begin} to {end})")
    return slice(start, stop), calendar, tuple(notes)


def _span(calendar: Calendar, first: int, steps: int) -> str:
    """Name consecutive steps, those that are no months by their first and last day."""
    name = step_name(calendar, first)
    if steps == 1 and calendar.step in (TimeStep.MONTH, TimeStep.DAY):
        return name
    last = step_name(calendar, first + steps - 1)
    if calendar.step is not TimeStep.MONTH:
        year, place = divmod(first + steps - 1, calendar.steps)
        last = str(calendar.edges[year, place + 1] - np.timedelta64(1, "D"))
    return f"{name} to {last} ({counted(steps, calendar.step.noun)})"
