"""Stage benefit: what one step of a reservoir contributes to the objective (Yu et al. 2020, eq. 6: to energy).

The one seam between the physics and an objective: whoever sums up a year or a record calls `stage_benefit` with what
the step came to. ``kernels/problems/reservoir/stage_benefit.cl`` is the same for devices.

Energy is the objective of a year that is not priced, which costs compiled code nothing (`elementwise.none_without`).
All others are sums of the same few terms of a step's power and release (`rows.TERMS`).
"""

from __future__ import annotations

from typing import Any

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


@none_without(lambda year, step, power_mw, release_m3s, hm3_per_m3s: power_mw * hm3_per_m3s, "priced")
def stage_benefit(
    year: Any, step: Any, power_mw: Numbers, release_m3s: Numbers, hm3_per_m3s: Numbers | float
) -> Numbers:
    """Benefit of a step: where it is energy, its power times its length in units of 1e6 s (`in_objective_unit`).

    The terms are read of the rows of the year (`rows.YearRows`); in Python of many years too (`YearRows.by_field`).
    """
    rows = year.rows
    short_mw = greater(rows[POWER_TARGET][step] - power_mw, ZERO)
    short_m3s = greater(rows[SUPPLY_TARGET][step] - release_m3s, ZERO)
    cost = (rows[POWER_COST_SQUARED][step] * short_mw + rows[POWER_COST][step]) * short_mw
    benefit: Numbers = (
        rows[POWER_VALUE][step] * power_mw
        + rows[OFFSET][step]
        - lesser(cost, rows[POWER_COST_MOST][step])
        - rows[SUPPLY_COST_SQUARED][step] * short_m3s * short_m3s
    )
    return benefit


@none_without(lambda year, benefit: benefit * GWH_PER_STAGE_BENEFIT, "priced")
def in_objective_unit(year: Any, benefit: Numbers) -> Numbers:
    """Stage benefits in the unit of the objective: GWh, if it is energy."""
    return benefit


def objective_per_stage_benefit(year: Any) -> float:
    """What a `stage_benefit` of 1 is in the unit of the objective."""
    return 1.0 if year and year.priced else GWH_PER_STAGE_BENEFIT
