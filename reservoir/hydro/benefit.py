"""Stage benefit: what one step of a reservoir contributes to the objective (Yu et al. 2020, eq. 6).

The one seam between the physics and an objective: whoever sums up a year or a record calls `stage_benefit` with what
the step came to. ``kernels/problems/reservoir/stage_benefit.cl`` is the same for devices.
"""

from __future__ import annotations

from reservoir.hydro.elementwise import Numbers
from reservoir.hydro.units import GWH_PER_MW_VOLUME

#: GWh in the unit of `stage_benefit`; a constant factor, which loops leave to their end.
GWH_PER_STAGE_BENEFIT = GWH_PER_MW_VOLUME


def stage_benefit(power_mw: Numbers, hm3_per_m3s: Numbers | float) -> Numbers:
    """Energy of a step, in `GWH_PER_STAGE_BENEFIT`: its power times its length in units of 1e6 s."""
    return power_mw * hm3_per_m3s
