"""Benefit, violation cost and fitness of a year's releases (Yu et al. 2020, eq. 6, 20 and 21)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import stage_benefit
from reservoir.hydro.compiled_year import follow, missing_at, violation_at, year_at
from reservoir.hydro.conditions import (
    demanded,
    released,
    step_losses,
    unmet,
    unmet_power,
    while_operating,
)
from reservoir.hydro.elementwise import curve_value, mean
from reservoir.hydro.jit import compiled, inlined
from reservoir.hydro.plant import Plant
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.rows import BANK_STORAGE, HM3_PER_M3S, INFLOW, RECORDED_EVAPORATION, RELEASE_LOWER, YearRows
from reservoir.hydro.step import REPAIR_TOLERANCE, head_at, power_of, turbined_at, volume_gained
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.runtime import processors

#: Years of a block at least: fewer take a thread less time than it takes to start.
LEAST_YEARS = 512


def in_blocks(work: Callable[[int, int], None], years: int) -> None:
    """Do `work` for all years, in as many blocks as there are processors, each on a thread; few years in one.

    Parameters
    ----------
    work : callable
        Told the place of a block's first year, and that behind its last; fills arrays of all years there.
    years : int
    """
    count = min(processors(), years // LEAST_YEARS)
    if count <= 1:
        work(0, years)
        return
    ends = np.linspace(0, years, count + 1).astype(int).tolist()
    with ThreadPoolExecutor(count) as pool:
        for done in [pool.submit(work, first, stop) for first, stop in pairwise(ends)]:
            done.result()


FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Operation:
    """What the releases of years come to, in float64; arrays of shape (years, steps) unless said otherwise.

    ``storage_hm3`` has shape (years, steps + 1): the start and the end of each step. ``violation`` is relative (eq.
    20), that of shortages, of the lowest power and of the change of release included; without ``has_conditions`` there
    are no losses, and no shortage but ``missing_m3s``, by which a release is less than its least because there was no
    more water. ``stage_benefit`` is in the unit of the objective: the energy, if it is that.
    ``operation[i]`` is one year: the same without the axis of years.
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
    stage_benefit: FloatArray
    violation: FloatArray
    evaporation_hm3: FloatArray
    seepage_hm3: FloatArray
    withdrawal_m3s: FloatArray
    shortage_m3s: FloatArray
    missing_m3s: FloatArray
    has_conditions: bool = False

    def __len__(self) -> int:
        return len(self.release_m3s)

    def __getitem__(self, years: int | slice) -> Operation:
        return self._of(lambda array: array[years])

    def _of(self, changed: Callable[..., Any], *others: Operation) -> Operation:
        """Of each array, and of those of other operations, what a function makes of them."""
        operations = (self, *others)
        arrays: dict[str, Any] = {name: changed(*(getattr(each, name) for each in operations)) for name in _ARRAYS}
        return replace(self, **arrays)

    @property
    def spill_m3s(self) -> FloatArray:
        """Released past the turbines."""
        return self.release_m3s - self.turbined_m3s

    @property
    def draft_m3s(self) -> FloatArray:
        """Releases less what withdrawals were cut by (`conditions`): what `operate` makes this operation of."""
        return self.release_m3s - self.shortage_m3s

    @property
    def annual_energy_gwh(self) -> FloatArray:
        """Energy of each year, shape (years,)."""
        return np.asarray(self.energy_gwh.sum(axis=-1))

    @property
    def benefit(self) -> FloatArray:
        """Benefit of each year (eq. 6), in the unit of the objective, shape (years,)."""
        return np.asarray(self.stage_benefit.sum(axis=-1))

    @property
    def violation_sum(self) -> FloatArray:
        """Sum of the relative violations of each year (eq. 20), shape (years,)."""
        return np.asarray(self.violation.sum(axis=-1))

    def in_years(self, steps: int) -> Operation:
        """Horizons of several years as years of so many steps each: the same storages, a row a year."""
        if self.release_m3s.shape[-1] == steps:
            return self
        starts, ends = (each.reshape(-1, steps) for each in (self.storage_hm3[:, :-1], self.storage_hm3[:, 1:]))
        storage = np.concatenate([starts[:, :1], ends], axis=1)
        return self._of(lambda array: storage if array is self.storage_hm3 else array.reshape(-1, steps))

    def fitness(self, penalty: float) -> FloatArray:
        """Benefit less violation cost of each year (eq. 21), shape (years,)."""
        return self.benefit - penalty * self.violation_sum


#: Of a reservoir, or of a system.
Operated = TypeVar("Operated")


def joined(operations: Sequence[Operated]) -> Operated:
    """Years of several operations behind each other; at least one."""
    first: Any
    first, *others = operations
    behind: Operated = first._of(lambda *arrays: np.concatenate(arrays), *others) if others else first
    return behind


def better_of(one: Operation, other: Operation, better: NDArray[np.bool_]) -> Operation:
    """Each year of one operation, or of the other where that is better, shape (years,), or () of one year."""
    return one._of(lambda of_one, of_other: np.where(better[..., np.newaxis], of_other, of_one), other)


#: The fields of `Operation` that are arrays.
_ARRAYS = tuple(field.name for field in fields(Operation) if field.name != "has_conditions")


