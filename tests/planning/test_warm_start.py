"""A search may begin with given releases: they are in the first population of each problem."""

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.solvers import SOLVERS, settings_of
from tests.year_ends import cyclic, free

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
    assert {name for name in SOLVERS if "first" in settings_of(name)} == set(SHORT)


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
    with pytest.raises(InputError, match="initial: has 1955-06 to 1957-05 only"):
        reservoir.optimise(small, small_inflow, initial=best.schedule()["release_m3s"], **call)
