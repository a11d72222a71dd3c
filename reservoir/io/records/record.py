"""What a file says, once it is understood: a record by rows, or series of the same months of all members -> `Inflow`.

Here too: what the caller asks for (`InflowReading`), what a row stands for (`RowPeriod`), and means of days over steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import MOST_MISTAKES, InputError, Mistake, worth_telling
from reservoir.hydro.attributes import FLOW_M3S
from reservoir.hydro.calendar import (
    DAYS_PER_WEEK,
    MONTHS_PER_YEAR,
    MOST_YEARS,
    ONE_MONTH,
    Calendar,
    TimeStep,
    month_name,
    step_name,
    whole_years,
)
from reservoir.hydro.inflow import RECORDED_LOSSES, Inflow
from reservoir.io.records.cells import NAMED, StepValue, negative_note, no_flow
from reservoir.io.records.columns import with_volumes
from reservoir.io.records.dates import FIRST_YEAR, LAST_YEAR, MINUTES, ORDERS, DateStyle
from reservoir.io.records.units import InflowUnit
from reservoir.text.quantities import counted, printable

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Days that no month has.
MOST_MISSING_DAYS = 30
#: What may be asked for.
WATER_YEARS, NEGATIVES, STEPS = ("begins", "ends"), ("keep", "zero"), tuple(TimeStep)
FIRST_YEARS = range(FIRST_YEAR, LAST_YEAR - 98)


@dataclass(frozen=True)
class InflowReading:
    """What the caller says about an inflow file that can be read in several ways, as arguments of `read_inflow`.

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
    flood_column: str | None = None
    #: Checked beside the file, whose mistakes are told together with it.
    first_month: int | None = None
    #: Order of day and month in dates of numbers, and the earliest year where years have two digits.
    dates: str | None = None
    first_year: int | None = None
    #: Sheets of a workbook that are meant, of which the record is one.
    sheet: str | Sequence[str] = ()
    #: Columns that are read by other names than they have: of one of several sites, say.
    named: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        mistakes = list[Mistake]()
        object.__setattr__(self, "sheet", (self.sheet,) if isinstance(self.sheet, str) else tuple(self.sheet or ()))
        for name in ("unit", "column", "flood_column"):
            value = getattr(self, name)
            if not isinstance(value, str | None):
                mistakes.append(Mistake("is no name", "a text", "give a text", column=name, value=value))
        choices = {"water_year": WATER_YEARS, "negative": NEGATIVES, "dates": ORDERS}
        for name, known in {**{name: (None, *words) for name, words in choices.items()}, "step": STEPS}.items():
            value = getattr(self, name)
            if value not in known:
                expected = " or ".join(str(choice) for choice in known if choice)
                mistakes.append(Mistake("is unknown", expected, "give one of these", column=name, value=value))
        days = self.missing_days
        if not isinstance(days, int) or isinstance(days, bool) or not 0 <= days <= MOST_MISSING_DAYS:
            expected = f"a whole number of days, 0 to {MOST_MISSING_DAYS}"
            mistakes.append(Mistake("is out of range", expected, "give fewer days", column="missing_days", value=days))
        if self.first_year is not None and self.first_year not in FIRST_YEARS:
            expected, mend = f"{FIRST_YEARS[0]} to {FIRST_YEARS[-1]}", "give the year of the earliest row"
            mistakes.append(Mistake("is out of range", expected, mend, column="first_year", value=self.first_year))
        if mistakes:
            raise InputError(mistakes)
        object.__setattr__(self, "step", TimeStep(self.step))

    @property
    def date_style(self) -> DateStyle:
        """What is said of dates."""
        return DateStyle(self.dates or "", self.first_year or 0)

    def unused_notes(self, notes: Sequence[str]) -> Iterator[str]:
        """What was said of dates and decided nothing, as the notes on how a file was read show."""
        if self.dates and not any(note.startswith("dates are read") for note in notes):
            yield f'"{self.dates}" decides nothing: the file has no dates such as 10/01/1990'
        if self.first_year and not any("years of two digits" in note for note in notes):
            yield f"the first year {self.first_year} decides nothing: the file has no dates with years of two digits"

    def require_no_sheet(self) -> None:
        """Refuse the name of a sheet where the file has none: InputError."""
        if self.sheet:
            raise InputError("the file is no workbook", "no sheet", "leave it out", column="sheet", value=self.sheet[0])

    def first_month_mistakes(self) -> Iterator[Mistake]:
        """Refuse a number that is no calendar month."""
        if self.first_month is not None and self.first_month not in range(1, MONTHS_PER_YEAR + 1):
            mend = "give the calendar month in which the water year begins"
            yield Mistake("is not a month", "1 to 12", mend, column="first_month", value=self.first_month)

    def require_dates(self) -> None:
        """Refuse to name water years by one of their years where dates say which they are: InputError."""
        if self.water_year is not None:
            problem, expected = "the file has dates, which say in which year a month is", "a table by years"
            raise InputError(problem, expected, "leave it out", column="water_year", value=self.water_year)

    def require_months(self, what: str) -> None:
        """Refuse what is asked for of other files than those that are read by months only: InputError."""
        for mistake in self.first_month_mistakes():
            raise InputError(mistake)
        self.require_dates()
        if self.step is not TimeStep.MONTH:
            mend = f'plan months (step "{TimeStep.MONTH}"), or give the daily record of one series as a CSV file'
            raise InputError(f'{what} is read by months only, not by step "{self.step}"', "months", mend)

    def about(self, file: str, unit_from: str) -> dict[str, Any]:
        """Fields of `Inflow` that say how a file was read: what is not as usual, but for the step of the calendar."""
        given = ((each.name, getattr(self, each.name), each.default) for each in fields(self))
        reading = {name: value for name, value, usual in given if value != usual and name not in _OF_CALENDAR}
        negative = self.negative == "keep"
        return {"source": file, "unit_from": unit_from, "reading": reading, "allow_negative": negative}


