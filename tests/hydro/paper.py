"""The reservoir of Yu et al. 2020 (Complexity 6589658), eq. 6-20, written out again in plain Python.

The tests hold the package against these lines. Nothing here calls the package's physics; curves are called as Python
functions, which test_curves holds against numpy and scipy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reservoir.hydro.attributes import ConversionKind, YearEnd
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir


@dataclass(frozen=True)
class Year:
    """One year's inflow (m3/s), days and bounds, by step; ``end`` is None where the year may end anywhere.

    The paper's years can all be satisfied. Below ``dead`` storage nothing can be released, which is not the paper's.
    """

    inflow: Sequence[float]
    days: Sequence[int]
    release_lower: Sequence[float]
    release_upper: Sequence[float]
    storage_lower: Sequence[float]
    storage_upper: Sequence[float]
    start: float
    end: float | None
    dead: float = 0.0

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.inflow)

    def volume(self, step: int, flow: float) -> float:
        """hm3 that a flow carries in a step (eq. 10)."""
        return 86_400 * flow * int(self.days[step]) / 1e6

    def bounds(self, step: int) -> tuple[float, float]:
        """Bounds of the storage at the end of a step (eq. 12-13)."""
        if step == self.steps - 1 and self.end is not None:
            return self.end, self.end
        return self.storage_lower[step], self.storage_upper[step]


def year_of(reservoir: Reservoir, inflow: Inflow, index: int, start: float | None = None) -> Year:
    """Year `index` of a record; `start` is that of a cyclic year."""
    months = [(reservoir.first_month - 1 + step) % 12 for step in range(12)]
    begin = reservoir.initial_storage_hm3 if start is None else start
    assert begin is not None
    end = {YearEnd.FIXED: reservoir.final_storage_hm3, YearEnd.CYCLIC: begin, YearEnd.FREE: None}[reservoir.year_end]
    return Year(
        [float(flow) for flow in inflow.flow_m3s[index]],
        [int(days) for days in inflow.calendar.days[index]],
        [float(reservoir.release_lower_m3s[month]) for month in months],
        [float(reservoir.release_upper_m3s[month]) for month in months],
        [float(reservoir.storage_lower_hm3[month]) for month in months],
        [float(reservoir.storage_upper_hm3[month]) for month in months],
        begin,
        end,
        float(min(reservoir.storage_lower_hm3)),
    )


def storages_of(year: Year, releases: Sequence[float]) -> list[float]:
    """Water balance (eq. 10): 13 storages of 12 releases."""
    storages = [year.start]
    for step, release in enumerate(releases):
        storages.append(storages[-1] + year.volume(step, year.inflow[step] - release))
    return storages


def reachable(year: Year) -> tuple[list[float], list[float]]:
    """New bounds of the storages (eq. 16-17), with the bounds of the release in place of a particle's releases."""
    lower, upper = [0.0] * year.steps, [0.0] * year.steps
    for step in reversed(range(year.steps)):
        lower[step], upper[step] = year.bounds(step)
        if step < year.steps - 1:
            most = year.volume(step + 1, year.inflow[step + 1] - year.release_lower[step + 1])
            least = year.volume(step + 1, year.inflow[step + 1] - year.release_upper[step + 1])
            lower[step] = max(lower[step + 1] - most, lower[step])
            upper[step] = min(upper[step + 1] - least, upper[step])
    return lower, upper


def feasible(year: Year) -> bool:
    """Whether the year can be operated within all its bounds from its start."""
    return completable(year, -1, year.start)


def completable(year: Year, step: int, storage: float, tolerance: float = 0.0) -> bool:
    """Whether the year can be completed within its bounds from a storage at the end of a step.

    All storages that any policy can reach are followed forwards, so that this shares nothing with eq. 16-17.
    """
    lowest = highest = storage
    for later in range(step + 1, year.steps):
        lowest += year.volume(later, year.inflow[later] - year.release_upper[later])
        highest += year.volume(later, year.inflow[later] - year.release_lower[later])
        lower, upper = year.bounds(later)
        lowest, highest = max(lowest, lower - tolerance), min(highest, upper + tolerance)
        if lowest > highest:
            return False
    return True


