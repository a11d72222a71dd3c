"""Bounds of a year, and the storages from which it can be completed (Yu et al. 2020, eq. 11-17).

The backward recursion of eq. 16-17 uses the bounds of the release, not a particle's own later releases: the interval
is then the set of storages from which the year can still be completed, and it is the same for every particle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.constraints import MOST_UNROLLED, YearArrays
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir, YearEnd

FloatArray = NDArray[np.float64]

#: Reachable bounds are drawn in by this part of the largest storage, so that rounding never asks for a release just
#: outside its bounds.
EXACT_MARGIN = 1e-12
#: The starts of a cyclic year are drawn in by this part of the largest storage: room for a solver's float32 rounding.
START_MARGIN = 2e-5


@dataclass(frozen=True)
class YearLimits:
    """Inflow and bounds of one water year; arrays of shape (steps,).

    Parameters
    ----------
    inflow_m3s : ndarray
        Mean inflow of each step.
    volume_per_flow : ndarray
        hm3 that 1 m3/s carries in each step.
    release_lower_m3s, release_upper_m3s : ndarray
        Bounds of the release (eq. 11).
    storage_lower_hm3, storage_upper_hm3 : ndarray
        Bounds of the storage at the end of each step (eq. 12); where the end is fixed, both are it (eq. 13).
    initial_storage_hm3 : float or None
        Storage at the start; None in a cyclic year, where it is chosen within `start_bounds_hm3`.
    start_bounds_hm3 : pair of float
        Between which the start may be chosen; both the initial storage where that is fixed.
    """

    inflow_m3s: FloatArray
    volume_per_flow: FloatArray
    release_lower_m3s: FloatArray
    release_upper_m3s: FloatArray
    storage_lower_hm3: FloatArray
    storage_upper_hm3: FloatArray
    initial_storage_hm3: float | None
    start_bounds_hm3: tuple[float, float]

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.inflow_m3s)

    @property
    def cyclic(self) -> bool:
        """Whether the year ends where it began, at a storage the plan chooses."""
        return self.initial_storage_hm3 is None

    @property
    def capacity_hm3(self) -> float:
        """Largest storage that any bound allows."""
        return float(max(self.storage_upper_hm3.max(), self.start_bounds_hm3[1]))

    def starting_at(self, storage_hm3: float) -> YearLimits:
        """Fix the start, and the end too where the year is cyclic."""
        lower, upper = self.storage_lower_hm3.copy(), self.storage_upper_hm3.copy()
        if self.cyclic:
            lower[-1] = upper[-1] = storage_hm3
        return replace(
            self,
            storage_lower_hm3=lower,
            storage_upper_hm3=upper,
            initial_storage_hm3=storage_hm3,
            start_bounds_hm3=(storage_hm3, storage_hm3),
        )

    def arrays(self, margin: float = EXACT_MARGIN, dtype: type = np.float64) -> YearArrays:
        """The year as compiled code reads it, with reachable bounds drawn in by `margin` (relative)."""
        slack = margin * self.capacity_hm3
        reach_lower, reach_upper = reachable_storage(self, slack)
        drift_lower = _later_sum((self.inflow_m3s - self.release_lower_m3s) * self.volume_per_flow - slack)
        drift_upper = _later_sum((self.inflow_m3s - self.release_upper_m3s) * self.volume_per_flow + slack)
        per_step = (
            self.inflow_m3s,
            self.volume_per_flow,
            self.release_lower_m3s,
            self.release_upper_m3s,
            self.storage_lower_hm3,
            self.storage_upper_hm3,
            reach_lower,
            reach_upper,
            drift_lower,
            drift_upper,
        )
        start = 0.0 if self.initial_storage_hm3 is None else self.initial_storage_hm3
        rows: list[Any] = [np.ascontiguousarray(each, dtype) for each in per_step]
        return YearArrays._make(
            [
                *rows,
                dtype(start),
                dtype(self.capacity_hm3),
                self.cyclic,
                (0,) * (self.steps if self.steps <= MOST_UNROLLED else 0),
            ]
        )


def year_limits(reservoir: Reservoir, inflow: Inflow) -> list[YearLimits]:
    """Limits of every water year of a record, one `YearLimits` a year."""
    years = zip(inflow.flow_m3s, inflow.calendar.volume_per_flow, strict=True)
    return [_closed(reservoir, open_year(reservoir, flow, volume)) for flow, volume in years]


def _closed(reservoir: Reservoir, year: YearLimits) -> YearLimits:
    """Give a year the start and the end that its reservoir prescribes."""
    start = reservoir.initial_storage_hm3
    if start is None:
        return _with_good_starts(year)
    if reservoir.year_end is YearEnd.FIXED:
        year.storage_lower_hm3[-1] = year.storage_upper_hm3[-1] = reservoir.final_storage_hm3
    return replace(year, initial_storage_hm3=start, start_bounds_hm3=(start, start))


def open_year(reservoir: Reservoir, flow_m3s: FloatArray, volume_per_flow: FloatArray) -> YearLimits:
    """A year with the bounds of its months, nothing said of its end, and any start within the last month's bounds."""
    lower, upper = reservoir.by_step(reservoir.storage_lower_hm3), reservoir.by_step(reservoir.storage_upper_hm3)
    releases = reservoir.by_step(reservoir.release_lower_m3s), reservoir.by_step(reservoir.release_upper_m3s)
    return YearLimits(flow_m3s, volume_per_flow, *releases, lower, upper, None, (float(lower[-1]), float(upper[-1])))


