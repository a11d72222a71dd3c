"""CLPSO, by either engine, comes as close to the reference optimum as its budget allows, and breaks no bound."""

import numpy as np
import pytest

from reservoir.opencl import DeviceInfo
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from tests.solvers.engines import each_of
from tests.year_ends import cyclic, free


@pytest.fixture(params=each_of(["clpso", "clpso-sequential"]))
def solver(request: pytest.FixtureRequest) -> str:
    """Each engine of CLPSO."""
    return request.param


def gaps(found: Solutions, best: Solutions) -> np.ndarray:
    """Part of the optimum that each solution lacks."""
    return np.array([1 - one.fitness / other.fitness for one, other in zip(found, best, strict=True)])


@pytest.mark.parametrize("seed", [1, 2])
def test_five_years_come_within_two_thousandths_in_2500_generations(
    years: list[ReservoirYears], reference_optima: Solutions, solver: str, seed: int
) -> None:
    found = solve(years, solver=solver, seed=seed, generations=2500)
    assert [each.violation for each in found] == [0.0] * 5
    assert gaps(found, reference_optima).max() < 2e-3
    assert gaps(found, reference_optima).mean() < 5e-4


def test_the_papers_budget_comes_within_a_five_thousandth(
    years: list[ReservoirYears], reference_optima: Solutions, solver: str
) -> None:
    gap = gaps(solve(years, solver=solver), reference_optima)
    assert gap.max() < 2e-4
    assert gap.min() > -2e-5


@pytest.fixture(scope="module", params=["xiaowan cyclic", "xiaowan free", "small", "small cyclic", "small free"])
def other(request: pytest.FixtureRequest) -> tuple[list[ReservoirYears], Solutions]:
    """Two years of another reservoir or with another kind of end, and their reference optima."""
    name, _, end = request.param.partition(" ")
    reservoir, record = (
        request.getfixturevalue(each) for each in (name, {"xiaowan": "five_years", "small": "small_inflow"}[name])
    )
    problems = reservoir_problems({"": lambda same: same, "cyclic": cyclic, "free": free}[end](reservoir), record)[:2]
    return problems, solve(problems, solver="dp")


def test_other_reservoirs_and_year_ends_come_as_close(
    other: tuple[list[ReservoirYears], Solutions], solver: str
) -> None:
    problems, best = other
    found = solve(problems, solver=solver, generations=3000)
    assert [each.violation for each in found] == [0.0, 0.0]
    assert gaps(found, best).min() > -2e-5
    assert gaps(found, best).max() < 2e-3


def test_more_generations_come_closer(
    device: DeviceInfo, years: list[ReservoirYears], reference_optima: Solutions
) -> None:
    means = [
        gaps(solve(years, solver="clpso", generations=generations), reference_optima).mean()
        for generations in (30, 300, 3000)
    ]
    assert means == sorted(means, reverse=True)
    assert means[-1] < means[0] / 20
