"""What a method of synthetic inflow provides."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


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
