"""Cells are cut at kinks of the value, and in the middle where it bends evenly."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.certificate import tables
from reservoir.certificate.bound import Effort, prove_bound
from reservoir.certificate.cells import cuts
from reservoir.hydro.objectives import Horizon
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers import solve
from reservoir.zoo import Part, zoo_case

GRID = np.array([0.0, 1.0, 3.0, 4.0, 6.0])


def cut(values, cell=1, grid=GRID):
    return float(cuts(grid[cell : cell + 1], grid[cell + 1 : cell + 2], grid, values)[0])


@pytest.mark.parametrize("kink", [1.3, 2.0, 2.7])
@pytest.mark.parametrize("slopes", [(2.0, 0.0), (-1.0, 3.0)])
def test_a_kink_is_found(kink, slopes):
    away = GRID - kink
    assert cut(np.where(away < 0, slopes[0] * away, slopes[1] * away)) == pytest.approx(kink, abs=1e-12)


def test_a_kink_near_an_end_is_cut_off_with_a_small_part():
    assert cut(np.minimum(GRID, 1.0 + 1e-6)) == 1.0 + 2.0 / 8


@pytest.mark.parametrize(
    "values",
    [
        3.0 * GRID,
        np.zeros(5),
        (GRID - 2.0) ** 2,
        GRID + 0.004 * np.minimum(GRID, 1.5),
        np.minimum(GRID, 1.0),
        np.array([0.0, 1.0, 4.0, 3.0, 2.0]),
    ],
)
def test_else_cells_are_halved(values):
    """Where values are straight, bend evenly, or have a kink elsewhere."""
    assert cut(values) == 2.0


@pytest.mark.parametrize("cell", [0, 3])
def test_cells_at_the_ends_of_the_grid_are_halved(cell):
    assert cut(np.minimum(GRID, 2.0), cell) == GRID[cell : cell + 2].mean()


def test_rows_may_end_in_one_storage_that_is_repeated():
    grid = np.array([0.0, 1.0, 3.0, 4.0, 4.0, 4.0])
    assert cut(np.minimum(grid, 2.5), 1, grid) == pytest.approx(2.5)
    assert cut(np.minimum(grid, 2.5), 2, grid) == 3.5
    assert cuts(np.array([5.0]), np.array([5.0]), np.array([5.0, 5.0]), np.zeros(2)) == [5.0]


def test_a_year_whose_value_has_kinks_is_proved_with_a_small_part_of_the_cells(monkeypatch):
    case = zoo_case(39, 2, part=Part.TUNING)
    year = record_problems(case.reservoir, case.inflow, Horizon()).each[0]
    (found,) = solve([year], solver="dp")
    told = year, year.operate(found.position).storage_hm3, found.fitness
    assert prove_bound(*told, Effort(pairs=6_000)).bound <= (1 + 1.01e-5) * found.fitness
    monkeypatch.setattr(tables, "cuts", lambda low, high, *_: 0.5 * (low + high))
    assert prove_bound(*told, Effort(pairs=60_000)).bound > (1 + 5e-5) * found.fitness
