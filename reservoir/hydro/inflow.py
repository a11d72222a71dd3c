"""An inflow record: mean flow of every step of consecutive water years; from and to pandas, and as traces.

Traces are stretches of a record that begin in a given month, one in each year; each is a scenario of what may come, as
in extended streamflow prediction (Day 1985, J. Water Resour. Plann. Manage. 111:157-170).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import EVAPORATION_MM, FLOOD_INDEX, FLOW_M3S, LOSS_HM3, PRICE_PER_MWH, Range
from reservoir.hydro.calendar import (
    MONTH_NAMES,
    MONTHS_PER_YEAR,
    ONE_MONTH,
    Calendar,
    TimeStep,
    YearLabels,
    month_name,
    whole_years,
)
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.unit_system import SI, UnitSystem
from reservoir.text.quantities import counted, quantity, typeset_unit

if TYPE_CHECKING:
    import pandas as pd

_mistake = partial(Mistake, column="series")
#: Mistakes of a series that are listed; further ones are counted.
_MOST_LISTED = 12


class FileRows(NamedTuple):
    """The rows of a file that a record was averaged from, in the order of time, and not only those of whole years."""

    #: First day of each row, or its month; shape (rows,).
    starts: NDArray[np.datetime64]
    #: Mean flow of each (m3/s), negative where the file has that.
    flow_m3s: NDArray[np.float64]
    #: What a row stands for; of hours, a day, of which there are so many rows.
    step: TimeStep
    per_day: int = 1
    #: Days of which all rows are there, where rows are those of days or hours.
    days: NDArray[np.datetime64] = np.empty(0, "datetime64[D]")


def periods_of(calendar: Calendar) -> pd.PeriodIndex | pd.DatetimeIndex:
    """Every month of a calendar, in order; of shorter steps the first days."""
    import pandas as pd

    if calendar.step is not TimeStep.MONTH:
        return first_days(calendar)
    return pd.PeriodIndex(calendar.starts.ravel(), freq="M")


def first_days(calendar: Calendar) -> pd.DatetimeIndex:
    """First day of every step of a calendar, named ``date``."""
    import pandas as pd

    # In seconds: nanoseconds reach back to 1677 only.
    return pd.DatetimeIndex(calendar.starts.astype("datetime64[s]").ravel(), name="date")


def flows_by_date(series: pd.Series[float], calendar: Calendar, column: str) -> NDArray[np.float64]:
    """Mean flows of the steps of a calendar, by the dates of a series, shape (years, steps).

    Months may have any date within them; shorter steps have that of their first day.

    Raises
    ------
    InputError
        As `Inflow.from_series`, with the name of the argument (`column`); if months of the calendar are missing.
    """
    if calendar.step is not TimeStep.MONTH:
        return _flows_of_days(series, calendar, column)
    months, flow = _monthly_flows(series, column)
    wanted = calendar.starts.astype("datetime64[M]").astype(np.int64) + 1970 * MONTHS_PER_YEAR  # from January of year 0
    first, last = int(wanted.min()), int(wanted.max())
    if months[0] > first or months[-1] < last:
        expected = f"{month_name(first)} to {month_name(last)}, the months of the record"
        problem = f"has {month_name(months[0])} to {month_name(months[-1])} only"
        mend = "add the missing months, or take a part of the record with Inflow.span"
        raise InputError(problem, expected, mend, column=column)
    return np.asarray(flow[wanted - months[0]])


def _flows_of_days(series: pd.Series[float], calendar: Calendar, column: str) -> NDArray[np.float64]:
    """Mean flows of steps shorter than a month, each with its first day."""
    import pandas as pd

    index = series.index.to_timestamp() if isinstance(series.index, pd.PeriodIndex) else pd.DatetimeIndex(series.index)
    flow, wanted = pd.Series(_numbers(series), index.normalize()), first_days(calendar)
    refused = partial(Mistake, column=column)
    doubled = flow.index[flow.index.duplicated()]
    if len(doubled):
        raise InputError(refused(f"the day {doubled[0]:%Y-%m-%d} appears twice", "one value per step"))
    of_steps = np.asarray(flow.reindex(wanted), np.float64).reshape(calendar.years, calendar.steps)
    wrong = wanted[~(np.isfinite(of_steps) & (of_steps >= 0)).ravel()]
    if len(wrong):
        noun = calendar.step.noun
        problem = f"has no flow of 0 m3/s or more for {counted(len(wrong), noun)}, first that from {wrong[0]:%Y-%m-%d}"
        expected = f"a value with the first day of every {noun} of the record"
        raise InputError(refused(problem, expected, "add these values, or give an array in the order of the record"))
    return of_steps


def _monthly_flows(series: object, column: str) -> tuple[list[int], NDArray[np.float64]]:
    """Month of each value, counted from January of year 0, and mean flows: in order, without gaps, none negative."""
    months = _months(series)
    flow = _numbers(series)  # type: ignore[arg-type]
    mistakes = [*_sequence_mistakes(months)]
    for place in np.flatnonzero(~(np.isfinite(flow) & (flow >= 0))).tolist():
        value = float(flow[place])
        problem = f"the flow of {month_name(months[place])} is " + ("negative" if value < 0 else "not a finite number")
        mend = "correct or fill in this month"
        mistakes.append(_mistake(problem, "a mean flow of 0 m3/s or more", mend, value=value))
    more = len(mistakes) - _MOST_LISTED
    if more > 0:
        rest = _mistake(f"{more} more mistakes", mend="correct these first, then try again")
        mistakes = [*mistakes[:_MOST_LISTED], rest]
    if mistakes:
        raise InputError(replace(mistake, column=column) for mistake in mistakes)
    return months, flow


def _months(series: object) -> list[int]:
    """Month of each value, counted from January of year 0."""
    import pandas as pd

    expected = "a pandas.Series of monthly mean flows with a DatetimeIndex or a monthly PeriodIndex"
    if not isinstance(series, pd.Series):
        mend = "take one column of a table, or make pandas.Series(values, index)"
        raise InputError(_mistake("is not a series", expected, mend, value=type(series).__name__))
    index = series.index
    other_period = isinstance(index, pd.PeriodIndex) and index.dtype != "period[M]"
    if other_period or not isinstance(index, pd.DatetimeIndex | pd.PeriodIndex):
        kind = str(index.dtype) if isinstance(index, pd.PeriodIndex) else type(index).__name__
        mend = 'set series.index = pandas.PeriodIndex(months, freq="M")'
        raise InputError(_mistake("the index has no months", expected, mend, value=kind))
    if series.empty:
        raise InputError(_mistake("has no values", "at least 12 months", "add the months of a water year"))
    missing = np.flatnonzero(index.isna())
    if missing.size:
        problem = f"value {missing[0] + 1} has no date"
        raise InputError(_mistake(problem, "a date for every value", "add the date, or remove the value"))
    return [int(month) for month in index.year * MONTHS_PER_YEAR + index.month - 1]


def _numbers(series: pd.Series[float]) -> NDArray[np.float64]:
    try:
        return np.asarray(series.to_numpy(np.float64, na_value=np.nan))
    except (TypeError, ValueError, OverflowError) as error:
        mend = "convert them, for example by pandas.to_numeric"
        mistake = _mistake("the values are not numbers", "mean flows in m3/s", mend, value=str(series.dtype))
        raise InputError(mistake) from error


def _sequence_mistakes(months: list[int]) -> Iterator[Mistake]:
    for before, after in pairwise(months):
        name = month_name(after)
        if after == before:
            mend = 'keep one value; if the series is daily, use series.resample("MS").mean()'
            yield _mistake(f"the month {name} appears twice", "one value per month", mend)
        elif after < before:
            expected = "months in order"
            yield _mistake(f"{name} comes after {month_name(before)}", expected, "use series.sort_index()")
        elif after > before + 1:
            first, last = month_name(before + 1), month_name(after - 1)
            missing = f"{first} is missing" if first == last else f"{first} to {last} are missing"
            mend = "add the missing months, or keep only the part of the record before or after the gap"
            yield _mistake(missing, "every month from the first to the last", mend)


#: What a record may say of its steps beside the inflow, and the range of each.
_COMPANION_RANGES: Mapping[str, Range] = {
    "evaporation_mm": EVAPORATION_MM,
    "withdrawal_m3s": FLOW_M3S,
    "price_per_mwh": PRICE_PER_MWH,
    "evaporation_hm3": LOSS_HM3,
    "bank_storage_hm3": LOSS_HM3,
    "flood_index": FLOOD_INDEX,
}
COMPANIONS = tuple(_COMPANION_RANGES)
#: Of these, losses as they were recorded: volumes of a step.
RECORDED_LOSSES = ("evaporation_hm3", "bank_storage_hm3")
#: Where the unit of a file was said, if it was not.
ASSUMED = "assumed: the file gives no unit"
#: From a member's random numbers to the next one's: 2**32 over the golden ratio, made odd.
_STREAM_STEP = 0x9E3779B1


# Compared by identity: arrays have no single truth value, and an identity can be a key.
@dataclass(frozen=True, eq=False)
class Inflow:
    """Mean inflow of each step of each water year.

    Parameters
    ----------
    flow_m3s : ndarray, shape (years, steps)
        Mean flow of each step (m3/s), of no more than any river's and, unless `allow_negative`, not negative; kept as
        a read-only copy.
    calendar : Calendar
        The water years that the flows belong to.
    notes : tuple of str
        What the user should know, such as months left out of incomplete water years.
    caveat : str
        Shown on every figure drawn from this record.
    source, sha256 : str
        The file as it was named, and the hash of its bytes.
    unit, unit_from : str
        Unit of the values in that file, and where it was said (or that it was assumed); empty without a file.
    content : bytes
        That file, which may have been a pipe.
    evaporation_mm, withdrawal_m3s : ndarray, shape (years, steps), optional
        Net evaporation and the withdrawal demanded in each step; without them, the reservoir's of the calendar month.
    price_per_mwh : ndarray, shape (years, steps), optional
        Price of energy in each step; without it, the reservoir's of the calendar month.
    evaporation_hm3, bank_storage_hm3 : ndarray, shape (years, steps), optional
        Net evaporation and what goes into the banks in each step, as recorded: they are lost whatever the storage is,
        the first in place of evaporation by area.
    flood_index : ndarray, shape (years, steps), optional
        What the reservoir's flood space depends on.
    members : ndarray of str, optional
        Names of the members of an ensemble, in their order; without them, they are numbered from 1.
    reading : mapping
        How the caller asked for that file to be read, where it was not as usual.
    allow_negative : bool
        Whether flows may be negative, as those computed from a reservoir's balance are.
    rows : FileRows, optional
        Rows of that file, which may be those of days.
    typical_years : mapping of str to str, optional
        Labels of the years that figures show as ``wet``, ``normal`` and ``dry``, of a record that states them.

    Raises
    ------
    InputError
        If the flows do not fit the calendar, or are not finite, or are negative.
    """

    flow_m3s: NDArray[np.float64]
    calendar: Calendar
    notes: tuple[str, ...] = ()
    caveat: str = ""
    source: str = ""
    sha256: str = ""
    unit: str = ""
    unit_from: str = ""
    content: bytes = field(default=b"", repr=False)
    evaporation_mm: NDArray[np.float64] | None = None
    withdrawal_m3s: NDArray[np.float64] | None = None
    price_per_mwh: NDArray[np.float64] | None = None
    evaporation_hm3: NDArray[np.float64] | None = None
    bank_storage_hm3: NDArray[np.float64] | None = None
    flood_index: NDArray[np.float64] | None = None
    members: NDArray[np.str_] | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    allow_negative: bool = False
    rows: FileRows | None = field(default=None, repr=False)
    typical_years: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        flow = _checked(self.flow_m3s, self.calendar, -np.inf if self.allow_negative else 0.0)
        flow.setflags(write=False)
        object.__setattr__(self, "flow_m3s", flow)
        if self.calendar.is_ensemble:
            object.__setattr__(self, "members", _names(self.members, self.calendar.of_member))
        for name, allowed in _COMPANION_RANGES.items():
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, _column(name, given, flow.shape, allowed))
        if self.evaporation_mm is not None and self.evaporation_hm3 is not None:
            problem, mend = "is given beside evaporation_mm", "leave out one of the two"
            raise InputError(problem, "evaporation as a depth or as a volume", mend, self.source, "evaporation_hm3")

    def __repr__(self) -> str:
        return f"<Inflow {self.span_text}: {counted(self.years, 'year')}, mean {quantity(self.mean_m3s)} m3/s>"

    @classmethod
    def from_series(cls, series: pd.Series[float], first_month: int = 1, *, caveat: str = "") -> Inflow:
        """Take monthly flows from pandas.

        Parameters
        ----------
        series : pandas.Series
            Mean flow of each month (m3/s). Its index is a monthly PeriodIndex, or a DatetimeIndex of which each date
            stands for its calendar month; in order and without gaps.
        first_month : int
            Calendar month (1 to 12) in which the water year begins. Months at either end that fill no whole water
            year are left out, and named in `notes`.
        caveat : str
            Shown on every figure drawn from this record.

        Raises
        ------
        InputError
            With every month that is missing, repeated, out of order, negative or not a number; if the index has no
            months; if there is no whole water year.
        """
        if isinstance(first_month, bool) or first_month not in range(1, MONTHS_PER_YEAR + 1):
            mend = "give the calendar month in which the water year begins"
            raise InputError("is not a month", "1 to 12", mend, column="first_month", value=first_month)
        months, flow = _monthly_flows(series, "series")
        holding = Calendar.holding(months[0], len(months), int(first_month))
        inside, calendar, notes = whole_years(*holding, len(months))
        return cls(flow[inside].reshape(-1, MONTHS_PER_YEAR), calendar, notes=notes, caveat=caveat)

    def to_series(self) -> pd.Series[float]:
        """Mean flow of each month (m3/s), named ``inflow_m3s``, by a monthly PeriodIndex."""
        import pandas as pd

        return pd.Series(self.flow_m3s.ravel(), index=periods_of(self.calendar), name="inflow_m3s")

    def span(self, first: int, stop: int) -> Inflow:
        """Consecutive years of the record, from the place `first` up to `stop`."""
        calendar = self.calendar.span(first, stop)
        members = None
        if self.members is not None:
            of_member = self.calendar.of_member - self.calendar.of_member[0]
            members = self.members[of_member[first] : of_member[stop - 1] + 1]
        columns = {name: getattr(self, name) for name in ("flow_m3s", *COMPANIONS)}
        some: dict[str, Any] = {name: None if each is None else each[first:stop] for name, each in columns.items()}
        return replace(self, **some, calendar=calendar, members=members, rows=None)

    @property
    def has_conditions(self) -> bool:
        """Whether the record says more of its steps than the inflow."""
        costs = self.price_per_mwh is not None and bool(self.price_per_mwh.min() < 0)
        return costs or any(getattr(self, name) is not None for name in (*RECORDED_LOSSES, *COMPANIONS[:2]))

    @property
    def recorded_losses_hm3(self) -> dict[str, NDArray[np.float64]]:
        """Losses of each step that were recorded, by their fields."""
        losses = {name: getattr(self, name) for name in RECORDED_LOSSES}
        return {name: volume for name, volume in losses.items() if volume is not None}

    def require_no_members(self, what: str) -> None:
        """Refuse an ensemble for what goes through the years of one record: InputError."""
        if self.members is not None:
            problem = f"{what} cannot work on an ensemble yet: this one has {counted(len(self.members), 'member')}"
            raise InputError(problem, "one record", "give the record of one member", file=self.source)

    def require_months(self, what: str) -> None:
        """Refuse steps other than months for what knows only these: InputError."""
        step = self.calendar.step
        if step is not TimeStep.MONTH:
            problem, mend = f"{what} needs months: this record has {step.noun}s", 'read the record with step "month"'
            raise InputError(problem, "months", mend, file=self.source)

    def require_whole_members(self, what: str) -> None:
        """Refuse a part of an ensemble that begins or ends within a member, for what goes through its years."""
        each = self.calendar.years_each
        if each and (self.calendar.left_out % each or self.years % each):
            problem = f"{what} needs whole members: this part of an ensemble begins or ends within one of {each} years"
            raise InputError(problem, "whole members", "give the years of whole members", file=self.source)

    @property
    def member_count(self) -> int:
        """Number of members; 1 of a record."""
        return 1 if self.members is None else len(self.members)

    @property
    def years(self) -> int:
        """Number of water years."""
        return self.calendar.years

    @property
    def steps(self) -> int:
        """Steps in a water year."""
        return self.calendar.steps

    @cached_property
    def labels(self) -> YearLabels:
        """Name of each water year."""
        return replace(self.calendar.labels, members=self.member_of_year)

    @property
    def span_text(self) -> str:
        """The first and the last year: ``1953 to 2014``; of an ensemble ``100 members, each 2001 to 2030``."""
        years = self.calendar.labels[: self.calendar.years_each or None]
        span = " to ".join(dict.fromkeys((years[0], years[-1])))
        return span if self.members is None else f"{counted(len(self.members), 'member')}, each {span}"

    @cached_property
    def member_of_year(self) -> NDArray[np.str_] | None:
        """Name of the member that each water year belongs to, shape (years,); None unless it is an ensemble."""
        of_member = self.calendar.of_member
        return None if self.members is None else self.members[of_member - of_member[0]]

    @property
    def rng_stream_ids(self) -> NDArray[np.int64]:
        """What names the random numbers of each water year, shape (years,): its calendar year, and its member."""
        return (self.calendar.start_years + self.calendar.of_member * _STREAM_STEP) % 2**32

    @property
    def mean_m3s(self) -> float:
        """Mean flow of the record (m3/s), every step weighted by its days."""
        days = self.calendar.days
        return float((self.flow_m3s * days).sum() / days.sum())

    @property
    def scale(self) -> str:
        """The unit that was understood, where it was said, and the mean flow: enough to notice a wrong unit."""
        return self.scale_in(SI)

    def scale_in(self, units: UnitSystem) -> str:
        """The same, with the mean flow in some units."""
        return "; ".join([*self.unit_words, f"mean flow {self.mean_words(units)}"])

    @property
    def unit_words(self) -> list[str]:
        """The unit of the values and where it was said, in a list; an empty one without a unit."""
        return [f"values in {typeset_unit(self.unit)} ({self.unit_from})"] if self.unit else []

    def mean_words(self, units: UnitSystem) -> str:
        """The mean flow in some units."""
        mean, name = units.amount(self.mean_m3s, "m3s")
        return f"{mean:{',.0f' if mean >= 1000 else '.3g'}} {name}"

    @cached_property
    def annual_mean_m3s(self) -> NDArray[np.float64]:
        """Mean flow of each water year (m3/s), every step weighted by its days, shape (years,)."""
        days = self.calendar.days
        mean: NDArray[np.float64] = (self.flow_m3s * days).sum(axis=1) / days.sum(axis=1)
        mean.setflags(write=False)
        return mean


def _checked(given: ArrayLike, calendar: Calendar, least: float) -> NDArray[np.float64]:
    """Flows as a copy, refused if they do not fit the calendar, are not finite, too low, or larger than any river's."""
    refused = partial(Mistake, column="flow_m3s")
    try:
        flow = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        expected = "one row of numbers per water year, all rows of the same length"
        mend = "give mean flows in m3/s"
        raise InputError(refused("the flows are not an array of numbers", expected, mend)) from error
    shape = calendar.years, calendar.steps
    if flow.shape != shape:
        expected = f"the shape {shape}: water years x steps"
        mend = "give one row per water year and one value per step"
        raise InputError(refused("the flows do not fit the calendar", expected, mend, value=flow.shape))
    wrong = np.argwhere(~((flow >= least) & (np.abs(flow) <= FLOW_M3S.most)))
    if len(wrong):
        year, step = wrong[0]
        count = "one flow is" if len(wrong) == 1 else f"{len(wrong)} flows are"
        month = f"{calendar.step_names[step]} of {calendar.labels[int(year)]}"
        sound = bool(np.isfinite(flow[year, step]) and flow[year, step] >= least)
        what = "larger than any river's" if sound else "negative or not finite"
        problem = f"{count} {what}, first {month}"
        expected = f"finite flows of {'' if least < 0 else '0 m3/s or more and '}at most {FLOW_M3S.most:,.0f} m3/s"
        mend = "correct or fill in these months"
        raise InputError(refused(problem, expected, mend, value=float(flow[year, step])))
    return flow


