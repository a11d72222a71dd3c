"""Water values are slopes: problems are solved again from a little more and a little less storage."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.limits import satisfiable
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.reservoir.year import ReservoirYears
from reservoir.solvers.dp import GridSettings, water_value
from reservoir.solvers.dp import water_value as end_value
from reservoir.solvers.dp.sequential import best_trajectory
from reservoir.solvers.dp.water_value import (
    STORAGE_CHANGE,
    TRAJECTORY_CHANGE,
    active_storage,
    completable,
    end_storage_value,
    water_values,
)
from tests.year_ends import cyclic, free

#: How problems are solved again.
TIGHT = GridSettings(states=201, most_states=201, tolerance=1e-9)
#: How closely water values agree with them; where they are near 0, to this fraction of the largest.
AGREEMENT, OF_LARGEST = 0.01, 0.002
LEVELS, END_VALUE = 11, 0.12

CASES = {
    "a fixed end": ("small", 1),
    "a fixed end of a record": ("lake", None),
    "windows": ("lake", 2),
    "a free end": ("free lake", None),
    "a free year": ("free small", 1),
    "a cyclic record": ("cyclic lake", None),
    "losses and withdrawals": ("lossy", 2),
    "losses and a valued end": ("valued lossy", None),
    "the bundled case": ("xiaowan", 1),
    "the bundled case, three years": ("free xiaowan", 3),
}


@pytest.fixture(scope="module")
def lake(small):
    """The small reservoir with a smaller river, which fills it once a year or less."""
    ends = {"initial_storage_hm3": 50.0, "final_storage_hm3": 50.0}
    return replace(small, **ends, release_lower_m3s=np.full(12, 0.5))


@pytest.fixture(scope="module")
def river(small_inflow):
    return replace(small_inflow, flow_m3s=small_inflow.flow_m3s / 8)


@pytest.fixture(scope="module")
def lossy(small):
    """The small reservoir with losses of the lake and demands on the plant."""
    return replace(
        small,
        evaporation_mm=np.array([20.0, 30, 50, 80, 110, 130, 140, 120, 80, 50, 30, -20]),
        seepage_m3s=Table((20.0, 120.0), (0.1, 0.6)),
        withdrawal_m3s=np.linspace(0.5, 2.0, 12),
        plant_factor=np.linspace(0.7, 1.0, 12),
    )


@pytest.fixture(scope="module", params=CASES)
def problem(request, xiaowan, five_years, small, small_inflow, lake, river, lossy) -> ReservoirYears:
    named, years = CASES[request.param]
    end, _, name = named.rpartition(" ")
    reservoirs = {
        "small": (small, small_inflow),
        "lake": (lake, river),
        "lossy": (lossy, small_inflow.span(0, 2)),
        "xiaowan": (xiaowan, five_years.span(0, 3)),
    }
    reservoir, inflow = reservoirs[name]
    changed = {"": lambda same: same, "free": free, "cyclic": cyclic, "valued": valued}[end](reservoir)
    return record_problems(changed, inflow, Horizon(years)).each[0]


@pytest.fixture(scope="module")
def trajectory(problem):
    return best_trajectory(problem, GridSettings()).storages


@pytest.fixture(scope="module")
def levels(problem):
    return np.linspace(problem.limits.storage_lower_hm3.min(), problem.limits.storage_upper_hm3.max(), LEVELS)


@pytest.fixture(scope="module")
def found(problem, trajectory, levels):
    return water_values(problem, trajectory, levels)


def valued(reservoir: Reservoir) -> Reservoir:
    return replace(reservoir, year_end=YearEnd.VALUED, final_storage_hm3=None, end_value_gwh_per_hm3=END_VALUE)


def held(problem: ReservoirYears, trajectory: np.ndarray) -> ReservoirYears:
    """A problem with the start and the end of a trajectory."""
    limits = problem.limits
    return replace(problem, limits=limits.starting_at(trajectory[0])) if limits.cyclic else problem


def rest_of(problem: ReservoirYears, step: int, storage: float) -> ReservoirYears:
    """The steps from one on, from a storage."""
    rest = {name: row[..., step:].copy() for name, row in problem.limits.rows.items()}
    return replace(problem, limits=replace(problem.limits, rows=rest).starting_at(storage))


def slope(problem: ReservoirYears, step: int, storage: float, change: float) -> float:
    """Slope by solving the rest twice, at storages from which it can be completed with all withdrawals.

    A valued end counts the change of storage, here from two starts: that of the start is taken off.
    """
    lower, upper = completable(problem.limits.delivering())
    low, high = max(storage - change, lower[step]), min(storage + change, upper[step])
    of_low, of_high = (best_trajectory(rest_of(problem, step, at), TIGHT).fitness for at in (low, high))
    end_value = float(problem.limits.end_value) if problem.limits.lake else 0.0
    return (of_high - of_low) / (high - low) + end_value


def test_water_values_on_the_trajectory_are_slopes_of_problems_solved_again(problem, trajectory, found):
    again, change = held(problem, trajectory), TRAJECTORY_CHANGE * active_storage(problem.limits)
    steps = range(0, problem.limits.steps, max(problem.limits.steps // 4, 1))
    slopes = [slope(again, step, trajectory[step], change) for step in steps]
    assert found[0][steps] == pytest.approx(slopes, rel=AGREEMENT, abs=OF_LARGEST * max(slopes))


def test_water_values_at_other_storages_are_slopes_of_problems_solved_again(problem, trajectory, levels, found):
    again, change = held(problem, trajectory), STORAGE_CHANGE * active_storage(problem.limits)
    tried = [
        (step, level) for step, level in np.argwhere(np.isfinite(found[1])).tolist() if (step * 7 + level) % 61 == 0
    ]
    assert tried
    slopes = [slope(again, step, levels[level], change) for step, level in tried]
    values = [found[1][place] for place in map(tuple, tried)]
    assert values == pytest.approx(slopes, rel=AGREEMENT, abs=OF_LARGEST * max(slopes))


def test_the_value_of_the_end_is_what_a_lower_end_adds(problem, trajectory):
    again, change = held(problem, trajectory), TRAJECTORY_CHANGE * active_storage(problem.limits)
    value = end_storage_value(problem, trajectory)
    if again.limits.storage_lower_hm3[-1] < again.limits.storage_upper_hm3[-1]:
        assert value == (END_VALUE if problem.limits.lake else 0)
        return
    ends = trajectory[-1] - change, min(trajectory[-1] + change, problem.limits.storage_upper_hm3.max())
    of_low, of_high = (best_trajectory(ending_at(again, end), TIGHT).fitness for end in ends)
    assert value == pytest.approx((of_low - of_high) / (ends[1] - ends[0]), rel=AGREEMENT)


def ending_at(problem: ReservoirYears, end: float) -> ReservoirYears:
    return replace(problem, limits=problem.limits.ending_within(end, end))


def test_a_horizon_can_be_completed_from_the_ends_of_the_range_and_from_no_storage_beyond_them(problem, trajectory):
    again, beyond = held(problem, trajectory), 1e-3 * active_storage(problem.limits)
    lower, upper = completable(again.limits.delivering())
    least, most = again.limits.storage_lower_hm3.min(), again.limits.storage_upper_hm3.max()
    for step in range(0, problem.limits.steps, 5):
        for end, outward, bound in ((lower[step], -beyond, least), (upper[step], beyond, most)):
            assert satisfiable(rest_of(again, step, end - outward / 100).limits)
            if step == 0 and end != bound:
                assert not satisfiable(rest_of(again, step, end + outward).limits)


def test_results_do_not_depend_on_how_many_steps_are_in_memory(problem, trajectory, levels, found, monkeypatch):
    monkeypatch.setattr(water_value, "_BLOCK", 5)
    for one, other in zip(found, water_values(problem, trajectory, levels), strict=True):
        assert np.array_equal(one, other, equal_nan=True)


def test_of_a_very_long_horizon_the_last_steps_are_solved_again_for_the_value_of_the_end(
    lossy, small_inflow, monkeypatch
):
    """The reservoir is full, and all the same for any end, within the last two years."""
    problem = record_problems(lossy, small_inflow, Horizon(None)).each[0]
    trajectory = best_trajectory(problem, GridSettings()).storages
    whole = end_storage_value(problem, trajectory)
    assert active_storage(problem.limits) * 1e-3 > (problem.limits.storage_upper_hm3[12:] - trajectory[13:]).min()
    monkeypatch.setattr(end_value, "_STEPS_SOLVED_AGAIN", 24)
    assert end_storage_value(problem, trajectory) == pytest.approx(whole, rel=1e-4)


def test_at_a_full_reservoir_the_slope_is_that_of_less_storage(xiaowan, five_years):
    problem = record_problems(xiaowan, five_years, Horizon(1)).each[0]
    full, change = xiaowan.initial_storage_hm3, TRAJECTORY_CHANGE * active_storage(problem.limits)
    assert full == problem.limits.storage_upper_hm3.max()
    fitness = [best_trajectory(rest_of(problem, 0, storage), TIGHT).fitness for storage in (full - change, full)]
    trajectory = best_trajectory(problem, GridSettings()).storages
    value = water_values(problem, trajectory, np.array([full]))[0][0]
    assert value == pytest.approx((fitness[1] - fitness[0]) / change, rel=1e-3)


def test_where_only_one_storage_is_possible_there_is_no_water_value(lake, river):
    lower, upper = lake.storage_lower_hm3.copy(), lake.storage_upper_hm3.copy()
    lower[7] = upper[7] = 60.0  # August
    problem = record_problems(replace(lake, storage_lower_hm3=lower, storage_upper_hm3=upper), river, Horizon(1)).each[
        0
    ]
    trajectory = best_trajectory(problem, GridSettings()).storages
    values, at_levels = water_values(problem, trajectory, np.array([60.0, 70.0]))
    assert np.isnan(values).tolist() == [step == 3 for step in range(12)]
    assert np.isnan(at_levels[3]).all()
    assert np.isfinite(at_levels[[0, 4]]).all()


def test_what_a_violation_costs_is_in_the_value(small, small_inflow):
    """Almost without inflow the least release empties the reservoir: with more water it violates its limits less."""
    dry = replace(small_inflow, flow_m3s=np.full((3, 12), 0.5))
    problem, step = record_problems(small, dry, Horizon(1)).each[0], 5
    change = TRAJECTORY_CHANGE * active_storage(problem.limits)
    trajectory = best_trajectory(problem, GridSettings()).storages
    ends = trajectory[step], trajectory[step] + change
    fitness = [best_trajectory(rest_of(problem, step, end), TIGHT).fitness for end in ends]
    values, _ = water_values(problem, trajectory, np.array([60.0]))
    assert values[step] == pytest.approx((fitness[1] - fitness[0]) / change, rel=AGREEMENT)
    assert values[step] > 10
