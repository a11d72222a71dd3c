"""Both tables of a plan, from CSV or from its dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.io.plan_folder.formats import DATASETS, PlanFormat
from reservoir.io.plan_folder.provenance import FORMAT
from reservoir.io.plan_folder.tables import (
    AGAIN,
    DATASET_NAMES,
    MEMBER,
    PROVENANCE,
    SCHEDULE,
    SUMMARY,
    read_summary,
    schedule_file,
)
from reservoir.io.plan_folder.tables import read_schedule as read_csv_schedule
from reservoir.planning.column_names import second_run


@dataclass(frozen=True, eq=False)
class SavedTables:
    """The months and the years of a plan, as its folder has them.

    Parameters
    ----------
    schedule, summary : DataFrame
        A row for each year and month, and for each year.
    schedule_path, summary_path : Path
        Where they stand: in two CSV files, or in one dataset.
    """

    schedule: pd.DataFrame
    summary: pd.DataFrame
    schedule_path: Path
    summary_path: Path

    @property
    def is_dataset(self) -> bool:
        """Whether they are in full precision, with all variables."""
        return self.schedule_path.name in DATASET_NAMES


def read_tables(folder: Path, origin: Mapping[str, Any]) -> SavedTables:
    """Both tables of a plan.

    Parameters
    ----------
    folder : Path
    origin : mapping
        ``plan.json``.

    Raises
    ------
    InputError
        If a file is missing, or holds what no plan does.
    """
    if FORMAT not in origin:
        return SavedTables(read_csv_schedule(folder), read_summary(folder), folder / SCHEDULE, folder / SUMMARY)
    if origin[FORMAT] not in list(PlanFormat) or origin[FORMAT] == PlanFormat.CSV:
        problem, expected, file = "is no format of a plan's tables", ", ".join(DATASETS), str(folder / PROVENANCE)
        raise InputError(Mistake(problem, expected, AGAIN, file, column=FORMAT, value=origin[FORMAT]))
    from reservoir.io.plan_folder.saved_dataset import read_dataset

    path, solver = folder / DATASETS[PlanFormat(origin[FORMAT])], str(origin["solver"])
    reference = str((origin.get("reference") or {}).get("solver", ""))
    sources = (solver, second_run(solver), reference)
    return SavedTables(*read_dataset(path, origin["years"], sources), path, path)


def read_schedule(folder: Path) -> pd.DataFrame:
    """The months of a plan, from whichever file of its folder has them.

    Raises
    ------
    InputError
        If the file is missing, or holds what no plan does.
    """
    path = schedule_file(folder)
    if path.name == SCHEDULE:
        return read_csv_schedule(folder)
    from reservoir.io.plan_folder.saved_dataset import read_dataset

    return read_dataset(path, 0, ())[0]


def at_row(mistake: Mistake, table: pd.DataFrame, row: int) -> Mistake:
    """A mistake with its place: the row of a CSV file, as an editor counts them; of a dataset the year and month."""
    if Path(mistake.file).name not in DATASET_NAMES:
        return replace(mistake, row=row + 2)  # the heading is row 1
    names = [str(table[name].iloc[row]) for name in (MEMBER, "year") if name in table]
    month = table["month"].iloc[row] if "month" in table else np.nan
    where = ": ".join(names) + (f" {MONTH_NAMES[int(month) - 1]}" if month in range(1, 13) else "")
    return replace(mistake, problem=f"{mistake.problem} in {where}")
