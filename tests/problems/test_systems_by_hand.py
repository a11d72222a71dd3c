"""Small systems whose water, power and best schedules are reckoned by hand: 1 m3/s is 1 MW, months are of 30 days."""

from typing import Any

import numpy as np
import pytest

from reservoir.hydro.attributes import ConversionKind, YearEnd
from reservoir.hydro.calendar import Calendar, CalendarKind
from reservoir.hydro.curves.curve import constant
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.planning.firm_power import firm_power_mw
from reservoir.planning.system_plan import optimise_system
from reservoir.problems.system import system_problems

#: A month's volume of 1 m3/s, hm3, and its energy, GWh; the coefficient and the head that make 1 MW of it.
VOLUME, GWH, COEFFICIENT, HEAD = 2.592, 0.72, 8.0, 125.0
CALENDAR = Calendar(2001, 1, kind=CalendarKind.EQUAL_MONTHS)
PAID = Objective({Goal.REVENUE: 1.0}, price_per_mwh=np.ones(12), currency="EUR")


def lake(name: str, *, most: float = 100.0, turbines: float = 100.0, full: Any = 1000.0, **changes: Any) -> Reservoir:
    """A lake that begins half full and ends as it likes, in months of m3/s."""
    start = changes.pop("start", 500.0)
    lower, upper = (np.broadcast_to(each, 12) * VOLUME for each in (changes.pop("dead", 0.0), full))
    return Reservoir(
        **{
            "name": name,
            "level": constant(HEAD, (0.0, float(upper.max()))),
            "tailrace": constant(0.0, (0.0, most)),
            "conversion": constant(COEFFICIENT, (0.0, 200.0)),
            "conversion_kind": ConversionKind.COEFFICIENT,
            "capacity_m3s": constant(turbines, (0.0, 200.0)),
            "installed_mw": most,
            "storage_lower_hm3": lower,
            "storage_upper_hm3": upper,
            "release_lower_m3s": np.zeros(12),
            "release_upper_m3s": np.full(12, most),
            "initial_storage_hm3": start * VOLUME,
            "final_storage_hm3": None,
            "year_end": YearEnd.FREE,
            "penalty": 1000.0,
            "calendar": CalendarKind.EQUAL_MONTHS,
        }
        | changes
    )


def inflow(flow: Any, price: Any = None) -> Inflow:
    prices = None if price is None else np.broadcast_to(np.asarray(price, float), (1, 12))
    return Inflow(np.array(np.broadcast_to(np.asarray(flow, float), (1, 12))), CALENDAR, price_per_mwh=prices)


def released(links: list[Link], releases: dict[str, Any], flows: dict[str, Any], **of_lake: dict[str, Any]) -> Any:
    """What lakes come to that release so much, with these links and local inflows."""
    system = System(tuple(lake(name, **of_lake.get(name, {})) for name in releases), tuple(links))
    inflows = SiteInflows({name: inflow(flows.get(name, 0.0)) for name in releases})
    (batch,) = system_problems(system, inflows, Horizon()).batches
    every = [np.broadcast_to(np.asarray(releases[name], float), 12) for name in batch.system.names]
    operation = batch.operate_releases(np.array(every)[np.newaxis], np.zeros((1, len(every))))
    places = {name: place for place, name in enumerate(batch.system.names)}
    return operation, places


def arriving(operation: Any, place: int) -> Any:
    return operation.arriving_m3s[place][0]


def test_a_bypass_leads_a_share_around_a_lake():
    links = [Link("a", "b", carries=0.75), Link("a", "c", carries=0.25), Link("b", "c")]
    found, at = released(links, {"a": 40, "b": 20, "c": 30}, {"a": 40})
    np.testing.assert_allclose(arriving(found, at["b"]), 30)
    np.testing.assert_allclose(arriving(found, at["c"]), 10 + 20)
    storage = found.stacked("storage_hm3")[0, :, -1] / VOLUME
    np.testing.assert_allclose(storage[[at["a"], at["b"], at["c"]]], [500, 500 + 12 * 10, 500])
    np.testing.assert_allclose(found.annual_energy_gwh, 12 * (40 + 20 + 30) * GWH)
    np.testing.assert_allclose(found.leaving_m3s, 30)


