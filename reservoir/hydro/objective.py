"""Benefit, violation cost and fitness of a year's releases (Yu et al. 2020, eq. 6, 20 and 21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import GWH_PER_STAGE_BENEFIT, stage_benefit
from reservoir.hydro.compiled_year import YearArrays, follow, violation_at
from reservoir.hydro.elementwise import curve_value, mean
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.step import head_at, power_of, turbined_at

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Operation:
    """What the releases of years come to, in float64; arrays of shape (years, steps) unless said otherwise.

    ``storage_hm3`` has shape (years, steps + 1): the start and the end of each step. ``violation`` is relative (eq.
    20). ``operation[i]`` is one year: the same without the axis of years.
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

    def __len__(self) -> int:
        return len(self.release_m3s)

    def __getitem__(self, years: int | slice) -> Operation:
        return Operation(*(getattr(self, field.name)[years] for field in fields(self)))

    @property
    def spill_m3s(self) -> FloatArray:
        """Released past the turbines."""
        return self.release_m3s - self.turbined_m3s

    @property
    def benefit_gwh(self) -> FloatArray:
        """Energy of each year (eq. 6), shape (years,)."""
        return np.asarray(self.energy_gwh.sum(axis=-1))

    @property
    def violation_sum(self) -> FloatArray:
        """Sum of the relative violations of each year (eq. 20), shape (years,)."""
        return np.asarray(self.violation.sum(axis=-1))

    def in_years(self, steps: int) -> Operation:
        """Horizons of several years as years of so many steps each: the same storages, a row a year."""
        if self.release_m3s.shape[-1] == steps:
            return self
        rows = {field.name: getattr(self, field.name) for field in fields(self)}
        storage = rows.pop("storage_hm3")
        columns = {name: each.reshape(-1, steps) for name, each in rows.items()}
        starts, ends = (each.reshape(-1, steps) for each in (storage[:, :-1], storage[:, 1:]))
        return Operation(**columns, storage_hm3=np.concatenate([starts[:, :1], ends], axis=1))

    def fitness_gwh(self, penalty_gwh: float) -> FloatArray:
        """Benefit less violation cost of each year (eq. 21), shape (years,)."""
        return self.benefit_gwh - penalty_gwh * self.violation_sum


def joined(operations: Sequence[Operation]) -> Operation:
    """Years of several operations behind each other; at least one."""
    if len(operations) == 1:
        return operations[0]
    names = [field.name for field in fields(Operation)]
    return Operation(**{name: np.concatenate([getattr(each, name) for each in operations]) for name in names})


def operate(
    plant: Plant, years: YearArrays, releases_m3s: FloatArray, start_hm3: float | FloatArray | None = None
) -> Operation:
    """Run years of one plant with given releases, repairing them (eq. 18-19), with exact curves.

    Parameters
    ----------
    plant : Plant
        From `exact_plant`.
    years : YearArrays
        From `Limits.arrays`, in float64: of years, or of one year.
    releases_m3s : ndarray, shape (years, steps), or (steps,) for one year
        Releases wanted.
    start_hm3 : ndarray, shape (years,), or float for one year
        Storages at the start of cyclic years.
    """
    wanted = np.clip(np.asarray(releases_m3s, np.float64), years.release_lower, years.release_upper)
    if wanted.ndim == 1:
        *arrays, cyclic, unrolled = years
        batch = YearArrays._make([*(np.asarray(each)[np.newaxis] for each in arrays), cyclic, unrolled])
        return operate(plant, batch, wanted[np.newaxis], start_hm3)[0]
    count, steps = wanted.shape
    releases = np.empty((count, steps))
    storages = np.empty((count, steps + 1))
    storages[:, 0] = years.start if start_hm3 is None else start_hm3
    columns = np.empty((7, count, steps))
    _operate(plant, years, wanted, releases, storages, columns)
    energy = stage_benefit(columns[5], years.hm3_per_m3s) * GWH_PER_STAGE_BENEFIT
    for array in (releases, storages, columns, energy):
        array.setflags(write=False)
    turbined, level, mean_level, tailrace, head, power, violation = columns
    return Operation(releases, turbined, storages, level, mean_level, tailrace, head, power, energy, violation)


@compiled
def _operate(
    plant: Plant,
    years: YearArrays,
    wanted: FloatArray,
    releases: FloatArray,
    storages: FloatArray,
    columns: FloatArray,
) -> None:
    for index in range(len(wanted)):
        year = year_at(years, index)
        _operate_year(plant, year, wanted[index], releases[index], storages[index], columns[:, index])


@inlined
def year_at(years: YearArrays, index: int) -> YearArrays:
    """One of many years, for compiled code."""
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


@inlined
def _operate_year(
    plant: Plant,
    year: YearArrays,
    wanted: FloatArray,
    releases: FloatArray,
    storages: FloatArray,
    columns: FloatArray,
) -> None:
    start = storages[0]
    follow(year, wanted, releases, storages)
    for step in range(len(releases)):
        mean_storage = mean(storages[step], storages[step + 1])
        head = head_at(plant, mean_storage, releases[step])
        turbined = turbined_at(plant, head, releases[step])
        columns[0, step] = turbined
        columns[1, step] = curve_value(plant.level, storages[step + 1])
        columns[2, step] = curve_value(plant.level, mean_storage)
        columns[3, step] = curve_value(plant.tailrace, releases[step])
        columns[4, step] = head
        columns[5, step] = power_of(plant, head, turbined)
        columns[6, step] = violation_at(year, step, storages[step + 1], start)
