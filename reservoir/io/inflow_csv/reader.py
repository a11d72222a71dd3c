"""The record of one series in a CSV file -> `Inflow`: every mistake found at once, with row and column."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.attributes import FLOW_M3S
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.step_means import StepMeans, step_means
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.water_years import step_name, whole_years, whole_years_of
from reservoir.io.inflow_csv.caveats import caveat_mistakes, caveat_of
from reservoir.io.inflow_csv.cells import FILL_IN
from reservoir.io.inflow_csv.companions import companion_arrays, companion_notes
from reservoir.io.inflow_csv.dates import Month
from reservoir.io.inflow_csv.doubtful_values import thousands_mistakes
from reservoir.io.inflow_csv.layouts import read_record
from reservoir.io.inflow_csv.likely_cause import likely_cause
from reservoir.io.inflow_csv.one_series import series_mistakes
from reservoir.io.inflow_csv.record import MOST_YEARS, Record, StepValue, too_many_years
from reservoir.io.inflow_csv.row_period import DayValues, RowPeriod, dates_of, day_numbers, of_days
from reservoir.io.inflow_csv.stamps import stamp_mistakes, stamp_notes
from reservoir.io.inflow_csv.table import InflowTable, read_table
from reservoir.io.inflow_csv.units import HM3_PER_M3S_DAY, InflowUnit, choose_unit
from reservoir.io.inflow_reading import InflowReading, too_long
from reservoir.io.negative_values import negative_values
from reservoir.io.workbook import is_workbook
from reservoir.text.quantities import counted

#: Fields of `Inflow` that a day adds to, and no mean.
_SUMS = frozenset({"evaporation_mm"})
#: Steps that are named one by one.
_NAMED = 12


@dataclass(frozen=True)
class Steps:
    """How a record is divided.

    Parameters
    ----------
    step : TimeStep
    first_month : int
        Calendar month in which the water year begins.
    missing_days : int
        Days that a step may lack.
    """

    step: TimeStep
    first_month: int
    missing_days: int


@dataclass(frozen=True, eq=False)
class _Divided:
    """The days of a record by the steps from its first to its last day, each step by its place in a calendar."""

    calendar: Calendar
    first: int
    edges: NDArray[np.int64]
    means: StepMeans
    allowed: int

    @classmethod
    def of(cls, each: DayValues, steps: Steps) -> _Divided:
        months = dates_of(each.days[[0, -1]]).astype("datetime64[M]").astype(np.int64) - (steps.first_month - 1)
        first_year, last_year = (1970 + months // MONTHS_PER_YEAR).tolist()
        calendar = Calendar(first_year, last_year - first_year + 1, steps.first_month, step=steps.step)
        edges = day_numbers(np.append(calendar.starts.ravel(), calendar.edges[-1, -1]))
        first, last = (np.searchsorted(edges, each.days[[0, -1]], side="right") - 1).tolist()
        edges = edges[first : last + 2]
        return cls(calendar, first, edges, step_means(each.days, each.values, edges), steps.missing_days)

    @cached_property
    def lacking(self) -> NDArray[np.bool_]:
        """Steps of which too many days are missing."""
        return (self.means.missing > self.allowed) | np.isnan(self.means.mean)

    @cached_property
    def inside(self) -> slice:
        """The steps but for the first and the last, where these are incomplete."""
        return slice(int(self.lacking[0]), len(self.lacking) - int(self.lacking[-1]))

    def listed(self, places: Sequence[int]) -> str:
        """Name steps and how many days each lacks."""
        named = ", ".join(map(self._named, places[:_NAMED]))
        more = len(places) - _NAMED
        return named if more <= 0 else f"{named} and {counted(more, f'more {self.calendar.step.noun}')}"

    def _named(self, place: int) -> str:
        name = step_name(self.calendar, self.first + place)
        if self.calendar.step is TimeStep.DAY:
            return name
        return f"{name} (lacks {counted(int(self.means.missing[place]), 'day')})"


def averaged(record: Record, steps: Steps, *, amounts: bool) -> tuple[Record, Calendar]:
    """Average the rows of a record over steps.

    Parameters
    ----------
    record : Record
        Of rows shorter than a month, without mistakes.
    steps : Steps
        None of which is shorter than what a row stands for.
    amounts : bool
        Whether its values are volumes of their rows' periods.

    Returns
    -------
    record : Record
        A value for each step: the mean of its days; its ordinal is the place in the calendar.
    calendar : Calendar
        The water years that these steps lie in.

    Raises
    ------
    InputError
        With the steps that lack more days than allowed, but for the first and the last: these are left out.
    """
    first_days = np.array([value.ordinal for value in record.values])
    each = of_days(record.period, first_days, np.array([value.value for value in record.values]), amounts=amounts)
    if not len(each.days):
        problem = f"no day has all of its {record.period.per_day} rows"
        raise InputError(Mistake(problem, "whole days", "fill in the rows", row=record.values[0].row))
    divided = _Divided.of(each, steps)
    inside, means = divided.inside, divided.means
    cells = [record.values[at] for at in _first_rows(record.period, first_days, divided.edges)]
    if inside.start >= inside.stop:
        raise InputError(_gaps(divided, range(len(divided.lacking)), cells, record.codes))
    if divided.lacking[inside].any():
        raise InputError(_gaps(divided, range(inside.start, inside.stop), cells, record.codes))
    values = tuple(
        StepValue(divided.first + at, float(means.mean[at]), cells[at].row, cells[at].column, f"{means.mean[at]:.6g}")
        for at in range(inside.start, inside.stop)
    )
    companions = _companions(record, first_days, divided, values)
    notes = (*record.notes, *_notes(record, divided))
    return replace(record, values=values, companions=companions, notes=notes), divided.calendar


def _first_rows(period: RowPeriod, first_days: NDArray[np.int64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Place of the first row of each step, or of the row nearest to it."""
    last_days = first_days + period.lengths(first_days) - 1
    return np.minimum(np.searchsorted(last_days, edges[:-1]), len(first_days) - 1)


