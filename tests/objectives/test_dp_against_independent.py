"""What dynamic programming finds for each goal is what an independent program finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir import Inflow, Reservoir, optimise
from reservoir.hydro.objectives import Goal, Objective
from tests.objectives import independent as alone

PRICE = np.array([60, 55, 45, 35, 25, 20, 22, 30, 40, 48, 55, 62], float)
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


CASES = {
    "revenue": (Objective({Goal.REVENUE: 1}, price_per_mwh=PRICE, currency="EUR"), revenue),
    "power-shortage": (Objective({Goal.POWER_SHORTAGE: 1}, power_target_mw=POWER), squared_power_shortage),
    "supply-shortage": (Objective({Goal.SUPPLY_SHORTAGE: 1}, supply_target_m3s=SUPPLY), squared_supply_shortage),
    "unused-capacity": (Objective({Goal.UNUSED_CAPACITY: 1}), unused_capacity),
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
