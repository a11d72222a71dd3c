"""Shortages of a sum over all reservoirs, and prices on what the sum is of: they come apart at prices as links do.

What a shortage costs is no less than what is missing of the target is worth at any price, less what that price has to
spare; each reservoir is paid the price for its own part. Of a cost with a most, which a step may fail at, that is the
best that prices can do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.rows import UNLIMITED
from reservoir.problems.system import SystemYears

FloatArray = NDArray[np.float64]
#: An amount is at its target that is nearer than this part of it.
_NEAR = 1e-5


class Shortage(NamedTuple):
    """What each step costs for what its sum falls short of, arrays of shape (steps,).

    Parameters
    ----------
    of_power : bool
        Whether the sum is the power of all plants, MW, or what leaves the system, m3/s.
    target, cost, squared, most : ndarray, shape (steps,)
        Of a shortage, what it costs, and its square, in the unit of the objective; the most that a step costs.
    """

    of_power: bool
    target: FloatArray
    cost: FloatArray
    squared: FloatArray
    most: FloatArray

    @classmethod
    def all_of(cls, batch: SystemYears) -> list[Shortage]:
        """Those of a year of a system that cost anything."""
        terms, nothing = batch.terms, np.zeros(batch.steps)
        if not terms:
            return []
        power = [terms[f"power_{name}"][0] for name in ("target", "cost", "cost_squared", "cost_most")]
        supply = terms["supply_target"][0], nothing, terms["supply_cost_squared"][0], nothing + UNLIMITED
        every = cls(True, *power), cls(False, *supply)
        return [each for each in every if np.any(each.steepest > 0.0)]

    @property
    def steepest(self) -> FloatArray:
        """The highest price that says anything."""
        return np.where(self.target > 0.0, self.cost + 2.0 * self.squared * self.target, 0.0)

    def apart(self, price: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The most by which the cost is below what is paid for an amount, and that amount, at prices of 0 or more."""
        over = np.maximum(price - self.cost, 0.0)
        missing = np.where(over > 0.0, self.target, 0.0)
        missing = np.divide(over, 2.0 * self.squared, out=missing, where=self.squared > 0.0).clip(max=self.target)
        amount = self.target - missing
        kept = -(self.squared * missing + self.cost) * missing - price * amount
        return np.maximum(kept, -self.most), np.where(kept < -self.most, 0.0, amount)

    def prices(self, amount: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Between which prices that of an amount lies: one, or any where it is at a kink."""
        missing, near = self.target - amount, _NEAR * self.target
        slope = 2.0 * self.squared * missing.clip(min=0.0)
        low = slope + np.where(missing > near, self.cost, 0.0)
        high = slope + np.where(missing > -near, self.cost, 0.0)
        return low, np.minimum(high, self.steepest)
