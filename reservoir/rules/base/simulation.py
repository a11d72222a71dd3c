"""Run a rule over a record: month by month, within the physical limits whatever the rule asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from reservoir.hydro.compiled_year import some_years
from reservoir.hydro.given_releases import repaired, without_foresight
from reservoir.hydro.horizon_limits import open_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.objective import Operation, operate
from reservoir.problems.reservoir.year import ReservoirModel
from reservoir.rules.base.month_end import month_end
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.base.training import inflow_before, require_no_conditions

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Simulation:
    """What a rule did over a record.

    Parameters
    ----------
    labels : sequence of str
        Names of the years.
    operation : Operation
        What the years came to.
    asked_m3s : ndarray, shape (years, steps)
        Releases that the rule asked for.
    repaired : ndarray of bool, shape (years, steps)
        Where the physical limits did not allow them.
    carried : ndarray of bool, shape (years,)
        Whether the next year starts with the storage that the year ends with.
    hm3_per_m3s : ndarray, shape (years, steps)
        hm3 that 1 m3/s carries in each step.
    """

    labels: Sequence[str]
    operation: Operation
    asked_m3s: FloatArray
    repaired: NDArray[np.bool_]
    carried: NDArray[np.bool_]
    hm3_per_m3s: FloatArray

    @cached_property
    def energy_gwh(self) -> FloatArray:
        """Energy of each year, shape (years,)."""
        return self.operation.benefit_gwh

    @property
    def end_storage_hm3(self) -> FloatArray:
        """Storage at the end of each year, shape (years,)."""
        return self.operation.storage_hm3[:, -1]


def simulate(
    rule: Rule | Sequence[Rule],
    model: ReservoirModel,
    inflow: Inflow,
    start_hm3: float,
    *,
    continuous: bool = True,
    inflow_before_m3s: float | None = None,
) -> Simulation:
    """Run a rule over every year of a record.

    Parameters
    ----------
    rule : Rule, or sequence of Rule, one a year
        What decides; a rule a year is what cross-validation needs.
    model : ReservoirModel
        The reservoir.
    inflow : Inflow
        Consecutive years.
    start_hm3 : float
        Storage at the start of the record.
    continuous : bool
        Carry the storage from a year to the next; otherwise every year starts at `start_hm3`.
    inflow_before_m3s : float, optional
        Inflow of the step before the record.
    """
    inflow.require_no_members("the simulation of a rule")
    rules = list(rule) if isinstance(rule, Sequence) else [rule] * inflow.years
    limits = open_limits(model.reservoir, inflow)
    require_no_conditions(limits.conditions is not None)
    before = inflow_before(inflow.flow_m3s, inflow_before_m3s)
    years = without_foresight(limits, np.full(inflow.years, start_hm3))
    asked = np.empty_like(inflow.flow_m3s)
    for year, rule_of_year in enumerate(rules):
        asked[year] = _decisions(rule_of_year, limits[year], before[year], float(years.start[year]))
        if continuous and year + 1 < inflow.years:
            alone = slice(year, year + 1)
            years.start[year + 1] = operate(model.exact, some_years(years, alone), asked[alone]).storage_hm3[0, -1]
    operation = operate(model.exact, years, asked)
    moved = repaired(model.reservoir, operation, asked)
    carried = np.full(inflow.years, continuous)
    carried[-1] = False
    return Simulation(inflow.labels, operation, asked, moved, carried, inflow.calendar.hm3_per_m3s)


def _decisions(rule: Rule, limits: Limits, before: FloatArray, start: float) -> list[float]:
    """Ask the rule month by month, and follow the storage as the physical limits let it go."""
    columns = (
        limits.inflow_m3s,
        before,
        limits.hm3_per_m3s,
        np.stack([limits.storage_lower_hm3, limits.storage_upper_hm3], axis=-1),
        np.stack([limits.release_lower_m3s, limits.release_upper_m3s], axis=-1),
    )
    asked, storage = [], start
    for step, (now, earlier, *month) in enumerate(zip(*(each.tolist() for each in columns), strict=True)):
        known = now if rule.forecast is Forecast.MONTH else None
        asked.append(float(rule.release(step, storage, known, earlier)))
        _, storage = month_end(storage, asked[-1], now, *month)
    return asked