def test_two_rivers_join_one_of_them_late():
    links = [Link("a", "c"), Link("b", "c", travel_steps=1, before_m3s=5, lost_share=0.1)]
    rising = np.arange(12) + 10.0
    found, at = released(links, {"a": 40, "b": rising, "c": 60}, {})
    late = 0.9 * np.array([5, *rising[:-1]])
    np.testing.assert_allclose(arriving(found, at["c"]), 40 + late)
    np.testing.assert_allclose(found.under_way_hm3(links[1]), 0.9 * 21 * VOLUME)


def test_a_run_of_river_plant_passes_on_what_comes_and_spills_what_its_turbines_do_not_take():
    links = [Link("a", "b")]
    rigid = {"full": 50.0, "dead": 50.0, "start": 50.0, "turbines": 30.0}
    coming = np.array([20.0, 40.0] * 6)
    found, at = released(links, {"a": coming, "b": 0.0}, {"b": 5.0}, b=rigid)
    own = found.of_reservoirs[at["b"]]
    np.testing.assert_allclose(own.release_m3s[0], coming + 5)
    np.testing.assert_allclose(own.power_mw[0], [25, 30] * 6)
    np.testing.assert_allclose(own.storage_hm3[0] / VOLUME, 50)
    np.testing.assert_allclose(found.violation_sum, 0)


def test_turbined_and_spilled_water_go_different_ways():
    links = [Link("a", "b", carries="turbined"), Link("a", "c", carries="spilled")]
    found, at = released(links, {"a": [50, 20] * 6, "b": 10, "c": 10}, {}, a={"turbines": 30.0})
    np.testing.assert_allclose(arriving(found, at["b"]), [30, 20] * 6)
    np.testing.assert_allclose(arriving(found, at["c"]), [20, 0] * 6)
    np.testing.assert_allclose(found.leaving_m3s, 20)


def test_firm_power_of_the_sum_is_above_the_sum_of_firm_powers():
    rigid = {"full": 50.0, "dead": 50.0, "start": 50.0}
    flows = {"a": [10, 30] * 6, "b": [30, 10] * 6}
    found, _ = released([], {"a": 0.0, "b": 0.0}, flows, a=rigid, b=rigid)
    alone = [firm_power_mw(own.power_mw, 1.0)[0] for own in found.of_reservoirs]
    assert alone == pytest.approx([10, 10])
    assert firm_power_mw(found.total("power_mw"), 1.0)[0] == pytest.approx(40)


#: Two lakes that do not touch, start empty and hold 5 m3/s for a month each; in turns 10 + 34 and 30 + 2 flow in.
SMALL, FLOWS = {"full": 5.0, "start": 0.0}, {"a": [10, 30] * 6, "b": [34, 2] * 6}


def planned_small(*names: str, solver: str = "slp", **objective: Any) -> Any:
    """The lakes with an objective, planned."""
    asked = Objective(**({"weights": {Goal.FIRM_POWER: 1.0}} | objective))
    system = System(tuple(lake(name, **SMALL) for name in names), objective=asked)
    inflows = SiteInflows({name: inflow(FLOWS[name], objective.get("price_per_mwh")) for name in names})
    settings = {"lshade-sequential": {"evaluations": 20_000}, "clpso-sequential": {"generations": 8000}}.get(solver, {})
    return optimise_system(system, inflows, solver=solver, **settings)


@pytest.mark.parametrize("solver", ["slp", "dpsa", "lshade-sequential", "clpso-sequential"])
def test_firm_power_of_two_lakes_is_above_the_sum_of_theirs(solver):
    # a has 10 in the first month, and b 34 - 5 and 2 + 5; of 44 and 32 together, both hold back 6, and one cannot.
    alone = [planned_small(name, solver="slp").firm_power_mw[0] for name in "ab"]
    assert alone == pytest.approx([10, 7], rel=1e-5)
    plan = planned_small("a", "b", solver=solver)
    assert plan.firm_power_mw == pytest.approx([38], rel=1e-5)
    np.testing.assert_allclose(plan.operation.power_mw, 38, rtol=1e-4)
    assert plan.energy_gwh == pytest.approx([12 * 38 * GWH], rel=1e-5)
    assert plan.solutions.violation[0] == 0


def test_half_of_the_months_may_give_less_than_the_firm_power():
    # The months of 44 are six; 10 can be carried into each but the first.
    plan = planned_small("a", "b", firm_share=0.5)
    assert plan.firm_power_mw == pytest.approx([44], rel=1e-5)
    assert (plan.operation.power_mw[0] > 44 * (1 - 1e-5)).sum() == 6


