"""What a monthly operation rule is, what it may know, and what every family needs of a reservoir by month.

A rule sees the month, the storage at its start, the inflow of the month before and, with a one-month forecast, the
inflow of the month itself. It never sees the future: there is no argument through which it could.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Annotated, Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import PrivateAttr

from reservoir.hydro.calendar import MONTHS_PER_YEAR
from reservoir.hydro.elementwise import clip
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

    def releases_to_reach(
        self, step: int, storage_hm3: FloatArray, target_hm3: FloatArray | float, inflow_m3s: FloatArray | None
    ) -> FloatArray:
        """Releases (m3/s) that end a step at a storage, within the bounds of the release, shape (situations,).

        They reckon with the inflow, or its mean where it is not known, less what the month is expected to lose.
        """
        inflow = np.asarray(self.inflow_m3s[step]) if inflow_m3s is None else inflow_m3s
        target, gain = np.asarray(target_hm3, float), inflow - self.loss_m3s[step]
        return self.within_bounds(step, release_to_reach(storage_hm3, target, gain, self.volume_per_flow[step]))

    def feasible_releases(
        self, step: int, storage_hm3: FloatArray, storages_hm3: tuple[float, float], inflow_m3s: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Releases that end a step at the upper and at the lower of two storages, or as near as bounds allow."""
        lower, upper = storages_hm3
        filling = self.releases_to_reach(step, storage_hm3, upper, inflow_m3s)
        return filling, self.releases_to_reach(step, storage_hm3, lower, inflow_m3s)

    def within_bounds(self, step: int, release_m3s: FloatArray) -> FloatArray:
        """Releases (m3/s), or the bounds of the release nearest to them."""
        return np.asarray(clip(release_m3s, self.release_lower_m3s[step], self.release_upper_m3s[step]))


class Forecast(StrEnum):
    """What is known of a month's inflow when its release is decided."""

    MONTH = "month"
    """The mean inflow of the month (a perfect one-month forecast)."""
    NONE = "none"
    """Only the inflow of the month before."""


class Rule(Block, ABC):
    """A fitted rule of one family: a frozen object that is written to JSON and read back with every check.

    Parameters
    ----------
    family : str
        Name of the family in the registry; each family allows its own alone, by a `Literal`.
    reservoir : str
        Name of the reservoir that it was fitted for.
    forecast : Forecast
        What it may know of a month's inflow.
    months : Months
        The months of a water year.
    """

    family: str
    reservoir: str
    forecast: Forecast
    months: Months
    _upper_hm3: FloatArray | None = PrivateAttr(None)

    @classmethod
    def fitted(cls, training: Training, forecast: Forecast, **values: Any) -> Self:
        """The rule of these values, arrays among them, for the reservoir and the months of the training years."""
        return cls(
            family=get_args(cls.model_fields["family"].annotation)[0],
            reservoir=training.model.reservoir.name,
            forecast=forecast,
            months=Months.of(training),
            **{name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()},
        )

    @abstractmethod
    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """Releases (m3/s) wanted in situations of a step, shape (situations,).

        Parameters
        ----------
        step : int
            Step of the water year, from 0.
        storage_hm3 : ndarray, shape (situations,)
            Storage at the start of the step.
        inflow_now_m3s : ndarray, shape (situations,), or None
            Mean inflow of the step; None where `forecast` is ``none``.
        inflow_before_m3s : ndarray, shape (situations,)
            Mean inflow of the step before.
        """

    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """`releases` in one situation."""
        now = None if inflow_now_m3s is None else np.array([inflow_now_m3s], float)
        return float(self.releases(step, np.array([storage_hm3], float), now, np.array([inflow_before_m3s], float))[0])

    def limited(self, upper_hm3: FloatArray) -> Self:
        """The same rule for situations in which the lake may be no higher at the end of the step, shape (situations,).

        Flood space that depends on more than the month is known then, and a rule that weighs limits weighs these.
        """
        limited = self.model_copy()
        limited._upper_hm3 = upper_hm3
        return limited

    def known(self, inflow_m3s: FloatArray) -> FloatArray | None:
        """What the rule may know of these inflows of steps that it decides."""
        return inflow_m3s if self.forecast is Forecast.MONTH else None

    def prepare(
        self, steps: NDArray[np.int64], inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> None:
        """Be told what will be known of inflow in decisions to come, arrays of shape (decisions,).

        A family that can work out a part of all decisions at once does so; none of them may depend on the others.
        """

    def water_value(
        self, step: int, end_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float
    ) -> float | None:
        """What a hm3 more at the end of a step is worth, in the unit of the objective; None of a rule without values.

        Parameters
        ----------
        step, inflow_now_m3s, inflow_before_m3s
            As of `release`.
        end_hm3 : float
            Storage at the end of the step.
        """
        return None

    @property
    def physics(self) -> Any:
        """What releases of a month come to (`base.physics.Physics`); None of a rule that does not work it out."""
        return None
