"""Exchanges of water between two months, which lead out of optima that searches of single months do not leave."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from reservoir.zoo import zoo_case
from tests.solvers.toys import Toy

#: Numbers of reservoirs: without exchanges L-SHADE lost 5.8 % in a year of the first, CLPSO 5.7 % in one of the other.
HARD_OF_LSHADE, HARD_OF_CLPSO = 173, 145
YEARS = 8


def years_of(number: int) -> ReservoirYears:
    case = zoo_case(number, 30)
    return reservoir_problems(case.reservoir, case.inflow)[:YEARS]


def bytes_of(solutions: Solutions) -> list[bytes]:
    return [each.tobytes() for each in solutions.position]


def gaps(years: ReservoirYears, solutions: Solutions) -> np.ndarray:
    best = solve(years, solver="dp")
    return (best.fitness - solutions.fitness) / np.abs(best.fitness)


@pytest.mark.parametrize(
    ("solver", "number", "interval", "bar"), [("lshade", HARD_OF_LSHADE, 5, 2e-4), ("clpso", HARD_OF_CLPSO, 5, 1e-3)]
)
def test_exchanges_find_the_optimum_of_hard_years(device, solver, number, interval, bar) -> None:
    years = years_of(number)
    search = {"solver": solver, **({"polish": False} if solver == "lshade" else {})}
    without, with_them = (solve(years, exchange_interval=each, **search) for each in (0, interval))
    assert gaps(years, without).max() > 10 * bar
    assert gaps(years, with_them).max() < bar


@pytest.mark.parametrize(("solver", "few"), [("lshade", {"evaluations": 2000}), ("clpso", {"generations": 100})])
def test_a_problem_without_variables_to_exchange_is_searched_as_ever(device, solver, few) -> None:
    one, other = (solve([Toy()], solver=solver, exchange_interval=each, **few)[0] for each in (0, 3))
    assert one.position.tobytes() == other.position.tobytes()


@pytest.mark.parametrize("archive", [0.0, 0.02, 1.0])
@pytest.mark.parametrize("number", [HARD_OF_LSHADE, HARD_OF_CLPSO])
def test_lshade_does_not_depend_on_the_layout(device, number, archive) -> None:
    years = years_of(number)[:3]
    settings = {"solver": "lshade", "evaluations": 4000, "archive_fraction": archive}
    usual = solve(years, lanes=1, items=216, **settings)
    for lanes, items in ((1, 7), (8, 5), (16, 1)):
        found = solve(years, lanes=lanes, items=items, **settings)
        assert bytes_of(found) == bytes_of(usual)


def test_clpso_does_not_depend_on_the_layout(device) -> None:
    years = years_of(HARD_OF_LSHADE)[:3]
    settings = {"solver": "clpso", "generations": 200, "exchange_interval": 2}
    usual = solve(years, lanes=1, items=40, **settings)
    for lanes, items in ((1, 5), (8, 5), (16, 1)):
        assert bytes_of(solve(years, lanes=lanes, items=items, **settings)) == bytes_of(usual)


def test_exchanges_are_refused_with_the_papers_random_numbers(device) -> None:
    with pytest.raises(InputError, match="exchange_interval needs random numbers of the scheme stream"):
        solve([Toy()], solver="clpso", model="final", exchange_interval=5)
