"""Read a reservoir file (TOML): every mistake in it is stated at once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from reservoir.errors import InputError
from reservoir.hydro.calendar import HOURS_PER_YEAR
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_checks.claims import CLAIMS, Lake, failures
from reservoir.hydro.reservoir_kinds import ReferenceLevels
from reservoir.io.reservoir_toml.checks import CHECKS
from reservoir.io.reservoir_toml.curves import CurveSet, curves_of
from reservoir.io.reservoir_toml.draft import Draft, DraftWords
from reservoir.io.reservoir_toml.schema import File, StorageSection
from reservoir.io.reservoir_toml.text import file_content, parsed
from reservoir.io.reservoir_toml.wording import validated

#: Where a file has the fields of `Reservoir`.
_KEYS = {
    "installed_mw": "plant.installed_capacity_mw",
    "guaranteed_energy_gwh": "plant.guaranteed_energy_gwh",
    "lake_hm3": "storage.dead_hm3",
    "storage_lower_hm3": "storage.lower_hm3",
    "storage_upper_hm3": "storage.upper_hm3",
    "initial_storage_hm3": "storage.initial_hm3",
    "final_storage_hm3": "storage.final_hm3",
    "release_lower_m3s": "release.lower_m3s",
    "release_upper_m3s": "release.upper_m3s",
}


def read_reservoir(path: str | Path) -> Reservoir:
    """Read and check a reservoir file.

    Parameters
    ----------
    path : str or Path
        A TOML file; data/template.toml explains every key.

    Returns
    -------
    Reservoir
        Volumes in hm3, flows in m3/s, whatever the file's units; its arrays cannot be written.

    Raises
    ------
    InputError
        With every mistake in the file.
    """
    return reservoir_of(file_content(path), str(path))


def reservoir_of(content: bytes, source: str) -> Reservoir:
    """Check what a reservoir file holds; `source` names it. Raises as `read_reservoir` does."""
    draft = Draft.of(parsed(content, source), source)
    file, refused = validated(draft)
    curves, astray = curves_of(file, draft)
    of_file = failures(CHECKS, _sections(file, draft))
    of_reservoir = failures(CLAIMS, _fields(file, curves, draft))
    mistakes = [*draft.mistakes, *refused, *of_file, *of_reservoir, *astray]
    if mistakes:
        raise InputError(draft.in_order(mistakes))
    return _assembled(file, curves, source, content)


def _sections(file: File, draft: Draft) -> dict[str, Any]:
    """What is sound of the file, by section."""
    sections = {name: getattr(file, name) for name in File.model_fields}
    return {"draft": draft, **{name: section for name, section in sections.items() if section is not None}}


def _fields(file: File, curves: CurveSet, draft: Draft) -> dict[str, Any]:
    """What is sound of the file, by the fields of `Reservoir` that claims name."""
    parts: dict[str, Any] = {"words": DraftWords(draft, keys=_keys(draft)), "marks": file.marks}
    if file.plant:
        parts["installed_mw"] = file.plant.installed_capacity_mw
        parts["guaranteed_energy_gwh"] = file.plant.guaranteed_energy_gwh
    if file.storage:
        parts |= _of_storage(file.storage)
    if file.release:
        parts["release_lower_m3s"] = np.array(file.release.lower_m3s)
        parts["release_upper_m3s"] = np.array(file.release.upper_m3s)
    if curves.level:
        parts["level"] = curves.level
    if curves.most_power_mw is not None:
        parts["most_power_mw"] = curves.most_power_mw
    return parts


def _of_storage(storage: StorageSection) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "year_end": storage.year_end,
        "initial_storage_hm3": storage.initial_hm3,
        "final_storage_hm3": storage.final,
    }
    if storage.is_lake:
        parts["lake"] = Lake(storage.dead_hm3, storage.full_hm3)
    if storage.is_lake and storage.bounds_within_lake:
        parts["storage_lower_hm3"], parts["storage_upper_hm3"] = np.array(storage.lower), np.array(storage.upper)
    return parts


def _keys(draft: Draft) -> dict[str, str]:
    # Left out, the final storage is the initial one.
    final = "storage.final_hm3" if draft.has("storage.final_hm3") else "storage.initial_hm3"
    return _KEYS | {"final_storage_hm3": final}


def _assembled(file: File, curves: CurveSet, source: str, content: bytes) -> Reservoir:
    plant, storage, release = file.plant, file.storage, file.release
    # Whatever leaves one of these open is a mistake, and was raised.
    assert file.name and plant and storage and release
    assert curves.level and curves.tailrace and curves.conversion and curves.capacity_m3s
    penalty = file.objective.penalty_gwh
    return Reservoir(
        name=file.name,
        level=curves.level,
        tailrace=curves.tailrace,
        conversion=curves.conversion,
        conversion_kind=curves.conversion_kind,
        capacity_m3s=curves.capacity_m3s,
        installed_mw=plant.installed_capacity_mw,
        storage_lower_hm3=np.array(storage.lower),
        storage_upper_hm3=np.array(storage.upper),
        release_lower_m3s=np.array(release.lower_m3s),
        release_upper_m3s=np.array(release.upper_m3s),
        initial_storage_hm3=storage.initial_hm3,
        final_storage_hm3=storage.final,
        year_end=storage.year_end,
        penalty_gwh=plant.installed_capacity_mw * HOURS_PER_YEAR / 1000 if penalty is None else penalty,
        first_month=file.first_month,
        guaranteed_energy_gwh=plant.guaranteed_energy_gwh,
        marks=ReferenceLevels(**file.marks.model_dump()),
        description=file.description,
        caveat=file.caveat,
        source=source,
        sha256=hashlib.sha256(content).hexdigest(),
        content=content,
    )
