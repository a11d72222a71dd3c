"""The steps of a water year as tables, by the one Python expression of the step."""

from __future__ import annotations

from typing import Any

import numpy as np

from reservoir.hydro.benefit import in_objective_unit, stage_benefit
from reservoir.hydro.conditions import demanded, loss_volume, released, unmet, unmet_power
from reservoir.hydro.step import power_at, violation_scale
from reservoir.rules.base.training import FloatArray
from reservoir.rules.families.sdp.month_physics import Physics
from reservoir.solvers.ensemble_dp.tables import StepTables

#: Storages that values are known at between the bounds; mean storages of the tables of benefits for each; drafts.
STATES, MEANS_EACH, DRAFTS = 61, 16 / 15, 1025


def step_tables(physics: Physics) -> StepTables:
    """Tables of the months of a rule, whose inflow is less the withdrawal demanded (`withdrawals`)."""
    months, steps = physics.months, len(physics.months.calendar_month)
    lower, upper = np.array(physics.storage_lower_hm3), np.array(physics.storage_upper_hm3)
    grid = physics.value_grid(STATES)
    lowest, highest, means = float(grid[0]), float(grid[-1]), 1 + round(MEANS_EACH * (len(grid) - 1))
    volume = np.array(months.volume_per_flow)
    below, above = (physics.penalty_gwh / violation_scale(bound, upper.max()) for bound in (lower, upper))
    demands = withdrawals(physics)
    least = np.array(months.release_lower_m3s) - demands
    bounds = np.maximum(least, 0.0), np.array(months.release_upper_m3s)
    of_little = np.full(steps, lower.min()), least, -demands, physics.penalty_gwh * _per_shortage(physics)
    missing = physics.penalty_gwh * months.per_missing_hm3 * volume
    scalars = np.stack([volume, 1 / volume, *bounds, lower, upper, below, above, *of_little, missing], axis=-1)
    most = max(float(np.max(months.release_upper_m3s)), 1e-6)
    mean_storage, draft = np.linspace(lowest, highest, means)[:, None], np.linspace(0.0, most, DRAFTS)[None, :]
    losses, benefit = np.empty((steps, means)), np.empty((steps, means, DRAFTS))
    for step in range(steps):
        of_step, of_terms = physics.conditions(step), physics.terms(step)
        losses[step] = _losses(of_step, mean_storage[:, 0], volume[step])
        release = released(of_step, draft, least[step])
        power = power_at(physics.plant.curves, mean_storage, release, of_step)
        made = in_objective_unit(of_terms, stage_benefit(of_terms, power, release, volume[step]))
        missed = unmet(of_step, draft, release, release) + unmet_power(of_step, power)
        benefit[step] = made - physics.penalty_gwh * missed
    return StepTables((lowest, highest), len(grid), scalars, losses, benefit, most)


def withdrawals(physics: Physics) -> FloatArray:
    """Withdrawal demanded in each step, m3/s, shape (steps,)."""
    steps = range(len(physics.months.calendar_month))
    return np.array([float(demanded(physics.conditions(step))) for step in steps])


def _per_shortage(physics: Physics) -> FloatArray:
    """Relative violation of a shortage of 1 m3/s in each step, shape (steps,); 0 without conditions."""
    each = (physics.conditions(step) for step in range(len(physics.months.calendar_month)))
    return np.array([float(of_step.per_shortage) if of_step else 0.0 for of_step in each])


def _losses(conditions: Any, mean_storage: FloatArray, volume: float) -> FloatArray:
    return np.asarray(loss_volume(conditions, mean_storage, volume) + np.zeros(len(mean_storage)))
