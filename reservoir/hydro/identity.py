"""Digests of a reservoir's parts: equal for reservoirs that behave equally, however their files are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields

from reservoir.hydro.curves.curve import Curve
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_kinds import CalendarKind
from reservoir.hydro.time_step import TimeStep

#: Digits that count: a value written in another unit differs beyond them.
_DIGITS = 10
#: Characters of a digest.
_LENGTH = 16
#: The domain of a formula follows the bounds where none is given: it tells nothing where they differ.
_REACH = "reach of the curves"


def reservoir_digests(reservoir: Reservoir) -> dict[str, str]:
    """A digest of each part that decides how a reservoir works, by the name of the part.

    Names, remarks, marks for figures and the spelling of units have no part in it.
    """
    plant = reservoir
    curves = (plant.level, plant.tailrace, plant.conversion, plant.capacity_m3s)
    parts = {
        "level curve": _shape(plant.level),
        "tailrace curve": _shape(plant.tailrace),
        "power of water by head": [str(plant.conversion_kind), _shape(plant.conversion)],
        "hydraulic capacity": _shape(plant.capacity_m3s),
        _REACH: [curve.domain for curve in curves],
        "installed capacity": plant.installed_mw,
        "storage bounds": [plant.storage_lower_hm3, plant.storage_upper_hm3],
        "release bounds": [plant.release_lower_m3s, plant.release_upper_m3s],
        "year end": [str(plant.year_end), plant.initial_storage_hm3, plant.final_storage_hm3],
        "penalty": plant.penalty,
        "guaranteed energy": plant.guaranteed_energy_gwh,
        "first month": plant.first_month,
    }
    if plant.guaranteed_power_mw is not None:
        parts["guaranteed power"] = plant.guaranteed_power_mw
    if plant.calendar is not CalendarKind.REAL:
        parts["calendar"] = str(plant.calendar)
    if plant.step is not TimeStep.MONTH:
        parts["time step"] = str(plant.step)
    if not plant.objective.is_energy:
        parts["objective"] = plant.objective.stated
    if plant.has_conditions:
        parts |= _conditions(plant)
    return {name: _digest(part) for name, part in parts.items()}


def _conditions(plant: Reservoir) -> dict[str, object]:
    """Parts that most reservoirs do not have."""
    lake = [None if curve is None else _shape(curve) for curve in (plant.area_km2, plant.seepage_m3s)]
    return {
        "losses of the lake": [plant.evaporation_mm, plant.withdrawal_m3s, lake],
        "plant factor": plant.plant_factor,
        "minimum power": plant.power_lower_mw,
        "minimum operating level": plant.operating_level_m,
        "change of the release": [plant.ramp_up_m3s, plant.ramp_down_m3s],
        "end value": plant.end_value_gwh_per_hm3,
    }


def differing_parts(reservoir: Reservoir, digests: Mapping[str, str]) -> list[str]:
    """Names of the parts in which a reservoir is not the one whose digests are given."""
    own = reservoir_digests(reservoir)
    found = [name for name in own | dict(digests) if digests.get(name) != own.get(name)]
    return [name for name in found if name != _REACH] or found


def _shape(curve: Curve) -> list[object]:
    """The numbers of a curve; a formula's domain is told apart from it."""
    numbers = {field.name: getattr(curve, field.name) for field in fields(curve)}  # type: ignore[arg-type]
    return [type(curve).__name__, *(value for name, value in numbers.items() if name != "domain")]


def _digest(part: object) -> str:
    return hashlib.sha256(json.dumps(_rounded(part)).encode()).hexdigest()[:_LENGTH]


def _rounded(part: object) -> object:
    """Numbers as text of so many digits, whatever holds them."""
    if part is None or isinstance(part, str):
        return part
    if isinstance(part, int | float):
        return f"{float(part) + 0.0:.{_DIGITS}g}"
    return [_rounded(each) for each in part]  # type: ignore[attr-defined]
