"""What a method of synthetic inflow provides."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.rules.inflow_model.monthly_regression import uniform_numbers
from reservoir.rules.inflow_model.standardised import StandardisedMonths

FloatArray = NDArray[np.float64]

#: Years that a method makes to know what it makes of the months of a river that falls dry, of random numbers that are
#: the same for every seed.
_TRIAL_YEARS, _TRIAL_STREAM = 20_000, 1


class FlowModel(Protocol):
    """A method fitted to a record.

    Attributes
    ----------
    lead_years : int
        Years of random numbers that it consumes before the first year of flows.
    """

    lead_years: int

    def flows(self, uniform: FloatArray) -> FloatArray:
        """Flows (m3/s), shape (members, years, steps), from uniform numbers (members, lead_years + years, steps).

        A member depends on its own numbers alone, and its first years on their first numbers.
        """
        ...


class ValueModel(Protocol):
    """A method whose flows are those of standardised values of the months; a frozen dataclass."""

    @property
    def months(self) -> StandardisedMonths:
        """How flows are standardised."""

    @property
    def lead_years(self) -> int:
        """See `FlowModel`."""

    def values(self, uniform: FloatArray) -> FloatArray:
        """Standardised values, shape (members, years, steps); see `FlowModel.flows`."""
        ...


Model = TypeVar("Model", bound=ValueModel)


def as_recorded(model: Model, flow_m3s: FloatArray) -> Model:
    """The method with the means of the record and as many dry years, if the river falls dry; else as it is.

    The values of a dry month are no more normal than its flows, and what a method makes of them neither.
    """
    if not model.months.apart:
        return model
    years, steps = flow_m3s.shape
    numbers = uniform_numbers(0, 0, -(-_TRIAL_YEARS // years), model.lead_years + years, steps, _TRIAL_STREAM)
    values = model.values(numbers)
    return replace(model, months=model.months.as_made(values).with_mean(flow_m3s.mean(axis=0), values))  # type: ignore[type-var]
