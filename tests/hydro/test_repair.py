"""The repair (eq. 16-19) keeps release and storage within their bounds and changes nothing that needs no change."""

import numpy as np
from hypothesis import assume, given

from tests.hydro import paper
from tests.hydro.trials import Case, Draw, all_years, ordinary_years, storage_scale, trial


@given(all_years)
def test_water_balance_closes_to_a_billionth(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    operation = tried.operate()
    expected = paper.storages_of(tried.year, operation.release_m3s.tolist())
    steps = np.diff(operation.storage_hm3) - np.diff(expected)
    assert np.abs(steps).max() <= 1e-9 * storage_scale(tried.year)
    assert np.abs(operation.storage_hm3 - expected).max() <= 1e-9 * np.abs(expected).max()


@given(all_years)
def test_release_leaves_its_bounds_only_where_there_is_no_more_water(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    found = tried.operate()
    assert np.all(found.release_m3s <= tried.year.release_upper)
    short = found.release_m3s < tried.year.release_lower
    assert np.all(found.release_m3s >= 0)
    assert np.all(found.storage_hm3[1:][short] <= tried.year.dead)
    lower = np.array(tried.year.release_lower)
    np.testing.assert_allclose(found.missing_m3s[short], (lower - found.release_m3s)[short], atol=1e-9 * lower.max())


@given(all_years)
def test_storage_is_never_below_dead_storage(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    assert np.all(tried.operate().storage_hm3[1:] >= tried.year.dead)


@given(ordinary_years)
def test_storage_never_leaves_its_bounds_in_a_year_that_can_be_satisfied(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    assume(paper.feasible(tried.year))
    operation = tried.operate()
    lower, upper = np.transpose([tried.year.bounds(step) for step in range(12)])
    assert operation.violation.sum() == 0
    assert np.all(operation.storage_hm3[1:] >= lower)
    assert np.all(operation.storage_hm3[1:] <= upper)


@given(ordinary_years)
def test_repaired_releases_are_the_papers(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    assume(paper.feasible(tried.year))
    operation = tried.operate()
    releases, storages = paper.repaired(tried.year, tried.within.tolist())
    np.testing.assert_allclose(operation.storage_hm3, storages, rtol=0, atol=1e-10 * storage_scale(tried.year))
    np.testing.assert_allclose(operation.release_m3s, releases, rtol=1e-8)


@given(all_years)
def test_repair_is_idempotent(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    once = tried.operate()
    twice = tried.operate(once.release_m3s)
    np.testing.assert_allclose(twice.release_m3s, once.release_m3s, rtol=1e-9)
    np.testing.assert_allclose(twice.storage_hm3, once.storage_hm3, rtol=0, atol=1e-9 * storage_scale(tried.year))
    assert twice.violation.sum() <= once.violation.sum() + 1e-12


@given(ordinary_years)
def test_releases_that_keep_every_bound_are_left_alone(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    assume(paper.feasible(tried.year))
    releases, _ = paper.repaired(tried.year, tried.wanted.tolist())
    np.testing.assert_allclose(tried.operate(np.array(releases)).release_m3s, releases, rtol=1e-9)


@given(ordinary_years)
def test_only_months_that_would_leave_the_reachable_storages_are_changed(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    assume(paper.feasible(tried.year))
    found = tried.operate()
    changed = np.abs(found.release_m3s - tried.within) > 1e-6 * np.abs(tried.within)
    ends = found.storage_hm3[1:]
    at_a_bound = np.any(np.abs(ends - paper.reachable(tried.year)) <= 1e-9 * storage_scale(tried.year), axis=0)
    assert np.all(at_a_bound[changed])


@given(all_years)
def test_the_releases_asked_for_are_not_changed_in_place(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    before = tried.wanted.copy()
    tried.operate()
    np.testing.assert_array_equal(tried.wanted, before)
