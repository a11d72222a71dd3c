"""Successive linear programs of systems: small systems of all kinds, against what is known and what chance finds."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.hydro.system import Carried, Link
from reservoir.problems.system import system_problems
from reservoir.solvers import SOLVERS, solve
from reservoir.solvers.dp.sequential import SequentialDp
from reservoir.solvers.slp import highs
from reservoir.solvers.slp.engine import relaxed
from reservoir.solvers.slp.program import linear_programs
from reservoir.solvers.system_engine import Schedules
from reservoir.zoo import zoo_system
from tests.solvers.systems import best_of_random, random_links, system_years

CHAIN = [Link("a", "b")]


def planned(batch, **options):
    return solve(batch, solver="slp", **options)


@pytest.mark.parametrize("end", list(YearEnd))
def test_every_year_end_is_planned_better_than_chance(small, end):
    batch = system_years(small, CHAIN, "ab", end)
    found = planned(batch)
    assert (found.violation == 0).all()
    assert (found.fitness > best_of_random(batch, 1, 60)).all()
    np.testing.assert_allclose(batch.certify(found.position).fitness, found.fitness, rtol=1e-12)


def test_reservoirs_that_no_link_joins_are_planned_as_by_themselves(small):
    batch = system_years(small, [], "ab")
    alone = [solve(batch.linked(place, None, None), solver=SequentialDp.name).fitness for place in (0, 1)]
    np.testing.assert_allclose(planned(batch).fitness, sum(alone), rtol=1e-5)


@pytest.mark.parametrize(
    "links",
    [
        [Link("a", "b", travel_steps=1.0)],
        [Link("a", "b", travel_steps=0.4, lost_share=0.1, lost_m3s=0.5)],
        [Link("a", "b", carries=Carried.TURBINED)],
        [Link("a", "b", carries=Carried.SPILLED), Link("a", "c", carries=Carried.TURBINED)],
        [Link("a", "b", carries=0.6), Link("a", "c", carries=0.4), Link("b", "c", backwater=True)],
        [Link("a", "c"), Link("b", "c")],
    ],
    ids=["delay", "fraction and losses", "turbined", "two ways", "shares and backwater", "confluence"],
)
def test_every_kind_of_link_is_planned_better_than_chance(small, links):
    batch = system_years(small, links, "abc" if any(link.target == "c" for link in links) else "ab")
    found = planned(batch)
    assert (found.violation < 1e-9).all()
    assert (found.fitness > best_of_random(batch, 2, 60)).all()


@pytest.mark.parametrize("seed", range(4))
def test_random_systems_are_planned_better_than_chance(small, seed):
    rng = np.random.default_rng(seed)
    names = "abcdef"[: rng.integers(2, 7)]
    batch = system_years(small, random_links(names, rng), names)
    assert (planned(batch).fitness > best_of_random(batch, seed, 60)).all()


def test_a_relaxation_bounds_what_power_laws_can_give(small):
    batch = system_years(small, CHAIN, "ab")
    bound = relaxed(Schedules.begun(batch))
    assert (bound >= planned(batch).fitness).all()


def test_losses_and_demands_are_reckoned_with(small):
    lossy = replace(
        small, evaporation_mm=np.full(12, 60.0), withdrawal_m3s=np.full(12, 2.0), plant_factor=np.full(12, 0.9)
    )
    batch = system_years(lossy, CHAIN, "ab")
    found = planned(batch)
    assert (found.violation == 0).all()
    assert (found.fitness > best_of_random(batch, 3, 60)).all()


def test_a_change_of_release_is_limited(small):
    batch = system_years(replace(small, ramp_up_m3s=40.0, ramp_down_m3s=40.0), CHAIN, "ab", YearEnd.FREE)
    found = planned(batch)
    released = batch.operate(found.position).stacked("release_m3s")
    assert (found.violation < 1e-6).all()
    assert np.abs(np.diff(released)).max() <= 40.0 * (1 + 1e-6)


def test_a_shortage_of_the_sum_is_shared(small):
    wanted = {"power_target_mw": np.full(12, 45.0)}
    shortage = Objective({Goal.POWER_SHORTAGE: 1.0}, **wanted)
    batch = system_years(small, CHAIN, "ab", objective=shortage)
    energy = planned(system_years(small, CHAIN, "ab"))
    assert (planned(batch).fitness > batch.certify(energy.position).fitness).all()


def test_a_year_that_cannot_be_kept_breaks_its_limits_by_little(small):
    thirsty = replace(small, release_lower_m3s=np.full(12, 40.0))
    batch = system_years(thirsty, CHAIN, "ab")
    found = planned(batch)
    assert (found.violation > 0).any()
    assert (found.fitness >= best_of_random(batch, 4, 60)).all()


@pytest.mark.parametrize("withdrawn_m3s", [0.0, 20.0])
def test_a_year_that_cannot_be_kept_makes_no_water_from_nothing(small, withdrawn_m3s):
    lower, upper = small.storage_lower_hm3.copy(), small.storage_upper_hm3.copy()
    upper[7:9], lower[9] = 50.0, 119.0  # more than a month brings
    withdrawal = np.where(np.isin(np.arange(12), [7, 8, 9]), withdrawn_m3s, 0.0)
    bounds = {"storage_lower_hm3": lower, "storage_upper_hm3": upper, "withdrawal_m3s": withdrawal}
    batch = system_years(replace(small, release_lower_m3s=np.zeros(12), **bounds), CHAIN, "ab")
    programs, storages = linear_programs(batch, Schedules.begun(batch).operation, None, elastic=True)
    for year in range(len(batch)):
        point = highs.maximised(programs, year).point
        for storage in storages:  # releases stand behind them
            assert (point[storage[-1] + 1 :][: batch.steps] >= -withdrawal - 1e-6).all()
    found = planned(batch)
    assert (found.violation > 0).all()
    if not withdrawn_m3s:
        swept = solve(batch, solver="dpsa-sequential", states=21, most_sweeps=6, first=found.position[:, np.newaxis])
        np.testing.assert_allclose(swept.fitness, found.fitness, rtol=1e-5)


@pytest.mark.parametrize("number", [18, 64, 88], ids=["spills", "spills seldom", "cannot be kept"])
def test_dynamic_programming_gains_little_where_turbined_and_spilled_water_part(number):
    (batch,) = system_problems(*zoo_system(number, 1), Horizon()).batches
    found = planned(batch)
    swept = solve(batch, solver="dpsa-sequential", first=found.position[:, np.newaxis])
    np.testing.assert_allclose(swept.fitness, found.fitness, rtol=1e-6)


def test_a_record_is_one_problem(small):
    years, record = (system_years(small, CHAIN, "ab", horizon=Horizon(length), years=4) for length in (1, None))
    assert planned(record).fitness.sum() >= planned(years).fitness.sum() * (1 - 1e-7)


def test_first_positions_are_improved_and_a_stop_keeps_them(small):
    batch = system_years(small, CHAIN, "ab")
    first = np.full((len(batch), batch.dimension), 0.4)
    begun = batch.certify(first).fitness
    stopped = planned(batch, first=first, stop=lambda so_far: True)
    assert (stopped.fitness > begun).all()
    assert (planned(batch, first=first).fitness >= stopped.fitness).all()
    best = planned(batch)
    again = planned(batch, first=best.position[:, np.newaxis], most_programs=1).fitness
    assert (again >= best.fitness * (1 - 1e-12)).all()


def test_the_result_depends_neither_on_threads_nor_on_the_years_beside(small):
    batch = system_years(small, CHAIN, "ab")
    both = [planned(batch, threads=threads).position for threads in (1, 3)]
    np.testing.assert_array_equal(*both)
    np.testing.assert_array_equal(planned([batch[1]]).position[0], both[0][1])


def test_scipy_alone_comes_to_the_same(small, monkeypatch):
    batch = system_years(small, CHAIN, "ab")
    usual = planned(batch).fitness
    monkeypatch.setattr(highs, "_by_highs", lambda _, of_year, __, presolve: highs._by_scipy(of_year, presolve))
    np.testing.assert_allclose(planned(batch).fitness, usual, rtol=1e-4)


@pytest.fixture
def began_by_another():
    """HiGHS with the two threads that another program of this process began, as SciPy does of many cores."""
    core = pytest.importorskip("scipy.optimize._highspy._core")
    core._Highs.resetGlobalScheduler(True)
    other = core._Highs()
    other.setOptionValue("output_flag", False)
    other.setOptionValue("threads", 2)
    assert other.run() == core.HighsStatus.kOk
    yield core
    core._Highs.resetGlobalScheduler(True)


def test_threads_of_another_program_are_taken_as_they_are(small, began_by_another):
    batch = system_years(small, CHAIN, "ab")
    found = planned(batch, threads=1).position
    began_by_another._Highs.resetGlobalScheduler(True)
    np.testing.assert_array_equal(found, planned(batch, threads=1).position)


def test_solvers_say_whether_they_take_systems(small, years):
    batch = system_years(small, CHAIN, "ab")
    with pytest.raises(InputError, match=r"slp plans systems of several reservoirs only.*one reservoir: clpso"):
        solve(years[:1], solver="slp")
    for name, entry in SOLVERS.items():
        if not entry.systems:
            with pytest.raises(InputError, match=rf"{name} plans one reservoir only.*several reservoirs: clpso, .*slp"):
                solve(batch, solver=name)


def test_a_run_of_river_plant_has_no_storage_to_choose(small):
    still = np.full(12, 100.0)
    river = replace(small, storage_lower_hm3=still, storage_upper_hm3=still)
    batch = system_years(river, CHAIN, "ab")
    found = planned(batch)
    assert batch.dimension == 0
    assert np.isfinite(found.fitness).all()
