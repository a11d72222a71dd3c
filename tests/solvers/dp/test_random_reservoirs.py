"""Dynamic programming on years of random reservoirs that were hard for it."""

from __future__ import annotations

import pytest

from reservoir.problems.reservoir.year import reservoir_problems
from reservoir.solvers import solve
from reservoir.zoo.zoo import Part, zoo_case

#: Part, reservoir and year, all cyclic: where the best start was missed by one of the two engines, or by both.
CYCLIC_YEARS = [(Part.TUNING, 57, 4), (Part.TEST, 12, 1), (Part.TEST, 159, 21)]


@pytest.mark.parametrize(("part", "number", "year"), CYCLIC_YEARS)
def test_both_engines_find_the_same_optimum_which_no_search_exceeds(device, part, number, year) -> None:
    case = zoo_case(number, 30, part=part)
    years = reservoir_problems(case.reservoir, case.inflow)[year : year + 1]
    host, on_device, search = (solve(years, solver=name)[0] for name in ("dp", "dp-opencl", "lshade"))
    assert on_device.fitness == pytest.approx(host.fitness, rel=1e-6)
    assert search.fitness <= host.fitness * (1 + 1e-6)
