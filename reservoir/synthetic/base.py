"""What a method of synthetic inflow provides, and the random numbers that it is given."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Below every uniform number, so that its normal quantile is finite.
_LEAST_UNIFORM = 2.0**-54


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


def uniform_numbers(seed: int, first: int, stop: int, years: int, steps: int) -> FloatArray:
    """Uniform numbers in (0, 1) of the members `first` up to `stop`, shape (stop - first, years, steps).

    Counter-based (Philox; Salmon et al. 2011): the member is part of the counter, so that every member can be made by
    itself; more years continue its numbers.
    """
    numbers = np.empty((stop - first, years, steps))
    for place, member in enumerate(range(first, stop)):
        counter = np.array([0, 0, 0, member], np.uint64)
        generator = np.random.Generator(np.random.Philox(key=np.array([seed, 0], np.uint64), counter=counter))
        generator.random(out=numbers[place])
    return np.maximum(numbers, _LEAST_UNIFORM, out=numbers)
