"""Engines and problems that the solvers' tests share."""

from __future__ import annotations

import pytest

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.solvers import Solution, solve
from reservoir.solvers.reservoir_year import ReservoirYear, reservoir_problems


@pytest.fixture(scope="session")
def years(xiaowan: Reservoir, five_years: Inflow) -> list[ReservoirYear]:
    """Five years of the bundled case."""
    return reservoir_problems(xiaowan, five_years)


@pytest.fixture(scope="session")
def small_years(small: Reservoir, small_inflow: Inflow) -> list[ReservoirYear]:
    """Three years of the invented case."""
    return reservoir_problems(small, small_inflow)


@pytest.fixture(scope="session")
def reference_optima(years: list[ReservoirYear]) -> list[Solution]:
    """The five years by dynamic programming."""
    return solve(years, solver="dp")
