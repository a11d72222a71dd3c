"""Stage benefit: what one step of a reservoir contributes to the objective (Yu et al. 2020, eq. 6: to energy).

The one seam between the physics and an objective: whoever sums up a year or a record calls `stage_benefit` with what
the step came to. ``kernels/problems/reservoir/stage_benefit.cl`` is the same for devices.

Energy is the objective where nothing else is said (`NO_TERMS`), which costs compiled code nothing
(`elementwise.none_without`). All others are sums of the same few terms of a step's power and release (`StepTerms`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from reservoir.hydro.elementwise import ZERO, Numbers, greater, lesser, none_without
from reservoir.hydro.rows import (
    OFFSET,
    POWER_COST,
    POWER_COST_MOST,
    POWER_COST_SQUARED,
    POWER_TARGET,
    POWER_VALUE,
    SUPPLY_COST_SQUARED,
    SUPPLY_TARGET,
)
from reservoir.hydro.units import GWH_PER_MW_VOLUME

#: GWh in the unit of `stage_benefit` where the objective is energy; a constant factor, which loops leave to their end.
GWH_PER_STAGE_BENEFIT = GWH_PER_MW_VOLUME
#: An objective that is energy.
NO_TERMS: tuple[()] = ()


class StepTerms(NamedTuple):
    """What a step's power and release are worth, in the objective's unit: numbers of a step, or arrays.

    Parameters
    ----------
    offset : float
        Whatever the step does.
    power_value : float
        Of each MW of mean power.
    power_target : float
        MW, of which less is a shortage.
    power_cost, power_cost_squared : float
        Of each MW of a shortage, and of its square.
    power_cost_most : float
        Most that a shortage costs in a step.
    supply_target : float
        Release, m3/s, of which less is a shortage.
    supply_cost_squared : float
        Of the square of a shortage in m3/s.
    """

    offset: Any
    power_value: Any
    power_target: Any
    power_cost: Any
    power_cost_squared: Any
    power_cost_most: Any
    supply_target: Any
    supply_cost_squared: Any


@none_without(lambda year, step: (), "priced")
def terms_at(year: Any, step: Any) -> Any:
    """Terms of one step of a year (`rows.YearRows`); in Python of many years too (`YearRows.by_field`)."""
    rows = year.rows
    return StepTerms(
        rows[OFFSET][step],
        rows[POWER_VALUE][step],
        rows[POWER_TARGET][step],
        rows[POWER_COST][step],
        rows[POWER_COST_SQUARED][step],
        rows[POWER_COST_MOST][step],
        rows[SUPPLY_TARGET][step],
        rows[SUPPLY_COST_SQUARED][step],
    )


@none_without(lambda terms, power_mw, release_m3s, hm3_per_m3s: power_mw * hm3_per_m3s)
def stage_benefit(terms: Any, power_mw: Numbers, release_m3s: Numbers, hm3_per_m3s: Numbers | float) -> Numbers:
    """Benefit of a step: where it is energy, its power times its length in units of 1e6 s (`in_objective_unit`)."""
    short_mw = greater(terms.power_target - power_mw, ZERO)
    short_m3s = greater(terms.supply_target - release_m3s, ZERO)
    cost = lesser((terms.power_cost_squared * short_mw + terms.power_cost) * short_mw, terms.power_cost_most)
    benefit: Numbers = (
        terms.power_value * power_mw + terms.offset - cost - terms.supply_cost_squared * short_m3s * short_m3s
    )
    return benefit


@none_without(lambda terms, benefit: benefit * GWH_PER_STAGE_BENEFIT)
def in_objective_unit(terms: Any, benefit: Numbers) -> Numbers:
    """Stage benefits in the unit of the objective: GWh, if it is energy."""
    return benefit


def objective_per_stage_benefit(terms: Any) -> float:
    """What a `stage_benefit` of 1 is in the unit of the objective."""
    return 1.0 if terms else GWH_PER_STAGE_BENEFIT
