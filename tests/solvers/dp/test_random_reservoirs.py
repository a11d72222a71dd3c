"""Dynamic programming on years of random reservoirs that were hard for it."""

from __future__ import annotations

import pytest

from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import solve
from reservoir.zoo import Part, zoo_case

#: Part, reservoir and year, all cyclic: where the best start was missed by one of the two engines, or by both.
CYCLIC_YEARS = [(Part.TUNING, 57, 4), (Part.TEST, 12, 1), (Part.TEST, 159, 21)]
#: Seed, part, reservoir and year where the best schedule keeps to kinks between the storages of grids: turbines just
#: filled while the head depends much on the storage, and least releases while the lake evaporates.
YEARS_AT_KINKS = [
    (1, Part.TUNING, 122, 21),
    (1, Part.TUNING, 1, 3),
    (1, Part.TUNING, 191, 4),
    (1, Part.TEST, 38, 3),
    (2, Part.TEST, 126, 22),
]


def year_of(part: Part, number: int, year: int, seed: int = 1) -> ReservoirYears:
    """One year of a reservoir."""
    case = zoo_case(number, 30, part=part, seed=seed)
    return reservoir_problems(case.reservoir, case.inflow)[year : year + 1]


@pytest.mark.parametrize(("part", "number", "year"), CYCLIC_YEARS)
def test_both_engines_find_the_same_optimum_which_no_search_exceeds(device, part, number, year) -> None:
    years = year_of(part, number, year)
    host, on_device, search = (solve(years, solver=name)[0] for name in ("dp", "dp-opencl", "lshade"))
    assert on_device.fitness == pytest.approx(host.fitness, rel=1e-6)
    assert search.fitness <= host.fitness * (1 + 1e-6)


@pytest.mark.parametrize(("seed", "part", "number", "year"), YEARS_AT_KINKS)
def test_both_engines_find_a_schedule_that_no_grid_has(device, seed, part, number, year) -> None:
    years = year_of(part, number, year, seed)
    host, on_device = (solve(years, solver=name)[0] for name in ("dp", "dp-opencl"))
    search = solve(years, solver="lshade", polish=False)[0]
    assert on_device.fitness == pytest.approx(host.fitness, rel=1e-8)
    assert search.fitness <= min(host.fitness, on_device.fitness)
    assert host.violation == on_device.violation == 0
