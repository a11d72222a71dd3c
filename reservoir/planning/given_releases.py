"""Releases that a user gives: of every step of a record, as an array or from pandas; and positions made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from reservoir.errors import InputError, Mistake
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.month_series import flows_by_date, has_dates
from reservoir.planning.operated_record import FloatArray, OperatedRecord
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.solvers import SOLVERS, settings_of
from reservoir.text.quantities import counted

#: Setting of solvers that begin with given positions.
FIRST = "first"


def releases_of(given: Any, inflow: Inflow, column: str) -> FloatArray:
    """Releases of every step of a record (m3/s), shape (years, steps).

    Parameters
    ----------
    given : ndarray, shape (years, steps) or (years * steps,), or pandas.Series
        A series with dates or periods must have every step of the record; any other is taken in its order.
    inflow : Inflow
    column : str
        The argument that they are, for messages.

    Raises
    ------
    InputError
        If they do not fit the record, are negative or not finite.
    """
    if isinstance(given, pd.Series) and has_dates(given):
        return flows_by_date(given, inflow.calendar, column)
    shape, size = inflow.flow_m3s.shape, inflow.flow_m3s.size
    try:
        asked = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        expected = f"an array of the shape {shape}, or a pandas.Series"
        mend = "give releases in m3/s"
        raise InputError(Mistake("is not an array of numbers", expected, mend, column=column)) from error
    if asked.shape not in (shape, (size,)):
        expected = f"the shape {shape} (water years x steps) or ({size},)"
        mend = "give one release for each step of the record, or a pandas.Series with dates"
        raise InputError(Mistake("does not fit the record", expected, mend, column=column, value=asked.shape))
    asked = asked.reshape(shape)
    wrong = np.argwhere(~(np.isfinite(asked) & (asked >= 0)))
    if len(wrong):
        year, step = wrong[0]
        month = f"{inflow.calendar.step_names[step]} of {inflow.labels[year]}"
        problem = f"has {counted(len(wrong), 'release')} that are negative or not finite, first {month}"
        value, mend = float(asked[year, step]), "correct these values"
        raise InputError(Mistake(problem, "0 m3/s or more", mend, column=column, value=value))
    return asked


def first_positions(
    problems: RecordProblems, initial: OperatedRecord | ArrayLike | pd.Series[float], solver: str
) -> dict[str, list[FloatArray]]:
    """The setting with which a solver begins its search with given releases.

    Parameters
    ----------
    problems : RecordProblems
    initial : Plan, ReleaseSimulation, or releases as of `releases_of`
    solver : str
        A name of `SOLVERS`.

    Raises
    ------
    InputError
        If the solver cannot begin with given releases, with the names of those that can; as `releases_of`.
    """
    if FIRST not in settings_of(solver):
        able = ", ".join(name for name in SOLVERS if FIRST in settings_of(name))
        raise InputError(
            Mistake(
                f"the solver {solver} cannot begin with given releases", able, "choose one of them", column="initial"
            )
        )
    inflow, starts = problems.inflow, None
    if isinstance(initial, OperatedRecord):
        if initial.inflow.labels != inflow.labels:
            found, expected = (f"{each[0]} to {each[-1]}" for each in (initial.inflow.labels, inflow.labels))
            mend = "plan the same years, or give the releases of these years"
            raise InputError(Mistake("has other years than the record", expected, mend, column="initial", value=found))
        releases, starts = initial.operation.release_m3s, initial.operation.storage_hm3[:, 0]
    else:
        releases = releases_of(initial, inflow, "initial")
    positions = []
    for place, problem in enumerate(problems.each):
        years = np.flatnonzero(problems.of_year == place)
        position = releases[years].ravel()
        if problem.limits.cyclic:
            start = problem.limits.start_bounds_hm3.mean() if starts is None else starts[years[0]]
            position = np.append(position, start)
        positions.append(np.clip(position, problem.lower, problem.upper)[np.newaxis])
    return {FIRST: positions}
