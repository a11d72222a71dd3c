"""Terms of the objective in a record's steps (`benefit.StepTerms`), as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError, Mistake
from reservoir.hydro.benefit import StepTerms
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.units import GWH_PER_MW_VOLUME

FloatArray = NDArray[np.float64]

#: In place of a most cost that there is not: within float32, whose infinity not all devices know.
UNLIMITED = 1e30


@dataclass(frozen=True, eq=False)
class RecordTerms:
    """Terms of years: a `StepTerms` of arrays, shape (years, steps)."""

    of_steps: StepTerms

    def __getitem__(self, years: int | slice | NDArray[np.integer] | tuple[NDArray[np.integer], ...]) -> RecordTerms:
        """Some of the years; of years and steps, as an array is indexed."""
        return RecordTerms(StepTerms._make(each[years] for each in self.of_steps))

    def reshaped(self, *shape: int) -> RecordTerms:
        """The same steps in horizons of another length."""
        return RecordTerms(StepTerms._make(each.reshape(*shape) for each in self.of_steps))


def stacked_terms(years: Sequence[RecordTerms | None]) -> RecordTerms | None:
    """Terms of years of one record that were taken one by one, at least one."""
    rows = [year.of_steps for year in years if year is not None]
    return RecordTerms(StepTerms._make(map(np.stack, zip(*rows, strict=True)))) if rows else None


def terms_of(reservoir: Reservoir, inflow: Inflow) -> RecordTerms | None:
    """Terms of a record's years; None if the objective is energy.

    Raises
    ------
    InputError
        If revenue is optimised without prices.
    """
    objective = reservoir.objective
    if objective.is_energy:
        return None

    def by_step(monthly: FloatArray | None) -> FloatArray:
        if monthly is None:
            return np.zeros(inflow.flow_m3s.shape)
        return reservoir.in_years(monthly, inflow.calendar)

    def weight(goal: Goal) -> float:
        return objective.weights.get(goal, 0.0)

    if Goal.REVENUE in objective.weights and objective.price_per_mwh is None and inflow.price_per_mwh is None:
        mend = "add price_per_mwh to [objective] in the reservoir file, or a column price_per_mwh to the record"
        problem = f'is missing: the goal "{Goal.REVENUE}" needs it'
        raise InputError(Mistake(problem, "a price for each step", mend, reservoir.source, column="price_per_mwh"))
    gwh_per_mw = inflow.calendar.hm3_per_m3s * GWH_PER_MW_VOLUME
    price = by_step(objective.price_per_mwh) if inflow.price_per_mwh is None else inflow.price_per_mwh
    none, unused = np.zeros_like(gwh_per_mw), weight(Goal.UNUSED_CAPACITY)
    value = gwh_per_mw * (weight(Goal.ENERGY) + weight(Goal.FIRM_POWER) + weight(Goal.REVENUE) * price / 1000)
    return RecordTerms(
        StepTerms(
            offset=none - unused,
            power_value=value + unused / reservoir.installed_mw,
            power_target=by_step(objective.power_target_mw),
            power_cost=none,
            power_cost_squared=none + weight(Goal.POWER_SHORTAGE) / _square_of_most(objective.power_target_mw),
            power_cost_most=none + UNLIMITED,
            supply_target=by_step(objective.supply_target_m3s),
            supply_cost_squared=none + weight(Goal.SUPPLY_SHORTAGE) / _square_of_most(objective.supply_target_m3s),
        )
    )


def _square_of_most(target: FloatArray | None) -> float:
    return 1.0 if target is None else float(target.max()) ** 2


def shortage_terms(target_mw: FloatArray, power_mw_of_one: FloatArray, most: float = UNLIMITED) -> RecordTerms:
    """Terms of an objective that is the squared shortage of power and nothing else.

    Parameters
    ----------
    target_mw : ndarray, shape (years, steps)
    power_mw_of_one : ndarray, shape (years, steps)
        Shortage, MW, whose square costs 1.
    most : float
        Most that a step costs.
    """
    none = np.zeros_like(target_mw)
    return RecordTerms(StepTerms(none, none, target_mw, none, 1 / np.square(power_mw_of_one), none + most, none, none))


def energy_terms(hm3_per_m3s: FloatArray, target_mw: FloatArray, cost_per_mw: FloatArray) -> RecordTerms:
    """Terms of energy, GWh, with a cost of each MW of a shortage of power; shape (years, steps)."""
    none = np.zeros_like(target_mw)
    value = hm3_per_m3s * GWH_PER_MW_VOLUME + none
    return RecordTerms(StepTerms(none, value, target_mw, cost_per_mw, none, none + UNLIMITED, none, none))


def with_power_target(terms: RecordTerms, target_mw: FloatArray, cost_per_mw: FloatArray, most: float) -> RecordTerms:
    """The same with a cost of each MW of a shortage of power, up to a most cost of a step; shape (years, steps)."""
    steps = terms.of_steps
    added = {"power_target": target_mw, "power_cost": cost_per_mw, "power_cost_most": np.full_like(target_mw, most)}
    return RecordTerms(steps._replace(**added))
