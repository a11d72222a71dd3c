"""Traces: stretches of a record that begin in a given month, one in each year; each is a scenario of what may come.

As in extended streamflow prediction (Day 1985, J. Water Resour. Plann. Manage. 111:157-170).
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, MONTHS_PER_YEAR, Calendar
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.time_step import ONE_MONTH, TimeStep


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
        raise InputError(Mistake(problem, expected, "set another step", column="start", value=MONTH_NAMES[month - 1]))
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
    traced = Calendar(first_year, count, month, steps, equal_months=calendar.equal_months, step=step)
    return replace(inflow, **columns, calendar=traced)
