"""Limits of windows: consecutive steps of horizons, between storages that a schedule has there."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.limits import OF_HORIZON, FloatArray, Limits

#: What `Limits` has once a step: neither once a horizon, nor what is no array.
PER_STEP = tuple(each.name for each in fields(Limits) if each.name not in (*OF_HORIZON, "conditions", "terms"))


def window_limits(
    horizons: Limits,
    horizon: NDArray[np.integer],
    steps: NDArray[np.integer],
    storage_hm3: FloatArray,
    release_m3s: FloatArray,
) -> Limits:
    """Limits of windows that begin and end at the storages of a schedule, at the end of a horizon as that does.

    Where the change of release is limited, the first and the last release of a window are limited by those beside it.

    Parameters
    ----------
    horizons : Limits
        Of several horizons.
    horizon : ndarray, shape (windows,)
        The horizon of each window.
    steps : ndarray, shape (windows, length)
        Its steps in that horizon; those of a cyclic one may run over its end.
    storage_hm3 : ndarray, shape (horizons, steps + 1)
        The schedule's storages.
    release_m3s : ndarray, shape (horizons, steps)
        The schedule's releases.

    Returns
    -------
    Limits
        Of the windows, none of them cyclic.
    """
    rows, last = horizon[:, np.newaxis], horizons.steps - 1
    columns = {name: getattr(horizons, name)[rows, steps] for name in PER_STEP}
    lower, upper = columns["storage_lower_hm3"], columns["storage_upper_hm3"]
    fixed = np.ones(len(horizon), bool)
    if horizons.cyclic:
        bounds = horizons.start_bounds_hm3[horizon]
        np.maximum(lower, bounds[:, :1], out=lower, where=steps == last)
        np.minimum(upper, bounds[:, 1:], out=upper, where=steps == last)
    else:
        fixed = steps[:, -1] != last
    ends = storage_hm3[horizon, steps[:, -1] + 1]
    lower[fixed, -1] = upper[fixed, -1] = ends[fixed]
    starts = storage_hm3[horizon, steps[:, 0]]
    conditions = None if horizons.conditions is None else horizons.conditions[rows, steps]
    found = replace(
        horizons,
        **columns,
        initial_storage_hm3=starts,
        start_bounds_hm3=np.column_stack([starts, starts]),
        dead_hm3=horizons.dead_hm3[horizon],
        conditions=conditions,
        terms=None if horizons.terms is None else horizons.terms[rows, steps],
    )
    if conditions is not None and conditions.ramps:
        up, down = conditions.ramp_up_m3s, conditions.ramp_down_m3s
        inside = steps[:, 0] != 0
        _hold(found, 0, inside, release_m3s[horizon, steps[:, 0] - 1], release_m3s[horizon, steps[:, 0]], (down, up))
        inside, after = steps[:, -1] != last, (steps[:, -1] + 1) % horizons.steps
        _hold(found, -1, inside, release_m3s[horizon, after], release_m3s[horizon, steps[:, -1]], (up, down))
    return found


def _hold(
    windows: Limits,
    step: int,
    which: NDArray[np.bool_],
    beside: FloatArray,
    own: FloatArray,
    changes: tuple[float, float],
) -> None:
    """Keep the release of a step as close to the one beside it as it may change, or as the schedule's own is."""
    least, most = np.minimum(beside - changes[0], own), np.maximum(beside + changes[1], own)
    lower, upper = windows.release_lower_m3s[:, step], windows.release_upper_m3s[:, step]
    np.maximum(lower, least, out=lower, where=which)
    np.minimum(upper, most, out=upper, where=which)
