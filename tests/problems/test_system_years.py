"""Years of a system: its loop against single reservoirs, positions back and forth, and the order of entries."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.system import Coding, system_problems


def positions(batch, seed=1):
    return np.random.default_rng(seed).random((len(batch), batch.dimension))


@pytest.fixture
def two(small):
    return replace(small, name="upper"), replace(small, name="lower")


@pytest.fixture
def inflows(small_inflow):
    return SiteInflows({"upper": small_inflow, "lower": small_inflow})


def test_a_system_of_one_is_its_reservoir_to_the_last_bit(small, small_inflow):
    (alone,) = record_problems(small, small_inflow, Horizon()).batches
    (system,) = system_problems(System.of(small), SiteInflows({small.name: small_inflow}), Horizon()).batches
    releases = np.random.default_rng(2).uniform(alone.lower[:, :12], alone.upper[:, :12])
    starts = alone.limits.start_bounds_hm3[:, 0]
    own = alone.operate(np.column_stack([releases, starts]) if alone.limits.cyclic else releases)
    through = system.operate_releases(releases[:, np.newaxis], starts[:, np.newaxis])
    assert through.benefit.tobytes() == own.benefit.tobytes()
    assert through.of_reservoirs[0].storage_hm3.tobytes() == own.storage_hm3.tobytes()
    assert system.penalty == alone.penalty


def test_independent_reservoirs_are_the_sum_of_each(two, inflows):
    upper, lower = two
    (both,) = system_problems(System(two), inflows, Horizon()).batches
    found = both.operate(positions(both))
    for place, name in enumerate(both.system.names):
        one = {"upper": upper, "lower": lower}[name]
        (alone,) = system_problems(System.of(one), SiteInflows({name: inflows[name]}), Horizon()).batches
        first, stop, _ = both.variables[place]
        own = alone.operate(positions(both)[:, first:stop])
        np.testing.assert_array_equal(found.of_reservoirs[place].release_m3s, own.of_reservoirs[0].release_m3s)
    np.testing.assert_array_equal(found.annual_energy_gwh, sum(each.annual_energy_gwh for each in found.of_reservoirs))


def test_water_is_handed_on_and_kept(two, inflows):
    (batch,) = system_problems(
        System(two, (Link("upper", "lower", travel_steps=0.5, lost_share=0.1),)), inflows, Horizon()
    ).batches
    found, volume = batch.operate(positions(batch)), batch.hm3_per_m3s
    upper, lower = found.of_reservoirs
    link = batch.system.links[0]
    assert link.before_m3s is not None
    arrived = (found.arriving_m3s[1] * volume).sum(axis=1)
    sent = 0.9 * (upper.release_m3s * volume).sum(axis=1)
    begun = 0.45 * link.before_m3s * volume[:, -1]
    np.testing.assert_allclose(arrived, sent + begun - found.under_way_hm3(link), rtol=1e-12)
    inflow = inflows["lower"].flow_m3s + found.arriving_m3s[1]
    gained = ((inflow - lower.release_m3s) * volume).sum(axis=1)
    np.testing.assert_allclose(lower.storage_hm3[:, -1] - lower.storage_hm3[:, 0], gained, atol=1e-6)


@pytest.mark.parametrize("year_end", list(YearEnd))
@pytest.mark.parametrize("coding", list(Coding))
def test_positions_and_operations_are_the_same_thing(two, inflows, year_end, coding):
    def ended(reservoir):
        initial = reservoir.storage_upper_hm3.min()
        storages = {"initial_storage_hm3": initial, "final_storage_hm3": initial}
        if year_end is not YearEnd.FIXED:
            storages["final_storage_hm3"] = None
        if year_end is YearEnd.CYCLIC:
            storages["initial_storage_hm3"] = None
        value = 0.01 if year_end is YearEnd.VALUED else None
        return replace(reservoir, year_end=year_end, end_value_gwh_per_hm3=value, **storages)

    system = System(tuple(map(ended, two)), (Link("upper", "lower"),))
    (batch,) = system_problems(system, inflows, Horizon()).batches
    batch = replace(batch, coding=coding)
    found = batch.operate(positions(batch))
    again = replace(batch, coding=Coding.RELATIVE).operate(batch.positions_of(found))
    np.testing.assert_allclose(again.stacked("storage_hm3"), found.stacked("storage_hm3"), atol=1e-7)
    np.testing.assert_allclose(again.benefit, found.benefit, rtol=1e-9)
    for year in (0, len(batch) - 1):
        one = batch[year].certify(positions(batch)[year])
        assert one.fitness == batch.fitness_of(found)[year]


def test_the_order_of_entries_does_not_matter(two, inflows):
    link = Link("upper", "lower")
    batches = [system_problems(System(given, (link,)), inflows, Horizon()).batches[0] for given in (two, two[::-1])]
    found = [batch.operate(positions(batch)) for batch in batches]
    assert found[0].benefit.tobytes() == found[1].benefit.tobytes()
    assert batches[0].system.names == ("upper", "lower")


def test_a_lake_below_takes_head_away(two, inflows):
    energies = []
    for backwater in (False, True):
        system = System(two, (Link("upper", "lower", backwater=backwater),))
        (batch,) = system_problems(system, inflows, Horizon()).batches
        found = batch.operate(positions(batch))
        energies.append(found.stacked("energy_gwh"))
        head = found.of_reservoirs[0].mean_level_m - found.of_reservoirs[0].head_m
        tailrace = found.of_reservoirs[0].tailrace_m
        expected = np.maximum(tailrace, found.of_reservoirs[1].mean_level_m) if backwater else tailrace
        np.testing.assert_allclose(head, expected, atol=1e-9)
    np.testing.assert_array_equal(energies[0][:, 1], energies[1][:, 1])
    assert (energies[1][:, 0] <= energies[0][:, 0]).all()


def test_horizons_join_years(two, inflows):
    system = System(two, (Link("upper", "lower"),))
    problems = system_problems(system, inflows, Horizon(None))
    (batch,) = problems.batches
    assert (len(batch), batch.steps) == (1, inflows.years * 12)
    operation = problems.operate(positions(batch))
    assert operation.stacked("release_m3s").shape == (inflows.years, 2, 12)
    assert operation.hm3_per_m3s.shape == (inflows.years, 12)
