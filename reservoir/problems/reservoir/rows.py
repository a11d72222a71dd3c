"""Years as ``kernels/problems/reservoir/reservoir_year.cl`` reads them, a row each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import Limits, always_repairable

FloatArray = NDArray[np.float64]


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
    per_violation = [
        penalty_gwh / np.where(bound > 0, bound, capacity) for bound in (years.storage_lower, years.storage_upper)
    ]
    per_year = [
        years.start,
        *np.moveaxis(limits.start_bounds_hm3, -1, 0),
        years.capacity,
        np.full_like(years.capacity, penalty_gwh),
        always_repairable(limits, years),
    ]
    rows = [
        years.inflow,
        years.hm3_per_m3s,
        1 / years.hm3_per_m3s,
        years.release_lower,
        years.release_upper,
        years.storage_lower,
        years.storage_upper,
        years.reach_lower,
        years.reach_upper,
        *per_violation,
        years.drift_lower,
        years.drift_upper,
        np.stack(per_year, axis=-1),
    ]
    return np.concatenate(rows, axis=-1)
