"""One month of a reservoir as dynamic programming sees it: what releases come to, many at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from reservoir.hydro.benefit import NO_TERMS, in_objective_unit, stage_benefit
from reservoir.hydro.conditions import NO_CONDITIONS, demanded, released, unmet, unmet_power
from reservoir.hydro.elementwise import mean
from reservoir.hydro.step import (
    enforce_limits,
    power_at,
    relative_violation,
    release_to_reach,
    storage_after,
    unmet_minimum,
)
from reservoir.rules.base.month_conditions import LakeMonths, ObjectiveMonths
from reservoir.rules.base.monthly import Months
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.base.violations import ROUNDING
from reservoir.rules.families.sdp.plant_table import BELOW_BOUNDS, PlantTable, continued_below

#: Releases compared in a decision, which then looks between the best one's neighbours.
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
        Cost of a relative violation of 1, in the unit of the objective (eq. 21).
    lake : LakeMonths or None
        Losses and demands, if there are any.
    objective : ObjectiveMonths or None
        What is optimised, unless it is energy.
    """

    months: Months
    plant: PlantTable
    storage_lower_hm3: tuple[float, ...]
    storage_upper_hm3: tuple[float, ...]
    penalty_gwh: float
    lake: LakeMonths | None = None
    objective: ObjectiveMonths | None = None

    @classmethod
    def of(cls, training: Training) -> Physics:
        """The months of the training years."""
        plant = training.model.reservoir
        lower, upper = map(tuple, plant.storage_bounds_hm3.tolist())
        further = LakeMonths.of(training), ObjectiveMonths.of(training)
        return cls(Months.of(training), PlantTable.of(plant), lower, upper, float(plant.penalty), *further)

    def value_grid(self, count: int) -> FloatArray:
        """Storages that values are known at, evenly apart: so many between the bounds, and more below.

        In a drought a lake that loses more than flows in is below its bounds for months, each of which costs. Values
        that end at the lowest bound would forgive it after one.
        """
        lowest, highest = min(self.storage_lower_hm3), max(self.storage_upper_hm3)
        highest = max(highest, lowest + 1e-6 * max(abs(lowest), 1.0))
        known = max(self.plant.storage_hm3[0], lowest - BELOW_BOUNDS * (highest - lowest), 0.0)
        return continued_below(np.linspace(lowest, highest, count), known)

    def conditions(self, step: int) -> Any:
        """Losses and demands of a step (`StepConditions`), or nothing."""
        return NO_CONDITIONS if self.lake is None else self.lake.at(step, self.months)

    def terms(self, step: int) -> Any:
        """Terms of the objective in a step (`StepTerms`), or nothing where it is energy."""
        return NO_TERMS if self.objective is None else self.objective.at(step)

    def releases(
        self,
        step: int,
        storage: FloatArray,
        least_inflow: FloatArray,
        most_inflow: FloatArray,
        count: int = RELEASES,
    ) -> FloatArray:
        """Releases to compare, so many, along a new first axis.

        They run from what fills the reservoir at the least inflow to what empties it at the most.
        """
        volume, loss = self.months.volume_per_flow[step], self.months.loss_m3s[step]
        filling = release_to_reach(storage, self.storage_upper_hm3[step], least_inflow - loss, volume)
        emptying = release_to_reach(storage, self.storage_lower_hm3[step], most_inflow - loss, volume)
        bounds = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        return np.linspace(np.clip(filling, *bounds), np.clip(emptying, *bounds), count)

    def made(self, step: int, storage: float, release: FloatArray, inflow: float) -> FloatArray:
        """Benefit of releases of a step as they are: beyond the bounds of storage there is neither repair nor cost."""
        volume, conditions, terms = self.months.volume_per_flow[step], self.conditions(step), self.terms(step)
        start = np.asarray(storage, float)
        end = storage_after(
            start, np.asarray(inflow - demanded(conditions)), release - demanded(conditions), volume, conditions
        )
        power = power_at(self.plant.curves, mean(start, end), release, conditions)
        return np.asarray(in_objective_unit(terms, stage_benefit(terms, power, release, volume)))

    def after(
        self, step: int, storage: ArrayLike, release: FloatArray, inflow: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """End storage of a step, repaired as in the simulation, and its benefit less the cost of violations."""
        volume, start = self.months.volume_per_flow[step], np.asarray(storage, float)
        storages = self.storage_lower_hm3[step], self.storage_upper_hm3[step]
        releases = self.months.release_lower_m3s[step], self.months.release_upper_m3s[step]
        conditions, terms = self.conditions(step), self.terms(step)
        drafts = releases[0] - demanded(conditions), releases[1]
        wanted, gain = np.clip(release, *releases), inflow - demanded(conditions)
        dead = min(self.storage_lower_hm3)
        draft, end = enforce_limits(start, wanted, gain, volume, storages, drafts, dead, conditions)
        kept = released(conditions, draft, drafts[0])
        power = power_at(self.plant.curves, mean(start, end), kept, conditions)
        violation = relative_violation(np.maximum(end, dead), *storages, max(self.storage_upper_hm3))
        # Repair lets the end stand a rounding beyond its bound, which is no violation.
        violation = np.where(violation > ROUNDING, violation, 0.0)
        violation = violation + unmet(conditions, draft, kept, kept) + unmet_power(conditions, power)
        violation = violation + unmet_minimum(draft, drafts[0], self.months.per_missing_hm3 * volume)
        benefit = in_objective_unit(terms, stage_benefit(terms, power, kept, volume))
        return end, benefit - self.penalty_gwh * violation
