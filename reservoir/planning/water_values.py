"""Water values of a plan: GWh per hm3 of storage, step by step, and by calendar month and storage."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.elementwise import curve_value
from reservoir.hydro.operation import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.problems.reservoir.record import RecordProblems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.runtime import processors
from reservoir.solvers.dp.water_value import end_storage_value, water_values

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

#: Storages of the table, evenly from the smallest to the largest that the bounds of any month allow.
LEVELS = 21
#: Quantiles of the table.
LOW, HIGH = 0.1, 0.9


@dataclass(frozen=True, eq=False)
class WaterValues:
    """What one hm3 more in storage is worth with all inflows known, GWh per hm3.

    Parameters
    ----------
    month_end_gwh_per_hm3 : ndarray, shape (years, steps)
        At the plan's own storage at the end of each month. At a fixed end, what one hm3 less to be left there is worth;
        at a free one, 0. Not a number where only one storage is possible.
    table : DataFrame
        A row for each calendar month and storage at the start of its first step: ``month``, ``storage_hm3``,
        ``level_m``, the mean and the quantiles of the years, ``mean_gwh_per_hm3``, ``q10_gwh_per_hm3`` and
        ``q90_gwh_per_hm3``, and the number of these ``years``: those whose problem can keep its limits and be completed
        from that storage.
    """

    month_end_gwh_per_hm3: FloatArray
    table: pd.DataFrame


def water_values_of(problems: RecordProblems, operation: Operation, feasible: NDArray[np.bool_]) -> WaterValues:
    """Water values of the problems of a record, at the storages of their optimal operation.

    `feasible`, shape (problems,), says whether a problem can keep its limits; others are not in the table.
    """
    reservoir, steps = problems.model.reservoir, problems.inflow.steps
    storages = storage_levels(reservoir)
    trajectories = list(_trajectories(problems, operation))
    with ThreadPoolExecutor(processors()) as pool:
        ends = pool.map(lambda each: end_storage_value(*each), trajectories)
        of_problems = pool.map(lambda each: water_values(each[0], each[1], storages), trajectories)
        at_storage, at_levels = zip(*of_problems, strict=True)
        months = [np.append(values[1:], end) for values, end in zip(at_storage, ends, strict=True)]
    at_ends = np.concatenate(months).reshape(-1, steps)
    of_feasible = [np.where(able, values, np.nan) for able, values in zip(feasible, at_levels, strict=True)]
    by_year = np.concatenate(of_feasible).reshape(-1, steps, len(storages))
    return WaterValues(at_ends, _table(reservoir, problems.inflow.calendar, storages, by_year))


def end_storage_values(problems: RecordProblems, operation: Operation) -> FloatArray:
    """Marginal value of the storage at the end of each problem, GWh per hm3, shape (problems,).

    See `end_storage_value`. If the record is one problem, it is the value of stored water that the record implies.
    """
    return np.array([end_storage_value(*each) for each in _trajectories(problems, operation)])


def storage_levels(reservoir: Reservoir) -> FloatArray:
    """Storages of the table, hm3."""
    lower, upper = reservoir.storage_bounds_hm3
    return np.linspace(float(lower.min()), float(upper.max()), LEVELS)


def _trajectories(problems: RecordProblems, operation: Operation) -> Iterator[tuple[ReservoirYears, FloatArray]]:
    """Each problem, and the storages at the start of its first step and at the end of each."""
    starts = [*np.unique(problems.of_year, return_index=True)[1].tolist(), len(operation)]
    for problem, (first, stop) in zip(problems.each, pairwise(starts), strict=True):
        storage = operation.storage_hm3[first:stop]
        yield problem, np.append(storage[0, 0], storage[:, 1:])


def table_months(calendar: Calendar) -> NDArray[np.int64]:
    """Calendar months of the table, in the order of the steps; fewer than 12 if the plan has fewer steps."""
    months = calendar.months[: calendar.step.per_year]
    return months[np.sort(np.unique(months, return_index=True)[1])]


def _table(reservoir: Reservoir, calendar: Calendar, storages: FloatArray, by_step: FloatArray) -> pd.DataFrame:
    """Mean and quantiles by calendar month of values of shape (years, steps, storages)."""
    months = table_months(calendar)
    count = np.zeros((len(months), len(storages)), np.int64)
    statistics = np.full((3, *count.shape), np.nan)
    for place, month in enumerate(months):
        of_month = by_step[:, calendar.begins_month & (calendar.months == month)].reshape(-1, len(storages))
        count[place] = np.isfinite(of_month).sum(axis=0)
        some = count[place] > 0
        if some.any():
            values = of_month[:, some]
            statistics[:, place, some] = np.nanmean(values, axis=0), *np.nanquantile(values, [LOW, HIGH], axis=0)
    columns = {
        "month": np.repeat(months, len(storages)),
        "storage_hm3": np.tile(storages, len(months)),
        "level_m": np.tile(curve_value(reservoir.level, storages), len(months)),
        **dict(zip(("mean_gwh_per_hm3", "q10_gwh_per_hm3", "q90_gwh_per_hm3"), statistics, strict=True)),
        "years": count,
    }
    import pandas as pd  # no other plan needs it

    return pd.DataFrame({name: np.ravel(each) for name, each in columns.items()})
