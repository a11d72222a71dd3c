"""The limit is measured by a kernel that computes what it says, and moves are counted from the problem."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.bench.experiment import DeviceStudy, RunBudget
from reservoir.bench.scaling import (
    CHAINS,
    CPU_LANES,
    CYCLIC_REACH,
    EVEN_TABLE,
    PER_DIMENSION,
    UNROLLED,
    curve_operations,
    measure_limit,
    operations_per_move,
    rule,
)
from reservoir.hydro.curves.forms import PolynomialForm, UniformTable
from reservoir.opencl import Session, assemble, build
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from tests.year_ends import cyclic


@pytest.fixture(scope="module")
def year(small, small_inflow) -> ReservoirYears:
    return reservoir_problems(small, small_inflow)[0]


@pytest.mark.parametrize("lanes", CPU_LANES)
def test_the_probe_multiplies_and_adds_as_often_as_it_says(device, lanes):
    constants = {"LANES": lanes, "CHAINS": CHAINS, "UNROLLED": UNROLLED}
    program = build(device, assemble(["common/vector/lanes.cl", "bench/multiply_add.cl"], constants))
    with Session(device) as session:
        session.allocate(sums=(2, np.float32))
        session.run(program, "multiply_add", 2, 1, np.int32(3), np.float32(0.5), np.float32(1.0), "sums")
        found = session.download("sums")
    start = np.arange(2)[:, None] + np.arange(CHAINS)
    times = 3 * UNROLLED
    expected = start * 0.5**times + 2 * (1 - 0.5**times)
    np.testing.assert_allclose(found, lanes * expected.sum(axis=1), rtol=1e-5)


def test_the_limit_is_that_of_the_best_width(case_study):
    moves = operations_per_move(case_study.plan.problems.each[0])
    assert replace(case_study, limit={1: 3e9, 8: 2e10, 16: 1e10}).moves_limit == 2e10 / moves


def test_every_width_of_a_cpu_is_measured_and_one_of_others(device, monkeypatch):
    monkeypatch.setattr("reservoir.bench.scaling.LEAST_SECONDS", 1e-4)
    found = measure_limit(DeviceStudy(device=device, budget=RunBudget()))
    assert tuple(found) == (CPU_LANES if device.kind == "CPU" else (1,))
    assert all(each > 0 for each in found.values())


def test_a_degree_more_is_an_instruction_more():
    def polynomial(degree):
        return PolynomialForm(0.0, 1.0, 0.5, 2.0, (1.0,) * (degree + 1))

    assert curve_operations(polynomial(5)) == curve_operations(polynomial(4)) + 1
    assert curve_operations(UniformTable(0.0, 1.0, np.zeros(256, np.float32))) == EVEN_TABLE


def test_every_step_and_dimension_counts(year):
    plant = year.model.approximation.plant
    steeper = plant.level._replace(coefficients=(0.0, *plant.level.coefficients))
    model = replace(year.model)
    vars(model)["approximation"] = replace(year.model.approximation, plant=plant._replace(level=steeper))
    more = operations_per_move(replace(year, model=model)) - operations_per_move(year)
    assert more == year.limits.steps


def test_a_cyclic_year_has_a_dimension_more_and_a_reach_that_follows_its_start(small, small_inflow, year):
    circular = reservoir_problems(cyclic(small), small_inflow)[0]
    more = operations_per_move(circular) - operations_per_move(year)
    assert more == sum(PER_DIMENSION.values()) + year.limits.steps * CYCLIC_REACH


def test_the_rule_says_what_is_counted(year):
    assert f"{operations_per_move(year):,} in all" in rule(year)
    assert f"{year.dimension} dimensions" in rule(year)
