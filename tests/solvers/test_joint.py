"""Dynamic programming of all reservoirs at once: Larson's problem, pairs against other engines, and what is refused."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.attributes import ConversionKind, YearEnd
from reservoir.hydro.calendar import Calendar, CalendarKind
from reservoir.hydro.curves.curve import constant
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.problems.system import system_problems
from reservoir.solvers import solve
from reservoir.solvers.dp_joint.search import USUAL_OF_CORRIDOR, USUAL_TRANSITIONS, JointSettings, fineness, size_of
from tests.solvers.engines import each_of
from tests.solvers.systems import problems_of_system, system_years

#: Larson (1968): benefit of a unit of each reservoir's release by month, the largest releases and storages.
BENEFITS = np.array(
    [
        [1.1, 1.0, 1.0, 1.2, 1.8, 2.5, 2.2, 2.0, 1.8, 2.2, 1.8, 1.4],
        [1.4, 1.1, 1.0, 1.0, 1.2, 1.8, 2.5, 2.2, 2.0, 1.8, 2.2, 1.8],
        [1.0, 1.0, 1.2, 1.8, 2.5, 2.2, 2.0, 1.8, 2.2, 1.8, 1.4, 1.1],
        [2.6, 2.9, 3.6, 4.4, 4.2, 4.0, 3.8, 4.1, 3.6, 3.1, 2.7, 2.5],
    ]
)
MOST_RELEASED, MOST_STORED, ENDS = (3.0, 4.0, 4.0, 7.0), (10.0, 10.0, 10.0, 15.0), (5.0, 5.0, 5.0, 7.0)
BOTH = pytest.mark.parametrize("solver", each_of(["dp-joint", "dp-joint-sequential"]))
LINKS = [Link("d1", "d4"), Link("d2", "d3"), Link("d3", "d4")]


def larson():
    """Every unit is the volume of 1 m3/s in a month, and a MW is worth what a unit is in each month."""
    calendar = Calendar(2001, 1, kind=CalendarKind.EQUAL_MONTHS)
    unit = float(calendar.hm3_per_m3s[0, 0])
    gwh = unit / 3.6
    reservoirs, inflows = [], {}
    for place, name in enumerate(("d1", "d2", "d3", "d4")):
        most = MOST_STORED[place] * unit
        reservoirs.append(
            Reservoir(
                name=name,
                level=constant(125.0, (0.0, most)),
                tailrace=constant(0.0, (0.0, 10.0)),
                conversion=constant(8.0, (0.0, 200.0)),
                conversion_kind=ConversionKind.COEFFICIENT,
                capacity_m3s=constant(100.0, (0.0, 200.0)),
                installed_mw=100.0,
                storage_lower_hm3=np.zeros(12),
                storage_upper_hm3=np.full(12, most),
                release_lower_m3s=np.zeros(12),
                release_upper_m3s=np.full(12, MOST_RELEASED[place]),
                initial_storage_hm3=5 * unit,
                final_storage_hm3=ENDS[place] * unit,
                year_end=YearEnd.FIXED,
                penalty=1e3,
                calendar=CalendarKind.EQUAL_MONTHS,
                objective=Objective({Goal.REVENUE: 1.0}, price_per_mwh=np.ones(12)),
            )
        )
        flow = np.full((1, 12), {0: 2.0, 1: 3.0}.get(place, 0.0))
        inflows[name] = Inflow(flow, calendar, price_per_mwh=BENEFITS[[place]] * 1000 / gwh)
    revenue = Objective({Goal.REVENUE: 1.0}, price_per_mwh=np.ones(12))
    system = System(tuple(reservoirs), tuple(LINKS), objective=revenue, penalty=1e3)
    return system_problems(system, SiteInflows(inflows), Horizon()).batches[0]


@BOTH
def test_larsons_four_reservoirs_come_to_their_optimum(solver):
    found = solve(larson(), solver=solver, states=16, most_corridors=0)
    assert found.fitness == pytest.approx(401.3, abs=1e-9)
    assert found.violation == 0


def test_larsons_problem_is_linear():
    assert solve(larson(), solver="slp").fitness == pytest.approx(401.3, abs=1e-6)


@BOTH
@pytest.mark.parametrize("end", list(YearEnd))
def test_two_reservoirs_agree_with_other_engines(small, end, solver):
    batch = system_years(small, [Link("a", "b")], "ab", end, years=1)
    if end is YearEnd.VALUED:  # what is in store counts as a condition of the lake
        with pytest.raises(InputError, match="cannot plan this system"):
            solve(batch, solver=solver)
        return
    found = solve(batch, solver=solver, states=31, least_spacing=1e-3)
    best = solve(batch, solver="dpsa-sequential").fitness
    if end is YearEnd.CYCLIC:  # its start is not searched
        assert (found.fitness <= best * (1 + 1e-6)).all()
    else:
        np.testing.assert_allclose(found.fitness, best, rtol=2e-4)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_stop_ends_corridors_and_leaves_out_years_without_a_schedule(small, threads):
    batch, told = system_years(small, [Link("a", "b")], "ab", years=3), []
    settings = {"solver": "dp-joint-sequential", "states": 11, "threads": threads}

    def stop(so_far):
        told.append(so_far)
        return len(told) == 2

    found = solve(batch, **settings, stop=stop)
    assert 1 <= len(found) <= threads
    assert len(told) == 2
    assert all(each.total == 3 and each.done == len(each.fitness) <= 3 for each in told)
    if threads == 1:
        assert [each.done for each in told] == [1, 1]
        assert found.generations.tolist() == [2]  # the first grid and a corridor
        assert told[1].fitness.tolist() == found.fitness.tolist()
    told.clear()
    found = solve(batch, **settings, most_corridors=0, stop=lambda so_far: told.append(so_far.done))
    assert len(found) == 3
    assert told == [1, 2] or threads > 1  # after each year but the last


@pytest.mark.device
def test_a_stop_ends_the_corridors_of_all_years_on_a_device(small):
    batch = system_years(small, [Link("a", "b")], "ab", years=3)
    found = solve(batch, solver="dp-joint", states=11, stop=lambda _: True)
    assert found.generations.tolist() == [1, 1, 1]


@pytest.mark.parametrize("solver", ["slp", "dpsa-sequential", "dp-joint-sequential"])
def test_a_stop_leaves_out_horizons_that_were_not_begun(small, solver):
    told, problems = [], problems_of_system(small, [Link("a", "b")], "ab", horizon=Horizon(2), years=3)

    def stop(so_far):
        told.append(so_far)
        return True

    settings = {"states": 5, "most_corridors": 3} if "joint" in solver else {}
    found = solve(problems.each, solver=solver, threads=1, **settings, stop=stop)
    assert [(each.solver, each.done, each.total) for each in told] == [(solver, 1, 2)]
    assert told[0].fitness.tolist() == found.fitness.tolist()
    told.clear()
    both = solve(problems.each, solver=solver, threads=1, **settings, stop=lambda so_far: told.append(so_far))
    assert {(each.done, each.total) for each in told} == {(1, 2), (2, 2)}
    assert told[-1].fitness[0] == both.fitness[0] > found.fitness[0]


@pytest.mark.device
def test_a_device_finds_what_compiled_code_does(small):
    batch = system_years(small, [Link("a", "c"), Link("b", "c")], "abc", years=3)
    settings = {"states": 11, "most_corridors": 8}
    one, other = (solve(batch, solver=solver, **settings) for solver in ("dp-joint", "dp-joint-sequential"))
    np.testing.assert_allclose(one.fitness, other.fitness, rtol=1e-9)
    assert one.generations.tolist() == other.generations.tolist()
    assert (one.evaluations > 0).all()
    assert one.device_seconds is not None
    _, reach = fineness(batch, JointSettings(states=11))
    assert [(each["states"], each["reach"]) for each in one.settings] == [(11, reach)] * 3
    alone = solve(batch[1:2], solver="dp-joint", **settings)
    assert alone.position[0].tobytes() == one.position[1].tobytes()


@pytest.mark.device
def test_little_memory_takes_one_year_after_another(small, monkeypatch):
    batch, settings = system_years(small, [Link("a", "b")], "ab"), {"states": 11, "most_corridors": 2}
    usual = solve(batch, solver="dp-joint", **settings)
    monkeypatch.setattr("reservoir.solvers.dp_joint.engine._MOST_BYTES", 1)
    assert solve(batch, solver="dp-joint", **settings).position.tobytes() == usual.position.tobytes()


@pytest.mark.parametrize(
    "link", [Link("a", "b", travel_steps=1.0), Link("a", "b", lost_share=0.1), Link("a", "b", carries=0.5)]
)
@BOTH
def test_links_off_the_lattice_are_refused(small, link, solver):
    with pytest.raises(InputError, match=rf"{solver} cannot plan this system.*links that carry all at once"):
        solve(system_years(small, [link], "ab"), solver=solver)


@BOTH
def test_too_many_storages_are_refused_before_they_are_made(small, solver):
    with pytest.raises(InputError, match="too many storages and releases"):
        solve(system_years(small, [Link("a", "b")], "ab"), solver=solver, states=20_000)
    with pytest.raises(InputError, match=r"too many transitions.*found [0-9]{13}.*choose fewer states than 61"):
        solve(larson(), solver=solver, states=61)
    with pytest.raises(InputError, match=r"too many.*choose a reach below 40"):
        solve(larson(), solver=solver, reach=40)


def test_grids_of_more_reservoirs_are_coarser_for_a_year_to_take_seconds(small):
    pair, four = system_years(small, [Link("a", "b")], "ab"), larson()
    assert fineness(pair, JointSettings()) == (41, 4)
    states, reach = fineness(four, JointSettings())
    assert size_of(four, states).transitions <= USUAL_TRANSITIONS < size_of(four, states + 1).transitions
    assert size_of(four, states, reach).transitions <= USUAL_OF_CORRIDOR < size_of(four, states, reach + 1).transitions
    assert fineness(four, JointSettings(states=20, reach=3)) == (20, 3)
