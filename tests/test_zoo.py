"""The zoo's reservoirs: what is promised of them, and that all can be planned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.commitments import NO_COMMITMENTS, is_committed
from reservoir.hydro.curves.approximation import POWER_TOLERANCE, approximate
from reservoir.hydro.reservoir import reservoir_digests
from reservoir.zoo import Part, Regime, Start, zoo_case, zoo_system

HM3_PER_YEAR_AND_M3S = 31.5576


@pytest.fixture(scope="module")
def cases():
    return [case for part in Part for case in (zoo_case(number, 30, part=part) for number in range(40))]


def test_a_number_is_always_the_same_reservoir_and_record():
    one, again = zoo_case(7, 20), zoo_case(7, 20)
    assert one.traits == again.traits
    assert one.reservoir.to_toml() == again.reservoir.to_toml()
    np.testing.assert_array_equal(one.inflow.flow_m3s, again.inflow.flow_m3s)


def test_parts_and_seeds_have_other_reservoirs():
    of = {zoo_case(3, 1, part=part, seed=seed).traits for part in Part for seed in (1, 2)}
    assert len(of) == 4


def test_curves_are_within_the_tolerance_of_what_engines_evaluate(cases):
    for case in cases:
        assert approximate(case.reservoir).power_error <= POWER_TOLERANCE, case.reservoir.name


def test_reservoirs_have_the_traits_that_were_drawn(cases):
    for case in cases:
        traits, reservoir = case.traits, case.reservoir
        dead, full = reservoir.storage_lower_hm3.min(), reservoir.storage_upper_hm3.max()
        active = traits.storage_ratio * traits.mean_inflow_m3s * HM3_PER_YEAR_AND_M3S
        levels = reservoir.level([dead, full])
        assert full - dead == pytest.approx(active, rel=1e-3)
        assert levels[1] - levels[0] == pytest.approx(traits.head_share * traits.head_m, rel=1e-3)
        assert levels[1] - reservoir.tailrace(0.0) == pytest.approx(traits.head_m, rel=1e-3)
        assert reservoir.release_lower_m3s.max() == pytest.approx(traits.least_release_share * traits.mean_inflow_m3s)
        assert (reservoir.storage_upper_hm3.min() < full) == (traits.flood_share > 0)


def test_all_kinds_occur(cases):
    drawn = [case.traits for case in cases]
    assert {each.regime for each in drawn} == set(Regime)
    assert {each.start for each in drawn} == set(Start)
    assert {each.year_end for each in drawn} == {YearEnd.FIXED, YearEnd.FREE, YearEnd.CYCLIC}
    for name in ("persistence", "evaporation_mm", "flood_share", "least_release_share"):
        assert 0 < sum(getattr(each, name) == 0 for each in drawn) < len(drawn)


def test_records_have_the_drawn_mean_and_persistence():
    cases = [zoo_case(number, 300) for number in range(60)]
    persistent = [case for case in cases if case.traits.persistence > 0.5]
    independent = [case for case in cases if case.traits.persistence == 0]

    def of_next_year(case):
        years = np.log(case.inflow.flow_m3s.mean(axis=1))
        return np.corrcoef(years[1:], years[:-1])[0, 1]

    assert np.mean([of_next_year(case) for case in persistent]) > 0.35
    assert abs(np.mean([of_next_year(case) for case in independent])) < 0.1
    for case in persistent + independent:
        assert case.inflow.flow_m3s.mean() == pytest.approx(case.traits.mean_inflow_m3s, rel=0.35)


def test_a_number_is_always_the_same_river():
    (one, flows), (again, same) = zoo_system(4, 2), zoo_system(4, 2)
    assert one.links == again.links
    np.testing.assert_array_equal(flows.flow_m3s, same.flow_m3s)
    for first, second in zip(one.reservoirs, again.reservoirs, strict=True):
        assert reservoir_digests(first) == reservoir_digests(second)
    assert not np.array_equal(zoo_system(4, 2, part=Part.TEST)[1].first.flow_m3s, flows.first.flow_m3s)


def test_commitments_are_added_to_the_same_river():
    free, tiered = zoo_system(4, 2)[0], set()
    for number in range(4, 10):
        committed, flows = zoo_system(number, 2, committed=True)
        of_them = [each for each in committed.reservoirs if is_committed(each)]
        assert of_them[-1].name == committed.names[-1]
        tiered |= {bool(each.tier_level_m) for each in of_them}
        if number == 4:
            np.testing.assert_array_equal(flows.flow_m3s, zoo_system(4, 2)[1].flow_m3s)
            plain = [replace(each, **NO_COMMITMENTS) for each in committed.reservoirs]
            for one, other in zip(plain, free.reservoirs, strict=True):
                assert reservoir_digests(one) == reservoir_digests(other)
    assert tiered == {True, False}


def test_no_river_is_to_release_more_than_it_may():
    for part in Part:
        for number in range(60):
            zoo_system(number, 2, part=part, committed=True)  # refuses what contradicts itself


def test_rivers_have_all_kinds_of_links_and_end_in_one_reservoir():
    systems = [zoo_system(number, 1)[0] for number in range(40)]
    assert {len(system.names) for system in systems} == {2, 3, 4, 5, 6}
    links = [link for system in systems for link in system.links]
    assert {str(link.carries) for link in links} >= {"all", "turbined", "spilled"}
    assert any(isinstance(link.carries, float) for link in links)
    assert {0, 1, 2} == {int(np.ceil(min(link.travel_steps, 2))) for link in links}
    assert any(link.lost_share for link in links)
    for system in systems:
        assert {link.source for link in system.links} == set(system.names[:-1])
    assert len(zoo_system(0, 1, reservoirs=20)[0].names) == 20
