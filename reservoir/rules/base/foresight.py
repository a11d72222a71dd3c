"""Perfect foresight, which rules are compared with: the same problem, its future known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, reaching_down
from reservoir.hydro.objective import Operation
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears
from reservoir.rules.base.violations import ROUNDING
from reservoir.solvers import Progress, solve
from reservoir.solvers.engine import silent

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Foresight:
    """Horizons operated with perfect foresight by dynamic programming, from a storage and back to it.

    Parameters
    ----------
    model : ReservoirModel
    horizons : Limits
        The record, its members or its years, nothing said of their ends.
    labels : sequence of str
        Name of each horizon.
    start_hm3 : float
        Storage at the start of each.
    operation : Operation
        A row for each horizon. It ends where it began, or as near as the limits allow.
    """

    model: ReservoirModel
    horizons: Limits
    labels: Sequence[str]
    start_hm3: float
    operation: Operation

    @classmethod
    def over_record(
        cls, model: ReservoirModel, inflow: Inflow, start_hm3: float, progress: Progress = silent
    ) -> Foresight:
        """Of a whole record, or of each member of an ensemble."""
        each = inflow.years // inflow.member_count
        labels = tuple(f"{inflow.labels[at]} to {inflow.labels[at + each - 1]}" for at in range(0, inflow.years, each))
        return cls._of(model, open_limits(model.reservoir, inflow).joined(each), labels, start_hm3, progress)

    @classmethod
    def in_years(
        cls, model: ReservoirModel, inflow: Inflow, start_hm3: float, progress: Progress = silent
    ) -> Foresight:
        """Of every year by itself."""
        return cls._of(model, open_limits(model.reservoir, inflow), inflow.labels, start_hm3, progress)

    @classmethod
    def _of(
        cls, model: ReservoirModel, horizons: Limits, labels: Sequence[str], start: float, progress: Progress
    ) -> Foresight:
        ends = np.full(len(horizons), start)
        return cls(model, horizons, labels, start, operated(model, horizons, labels, start, ends, progress))

    @property
    def ends_hm3(self) -> FloatArray:
        """Storage that each horizon ends with, shape (horizons,)."""
        return np.asarray(self.operation.storage_hm3[:, -1])

    def values_of_ends(self, ends_hm3: FloatArray, progress: Progress = silent) -> FloatArray:
        """What water left at other ends is worth: how much less the best schedule brings that ends there.

        In the unit of the objective, shape (runs, horizons) as the ends; negative where less is left. What turbines can
        make of the water, and when, is in it.
        """
        apart = np.abs(ends_hm3 - self.ends_hm3) > ROUNDING * float(self.model.reservoir.storage_upper_hm3.max())
        values = np.zeros_like(ends_hm3)
        if apart.any():
            asked, horizon = ends_hm3[apart], np.nonzero(apart)[1]
            labels = [self.labels[place] for place in horizon.tolist()]
            found = operated(self.model, self.horizons[horizon], labels, self.start_hm3, asked, progress)
            values[apart] = self.operation.benefit[horizon] - found.benefit
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
    starts = np.full(len(horizons), start)
    begun = replace(horizons, initial_storage_hm3=starts, start_bounds_hm3=np.stack([starts, starts], axis=-1))
    fixed = reaching_down(begun)  # an end below dead storage that losses leave is one to compare with
    lower, upper = fixed.storage_lower_hm3.copy(), fixed.storage_upper_hm3.copy()
    lower[:, -1] = upper[:, -1] = np.clip(ends, lower[:, -1], upper[:, -1])
    fixed = replace(fixed, storage_lower_hm3=lower, storage_upper_hm3=upper)
    problems = ReservoirYears(model, fixed, labels, np.arange(len(labels)))
    found = solve(problems, solver=HOST_REFERENCE, progress=progress)
    return problems.operate(np.array(list(found.position)))
