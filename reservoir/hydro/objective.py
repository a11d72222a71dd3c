"""Benefit, violation cost and fitness of a year's releases (Yu et al. 2020, eq. 6, 20 and 21)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.balance import (
    Plant,
    curve_value,
    head_at,
    power_at,
    specific_power,
    turbined_at,
)
from reservoir.hydro.compile import compiled, inlined
from reservoir.hydro.constraints import YearArrays, lower_reach, repaired, steered, steps_in, upper_reach, violation_at
from reservoir.hydro.units import GWH_PER_MW_VOLUME

FloatArray = NDArray[np.float64]


@inlined
def follow(year, wanted, releases, storages):
    """Run a year from ``storages[0]`` with the releases wanted, repaired; fills `releases` and `storages`.

    Returns the sum of the violations. The bounds of the release hardly ever bind after a repair: a first pass leaves
    them out, which shortens the chain of operations from one storage to the next to a third, and tells whether it may.
    """
    start = storages[0]
    storage = start
    beyond = 0
    for step in range(steps_in(year)):
        lower, upper = lower_reach(year, step, start), upper_reach(year, step, start)
        release, storage = steered(year, step, storage, wanted[step], lower, upper)
        releases[step], storages[step + 1] = release, storage
        beyond += (release < year.release_lower[step]) | (release > year.release_upper[step])
    if beyond == 0:
        return start - start  # 0 in the precision of the arrays
    return _follow_within_bounds(year, wanted, releases, storages)


@inlined
def _follow_within_bounds(year, wanted, releases, storages):
    start = storages[0]
    storage, violation = start, start - start
    for step in range(steps_in(year)):
        lower, upper = lower_reach(year, step, start), upper_reach(year, step, start)
        release, storage = repaired(year, step, storage, wanted[step], lower, upper)
        releases[step], storages[step + 1] = release, storage
        violation += violation_at(year, step, storage, start)
    return violation


@inlined
def energy_of(plant, year, releases, storages, half, gwh_per_mw_volume):
    """Energy of a year, GWh (eq. 6); the last two arguments are constants in the precision of the arrays."""
    energy = half - half
    for step in range(steps_in(year)):
        mean_storage = half * (storages[step] + storages[step + 1])
        energy += power_at(plant, mean_storage, releases[step]) * year.volume_per_flow[step]
    return energy * gwh_per_mw_volume


@dataclass(frozen=True)
class Operation:
    """What a year's releases come to, in float64; arrays of shape (steps,) unless said otherwise.

    ``storage_hm3`` has shape (steps + 1,): the start and the end of each step. ``violation`` is relative (eq. 20).
    """

    release_m3s: FloatArray
    turbined_m3s: FloatArray
    storage_hm3: FloatArray
    level_m: FloatArray
    mean_level_m: FloatArray
    tailrace_m: FloatArray
    head_m: FloatArray
    power_mw: FloatArray
    energy_gwh: FloatArray
    violation: FloatArray

    @property
    def benefit_gwh(self) -> float:
        """Energy of the year (eq. 6)."""
        return float(self.energy_gwh.sum())

    def fitness_gwh(self, penalty_gwh: float) -> float:
        """Benefit less violation cost (eq. 21)."""
        return self.benefit_gwh - penalty_gwh * float(self.violation.sum())


def operate(plant: Plant, year: YearArrays, releases_m3s: FloatArray, start_hm3: float | None = None) -> Operation:
    """Run one year with given releases, repairing them (eq. 18-19), with exact curves.

    Parameters
    ----------
    plant : Plant
        From `exact_plant`.
    year : YearArrays
        From `YearLimits.arrays`, in float64.
    releases_m3s : ndarray, shape (steps,)
        Releases wanted.
    start_hm3 : float, optional
        Storage at the start of a cyclic year.
    """
    steps = len(year.inflow)
    wanted = np.clip(np.asarray(releases_m3s, np.float64), year.release_lower, year.release_upper)
    releases = np.empty(steps)
    storages = np.empty(steps + 1)
    storages[0] = year.start if start_hm3 is None else start_hm3
    columns = np.empty((7, steps))
    _operate(plant, year, wanted, releases, storages, columns)
    energy = columns[5] * year.volume_per_flow * GWH_PER_MW_VOLUME
    for array in (releases, storages, columns, energy):
        array.setflags(write=False)
    turbined, level, mean_level, tailrace, head, power, violation = columns
    return Operation(releases, turbined, storages, level, mean_level, tailrace, head, power, energy, violation)


@compiled
def _operate(plant, year, wanted, releases, storages, columns):
    start = storages[0]
    follow(year, wanted, releases, storages)
    for step in range(len(releases)):
        mean_storage = 0.5 * (storages[step] + storages[step + 1])
        head = head_at(plant, mean_storage, releases[step])
        turbined = turbined_at(plant, head, releases[step])
        columns[0, step] = turbined
        columns[1, step] = curve_value(plant.level, storages[step + 1])
        columns[2, step] = curve_value(plant.level, mean_storage)
        columns[3, step] = curve_value(plant.tailrace, releases[step])
        columns[4, step] = head
        columns[5, step] = min(specific_power(plant.conversion, head) * turbined, plant.installed_mw)
        columns[6, step] = violation_at(year, step, storages[step + 1], start)
