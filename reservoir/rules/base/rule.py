"""What a monthly operation rule is, and what it may know.

A rule sees the month, the storage at its start, the inflow of the month before and, with a one-month forecast, the
inflow of the month itself. It never sees the future: there is no argument through which it could.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from reservoir.rules.base.fields import Block
from reservoir.rules.base.monthly import Months
from reservoir.rules.base.training import FloatArray, Training
from reservoir.rules.base.wording import validated

if TYPE_CHECKING:
    from reservoir.rules.families.sdp.month_physics import Physics


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
    def release(self, step: int, storage_hm3: float, inflow_now_m3s: float | None, inflow_before_m3s: float) -> float:
        """Release (m3/s) wanted in a step.

        Parameters
        ----------
        step : int
            Step of the water year, from 0.
        storage_hm3 : float
            Storage at the start of the step.
        inflow_now_m3s : float or None
            Mean inflow of the step; None where `forecast` is ``none``.
        inflow_before_m3s : float
            Mean inflow of the step before.
        """

    def releases(
        self, step: int, storage_hm3: FloatArray, inflow_now_m3s: FloatArray | None, inflow_before_m3s: FloatArray
    ) -> FloatArray:
        """`release` in many situations of a step at once, arrays of shape (situations,).

        A family that can work them all out together does so: of ensembles there are millions.
        """
        known = [None] * len(storage_hm3) if inflow_now_m3s is None else inflow_now_m3s.tolist()
        situations = zip(storage_hm3.tolist(), known, inflow_before_m3s.tolist(), strict=True)
        return np.array([self.release(step, *each) for each in situations])

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
    def physics(self) -> Physics | None:
        """What releases of a month come to; None of a rule that does not work it out."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Everything that makes the rule, as JSON can hold it; `from_dict` gives back an equal one."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Read back what `to_dict` gave.

        Raises
        ------
        InputError
            With every mistake in it.
        """
        return validated(cls, content)
