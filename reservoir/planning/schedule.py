"""The schedule of an operation as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.month_series import first_days
from reservoir.hydro.time_step import TimeStep

if TYPE_CHECKING:  # it imports what compiles, which takes long
    from reservoir.hydro.objective import Operation

#: Columns of reservoirs with losses or withdrawals, by the fields of `Operation`.
CONDITION_COLUMNS = ("evaporation_hm3", "seepage_hm3", "withdrawal_m3s", "shortage_m3s")

#: What is missing of the least release for want of water: a column where there is such a step.
MISSING = "missing_m3s"
#: First day of a step that is no month.
FIRST_DAY = "first_day"


def schedule_table(inflow: Inflow, operation: Operation) -> pd.DataFrame:
    """One row a step, by its first day; storages in hm3, the level at the end of the step.

    Tailrace, head and power are means of the step; ``head_m`` is the level at its mean storage less the tailrace. Of a
    reservoir with losses or withdrawals, net evaporation and seepage of the step follow, and what was withdrawn and
    what of the demand was not; where there was too little water for the least release, what is missing of it.
    """
    calendar = inflow.calendar
    columns = {
        **{name: np.repeat(each, calendar.steps) for name, each in year_columns(inflow).items()},
        "month": np.tile(calendar.months, calendar.years),
        **({} if calendar.step is TimeStep.MONTH else {FIRST_DAY: calendar.starts.astype(str).astype(object)}),
        **step_columns(inflow, operation),
    }
    return pd.DataFrame({name: np.ravel(values) for name, values in columns.items()}, first_days(calendar))


def step_columns(inflow: Inflow, operation: Operation) -> dict[str, NDArray[np.float64]]:
    """Numbers of each step of an operation as `schedule_table` names them, shape (years, steps)."""
    columns = {
        "inflow_m3s": inflow.flow_m3s,
        "release_m3s": operation.release_m3s,
        "turbined_m3s": operation.turbined_m3s,
        "spill_m3s": operation.spill_m3s,
        "storage_start_hm3": operation.storage_hm3[:, :-1],
        "storage_end_hm3": operation.storage_hm3[:, 1:],
        "level_m": operation.level_m,
        "tailrace_m": operation.tailrace_m,
        "head_m": operation.head_m,
        "power_mw": operation.power_mw,
        "energy_gwh": operation.energy_gwh,
        "violation": operation.violation,
    }
    if operation.has_conditions:
        columns |= {name: getattr(operation, name) for name in CONDITION_COLUMNS}
    if operation.missing_m3s.any():
        columns[MISSING] = operation.missing_m3s
    return columns


def year_columns(inflow: Inflow) -> dict[str, NDArray[Any]]:
    """What names each water year in a table, shape (years,): the year, and of an ensemble the member before it."""
    member = inflow.member_of_year
    years = {"year": np.array(inflow.calendar.labels, dtype=object)}
    return years if member is None else {"member": member.astype(object)} | years


def loss_volumes_of_years(inflow: Inflow, operation: Operation) -> dict[str, NDArray[np.float64]]:
    """Net evaporation, seepage, withdrawal and shortage of each year, hm3; empty if the reservoir has none of them."""
    if not operation.has_conditions:
        return {}
    volume = inflow.calendar.hm3_per_m3s
    return {
        "evaporation_hm3": operation.evaporation_hm3.sum(axis=1),
        "seepage_hm3": operation.seepage_hm3.sum(axis=1),
        "withdrawal_hm3": (operation.withdrawal_m3s * volume).sum(axis=1),
        "shortage_hm3": (operation.shortage_m3s * volume).sum(axis=1),
    }