#: What is asked for that the calendar of an inflow says, or the system.
_OF_CALENDAR = ("step", "first_month", "named")
#: Day numbers of Python's calendar, which begin with year 1, are those of NumPy's and this.
_DAY_OF_1970 = 719_163
_LAST_TEN_BEGIN = 20
#: What values of a period are called.
_ADJECTIVES = {TimeStep.DAY: "daily", TimeStep.WEEK: "weekly", TimeStep.TEN_DAYS: "ten-day", TimeStep.MONTH: "monthly"}
#: Fields of `Inflow` that a day adds to, and no mean.
_SUMS = frozenset({"evaporation_mm", *RECORDED_LOSSES})
#: Steps that are named one by one.
_NAMED_STEPS = 12


class RowPeriod(NamedTuple):
    """What the value of a row is that of: a month, ten days of one, seven days, or a day; of hours, so many a day."""

    step: TimeStep = TimeStep.MONTH
    per_day: int = 1
    #: Days of 23 and 25 hours, by their numbers, and how many rows these have.
    odd_days: tuple[tuple[int, int], ...] = ()

    def lengths(self, first_days: IntArray) -> IntArray:
        """Days of each period, by its first day; no months."""
        if self.step is not TimeStep.TEN_DAYS:
            return np.full(len(first_days), DAYS_PER_WEEK if self.step is TimeStep.WEEK else 1)
        days = dates_of(first_days)
        months = days.astype("datetime64[M]")
        next_month = day_numbers((months + ONE_MONTH).astype("datetime64[D]"))
        is_last = (days - months.astype("datetime64[D]")).astype(np.int64) == _LAST_TEN_BEGIN
        return np.where(is_last, next_month - first_days, 10)

    def of_days(self, first_days: IntArray, values: FloatArray, *, amounts: bool) -> tuple[IntArray, FloatArray]:
        """Days, and values of rows spread over them, or brought together where a day has several.

        `first_days`, shape (rows,), ascending, are those on which the rows' periods begin; `amounts` are sums of these,
        such as volumes, and no means. A day that lacks some of its rows is left out.
        """
        if self.step is TimeStep.DAY:
            days, place, count = np.unique(first_days, return_inverse=True, return_counts=True)
            total = np.bincount(place, weights=values, minlength=len(days))
            rows = dict(self.odd_days)
            whole = count == ([rows.get(day, self.per_day) for day in days.tolist()] if rows else self.per_day)
            return days[whole], (total if amounts else total / count)[whole]
        lengths = self.lengths(first_days)
        ends = np.cumsum(lengths)
        within = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        return np.repeat(first_days, lengths) + within, np.repeat(values / lengths if amounts else values, lengths)


#: What a row of a table by months is.
A_MONTH = RowPeriod()