def _names(given: ArrayLike | None, of_member: NDArray[np.int64]) -> NDArray[np.str_]:
    """Names of all members, numbers if none are given; refused if they are not as many, or not all different."""
    count = int(of_member[-1] - of_member[0]) + 1
    names = 1 + of_member[0] + np.arange(count) if given is None else np.asarray(given)
    names = names.astype(np.str_)
    if names.shape != (count,) or len(np.unique(names)) < count:
        problem, expected = f"there are {names.size} names of members", f"{count} different names, one of each member"
        raise InputError(problem, expected, column="members")
    return names


def _column(name: str, given: ArrayLike, shape: tuple[int, ...], allowed: Range) -> NDArray[np.float64]:
    """A further column as a read-only copy, refused if it does not fit the flows, or is not within its range."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError("is not an array of numbers", f"the shape {shape}", column=name) from error
    if values.shape != shape:
        problem, expected = f"has the shape {values.shape}", f"the shape of the flows, {shape}"
        raise InputError(problem, expected, column=name)
    wrong = values[~((values >= allowed.least) & (values <= allowed.most))]
    if len(wrong):
        expected = f"numbers from {allowed.least:,.0f} to {allowed.most:,.0f}"
        raise InputError("has a value out of range", expected, column=name, value=float(wrong[0]))
    values.setflags(write=False)
    return values


def traces_of(inflow: Inflow, month: int, horizon: Horizon) -> Inflow:
    """Every stretch of a record from a calendar month to the end of a water year.

    Parameters
    ----------
    inflow : Inflow
        Consecutive water years.
    month : int
        Calendar month in which a trace begins, 1 to 12.
    horizon : Horizon
        Water years that a trace reaches into: with 1 it ends with the one in which it begins. Traces of more than
        one overlap; one of the whole record is the only one.

    Returns
    -------
    Inflow
        A trace in place of each water year.
    """
    calendar, step = inflow.calendar, inflow.calendar.step
    later = (month - calendar.first_month) % MONTHS_PER_YEAR
    if later and step is TimeStep.WEEK:
        expected = f"{MONTH_NAMES[calendar.first_month - 1]}, in which the water year begins, or another step"
        problem = "lies within a year of weeks, which are counted from its first day"
        raise InputError(problem, expected, "set another step", column="start", value=MONTH_NAMES[month - 1])
    begins = step.first_days(calendar.first_month)
    first = begins[0].astype("datetime64[M]") + later * ONE_MONTH
    skipped = int(np.searchsorted(begins, first.astype("datetime64[D]")))
    length = min(horizon.years or calendar.years, calendar.years)
    count, steps = calendar.years - length + 1, step.per_year * length - skipped
    places = step.per_year * np.arange(count)[:, np.newaxis] + skipped + np.arange(steps)
    first_year = calendar.first_year + (calendar.first_month - 1 + later) // MONTHS_PER_YEAR
    columns = {
        field.name: column.ravel()[places]
        for field in fields(inflow)
        if isinstance(column := getattr(inflow, field.name), np.ndarray)
    }
    traced = Calendar(first_year, count, month, steps, kind=calendar.kind, step=step)
    return replace(inflow, **columns, calendar=traced, rows=None, typical_years=None)
