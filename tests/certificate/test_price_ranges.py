"""Ranges of water values by hand, and against linear programs of all conditions together."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

from reservoir.certificate.multipliers import conditions, multipliers
from reservoir.certificate.price_ranges import price_ranges
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.planning.system_plan import optimise_system
from reservoir.problems.system import system_problems
from reservoir.solvers.slp.highs import maximised
from reservoir.zoo import zoo_system
from tests.problems.test_systems_by_hand import GWH, PAID, inflow, lake

#: A plant that stores nothing; its turbines take 40.
RIGID = {"full": 50.0, "dead": 50.0, "start": 50.0, "turbines": 40.0, "installed_mw": 40.0}
#: A lake that ends as full as it began.
ENDING = {"year_end": YearEnd.FIXED, "final_storage_hm3": 500 * 2.592, "turbines": 40.0, "installed_mw": 40.0}


def below(flow: float, **of_low: Any) -> Any:
    """The ranges of a plant below another, both of which release so much; in halves of what a m3/s earns at most."""
    prices = [1.0, 2.0] * 6
    places = lake("up", **RIGID, objective=PAID), lake("low", **{**RIGID, **of_low}, objective=PAID)
    system = System(places, (Link("up", "low"),), objective=PAID)
    inflows = SiteInflows({"up": inflow(flow, prices), "low": inflow(0.0, prices)})
    (batch,) = system_problems(system, inflows, Horizon()).batches
    releases = np.full((1, 2, 12), flow)
    schedule = batch.operate_releases(releases, np.array([[place.initial_storage_hm3 for place in places]]))
    assert schedule.violation_sum == 0
    return price_ranges(batch, schedule)[:, 1] / (GWH / 1000)


@pytest.mark.parametrize(("flow", "least", "most"), [(30.0, 1.0, 1.0), (40.0, 0.0, 1.0), (50.0, 0.0, 0.0)])
def test_more_is_spilled_where_less_would_be_missed(flow, least, most):
    np.testing.assert_allclose(below(flow), np.outer([least, most], [1.0, 2.0] * 6), atol=1e-6)


def test_nothing_bounds_what_less_would_cost_where_no_more_can_be_released():
    found = below(40.0, release_lower_m3s=np.full(12, 40.0))
    np.testing.assert_allclose(found[0], 0.0, atol=1e-6)
    assert np.all(found[1] == np.inf)


def test_water_that_may_be_stored_is_worth_no_more_than_in_the_cheapest_month():
    np.testing.assert_allclose(below(40.0, full=1000.0, dead=0.0, start=500.0, **ENDING)[0], 0.0, atol=1e-6)
    np.testing.assert_allclose(below(40.0, full=1000.0, dead=0.0, start=500.0, **ENDING)[1], 1.0, atol=1e-6)


def by_programs(batch: Any, schedule: Any) -> Any:
    """The least and the most of all prices among all points of the conditions that miss as much as one."""
    made, worth, _, _ = conditions(batch, schedule)
    programs = made.programs()
    point: Any = maximised(programs, 0).point
    rows = csc_array((programs.values[0], programs.places, programs.starts))
    limits = [each[0] - rows @ point for each in programs.rows]
    bounds = Bounds(*(np.where(programs.cost[0] < 0, 0.0, each[0] - point) for each in programs.columns))
    found = np.zeros((2, *np.shape(worth)))
    for place in np.ndindex(found.shape[1:]):
        for end, sign in enumerate((1.0, -1.0)):
            cost = sign * (np.arange(len(point)) == worth[place[0]][place[1]])
            solved = milp(cost, constraints=LinearConstraint(rows, *limits), bounds=bounds, options={"presolve": False})
            assert solved.status in (0, 3)  # found, or unbounded
            found[(end, *place)] = point @ abs(cost) + sign * solved.fun if solved.status == 0 else -sign * np.inf
    return found


@pytest.mark.parametrize("number", [2, 4, 9])
def test_ranges_are_what_programs_of_all_conditions_find(number):
    system, inflows = zoo_system(number, 1, reservoirs=3)
    plan = optimise_system(system, inflows, solver="slp")
    batch, schedule = plan.problems.batches[0][np.array([0])], plan.operation
    size = np.abs(multipliers(batch, schedule)).mean()
    np.testing.assert_allclose(price_ranges(batch, schedule) / size, by_programs(batch, schedule) / size, atol=1e-4)
