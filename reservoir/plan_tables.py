"""The files of a plan's folder, and its tables as they were written; no physics, so that reading them is quick."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from reservoir.errors import InputError, Mistake

#: Files of a plan's folder; the first tells it from any other folder.
PROVENANCE, SCHEDULE, SUMMARY, RESERVOIR = "plan.json", "schedule.csv", "summary.csv", "reservoir.toml"
#: Folder of the figures.
FIGURES = "figures"
#: How to mend a file that is not as it was written.
AGAIN = "run `reservoir plan` again, or restore the file"
_SCHEDULE = ("year", "month", "inflow_m3s", "release_m3s", "storage_start_hm3", "energy_gwh")
_SUMMARY = ("year", "reference_gwh", "generations", "evaluations")


def read_schedule(folder: Path) -> pd.DataFrame:
    """The months of a plan, as ``schedule.csv`` has them.

    Raises
    ------
    InputError
        If the file is missing, or holds what is no number.
    """
    return _table(folder / SCHEDULE, _SCHEDULE)


def read_summary(folder: Path) -> pd.DataFrame:
    """The years of a plan, as ``summary.csv`` has them; raises as `read_schedule` does."""
    return _table(folder / SUMMARY, _SUMMARY)


def read_caveats(folder: Path) -> tuple[str, ...]:
    """What must be said wherever a plan's results are shown, as ``plan.json`` has it.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    path = folder / PROVENANCE
    try:
        return tuple(str(each) for each in json.loads(path.read_text(encoding="utf-8")).get("caveats", ()))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise changed(path, "cannot be read as the provenance of a plan") from error


def changed(path: Path, problem: str) -> InputError:
    """Refuse a file of a plan's folder that is not as it was written."""
    return InputError(Mistake(problem, mend=AGAIN, file=str(path)))


def _table(path: Path, needed: tuple[str, ...]) -> pd.DataFrame:
    """A CSV file with the columns needed, all but the year's label finite numbers."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False).fillna("")
    except FileNotFoundError as error:
        raise InputError(Mistake("is missing", mend=AGAIN, file=str(path))) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())
        raise changed(path, f"cannot be read as a table ({reason})") from error
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise changed(path, f"has no column {', '.join(missing)}")
    if table.empty:
        raise changed(path, "has no rows")
    numbers = {name: pd.to_numeric(table[name], errors="coerce").astype(float) for name in needed[1:]}
    mistakes = [mistake for name in numbers for mistake in _not_numbers(path, table[name], numbers[name])]
    if mistakes:
        raise InputError(mistakes)
    return table.assign(**numbers)


def _not_numbers(path: Path, cells: pd.Series, numbers: pd.Series) -> Iterator[Mistake]:
    # A plan without a reference has no number there, in any year.
    if cells.name == "reference_gwh" and (cells == "").all():
        return
    for row in np.flatnonzero(~np.isfinite(numbers)):
        cell = str(cells.iloc[row])
        problem, found = ("is no finite number", cell) if cell else ("is empty", None)
        # The heading is row 1.
        yield Mistake(problem, "a number", AGAIN, str(path), int(row) + 2, str(cells.name), found)
