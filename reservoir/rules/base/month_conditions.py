"""What a rule that looks ahead reckons with besides the plant: losses, demands and the objective of each month."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.benefit import StepTerms
from reservoir.hydro.conditions import StepConditions
from reservoir.hydro.curves.joined_lines import joined_lines
from reservoir.hydro.record_rows import UNLIMITED
from reservoir.hydro.units import HM3_PER_KM2_MM
from reservoir.rules.base.fields import Block, Monthly, Number, Numbers, Rising, as_long_as
from reservoir.rules.base.rule import Months
from reservoir.rules.base.training import Training

#: Points of the curves of area and seepage.
POINTS = 101
#: A demand of less volume counts as so much, hm3.
_LITTLE_HM3 = 1e-6


def _mean_of_years(row: NDArray[np.float64]) -> tuple[float, ...]:
    """Mean of each step; the years are added up one after the other also where their row is stored once."""
    return tuple(np.array(row).mean(axis=0).tolist())


class LakeMonths(Block):
    """Losses of the lake and demands on the plant, means of the training years.

    Parameters
    ----------
    evaporation_mm, withdrawal_m3s, plant_factor, power_lower_mw : tuple of float
        Net evaporation, withdrawal demanded, part of the month in which the turbines can run, and lowest power.
    storage_hm3, area_km2, seepage_m3s : tuple of float
        Area and seepage by storage, joined by straight lines.
    operating_storage_hm3 : float
        Mean storage below which the turbines stand still.
    """

    evaporation_mm: Monthly
    withdrawal_m3s: Monthly
    plant_factor: Monthly
    power_lower_mw: Monthly
    storage_hm3: Rising
    area_km2: Annotated[Numbers, as_long_as("storage_hm3")]
    seepage_m3s: Annotated[Numbers, as_long_as("storage_hm3")]
    operating_storage_hm3: Number

    @classmethod
    def of(cls, training: Training) -> Self | None:
        """Those of the training years; None where there are none."""
        limits, plant = training.limits, training.model.reservoir
        if not limits.lake:
            return None
        storage = np.linspace(plant.storage_lower_hm3.min(), plant.storage_upper_hm3.max(), POINTS)
        names = ("evaporation_mm", "withdrawal_m3s", "plant_factor", "power_lower_mw")
        return cls(
            **{name: _mean_of_years(getattr(limits, name)) for name in names},
            storage_hm3=storage.tolist(),
            area_km2=np.asarray(limits.lake.area(storage)).tolist(),
            seepage_m3s=np.asarray(limits.lake.seepage(storage)).tolist(),
            operating_storage_hm3=float(limits.operating_storage[0]),
        )

    def at(self, step: int, months: Months) -> StepConditions:
        """Conditions of a step."""
        volume = months.volume_per_flow
        most = max(flow * per_flow for flow, per_flow in zip(self.withdrawal_m3s, volume, strict=True))
        area, seepage = self._curves
        return StepConditions(
            evaporation=self.evaporation_mm[step] * HM3_PER_KM2_MM,
            withdrawal=self.withdrawal_m3s[step],
            plant_factor=self.plant_factor[step],
            power_lower=self.power_lower_mw[step],
            area=area,
            seepage=seepage,
            operating_storage=self.operating_storage_hm3,
            ramp_up=np.inf,
            ramp_down=np.inf,
            per_shortage=volume[step] / max(most, _LITTLE_HM3),
        )

    @cached_property
    def _curves(self) -> tuple[Any, Any]:
        return joined_lines(self.storage_hm3, self.area_km2), joined_lines(self.storage_hm3, self.seepage_m3s)


class ObjectiveMonths(Block):
    """What a month's power and release are worth, in the unit of the objective, where that is not energy.

    The fields are those of `StepTerms` with the same names, means of the training years.
    """

    offset: Monthly
    power_value: Monthly
    power_target: Monthly
    power_cost_squared: Monthly
    supply_target: Monthly
    supply_cost_squared: Monthly

    @classmethod
    def of(cls, training: Training) -> Self | None:
        """Those of the training years; None where the objective is energy."""
        limits = training.limits
        if not limits.priced:
            return None
        return cls(**{name: _mean_of_years(getattr(limits, name)) for name in cls.model_fields})

    def at(self, step: int) -> StepTerms:
        """Terms of a step."""
        values = {name: getattr(self, name)[step] for name in type(self).model_fields}
        return StepTerms(**values, power_cost=0.0, power_cost_most=UNLIMITED)
