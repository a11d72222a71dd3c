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
from reservoir.hydro.operation import Operation
from reservoir.planning.solving import HOST_REFERENCE
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears
from reservoir.rules.base.simulation import Violations
from reservoir.rules.base.training import ROUNDING
from reservoir.solvers import Progress, solve
from reservoir.solvers.engine import silent

FloatArray = NDArray[np.float64]

#: Years at the end of a horizon that are solved for another end, twice as many until that changes the value by no more
#: than this part of what perfect foresight brings.
LAST_YEARS, AGREED = 6, 1e-6


@dataclass(frozen=True, eq=False)
class Foresight:
    """Horizons operated with perfect foresight by dynamic programming, from a storage and back to it.

    Parameters
    ----------
    model : ReservoirModel
    years : Limits
        Of the years, nothing said of their ends.
    labels : sequence of str
        Name of each horizon.
    start_hm3 : float
        Storage at the start of each.
    operation : Operation
        A row for each horizon. It ends where it began, or as near as the limits allow.
    """

    model: ReservoirModel
    years: Limits
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
        both = np.full(len(horizons), start_hm3)
        operation = operated(model, horizons, names, both, both, progress)
        return cls(model, years, names, start_hm3, operation)

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
        make of the water, and when, is in it. Of a long horizon the last years alone are solved again, from perfect
        foresight's storage: twice as many until that changes the value no more (`AGREED`).
        """
        most = float(self.model.reservoir.storage_upper_hm3.max())
        best, years = self.by_year, len(self.years) // len(self.labels)
        values, last = np.zeros_like(ends_hm3), LAST_YEARS if years > 2 * LAST_YEARS else years
        run, horizon = np.nonzero(np.abs(ends_hm3 - self.operation.storage_hm3[:, -1]) > ROUNDING * most)
        values[run, horizon] = np.inf
        while len(run):
            places = (horizon[:, np.newaxis] + 1) * years - last + np.arange(last)
            whole, labels = last == years, [self.labels[place] for place in horizon.tolist()]
            starts = np.full(len(run), self.start_hm3) if whole else best.storage_hm3[places[:, 0], 0]
            brought = self.operation.benefit[horizon] if whole else best.benefit[places].sum(axis=1)
            limits, ends = self.years[places.ravel()].joined(last), ends_hm3[run, horizon]
            value = brought - operated(self.model, limits, labels, starts, ends, progress).benefit
            change = np.abs(value - values[run, horizon])
            values[run, horizon] = value
            undecided = (change > AGREED * np.abs(self.operation.benefit[horizon])) & (not whole)
            run, horizon, last = run[undecided], horizon[undecided], min(2 * last, years)
        return values

    def end_values(self, operations: Sequence[Operation], progress: Progress = silent) -> FloatArray:
        """What the water is worth that runs of the same years leave more, shape (runs, years); see `values_of_ends`.

        It counts in the last year of each horizon. Each operation has a row a year; all ends are valued in one call.
        """
        years = len(self.years)
        length = years // len(self.labels)
        last = slice(length - 1, None, length)
        values = np.zeros((len(operations), years))
        ends = np.stack([operation.storage_hm3[last, -1] for operation in operations])
        values[:, last] = self.values_of_ends(ends, progress)
        return values


def operated(
    model: ReservoirModel,
    horizons: Limits,
    labels: Sequence[str],
    starts: FloatArray,
    ends: FloatArray,
    progress: Progress = silent,
) -> Operation:
    """Dynamic programming over every horizon, from its storage at the start to the one at its end, both (horizons,)."""
    begun = reaching_down(horizons.begun_at(starts))  # losses may leave an end below dead storage to compare with
    end = np.clip(ends, begun.storage_lower_hm3[:, -1], begun.storage_upper_hm3[:, -1])
    fixed = begun.ending_within(end, end)
    problems = ReservoirYears(model, fixed, labels, np.arange(len(labels)))
    solutions = solve(problems, solver=HOST_REFERENCE, progress=progress)
    return problems.operate(np.array(list(solutions.position)))
