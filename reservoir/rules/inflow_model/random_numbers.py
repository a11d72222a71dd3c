"""Random numbers of members, each made by itself."""

from __future__ import annotations

import numpy as np

from reservoir.rules.base.training import FloatArray

#: Below every uniform number, so that its normal quantile is finite.
_LEAST_UNIFORM = 2.0**-54


def uniform_numbers(seed: int, first: int, stop: int, years: int, steps: int, stream: int = 0) -> FloatArray:
    """Uniform numbers in (0, 1) of the members `first` up to `stop`, shape (stop - first, years, steps).

    Counter-based (Philox; Salmon et al. 2011): the member is part of the counter, so that every member can be made by
    itself; more years continue its numbers. Streams of one seed are independent.
    """
    numbers = np.empty((stop - first, years, steps))
    for place, member in enumerate(range(first, stop)):
        counter = np.array([0, 0, 0, member], np.uint64)
        generator = np.random.Generator(np.random.Philox(key=np.array([seed, stream], np.uint64), counter=counter))
        generator.random(out=numbers[place])
    return np.maximum(numbers, _LEAST_UNIFORM, out=numbers)
