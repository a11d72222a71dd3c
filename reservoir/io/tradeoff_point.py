"""What a tradeoff's folder holds for the plan of one of its points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.text.sound_json import read_json

#: Names of the files.
PROVENANCE, POINTS, INFLOW = "tradeoff.json", "points", "inflow.csv"
_MOST_BYTES = 10_000_000
#: How a record can have been read.
_READING = {"unit": str, "column": str, "water_year": str, "missing_days": int, "negative": str}


def point_inputs(point: Path, given: Mapping[str, Path | None]) -> dict[str, Any]:
    """Files of a point, and how its record was read, as the options of a call.

    Parameters
    ----------
    point : Path
        ``FOLDER/NAME``.
    given : mapping
        The files of the call: a ``reservoir`` is refused, an ``inflow`` taken in place of the folder's.

    Raises
    ------
    InputError
        If there is no such point, or a reservoir is given beside it.
    """
    if given["reservoir"] is not None:
        problem = "a point has a reservoir of its own"
        raise InputError(Mistake(problem, mend="leave out --reservoir", column="--point", value=str(point)))
    folder, reservoir = point.parent, point.parent / POINTS / f"{point.name}.toml"
    if not reservoir.is_file():
        known = sorted(each.stem for each in (folder / POINTS).glob("*.toml"))
        expected = f"one of {known[0]} to {known[-1]}" if known else "FOLDER/NAME of a folder by `reservoir tradeoff`"
        raise InputError(Mistake("there is no such point", expected, column="--point", value=str(point)))
    if given["inflow"] is not None:
        return {"reservoir_file": reservoir}
    inflow = folder / INFLOW
    if not inflow.is_file():
        problem = "the folder has no copy of the record, which was a workbook, an ensemble or made in Python"
        raise InputError(Mistake(problem, mend="give the record", column="--point", value=str(point)))
    return {"reservoir_file": reservoir, "inflow_file": inflow, **_reading(folder / PROVENANCE)}


def _reading(path: Path) -> dict[str, Any]:
    """How the record was read."""
    try:
        told = read_json(path, _MOST_BYTES)["inflow"]["reading"]
        return {name: told[name] for name, kind in _READING.items() if isinstance(told.get(name), kind)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(Mistake("is not the provenance of a tradeoff", file=str(path))) from error
