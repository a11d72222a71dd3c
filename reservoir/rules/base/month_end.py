"""How a month ends: the physical limits are kept, whatever is asked for."""

from __future__ import annotations

from typing import Any

from reservoir.hydro.conditions import NO_CONDITIONS
from reservoir.hydro.step import enforce_limits


def month_end(
    storage: float,
    asked: float,
    inflow: float,
    volume: float,
    storages: tuple[float, float],
    releases: tuple[float, float],
    dead: float,
    conditions: Any = NO_CONDITIONS,
) -> tuple[float, float]:
    """Release (m3/s) of a step and storage (hm3) after it, whatever is asked for (eq. 10, repaired as in eq. 18-19).

    With conditions (`hydro.conditions`) it is the draft, which cuts the withdrawal where it is below the least release.

    Parameters
    ----------
    storage : float
        At the start of the step, hm3.
    asked, inflow : float
        Release wanted and mean inflow, m3/s; with conditions less the withdrawal demanded.
    volume : float
        hm3 that 1 m3/s carries in the step.
    storages, releases : tuple of float
        Least and greatest storage at the end of the step and release in it.
    dead : float
        Storage below which nothing can be released.
    conditions : StepConditions, optional
    """
    wanted = min(max(asked, releases[0]), releases[1])
    release, end = enforce_limits(storage, wanted, inflow, volume, storages, releases, dead, conditions)
    return float(release), float(end)
