"""The tables in a plan's folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.io.csv_table import write_table
from reservoir.io.plan_folder.formats import DATASETS, PlanFormat, write_dataset
from reservoir.io.plan_folder.tables import ENGINE_GAP, MEMBERS, SCHEDULE, SUMMARY, WATER_VALUES
from reservoir.planning.column_names import OBJECTIVE, REFERENCE_OBJECTIVE
from reservoir.planning.operated_record import members_table
from reservoir.planning.plan import Plan
from reservoir.planning.proofs import PROVEN_BOUND, PROVEN_GAP

#: Columns of the summary that six decimals would cut short: gaps are small, and an objective has any size.
_FORMS = {
    "gap": "{:.3e}",
    ENGINE_GAP: "{:.3e}",
    PROVEN_GAP: "{:.3e}",
    PROVEN_BOUND: "{:.12g}",
    OBJECTIVE: "{:.12g}",
    REFERENCE_OBJECTIVE: "{:.12g}",
}


def write_tables(plan: Plan, folder: Path, kind: PlanFormat) -> list[str]:
    """Write the tables of a plan into a folder.

    Parameters
    ----------
    plan : Plan
    folder : Path
    kind : PlanFormat
        Of the schedule and the summary; other tables are CSV always.

    Returns
    -------
    list of str
        Names of the files, or folders, that were written.
    """
    members = members_table(plan)
    tables, datasets = {} if members is None else {MEMBERS: members}, list[str]()
    if kind is PlanFormat.CSV:
        tables |= {SCHEDULE: plan.schedule(), SUMMARY: plan.summary()}
    else:
        write_dataset(plan.to_xarray(copy=False), folder, kind)
        datasets = [DATASETS[kind]]
    for name in _FORMS:
        if name in tables.get(SUMMARY, ()):
            tables[SUMMARY][name] = as_written(name, tables[SUMMARY][name])
    if plan.water_values:
        tables[WATER_VALUES] = plan.water_values.table
    for name, table in tables.items():
        write_table(plan.units.table(table), folder / name)
    return [*datasets, *tables]


def as_written(name: str, numbers: pd.Series) -> NDArray[np.object_]:
    """Cells of a column of the summary that has a form of its own; empty where a number is not known."""
    return np.array([_FORMS[name].format(each) if np.isfinite(each) else "" for each in numbers.tolist()], object)