def day_numbers(dates: NDArray[np.datetime64]) -> IntArray:
    """Days of the calendar by number, as `datetime.date.toordinal` has them."""
    return np.asarray(dates.astype("datetime64[D]").astype(np.int64) + _DAY_OF_1970)


def dates_of(days: IntArray) -> NDArray[np.datetime64]:
    """Days of the calendar by their numbers."""
    return (days - _DAY_OF_1970).astype("datetime64[D]")


@dataclass(frozen=True)
class Record:
    """A table of inflow, understood."""

    #: Every month in order, and without holes wherever `mistakes` is empty; or every row of shorter periods that has a
    #: value, in order, by the number of its first day. In the unit of the file; negative only where it was asked for.
    values: tuple[StepValue, ...] = ()
    #: What each of them is the value of.
    period: RowPeriod = A_MONTH
    #: Calendar month (1 to 12) in which the file's own years begin; and whether years are written like ``1953/54``,
    #: which fixes it.
    first_month: int = 1
    names_water_years: bool = False
    #: Name of the one column of values; None where each month has its own.
    value_column: str | None = None
    #: Columns whose names may say the unit, and what of the name does.
    unit_texts: tuple[tuple[str, str], ...] = ()
    #: The first date as it is written, if every date is the first day of a month; else empty.
    first_stamp: str = ""
    #: Places of the columns that are passed over.
    beside: tuple[int, ...] = ()
    #: Further columns, by field of `Inflow`: the name, and values by row (once `averaged`, by the step's ordinal).
    companions: Mapping[str, tuple[str, Mapping[int, float]]] = field(default_factory=dict)
    #: All that is wrong with the header and the cells.
    mistakes: tuple[Mistake, ...] = ()
    #: What the user should know about how the file was understood.
    notes: tuple[str, ...] = ()
    #: Those of the notes that say which days are missing, because a code stands there.
    codes: tuple[str, ...] = ()


def too_many_years(years: int) -> Mistake:
    """Refuse a record of more years than this program is made for."""
    expected = f"at most {MOST_YEARS:,} years"
    return Mistake(f"the record has {years:,} years", expected, "split it into parts of whole years")


def step_means(days: IntArray, values: FloatArray, edges: IntArray) -> tuple[FloatArray, IntArray]:
    """Average daily values over steps.

    Parameters
    ----------
    days : ndarray of int, shape (days,)
        Days of the calendar, each once, in any order; those outside the steps are left out.
    values : ndarray, shape (days,)
        Mean flow or volume of each day, or another quantity of days.
    edges : ndarray of int, shape (steps + 1,)
        First day of each step, ascending, and the day after the last step: of months, ten-day periods, weeks.

    Returns
    -------
    mean : ndarray, shape (steps,)
        Mean of the days of a step that have a value; NaN where none has.
    missing : ndarray of int, shape (steps,)
        Days of a step that have no value.
    """
    steps = len(edges) - 1
    place = np.searchsorted(edges, days, side="right") - 1
    inside = (place >= 0) & (place < steps)
    count = np.bincount(place[inside], minlength=steps)
    total = np.bincount(place[inside], weights=values[inside], minlength=steps)
    mean = np.divide(total, count, out=np.full(steps, np.nan), where=count > 0)
    return mean, np.diff(edges) - count


