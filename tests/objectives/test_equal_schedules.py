"""Where a target is met in full, the plan is that with the most energy of all that meet it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir import YearEnd, optimise
from reservoir.hydro.objectives import Goal, Objective

SUPPLY = Objective({Goal.SUPPLY_SHORTAGE: 1}, supply_target_m3s=np.full(12, 8.0))
POWER = Objective({Goal.POWER_SHORTAGE: 1}, power_target_mw=np.full(12, 6.0))
SOLVERS = [("dp", {}), ("lshade-sequential", {}), ("clpso-sequential", {"generations": 1500})]


def energy_of(lake, river, objective, **options):
    plan = optimise(replace(lake, objective=objective, penalty=300.0), river, **options)
    assert not plan.violation.any()
    return plan, float(plan.energy_gwh.sum())


@pytest.mark.parametrize("end", [YearEnd.FIXED, YearEnd.FREE])
@pytest.mark.parametrize("horizon", ["year", "record"])
def test_a_supply_that_is_met_has_the_energy_of_a_least_release(lake, river, horizon, end):
    lake = replace(lake, year_end=end, final_storage_hm3=None if end is YearEnd.FREE else lake.final_storage_hm3)
    held = replace(lake, release_lower_m3s=np.full(12, 8.0))
    _, most = energy_of(held, river, Objective(), solver="dp", horizon=horizon)
    plan, energy = energy_of(lake, river, SUPPLY, solver="dp", horizon=horizon)
    assert energy == pytest.approx(most, rel=1e-5)
    assert abs(plan.operation.benefit.sum()) < 1e-12
    assert plan.operation.release_m3s.min() >= 8 - 1e-9


@pytest.mark.parametrize(("solver", "options"), SOLVERS)
def test_every_solver_finds_it(lake, river, solver, options):
    held = replace(lake, release_lower_m3s=np.full(12, 8.0))
    _, most = energy_of(held, river, Objective(), solver="dp")
    plan, energy = energy_of(lake, river, SUPPLY, solver=solver, **options)
    assert energy == pytest.approx(most, rel=1e-3)
    assert abs(plan.operation.benefit.sum()) < 1e-9


@pytest.mark.parametrize("horizon", ["year", "record"])
def test_a_power_that_is_met_has_the_energy_of_a_lowest_power(lake, river, horizon):
    held = replace(lake, power_lower_mw=np.full(12, 6.0))
    _, most = energy_of(held, river, Objective(), solver="dp", horizon=horizon)
    plan, energy = energy_of(lake, river, POWER, solver="dp", horizon=horizon)
    assert energy == pytest.approx(most, rel=1e-5)
    assert abs(plan.operation.benefit.sum()) < 1e-9