def _with_good_starts(year: YearLimits) -> YearLimits:
    """Narrow a cyclic year's starts to those it can return to, if there are any."""
    most = (year.inflow_m3s - year.release_lower_m3s) * year.volume_per_flow
    least = (year.inflow_m3s - year.release_upper_m3s) * year.volume_per_flow
    lowest, highest = cyclic_starts(most, least, year.storage_lower_hm3, year.storage_upper_hm3)
    narrowed = replace(year, start_bounds_hm3=(lowest, highest))
    return narrowed if lowest <= highest and satisfiable(narrowed) else year


def cyclic_starts(
    gain_most: FloatArray, gain_least: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[float, float]:
    """Lowest and highest start to which a cyclic year can return within its bounds; crossed where there is none.

    Every end of a step is reached from the start and leads back to it: from the gains up to a step and from it on,
    each bound of the storage there bounds the start.

    Parameters
    ----------
    gain_most, gain_least : ndarray, shape (steps,)
        Storage gained in each step with the least and the most release, hm3.
    lower, upper : ndarray, shape (steps,)
        Bounds of the storage at the end of each step, hm3.
    """
    slack = START_MARGIN * float(np.max(upper))
    lowest = max(np.max(lower - np.cumsum(gain_most)), np.max(lower + _later_sum(gain_least))) + slack
    highest = min(np.min(upper - np.cumsum(gain_least)), np.min(upper + _later_sum(gain_most))) - slack
    return max(float(lower[-1]), float(lowest)), min(float(upper[-1]), float(highest))


def reachable_storage(limits: YearLimits, slack_hm3: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Storages at the end of each step from which the rest of the year can be completed (eq. 16-17).

    Parameters
    ----------
    limits : YearLimits
        The year; a cyclic one is taken with an open end.
    slack_hm3 : float
        How far each step of the recursion is drawn in.

    Returns
    -------
    lower, upper : ndarray, shape (steps,)
        Always within the storage bounds and never crossed; where no storage would do, the nearest bound.
    """
    # Lists: this loop takes most of the time of preparing a year, and Python is slow at single elements of arrays.
    lower, upper = limits.storage_lower_hm3.tolist(), limits.storage_upper_hm3.tolist()
    gain_most = ((limits.inflow_m3s - limits.release_lower_m3s) * limits.volume_per_flow - slack_hm3).tolist()
    gain_least = ((limits.inflow_m3s - limits.release_upper_m3s) * limits.volume_per_flow + slack_hm3).tolist()
    for step in range(limits.steps - 2, -1, -1):
        lowest, highest = lower[step], upper[step]
        need_lower, need_upper = lower[step + 1] - gain_most[step + 1], upper[step + 1] - gain_least[step + 1]
        if need_lower > need_upper:  # a slack wider than the interval: keep its middle
            need_lower = need_upper = (need_lower + need_upper) / 2
        lower[step], upper[step] = (min(max(need, lowest), highest) for need in (need_lower, need_upper))
    return np.array(lower), np.array(upper)


def corridor(limits: YearLimits) -> tuple[FloatArray, FloatArray]:
    """Storages that can be reached from the start and from which the year can be completed.

    Where no storage within the bounds can be reached, the reachable one nearest to them stands alone.

    Returns
    -------
    lower, upper : ndarray, shape (steps + 1,)
        From the start of the first step to the end of the last.
    """
    allowed_lower, allowed_upper = reachable_storage(limits)
    lower, upper = np.empty(limits.steps + 1), np.empty(limits.steps + 1)
    lower[0], upper[0] = limits.start_bounds_hm3
    gain_most = (limits.inflow_m3s - limits.release_lower_m3s) * limits.volume_per_flow
    gain_least = (limits.inflow_m3s - limits.release_upper_m3s) * limits.volume_per_flow
    for step in range(limits.steps):
        least, most = lower[step] + gain_least[step], upper[step] + gain_most[step]
        lower[step + 1] = min(max(least, allowed_lower[step]), most)
        upper[step + 1] = max(min(most, allowed_upper[step]), least)
        if lower[step + 1] > upper[step + 1]:
            lower[step + 1] = upper[step + 1] = least if least > allowed_upper[step] else most
    return lower, upper


def satisfiable(limits: YearLimits) -> bool:
    """Whether some releases within their bounds keep the storage within its bounds all year."""
    start = sum(limits.start_bounds_hm3) / 2  # of a cyclic year: the interval holds good starts only, if there are any
    fixed = limits.starting_at(start)
    lower, upper = corridor(fixed)
    slack = 1e-9 * limits.capacity_hm3
    return bool(
        np.all(lower[1:] >= fixed.storage_lower_hm3 - slack) and np.all(upper[1:] <= fixed.storage_upper_hm3 + slack)
    )


def always_repairable(limits: YearLimits, year: YearArrays) -> bool:
    """Whether repair (eq. 18-19) of releases within their bounds always keeps storages and releases within theirs.

    Parameters
    ----------
    limits : YearLimits
        The year.
    year : YearArrays
        Its arrays, with the margin that the repair uses.
    """
    gain_most = (year.inflow - year.release_lower) * year.volume_per_flow
    gain_least = (year.inflow - year.release_upper) * year.volume_per_flow
    for start in limits.start_bounds_hm3:  # a cyclic year's reach moves with its start, its ends apart the most
        lower, upper = year.reach_lower, year.reach_upper
        if year.cyclic:
            lower, upper = (np.clip(start - drift, lower, upper) for drift in (year.drift_lower, year.drift_upper))
            if not lower[-1] <= start <= upper[-1]:
                return False
        least, most = np.append(start, lower[:-1]) + gain_most, np.append(start, upper[:-1]) + gain_least
        if np.any(least < lower) or np.any(most > upper):
            return False
    return True


def _later_sum(gains: FloatArray) -> FloatArray:
    """Sum of the gains of all later steps, for the end of each step."""
    return np.concatenate([np.cumsum(gains[:0:-1])[::-1], [0.0]])
