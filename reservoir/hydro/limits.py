"""Bounds of years, and the storages from which each can be completed (Yu et al. 2020, eq. 11-17).

The backward recursion of eq. 16-17 uses the bounds of the release, not a particle's own later releases: the interval
is then the set of storages from which the year can still be completed, and it is the same for every particle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import MOST_UNROLLED, YearArrays
from reservoir.hydro.horizon import Horizon
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.jit import compiled
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.reservoir_kinds import YearEnd
from reservoir.hydro.step import volume_gained

FloatArray = NDArray[np.float64]

#: Reachable bounds are drawn in by this part of the largest storage, so that rounding never asks for a release just
#: outside its bounds.
EXACT_MARGIN = 1e-12
#: The starts of a cyclic year are drawn in by this part of the largest storage: room for a solver's float32 rounding.
START_MARGIN = 2e-5


@dataclass(frozen=True, eq=False)
class Limits:
    """Inflow and bounds of horizons with equally many steps, all of them cyclic or none: "years" here and below.

    Arrays have shape (years, steps) unless said otherwise. ``limits[i]`` is one year: the same without the axis of
    years, as are all results; a slice or a list of places is some of the years.

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
    initial_storage_hm3 : ndarray, shape (years,), or None
        Storage at the start; None of cyclic years, where it is chosen within `start_bounds_hm3`.
    start_bounds_hm3 : ndarray, shape (years, 2)
        Between which the start may be chosen; both the initial storage where that is fixed.
    """

    inflow_m3s: FloatArray
    hm3_per_m3s: FloatArray
    release_lower_m3s: FloatArray
    release_upper_m3s: FloatArray
    storage_lower_hm3: FloatArray
    storage_upper_hm3: FloatArray
    initial_storage_hm3: FloatArray | None
    start_bounds_hm3: FloatArray

    def __len__(self) -> int:
        return len(self.inflow_m3s)

    def __getitem__(self, years: int | slice | NDArray[np.integer]) -> Limits:
        columns = (getattr(self, field.name) for field in fields(self))
        arrays: Any = (None if column is None else column[years] for column in columns)
        return Limits(*arrays)

    @classmethod
    def of(cls, years: Sequence[Limits]) -> Limits:
        """Limits of years that were made one by one, at least one."""
        columns = ([getattr(year, field.name) for year in years] for field in fields(cls))
        arrays: Any = (None if column[0] is None else np.stack(column) for column in columns)
        return cls(*arrays)

    @property
    def steps(self) -> int:
        """Number of steps of a year."""
        return int(self.inflow_m3s.shape[-1])

    @property
    def cyclic(self) -> bool:
        """Whether the years end where they began, at a storage the plan chooses."""
        return self.initial_storage_hm3 is None

    @property
    def capacity_hm3(self) -> FloatArray:
        """Largest storage that any bound of a year allows, shape (years,)."""
        return np.asarray(np.maximum(self.storage_upper_hm3.max(axis=-1), self.start_bounds_hm3[..., 1]))

    def starting_at(self, storage_hm3: float | FloatArray) -> Limits:
        """Fix the start of each year, and the end too where it is cyclic."""
        start = np.broadcast_to(np.asarray(storage_hm3, np.float64), self.inflow_m3s.shape[:-1])
        lower, upper = self.storage_lower_hm3.copy(), self.storage_upper_hm3.copy()
        if self.cyclic:
            lower[..., -1] = upper[..., -1] = start
        return replace(
            self,
            storage_lower_hm3=lower,
            storage_upper_hm3=upper,
            initial_storage_hm3=start,
            start_bounds_hm3=np.stack([start, start], axis=-1),
        )

    def gains_hm3(self) -> tuple[FloatArray, FloatArray]:
        """Storage gained in each step with the least and with the most release."""
        most = volume_gained(self.inflow_m3s, self.release_lower_m3s, self.hm3_per_m3s)
        least = volume_gained(self.inflow_m3s, self.release_upper_m3s, self.hm3_per_m3s)
        return most, least

    def arrays(self, margin: float = EXACT_MARGIN, dtype: type = np.float64) -> YearArrays:
        """The years as compiled code reads them, with reachable bounds drawn in by `margin` (relative)."""
        slack = margin * self.capacity_hm3
        per_step = (
            self.inflow_m3s,
            self.hm3_per_m3s,
            self.release_lower_m3s,
            self.release_upper_m3s,
            self.storage_lower_hm3,
            self.storage_upper_hm3,
            *reachable_storage(self, slack),
            *map(_later_sum, _drawn_in(self.gains_hm3(), slack)),
        )
        start = np.zeros(self.inflow_m3s.shape[:-1]) if self.initial_storage_hm3 is None else self.initial_storage_hm3
        # A copy, since compiled code knows arrays that can be written to; [()] makes a number of an array of none.
        rows: list[Any] = [np.array(each, dtype, order="C")[()] for each in (*per_step, start, self.capacity_hm3)]
        return YearArrays._make([*rows, self.cyclic, (0,) * (self.steps if self.steps <= MOST_UNROLLED else 0)])

    def joined(self, years: int) -> Limits:
        """Consecutive horizons joined, so many at a time; they divide the number of horizons."""
        shape = len(self) // years, years * self.steps
        per_step = {field.name for field in fields(self)} - {"initial_storage_hm3", "start_bounds_hm3"}
        return replace(
            self,
            **{name: getattr(self, name).reshape(shape) for name in per_step},
            initial_storage_hm3=None if self.initial_storage_hm3 is None else self.initial_storage_hm3[::years],
            start_bounds_hm3=self.start_bounds_hm3[::years],
        )


def year_limits(reservoir: Reservoir, inflow: Inflow) -> Limits:
    """Limits of every water year of a record, with the start and the end that the reservoir prescribes."""
    return _with_ends(reservoir, open_limits(reservoir, inflow))


def horizon_limits(reservoir: Reservoir, inflow: Inflow, horizon: Horizon) -> list[Limits]:
    """Limits of a record's horizons, each with the start and the end that the reservoir prescribes.

    One item of equally long horizons, and one of the last where it is shorter.
    """
    years, spans = open_limits(reservoir, inflow), horizon.equal_spans(inflow.years)
    return [_with_ends(reservoir, years[first:stop].joined(length)) for first, stop, length in spans]


def _with_ends(reservoir: Reservoir, limits: Limits) -> Limits:
    start = reservoir.initial_storage_hm3
    if start is None:
        return _with_good_starts(limits)
    if reservoir.year_end is YearEnd.FIXED:
        limits.storage_lower_hm3[:, -1] = limits.storage_upper_hm3[:, -1] = reservoir.final_storage_hm3
    initial = np.full(len(limits), start)
    return replace(limits, initial_storage_hm3=initial, start_bounds_hm3=np.column_stack([initial, initial]))


def open_limits(reservoir: Reservoir, inflow: Inflow) -> Limits:
    """Years with the bounds of their months, nothing said of their ends, any start within the last month's bounds."""
    lowest, highest, lower, upper = (
        np.tile(np.resize(bound, inflow.steps), (inflow.years, 1))
        for bound in (*reservoir.release_bounds_m3s, *reservoir.storage_bounds_hm3)
    )
    starts = np.column_stack([lower[:, -1], upper[:, -1]])
    return Limits(inflow.flow_m3s, inflow.calendar.hm3_per_m3s, lowest, highest, lower, upper, None, starts)


