"""Bits as positions: Gray code, levels between bounds, and storages that always make a feasible year."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.problems.fitness import gray_level
from reservoir.problems.functions import FUNCTIONS, function_problems
from reservoir.problems.reservoir.year import reservoir_problems
from reservoir.solvers import solve
from reservoir.solvers.dsmga2.run import genotype_of, position_of
from tests.year_ends import cyclic, free


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_neighbouring_levels_differ_by_one_bit(bits):
    codes = [[(code >> place) & 1 for place in reversed(range(bits))] for code in range(2**bits)]
    levels = {gray_level(np.array(code, np.uint8), 0, bits): code for code in codes}
    assert sorted(levels) == list(range(2**bits))
    for level in range(2**bits - 1):
        assert np.abs(np.subtract(levels[level], levels[level + 1])).sum() == 1
    assert levels[0] == [0] * bits


def test_levels_lie_evenly_between_the_bounds():
    problem = function_problems(FUNCTIONS["f5"], 1, dimension=2)[0]
    kind, loci = genotype_of(problem, 4)
    assert loci == 8
    genes = np.zeros(loci, np.uint8)
    np.testing.assert_allclose(position_of(problem, kind, genes), problem.lower, rtol=1e-6)
    genes[[0, 4]] = 1  # the highest Gray code has the first bit alone
    np.testing.assert_allclose(position_of(problem, kind, genes), problem.upper, rtol=1e-6)
    genes[:] = [0, 0, 0, 1, 0, 0, 1, 1]  # levels 1 and 2 of 15
    expected = problem.lower + np.array([1, 2]) / 15 * 2 * 5.12
    np.testing.assert_allclose(position_of(problem, kind, genes), expected, rtol=1e-6)


@pytest.mark.parametrize(("end", "free_storages"), [(None, 11), (free, 12), (cyclic, 12)])
def test_every_string_is_a_feasible_year(xiaowan, five_years, end, free_storages):
    rng = np.random.default_rng(5)
    for year in reservoir_problems(end(xiaowan) if end else xiaowan, five_years):
        kind, loci = genotype_of(year, 8)
        assert loci == 8 * free_storages
        for _ in range(50):
            position = position_of(year, kind, rng.integers(0, 2, loci, np.uint8))
            assert (position >= year.lower).all()
            assert (position <= year.upper).all()
            operation = year.operate(position)
            assert operation.violation.sum() == 0
            np.testing.assert_allclose(operation.release_m3s, position[:12], rtol=1e-4, atol=0.5)


def test_a_year_that_cannot_be_kept_still_keeps_its_releases_bounds(xiaowan, five_years):
    hopeless = replace(xiaowan, release_lower_m3s=np.full(12, 2500.0), release_upper_m3s=np.full(12, 2600.0))
    for reservoir in (hopeless, cyclic(hopeless)):
        year = reservoir_problems(reservoir, five_years)[0]
        kind, loci = genotype_of(year, 6)
        for genes in np.random.default_rng(2).integers(0, 2, (20, loci), np.uint8):
            position = position_of(year, kind, genes)
            assert (position >= year.lower).all()
            assert (position <= year.upper).all()
        found = solve([year], solver="dsmga2", population=20, generations=5)[0]
        assert found.violation > 0
        assert np.isfinite(found.fitness)


def test_the_ends_of_the_code_are_the_ends_of_what_can_be_reached(years):
    year = years[0]
    kind, loci = genotype_of(year, 6)
    lowest, highest = np.zeros(loci, np.uint8), np.zeros(loci, np.uint8)
    highest[::6] = 1
    low, high = (year.operate(position_of(year, kind, genes)).storage_hm3 for genes in (lowest, highest))
    assert (high[1:-1] > low[1:-1]).all()
    rng = np.random.default_rng(1)
    for _ in range(50):
        storage = year.operate(position_of(year, kind, rng.integers(0, 2, loci, np.uint8))).storage_hm3
        assert (storage >= low - 0.1).all()
        assert (storage <= high + 0.1).all()
