"""Copies of a plan's inputs in its folder, so that it can be read back."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from reservoir.errors import InputError
from reservoir.hydro.identity import reservoir_digests
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.plan_folder.tables import COPY, INFLOW, RESERVOIR
from reservoir.io.record_copy import FILE, record_copy
from reservoir.io.reservoir_toml.reader import reservoir_of
from reservoir.io.reservoir_toml.writer import write_reservoir
from reservoir.planning.plan import Plan


def copy_inputs(plan: Plan, folder: Path) -> dict[str, dict[str, Any]]:
    """Copy the files that were read, as far as they still say what was planned.

    Of a workbook the sheet that was read is written as CSV, of NetCDF the values; a reservoir that was made or changed
    in Python as a reservoir file, unless no file can contain it.

    Returns
    -------
    dict
        What ``plan.json`` says of the reservoir's file: ``file`` and ``sha256``, empty without one; and of a copy of
        the record that is not the file itself.
    """
    copy = record_copy(plan.inflow)
    if copy:
        (folder / INFLOW).write_bytes(copy.content)
    plant = plan.start.reservoir if plan.start else plan.reservoir
    content = plant.content or _still_there(plant.source)
    if _sha256(content) == plant.sha256 and _describes(content, plant):
        told = {"file": Path(plant.source).name, "sha256": plant.sha256}
    else:
        content = _written(plant)
        told = {"file": "", "sha256": _sha256(content) if content else ""}
    if content:
        (folder / RESERVOIR).write_bytes(content)
    return {"reservoir": told, "inflow": {COPY: copy.told} if copy and copy.kind != FILE else {}}


def _written(plant: Reservoir) -> bytes:
    """A reservoir as a file; nothing where no file can contain it."""
    try:
        return write_reservoir(plant).encode()
    except InputError:
        return b""


def _describes(content: bytes, plant: Reservoir) -> bool:
    """Whether a file says what a reservoir is, which may have been changed in Python since it was read."""
    read = reservoir_of(content, plant.source)
    return read.name == plant.name and reservoir_digests(read) == reservoir_digests(plant)


def _still_there(source: str) -> bytes:
    """What an input's file holds now: inputs keep the bytes that they were read from, since a pipe is empty by now."""
    return Path(source).read_bytes() if source and Path(source).is_file() else b""


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
