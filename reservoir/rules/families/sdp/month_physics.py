"""One month of a reservoir as dynamic programming sees it: what releases come to, many at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reservoir.hydro.benefit import NO_TERMS, in_objective_unit, stage_benefit
from reservoir.hydro.elementwise import mean
from reservoir.hydro.step import enforce_limits, power_at, relative_violation, release_to_reach
from reservoir.rules.base.monthly import Months
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.base.violations import ROUNDING
from reservoir.rules.families.sdp.plant_table import PlantTable

#: Releases compared.
RELEASES = 61


@dataclass(frozen=True)
class Physics:
    """One month of a reservoir: what a release comes to once the physical limits are kept.

    Parameters
    ----------
    months : Months
        Bounds of the release, and the volume of a flow.
    plant : PlantTable
    storage_lower_hm3, storage_upper_hm3 : tuple of float
        Bounds of the storage at the end of each step.
    penalty_gwh : float
        Cost of a relative violation of 1 (eq. 21).
    """

    months: Months
    plant: PlantTable
    storage_lower_hm3: tuple[float, ...]
    storage_upper_hm3: tuple[float, ...]
    penalty_gwh: float

    @classmethod
    def of(cls, training: Training) -> Physics:
        """The months of the training years."""
        plant = training.model.reservoir
        lower, upper = map(tuple, plant.storage_bounds_hm3.tolist())
        return cls(Months.of(training), PlantTable.of(plant), lower, upper, float(plant.penalty))

    def releases(self, step: int, storage: FloatArray, least_inflow: FloatArray, most_inflow: FloatArray) -> FloatArray:
        """Releases to compare, along a new first axis.

        They run from what fills the reservoir at the least inflow to what empties it at the most.
        """
        volume = self.months.volume_per_flow[step]
        filling = release_to_reach(storage, self.storage_upper_hm3[step], least_inflow, volume)
        emptying = release_to_reach(storage, self.storage_lower_hm3[step], most_inflow, volume)
        bounds = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        return np.linspace(np.clip(filling, *bounds), np.clip(emptying, *bounds), RELEASES)

    def after(
        self, step: int, storage: ArrayLike, release: FloatArray, inflow: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """End storage of a step, repaired as in the simulation, and its energy less the cost of violations."""
        volume, start = self.months.volume_per_flow[step], np.asarray(storage, float)
        storages = self.storage_lower_hm3[step], self.storage_upper_hm3[step]
        releases = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        kept, end = enforce_limits(start, np.clip(release, *releases), inflow, volume, storages, releases)
        power = power_at(self.plant.curves, mean(start, end), kept)
        violation = relative_violation(end, *storages, max(self.storage_upper_hm3))
        # Repair lets the end stand a rounding beyond its bound, which is no violation.
        cost = self.penalty_gwh * np.where(violation > ROUNDING, violation, 0.0)
        return end, in_objective_unit(NO_TERMS, stage_benefit(NO_TERMS, power, kept, volume)) - cost