def _with_good_starts(years: Limits) -> Limits:
    """Narrow the starts of cyclic years to those that each can return to, if there are any."""
    starts = np.stack(cyclic_starts(*years.gains_hm3(), years.storage_lower_hm3, years.storage_upper_hm3), axis=-1)
    narrowed = replace(years, start_bounds_hm3=starts)
    good = (starts[:, 0] <= starts[:, 1]) & satisfiable(narrowed)
    return replace(years, start_bounds_hm3=np.where(good[:, np.newaxis], starts, years.start_bounds_hm3))


def cyclic_starts(
    gain_most: FloatArray, gain_least: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest start to which cyclic years can return within their bounds; crossed where there is none.

    Every end of a step is reached from the start and leads back to it: from the gains up to a step and from it on,
    each bound of the storage there bounds the start.

    Parameters
    ----------
    gain_most, gain_least : ndarray, shape (..., steps)
        Storage gained in each step with the least and the most release, hm3.
    lower, upper : ndarray, shape (..., steps)
        Bounds of the storage at the end of each step, hm3.
    """
    slack = START_MARGIN * np.max(upper, axis=-1)
    lowest = np.maximum(
        np.max(lower - np.cumsum(gain_most, axis=-1), axis=-1), np.max(lower + _later_sum(gain_least), axis=-1)
    )
    highest = np.minimum(
        np.min(upper - np.cumsum(gain_least, axis=-1), axis=-1), np.min(upper + _later_sum(gain_most), axis=-1)
    )
    return np.maximum(lower[..., -1], lowest + slack), np.minimum(upper[..., -1], highest - slack)


def reachable_storage(limits: Limits, slack_hm3: float | FloatArray = 0.0) -> tuple[FloatArray, FloatArray]:
    """Storages at the end of each step from which the rest of the year can be completed (eq. 16-17).

    Parameters
    ----------
    limits : Limits
        A cyclic year is taken with an open end.
    slack_hm3 : float or ndarray, shape (years,)
        How far each step of the recursion is drawn in.

    Returns
    -------
    lower, upper : ndarray, shape (years, steps)
        Always within the storage bounds and never crossed; where no storage would do, the nearest bound.
    """
    lower, upper = (np.array(bound, order="C") for bound in (limits.storage_lower_hm3, limits.storage_upper_hm3))
    gains = _drawn_in(limits.gains_hm3(), slack_hm3)
    _draw_in(*(each.reshape(-1, limits.steps) for each in (*gains, lower, upper)))
    return lower, upper


def corridor(limits: Limits) -> tuple[FloatArray, FloatArray]:
    """Storages that can be reached from the start and from which the year can be completed.

    Where no storage within the bounds can be reached, the reachable one nearest to them stands alone.

    Returns
    -------
    lower, upper : ndarray, shape (years, steps + 1)
        From the start of the first step to the end of the last.
    """
    allowed_lower, allowed_upper = reachable_storage(limits)
    gain_most, gain_least = limits.gains_hm3()
    lower, upper = (np.empty((*limits.inflow_m3s.shape[:-1], limits.steps + 1)) for _ in range(2))
    lower[..., 0], upper[..., 0] = limits.start_bounds_hm3[..., 0], limits.start_bounds_hm3[..., 1]
    for step in range(limits.steps):
        least, most = lower[..., step] + gain_least[..., step], upper[..., step] + gain_most[..., step]
        lowest = np.minimum(np.maximum(least, allowed_lower[..., step]), most)
        highest = np.maximum(np.minimum(most, allowed_upper[..., step]), least)
        alone = np.where(least > allowed_upper[..., step], least, most)
        crossed = lowest > highest
        lower[..., step + 1] = np.where(crossed, alone, lowest)
        upper[..., step + 1] = np.where(crossed, alone, highest)
    return lower, upper


def satisfiable(limits: Limits) -> NDArray[np.bool_]:
    """Whether some releases within their bounds keep the storage within its bounds all year, shape (years,)."""
    # Of a cyclic year the middle start: the interval holds good starts only, if there are any.
    fixed = limits.starting_at(limits.start_bounds_hm3.sum(axis=-1) / 2)
    lower, upper = corridor(fixed)
    slack = 1e-9 * limits.capacity_hm3[..., np.newaxis]
    kept = (lower[..., 1:] >= fixed.storage_lower_hm3 - slack) & (upper[..., 1:] <= fixed.storage_upper_hm3 + slack)
    return np.asarray(np.all(kept, axis=-1))


def _drawn_in(gains_hm3: tuple[FloatArray, FloatArray], slack_hm3: float | FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gains with the least and the most release, drawn in by each year's slack."""
    (most, least), slack = gains_hm3, np.asarray(slack_hm3)[..., np.newaxis]
    return most - slack, least + slack


def _later_sum(gains: FloatArray) -> FloatArray:
    """Sum of the gains of all later steps, for the end of each step; shape (..., steps)."""
    sums = np.zeros_like(gains)
    sums[..., :-1] = np.cumsum(gains[..., :0:-1], axis=-1)[..., ::-1]
    return sums


@compiled
def _draw_in(gain_most: FloatArray, gain_least: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
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
