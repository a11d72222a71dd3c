"""Given releases are operated month by month, repaired where the limits need it, and may begin a search."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.inflow import periods_of
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import System
from reservoir.planning.simulation import first_positions, simulate_system
from reservoir.planning.tradeoff import tradeoff
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers import RESERVOIR_SOLVERS, settings_of
from tests.hydro import paper
from tests.planning.test_shorter_steps import record as of_steps
from tests.year_ends import cyclic, free

STEPS = 36


@pytest.fixture(scope="module")
def plan(small, small_inflow):
    return reservoir.optimise(small, small_inflow, solver="dp")


def refused(small, small_inflow, release, **call):
    with pytest.raises(InputError) as caught:
        reservoir.simulate(small, small_inflow, release, **call)
    for mistake in caught.value.mistakes:
        assert mistake.mend, f"no fix: {mistake}"
    return str(caught.value)


def test_a_system_and_a_record_of_one_reservoir_are_refused_whichever_is_which(small, small_inflow):
    system, inflows = System.of(small), SiteInflows({"small": small_inflow})
    for of_one, other in ((system, small_inflow), (small, inflows)):
        with pytest.raises(InputError, match=r"one of both is of a single.*give a System with its SiteInflows"):
            reservoir.simulate(of_one, other, {})
        with pytest.raises(InputError, match="one of both is of a single reservoir"):
            tradeoff(of_one, other, ["energy", "firm-power"])


def test_a_system_misses_no_power_that_a_plan_keeps(small, small_inflow):
    """Which is kept within 1e-6, and that is what dynamic programming leaves of it."""
    asks, inflow = replace(small, power_lower_mw=np.full(12, 9.5)), small_inflow.span(1, 2)
    plan = reservoir.optimise(asks, inflow, solver="dp", reference=False)
    assert plan.violation.tolist() == [0.0]
    system, inflows = System.of(asks), SiteInflows({"small": inflow})
    release = plan.operation.release_m3s.copy()
    assert simulate_system(system, inflows, {"small": release}, horizon="year").shortfalls() == []
    release[0, int(plan.operation.power_mw.argmin())] -= 0.1
    (told,) = simulate_system(system, inflows, {"small": release}, horizon="year").shortfalls()[:1]
    assert "less than the lowest power by 0.0" in told


@pytest.mark.parametrize("horizon", ["year", 2, "record"])
def test_releases_of_a_plan_come_to_that_plan(small, small_inflow, horizon):
    plan = reservoir.optimise(small, small_inflow, solver="dp", horizon=horizon)
    run = reservoir.simulate(small, small_inflow, plan.schedule()["release_m3s"], horizon=horizon)
    assert run.repairs == 0
    assert run.notes == (*small_inflow.notes, *small.notes)
    told = run.schedule().drop(columns=["asked_m3s", "repaired"])
    planned = plan.schedule().drop(columns=["source", "water_value_gwh_per_hm3"])  # only of plans
    pd.testing.assert_frame_equal(told, planned, rtol=1e-9, atol=1e-9)
    assert run.energy_gwh == pytest.approx(plan.energy_gwh, rel=1e-12)
    assert run.violation == pytest.approx(plan.violation)


def test_storage_is_carried_through_a_horizon_and_each_starts_with_the_same(small, small_inflow):
    release = np.full(STEPS, 30.0)
    whole = reservoir.simulate(small, small_inflow, release)
    storage = whole.operation.storage_hm3
    assert np.array_equal(storage[1:, 0], storage[:-1, -1])
    assert storage[0, 0] == small.initial_storage_hm3
    years = reservoir.simulate(small, small_inflow, release, horizon="year", start_hm3=60.0)
    assert (years.operation.storage_hm3[:, 0] == 60.0).all()
    assert years.operation.storage_hm3[0, 1] != storage[0, 1]


def test_a_release_is_changed_in_its_own_month_alone(small, small_inflow):
    """No month is drawn down or filled for a later one, and no end storage is steered to."""
    release = np.full((3, 12), 5.0)
    run = reservoir.simulate(small, small_inflow, release)
    bounds = small.storage_bounds_hm3
    storage, volume = run.operation.storage_hm3, small_inflow.calendar.hm3_per_m3s
    lower, upper = small.release_bounds_m3s
    for year in range(3):
        for step in range(12):
            wanted = min(max(5.0, lower[step]), upper[step])
            start, inflow = storage[year, step], small_inflow.flow_m3s[year, step]
            full = inflow + (start - bounds[1, step]) / volume[year, step]
            empty = inflow + (start - bounds[0, step]) / volume[year, step]
            expected = min(max(min(max(wanted, full), empty), lower[step]), upper[step])
            assert run.operation.release_m3s[year, step] == pytest.approx(expected, abs=1e-9)
            assert run.repaired[year, step] == (abs(expected - 5.0) > 1e-6)
    assert storage[-1, -1] != pytest.approx(small.final_storage_hm3)


def test_repairs_are_counted_and_told(small, small_inflow):
    run = reservoir.simulate(small, small_inflow, np.full(STEPS, 40.0))
    assert 0 < run.repairs < STEPS
    assert run.notes[-1] == f"The physical limits changed the given release in {run.repairs} months of 36."
    assert run.schedule()["repaired"].sum() == run.summary()["repairs"].sum() == run.repairs
    assert (run.schedule()["asked_m3s"] == 40.0).all()
    assert f"{run.repairs} repairs, horizon record" in repr(run)


def test_what_it_makes_is_what_the_paper_says_of_its_releases(small, small_inflow):
    run = reservoir.simulate(small, small_inflow, np.full(STEPS, 25.0))
    for releases, storages, powers in zip(
        run.operation.release_m3s, run.operation.storage_hm3, run.operation.power_mw, strict=True
    ):
        assert powers == pytest.approx(paper.powers(small, releases, storages), rel=1e-9)


@pytest.mark.parametrize("form", ["table", "column", "periods", "dates", "longer", "list"])
def test_releases_may_be_given_in_any_of_these_forms(form, plan, small, small_inflow):
    release = plan.operation.release_m3s
    periods = pd.Series(release.ravel(), periods_of(small_inflow.calendar))
    outside = pd.Series(1.0, periods.index[:5] - 5)
    forms = {
        "table": release,
        "column": plan.schedule()["release_m3s"].reset_index(drop=True),
        "periods": periods,
        "dates": periods.to_timestamp(how="end"),
        "longer": pd.concat([outside, periods]),
        "list": release.ravel().tolist(),
    }
    run = reservoir.simulate(small, small_inflow, forms[form], horizon="year")
    assert run.operation.release_m3s == pytest.approx(release)


def test_releases_that_do_not_fit_are_refused_with_the_fix(small, small_inflow):
    series = pd.Series(10.0, periods_of(small_inflow.calendar))
    assert "expected the shape (3, 12)" in refused(small, small_inflow, np.ones((12, 3)))
    assert "(found (35,))" in refused(small, small_inflow, np.ones(35))
    assert "release: is not an array of numbers" in refused(small, small_inflow, ["many"] * STEPS)
    lost = np.ones(STEPS)
    lost[[3, 7]] = np.nan, -1
    assert "release: has 2 releases that are negative or not finite, first Sep of 1955/56" in refused(
        small, small_inflow, lost
    )
    told = refused(small, small_inflow, series.iloc[1:])
    assert told.startswith(
        "release: has 1955-07 to 1958-05 only; expected 1955-06 to 1958-05, the months of the record"
    )
    assert "1956-01 is missing" in refused(small, small_inflow, series.drop(pd.Period("1956-01")))


def test_a_start_is_needed_and_must_be_on_the_level_curve(small, small_inflow):
    told = refused(cyclic(small), small_inflow, np.full(STEPS, 20.0))
    assert "no initial storage (its year_end is cyclic)" in told
    assert reservoir.simulate(cyclic(small), small_inflow, np.full(STEPS, 20.0), start_hm3=80.0).inflow is small_inflow
    for start in (5.0, float("nan")):
        assert "outside the level curve" in refused(small, small_inflow, np.full(STEPS, 20.0), start_hm3=start)
    assert "horizon is not known" in refused(small, small_inflow, np.full(STEPS, 20.0), horizon=0)
    assert "water years begin in" in refused(replace(small, first_month=1), small_inflow, np.full(STEPS, 20.0))


#: A search too short to find a plan as good by itself.
SHORT = {
    "clpso": {"particles": 5, "generations": 1},
    "clpso-sequential": {"particles": 5, "generations": 1},
    "lshade-sequential": {"members_per_dimension": 1, "evaluations": 1, "polish": False},
    "lshade": {"evaluations": 40, "members_per_dimension": 1, "polish": False},
    "ann-pso": {"particles": 8, "generations": 1},
    "ann-pso-parallel": {"particles": 8, "generations": 1},
}


ENDS = {"fixed": lambda same: same, "cyclic": cyclic, "free": free}


def fitness(plan):
    return plan.solutions.fitness


@pytest.fixture(scope="module")
def optimum(small, small_inflow):
    """The optimal plan by its end."""
    return {name: reservoir.optimise(end(small), small_inflow, solver="dp") for name, end in ENDS.items()}


def test_the_solvers_that_can_are_those_of_the_documentation():
    assert {name for name in RESERVOIR_SOLVERS if "first" in settings_of(name)} == set(SHORT)


@pytest.mark.device
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("solver", SHORT)
def test_a_short_search_is_no_worse_than_the_plan_that_it_begins_with(solver, end, small, small_inflow, optimum):
    lake, best = ENDS[end](small), optimum[end]
    call = {"solver": solver, "reference": False, **SHORT[solver]}
    warm = reservoir.optimise(lake, small_inflow, initial=best, **call)
    cold = reservoir.optimise(lake, small_inflow, **call)
    assert (fitness(warm) >= fitness(best) - 1e-5 * abs(fitness(best))).all()
    assert (fitness(cold) < 0.999 * fitness(best)).all()
    assert "The search began with given releases." in warm.notes
    assert warm.solutions[0].settings["first"] == 1
    assert "given releases" not in " ".join(cold.notes)
    assert cold.solutions[0].settings["first"] == 0


@pytest.mark.device
@pytest.mark.parametrize("solver", ["clpso", "lshade"])
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_the_first_member_is_given_whatever_the_vectors(solver, lanes, small, small_inflow, optimum):
    call = {"engine_only": True, "lanes": lanes, **SHORT[solver]}
    warm = reservoir.optimise(small, small_inflow, solver=solver, initial=optimum["fixed"], **call)
    assert warm.gap.max() < 1e-5


@pytest.mark.parametrize("form", ["array", "steps", "series", "simulation", "plan"])
def test_releases_may_be_given_in_any_form(form, small, small_inflow, optimum):
    best = optimum["fixed"]
    release = best.operation.release_m3s
    forms = {
        "array": release,
        "steps": release.ravel(),
        "series": best.schedule()["release_m3s"],
        "simulation": reservoir.simulate(small, small_inflow, release, horizon="year"),
        "plan": best,
    }
    call = {"engine_only": True, **SHORT["clpso-sequential"]}
    warm = reservoir.optimise(small, small_inflow, solver="clpso-sequential", initial=forms[form], **call)
    assert warm.gap.max() < 1e-5


def test_releases_beyond_their_bounds_are_brought_within(small, small_inflow):
    warm = reservoir.optimise(
        small, small_inflow, solver="clpso-sequential", initial=np.full(36, 1e6), **SHORT["clpso-sequential"]
    )
    upper = small.release_bounds_m3s[1]
    assert (warm.operation.release_m3s <= upper).all()


def test_engines_that_cannot_refuse_and_name_those_that_can(small, small_inflow):
    release = np.full(36, 20.0)
    for solver in ("dp", "island-ga-sequential"):
        with pytest.raises(InputError, match="cannot begin with given releases; expected clpso, lshade,") as caught:
            reservoir.optimise(small, small_inflow, solver=solver, initial=release)
        assert "Fix: choose one of them" in str(caught.value)


def test_releases_of_other_years_are_refused(small, small_inflow):
    call = {"solver": "clpso-sequential", **SHORT["clpso-sequential"]}
    best = reservoir.optimise(small, small_inflow.span(0, 2), solver="dp")
    with pytest.raises(InputError, match=r"initial: has other years than the record .*1955/56 to 1956/57.*Fix: "):
        reservoir.optimise(small, small_inflow, initial=best, **call)
    with pytest.raises(InputError, match="initial: does not fit the record"):
        reservoir.optimise(small, small_inflow, initial=np.ones(5), **call)
    plant = replace(small, step=TimeStep.TEN_DAYS)
    months = reservoir.optimise(small, of_steps(small, TimeStep.MONTH, 1), solver="dp", reference=False)
    problems = record_problems(plant, of_steps(plant, TimeStep.TEN_DAYS, 1), Horizon())
    said = r'initial: has other steps than the record \(found "each month from Jun on"\); expected each ten-day period'
    with pytest.raises(InputError, match=said):
        first_positions(problems, months, "lshade")
    with pytest.raises(InputError, match="initial: has 1955-06 to 1957-05 only"):
        reservoir.optimise(small, small_inflow, initial=best.schedule()["release_m3s"], **call)
