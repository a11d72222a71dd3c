"""The operation that a plan's dataset states, in full precision, once it is known to follow from the releases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake, worth_telling
from reservoir.hydro.objective import Operation
from reservoir.io.plan_folder.saved_dataset import MONTHLY
from reservoir.io.plan_folder.saved_tables import SavedTables, at_row
from reservoir.io.plan_folder.tables import AGAIN
from reservoir.planning.schedule import CONDITION_COLUMNS, MISSING

#: What releases come to again differs by the last digits: by no more than this part of the largest value.
ROUNDING = 1e-9


def stated_operation(tables: SavedTables, follows: Operation) -> Operation:
    """The operation as the dataset has it, to the last digit.

    Parameters
    ----------
    tables : SavedTables
        Of a dataset.
    follows : Operation
        What its releases come to.

    Raises
    ------
    InputError
        With the first value of each variable that is not what the releases come to.
    """
    names = [name for name in MONTHLY if name != "inflow_m3s"]
    names += CONDITION_COLUMNS if follows.has_conditions else ()
    names += (MISSING,) if follows.missing_m3s.any() else ()
    schedule, path, mistakes = tables.schedule, str(tables.schedule_path), []
    found: dict[str, Any] = {}
    for name in (*names, "storage_start_hm3", "storage_end_hm3"):
        expected = _column(follows, name)
        if name not in schedule:
            mistakes.append(Mistake(f"has no variable {name}", mend=AGAIN, file=path))
            continue
        found[name] = schedule[name].to_numpy(float).reshape(expected.shape)
        wrong = np.argwhere(~(np.abs(found[name] - expected) <= ROUNDING * (1 + float(np.abs(expected).max()))))
        if len(wrong):
            at = tuple(wrong[0])
            problem, value = "does not match the releases and reservoir.toml", float(found[name][at])
            mistake = Mistake(problem, f"{expected[at]:.10g}", AGAIN, path, column=name, value=value)
            mistakes.append(at_row(mistake, schedule, int(at[0]) * expected.shape[1] + int(at[1])))
    if mistakes:
        raise InputError(worth_telling(mistakes, path))
    start, end = found.pop("storage_start_hm3"), found.pop("storage_end_hm3")
    return replace(follows, **found, storage_hm3=np.concatenate([start[:, :1], end], axis=1))


def _column(operation: Operation, name: str) -> NDArray[np.float64]:
    if name in ("storage_start_hm3", "storage_end_hm3"):
        return operation.storage_hm3[:, :-1] if name == "storage_start_hm3" else operation.storage_hm3[:, 1:]
    return np.asarray(getattr(operation, name))
