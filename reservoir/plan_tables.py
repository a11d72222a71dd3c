"""The files of a plan's folder, and its tables as they were written; no physics, so that reading them is quick."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from reservoir.errors import InputError, Mistake

#: Files of a plan's folder; the first tells it from any other folder.
PROVENANCE, SCHEDULE, SUMMARY, RESERVOIR = "plan.json", "schedule.csv", "summary.csv", "reservoir.toml"
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


def changed(path: Path, problem: str) -> InputError:
    """Refuse a file of a plan's folder that is not as it was written."""
    return InputError(Mistake(problem, mend=AGAIN, file=str(path)))


def _table(path: Path, needed: tuple[str, ...]) -> pd.DataFrame:
    """A CSV file with the columns needed, all but the year's label finite numbers."""
    try:
        table = pd.read_csv(path, dtype={"year": str})
    except FileNotFoundError as error:
        raise InputError(Mistake("is missing", mend=AGAIN, file=str(path))) from error
    except (OSError, ValueError) as error:
        raise changed(path, f"cannot be read as a table ({error})") from error
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise changed(path, f"has no column {', '.join(missing)}")
    mistakes = [mistake for name in needed[1:] for mistake in _not_numbers(path, table[name])]
    if mistakes:
        raise InputError(mistakes)
    return table


def _not_numbers(path: Path, column: pd.Series) -> Iterator[Mistake]:
    numbers = pd.to_numeric(column, errors="coerce")
    # A plan without a reference has no number there.
    allowed = column.isna() if column.name == "reference_gwh" else np.zeros(len(column), bool)
    for row in np.flatnonzero(~np.isfinite(numbers) & ~allowed):
        # The heading is row 1.
        value = str(column.iloc[row])
        yield Mistake(
            "is no finite number", mend=AGAIN, file=str(path), row=int(row) + 2, column=str(column.name), value=value
        )
