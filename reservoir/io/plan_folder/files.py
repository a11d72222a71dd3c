"""The files of a plan's folder: their names, their hashes, and ``plan.json``, which has all of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from reservoir.errors import InputError, Mistake
from reservoir.io.output import content_sha256
from reservoir.io.workplace import clear_abandoned
from reservoir.text.strict_json import read_json, strict_json

_Value = TypeVar("_Value")
#: Files of a plan's folder; the first tells it from any other folder, the last is of plans by dynamic programming.
PROVENANCE, SCHEDULE, SUMMARY, WATER_VALUES = "plan.json", "schedule.csv", "summary.csv", "water_values.csv"
#: Of plans of ensembles.
MEMBERS = "members.csv"
#: In place of the tables where a plan is written as NetCDF, as Zarr or as a workbook.
NETCDF, ZARR, XLSX = DATASET_NAMES = "plan.nc", "plan.zarr", "plan.xlsx"
#: Copies of what was planned.
RESERVOIR, INFLOW, SYSTEM = "reservoir.toml", "inflow.csv", "system.toml"
#: Folders of the figures, and of what a plan is read from: numbers with all their digits.
FIGURES, ARRAYS, RELEASES = "figures", "arrays", "release_m3s.npy"
#: Keys of ``plan.json``: hashes of the folder's files, its own hash, the calendar of the record, what the copy of the
#: record is if it is not the file itself, and the format of the tables if they are not CSV.
FILES, SHA256, CALENDAR, COPY, FORMAT = "files", "sha256", "calendar", "copy", "format"
#: How to mend a file that is not as it was written.
AGAIN = "run `reservoir plan` again, or restore the file"
#: No provenance is larger, which tells of every month outside its limits.
MOST_PROVENANCE_BYTES = 10_000_000


def changed(path: Path, problem: str) -> InputError:
    """Refuse a file of a plan's folder that is not as it was written."""
    return InputError(problem, mend=AGAIN, file=str(path))


def require_folder(folder: Path) -> None:
    """Refuse a plan's folder that is none.

    Raises
    ------
    InputError
        If it is a file, or nothing.
    """
    if not os.path.isdir(folder):
        problem = "is a file, not a folder" if os.path.exists(folder) else "does not exist"
        raise InputError(problem, "a folder written by `reservoir plan`", file=str(folder))


def write_provenance(folder: Path, content: Mapping[str, Any]) -> None:
    """Write ``plan.json`` with its own hash."""
    origin = json.loads(strict_json({name: value for name, value in content.items() if name != SHA256}))
    write_json(folder / PROVENANCE, origin | {SHA256: _own_sha256(origin)})


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON for people and machines."""
    # A name of a file that is no text keeps its bytes: an escape of JSON's own.
    path.write_text(strict_json(content), encoding="utf-8", errors="backslashreplace")


def read_provenance(folder: Path) -> dict[str, Any]:
    """Content of a plan's ``plan.json``, as it was written.

    Raises
    ------
    InputError
        If it is no folder of a plan, was written by an earlier version of the program, or was changed.
    """
    require_folder(folder)
    clear_abandoned(folder)  # a run that was killed in the midst of an exchange of files
    path = folder / PROVENANCE
    try:
        content = read_json(path, MOST_PROVENANCE_BYTES)
    except FileNotFoundError as error:
        problem = f"is not a plan folder: {PROVENANCE} is missing"
        raise InputError(problem, "a folder written by `reservoir plan`", file=str(folder)) from error
    except (OSError, ValueError) as error:
        raise changed(path, f"cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if not isinstance(content, dict):
        raise changed(path, "is not a JSON object")
    if SHA256 not in content:
        problem = f"its folder has no {ARRAYS}/ to read the plan from"
        problem = f"was written by an earlier version of this program: {problem}"
        raise InputError(problem, mend="run `reservoir plan` again", file=str(path))
    if content[SHA256] != _own_sha256(content):
        raise changed(path, "was changed after the plan was made")
    return content


def _own_sha256(content: Mapping[str, Any]) -> str:
    """Hash of what a provenance says, however it is laid out."""
    origin = {name: value for name, value in content.items() if name != SHA256}
    return hashlib.sha256(json.dumps(origin, sort_keys=True).encode()).hexdigest()


def file_hashes(folder: Path, names: list[str]) -> dict[str, str]:
    """SHA-256 of files of a folder, or of folders in it, by their names in it."""
    return {name: content_sha256(folder / name) for name in names}


def check_files(folder: Path, wanted: Mapping[str, str]) -> None:
    """Refuse files of a folder that are not as they were written.

    Parameters
    ----------
    folder : Path
    wanted : mapping of str to str
        Hash of each file by its name, as `file_hashes` has them.

    Raises
    ------
    InputError
        With every file that is missing or was changed.
    """
    mistakes = []
    for name, digest in wanted.items():
        file, problem = folder / name, ""
        try:
            if Path(name).is_absolute() or ".." in Path(name).parts:
                file, problem = folder / PROVENANCE, f"names a file outside the folder ({name[:60]})"
            elif content_sha256(file) != digest:
                problem = "was changed after the plan was made"
        except FileNotFoundError:
            problem = "is missing"
        except OSError as error:
            problem = f"cannot be read ({error.strerror})"
        mistakes += [Mistake(problem, mend=AGAIN, file=str(file))] if problem else []
    if mistakes:
        raise InputError(mistakes)


def schedule_file(folder: Path) -> Path:
    """Where the schedule of a plan stands: ``schedule.csv``, or what is there in its place."""
    present = (path for path in (folder / name for name in (SCHEDULE, *DATASET_NAMES)) if path.exists())
    return next(present, folder / SCHEDULE)


def schedule_sha256(folder: Path) -> str:
    """Hash of the schedule's file, by which a rule knows the plan that it was fitted to.

    Where it has the summary too, to which a proof is added, that of the releases.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    path = schedule_file(folder)
    if path.name in DATASET_NAMES:
        path = folder / ARRAYS / RELEASES
    try:
        return content_sha256(path)
    except (OSError, ValueError) as error:
        raise changed(path, f"cannot be read ({getattr(error, 'strerror', None) or error})") from error


def read_caveats(folder: Path) -> tuple[str, ...]:
    """Caveats to show with every result of a plan, as ``plan.json`` has them.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    return _stated(folder, lambda origin: tuple(str(caveat) for caveat in origin.get("caveats", ())))


def read_units(folder: Path) -> str:
    """Name of the units that a plan is shown in, as ``plan.json`` has it; raises as `read_caveats` does."""
    return _stated(folder, lambda origin: str(origin.get("units", {}).get("system", "si")))


def _stated(folder: Path, taken: Callable[[Any], _Value]) -> _Value:
    """What is taken from the provenance of a plan."""
    path = folder / PROVENANCE
    try:
        return taken(read_json(path, MOST_PROVENANCE_BYTES))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise changed(path, "is not the provenance of a plan") from error
