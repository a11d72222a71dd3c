"""Energy, violation and fitness of a year (eq. 6, 20, 21) are the paper's."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.step import relative_violation
from tests.hydro import paper
from tests.hydro.trials import Case, Draw, all_years, extreme_years, ordinary_years, trial


@given(all_years)
def test_benefit_is_the_energy_of_the_releases_and_storages(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    found = tried.operate()
    expected = paper.energy_gwh(tried.reservoir, tried.year, found.release_m3s.tolist(), found.storage_hm3.tolist())
    assert found.benefit == pytest.approx(expected, rel=1e-12)


@given(ordinary_years)
def test_every_column_is_the_papers(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    found, plant = tried.operate(), tried.reservoir
    mean = (found.storage_hm3[:-1] + found.storage_hm3[1:]) / 2
    np.testing.assert_allclose(found.level_m, plant.level(found.storage_hm3[1:]), rtol=1e-12)
    np.testing.assert_allclose(found.mean_level_m, plant.level(mean), rtol=1e-12)
    np.testing.assert_allclose(found.tailrace_m, plant.tailrace(found.release_m3s), rtol=1e-12)
    np.testing.assert_allclose(found.head_m, found.mean_level_m - found.tailrace_m, rtol=1e-12)
    power = paper.powers(plant, found.release_m3s.tolist(), found.storage_hm3.tolist())
    np.testing.assert_allclose(found.power_mw, power, rtol=1e-12)
    np.testing.assert_allclose(found.energy_gwh, power * 24 * np.array(tried.year.days) / 1000, rtol=1e-12)
    turbined = [paper.turbined(plant, *state) for state in zip(found.head_m, found.release_m3s, strict=True)]
    np.testing.assert_allclose(found.turbined_m3s, turbined, rtol=1e-12)


@given(all_years)
def test_power_and_discharge_keep_their_limits_in_every_year(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    found = tried.operate()
    assert np.all(found.power_mw <= tried.reservoir.installed_mw)
    assert np.all(found.turbined_m3s <= found.release_m3s)


@given(all_years)
def test_violation_is_relative_to_the_bound_that_is_broken(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    found = tried.operate()
    missing = paper.missing(tried.year, found.release_m3s.tolist())
    expected = np.add(paper.violations(tried.year, found.storage_hm3.tolist()), missing)
    np.testing.assert_allclose(found.violation, expected, rtol=1e-9, atol=1e-15)


@given(extreme_years)
def test_a_year_shows_a_violation_exactly_when_it_cannot_be_satisfied(case: Case, draw: Draw) -> None:
    tried = trial(case, draw)
    assert (tried.operate().violation.sum() > 0) == (not paper.feasible(tried.year))


def test_a_bound_of_nothing_is_measured_by_the_largest_storage() -> None:
    below = np.array([0.0, -12.0, -60.0])
    np.testing.assert_allclose(relative_violation(below, 0.0, 100.0, 120.0), [0.0, 0.1, 0.5])


def test_an_empty_lake_releases_what_flows_in(small: Reservoir, small_inflow: Inflow) -> None:
    level = replace(small.level, domain=(0.0, 130.0))
    dry = replace(small, storage_lower_hm3=np.zeros(12), level=level)
    tried = trial((dry, small_inflow), Draw(0, np.full(12, 1e-3), np.ones(12)))
    found = tried.operate()
    empty = found.storage_hm3[1:] == 0
    assert empty[:-1].any()
    after = np.append(False, empty[:-1]) & empty
    np.testing.assert_allclose(found.release_m3s[after], np.array(tried.year.inflow)[after], rtol=1e-12)
    np.testing.assert_allclose(found.missing_m3s[after], (tried.year.release_lower - found.release_m3s)[after])
    assert np.all(found.violation[after] > 0)


@given(all_years, st.floats(0, 1e5))
def test_fitness_is_benefit_less_the_penalty_of_the_violations(case: Case, draw: Draw, penalty: float) -> None:
    found = trial(case, draw).operate()
    expected = found.energy_gwh.sum() - penalty * found.violation.sum()
    assert found.fitness(penalty) == pytest.approx(expected, rel=1e-12)


def test_the_bundled_reservoir_makes_4200_mw_for_8760_hours_at_most(xiaowan: Reservoir, five_years: Inflow) -> None:
    found = trial((xiaowan, five_years), Draw(1, np.full(12, 1.5), np.full(12, 0.6))).operate()
    assert 0.5 * 36_792 < found.benefit <= 36_792
