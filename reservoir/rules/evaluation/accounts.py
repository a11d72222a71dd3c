"""What a run brings, beside perfect foresight of the same years from the same storage to the same storage.

Perfect foresight that ends where a run ends brings at least as much as the run: it solves the same problem. How much
less it brings than the one that ends where it began is what the water left by the run is worth, so that runs with
different ends are compared at equal end storage, and none is above perfect foresight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.objective import Operation
from reservoir.rules.base.foresight import Foresight
from reservoir.solvers import Progress
from reservoir.solvers.engine import silent

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Account:
    """Benefits of years, in the unit of the objective; arrays of shape (years,).

    Parameters
    ----------
    made : ndarray
        What the run brings.
    end_value : ndarray
        In the last year of each horizon, what the water is worth that it leaves more than perfect foresight; else 0.
    foresight : ndarray
        What perfect foresight brings; NaN where it is not known, as `end_value` is 0 then.
    yearly : bool
        Whether every year is a horizon.
    """

    made: FloatArray
    end_value: FloatArray
    foresight: FloatArray
    yearly: bool

    @property
    def at_equal_storage(self) -> FloatArray:
        """What the run brings at equal end storage: whose sums are compared."""
        return self.made + self.end_value

    @property
    def by_year(self) -> FloatArray:
        """What each year brings: water left at the end of a record is no part of its last year."""
        return self.at_equal_storage if self.yearly else self.made


def accounts_of(foresight: Foresight, operations: Sequence[Operation], progress: Progress = silent) -> list[Account]:
    """Account for runs of the same years, each an operation with a row a year; all ends are valued in one call."""
    steps = operations[0].release_m3s.shape[1]
    best = foresight.operation.in_years(steps).benefit
    each = len(best) // len(foresight.labels)
    last = slice(each - 1, None, each)
    ends = np.stack([operation.storage_hm3[last, -1] for operation in operations])
    values = np.zeros((len(operations), len(best)))
    values[:, last] = foresight.values_of_ends(ends, progress)
    runs = zip(operations, values, strict=True)
    return [Account(operation.benefit, value, best, each == 1) for operation, value in runs]


def account_without_foresight(operation: Operation, *, yearly: bool) -> Account:
    """A run whose ends are not valued, since nobody knows what perfect foresight would bring."""
    made = operation.benefit
    return Account(made, np.zeros_like(made), np.full(len(made), np.nan), yearly)
