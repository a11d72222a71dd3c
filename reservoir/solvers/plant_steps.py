"""What plants of a system do in steps near a schedule, as arrays of years: what `slp` and `dpsa` build on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.conditions import available, loss_volume, most_power
from reservoir.hydro.elementwise import curve_value, mean
from reservoir.hydro.plant import Plant, plant_of
from reservoir.hydro.rows import (
    HM3_PER_M3S,
    POWER_VALUE,
    TAILWATER,
    UNLIMITED,
    Lake,
    YearRows,
)
from reservoir.hydro.step import head_at, power_at, turbined_at
from reservoir.hydro.system_operation import SystemOperation
from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.problems.system import SystemYears

FloatArray = NDArray[np.float64]
#: All years and steps.
EVERYWHERE: tuple[Any, Any] = (slice(None), slice(None))


class PlantSteps(NamedTuple):
    """Steps of one plant with what links bring to it and the level of the lake below.

    Parameters
    ----------
    years : ReservoirYears
    plant : Plant
        Curves as functions of arrays.
    rows : YearRows
        Of all years (`YearRows.by_field`).
    mean_storage_hm3, release_m3s : ndarray, shape (years, steps)
        Of the schedule.
    """

    years: ReservoirYears
    plant: Plant
    rows: YearRows
    mean_storage_hm3: FloatArray
    release_m3s: FloatArray

    @classmethod
    def of(cls, batch: SystemYears, operation: SystemOperation, place: int) -> PlantSteps:
        """Of the reservoir at a place."""
        below, own = batch.system.backed_up_by(place), operation.of_reservoirs[place]
        level = None if below is None else operation.of_reservoirs[below].mean_level_m
        years = batch.linked(place, operation.arriving_m3s[place], level)
        storages = mean(own.storage_hm3[:, :-1], own.storage_hm3[:, 1:])
        plant = plant_of(years.model.reservoir)
        rows = years.exact_year.by_field
        if rows.lake:
            rows = rows._replace(lake=Lake(*years.limits.lake))
        return cls(years, plant, rows, storages, own.draft_m3s)

    def backed_up(self, level_m: FloatArray) -> PlantSteps:
        """With another level of the lake below, shape (..., years, steps)."""
        rows: Any = list(self.rows.rows)
        rows[TAILWATER] = level_m
        return self._replace(rows=self.rows._replace(rows=rows))

    def power_mw(self, storage_hm3: FloatArray, release_m3s: FloatArray, *, capped: bool = True) -> FloatArray:
        """Power of mean storages and releases, shape (..., years, steps); also of more than is installed."""
        plant = self.plant if capped else self.plant._replace(installed_mw=UNLIMITED)
        return np.asarray(power_at(plant, storage_hm3, release_m3s, self.rows, EVERYWHERE))

    def level_m(self, storage_hm3: FloatArray) -> FloatArray:
        """Forebay level at mean storages."""
        return np.asarray(curve_value(self.plant.level, storage_hm3))

    def turbines_m3s(self, storage_hm3: FloatArray, release_m3s: FloatArray) -> FloatArray:
        """What the turbines let through at the head of a release, whatever is installed."""
        head = head_at(self.plant, storage_hm3, release_m3s, self.rows, EVERYWHERE)
        return np.asarray(available(self.rows, EVERYWHERE, curve_value(self.plant.capacity, head)))

    def most_turbined_m3s(self, storage_hm3: FloatArray, release_m3s: FloatArray) -> FloatArray:
        """What the turbines let through at the head of a release, of as much power as is installed."""
        head = head_at(self.plant, storage_hm3, release_m3s, self.rows, EVERYWHERE)
        return np.asarray(turbined_at(self.plant, head, np.full_like(head, UNLIMITED), self.rows, EVERYWHERE))

    @property
    def most_mw(self) -> FloatArray:
        """Most power of each step, shape (years, steps)."""
        most = most_power(self.rows, EVERYWHERE, self.plant.installed_mw)
        return np.broadcast_to(most, self.release_m3s.shape)

    def loss_hm3(self, storage_hm3: FloatArray) -> FloatArray:
        """Evaporation and seepage at mean storages."""
        lost = loss_volume(self.rows, EVERYWHERE, storage_hm3, self.rows.rows[HM3_PER_M3S])
        return np.broadcast_to(lost, storage_hm3.shape)

    @property
    def per_mw(self) -> FloatArray:
        """What a MW of each step is worth to this plant by itself, in the unit of the objective."""
        if not self.rows.priced:
            return np.asarray(self.rows.rows[HM3_PER_M3S] * GWH_PER_MW_VOLUME)
        return np.asarray(self.rows.rows[POWER_VALUE])
