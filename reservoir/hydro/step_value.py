"""What a step between two storages is worth: its benefit, and by how much it misses demands."""

from __future__ import annotations

from reservoir.hydro.benefit import in_objective_unit, stage_benefit, terms_at
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
    """Benefit of a step and relative violation of its demands; its draft is held to its bounds."""
    conditions, least = conditions_at(year.conditions, step), year.release_lower[step]
    kept = clip(draft, least, year.release_upper[step])
    release = released(conditions, kept, least)
    power = power_at(plant, mean(storage, end), release, conditions)
    terms = terms_at(year.terms, step)
    benefit: float = in_objective_unit(terms, stage_benefit(terms, power, release, year.hm3_per_m3s[step]))
    return benefit, unmet(conditions, kept, release, release) + unmet_power(conditions, power)
