"""Years run with given releases, month by month: no month is changed for the sake of a later one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import Limits
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import Lake, YearRows
from reservoir.hydro.step import REPAIR_TOLERANCE

FloatArray = NDArray[np.float64]


def without_foresight(limits: Limits, starts_hm3: FloatArray) -> YearRows:
    """Years from given starts; no storage is steered towards what later months will need, which nobody knows.

    Nor is it a violation where losses take the lake below dead storage (`step.there_is`).

    Parameters
    ----------
    limits : Limits
    starts_hm3 : ndarray, shape (years,)
    """
    bounds = np.stack([starts_hm3, starts_hm3], axis=-1)
    years = replace(limits, initial_storage_hm3=starts_hm3, start_bounds_hm3=bounds).arrays()
    dead = years.dead[..., np.newaxis]
    sinks = years.storage_lower == dead
    return years.changed(
        reach_lower=years.storage_lower,
        reach_upper=years.storage_upper,
        storage_lower=np.where(sinks, np.minimum(dead, 0.0), years.storage_lower),
    )


def callable_curves(limits: Limits) -> YearRows:
    """Years as Python runs them, with curves that it can call; nothing is said of reachable storages."""
    return with_callable_curves(limits.arrays(), limits)


def with_callable_curves(years: YearRows, limits: Limits) -> YearRows:
    """Years as compiled code reads them, with curves of the lake that Python can call."""
    if limits.conditions is None:
        return years
    return years._replace(lake=Lake(limits.conditions.area_km2, limits.conditions.seepage_m3s))


def repaired(reservoir: Reservoir, operation: Operation, asked_m3s: FloatArray) -> NDArray[np.bool_]:
    """Where the physical limits changed the release that was asked for, shape (years, steps)."""
    moved = np.abs(operation.release_m3s - asked_m3s)
    return np.asarray(moved > REPAIR_TOLERANCE * float(reservoir.release_upper_m3s.max()))
