"""Systems by the engines that choose how their variables are coded."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.site_inflows import SiteInflows
from reservoir.hydro.system import Link, System
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.problems.system import Coding, SystemYears, system_problems
from reservoir.solvers import SOLVERS, solve
from tests.problems.random_systems import dams, random_system
from tests.solvers.engines import each_of
from tests.year_ends import free

CODED = [name for name, solver in SOLVERS.items() if solver.coded]
FEW = {"clpso": {"generations": 60}, "lshade": {"evaluations": 3000}}


def few(name: str) -> dict[str, int]:
    return FEW[name.removesuffix("-sequential")]


@pytest.fixture(scope="module")
def years() -> SystemYears:
    (batch,) = system_problems(*random_system(3), Horizon()).batches
    return batch


@pytest.mark.parametrize("name", each_of(CODED))
@pytest.mark.parametrize("coding", ["auto", "relative", "absolute"])
def test_positions_are_relative_and_a_year_depends_on_itself_alone(years: SystemYears, name: str, coding: str) -> None:
    found = solve(years, solver=name, coding=coding, **few(name))
    again = solve(years[1:], solver=name, coding=coding, **few(name))
    assert found.position[1:].tobytes() == again.position.tobytes()
    np.testing.assert_array_equal(years.certify(found.position).fitness, found.fitness)
    assert {each["coding"] for each in found.settings} <= ({"relative", "absolute"} if coding == "auto" else {coding})
    random = np.random.default_rng(1).random((200, len(years), years.dimension))
    assert (found.fitness > np.median([years.certify(each).fitness for each in random], axis=0)).all()


@pytest.mark.parametrize("name", each_of(["ring-pso"]))
def test_other_solvers_take_them_too(years: SystemYears, name: str) -> None:
    found = solve(years, solver=name, particles=16, generations=30)
    np.testing.assert_array_equal(years.certify(found.position).fitness, found.fitness)
    assert (found.fitness > years.certify(np.full((len(years), years.dimension), 0.5)).fitness).all()


@pytest.mark.parametrize("name", each_of(CODED))
def test_a_population_begins_with_positions_that_are_given(years: SystemYears, name: str) -> None:
    best = solve(years, solver=name, **few(name))
    for coding in ("relative", "absolute"):
        begun = solve(years, solver=name, coding=coding, first=best.position[:, np.newaxis], seed=2, **few(name))
        assert (begun.fitness >= best.fitness - 1e-5 * abs(best.fitness)).all()


@pytest.mark.parametrize("name", each_of(CODED))
@pytest.mark.parametrize(
    ("problems", "dimension"), [(1, 0), (3, 0), (2, 1)], ids=["too few", "too many", "of another dimension"]
)
def test_first_positions_that_do_not_fit_are_refused(
    years: SystemYears, name: str, problems: int, dimension: int
) -> None:
    assert len(years) == 2
    first = [np.full((1, years.dimension + dimension), 0.5)] * problems
    for of in (years, list(years)):
        with pytest.raises(InputError, match="the first positions have the wrong shape"):
            solve(of, solver=name, first=first, coding="absolute", **few(name))


@pytest.mark.parametrize("coding", ["auto", "relative"])
def test_a_stopped_search_leaves_what_is_solved(years: SystemYears, coding: str) -> None:
    found = solve(years, solver="lshade-sequential", stop=lambda _: True, threads=1, coding=coding, **few("lshade"))
    assert len(found) == 1
    np.testing.assert_array_equal(years[:1].certify(found.position).fitness, found.fitness)


def test_a_record_is_too_long_for_populations(years: SystemYears) -> None:
    system, inflows = random_system(3)
    calendar = replace(inflows.first.calendar, years=40)
    longer = {name: Inflow(np.tile(each.flow_m3s, (20, 1)), calendar) for name, each in inflows.items()}
    (batch,) = system_problems(system, SiteInflows(longer), Horizon(None)).batches
    with pytest.raises(InputError, match=r"takes horizons of few variables.*the solver slp"):
        solve(batch, solver="lshade-sequential")


def test_plants_without_storage_leave_nothing_to_choose(small, small_inflow) -> None:
    full = np.full(12, float(small.storage_upper_hm3.min()))
    fixed = replace(free(small), storage_lower_hm3=full, storage_upper_hm3=full, initial_storage_hm3=full[0])
    twins = tuple(replace(fixed, name=name) for name in ("upper", "lower"))
    system = System(twins, (Link("upper", "lower"),))
    (batch,) = system_problems(system, SiteInflows(dict.fromkeys(system.names, small_inflow)), Horizon()).batches
    found = solve(batch, solver="lshade-sequential")
    assert found.position.shape == (len(batch), 0)
    np.testing.assert_array_equal(found.fitness, batch.certify(found.position).fitness)


def test_absolute_positions_operate_like_relative_ones(years: SystemYears) -> None:
    positions = np.random.default_rng(4).random((len(years), years.dimension))
    operation = years.operate(positions)
    absolute = replace(years, coding=Coding.ABSOLUTE)
    again = absolute.operate(years.positions_of(operation, Coding.ABSOLUTE))
    np.testing.assert_allclose(again.stacked("storage_hm3"), operation.stacked("storage_hm3"), atol=1e-6)


def test_single_reservoirs_have_no_coding(small_years: ReservoirYears) -> None:
    with pytest.raises(InputError, match="coding is a setting of systems"):
        solve(small_years, solver="lshade-sequential", coding="absolute")


@pytest.fixture
def small_years(small, small_inflow) -> ReservoirYears:
    return reservoir_problems(small, small_inflow)


#: Best known, GWh: two by dynamic programming of both and by other programs, three by other programs alone.
@pytest.mark.parametrize(
    ("names", "best"), [(("xiaowan", "nuozhadu"), 47_258.771), (("xiaowan", "manwan", "nuozhadu"), 54_885.726)]
)
def test_dams_of_a_river_are_solved(names: tuple[str, ...], best: float) -> None:
    (batch,) = system_problems(*dams(names), Horizon()).batches
    found = solve(batch, solver="lshade-sequential", evaluations=60_000, coding="relative")
    assert found.violation[0] == 0
    assert best * (1 - 1e-4) < found.fitness[0] < best * (1 + 1e-6)
