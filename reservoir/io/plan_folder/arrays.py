"""What a plan is read from: arrays with all their digits in ``arrays/NAME.npy``, and the record among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar, TimeStep
from reservoir.hydro.inflow import COMPANIONS, Inflow
from reservoir.io.plan_folder.files import ARRAYS, CALENDAR, FILES, PROVENANCE, changed, check_files, read_provenance

if TYPE_CHECKING:
    import pandas as pd

Arrays = Mapping[str, NDArray[Any]]

#: Arrays of the record, shape (years, steps); what it says beside the inflow has a name of its own behind the second.
_FLOW, _BESIDE, _MEMBERS = "inflow_m3s", "record_", "members"


def record_arrays(record: Inflow) -> dict[str, NDArray[Any]]:
    """Arrays of a record by name."""
    beside = {f"{_BESIDE}{name}": getattr(record, name) for name in COMPANIONS}
    arrays = {_FLOW: record.flow_m3s, **beside, _MEMBERS: record.members}
    return {name: array for name, array in arrays.items() if array is not None}


def write_arrays(arrays: Arrays, folder: Path) -> list[str]:
    """Write arrays to a plan's folder; returns the names of the files in it. The same arrays give the same bytes."""
    (folder / ARRAYS).mkdir(exist_ok=True)
    files = {f"{ARRAYS}/{name}.npy": array for name, array in arrays.items()}
    for name, array in files.items():
        np.save(folder / name, array, allow_pickle=False)
    return list(files)


def read_arrays(folder: Path, files: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Arrays of a plan's folder by name, once `check_files` has held their files against their hashes.

    Parameters
    ----------
    folder : Path
    files : iterable of str
        Names of files in it; those that are no arrays are left out.
    """
    arrays = {}
    for file in files:
        if file.startswith(f"{ARRAYS}/"):
            try:
                with (folder / file).open("rb") as opened:
                    arrays[Path(file).stem] = np.lib.format.read_array(opened, allow_pickle=False)
            except Exception as error:  # numpy reads the heading as Python: anything may be wrong with it
                raise changed(folder / file, f"is not an array ({error})") from error
    return arrays


def saved_record(origin: Mapping[str, Any], arrays: Arrays) -> Inflow:
    """The record that a plan was made for, with all digits; `origin` is ``plan.json``."""
    record, calendar, flow = origin["inflow"], origin[CALENDAR], arrays[_FLOW]
    reading = record.get("reading", {})
    further: dict[str, Any] = {name: arrays.get(f"{_BESIDE}{name}") for name in COMPANIONS}
    further |= {name: record[name] for name in ("caveat", "sha256", "unit", "unit_from")}
    further |= {"members": arrays.get(_MEMBERS), "source": record["file"], "reading": reading}
    negative = reading.get("negative") == "keep" or bool((flow < 0).any())
    known = {field.name for field in fields(Calendar)}
    if other := [name for name, value in calendar.items() if name not in known and value]:
        problem = f"the calendar has {', '.join(other)}, which this edition does not know"
        raise InputError(problem, mend="plan again, or use the edition that made the plan", file=PROVENANCE)
    of_file = {name: value for name, value in calendar.items() if name in known}
    calendar = Calendar(**of_file | {"step": TimeStep(calendar["step"])})
    return Inflow(flow, calendar, allow_negative=negative, **further)


def months_of_plan(folder: Path) -> pd.DataFrame:
    """The months of a plan from its arrays: what names them, storages at their start, inflow and release.

    Raises
    ------
    InputError
        If an array, or ``plan.json``, is not as it was written.
    """
    import pandas as pd

    origin = read_provenance(folder)
    wanted = {f"{ARRAYS}/{name}.npy" for name in (_FLOW, _MEMBERS, "release_m3s", "storage_hm3")}
    check_files(folder, {name: digest for name, digest in origin[FILES].items() if name in wanted})
    arrays = read_arrays(folder, wanted & set(origin[FILES]))
    record = saved_record(origin, arrays)
    from reservoir.planning.operated_record import year_columns  # an operator reads the arrays alone

    names = {name: np.repeat(column, record.steps) for name, column in year_columns(record).items()}
    columns = {
        "month": np.tile(record.calendar.months, record.years),
        "inflow_m3s": record.flow_m3s,
        "release_m3s": arrays["release_m3s"],
        "storage_start_hm3": arrays["storage_hm3"][:, :-1],
    }
    return pd.DataFrame(names | {name: np.ravel(column) for name, column in columns.items()})
