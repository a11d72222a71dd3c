"""Engines and problems that the solvers' tests share."""

from __future__ import annotations

import pytest

from reservoir.problems.reservoir.year import ReservoirYear
from reservoir.solvers import Solution, solve


@pytest.fixture(scope="session")
def reference_optima(years: list[ReservoirYear]) -> list[Solution]:
    """The five years by dynamic programming."""
    return solve(years, solver="dp")
