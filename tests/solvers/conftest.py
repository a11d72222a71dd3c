"""Engines and problems that the solvers' tests share."""

from __future__ import annotations

import numba
import pytest

from reservoir.hydro.compile import OPTIONS
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.solvers import Solution, clpso_sequential, solve
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


@pytest.fixture(scope="session")
def _compiled_for_toys() -> object:
    return numba.njit(**OPTIONS)(clpso_sequential._run.py_func)


@pytest.fixture
def toys_allowed(monkeypatch: pytest.MonkeyPatch, _compiled_for_toys: object) -> None:
    """Compile the sequential engine for toys apart from the cache on disk, which other processes read."""
    monkeypatch.setattr(clpso_sequential, "_run", _compiled_for_toys)
