"""No joint schedule exceeds the bound of its system, which is close to the best known of a real cascade."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir.bench.cascade_systems import lancang
from reservoir.certificate.multipliers import multipliers
from reservoir.certificate.system import Carried, SystemProblem, prove_system
from reservoir.hydro.system import Carried as Part
from reservoir.hydro.system import Link
from reservoir.planning.system_plan import optimise_system
from reservoir.zoo import zoo_system

ONE = np.array([0])


def year_of(system, inflows, solver="slp"):
    """A year of a system, and a schedule of it."""
    plan = optimise_system(system, inflows, solver=solver)
    return plan.problems.batches[0][ONE], plan.operation


def whole(number):
    """A small random river without what is not priced yet."""
    system, inflows = zoo_system(number, 1, reservoirs=3)
    links = tuple(
        replace(link, carries=0.4 if isinstance(link.carries, Part) and link.carries is not Part.ALL else link.carries)
        for link in system.links
    )
    return replace(system, links=links), inflows


@pytest.mark.parametrize(
    ("case", "year", "best", "within"), [("lancang-2", 1976, 47258.771, 1e-5), ("lancang-3", 1976, 54885.726, 1e-5)]
)
def test_a_cascade_is_proved_close_to_the_best_that_is_known(case, year, best, within):
    batch, schedule = year_of(*lancang(case, year))
    proved = prove_system(batch, schedule, within)
    assert best - 1e-3 <= proved.bound <= best * (1 + 1.5 * within)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_no_schedule_of_a_random_river_exceeds_its_bound_at_any_prices(number):
    batch, schedule = year_of(*whole(number))
    random, problem = np.random.default_rng(number), SystemProblem(batch, schedule)
    prices = multipliers(batch, schedule)
    worse = prices * random.uniform(0.5, 1.5, prices.shape)
    bounds = [problem.proven(each, 1e-3, 30.0).bound for each in (prices, worse)]
    assert schedule.violation_sum[0] == 0
    for _ in range(200):
        made = batch.operate(random.random((1, batch.dimension)) ** random.choice([0.2, 1.0, 3.0]))
        if made.violation_sum[0] == 0:
            assert float(batch.fitness_of(made)[0]) <= min(bounds)
    assert problem.fitness <= min(bounds)
    assert bounds[0] <= problem.fitness * 1.02


def test_a_river_without_the_water_for_its_limits_is_proved_to_have_no_schedule():
    batch, schedule = year_of(*whole(0))
    assert schedule.violation_sum[0] > 0
    proved = prove_system(batch, schedule, 1e-3)
    assert proved.bound == -np.inf
    assert proved.of_reservoirs[-1].infeasible_step is not None


@pytest.mark.parametrize("price", [-2.0, 0.0, 3.0])
@pytest.mark.parametrize("lost", [0.0, 40.0, 70.0, 200.0])
def test_the_line_of_a_link_is_above_what_arrives(lost, price):
    system, inflows = whole(1)
    batch, _ = year_of(system, inflows)
    source, target = system.names[0], system.names[-1]
    link = Link(source, target, 0.7, travel_steps=1.4, lost_share=0.1, lost_m3s=lost, before_m3s=80.0)
    carried, random = Carried.of(batch, link), np.random.default_rng(2)
    low, high = np.full(12, 20.0), np.full(12, 180.0)
    slope, level = carried.line(np.full(12, price), (low, high))
    for _ in range(200):
        release = random.uniform(low, high)
        arriving = link.arriving_m3s(0.7 * release[None], batch.hm3_per_m3s)[0]
        np.testing.assert_allclose(carried.arriving(release), arriving, atol=1e-9)
        assert np.all(price * arriving <= price * (slope * (carried.brings @ release) + level) + 1e-9)
