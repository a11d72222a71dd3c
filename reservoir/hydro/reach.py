"""Storages that can be reached and left again, step by step, for years as arrays (Yu et al. 2020, eq. 16-17).

Gains are the volumes that a step adds to the storage with the least and with the most release, before evaporation and
seepage; arrays have shape (years, steps).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import conditions_at, conditions_of_year
from reservoir.hydro.jit import compiled
from reservoir.hydro.step import storage_after_gain, storage_before_gain

FloatArray = NDArray[np.float64]


@compiled
def draw_in(
    gain_most: FloatArray,
    gain_least: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    hm3_per_m3s: FloatArray,
    conditions: Any,
) -> None:
    """Draw bounds of storages in to those from which the year can be completed (Yu et al. 2020, eq. 16-17)."""
    for year in range(len(lower)):
        of_year = conditions_of_year(conditions, year)
        for step in range(lower.shape[1] - 2, -1, -1):
            after, per_flow = conditions_at(of_year, step + 1), hm3_per_m3s[year, step + 1]
            need_lower = storage_before_gain(lower[year, step + 1], gain_most[year, step + 1], per_flow, after)
            need_upper = storage_before_gain(upper[year, step + 1], gain_least[year, step + 1], per_flow, after)
            if need_lower > need_upper:  # a slack wider than the interval: keep its middle
                need_lower = need_upper = (need_lower + need_upper) / 2
            lowest, highest = lower[year, step], upper[year, step]
            lower[year, step] = min(max(need_lower, lowest), highest)
            upper[year, step] = min(max(need_upper, lowest), highest)


@compiled
def follow_corridor(
    gain_most: FloatArray,
    gain_least: FloatArray,
    allowed_lower: FloatArray,
    allowed_upper: FloatArray,
    hm3_per_m3s: FloatArray,
    conditions: Any,
    lower: FloatArray,
    upper: FloatArray,
) -> None:
    """Follow the lowest and the highest storage from the start, see `limits.corridor`."""
    for year in range(len(lower)):
        of_year = conditions_of_year(conditions, year)
        for step in range(lower.shape[1] - 1):
            here, per_flow = conditions_at(of_year, step), hm3_per_m3s[year, step]
            least = storage_after_gain(lower[year, step], gain_least[year, step], per_flow, here)
            most = storage_after_gain(upper[year, step], gain_most[year, step], per_flow, here)
            lowest = min(max(least, allowed_lower[year, step]), most)
            highest = max(min(most, allowed_upper[year, step]), least)
            alone = least if least > allowed_upper[year, step] else most
            crossed = lowest > highest
            lower[year, step + 1] = alone if crossed else lowest
            upper[year, step + 1] = alone if crossed else highest
