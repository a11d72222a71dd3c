"""One month of a reservoir as dynamic programming sees it: what releases come to, many at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reservoir.hydro.units import GWH_PER_MW_VOLUME
from reservoir.rules.base.monthly import Months
from reservoir.rules.base.training import FloatArray, Training
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
        lower, upper = (plant.by_step(each) for each in (plant.storage_lower_hm3, plant.storage_upper_hm3))
        table, bounds = PlantTable.of(plant), (tuple(lower.tolist()), tuple(upper.tolist()))
        return cls(Months.of(training), table, *bounds, float(plant.penalty_gwh))

    def releases(self, step: int, storage: FloatArray, least_inflow: FloatArray, most_inflow: FloatArray) -> FloatArray:
        """Releases worth comparing, along a new first axis.

        They run from what fills the reservoir at the least inflow to what empties it at the most.
        """
        volume = self.months.volume_per_flow[step]
        filling = least_inflow - (self.storage_upper_hm3[step] - storage) / volume
        emptying = most_inflow - (self.storage_lower_hm3[step] - storage) / volume
        bounds = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        return np.linspace(np.clip(filling, *bounds), np.clip(emptying, *bounds), RELEASES)

    def after(
        self, step: int, storage: ArrayLike, release: FloatArray, inflow: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """End storage of a step, repaired as in the simulation, and its energy less the cost of violations."""
        volume = self.months.volume_per_flow[step]
        least, most = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        start = np.asarray(storage, float)
        wanted = start + (inflow - np.clip(release, least, most)) * volume
        target = np.clip(wanted, self.storage_lower_hm3[step], self.storage_upper_hm3[step])
        kept = np.clip(inflow - (target - start) / volume, least, most)
        end = start + (inflow - kept) * volume
        energy = self.plant.power_mw((start + end) / 2, kept) * volume * GWH_PER_MW_VOLUME
        return end, energy - self.penalty_gwh * self._violation(step, end)

    def _violation(self, step: int, end: FloatArray) -> FloatArray:
        """Relative violation of the storage bounds (eq. 20)."""
        capacity = max(self.storage_upper_hm3)
        lower, upper = self.storage_lower_hm3[step], self.storage_upper_hm3[step]
        below, above = np.maximum(lower - end, 0.0), np.maximum(end - upper, 0.0)
        # Repair lets the end stand a rounding beyond its bound, which is no violation.
        beyond = below / (lower if lower > 0 else capacity) + above / (upper if upper > 0 else capacity)
        return np.where(beyond > 1e-9, beyond, 0.0)
