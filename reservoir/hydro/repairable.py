"""Years in which repair always succeeds: solvers skip the checks that no release can violate there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import Limits
from reservoir.hydro.rows import YearRows
from reservoir.hydro.step import volume_gained


def always_repairable(limits: Limits, year: YearRows) -> NDArray[np.bool_]:
    """Whether repair (eq. 18-19) of releases within their bounds always keeps storages and releases within theirs.

    Parameters
    ----------
    limits : Limits
    year : YearRows
        Its arrays, with the margin that the repair uses.

    Returns
    -------
    ndarray of bool, shape (years,)
        Never with conditions: what they demand is not looked at here.
    """
    if limits.conditions is not None:
        return np.zeros(limits.inflow_m3s.shape[:-1], bool)
    gain_most = volume_gained(year.inflow, year.release_lower, year.hm3_per_m3s)
    gain_least = volume_gained(year.inflow, year.release_upper, year.hm3_per_m3s)
    always = np.array(True)
    for bound in (0, 1):  # a cyclic year's reach moves with its start, its ends apart the most
        start = limits.start_bounds_hm3[..., bound, np.newaxis]
        lower, upper = year.reach_lower, year.reach_upper
        if year.cyclic:
            lower, upper = (np.clip(start - drift, lower, upper) for drift in (year.drift_lower, year.drift_upper))
            always = always & ((lower[..., -1:] <= start) & (start <= upper[..., -1:]))[..., 0]
        least, most = (
            np.concatenate([start, ends[..., :-1]], axis=-1) + gains
            for ends, gains in ((lower, gain_most), (upper, gain_least))
        )
        always = always & ~np.any((least < lower) | (most > upper), axis=-1)
    return always
