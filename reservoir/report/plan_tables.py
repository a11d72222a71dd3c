"""The tables in a plan's folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reservoir.io.csv_table import write_table
from reservoir.io.plan_folder.formats import DATASETS, PlanFormat, write_dataset
from reservoir.io.plan_folder.tables import ENGINE_GAP, MEMBERS, SCHEDULE, SUMMARY, WATER_VALUES
from reservoir.planning.members import members_table
from reservoir.planning.plan import Plan


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
    for name in ("gap", ENGINE_GAP):
        if name in tables.get(SUMMARY, ()):
            gaps = [f"{gap:.3e}" if np.isfinite(gap) else "" for gap in tables[SUMMARY][name].tolist()]
            tables[SUMMARY][name] = np.array(gaps, object)
    if plan.water_values:
        tables[WATER_VALUES] = plan.water_values.table
    for name, table in tables.items():
        write_table(plan.units.table(table), folder / name)
    return [*datasets, *tables]
