"""Monthly flows of a pandas series, checked, and the months of a calendar as a pandas index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTHS_PER_YEAR, Calendar
from reservoir.hydro.time_step import TimeStep
from reservoir.hydro.water_years import month_name, whole_years
from reservoir.text.quantities import counted

if TYPE_CHECKING:
    import pandas as pd

_mistake = partial(Mistake, column="series")
#: Mistakes of a series that are listed; further ones are counted.
_MOST_LISTED = 12


def flows_of_series(
    series: pd.Series[float], first_month: int
) -> tuple[NDArray[np.float64], Calendar, tuple[str, ...]]:
    """Read and check monthly flows, and cut them into whole water years.

    Parameters
    ----------
    series : pandas.Series
        Mean flows (m3/s); a DatetimeIndex or a monthly PeriodIndex, in order and without gaps.
    first_month : int
        Calendar month in which the water year begins, 1 to 12.

    Returns
    -------
    ndarray, shape (years, 12)
        Mean flows (m3/s).
    Calendar
        Their water years.
    tuple of str
        Which months were left out.

    Raises
    ------
    InputError
        With the mistakes found, by date.
    """
    if isinstance(first_month, bool) or first_month not in range(1, MONTHS_PER_YEAR + 1):
        mend = "give the calendar month in which the water year begins"
        raise InputError(Mistake("is not a month", "1 to 12", mend, column="first_month", value=first_month))
    months = _months(series)
    flow = _numbers(series)
    mistakes = [*_sequence_mistakes(months), *_value_mistakes(months, flow)]
    if mistakes:
        raise InputError(_listed(mistakes))
    inside, calendar, notes = whole_years(months[0], len(months), int(first_month))
    return flow[inside].reshape(-1, MONTHS_PER_YEAR), calendar, notes


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
        As `flows_of_series`, with the name of the argument (`column`); if months of the calendar are missing.
    """
    if calendar.step is not TimeStep.MONTH:
        return _flows_of_days(series, calendar, column)
    months, flow = _months(series), _numbers(series)
    wanted = calendar.starts.astype("datetime64[M]").astype(np.int64) + 1970 * MONTHS_PER_YEAR  # from January of year 0
    first, last = int(wanted.min()), int(wanted.max())
    mistakes = [*_sequence_mistakes(months), *_value_mistakes(months, flow)]
    if not mistakes and (months[0] > first or months[-1] < last):
        expected = f"{month_name(first)} to {month_name(last)}, the months of the record"
        found = f"{month_name(months[0])} to {month_name(months[-1])}"
        mend = "add the missing months, or take a part of the record with Inflow.span"
        mistakes = [_mistake(f"has {found} only", expected, mend)]
    if mistakes:
        raise InputError([replace(each, column=column) for each in _listed(mistakes)])
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
    found = np.asarray(flow.reindex(wanted), np.float64).reshape(calendar.years, calendar.steps)
    wrong = wanted[~(np.isfinite(found) & (found >= 0)).ravel()]
    if len(wrong):
        noun = calendar.step.noun
        problem = f"has no flow of 0 m3/s or more for {counted(len(wrong), noun)}, first that from {wrong[0]:%Y-%m-%d}"
        expected = f"a value with the first day of every {noun} of the record"
        raise InputError(refused(problem, expected, "add these values, or give an array in the order of the record"))
    return found


def has_dates(series: pd.Series[float]) -> bool:
    """Whether the index of a series has dates or periods."""
    import pandas as pd

    return isinstance(series.index, pd.DatetimeIndex | pd.PeriodIndex)


def _listed(mistakes: list[Mistake]) -> list[Mistake]:
    """The first mistakes, and how many more there are."""
    more = len(mistakes) - _MOST_LISTED
    rest = [_mistake(f"{more} more mistakes", mend="correct these first, then try again")] if more > 0 else []
    return [*mistakes[:_MOST_LISTED], *rest]


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


def _value_mistakes(months: list[int], flow: NDArray[np.float64]) -> Iterator[Mistake]:
    for place in np.flatnonzero(~(np.isfinite(flow) & (flow >= 0))).tolist():
        value = float(flow[place])
        problem = f"the flow of {month_name(months[place])} is " + ("negative" if value < 0 else "not a finite number")
        mend = "correct or fill in this month"
        yield _mistake(problem, "a mean flow of 0 m3/s or more", mend, value=value)
