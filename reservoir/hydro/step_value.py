"""What a step between two storages is worth: its benefit, and by how much it misses demands."""

from __future__ import annotations

from reservoir.hydro.benefit import in_objective_unit, stage_benefit, terms_at
from reservoir.hydro.compiled_year import YearArrays, missing_at
from reservoir.hydro.conditions import conditions_at, released, unmet, unmet_power
from reservoir.hydro.elementwise import clip, mean
from reservoir.hydro.jit import inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import power_at, storage_after, there_is

#: A storage below another by less than this part of it is so by rounding.
_ROUNDING = 1e-9


@inlined
def step_value(
    plant: Plant, year: YearArrays, step: int, storage: float, end: float, draft: float
) -> tuple[float, float]:
    """Benefit of a step and relative violation of its demands; its draft is held to its bounds."""
    return _value_of(plant, year, step, storage, end, clip(draft, year.release_lower[step], year.release_upper[step]))


@inlined
def value_of_little_water(
    plant: Plant, year: YearArrays, step: int, storage: float
) -> tuple[bool, float, float, float]:
    """Whether a step has too little water for its least draft or its losses, how it then ends, and its `step_value`."""
    least, inflow, per_flow = year.release_lower[step], year.inflow[step], year.hm3_per_m3s[step]
    conditions = conditions_at(year.conditions, step)
    end = storage_after(storage, inflow, least, per_flow, conditions)
    little = end < year.dead - _ROUNDING * (abs(year.dead) + 1)
    draft, end = there_is(storage, least, end, inflow, per_flow, year.dead, conditions)
    benefit, unmet_here = _value_of(plant, year, step, storage, end, draft)
    return little, end, benefit, unmet_here


@inlined
def _value_of(
    plant: Plant, year: YearArrays, step: int, storage: float, end: float, draft: float
) -> tuple[float, float]:
    conditions = conditions_at(year.conditions, step)
    release = released(conditions, draft, year.release_lower[step])
    power = power_at(plant, mean(storage, end), release, conditions)
    terms = terms_at(year.terms, step)
    benefit: float = in_objective_unit(terms, stage_benefit(terms, power, release, year.hm3_per_m3s[step]))
    missed = unmet(conditions, draft, release, release) + unmet_power(conditions, power)
    return benefit, missed + missing_at(year, step, draft)
