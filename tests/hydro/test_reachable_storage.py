"""A storage is reachable exactly when the year can be completed from it (eq. 16-17)."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.horizon_limits import year_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits, corridor, reachable_storage
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from tests.hydro import paper
from tests.hydro.trials import Case, Draw, Trial, all_years, ordinary_years, storage_scale, trial
from tests.year_ends import cyclic, free

steps = st.integers(0, 11)


@pytest.fixture(scope="module", params=["xiaowan", "small"])
def turning(request: pytest.FixtureRequest) -> Case:
    """Both cases with cyclic years."""
    record = {"xiaowan": "five_years", "small": "small_inflow"}[request.param]
    return cyclic(request.getfixturevalue(request.param)), request.getfixturevalue(record)


def possible(case: Case, draw: Draw) -> Trial:
    """A year in which some storage is reachable at the end of every month."""
    tried = trial(case, draw)
    lower, upper = paper.reachable(tried.year)
    assume(all(low <= high for low, high in zip(lower, upper, strict=True)))
    return tried


def started(tried: Trial) -> Limits:
    """The limits of a year whose start is known."""
    return tried.limits.starting_at(tried.year.start)


def rounding(year: paper.Year) -> float:
    """A difference of storages larger than rounding makes."""
    return 1e-9 * storage_scale(year)


@given(ordinary_years)
def test_reachable_bounds_are_the_papers(case: Case, draw: Draw) -> None:
    tried = possible(case, draw)
    np.testing.assert_allclose(reachable_storage(started(tried)), paper.reachable(tried.year), rtol=1e-12)


@given(ordinary_years, steps, st.floats(0.0, 1.0))
def test_a_year_can_be_completed_from_every_reachable_storage(case: Case, draw: Draw, step: int, part: float) -> None:
    tried = possible(case, draw)
    lowest, highest = (bound[step] for bound in reachable_storage(started(tried)))
    storage = lowest + part * (highest - lowest)
    assert paper.completable(tried.year, step, storage, rounding(tried.year))


@given(ordinary_years, steps, st.booleans(), st.floats(1e-6, 0.5))
def test_a_year_cannot_be_completed_from_a_storage_outside(
    case: Case, draw: Draw, step: int, above: bool, excess: float
) -> None:
    tried = possible(case, draw)
    lowest, highest = (bound[step] for bound in reachable_storage(started(tried)))
    away = excess * storage_scale(tried.year)
    storage = highest + away if above else lowest - away
    least, most = tried.year.bounds(step)
    assert not (least <= storage <= most and paper.completable(tried.year, step, storage))


@given(ordinary_years)
def test_bounds_for_a_cyclic_start_are_those_of_a_year_fixed_there(turning: Case, draw: Draw) -> None:
    tried = trial(turning, draw)
    assume(paper.feasible(tried.year))
    year = tried.limits.arrays()
    drifts = np.stack([year.drift_lower, year.drift_upper])
    found = np.clip(tried.year.start - drifts, year.reach_lower, year.reach_upper)
    np.testing.assert_allclose(found, paper.reachable(tried.year), rtol=1e-10)


@given(ordinary_years)
def test_every_feasible_trajectory_runs_within_the_corridor(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    assume(paper.feasible(tried.year))
    lower, upper = corridor(started(tried))
    storages = tried.operate().storage_hm3
    assert np.all(storages >= lower - rounding(tried.year))
    assert np.all(storages <= upper + rounding(tried.year))


@given(ordinary_years, st.booleans())
def test_keeping_or_releasing_all_one_can_runs_along_a_wall_of_the_corridor(case: Case, draw: Draw, keep: bool) -> None:
    tried = trial(case, draw)
    assume(paper.feasible(tried.year))
    found = tried.operate(np.array(tried.year.release_lower if keep else tried.year.release_upper))
    wall = corridor(started(tried))[int(keep)]
    np.testing.assert_allclose(found.storage_hm3, wall, rtol=0, atol=rounding(tried.year))


def limits_of(reservoir: Reservoir) -> Limits:
    """The limits of an even year."""
    record = Inflow(flow_m3s=np.full((1, 12), 30.0), calendar=Calendar(1955, 1, reservoir.first_month))
    return year_limits(System.of(reservoir), record)[0]


def test_a_fixed_year_ends_at_its_final_storage(small: Reservoir) -> None:
    limits = limits_of(small)
    assert (limits.storage_lower_hm3[-1], limits.storage_upper_hm3[-1]) == (95.0, 95.0)
    assert limits.initial_storage_hm3 == 105.0
    assert limits.start_bounds_hm3.tolist() == [105.0, 105.0]


def test_a_free_year_ends_anywhere_within_the_bounds_of_its_last_month(small: Reservoir) -> None:
    limits = limits_of(free(small))
    assert (limits.storage_lower_hm3[-1], limits.storage_upper_hm3[-1]) == (30.0, 110.0)
    assert not limits.cyclic


def test_a_cyclic_year_starts_and_ends_anywhere_within_the_bounds_of_its_last_month(small: Reservoir) -> None:
    limits = limits_of(cyclic(small))
    assert limits.cyclic
    assert limits.start_bounds_hm3 == pytest.approx([30.0, 110.0], abs=0.01)
    fixed = limits.starting_at(70.0)
    assert (fixed.storage_lower_hm3[-1], fixed.storage_upper_hm3[-1], fixed.initial_storage_hm3) == (70.0, 70.0, 70.0)


@given(all_years)
def test_a_cyclic_year_may_start_wherever_it_can_return_to(turning: Case, draw: Draw) -> None:
    tried = trial(turning, draw)
    lowest, highest = tried.limits.start_bounds_hm3
    least, most = tried.limits.storage_lower_hm3[-1], tried.limits.storage_upper_hm3[-1]
    assert least <= lowest <= highest <= most
    if not paper.feasible(tried.year):
        outside = not lowest < tried.year.start < highest
        assert outside or (lowest, highest) == (least, most)
    elif not lowest <= tried.year.start <= highest:
        near = np.abs(tried.year.start - np.array([lowest, highest])).min()
        assert near <= 1e-4 * storage_scale(tried.year)


@pytest.mark.parametrize("bound", ["storage_lower_hm3", "storage_upper_hm3", "release_lower_m3s", "release_upper_m3s"])
def test_monthly_bounds_follow_the_water_year(small: Reservoir, bound: str) -> None:
    june_first = np.roll(getattr(small, bound), -5)
    np.testing.assert_array_equal(getattr(limits_of(small), bound)[:-1], june_first[:-1])


def test_the_years_of_a_record_share_bounds_but_not_days_and_inflow(small: Reservoir, small_inflow: Inflow) -> None:
    limits = year_limits(System.of(small), small_inflow)
    leap, usual = limits[0], limits[1]
    assert len(limits) == 3
    assert leap.hm3_per_m3s[8] == pytest.approx(29 * 0.0864)
    assert usual.hm3_per_m3s[8] == pytest.approx(28 * 0.0864)
    np.testing.assert_array_equal(usual.inflow_m3s, small_inflow.flow_m3s[1])
    np.testing.assert_array_equal(leap.storage_upper_hm3, usual.storage_upper_hm3)
