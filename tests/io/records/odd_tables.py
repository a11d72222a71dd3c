"""One record of three years, written as planners write theirs: by months, by years and by days."""

from __future__ import annotations

import calendar
import math
from collections.abc import Callable, Iterable
from datetime import date, timedelta

import numpy as np

from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3

NAMES = [calendar.month_abbr[month] for month in range(1, 13)]
#: Calendar years, from January on, and water years, from October on.
YEARS = (1963, 1964, 1965)
HM3_PER_M3S_DAY = 0.0864


def flow(year: int, month: int) -> float:
    """Mean flow of a month (m3/s): whole, and above a thousand in summer."""
    return 400 + 10 * (year - 1960) + round(900 * (1 + math.sin((month - 4) / 6 * math.pi)))


def flow_of_day(day: date) -> float:
    """Mean flow of a day (m3/s)."""
    return flow(day.year, day.month) + 3.25 * (day.day % 7)


def days_of(first: date, last: date) -> list[date]:
    """Every day from the first to the last."""
    return [first + timedelta(at) for at in range((last - first).days + 1)]


DAYS = days_of(date(1963, 1, 1), date(1965, 12, 31))


def months(first_month: int = 1, years: Iterable[int] = YEARS) -> list[list[tuple[int, int]]]:
    """Year and month of every month of water years."""
    return [[(year + (at >= 12), at % 12 + 1) for at in range(first_month - 1, first_month + 11)] for year in years]


def flows_of(first_month: int = 1, years: Iterable[int] = YEARS) -> np.ndarray:
    return np.array([[flow(*month) for month in year] for year in months(first_month, years)])


def means_of_days(of_day: Callable[[date], float | None] = flow_of_day) -> np.ndarray:
    values = {month: [] for year in months() for month in year}
    for day in DAYS:
        value = of_day(day)
        if value is not None:
            values[day.year, day.month].append(value)
    return np.array([math.fsum(each) / len(each) for each in values.values()]).reshape(3, 12)


def in_unit(unit: str, value: float, year: int, month: int) -> float:
    """A flow in another unit; in a unit of volume that of the month."""
    if unit in FLOW_M3S:
        return value / FLOW_M3S[unit]
    return value * calendar.monthrange(year, month)[1] * HM3_PER_M3S_DAY / VOLUME_HM3[unit]


def long(
    header: str = "date,inflow_m3s",
    stamp: Callable[[int, int], str] = lambda year, month: f"{year}-{month:02}",
    cell: Callable[[float], str] = lambda value: f"{value:g}",
    unit: str = "m3/s",
    delimiter: str = ",",
) -> str:
    """A row a month; a cell may bring further cells with it."""
    rows = (
        f"{stamp(*month)}{delimiter}{cell(in_unit(unit, flow(*month), *month))}" for year in months() for month in year
    )
    return "\n".join((header, *rows))


def wide(
    label: Callable[[int], str] = str,
    first_month: int = 1,
    column: str = "year",
    cell: Callable[[float], str] = lambda value: f"{value:g}",
    delimiter: str = ",",
    more: str = "",
    name: str = "{}",
) -> str:
    """A row a year; `more` is a further column with the same text in every row."""
    rows = [
        delimiter.join((label(year[0][0]), *(cell(flow(*month)) for month in year), *([more] if more else [])))
        for year in months(first_month)
    ]
    names = [name.format(NAMES[(first_month - 1 + at) % 12]) for at in range(12)]
    return "\n".join((delimiter.join((column, *names, *(["Extra"] if more else []))), *rows))


def daily(
    stamp: str = "%Y-%m-%d",
    header: str = "date,inflow_m3s",
    cell: Callable[[float], str] = repr,
    days: Iterable[date] = DAYS,
    of_day: Callable[[date], float | None] = flow_of_day,
) -> str:
    """A row a day; a day without a value has an empty cell."""
    values = ((day, of_day(day)) for day in days)
    rows = (f"{day.strftime(stamp)},{'' if value is None else cell(value)}" for day, value in values)
    return "\n".join((header, *rows))
