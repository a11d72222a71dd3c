"""Bounds of a year, and the storages from which it can be completed (Yu et al. 2020, eq. 11-17).

The backward recursion of eq. 16-17 uses the bounds of the release, not a particle's own later releases: the interval
is then the set of storages from which the year can still be completed, and it is the same for every particle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import YearArrays
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_kinds import YearEnd
from reservoir.hydro.stacked_limits import StackedLimits, later_sum, one_year

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
    hm3_per_m3s : ndarray
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
    hm3_per_m3s: FloatArray
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
        return one_year(StackedLimits.of([self]).arrays(margin, dtype))


def year_limits(reservoir: Reservoir, inflow: Inflow) -> list[YearLimits]:
    """Limits of every water year of a record, one `YearLimits` a year."""
    bounds = open_year(reservoir, np.empty(0), np.empty(0))
    years = zip(inflow.flow_m3s, inflow.calendar.hm3_per_m3s, strict=True)
    return [_closed(reservoir, _with_inflow(bounds, flow, volume)) for flow, volume in years]


def _with_inflow(year: YearLimits, flow_m3s: FloatArray, hm3_per_m3s: FloatArray) -> YearLimits:
    """Another year of the same reservoir, with bounds of the storage of its own: `_closed` writes to them."""
    return replace(
        year,
        inflow_m3s=flow_m3s,
        hm3_per_m3s=hm3_per_m3s,
        storage_lower_hm3=year.storage_lower_hm3.copy(),
        storage_upper_hm3=year.storage_upper_hm3.copy(),
    )


def _closed(reservoir: Reservoir, year: YearLimits) -> YearLimits:
    """Give a year the start and the end that its reservoir prescribes."""
    start = reservoir.initial_storage_hm3
    if start is None:
        return _with_good_starts(year)
    if reservoir.year_end is YearEnd.FIXED:
        year.storage_lower_hm3[-1] = year.storage_upper_hm3[-1] = reservoir.final_storage_hm3
    return replace(year, initial_storage_hm3=start, start_bounds_hm3=(start, start))


def open_year(reservoir: Reservoir, flow_m3s: FloatArray, hm3_per_m3s: FloatArray) -> YearLimits:
    """A year with the bounds of its months, nothing said of its end, and any start within the last month's bounds."""
    lower, upper = reservoir.by_step(reservoir.storage_lower_hm3), reservoir.by_step(reservoir.storage_upper_hm3)
    releases = reservoir.by_step(reservoir.release_lower_m3s), reservoir.by_step(reservoir.release_upper_m3s)
    return YearLimits(flow_m3s, hm3_per_m3s, *releases, lower, upper, None, (float(lower[-1]), float(upper[-1])))


def _with_good_starts(year: YearLimits) -> YearLimits:
    """Narrow a cyclic year's starts to those it can return to, if there are any."""
    most = (year.inflow_m3s - year.release_lower_m3s) * year.hm3_per_m3s
    least = (year.inflow_m3s - year.release_upper_m3s) * year.hm3_per_m3s
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
    lowest = max(np.max(lower - np.cumsum(gain_most)), np.max(lower + later_sum(gain_least))) + slack
    highest = min(np.min(upper - np.cumsum(gain_least)), np.min(upper + later_sum(gain_most))) - slack
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
    lower, upper = StackedLimits.of([limits]).reachable_storage(np.array([slack_hm3]))
    return lower[0], upper[0]


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
    gain_most = (limits.inflow_m3s - limits.release_lower_m3s) * limits.hm3_per_m3s
    gain_least = (limits.inflow_m3s - limits.release_upper_m3s) * limits.hm3_per_m3s
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


def always_repairable(limits: YearLimits | StackedLimits, year: YearArrays) -> NDArray[np.bool_]:
    """Whether repair (eq. 18-19) of releases within their bounds always keeps storages and releases within theirs.

    Parameters
    ----------
    limits : YearLimits or StackedLimits
        The year, or several.
    year : YearArrays
        Its arrays, with the margin that the repair uses.

    Returns
    -------
    ndarray of bool
        Of no dimension, or of shape (years,).
    """
    gain_most = (year.inflow - year.release_lower) * year.hm3_per_m3s
    gain_least = (year.inflow - year.release_upper) * year.hm3_per_m3s
    always = np.array(True)
    for bound in limits.start_bounds_hm3:  # a cyclic year's reach moves with its start, its ends apart the most
        start = np.asarray(bound)[..., np.newaxis]
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
