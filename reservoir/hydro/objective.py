"""Benefit, violation cost and fitness of a year's releases (Yu et al. 2020, eq. 6, 20 and 21)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import YearArrays, follow, violation_at
from reservoir.hydro.curves.forms import curve_value, specific_power
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.stacked_limits import as_stack, year_at
from reservoir.hydro.step import head_at, turbined_at
from reservoir.hydro.units import GWH_PER_MW_VOLUME

FloatArray = NDArray[np.float64]


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
    start = None if start_hm3 is None else np.array([start_hm3])
    return Operation(*(each[0] for each in _operated(plant, as_stack(year), releases_m3s, start)))


def benefits_and_violations(
    plant: Plant, years: YearArrays, releases_m3s: FloatArray, start_hm3: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Energy (GWh, eq. 6) and sum of violations (eq. 20) of many years of one plant, run as by `operate`.

    Parameters
    ----------
    plant : Plant
        From `exact_plant`.
    years : YearArrays
        From `StackedLimits.arrays`, in float64.
    releases_m3s : ndarray, shape (years, steps)
        Releases wanted.
    start_hm3 : ndarray, shape (years,), optional
        Storages at the start of cyclic years.

    Returns
    -------
    benefits_gwh, violations : ndarray, shape (years,)
    """
    *_, energy, violation = _operated(plant, years, releases_m3s, start_hm3)
    return energy.sum(axis=1), violation.sum(axis=1)


def _operated(
    plant: Plant, years: YearArrays, releases_m3s: FloatArray, start_hm3: FloatArray | None
) -> tuple[FloatArray, ...]:
    """What `Operation` holds, with an axis of years in front: one year runs through the same code as many."""
    wanted = np.clip(np.asarray(releases_m3s, np.float64), years.release_lower, years.release_upper)
    count, steps = wanted.shape
    releases = np.empty((count, steps))
    storages = np.empty((count, steps + 1))
    storages[:, 0] = years.start if start_hm3 is None else start_hm3
    columns = np.empty((7, count, steps))
    _operate(plant, years, wanted, releases, storages, columns)
    energy = columns[5] * years.hm3_per_m3s * GWH_PER_MW_VOLUME
    for array in (releases, storages, columns, energy):
        array.setflags(write=False)
    turbined, level, mean_level, tailrace, head, power, violation = columns
    return releases, turbined, storages, level, mean_level, tailrace, head, power, energy, violation


@compiled
def _operate(plant, years, wanted, releases, storages, columns):
    for index in range(len(wanted)):
        year = year_at(years, index)
        _operate_year(plant, year, wanted[index], releases[index], storages[index], columns[:, index])


@inlined
def _operate_year(plant, year, wanted, releases, storages, columns):
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