def repaired(year: Year, releases: Sequence[float]) -> tuple[list[float], list[float]]:
    """Releases and storages after the repair (eq. 18-19); the deviation becomes a flow before it is added."""
    lower, upper = reachable(year)
    kept, storages = [], [year.start]
    for step, release in enumerate(releases):
        end = storages[-1] + year.volume(step, year.inflow[step] - release)
        deviation = lower[step] - end if end < lower[step] else upper[step] - end if end > upper[step] else 0.0
        mended = release - deviation * 1e6 / (86_400 * year.days[step])  # more release, less storage
        mended = min(max(mended, year.release_lower[step]), year.release_upper[step])
        there = year.inflow[step] + (storages[-1] - year.dead) * 1e6 / (86_400 * year.days[step])
        mended = min(mended, max(there, 0.0))
        kept.append(mended)
        storages.append(storages[-1] + year.volume(step, year.inflow[step] - mended))
    return kept, storages


def violations(year: Year, storages: Sequence[float]) -> list[float]:
    """Violation of each step (eq. 20); a bound of 0 cannot be a divisor, so the largest storage stands in.

    To be below dead storage is no more than to be at it.
    """
    found = []
    for step, storage in enumerate(max(storage, year.dead) for storage in storages[1:]):
        lower, upper = year.bounds(step)
        largest = max(*year.storage_upper, year.start, year.end or 0.0)
        if storage < lower:
            found.append((lower - storage) / (lower or largest))
        else:
            found.append((storage - upper) / (upper or largest) if storage > upper else 0.0)
    return found


def missing(year: Year, releases: Sequence[float]) -> list[float]:
    """What releases are short of the least, relative to the largest volume of one; what is cut by rounding is none."""
    volumes = [year.volume(step, flow) for step, flow in enumerate(year.release_lower)]
    short = [max(volume - year.volume(step, releases[step]), 0.0) for step, volume in enumerate(volumes)]
    return [each / max(volumes) if each > 1e-6 * max(volumes) else 0.0 for each in short]


def head_m(reservoir: Reservoir, mean_storage: float, release: float) -> float:
    """Head (eq. 8)."""
    return float(reservoir.level(mean_storage) - reservoir.tailrace(release))


def specific_power(reservoir: Reservoir, head: float) -> float:
    """MW from 1 m3/s: 3600 / C kW (eq. 7), K H kW, or eta rho g H W."""
    value = float(reservoir.conversion(head))
    if reservoir.conversion_kind is ConversionKind.RATE:
        return 3600 / value / 1000
    if reservoir.conversion_kind is ConversionKind.COEFFICIENT:
        return value * head / 1000
    return value * 1000 * 9.80665 * head / 1e6


def turbined(reservoir: Reservoir, head: float, release: float) -> float:
    """Power discharge (eq. 9), whose bound is the hydraulic capacity or what makes the installed capacity."""
    largest = reservoir.installed_mw / specific_power(reservoir, head)
    return min(release, float(reservoir.capacity_m3s(head)), largest)


def powers(reservoir: Reservoir, releases: Sequence[float], storages: Sequence[float]) -> np.ndarray:
    """Power of each step, MW."""
    found = []
    for step, release in enumerate(releases):
        head = head_m(reservoir, (storages[step] + storages[step + 1]) / 2, release)
        found.append(specific_power(reservoir, head) * turbined(reservoir, head, release))
    return np.array(found)


def energy_gwh(reservoir: Reservoir, year: Year, releases: Sequence[float], storages: Sequence[float]) -> float:
    """Benefit of a year (eq. 6)."""
    return float(np.sum(24 * powers(reservoir, releases, storages) * np.array(year.days))) / 1000
