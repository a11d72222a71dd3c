"""The objective of a reservoir file, and what a violation costs there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from reservoir.errors import Mistake
from reservoir.hydro.objectives import Goal, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.reservoir_toml.draft import Draft
from reservoir.io.reservoir_toml.schema import ObjectiveSection, StorageSection, WeightsSection

_BY_STEP = ("price_per_mwh", "power_target_mw", "supply_target_m3s")


def objective_of(section: ObjectiveSection) -> Objective:
    """The objective that a section states."""
    given = {name: getattr(section, name) for name in _BY_STEP}
    monthly: dict[str, Any] = {name: None if each is None else np.array(each) for name, each in given.items()}
    beside = {name: getattr(section, name) for name in ("currency", "firm_share", "firm_power_mw")}
    return Objective(_weights(section), **beside, **monthly)


def _weights(section: ObjectiveSection) -> Mapping[Goal, float]:
    if section.weights is None:
        return {section.goal or Goal.ENERGY: 1.0}
    weights = section.weights.model_dump(exclude_none=True)
    return {Goal(name.replace("_", "-")): weight for name, weight in weights.items()}


def penalty_of(section: ObjectiveSection, objective: Objective, installed_mw: float, steps_per_year: int) -> float:
    """Cost of a relative violation of 1, in the unit of the objective."""
    given = [each for each in (section.penalty_gwh, section.penalty) if each is not None]
    return given[0] if given else objective.largest_per_year(installed_mw, steps_per_year)


def one_way_to_state_goals(objective: ObjectiveSection, draft: Draft) -> Iterator[Mistake]:
    """Allow a goal or weights, not both."""
    if draft.has("objective.goal") and draft.has("objective.weights"):
        yield draft.mistake("objective.goal", "contradicts [objective.weights]", mend="remove one of the two")


def one_penalty(objective: ObjectiveSection, draft: Draft) -> Iterator[Mistake]:
    """Allow one penalty, in GWh where that is the unit."""
    if objective.penalty_gwh is None:
        return
    if objective.penalty is not None:
        yield draft.mistake("objective.penalty", "contradicts penalty_gwh", "only one of the two")
    elif (unit := objective_of(objective).unit) != "GWh":
        unit = unit or "no unit"
        mend = f"write penalty in place of penalty_gwh, in the unit of the objective ({unit})"
        yield draft.mistake("objective.penalty_gwh", "is in GWh, which the objective is not", mend=mend)


def one_end_value(objective: ObjectiveSection, storage: StorageSection, draft: Draft) -> Iterator[Mistake]:
    """Allow one value of the water left at the end, in GWh where that is the unit."""
    if storage.end_value_gwh_per_hm3 is None:
        return
    if storage.end_value_per_hm3 is not None:
        yield draft.mistake("storage.end_value_per_hm3", "contradicts end_value_gwh_per_hm3", "only one of the two")
    elif (unit := objective_of(objective).unit) != "GWh":
        mend = f"write end_value_per_hm3 in its place, in the unit of the objective ({unit or 'no unit'})"
        yield draft.mistake("storage.end_value_gwh_per_hm3", "is in GWh, which the objective is not", mend=mend)


def objective_keys(plant: Reservoir) -> dict[str, Any]:
    """What a file says of a reservoir's objective; sections follow its keys."""
    objective = plant.objective
    keys: dict[str, Any] = {}
    if objective.single not in (None, Goal.ENERGY):
        keys["goal"] = str(objective.single)
    for name in _BY_STEP:
        values = getattr(objective, name)
        keys[name] = None if values is None else values.tolist()
    keys["currency"] = objective.currency or None
    keys["firm_power_mw"] = objective.firm_power_mw
    keys["firm_share"] = None if objective.firm_share == 1.0 else objective.firm_share
    keys["penalty_gwh" if objective.unit == "GWh" else "penalty"] = plant.penalty
    return keys


def weight_keys(objective: Objective) -> dict[str, float]:
    """The weights as a file has them; none where it has a goal."""
    if objective.single:
        return {}
    known = WeightsSection.model_fields
    return {name: weight for name in known if (weight := objective.weights.get(Goal(name.replace("_", "-"))))}
