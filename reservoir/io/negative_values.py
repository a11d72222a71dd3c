"""Negative values of a computed inflow: kept or set to zero, as asked, and how much water that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.text.quantities import counted

#: Dates that are named one by one.
NAMED = 6


class NegativeValues(NamedTuple):
    """The negative values of an inflow.

    Parameters
    ----------
    values : int
    hm3 : float
        The water that they take away, all together.
    percent : float
        That water, in per cent of the whole inflow with zero in their place.
    first : tuple of str
        The first of their dates.
    """

    values: int
    hm3: float
    percent: float
    first: tuple[str, ...]

    def note(self, negative: str) -> Iterator[str]:
        """What was done about them; nothing where there are none."""
        if not self.values:
            return
        more = self.values - len(self.first)
        dates = ", ".join(self.first) + (f" and {more:,} more" if more else "")
        water = f"{self.hm3:.4g} hm3 in the whole record, {self.percent:.3g} % of its inflow"
        done = f"set to zero, which adds {water}" if negative == "zero" else f"kept: together -{water}"
        yield f"{counted(self.values, 'negative value')} {done} ({dates})"


def negative_values(volumes_hm3: NDArray[np.float64], dates: Sequence[str] | Mapping[int, str]) -> NegativeValues:
    """Look for negative values.

    Parameters
    ----------
    volumes_hm3 : ndarray, shape (steps,)
        Volume of each step.
    dates : sequence or mapping of str
        Names of the steps; those of the first `NAMED` negative ones are asked for.

    Raises
    ------
    InputError
        If they take away more water than all others bring.
    """
    places = np.flatnonzero(volumes_hm3 < 0)
    water = -float(volumes_hm3[places].sum())
    whole = float(volumes_hm3.sum()) + water
    first = tuple(dates[at] for at in places[:NAMED].tolist())
    if places.size and water >= whole:
        more = f" and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
        problem = (
            f"{counted(len(places), 'negative value')} ({', '.join(first)}{more}) together take away {water:.4g} hm3, "
            f"and all others bring {whole:.4g} hm3"
        )
        mend = "check the values and the column: these are no errors of a balance"
        raise InputError(Mistake(problem, "negative values that are errors of a reservoir's balance", mend))
    return NegativeValues(len(places), water, 100 * water / whole if places.size else 0.0, first)