def _companions(
    record: Record, first_days: NDArray[np.int64], divided: _Divided, values: Sequence[StepValue]
) -> Mapping[str, Mapping[int, float]]:
    """Further columns averaged, or added up, to steps, by the row of each step's value."""
    found = {}
    days = np.diff(divided.edges)
    for name, of_row in record.companions.items():
        rows, is_sum = np.array([of_row[value.row] for value in record.values]), name in _SUMS
        each = of_days(record.period, first_days, rows, amounts=is_sum)
        by_step = step_means(each.days, each.values, divided.edges).mean * (days if is_sum else 1)
        found[name] = dict(zip((value.row for value in values), by_step[divided.inside].tolist(), strict=True))
    return found


def _notes(record: Record, divided: _Divided) -> Iterator[str]:
    period, step, inside = record.period, divided.calendar.step, divided.inside
    rows = counted(len(record.values), "row" if period.per_day > 1 else period.step.noun)
    if period != RowPeriod(step):
        yield f"{period.adjective} values are averaged to {step.noun}s ({rows})"
    elif step is TimeStep.WEEK:
        yield f"weekly values are averaged over the weeks of the water year, which begin with it ({rows})"
    lacking = [at for at in range(inside.start, inside.stop) if divided.means.missing[at]]
    if lacking:
        yield f"averaged over fewer days: {divided.listed(lacking)}"
    outside = [at for at in range(len(divided.lacking)) if not inside.start <= at < inside.stop]
    if outside:
        yield f"left out, as days are missing: {divided.listed(outside)}"


def _gaps(divided: _Divided, among: range, cells: Sequence[StepValue], codes: Sequence[str]) -> Mistake:
    step, means = divided.calendar.step, divided.means
    lacking = [at for at in among if divided.lacking[at]]
    most = max(int(means.missing[at]) for at in lacking)
    allow = f", or allow {most} missing days a {step.noun} (--missing-days {most})"
    problem = f"{counted(len(lacking), step.noun)} with missing days: {divided.listed(lacking)}"
    if step is TimeStep.DAY:
        problem = f"{counted(len(lacking), 'missing day')}: {divided.listed(lacking)}"
    problem = "; ".join((problem, *codes))
    if any(np.isnan(means.mean[at]) for at in lacking):
        allow = ""
    mend = f"fill in the days{allow}, or keep only the part of the record before or after the gap"
    expected = f"at most {counted(divided.allowed, 'missing day')} a {step.noun}"
    return Mistake(problem, expected, mend, row=cells[lacking[0]].row)


#: Calendar months.
MONTHS = range(1, MONTHS_PER_YEAR + 1)


