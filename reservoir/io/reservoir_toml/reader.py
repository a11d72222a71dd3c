"""Read a reservoir file (TOML), and report all its mistakes at once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from reservoir.errors import InputError, Mistake
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_checks.claims import CLAIMS, Lake, failures
from reservoir.hydro.reservoir_checks.condition_claims import CONDITION_CLAIMS
from reservoir.hydro.reservoir_checks.list_lengths import comparable
from reservoir.hydro.reservoir_checks.objective_claims import OBJECTIVE_CLAIMS
from reservoir.hydro.reservoir_kinds import ReferenceLevels
from reservoir.hydro.time_step import TimeStep
from reservoir.io.reservoir_toml.checks import CHECKS
from reservoir.io.reservoir_toml.curves import curves_of
from reservoir.io.reservoir_toml.draft import Draft
from reservoir.io.reservoir_toml.objective import (
    objective_of,
    one_end_value,
    one_penalty,
    one_way_to_state_goals,
    penalty_of,
)
from reservoir.io.reservoir_toml.schema import File, StorageSection
from reservoir.io.reservoir_toml.text import file_content, parsed
from reservoir.io.reservoir_toml.wording import validated

#: Where a file has the fields of `Reservoir`.
_KEYS = {
    "installed_mw": "plant.installed_capacity_mw",
    "guaranteed_energy_gwh": "plant.guaranteed_energy_gwh",
    "guaranteed_power_mw": "plant.guaranteed_power_mw",
    "lake_hm3": "storage.dead_hm3",
    "storage_lower_hm3": "storage.lower_hm3",
    "storage_upper_hm3": "storage.upper_hm3",
    "initial_storage_hm3": "storage.initial_hm3",
    "final_storage_hm3": "storage.final_hm3",
    "release_lower_m3s": "release.lower_m3s",
    "release_upper_m3s": "release.upper_m3s",
    "evaporation_mm": "losses.evaporation_mm",
    "withdrawal_m3s": "losses.withdrawal_m3s",
    "plant_factor": "plant.plant_factor",
    "power_lower_mw": "plant.power_lower_mw",
    "operating_level_m": "plant.operating_level_m",
    "end_value_gwh_per_hm3": "storage.end_value_gwh_per_hm3",
}


def read_reservoir(path: str | Path, *, step: TimeStep | str | None = None) -> Reservoir:
    """Read and check a reservoir file.

    Parameters
    ----------
    path : str or Path
        A TOML file; data/template.toml explains every key.
    step : TimeStep or str, optional
        Time step to plan for, in place of the one in the file.

    Returns
    -------
    Reservoir
        Volumes in hm3, flows in m3/s, whatever the file's units; its arrays cannot be written.

    Raises
    ------
    InputError
        With every mistake in the file.
    """
    if step is not None and step not in tuple(TimeStep):
        raise InputError(Mistake("is unknown", " or ".join(TimeStep), "give one of these", column="step", value=step))
    return reservoir_of(file_content(path), str(path), None if step is None else TimeStep(step))


def reservoir_of(content: bytes, source: str, step: TimeStep | None = None) -> Reservoir:
    """Check what a reservoir file holds; `source` names it. Raises as `read_reservoir` does."""
    draft = Draft.of(parsed(content, source), source)
    file, refused = validated(draft)
    file = file if step is None else file.model_copy(update={"step": step})
    curves, astray = curves_of(file, draft)
    sound = _fields(file) | curves
    of_file = failures((*CHECKS, one_way_to_state_goals, one_penalty, one_end_value), _sections(file, draft))
    words = replace(draft, keys=_keys(draft))
    parts, unequal = comparable(sound, words)
    of_reservoir = failures(CLAIMS + CONDITION_CLAIMS + OBJECTIVE_CLAIMS, parts | {"words": words})
    mistakes = [*draft.mistakes, *refused, *of_file, *unequal, *of_reservoir, *astray]
    if mistakes:
        raise InputError(draft.in_order(mistakes))
    sound = {"area_km2": None, "seepage_m3s": None} | sound
    given = {each.name: sound[each.name] for each in fields(Reservoir) if each.name in sound}
    return Reservoir(**given, source=source, sha256=hashlib.sha256(content).hexdigest(), content=content)


def _sections(file: File, draft: Draft) -> dict[str, Any]:
    """What is sound of the file, by section."""
    sections = {name: getattr(file, name) for name in File.model_fields}
    return {"draft": draft, **{name: section for name, section in sections.items() if section is not None}}


def _fields(file: File) -> dict[str, Any]:
    """What is sound of the file but for its curves, by the fields of `Reservoir`, and what else claims name."""
    parts = {name: getattr(file, name) for name in ("name", "description", "caveat", "first_month", "calendar", "step")}
    parts["horizon"] = Horizon.of(file.horizon.span)
    parts["objective"] = objective_of(file.objective)
    parts["marks"] = ReferenceLevels(**file.marks.model_dump())
    if file.plant:
        installed = file.plant.installed_mw
        if installed is not None:
            parts["installed_mw"] = installed
            parts["penalty"] = penalty_of(file.objective, parts["objective"], installed, file.step.per_year)
        parts["guaranteed_energy_gwh"] = file.plant.guaranteed_energy_gwh
        parts["guaranteed_power_mw"] = file.plant.guaranteed_power_mw
        parts["operating_level_m"] = file.plant.operating_level_m
        parts |= _by_step(power_lower_mw=file.plant.power_lower_mw, plant_factor=file.plant.running_factor)
    if file.storage:
        parts |= _of_storage(file.storage)
    parts |= _by_step(evaporation_mm=file.losses.evaporation_mm, withdrawal_m3s=file.losses.withdrawal_m3s)
    if file.release:
        parts["ramp_up_m3s"], parts["ramp_down_m3s"] = file.release.ramp_up_m3s, file.release.ramp_down_m3s
        parts["release_lower_m3s"] = np.array(file.release.lower_m3s)
        parts["release_upper_m3s"] = np.array(file.release.upper_m3s)
    return parts


def _by_step(**given: Sequence[float] | None) -> dict[str, Any]:
    """Values by month, or by step, of each key of the file, or what a reservoir has without the key."""
    defaults = {each.name: each.default_factory for each in fields(Reservoir)}
    return {name: defaults[name]() if values is None else np.array(values) for name, values in given.items()}  # type: ignore[operator,misc]


def _of_storage(storage: StorageSection) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "year_end": storage.year_end,
        "initial_storage_hm3": storage.initial_hm3,
        "final_storage_hm3": storage.final,
        "end_value_gwh_per_hm3": storage.end_value,
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
