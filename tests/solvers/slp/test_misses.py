"""What systems miss of their limits at least: two lakes reckoned by hand, and random systems that no chance beats."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.problems.system import system_problems
from reservoir.solvers.slp import highs
from reservoir.solvers.slp.misses import ABOVE, BELOW, RELEASE, WITHDRAWAL, least_misses
from tests.problems.random_systems import PARTS, random_system
from tests.problems.test_systems_by_hand import VOLUME, inflow, lake

#: A lake that must release 40 m3/s and has 100 months of 1 m3/s in store.
THIRSTY = {"release_lower_m3s": np.full(12, 40.0), "start": 100.0}


def misses_of(links, lakes, flows):
    """What the one year of some lakes misses, in months of m3/s: in all, and by reservoir and kind."""
    system = System(tuple(lake(name, **more) for name, more in lakes.items()), tuple(links))
    inflows = SiteInflows({name: inflow(flows.get(name, 0.0)) for name in lakes})
    (batch,) = system_problems(system, inflows, Horizon()).batches
    (found,) = least_misses(batch)
    if found is None:
        return 0.0, {}
    kinds = {}
    for miss in found.misses:
        key = batch.system.names[miss.place], miss.kind
        kinds[key] = kinds.get(key, 0.0) + miss.hm3 / VOLUME
    return found.least_hm3 / VOLUME, kinds


def test_what_a_lake_above_may_not_let_through_is_missing_below():
    links, flows = [Link("a", "b")], {"a": 30, "b": 5}
    least, kinds = misses_of(links, {"a": {"most": 20.0}, "b": THIRSTY}, flows)
    assert least == pytest.approx(12 * (40 - 20 - 5) - 100)
    assert kinds == {("b", RELEASE): pytest.approx(80)}
    assert misses_of(links, {"a": {"most": 40.0}, "b": THIRSTY}, flows) == (0.0, {})


def test_delays_and_losses_of_links_are_reckoned_with():
    link = Link("a", "b", travel_steps=1.5, lost_share=0.1, lost_m3s=2.0, before_m3s=10)
    least, _ = misses_of([link], {"a": {"most": 20.0}, "b": THIRSTY}, {"a": 30, "b": 5})
    arriving = (9 - 2) + ((9 + 18) / 2 - 2) + 10 * (18 - 2)
    assert least == pytest.approx(12 * (40 - 5) - 100 - arriving)


def test_a_share_reaches_the_lake_below_and_no_more():
    links = [Link("a", "b", carries=0.25), Link("a", "c", carries=0.75)]
    lakes = {"a": {"most": 40.0}, "b": THIRSTY, "c": {}}
    least, _ = misses_of(links, lakes, {"a": 40, "b": 5})
    assert least == pytest.approx(12 * (40 - 5 - 10) - 100)


def test_of_turbined_water_the_turbines_take_so_much_at_most():
    lakes = {"a": {"most": 40.0, "turbines": 12.0}, "b": THIRSTY}
    least, _ = misses_of([Link("a", "b", carries="turbined")], lakes, {"a": 40, "b": 5})
    assert least == pytest.approx(12 * (40 - 5 - 12) - 100)
    # Anything may be spilled: the program does not know that turbines take what they can.
    assert misses_of([Link("a", "b", carries="spilled")], lakes, {"a": 40, "b": 5})[0] == 0.0


def test_a_flood_is_above_the_largest_storage():
    rigid = {"full": 50.0, "dead": 50.0, "start": 50.0, "most": 50.0}
    least, kinds = misses_of([Link("a", "b")], {"a": rigid, "b": {"most": 20.0, "full": 550.0}}, {"a": 50})
    above = np.cumsum([30.0] * 12) - 50
    assert least == pytest.approx(above[above > 0].sum())
    assert sum(kinds.values()) == pytest.approx(least)
    assert {kind for _, kind in kinds} == {ABOVE}


def test_an_end_that_cannot_be_reached_is_missed_where_it_costs_least():
    ends = {"year_end": YearEnd.FIXED, "final_storage_hm3": 500.0 * VOLUME, "start": 450.0}
    least, kinds = misses_of([Link("a", "b")], {"a": {"most": 2.0}, "b": ends}, {"a": 30, "b": 1})
    assert least == pytest.approx(500 - 450 - 12 * 3)
    assert kinds == {("b", BELOW): pytest.approx(14)}


def test_a_year_that_returns_to_its_start_cannot_give_more_than_flows_in():
    cyclic = {"year_end": YearEnd.CYCLIC, "initial_storage_hm3": None, "release_lower_m3s": np.full(12, 40.0)}
    least, _ = misses_of([Link("a", "b", travel_steps=1)], {"a": {"most": 20.0}, "b": cyclic}, {"a": 30, "b": 5})
    assert least == pytest.approx(12 * (40 - 5 - 20))  # 20 were under way, as much as a may release


def test_withdrawals_are_missed_too():
    lakes = {"a": {"most": 20.0}, "b": {"start": 0.0, "withdrawal_m3s": np.full(12, 30.0)}}
    least, kinds = misses_of([Link("a", "b")], lakes, {"a": 30, "b": 5})
    assert least == pytest.approx(12 * (30 - 25))
    assert kinds == {("b", WITHDRAWAL): pytest.approx(least)}


def missed_hm3(batch, operation):
    """What an operation of each year misses in all."""
    missed = 0.0
    for place, own in enumerate(operation.of_reservoirs):
        limits = batch.linked(place, operation.arriving_m3s[place], None).limits
        lower, upper = np.array(limits.storage_lower_hm3), np.array(limits.storage_upper_hm3)
        if limits.cyclic:
            lower[:, -1] = upper[:, -1] = own.storage_hm3[:, 0]
        outside = np.maximum(lower - own.storage_hm3[:, 1:], 0) + np.maximum(own.storage_hm3[:, 1:] - upper, 0)
        missed = missed + (outside + (own.missing_m3s + own.shortage_m3s) * batch.hm3_per_m3s).sum(axis=1)
    return missed


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("part_of_flow", [0.3, 3.0])
def test_no_operation_misses_less(part, part_of_flow):
    proved = 0
    for seed in range(3):
        system, flows = random_system(seed, part)
        flows = flows.each(lambda each: replace(each, flow_m3s=part_of_flow * each.flow_m3s))
        (batch,) = system_problems(system, flows, Horizon()).batches
        rng = np.random.default_rng(seed)
        tried = [missed_hm3(batch, batch.operate(rng.random((2, batch.dimension)))) for _ in range(10)]
        for year, found in enumerate(least_misses(batch)):
            if found is not None:
                proved += 1
                assert found.least_hm3 <= np.min(tried, axis=0)[year] * (1 + 1e-9)
                assert sum(miss.hm3 for miss in found.misses) >= found.least_hm3 * (1 - 1e-6)
    assert proved


def test_no_prices_prove_nothing_and_wrong_prices_prove_less(monkeypatch):
    links, lakes, flows = [Link("a", "b")], {"a": {"most": 20.0}, "b": THIRSTY}, {"a": 30, "b": 5}
    solve = highs.maximised

    def with_prices(change):
        def solved(*given):
            found = solve(*given)
            return found._replace(prices=change(found.prices))

        monkeypatch.setattr("reservoir.solvers.slp.misses.maximised", solved)
        return misses_of(links, lakes, flows)[0]

    assert with_prices(lambda prices: None) == 0.0
    assert 0 < with_prices(lambda prices: 0.9 * prices) < 80 - 1
    noise = np.random.default_rng(1)
    assert with_prices(lambda prices: prices + 1e-6 * noise.standard_normal(len(prices))) < 80
