"""Flood space by date and snow, and losses as recorded, on the carry-over case: what other code says, and proved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reservoir as package
from reservoir.hydro.flood_space import FloodSpace
from reservoir.hydro.objectives import RECORD
from reservoir.planning.proof import prove_plan
from tests.independent.record_dp import best_energy_gwh, read

CASE = package.bundled_case("carryover")
YEARS = 30
#: Highest storage, hm3, at the end of January to December with little and with much snow.
SNOW, LITTLE = (0.0, 400.0), 2200.0
MUCH = LITTLE - np.array([300, 400, 500, 500, 400, 200, 50, 0, 0, 0, 100, 200.0])


@pytest.fixture(scope="module")
def snow() -> np.ndarray:
    """Some snow of every month; more than the table knows at times."""
    return np.random.default_rng(5).uniform(-20, 450, (YEARS, 12))


@pytest.fixture(scope="module")
def losses() -> tuple[np.ndarray, np.ndarray]:
    """Evaporation and bank storage of every month, hm3; banks give water back, too."""
    random = np.random.default_rng(6)
    return random.uniform(-2, 12, (YEARS, 12)), random.normal(0, 3, (YEARS, 12))


def other_program():
    record = read(CASE.reservoir_file, CASE.inflow_file, years=YEARS)
    record.facts["plant"]["power_lower_mw"] = 0
    return record


def lake_with(**changes):
    """The lake without its lowest power, which so little storage cannot keep."""
    return replace(CASE.reservoir(), power_lower_mw=np.zeros(12), **changes)


def highest_of(snow: np.ndarray) -> np.ndarray:
    part = np.clip(snow / SNOW[1], 0, 1)
    return (LITTLE + part * (MUCH - LITTLE)).ravel()


def planned(lake, inflow, solver="dp"):
    plan = package.optimise(lake, inflow, horizon=RECORD, solver=solver, reference=False)
    assert sum(plan.solutions.violation.tolist()) == 0.0
    return plan


SOLVERS = ["dp", pytest.param("dp-opencl", marks=pytest.mark.device)]


@pytest.mark.parametrize("solver", SOLVERS)
def test_flood_space_by_month_and_snow_is_worth_what_other_code_says(snow, solver) -> None:
    space = FloodSpace("snow_mm", SNOW, [np.full(12, LITTLE), MUCH])
    lake = lake_with(flood_space=space)
    inflow = replace(CASE.inflow().span(0, YEARS), flood_index=snow)

    plan = planned(lake, inflow, solver)
    alone = best_energy_gwh(replace(other_program(), upper_hm3=highest_of(snow)))

    assert plan.solutions.fitness.sum() == pytest.approx(alone, rel=1e-5)
    ends = plan.operation.storage_hm3[:, 1:]
    assert (ends <= highest_of(snow).reshape(ends.shape) + 1e-6)[:, :11].all()
    assert (np.abs(ends - highest_of(snow).reshape(ends.shape)) < 1e-6).sum() > 5
    if solver == "dp":
        proofs = prove_plan(plan, 1e-3, 30.0).proofs
        assert (proofs.bound >= plan.solutions.fitness).all()
        assert proofs.worst_gap <= 2e-3


@pytest.mark.parametrize("solver", SOLVERS)
def test_recorded_losses_are_worth_what_other_code_says(losses, solver) -> None:
    evaporation, banks = losses
    inflow = replace(CASE.inflow().span(0, YEARS), evaporation_hm3=evaporation, bank_storage_hm3=banks)

    plan = planned(lake_with(), inflow, solver)
    alone = best_energy_gwh(replace(other_program(), recorded_hm3=(evaporation + banks).ravel()))

    assert plan.solutions.fitness.sum() == pytest.approx(alone, rel=1e-5)
    np.testing.assert_allclose(plan.operation.evaporation_hm3, evaporation, atol=1e-9)
    residual = plan.operation.storage_hm3[:, 1:] - plan.operation.storage_hm3[:, :-1]
    flows = inflow.flow_m3s - plan.operation.release_m3s - plan.operation.withdrawal_m3s
    residual -= flows * inflow.calendar.hm3_per_m3s - plan.operation.evaporation_hm3 - plan.operation.seepage_hm3
    assert np.abs(residual).max() < 1e-6
    if solver == "dp":
        assert (prove_plan(plan, 1e-3, 30.0).proofs.bound >= plan.solutions.fitness).all()


def test_the_other_program_sees_what_both_cost(snow, losses) -> None:
    """It would agree with anything if they did nothing."""
    free = best_energy_gwh(other_program())
    assert best_energy_gwh(replace(other_program(), upper_hm3=highest_of(snow))) < 0.999 * free
    assert best_energy_gwh(replace(other_program(), recorded_hm3=np.full(12 * YEARS, 30.0))) < 0.99 * free
