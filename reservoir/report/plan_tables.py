"""The tables in a plan's folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reservoir.io.csv_table import write_table
from reservoir.io.plan_folder.formats import DATASETS, PlanFormat, write_dataset
from reservoir.io.plan_folder.tables import ENGINE_GAP, MEMBERS, SCHEDULE, SUMMARY, WATER_VALUES
from reservoir.planning.column_names import OBJECTIVE, REFERENCE_OBJECTIVE
from reservoir.planning.members import members_table
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
    for name, form in _FORMS.items():
        if name in tables.get(SUMMARY, ()):
            numbers = [form.format(number) if np.isfinite(number) else "" for number in tables[SUMMARY][name].tolist()]
            tables[SUMMARY][name] = np.array(numbers, object)
    if plan.water_values:
        tables[WATER_VALUES] = plan.water_values.table
    for name, table in tables.items():
        write_table(plan.units.table(table), folder / name)
    return [*datasets, *tables]
