"""What dynamic programming finds for each goal is what an independent program finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir import Inflow, Reservoir, optimise
from reservoir.hydro.objectives import Goal, Objective
from reservoir.planning.proof import prove_plan
from tests.objectives import independent as alone

PRICE = np.array([60, 55, 45, 35, 25, 20, 22, 30, 40, 48, 55, 62], float)
NEGATIVE = np.array([60, 55, 45, 20, -15, -10, -2, 30, 40, 48, 55, 62], float)
POWER = np.array([24, 24, 20, 18, 16, 18, 22, 24, 20, 18, 20, 24], float)
SUPPLY = np.array([10, 10, 20, 40, 60, 70, 70, 60, 30, 15, 10, 10], float)
SOLVERS = ["dp", pytest.param("dp-opencl", marks=pytest.mark.device)]


def plan_for(lake: Reservoir, river: Inflow, objective: Objective, solver: str, **options):
    penalty = objective.largest_per_year(lake.installed_mw)
    optimised = replace(lake, objective=objective, penalty=penalty)
    return optimise(optimised, river, solver=solver, horizon="record", **options)


def revenue(step, power, release, seconds):
    return power * seconds / 3.6e9 * PRICE[step % 12]  # million


def squared_power_shortage(step, power, release, seconds):
    return -(np.maximum(POWER[step % 12] - power, 0) ** 2) / POWER.max() ** 2


def squared_supply_shortage(step, power, release, seconds):
    return -(np.maximum(SUPPLY[step % 12] - release, 0) ** 2) / SUPPLY.max() ** 2


def unused_capacity(step, power, release, seconds):
    return power / alone.INSTALLED - 1


def energy_and_supply(step, power, release, seconds):
    return 2 * power * seconds / 3.6e6 + 30 * squared_supply_shortage(step, power, release, seconds)


def revenue_or_spill(step, power, release, seconds):
    return np.maximum(NEGATIVE[step % 12], 0) * power * seconds / 3.6e9


def revenue_short_of_power(step, power, release, seconds):
    """Where energy costs, power is given until a MW more costs more than what is short of the target."""
    tried = np.linspace(0, 1, 2001)[:, np.newaxis, np.newaxis] * power[np.newaxis]
    earned = NEGATIVE[step % 12] * tried * seconds / 3.6e9
    return (earned - 0.5 * np.maximum(POWER[step % 12] - tried, 0) ** 2 / POWER.max() ** 2).max(axis=0)


CASES = {
    "revenue": (Objective({Goal.REVENUE: 1}, price_per_mwh=PRICE, currency="EUR"), revenue),
    "power-shortage": (Objective({Goal.POWER_SHORTAGE: 1}, power_target_mw=POWER), squared_power_shortage),
    "supply-shortage": (Objective({Goal.SUPPLY_SHORTAGE: 1}, supply_target_m3s=SUPPLY), squared_supply_shortage),
    "unused-capacity": (Objective({Goal.UNUSED_CAPACITY: 1}), unused_capacity),
    "negative prices": (Objective({Goal.REVENUE: 1}, price_per_mwh=NEGATIVE), revenue_or_spill),
    "negative prices and a target": (
        Objective({Goal.REVENUE: 1, Goal.POWER_SHORTAGE: 0.5}, price_per_mwh=NEGATIVE, power_target_mw=POWER),
        revenue_short_of_power,
    ),
    "energy and supply": (
        Objective({Goal.ENERGY: 2, Goal.SUPPLY_SHORTAGE: 30}, supply_target_m3s=SUPPLY),
        energy_and_supply,
    ),
}


@pytest.fixture(scope="module")
def expected(alone_in_a_row):
    return {name: alone_in_a_row.best(benefit)[0] for name, (_, benefit) in CASES.items()}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", CASES)
def test_the_best_is_that_of_an_independent_program(lake, river, expected, name, solver):
    objective, _ = CASES[name]
    plan = plan_for(lake, river, objective, solver)
    assert plan.operation.benefit.sum() == pytest.approx(expected[name], rel=1e-5)
    assert not plan.violation.any()


@pytest.mark.parametrize("solver", SOLVERS)
def test_firm_power_is_that_of_bisection(lake, river, alone_in_a_row, solver):
    expected = alone_in_a_row.firm_power()
    plan = plan_for(lake, river, Objective({Goal.FIRM_POWER: 1}), solver)
    assert plan.firm_power_mw == pytest.approx([expected], rel=1e-5)
    assert plan.operation.power_mw.min() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_energy_at_firm_power_is_that_of_an_independent_program(lake, river, alone_in_a_row, solver):
    plan = plan_for(lake, river, Objective({Goal.FIRM_POWER: 1}), solver)
    least = plan.firm_power_mw[0]

    def at_firm_power(step, power, release, seconds):
        missed = np.maximum(least - power, 0) / least
        return power * seconds / 3.6e6 - 1e4 * missed

    gwh = alone_in_a_row.best(at_firm_power)[0]
    assert plan.energy_gwh.sum() == pytest.approx(gwh, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_where_energy_costs_no_more_than_the_lowest_power_is_generated(lake, river, alone_in_a_row, solver):
    def paid_for_the_lowest(step, power, release, seconds):
        sold = power if NEGATIVE[step % 12] >= 0 else np.minimum(power, 6.0)
        return NEGATIVE[step % 12] * sold * seconds / 3.6e9 - 1e4 * np.maximum(6.0 - power, 0)

    objective = Objective({Goal.REVENUE: 1}, price_per_mwh=NEGATIVE)
    plan = plan_for(replace(lake, power_lower_mw=np.full(12, 6.0)), river, objective, solver)
    assert plan.operation.benefit.sum() == pytest.approx(alone_in_a_row.best(paid_for_the_lowest)[0], rel=1e-5)
    costs = np.tile(NEGATIVE < 0, (3, 1))
    assert plan.operation.power_mw[costs] == pytest.approx(6.0, rel=1e-6)
    assert not plan.violation.any()
    assert plan.operation.spill_m3s[costs].max() > 10
    assert prove_plan(plan, 1e-4).proofs.worst_gap <= 1e-4


def test_where_energy_costs_nothing_is_turbined_and_the_bound_holds(lake, river):
    plan = plan_for(lake, river, Objective({Goal.REVENUE: 1}, price_per_mwh=NEGATIVE), "dp")
    costs = np.tile(NEGATIVE < 0, (3, 1))
    assert not plan.operation.power_mw[costs].any()
    assert not plan.operation.turbined_m3s[costs].any()
    np.testing.assert_array_equal(plan.operation.spill_m3s[costs], plan.operation.release_m3s[costs])
    assert prove_plan(plan, 1e-4).proofs.worst_gap <= 1e-4


def test_firm_power_is_given_at_any_price(lake, river):
    """The largest that can be promised does not depend on what energy is worth."""
    firm = replace(lake, objective=Objective({Goal.FIRM_POWER: 1}))
    most = optimise(firm, river, solver="dp", horizon="record").firm_power_mw[0]
    promised = Objective({Goal.REVENUE: 1}, price_per_mwh=NEGATIVE, firm_power_mw=0.9 * most)
    plan = plan_for(lake, river, promised, "dp")
    assert plan.operation.power_mw.min() == pytest.approx(0.9 * most, rel=1e-5)
    assert plan.operation.power_mw[:, NEGATIVE < 0].max() == pytest.approx(0.9 * most, rel=1e-5)


@pytest.mark.parametrize("solver", ["lshade-sequential", pytest.param("lshade", marks=pytest.mark.device)])
@pytest.mark.parametrize("lowest", [0.0, 6.0])
def test_searches_in_float32_spill_where_energy_costs(lake, river, solver, lowest):
    objective = Objective({Goal.REVENUE: 1}, price_per_mwh=NEGATIVE)
    priced = replace(lake, objective=objective, penalty=20.0, power_lower_mw=np.full(12, lowest))
    best = optimise(priced, river, solver="dp").operation.benefit
    plan = optimise(priced, river, solver=solver, engine_only=True)
    np.testing.assert_allclose(plan.operation.benefit, best, rtol=5e-5)
