"""Years run with given releases, month by month: no month is changed for the sake of a later one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import YearArrays
from reservoir.hydro.limits import Limits
from reservoir.hydro.objective import Operation
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import REPAIR_TOLERANCE

FloatArray = NDArray[np.float64]


def without_foresight(limits: Limits, starts_hm3: FloatArray) -> YearArrays:
    """Years from given starts; no storage is steered towards what later months will need, which nobody knows.

    Nor is it a violation where losses take the lake below dead storage (`step.there_is`).

    Parameters
    ----------
    limits : Limits
    starts_hm3 : ndarray, shape (years,)
    """
    bounds = np.stack([starts_hm3, starts_hm3], axis=-1)
    years = replace(limits, initial_storage_hm3=starts_hm3, start_bounds_hm3=bounds).arrays()
    reach = {"reach_lower": years.storage_lower, "reach_upper": years.storage_upper}
    sinks = years.storage_lower == years.dead[..., np.newaxis]
    return years._replace(
        **reach, storage_lower=np.where(sinks, np.minimum(years.dead[..., np.newaxis], 0.0), years.storage_lower)
    )


def callable_curves(limits: Limits) -> YearArrays:
    """Years as Python runs them, with curves that it can call; nothing is said of reachable storages."""
    return with_callable_curves(limits.arrays(), limits)


def with_callable_curves(years: YearArrays, limits: Limits) -> YearArrays:
    """Years as compiled code reads them, with curves of the lake that Python can call."""
    if limits.conditions is None:
        return years
    curves = {"area": limits.conditions.area_km2, "seepage": limits.conditions.seepage_m3s}
    return years._replace(conditions=years.conditions._replace(**curves))


def repaired(reservoir: Reservoir, operation: Operation, asked_m3s: FloatArray) -> NDArray[np.bool_]:
    """Where the physical limits changed the release that was asked for, shape (years, steps)."""
    moved = np.abs(operation.release_m3s - asked_m3s)
    return np.asarray(moved > REPAIR_TOLERANCE * float(reservoir.release_upper_m3s.max()))
