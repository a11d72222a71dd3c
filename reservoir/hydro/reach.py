"""Storages that can be reached and left again, step by step, for years as arrays (Yu et al. 2020, eq. 16-17).

Gains are the volumes that a step adds to the storage with the least and with the most release, before evaporation and
seepage; arrays have shape (years, steps), `dead` storage (years,). ``losses`` are the `rows.YearRows` of years with
losses, or nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import conditions_at, year_of
from reservoir.hydro.jit import compiled
from reservoir.hydro.step import storage_after_gain, storage_before_gain

FloatArray = NDArray[np.float64]

#: A storage below another by less than this part of it is so by rounding.
_ROUNDING = 1e-9


@compiled
def draw_in(
    gain_most: FloatArray,
    gain_least: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    hm3_per_m3s: FloatArray,
    losses: Any,
    release_lower: FloatArray,
    dead: FloatArray,
) -> None:
    """Draw bounds of storages in to those from which the year can be completed (Yu et al. 2020, eq. 16-17).

    A least release is kept in full, for which there is water down to `dead` storage; below it only losses go.
    """
    for year in range(len(lower)):
        of_year = year_of(losses, year)
        for step in range(lower.shape[1] - 2, -1, -1):
            after, per_flow = conditions_at(of_year, step + 1), hm3_per_m3s[year, step + 1]
            least = lower[year, step + 1]
            if release_lower[year, step + 1] > 0.0:
                least = max(least, dead[year])
            need_lower = storage_before_gain(least, gain_most[year, step + 1], per_flow, after)
            need_upper = storage_before_gain(upper[year, step + 1], gain_least[year, step + 1], per_flow, after)
            if need_lower > need_upper:  # a slack wider than the interval: keep its middle
                need_lower = need_upper = (need_lower + need_upper) / 2
            lowest, highest = lower[year, step], upper[year, step]
            little = release_lower[year, step + 1] > 0.0 and least <= dead[year]
            if little and need_lower > highest + _ROUNDING * (abs(highest) + 1.0):
                need_lower = lowest  # too little for the least release from any storage: how little, its price decides
            lower[year, step] = min(max(need_lower, lowest), highest)
            upper[year, step] = min(max(need_upper, lowest), highest)


@compiled
def follow_corridor(
    gain_most: FloatArray,
    gain_least: FloatArray,
    allowed_lower: FloatArray,
    allowed_upper: FloatArray,
    hm3_per_m3s: FloatArray,
    losses: Any,
    gain_at_rest: FloatArray,
    dead: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    missing: FloatArray,
) -> None:
    """Follow the lowest and the highest storage from the start, see `limits.corridor`.

    ``gain_at_rest`` are the gains if nothing is released or withdrawn. ``missing`` is filled with what a step has too
    little to keep the least draft even from the highest storage, hm3.
    """
    for year in range(len(lower)):
        of_year = year_of(losses, year)
        empty = dead[year] - _ROUNDING * (abs(dead[year]) + 1.0)
        for step in range(lower.shape[1] - 1):
            here, per_flow = conditions_at(of_year, step), hm3_per_m3s[year, step]
            least = storage_after_gain(lower[year, step], gain_least[year, step], per_flow, here)
            kept = most = storage_after_gain(upper[year, step], gain_most[year, step], per_flow, here)
            if most < empty:
                at_rest = storage_after_gain(upper[year, step], gain_at_rest[year, step], per_flow, here)
                most = min(max(at_rest, 0.0), dead[year])
                kept = kept - min(at_rest, 0.0)  # of an empty lake losses are missing, no release
            missing[year, step] = most - kept
            lowest = min(max(least, allowed_lower[year, step]), most)
            highest = max(min(most, allowed_upper[year, step]), least)
            alone = least if least > allowed_upper[year, step] else most
            crossed = lowest > highest
            lower[year, step + 1] = alone if crossed else lowest
            upper[year, step + 1] = alone if crossed else highest
            kept = storage_after_gain(lower[year, step], gain_most[year, step], per_flow, here)
            if kept < empty:  # lower storages may have too little water to stay above dead storage
                at_rest = storage_after_gain(lower[year, step], gain_at_rest[year, step], per_flow, here)
                lower[year, step + 1] = min(lower[year, step + 1], min(max(at_rest, 0.0), dead[year]))


@compiled
def left_by_losses(
    start: FloatArray,
    gain_at_rest: FloatArray,
    hm3_per_m3s: FloatArray,
    losses: Any,
    dead: FloatArray,
    left: FloatArray,
) -> None:
    """What losses alone leave of a lake that was brought down to `dead` storage, at the end of each step."""
    for year in range(len(left)):
        of_year, storage = year_of(losses, year), min(start[year], dead[year])
        for step in range(left.shape[1]):
            here, per_flow = conditions_at(of_year, step), hm3_per_m3s[year, step]
            storage = storage_after_gain(storage, gain_at_rest[year, step], per_flow, here)
            storage = left[year, step] = min(max(storage, 0.0), dead[year])
