"""The value of end storage that a record implies: what the cycle of the record makes of it."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.objectives import Horizon
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers.dp import GridSettings
from reservoir.solvers.dp.sequential import best_trajectory
from reservoir.solvers.dp.water_value import active_storage, cycle_end_value, end_storage_value, with_ends_of
from tests.year_ends import cyclic

#: The river as a part of that of the small reservoir; the last leaves the cycle within its bounds.
RIVERS = {"full": 1.0, "with losses": 0.2, "within its bounds": 1 / 24}
START = GridSettings(states=51, fine_states=21, start_states=9, agreement=1e-4, tolerance=1e-7)


@pytest.fixture(scope="module", params=RIVERS)
def case(request, small, small_inflow):
    """A reservoir and a record."""
    reservoir = replace(small, release_lower_m3s=np.full(12, 0.5))
    if request.param == "with losses":
        losses = {"evaporation_mm": np.full(12, 80.0), "seepage_m3s": Table((20.0, 120.0), (0.1, 0.4))}
        reservoir = replace(reservoir, **losses)
    return reservoir, replace(small_inflow, flow_m3s=small_inflow.flow_m3s * RIVERS[request.param])


@pytest.fixture(scope="module")
def cycle(case):
    (problem,) = record_problems(cyclic(case[0]), case[1], Horizon(None)).each
    return problem


@pytest.fixture(scope="module")
def best(cycle):
    """The best operation of the cycle."""
    held = with_ends_of(cycle, best_trajectory(cycle, START).storages)
    return best_trajectory(held, GridSettings(tolerance=1e-9))


def ending(case, best, end: YearEnd, **changes):
    """The horizon from the start of the cycle, with another end, and its optimum."""
    changes = {"initial_storage_hm3": best.storages[0], "final_storage_hm3": None} | changes
    (problem,) = record_problems(replace(case[0], year_end=end, **changes), case[1], Horizon(None)).each
    return problem, best_trajectory(problem, GridSettings(tolerance=1e-9))


def test_with_the_implied_value_a_horizon_ends_where_the_cycle_does(case, cycle, best):
    """Much less value moves the end further than the tolerance."""
    value, active = cycle_end_value(cycle), active_storage(cycle.limits)
    _, found = ending(case, best, YearEnd.VALUED, end_value_gwh_per_hm3=value)
    assert found.storages[-1] == pytest.approx(best.storages[-1], abs=0.02 * active)
    assert found.fitness == pytest.approx(best.fitness, rel=1e-5)
    _, lower = ending(case, best, YearEnd.VALUED, end_value_gwh_per_hm3=0.7 * value)
    assert lower.storages[-1] < best.storages[-1] - 0.04 * active


def test_a_plan_that_must_leave_what_the_valued_one_left_gives_water_the_same_value(case, cycle, best):
    """If the end is full, the water is worth a little more than the last hm3 left costs."""
    value = cycle_end_value(cycle)
    _, valued = ending(case, best, YearEnd.VALUED, end_value_gwh_per_hm3=value)
    problem, fixed = ending(case, best, YearEnd.FIXED, final_storage_hm3=valued.storages[-1])
    left = end_storage_value(problem, fixed.storages)
    full = valued.storages[-1] > problem.limits.storage_upper_hm3[11] - 0.01 * active_storage(problem.limits)
    assert value == pytest.approx(left, rel=0.01) or (full and value > left)


def test_a_cycle_that_cannot_keep_its_limits_implies_no_value(small, small_inflow):
    dry = replace(small_inflow, flow_m3s=np.full((3, 12), 0.5))
    (cycle,) = record_problems(cyclic(small), dry, Horizon(None)).each
    assert np.isnan(cycle_end_value(cycle))