@pytest.mark.parametrize(
    ("solver", "required", "last"),
    [("slp", 38.0, 38.0), ("dpsa", 38.0, 38.0), *((each, 30.0, 42.0) for each in ("slp", "dpsa", "lshade-sequential"))],
)
def test_a_required_firm_power_is_given_before_the_month_that_pays_gets_more(solver, required, last):
    # The last two months have 44 and 32: of these 10 can be carried over where 30 are enough in each.
    prices = np.array([1.0] * 11 + [100.0])
    sold = {"weights": {Goal.REVENUE: 1.0}, "price_per_mwh": prices, "currency": "EUR"}
    plan = planned_small("a", "b", solver=solver, firm_power_mw=required, **sold)
    assert plan.operation.power_mw[0, -1] == pytest.approx(last, rel=1e-3)
    assert plan.firm_power_mw[0] >= required * (1 - 1e-5)


@pytest.mark.parametrize("solver", ["slp", "dpsa", "lshade-sequential", "clpso-sequential"])
@pytest.mark.parametrize("goal", [Goal.POWER_SHORTAGE, Goal.SUPPLY_SHORTAGE])
def test_a_target_of_the_sum_is_met_where_no_lake_could_meet_its_part(solver, goal):
    # 1 MW is 1 m3/s here. Of 40 in every month 2 are missing if all give 38, which is the least sum of squares.
    target = {Goal.POWER_SHORTAGE: "power_target_mw", Goal.SUPPLY_SHORTAGE: "supply_target_m3s"}[goal]
    plan = planned_small("a", "b", solver=solver, weights={goal: 1.0}, **{target: 40.0})
    assert plan.solutions.fitness[0] == pytest.approx(-12 * (2 / 40) ** 2, rel=5e-3)


def planned(limit: float) -> Any:
    """Two lakes, the lower one without water of its own; only the last month pays at the upper one."""
    prices = [1.0] * 11 + [1000.0]
    least = {"release_lower_m3s": np.full(12, limit)}
    small = {"full": 10.0, "start": 0.0, "most": 200.0, "turbines": 200.0}
    upper = lake("a", start=60.0, most=60.0, turbines=60.0, objective=PAID)
    system = System((upper, lake("b", **small, objective=PAID, **least)), (Link("a", "b"),), objective=PAID)
    inflows = SiteInflows({"a": inflow(5.0, prices), "b": inflow(0.0, 0.0)})
    return optimise_system(system, inflows, solver="slp")


@pytest.mark.parametrize(("limit", "last"), [(0.0, 60.0), (6.0, 54.0)])
def test_a_downstream_limit_is_served_from_upstream(limit, last):
    plan = planned(limit)
    upper = plan.operation.of_reservoirs[plan.system.names.index("a")].release_m3s[0]
    assert plan.solutions.violation[0] == 0
    # 60 in store and 12 x 5 flow in: of these 120, 60 can pass in the last month; but 11 x 6 must be let out before.
    assert upper[-1] == pytest.approx(last, abs=1e-6)
    assert upper.sum() == pytest.approx(120, abs=1e-6)
    assert (np.cumsum(upper)[:11] >= limit * np.arange(1, 12) - 1e-6).all()
    assert plan.solutions.fitness[0] == pytest.approx((1000 * last + 120 - last) * GWH / 1000, rel=1e-9)


def test_a_lake_may_have_to_be_at_a_storage_in_the_middle_of_the_year():
    lower, upper = np.zeros(12), np.full(12, 1000.0)
    lower[5] = upper[5] = 300.0
    system = System((lake("a", dead=lower, full=upper), lake("b")), (Link("a", "b"),))
    inflows = SiteInflows({"a": inflow(20.0), "b": inflow(0.0)})
    (batch,) = system_problems(system, inflows, Horizon()).batches
    positions = np.random.default_rng(1).random((1, batch.dimension))
    found = batch.operate(positions)
    own = found.of_reservoirs[batch.system.names.index("a")]
    assert own.storage_hm3[0, 6] / VOLUME == pytest.approx(300, rel=1e-9)
    # 500 and 6 x 20 came, 300 stay: 320 were released to the lower lake by then
    assert own.release_m3s[0, :6].sum() == pytest.approx(320, rel=1e-9)
    assert found.violation_sum[0] == 0