def operate(
    plant: Plant, years: YearRows, releases_m3s: FloatArray, start_hm3: float | FloatArray | None = None
) -> Operation:
    """Run years of one plant with given releases, repairing them (eq. 18-19), with exact curves.

    Parameters
    ----------
    plant : Plant
        From `exact_plant`.
    years : YearRows
        From `Limits.arrays`, in float64: of years, or of one year.
    releases_m3s : ndarray, shape (years, steps), or (steps,) for one year
        Releases wanted.
    start_hm3 : ndarray, shape (years,), or float for one year
        Storages at the start of cyclic years.
    """
    wanted = np.clip(np.asarray(releases_m3s, np.float64), years.release_lower, years.release_upper)
    if wanted.ndim == 1:
        return operate(plant, years.as_many, wanted[np.newaxis], start_hm3)[0]
    count, steps = wanted.shape
    drafts = np.empty((count, steps))
    storages = np.empty((count, steps + 1))
    storages[:, 0] = years.start if start_hm3 is None else start_hm3
    columns = np.zeros((len(_COLUMNS) if years.lake else _PLAIN_COLUMNS, count, steps))
    in_blocks(partial(_operate, plant, years, wanted, drafts, storages, columns), count)
    for array in (drafts, columns):
        array += 0.0  # no zero has a sign
    missing = np.asarray(years.release_lower) - drafts
    missing[missing <= NOT_MISSING * np.asarray(years.release_upper)] = 0.0
    arrays = dict.fromkeys(_COLUMNS, np.broadcast_to(0.0, drafts.shape)) | {"release_m3s": drafts}
    arrays |= dict(zip(_COLUMNS, columns, strict=False))
    arrays |= {"storage_hm3": storages, "missing_m3s": missing}
    power = arrays["power_mw"]
    arrays["energy_gwh"] = arrays["stage_benefit"] = power * years.hm3_per_m3s * GWH_PER_MW_VOLUME
    if years.priced:
        of_step = years.by_field, (slice(None), slice(None))
        arrays["stage_benefit"] = stage_benefit(*of_step, power, arrays["release_m3s"], years.hm3_per_m3s)
    for array in arrays.values():
        array.setflags(write=False)
    return Operation(**arrays, has_conditions=bool(years.lake))


#: A release is missing less than this part of the most by rounding.
NOT_MISSING = 1e-9
#: What `_operate` fills in of each step: all but the last five without losses and demands, too.
_COLUMNS = (
    *("turbined_m3s", "level_m", "mean_level_m", "tailrace_m", "head_m", "power_mw", "violation"),
    *("release_m3s", "evaporation_hm3", "seepage_hm3", "withdrawal_m3s", "shortage_m3s"),
)
_PLAIN_COLUMNS = len(_COLUMNS) - 5


@compiled
def _operate(
    plant: Plant,
    years: YearRows,
    wanted: FloatArray,
    drafts: FloatArray,
    storages: FloatArray,
    columns: FloatArray,
    first: int,
    stop: int,
) -> None:
    for index in range(first, stop):
        year = year_at(years, index)
        _operate_year(plant, year, wanted[index], drafts[index], storages[index], columns[:, index])


@inlined
def _operate_year(
    plant: Plant,
    year: YearRows,
    wanted: FloatArray,
    drafts: FloatArray,
    storages: FloatArray,
    columns: FloatArray,
) -> None:
    start = storages[0]
    follow(year, wanted, drafts, storages)
    before = drafts[0]
    for step in range(len(drafts)):
        mean_storage = mean(storages[step], storages[step + 1])
        release = released(year, step, drafts[step], year.rows[RELEASE_LOWER, step])
        head = head_at(plant, mean_storage, release, year, step)
        turbined = while_operating(year, mean_storage, turbined_at(plant, head, release, year, step))
        power = power_of(plant, head, turbined, year, step)
        columns[0, step] = turbined
        columns[1, step] = curve_value(plant.level, storages[step + 1])
        columns[2, step] = curve_value(plant.level, mean_storage)
        columns[3, step] = curve_value(plant.tailrace, release)
        columns[4, step] = head
        columns[5, step] = power
        columns[6, step] = (
            violation_at(year, step, storages[step + 1], start)
            + missing_at(year, step, drafts[step])
            + unmet(year, step, drafts[step], release, before if step > 0 else release)
            + unmet_power(year, step, power)
        )
        before = release
        if len(columns) > _PLAIN_COLUMNS:
            evaporated, seeped = step_losses(year, step, mean_storage, year.rows[HM3_PER_M3S, step])
            recorded = year.rows[RECORDED_EVAPORATION, step] + year.rows[BANK_STORAGE, step]
            evaporated = evaporated + year.rows[RECORDED_EVAPORATION, step]
            seeped = seeped + year.rows[BANK_STORAGE, step]
            if storages[step + 1] <= 0.0 < evaporated + seeped:  # of an empty lake no more is lost than there was
                gained = volume_gained(year.rows[INFLOW, step], drafts[step], year.rows[HM3_PER_M3S, step])
                lost = (storages[step] + gained + recorded - storages[step + 1]) / (evaporated + seeped)
                evaporated, seeped = evaporated * lost, seeped * lost
            columns[7, step] = release
            columns[8, step], columns[9, step] = evaporated, seeped
            columns[11, step] = release - drafts[step]
            columns[10, step] = demanded(year, step) - columns[11, step]


def repaired(reservoir: Reservoir, operation: Operation, asked_m3s: FloatArray) -> NDArray[np.bool_]:
    """Where the physical limits changed the release that was asked for, shape (years, steps)."""
    moved = np.abs(operation.release_m3s - asked_m3s)
    return np.asarray(moved > REPAIR_TOLERANCE * float(reservoir.release_upper_m3s.max()))