def read_record_file(file: str, reading: InflowReading, first_month: int | None) -> Inflow:
    """Read the record of one series, see `reservoir.read_inflow`.

    Raises
    ------
    InputError
        With every mistake in the file and in the call.
    """
    table = read_table(file)
    record = read_record(table, reading)
    chosen = choose_unit(table, record, reading.unit)
    begins = int(first_month) if first_month is not None and first_month in MONTHS else record.first_month
    whole = len(record.values) // MONTHS_PER_YEAR if record.period.is_month else 0
    mistakes = [
        *([too_many_years(whole)] if whole > MOST_YEARS else ()),
        *([too_long(record.period.step, reading.step)] if record.period.is_longer_than(reading.step) else ()),
        *table.mistakes,
        *record.mistakes,
        *chosen.mistakes,
        *caveat_mistakes(table),
        *_month_mistakes(table, record, first_month),
        *thousands_mistakes(record.values),
        *stamp_mistakes(table, record, begins),
    ]
    if not mistakes and not record.values:
        mistakes = [Mistake("no row has a value", mend=FILL_IN, row=table.header.number)]
    if not mistakes:
        rows = list(dict.fromkeys(value.row for value in record.values))
        mistakes = [*series_mistakes(table, record.beside, rows, years=record.value_column is None)]
    if mistakes:
        cause = likely_cause(table, mistakes)
        raise InputError([*([cause] if cause else ()), *mistakes])
    notes = (*record.notes, *stamp_notes(record))
    as_written = record
    if reading.negative == "zero":
        record = replace(record, values=tuple(each._replace(value=max(each.value, 0.0)) for each in record.values))
    if record.period.is_month:
        first, months = record.values[0].ordinal, len(record.values)
        within, calendar, left_out = whole_years(first, months, begins, record.first_month)
    else:
        steps = Steps(reading.step, begins, reading.missing_days)
        by_step, touched = averaged(record, steps, amounts=chosen.unit.is_volume)
        notes, record = (*notes, *by_step.notes[len(record.notes) :]), by_step
        within, calendar, left_out = whole_years_of(touched, record.values[0].ordinal, len(record.values))
    inside = record.values[within]
    flow = _flow_m3s(inside, calendar, chosen.unit, of_days=not record.period.is_month)
    with np.errstate(over="ignore"):  # no flow is so large, but in months that are left out
        negative = _negative_notes(as_written, chosen.unit, reading.negative)
    beside = companion_arrays(record.companions, [value.row for value in inside], calendar.steps)
    losses = companion_notes(beside, record.companion_names, calendar.steps)
    return Inflow(
        flow,
        calendar,
        notes=(*notes, *losses, *left_out, *negative),
        caveat=caveat_of(table),
        source=file,
        sha256=hashlib.sha256(table.content).hexdigest(),
        unit=chosen.unit.name,
        unit_from=chosen.said_by,
        content=b"" if is_workbook(table.content) else table.content,
        reading=reading.as_dict(),
        allow_negative=reading.negative == "keep",
        **beside,
    )


def _negative_notes(record: Record, unit: InflowUnit, negative: str | None) -> tuple[str, ...]:
    """How many values are negative, and how much water that is, if they are not refused."""
    if negative is None:
        return ()
    values = np.array([each.value for each in record.values])
    ordinals = np.array([each.ordinal for each in record.values])
    days: NDArray[Any]
    if record.period.is_month:
        first = Month.at(int(ordinals[0]))
        days = Calendar(first.year, 1, first.month, len(values)).days[0]
        named = [str(Month.at(each.ordinal)) for each in record.values]
    else:
        days = record.period.lengths(ordinals) / record.period.per_day
        named = [str(day) for day in dates_of(ordinals)]
    volumes = values * unit.size * (1.0 if unit.is_volume else days * HM3_PER_M3S_DAY)
    return tuple(negative_values(volumes, named).note(negative))


def _month_mistakes(table: InflowTable, record: Record, first_month: int | None) -> Iterator[Mistake]:
    if first_month is None:
        return
    if first_month not in MONTHS:
        yield no_month(first_month)
    elif record.names_water_years and first_month != record.first_month:
        yield table.at_header(
            f"the record's water years (such as 1953/54) begin in {MONTH_NAMES[record.first_month - 1]}, "
            f"those of the reservoir in {MONTH_NAMES[first_month - 1]}",
            f"first month {record.first_month}",
            f"set first_month = {record.first_month} in the reservoir file, or name each row by the year in which it "
            "begins",
            value=first_month,
        )


def no_month(found: int) -> Mistake:
    """Refuse what is no calendar month."""
    mend = "give the calendar month in which the water year begins"
    return Mistake("is not a month", "1 to 12", mend, column="first_month", value=found)


def _flow_m3s(
    inside: Sequence[StepValue], calendar: Calendar, unit: InflowUnit, *, of_days: bool
) -> NDArray[np.float64]:
    """Mean flow of each step (m3/s), shape (years, steps); values may be means of days."""
    values = np.array([value.value for value in inside]).reshape(-1, calendar.steps)
    with np.errstate(over="ignore"):  # what is too large is refused below
        flow = unit.flow_of_days_m3s(values) if of_days else unit.flow_m3s(values, calendar)
    excessive = np.flatnonzero(np.abs(flow) > FLOW_M3S.most)
    if excessive.size:
        problem = f"the flow is too large for a river, if the unit is {unit.name}"
        expected = f"a mean flow of at most {FLOW_M3S.most:,.0f} m3/s"
        mend = 'check the value; if the unit is another, add a comment line such as "# unit: hm3"'
        raise InputError(inside[index].mistake(problem, expected, mend) for index in excessive.tolist())
    return flow
