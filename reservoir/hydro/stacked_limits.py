"""Limits of many years side by side: what an ensemble is prepared with, at a small part of the cost of one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import MOST_UNROLLED, YearArrays
from reservoir.hydro.jit import compiled, inlined

if TYPE_CHECKING:
    from reservoir.hydro.limits import YearLimits

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class StackedLimits:
    """`YearLimits` of years with equally many steps, all of them cyclic or none; arrays of shape (years, steps).

    ``initial_storage_hm3`` has shape (years,) and is None where the years are cyclic; ``start_bounds_hm3`` has shape
    (2, years).
    """

    inflow_m3s: FloatArray
    hm3_per_m3s: FloatArray
    release_lower_m3s: FloatArray
    release_upper_m3s: FloatArray
    storage_lower_hm3: FloatArray
    storage_upper_hm3: FloatArray
    initial_storage_hm3: FloatArray | None
    start_bounds_hm3: FloatArray

    @classmethod
    def of(cls, years: Sequence[YearLimits]) -> StackedLimits:
        """Stack the limits of years, at least one."""

        def stacked(name: str) -> FloatArray:
            # numpy joins rows many times faster than it looks through a list of them for its shape.
            return np.concatenate(list(map(attrgetter(name), years))).reshape(len(years), -1)

        return cls(
            stacked("inflow_m3s"),
            stacked("hm3_per_m3s"),
            stacked("release_lower_m3s"),
            stacked("release_upper_m3s"),
            stacked("storage_lower_hm3"),
            stacked("storage_upper_hm3"),
            None if years[0].cyclic else np.array([year.initial_storage_hm3 for year in years]),
            np.array([year.start_bounds_hm3 for year in years]).T,
        )

    @property
    def cyclic(self) -> bool:
        """Whether the years end where they began."""
        return self.initial_storage_hm3 is None

    @property
    def capacity_hm3(self) -> FloatArray:
        """Largest storage that any bound of each year allows, shape (years,)."""
        return np.maximum(self.storage_upper_hm3.max(axis=1), self.start_bounds_hm3[1])

    def reachable_storage(self, slack_hm3: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As `limits.reachable_storage`, with each year's slack; shape (years, steps)."""
        return self._reachable(*self._gains(slack_hm3))

    def arrays(self, margin: float, dtype: type = np.float64) -> YearArrays:
        """The years as compiled code reads them, by `year_at`; see `YearLimits.arrays`."""
        gains = self._gains(margin * self.capacity_hm3)
        per_step = (
            self.inflow_m3s,
            self.hm3_per_m3s,
            self.release_lower_m3s,
            self.release_upper_m3s,
            self.storage_lower_hm3,
            self.storage_upper_hm3,
            *self._reachable(*gains),
            *map(later_sum, gains),
        )
        years, steps = self.inflow_m3s.shape
        start = np.zeros(years) if self.initial_storage_hm3 is None else self.initial_storage_hm3
        rows: list[Any] = [np.ascontiguousarray(each, dtype) for each in (*per_step, start, self.capacity_hm3)]
        return YearArrays._make([*rows, self.cyclic, (0,) * (steps if steps <= MOST_UNROLLED else 0)])

    def _gains(self, slack_hm3: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Storage gained in each step with the least and the most release, drawn in by each year's slack."""
        slack = slack_hm3[:, np.newaxis]
        most = (self.inflow_m3s - self.release_lower_m3s) * self.hm3_per_m3s - slack
        least = (self.inflow_m3s - self.release_upper_m3s) * self.hm3_per_m3s + slack
        return most, least

    def _reachable(self, gain_most: FloatArray, gain_least: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower, upper = self.storage_lower_hm3.copy(), self.storage_upper_hm3.copy()
        _draw_in(gain_most, gain_least, lower, upper)
        return lower, upper


def later_sum(gains: FloatArray) -> FloatArray:
    """Sum of the gains of all later steps, for the end of each step; shape (..., steps)."""
    sums = np.zeros_like(gains)
    sums[..., :-1] = np.cumsum(gains[..., :0:-1], axis=-1)[..., ::-1]
    return sums


def one_year(years: YearArrays) -> YearArrays:
    """The only one of stacked years."""
    *arrays, cyclic, unrolled = years
    return YearArrays._make([*(each[0] for each in arrays), cyclic, unrolled])


def as_stack(year: YearArrays) -> YearArrays:
    """A stack of one year."""
    *arrays, cyclic, unrolled = year
    return YearArrays._make([*(np.asarray(each)[np.newaxis] for each in arrays), cyclic, unrolled])


@inlined
def year_at(years, index):
    """One of stacked years, for compiled code."""
    return YearArrays(
        years.inflow[index],
        years.hm3_per_m3s[index],
        years.release_lower[index],
        years.release_upper[index],
        years.storage_lower[index],
        years.storage_upper[index],
        years.reach_lower[index],
        years.reach_upper[index],
        years.drift_lower[index],
        years.drift_upper[index],
        years.start[index],
        years.capacity[index],
        years.cyclic,
        years.unrolled,
    )


@compiled
def _draw_in(gain_most, gain_least, lower, upper):
    """Draw bounds of storages in to those from which the year can be completed (Yu et al. 2020, eq. 16-17)."""
    for year in range(len(lower)):
        for step in range(lower.shape[1] - 2, -1, -1):
            need_lower = lower[year, step + 1] - gain_most[year, step + 1]
            need_upper = upper[year, step + 1] - gain_least[year, step + 1]
            if need_lower > need_upper:  # a slack wider than the interval: keep its middle
                need_lower = need_upper = (need_lower + need_upper) / 2
            lowest, highest = lower[year, step], upper[year, step]
            lower[year, step] = min(max(need_lower, lowest), highest)
            upper[year, step] = min(max(need_upper, lowest), highest)
