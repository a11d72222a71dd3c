"""Years in the layout of ``kernels/problems/reservoir/reservoir_year.cl``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import Limits
from reservoir.hydro.repairable import always_repairable
from reservoir.hydro.step import violation_scale
from reservoir.problems.context_layout import ContextLayout

FloatArray = NDArray[np.float64]

#: Rows of a number a step, and numbers; ``REPAIRABLE`` is not 0 if repair always leaves storages and releases within
#: their bounds.
_ROWS = (
    "INFLOW",
    "HM3_PER_M3S",
    "FLOW_PER_VOLUME",
    "RELEASE_LOWER",
    "RELEASE_UPPER",
    "STORAGE_LOWER",
    "STORAGE_UPPER",
    "REACH_LOWER",
    "REACH_UPPER",
    "PENALTY_BELOW",
    "PENALTY_ABOVE",
    "DRIFT_LOWER",
    "DRIFT_UPPER",
)
_NUMBERS = ("START", "START_LOWER", "START_UPPER", "MAX_STORAGE", "PENALTY", "REPAIRABLE")


def year_layout(steps: int) -> ContextLayout:
    """A year's context."""
    return ContextLayout("CONTEXT", {**dict.fromkeys(_ROWS, steps), **dict.fromkeys(_NUMBERS, 1)})


def kernel_rows(limits: Limits, margin: float, penalty_gwh: float) -> FloatArray:
    """Contexts of years of one reservoir.

    Parameters
    ----------
    limits : Limits
        The years, or one.
    margin : float
        By what part of the largest storage the reachable bounds are drawn in.
    penalty_gwh : float
        Penalty factor (eq. 21).

    Returns
    -------
    ndarray, shape (years, CONTEXT), or (CONTEXT,)
    """
    years = limits.arrays(margin)
    capacity = years.capacity[..., np.newaxis]
    below, above = (
        penalty_gwh / violation_scale(bound, capacity) for bound in (years.storage_lower, years.storage_upper)
    )
    start_lower, start_upper = np.moveaxis(limits.start_bounds_hm3, -1, 0)
    values = {name.upper(): getattr(years, name) for name in years._fields if name.upper() in _ROWS + _NUMBERS}
    values |= {
        "FLOW_PER_VOLUME": 1 / years.hm3_per_m3s,
        "PENALTY_BELOW": below,
        "PENALTY_ABOVE": above,
        "START_LOWER": start_lower,
        "START_UPPER": start_upper,
        "MAX_STORAGE": years.capacity,
        "PENALTY": np.full_like(years.capacity, penalty_gwh),
        "REPAIRABLE": always_repairable(limits, years),
    }
    return year_layout(limits.steps).pack(values, np.shape(years.capacity))