def averaged(record: Record, reading: InflowReading, first_month: int, *, amounts: bool) -> tuple[Record, Calendar]:
    """Average the rows of a record over steps, none shorter than what a row stands for.

    `first_month` is that of the water year; `amounts` are volumes of the rows' periods.

    Returns
    -------
    record : Record
        A value for each step: the mean of its days; its ordinal is the place in the calendar, and companions are by it:
        where rows are missing, two steps may name the same row.
    calendar : Calendar
        The water years that these steps lie in.

    Raises
    ------
    InputError
        With the steps that lack more days than allowed, but for the first and the last: these are left out.
    """
    period, step = record.period, reading.step
    first_days = np.array([value.ordinal for value in record.values])
    days, daily = period.of_days(first_days, np.array([value.value for value in record.values]), amounts=amounts)
    if not len(days):
        problem = f"no day has all of its {period.per_day} rows"
        raise InputError(problem, "whole days", "fill in the rows", row=record.values[0].row)
    # The steps from the first to the last day, each by its place in a calendar.
    months = dates_of(days[[0, -1]]).astype("datetime64[M]").astype(np.int64) - (first_month - 1)
    first_year, last_year = (1970 + months // MONTHS_PER_YEAR).tolist()
    calendar = Calendar(first_year, last_year - first_year + 1, first_month, step=step)
    edges = day_numbers(np.append(calendar.starts.ravel(), calendar.edges[-1, -1]))
    first, last = (np.searchsorted(edges, days[[0, -1]], side="right") - 1).tolist()
    edges = edges[first : last + 2]
    mean, missing = step_means(days, daily, edges)
    lacking = (missing > reading.missing_days) | np.isnan(mean)
    begin, end = int(lacking[0]), len(lacking) - int(lacking[-1])
    # The first row of each step, or the row nearest to it.
    last_days = first_days + period.lengths(first_days) - 1
    rows = np.minimum(np.searchsorted(last_days, edges[:-1]), len(first_days) - 1)
    cells = [record.values[at] for at in rows.tolist()]

    def listed(places: Sequence[int]) -> str:
        names = [step_name(calendar, first + place) for place in places[:_NAMED_STEPS]]
        if step is not TimeStep.DAY:
            lacks = (counted(int(missing[place]), "day") for place in places)
            names = [f"{name} (lacks {lack})" for name, lack in zip(names, lacks, strict=False)]
        more = len(places) - _NAMED_STEPS
        return ", ".join(names) + ("" if more <= 0 else f" and {counted(more, f'more {step.noun}')}")

    if begin >= end or lacking[begin:end].any():
        among = [at for at in (range(begin, end) if begin < end else range(len(lacking))) if lacking[at]]
        most, empty = max(int(missing[at]) for at in among), any(np.isnan(mean[at]) for at in among)
        allow = "" if empty else f", or allow {most} missing days a {step.noun} (--missing-days {most})"
        what = counted(len(among), "missing day" if step is TimeStep.DAY else step.noun)
        problem = f"{what}{'' if step is TimeStep.DAY else ' with missing days'}: {listed(among)}"
        mend = f"fill in the days{allow}, or keep only the part of the record before or after the gap"
        expected = f"at most {counted(reading.missing_days, 'missing day')} a {step.noun}"
        raise InputError("; ".join((problem, *record.codes)), expected, mend, row=cells[among[0]].row)

    values = tuple(
        StepValue(first + at, float(mean[at]), cells[at].row, cells[at].column, f"{mean[at]:.6g}")
        for at in range(begin, end)
    )
    companions = {}
    for name, (column, of_row) in record.companions.items():
        beside, is_sum = np.array([of_row[value.row] for value in record.values]), name in _SUMS
        by_step, _ = step_means(*period.of_days(first_days, beside, amounts=is_sum), edges)
        by_step = by_step * (np.diff(edges) if is_sum else 1)
        companions[name] = (column, dict(zip((v.ordinal for v in values), by_step[begin:end].tolist(), strict=True)))
    notes = []
    count = counted(len(record.values), "row" if period.per_day > 1 else period.step.noun)
    if (period.step, period.per_day) != (step, 1):
        hours = MINUTES / period.per_day / 60
        of_hours = "hourly" if hours == 1 else f"{hours:g}-hour"
        adjective = _ADJECTIVES[period.step] if period.per_day == 1 else of_hours
        notes.append(f"{adjective} values are averaged to {step.noun}s ({count})")
    elif step is TimeStep.WEEK:
        notes.append(f"weekly values are averaged over the weeks of the water year, which begin with it ({count})")
    fewer = [at for at in range(begin, end) if missing[at]]
    if fewer:
        notes.append(f"averaged over fewer days: {listed(fewer)}")
    outside = [*range(begin), *range(end, len(lacking))]
    if outside:
        notes.append(f"left out, as days are missing: {listed(outside)}")
    return replace(record, values=values, companions=companions, notes=(*record.notes, *notes)), calendar


@dataclass(frozen=True, eq=False)
class Series:
    """What a file says of the same consecutive months of all members, or of a single record."""

    #: The first month, counted from January of year 0, and the members' names; none of a single record.
    first: int
    members: Sequence[str] | None
    #: In the unit, shape (members, months); finite, and not negative unless `about` allows it.
    values: FloatArray
    unit: InflowUnit
    #: Further fields of `Inflow`: the column, and values of the same shape.
    companions: Mapping[str, tuple[str, FloatArray]] = field(default_factory=dict)
    #: Fields of `Inflow` that say where it comes from; `notes` are put before those on what is left out.
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def calendar(self) -> Calendar:
        """All months as one year of theirs."""
        return Calendar.of_months(self.first, self.values.shape[1])

    def named(self, month: int, member: int) -> str:
        """Name a month by its place, and the member."""
        name = month_name(self.first + month)
        return name if self.members is None else f"{name} of member {self.members[member]}"

    def refuse(self, wrong: NDArray[np.bool_], mistake_at: Callable[[int, int], Mistake]) -> None:
        """Refuse values that are wrong: InputError with the first ones."""
        places = np.argwhere(wrong)[: MOST_MISTAKES + 1].tolist()
        if places:
            raise InputError(worth_telling((mistake_at(member, month) for member, month in places), ""))

    def refuse_codes(self, codes: NDArray[np.bool_], values: FloatArray, column: str = "") -> None:
        """Refuse values, those of another column perhaps, that are missing-value codes: InputError."""

        def mistake(member: int, month: int) -> Mistake:
            refused, of_column = no_flow(float(values[member, month]), True), column and f"{column} of "
            problem = f"{of_column}{self.named(month, member)}: {refused.problem}"
            mend = "fill in or correct the value, or leave out the member"
            return Mistake(problem, refused.expected, mend, value=float(values[member, month]))

        self.refuse(codes, mistake)

    def without_negative(self, negative: str | None) -> tuple[FloatArray, tuple[str, ...]]:
        """The values with zeros for negative ones if `negative` is ``zero``, and how much water these take away."""
        if negative is None or not (self.values < 0).any():
            return self.values, ()
        months = self.values.shape[1]
        volumes = (self.unit.flow_m3s(self.values, self.calendar) * self.calendar.hm3_per_m3s).ravel()
        below = np.flatnonzero(volumes < 0)[:NAMED].tolist()
        dates = {at: printable(self.named(at % months, at // months)) for at in below}
        notes = negative_note(volumes, dates, negative)
        return np.maximum(self.values, 0.0) if negative == "zero" else self.values, notes

    def inflow(self, first_month: int | None) -> Inflow:
        """Whole water years from a calendar month on, January by default.

        Raises
        ------
        InputError
            If there is no whole water year, or a flow is larger than any river's.
        """
        months = self.values.shape[1]
        inside, calendar, left_out = whole_years(*Calendar.holding(self.first, months, first_month or 1), months)
        count = len(self.values) * calendar.years
        if self.members is not None:
            calendar = replace(calendar, years=count, years_each=calendar.years)

        def in_years(series: FloatArray) -> FloatArray:
            return series[:, inside].reshape(count, MONTHS_PER_YEAR)

        flow = self.unit.flow_m3s(in_years(self.values), calendar)
        self._require_river(flow, inside.start)
        beside = {name: (column, in_years(series)) for name, (column, series) in self.companions.items()}
        beside = with_volumes(beside, calendar.hm3_per_m3s)
        columns: dict[str, Any] = {name: series for name, (_, series) in beside.items()}
        about = {**self.about, "notes": (*self.about["notes"], *left_out)}
        names = None if self.members is None else np.array(self.members, np.str_)
        return Inflow(flow, calendar, members=names, unit=self.unit.name, **columns, **about)

    def flow_m3s(self) -> FloatArray:
        """Mean flows of all months, whether they fill years or not, shape (members, months).

        Raises
        ------
        InputError
            If one is larger than any river's.
        """
        flow = self.unit.flow_m3s(self.values, self.calendar)
        self._require_river(flow, 0)
        return flow

    def _require_river(self, flow: FloatArray, skipped: int) -> None:
        """Refuse a flow that no river has; `flow` begins so many months after the first."""

        def mistake(member: int, month: int) -> Mistake:
            place, value = self.named(skipped + month, member), float(self.values[member, month])
            problem, expected = too_large(self.unit)
            return Mistake(f"{place}: {problem}", expected, "check the value and the unit", value=value)

        self.refuse(np.abs(flow.reshape(len(self.values), -1)) > FLOW_M3S.most, mistake)


def too_large(unit: InflowUnit) -> tuple[str, str]:
    """What is wrong with a flow that no river has, and what is expected."""
    problem = f"the flow is too large for a river, if the unit is {unit.name}"
    return problem, f"a mean flow of at most {FLOW_M3S.most:,.0f} m3/s"
