"""What a step between two storages is worth: its energy, and by how much it misses demands."""

from __future__ import annotations

from reservoir.hydro.benefit import GWH_PER_STAGE_BENEFIT, stage_benefit
from reservoir.hydro.compiled_year import YearArrays
from reservoir.hydro.conditions import conditions_at, released, unmet, unmet_power
from reservoir.hydro.elementwise import clip, mean
from reservoir.hydro.jit import inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import power_at


@inlined
def step_value(
    plant: Plant, year: YearArrays, step: int, storage: float, end: float, draft: float
) -> tuple[float, float]:
    """Energy (GWh) of a step and relative violation of its demands; its draft is held to its bounds."""
    conditions, least = conditions_at(year.conditions, step), year.release_lower[step]
    kept = clip(draft, least, year.release_upper[step])
    release = released(conditions, kept, least)
    power = power_at(plant, mean(storage, end), release, conditions)
    energy: float = stage_benefit(power, year.hm3_per_m3s[step]) * GWH_PER_STAGE_BENEFIT
    return energy, unmet(conditions, kept, release, release) + unmet_power(conditions, power)
