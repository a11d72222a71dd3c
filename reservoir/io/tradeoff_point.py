"""What a tradeoff's folder holds for the plan of one of its points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reservoir.errors import InputError, Mistake
from reservoir.io.output import content_sha256
from reservoir.io.plan_folder.files import FILES
from reservoir.text.strict_json import read_json

#: Names of the files.
PROVENANCE, POINTS, INFLOW = "tradeoff.json", "points", "inflow.csv"
_MOST_BYTES = 10_000_000
_AGAIN = "run `reservoir tradeoff` again, or restore the file; plan a changed one by its own name, without --point"
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
        If there is no such point, its files are not as they were written, or a reservoir is given beside it.
    """
    if given["reservoir"] is not None:
        problem = "a point has a reservoir of its own"
        raise InputError(Mistake(problem, mend="leave out --reservoir", column="--point", value=str(point)))
    folder, reservoir = point.parent, point.parent / POINTS / f"{point.name}.toml"
    if not reservoir.is_file():
        known = sorted(each.stem for each in (folder / POINTS).glob("*.toml"))
        expected = f"one of {known[0]} to {known[-1]}" if known else "FOLDER/NAME of a folder by `reservoir tradeoff`"
        raise InputError(Mistake("there is no such point", expected, column="--point", value=str(point)))
    told = _provenance(folder / PROVENANCE)
    if given["inflow"] is not None:
        _require_as_written(folder, told, f"{POINTS}/{reservoir.name}")
        return {"reservoir_file": reservoir}
    inflow = folder / INFLOW
    if not inflow.is_file():
        problem = "the folder has no copy of the record, which was a workbook, an ensemble or made in Python"
        raise InputError(Mistake(problem, mend="give the record", column="--point", value=str(point)))
    _require_as_written(folder, told, f"{POINTS}/{reservoir.name}", INFLOW)
    return {"reservoir_file": reservoir, "inflow_file": inflow, **_reading(told)}


def _provenance(path: Path) -> dict[str, Any]:
    """What a tradeoff's folder says of itself."""
    try:
        told = read_json(path, _MOST_BYTES)
        if all(isinstance(each, dict) for each in (told["inflow"], told["inflow"]["reading"], told[FILES])):
            return dict(told)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise InputError(Mistake("is not the provenance of a tradeoff", mend=_AGAIN, file=str(path)))


def _require_as_written(folder: Path, told: Mapping[str, Any], *names: str) -> None:
    """Refuse files that are not those of the tradeoff, by their hashes."""
    changed = [name for name in names if content_sha256(folder / name) != told[FILES].get(name)]
    problem = "was changed after the tradeoff was made"
    if changed:
        raise InputError([Mistake(problem, mend=_AGAIN, file=str(folder / name)) for name in changed])


def _reading(told: Mapping[str, Any]) -> dict[str, Any]:
    """How the record was read."""
    reading = told["inflow"]["reading"]
    return {name: reading[name] for name, kind in _READING.items() if isinstance(reading.get(name), kind)}
