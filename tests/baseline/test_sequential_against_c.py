"""The sequential engine is the same algorithm as a plain C program: the baseline of every speed-up is no straw man."""

import numpy as np
import pytest

from reservoir.problems.reservoir.year import reservoir_problems
from reservoir.solvers import solve
from reservoir.solvers.clpso import SwarmSettings
from tests.baseline.plain_c import PlainC, compiler

needs_a_compiler = pytest.mark.skipif(compiler() is None, reason="needs a C compiler (gcc or cc)")


@needs_a_compiler
@pytest.mark.parametrize("generations", [1, 40])
def test_plain_c_finds_what_the_sequential_engine_finds(xiaowan, inflow, tmp_path, generations):
    years = reservoir_problems(xiaowan, inflow)[:8]
    program = PlainC(years[0], SwarmSettings(generations=generations), tmp_path)
    positions, evaluations = program.solve(years, seed=5)
    expected = solve(years, solver="clpso-sequential", seed=5, generations=generations)
    for year, position, count, solution in zip(years, positions, evaluations, expected, strict=True):
        assert count == solution.evaluations
        assert year.certify(position).fitness == pytest.approx(solution.fitness, rel=1e-5)


@needs_a_compiler
def test_plain_c_comes_as_close_to_the_optimum(xiaowan, inflow, tmp_path):
    years = reservoir_problems(xiaowan, inflow)[:6]
    positions, _ = PlainC(years[0], SwarmSettings(), tmp_path).solve(years, seed=1)
    found = np.array([year.certify(position).fitness for year, position in zip(years, positions, strict=True)])
    best = np.array([solution.fitness for solution in solve(years, solver="dp")])
    assert np.all(found >= best * (1 - 2e-4))
