"""Perfect foresight, which rules are compared with: the same problem, its future known; what a run brings beside it.

Perfect foresight that ends where a run ends brings at least as much as the run: it solves the same problem. How much
less it brings than the one that ends where it began is what the water left by the run is worth, so that runs with
different ends are compared at equal end storage, and none is above perfect foresight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, reaching_down
from reservoir.hydro.objective import Operation
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears
from reservoir.rules.base.violations import ROUNDING, Violations
from reservoir.solvers import Progress, solve
from reservoir.solvers.engine import silent

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Foresight:
    """Horizons operated with perfect foresight by dynamic programming, from a storage and back to it.

    Parameters
    ----------
    model : ReservoirModel
    years : Limits
        Of the years, nothing said of their ends.
    horizons : Limits
        The record, its members or its years, likewise.
    labels : sequence of str
        Name of each horizon.
    start_hm3 : float
        Storage at the start of each.
    operation : Operation
        A row for each horizon. It ends where it began, or as near as the limits allow.
    """

    model: ReservoirModel
    years: Limits
    horizons: Limits
    labels: Sequence[str]
    start_hm3: float
    operation: Operation

    @classmethod
    def of(
        cls,
        model: ReservoirModel,
        inflow: Inflow,
        start_hm3: float,
        progress: Progress = silent,
        *,
        continuous: bool = True,
    ) -> Foresight:
        """Of a whole record, or of each member of an ensemble; or else of every year by itself."""
        years, length = open_limits(model.system, inflow), inflow.years // inflow.member_count
        names: Sequence[str] = inflow.labels
        if continuous:
            names = tuple(f"{names[at]} to {names[at + length - 1]}" for at in range(0, inflow.years, length))
        horizons = years.joined(length) if continuous else years
        ends = np.full(len(horizons), start_hm3)
        operation = operated(model, horizons, names, start_hm3, ends, progress)
        return cls(model, years, horizons, names, start_hm3, operation)

    @cached_property
    def by_year(self) -> Operation:
        """The same operation, a row for each year."""
        return self.operation.in_years(self.years.steps)

    @cached_property
    def violations(self) -> Violations:
        """What no rule can keep, since perfect foresight does not."""
        return Violations.of_operation(self.years, self.model.reservoir, self.by_year)

    def values_of_ends(self, ends_hm3: FloatArray, progress: Progress = silent) -> FloatArray:
        """What water left at other ends is worth: how much less the best schedule brings that ends there.

        In the unit of the objective, shape (runs, horizons) as the ends; negative where less is left. What turbines can
        make of the water, and when, is in it.
        """
        apart = np.abs(ends_hm3 - self.operation.storage_hm3[:, -1]) > ROUNDING * float(
            self.model.reservoir.storage_upper_hm3.max()
        )
        values = np.zeros_like(ends_hm3)
        if apart.any():
            asked, horizon = ends_hm3[apart], np.nonzero(apart)[1]
            labels = [self.labels[place] for place in horizon.tolist()]
            ending = operated(self.model, self.horizons[horizon], labels, self.start_hm3, asked, progress)
            values[apart] = self.operation.benefit[horizon] - ending.benefit
        return values


def operated(
    model: ReservoirModel,
    horizons: Limits,
    labels: Sequence[str],
    start: float,
    ends: FloatArray,
    progress: Progress = silent,
) -> Operation:
    """Dynamic programming over every horizon, from one storage to each end, shape (horizons,)."""
    begun = reaching_down(horizons.begun_at(start))  # losses may leave an end below dead storage to compare with
    end = np.clip(ends, begun.storage_lower_hm3[:, -1], begun.storage_upper_hm3[:, -1])
    fixed = begun.ending_within(end, end)
    problems = ReservoirYears(model, fixed, labels, np.arange(len(labels)))
    solutions = solve(problems, solver=HOST_REFERENCE, progress=progress)
    return problems.operate(np.array(list(solutions.position)))


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


def accounts_of(
    foresight: Foresight | None, operations: Sequence[Operation], progress: Progress = silent, *, yearly: bool = False
) -> list[Account]:
    """Account for runs of the same years, each an operation with a row a year; all ends are valued in one call.

    Without foresight, nobody knows what it would bring, nor what the water left is worth.
    """
    if foresight is None:
        unknown = np.full(len(operations[0]), np.nan)
        return [Account(each.benefit, np.zeros_like(unknown), unknown, yearly) for each in operations]
    best = foresight.by_year.benefit
    length = len(best) // len(foresight.labels)
    last = slice(length - 1, None, length)
    ends = np.stack([operation.storage_hm3[last, -1] for operation in operations])
    values = np.zeros((len(operations), len(best)))
    values[:, last] = foresight.values_of_ends(ends, progress)
    runs = zip(operations, values, strict=True)
    return [Account(operation.benefit, value, best, length == 1) for operation, value in runs]
