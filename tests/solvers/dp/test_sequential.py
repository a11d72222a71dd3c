"""Dynamic programming finds the best there is: no enumeration, descent or swarm finds better."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

import reservoir as package
from reservoir.errors import InputError
from reservoir.hydro.attributes import ConversionKind
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.limits import Limits
from reservoir.hydro.reservoir import Reservoir
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from tests.solvers.toys import Toy
from tests.year_ends import cyclic, free

HOURS = 24.0


def benefit_gwh(reservoir: Reservoir, storage: np.ndarray, following: np.ndarray, release: np.ndarray, days: float):
    """Energy of one step (eq. 6-9) over arrays."""
    head = reservoir.level((storage + following) / 2) - reservoir.tailrace(release)
    value = reservoir.conversion(head)
    per_flow = {
        ConversionKind.RATE: lambda: 3.6 / value,
        ConversionKind.EFFICIENCY: lambda: value * 9.80665e-3 * head,
    }[reservoir.conversion_kind]()
    power = np.minimum(per_flow * np.minimum(release, reservoir.capacity_m3s(head)), reservoir.installed_mw)
    return power * HOURS * days / 1000


def three_months(reservoir: Reservoir, start: float | None, inflow: tuple[float, ...]) -> ReservoirYears:
    """A year of three steps of 30 days; without a start, a cyclic one."""
    least, most = float(reservoir.storage_lower_hm3.min()), float(reservoir.storage_upper_hm3.max())
    rows = {
        "inflow": inflow,
        "hm3_per_m3s": 30 * 0.0864,
        "release_lower": reservoir.release_lower_m3s.min(),
        "release_upper": reservoir.release_upper_m3s.max() / 2,
        "storage_lower": least,
        "storage_upper": most,
    }
    limits = Limits.given(rows, {"dead": least})
    if start is not None:
        end = start - 0.1 * (start - least)
        limits = limits.ending_within(end, end).begun_at(start)
    return ReservoirYears(ReservoirModel.of(reservoir), limits, ("three months",), np.array([1]))


def enumerated(year: ReservoirYears, states: int, starts: list[float]) -> float:
    """The best benefit over all trajectories of a grid."""
    reservoir, limits = year.model.reservoir, year.limits
    best = -np.inf
    for start in starts:
        end = start if limits.cyclic else limits.storage_lower_hm3[-1]
        grid = np.linspace(limits.storage_lower_hm3[0], limits.storage_upper_hm3[0], states)
        storages = [np.array(start), grid[:, None], grid[None, :], np.array(end)]
        total = np.zeros((states, states))
        for step in range(3):
            release = limits.inflow_m3s[step] - (storages[step + 1] - storages[step]) / limits.hm3_per_m3s[step]
            fits = (release >= limits.release_lower_m3s[step]) & (release <= limits.release_upper_m3s[step])
            gained = benefit_gwh(reservoir, storages[step], storages[step + 1], release, 30)
            total = total + np.where(fits, gained, -np.inf)
        best = max(best, float(total.max()))
    return best


@pytest.mark.parametrize("inflow", [(20.0, 45.0, 15.0), (60.0, 5.0, 30.0), (10.0, 10.0, 80.0)])
def test_no_trajectory_of_a_fine_grid_is_better(small: Reservoir, inflow: tuple[float, ...]) -> None:
    year = three_months(small, 100.0, inflow)
    found = solve([year], solver="dp")[0]
    best = enumerated(year, 801, [100.0])
    assert found.violation == 0
    assert best * (1 - 1e-9) <= found.benefit <= best * (1 + 1e-4)


@pytest.mark.parametrize("inflow", [(900.0, 1500.0, 700.0), (2000.0, 300.0, 1200.0)])
def test_no_trajectory_of_a_fine_grid_is_better_for_the_bundled_reservoir(
    xiaowan: Reservoir, inflow: tuple[float, ...]
) -> None:
    year = three_months(xiaowan, 12_000.0, inflow)
    found = solve([year], solver="dp")[0]
    best = enumerated(year, 801, [12_000.0])
    assert best * (1 - 1e-9) <= found.benefit <= best * (1 + 1e-4)


@pytest.mark.parametrize("inflow", [(20.0, 45.0, 15.0), (60.0, 5.0, 30.0)])
def test_no_cycle_of_a_fine_grid_is_better(small: Reservoir, inflow: tuple[float, ...]) -> None:
    year = three_months(small, None, inflow)
    found = solve([year], solver="dp")[0]
    best = enumerated(year, 201, np.linspace(*year.limits.start_bounds_hm3, 101).tolist())
    assert found.violation == pytest.approx(0, abs=1e-8)
    assert best * (1 - 1e-6) <= found.benefit <= best * (1 + 2e-3)


def polished(year: ReservoirYears, found: Solutions) -> float:
    """The benefit that sequential quadratic programming reaches from a solution, within the same bounds."""
    reservoir, limits = year.model.reservoir, year.limits
    start, end = limits.initial_storage_hm3, year.operate(found.position).storage_hm3[-1]
    volume = limits.hm3_per_m3s
    days = volume / 0.0864

    def releases(inner: np.ndarray) -> np.ndarray:
        return limits.inflow_m3s - np.diff([start, *inner, end]) / volume

    def loss(inner: np.ndarray) -> float:
        storage = np.array([start, *inner, end])
        return -float(benefit_gwh(reservoir, storage[:-1], storage[1:], releases(inner), days).sum())

    at = year.operate(found.position).storage_hm3[1:-1]
    slopes = np.stack([releases(at + step) - releases(at) for step in np.eye(11)], axis=1)
    offset = releases(at) - slopes @ at
    within = LinearConstraint(slopes, limits.release_lower_m3s - offset, limits.release_upper_m3s - offset)
    bounds = np.stack([limits.storage_lower_hm3, limits.storage_upper_hm3], axis=1)[:-1]
    result = minimize(loss, at, method="SLSQP", bounds=bounds, constraints=[within], options={"maxiter": 60})
    inside = np.clip(result.x, *bounds.T)
    fits = np.all(releases(inside) >= limits.release_lower_m3s - 1e-6) and np.all(
        releases(inside) <= limits.release_upper_m3s + 1e-6
    )
    return -loss(inside) if fits else -loss(at)


def test_descent_from_the_optimum_finds_nothing_better(
    years: list[ReservoirYears], small_years: list[ReservoirYears], reference_optima: Solutions
) -> None:
    found = [*reference_optima, *solve(small_years, solver="dp")]
    for year, solution in zip([*years, *small_years], found, strict=True):
        assert polished(year, solution) <= solution.benefit * (1 + 1e-6)


def test_descent_does_find_something_better_than_a_hasty_swarm(years: list[ReservoirYears]) -> None:
    hasty = solve(years, solver="clpso-sequential", generations=100)
    gains = [polished(year, found) / found.benefit - 1 for year, found in zip(years, hasty, strict=True)]
    assert min(gains) > 1e-4


@settings(max_examples=30)
@given(st.integers(0, 4), st.lists(st.floats(0, 1), min_size=12, max_size=12))
def test_no_random_policy_is_better(
    years: list[ReservoirYears], reference_optima: Solutions, index: int, parts: list[float]
) -> None:
    year = years[index]
    worth = year.certify(year.lower + np.array(parts) * (year.upper - year.lower))
    assert worth.fitness <= reference_optima[index].fitness


@pytest.mark.parametrize("end", [lambda same: same, cyclic, free], ids=["fixed", "cyclic", "free"])
@pytest.mark.parametrize("factor", [0.05, 0.3, 5.0])
def test_no_swarm_is_better_in_years_that_cannot_be_satisfied(
    small: Reservoir, small_inflow: Inflow, end, factor: float
) -> None:
    scaled = Inflow(flow_m3s=small_inflow.flow_m3s * factor, calendar=small_inflow.calendar)
    problems = reservoir_problems(end(small), scaled)[:2]
    best = solve(problems, solver="dp")
    swarm = solve(problems, solver="clpso-sequential", generations=1500)
    for one, other in zip(best, swarm, strict=True):
        assert one.fitness >= other.fitness - 2e-5 * abs(other.fitness)


def test_the_first_grid_makes_no_difference(years: list[ReservoirYears], reference_optima: Solutions) -> None:
    for states in (101, 333):
        found = solve(years, solver="dp", states=states)
        for one, other in zip(found, reference_optima, strict=True):
            assert one.fitness == pytest.approx(other.fitness, rel=1e-6)


def test_a_year_that_is_optimised_backwards_is_the_same_year(
    years: list[ReservoirYears], reference_optima: Solutions
) -> None:
    again = solve(years[::-1], solver="dp")[::-1]
    assert [one.position.tolist() for one in again] == [one.position.tolist() for one in reference_optima]


def test_the_reference_is_certified_and_keeps_every_bound(
    years: list[ReservoirYears], reference_optima: Solutions
) -> None:
    for year, solution in zip(years, reference_optima, strict=True):
        worth = year.certify(solution.position)
        assert (solution.fitness, solution.benefit, solution.violation) == (worth.fitness, worth.benefit, 0.0)
        np.testing.assert_allclose(year.operate(solution.position).release_m3s, solution.position, rtol=1e-9)


@pytest.mark.parametrize(("case", "total"), [("xiaowan", 14_552.84), ("xiaowan-observed", 13_796.30)])
def test_62_years_of_xiaowan_make_what_an_independent_program_found(case: str, total: float) -> None:
    """In units of 100 GWh (1e8 kWh), to 0.005 %."""
    bundled = package.bundled_case(case)
    found = solve(reservoir_problems(bundled.reservoir(), bundled.inflow()), solver="dp")
    assert sum(each.violation for each in found) == 0
    assert sum(each.benefit for each in found) / 100 == pytest.approx(total, rel=5e-5)


def test_a_problem_without_storage_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="needs a reservoir storage as its state, and bowl has none"):
        solve([replace(Toy(), label="bowl")], solver="dp")


def test_a_better_plant_never_makes_less(small: Reservoir, small_inflow: Inflow) -> None:
    record = Inflow(flow_m3s=small_inflow.flow_m3s[:1], calendar=Calendar(1955, 1, first_month=6))

    def best(**changes: object) -> float:
        return solve(reservoir_problems(replace(small, **changes), record), solver="dp")[0].benefit

    usual = best()
    assert best(installed_mw=35.0) >= usual
    assert best(storage_upper_hm3=small.storage_upper_hm3 + 5) >= usual
    assert best(release_lower_m3s=small.release_lower_m3s - 1) >= usual
    assert best(final_storage_hm3=90.0) > usual > best(final_storage_hm3=100.0)
