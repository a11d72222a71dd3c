"""L-SHADE ends with exchanges of water: they never make a schedule worse, and touch nothing but years of reservoirs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.reservoir import Reservoir
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from reservoir.solvers.exchanges import QUICK, can_be_polished, polished
from reservoir.zoo import zoo_case
from tests.solvers.engines import each_of
from tests.solvers.toys import Toy

#: Numbers of reservoirs: years with a fixed end, cyclic ones, free ones, and some with evaporation.
NUMBERS = (0, 5, 12, 57, 68, 134)
ENGINES = pytest.mark.parametrize("solver", each_of(("lshade", "lshade-sequential")))
FEW = {"evaluations": 1000, "members_per_dimension": 8}


def years_of(number: int) -> ReservoirYears:
    """Some years of a random reservoir, also such as cannot keep their limits."""
    case = zoo_case(number, 30)
    return reservoir_problems(case.reservoir, case.inflow)[:6]


def positions_of(years: ReservoirYears) -> np.ndarray:
    return np.random.default_rng(3).uniform(years.lower, years.upper)


def bytes_of(solutions: Solutions) -> list[tuple[bytes, bytes]]:
    return [(each.position.tobytes(), each.trace_fitness.tobytes()) for each in solutions]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_quick_polish_makes_no_schedule_worse_and_says_what_each_gained(number: int) -> None:
    years = years_of(number)
    before = positions_of(years)
    found = polished(years, before, effort=QUICK)
    first, last = years.certify(before), years.certify(found.positions)
    assert (last.fitness >= first.fitness).all()
    assert (last.fitness > first.fitness).any()
    np.testing.assert_array_equal(found.gains_gwh, last.fitness - first.fitness)
    kept = first.violation == 0
    assert (last.violation[kept] == 0).all()


@pytest.mark.parametrize("number", NUMBERS)
def test_a_quick_polish_leaves_little_to_a_fine_one(number: int) -> None:
    """From schedules that a short search found."""
    years = years_of(number)
    found = solve(years, solver="lshade-sequential", evaluations=5000, polish=True)
    fine = polished(years, np.array(found.position))
    keep = found.violation == 0
    assert (fine.gains_gwh[keep] <= 2e-6 * np.abs(found.fitness[keep])).all()


def test_threads_and_the_years_beside_a_year_make_no_difference_to_a_quick_polish() -> None:
    years = years_of(12)
    positions = positions_of(years)
    alone = [polished(years[at : at + 1], positions[at : at + 1], 1, QUICK).positions for at in range(len(years))]
    for threads in (1, 2, 64):
        assert polished(years, positions, threads, QUICK).positions.tobytes() == np.concatenate(alone).tobytes()


@ENGINES
def test_the_end_of_a_search_gains_in_every_year(solver: str) -> None:
    years = years_of(134)
    off, on = (solve(years, solver=solver, polish=each, **FEW) for each in (False, True))
    assert (on.fitness > off.fitness).all()
    for without, ended in zip(off, on, strict=True):
        assert ended.trace_fitness[:-1].tobytes() == without.trace_fitness.tobytes(), "the search is the same"
        assert ended.generations == without.generations + 1 == ended.trace_generations[-1]
        assert ended.fitness - without.fitness == pytest.approx(ended.trace_fitness[-1] - ended.trace_fitness[-2])
        assert ended.fitness_float32 == ended.trace_fitness[-1]


@ENGINES
def test_other_problems_are_solved_as_without_it(solver: str) -> None:
    on, off = (solve([Toy()], solver=solver, evaluations=2000, polish=each) for each in (True, False))
    assert bytes_of(on) == bytes_of(off)


def test_long_horizons_and_limited_changes_of_release_are_left_as_they_are(
    small: Reservoir, small_inflow: Inflow
) -> None:
    record = record_problems(small, small_inflow, Horizon(None)).batches[0]
    slow = replace(small, ramp_up_m3s=5.0)
    assert [can_be_polished(each[0]) for each in (record, reservoir_problems(slow, small_inflow))] == [False, False]
    assert can_be_polished(reservoir_problems(small, small_inflow)[0])


def test_the_setting_is_true_or_false() -> None:
    with pytest.raises(InputError, match=r"polish is neither True nor False.*found 3"):
        solve([Toy()], solver="lshade-sequential", polish=3)
