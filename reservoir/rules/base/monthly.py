"""What every family needs of a reservoir by step: bounds, and the volume that a flow carries in a month."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.step import release_to_reach
from reservoir.rules.base.fields import Block, CalendarMonths, Monthly, MonthlyVolume, not_below
from reservoir.rules.base.training import FloatArray, Training


class Months(Block):
    """The months of a water year as rules know them; one value a step.

    Parameters
    ----------
    calendar_month : tuple of int
        1 to 12, in calendar order from the first month of the water year.
    volume_per_flow : tuple of float
        hm3 that 1 m3/s carries in the month, its mean over the training years (February has 28.25 days or so).
    inflow_m3s : tuple of float
        Mean inflow, used where the month's own is not known.
    release_lower_m3s, release_upper_m3s : tuple of float
        Bounds of the release.
    loss_m3s : tuple of float
        Evaporation, seepage and withdrawals of the month, as a flow: their mean over the training years.
    """

    calendar_month: CalendarMonths
    volume_per_flow: MonthlyVolume
    inflow_m3s: Monthly
    release_lower_m3s: Monthly
    release_upper_m3s: Annotated[Monthly, not_below("release_lower_m3s")]
    loss_m3s: Monthly = (0.0,) * MONTHS_PER_YEAR

    @classmethod
    def of(cls, training: Training) -> Months:
        """The months of the training years."""
        plant = training.model.reservoir
        release_lower, release_upper = plant.release_bounds_m3s.tolist()
        return cls(
            calendar_month=plant.months.tolist(),
            volume_per_flow=training.hm3_per_m3s.mean(axis=0).tolist(),
            inflow_m3s=training.inflow_m3s.mean(axis=0).tolist(),
            release_lower_m3s=release_lower,
            release_upper_m3s=release_upper,
            loss_m3s=training.loss_m3s.mean(axis=0).tolist(),
        )

    @property
    def per_missing_hm3(self) -> float:
        """Relative violation of a hm3 that is missing of the least release: 1 over the largest of a month."""
        most = max(flow * volume for flow, volume in zip(self.release_lower_m3s, self.volume_per_flow, strict=True))
        return 1 / most if most > 0 else 0.0

    def expected_gain_m3s(self, step: int, inflow_m3s: float | None) -> float:
        """Inflow of a month, or its mean where it is not known, less what the month is expected to lose."""
        return (self.inflow_m3s[step] if inflow_m3s is None else inflow_m3s) - self.loss_m3s[step]

    def release_to_reach(self, step: int, storage_hm3: float, target_hm3: float, inflow_m3s: float | None) -> float:
        """Release (m3/s) that ends a step at a storage, within the bounds of the release."""
        gain = self.expected_gain_m3s(step, inflow_m3s)
        wanted = release_to_reach(storage_hm3, target_hm3, gain, self.volume_per_flow[step])
        return self.within_bounds(step, wanted)

    def releases_to_reach(
        self, step: int, storage_hm3: FloatArray, target_hm3: FloatArray | float, inflow_m3s: FloatArray | None
    ) -> FloatArray:
        """`release_to_reach` of many situations, shape (situations,)."""
        inflow = np.asarray(self.inflow_m3s[step]) if inflow_m3s is None else inflow_m3s
        target, gain = np.asarray(target_hm3, float), inflow - self.loss_m3s[step]
        return self.all_within_bounds(step, release_to_reach(storage_hm3, target, gain, self.volume_per_flow[step]))

    def feasible_releases(
        self, step: int, storage_hm3: float, storages_hm3: tuple[float, float], inflow_m3s: float | None
    ) -> tuple[float, float]:
        """Releases (m3/s) that end a step at the upper and at the lower of two storages, or as near as bounds allow."""
        lower, upper = storages_hm3
        filling = self.release_to_reach(step, storage_hm3, upper, inflow_m3s)
        return filling, self.release_to_reach(step, storage_hm3, lower, inflow_m3s)

    def all_feasible_releases(
        self, step: int, storage_hm3: FloatArray, storages_hm3: tuple[float, float], inflow_m3s: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """`feasible_releases` of many situations, shape (situations,)."""
        lower, upper = storages_hm3
        filling = self.releases_to_reach(step, storage_hm3, upper, inflow_m3s)
        return filling, self.releases_to_reach(step, storage_hm3, lower, inflow_m3s)

    def within_bounds(self, step: int, release_m3s: float) -> float:
        """A release (m3/s), or the bound of the release nearest to it."""
        return min(max(release_m3s, self.release_lower_m3s[step]), self.release_upper_m3s[step])

    def all_within_bounds(self, step: int, release_m3s: FloatArray) -> FloatArray:
        """`within_bounds` of many releases, shape (situations,)."""
        return np.asarray(np.clip(release_m3s, self.release_lower_m3s[step], self.release_upper_m3s[step]))
