"""What the sequential engine maximises is the fitness of the physics, whichever way a year's balance is run."""

from dataclasses import replace

import numba
import numpy as np
import pytest

from reservoir.hydro.inflow import Inflow
from reservoir.hydro.jit import OPTIONS
from reservoir.hydro.stack_array import stack_array
from reservoir.problems.fitness import fitness_of
from reservoir.problems.reservoir.year import RepairableContext, ReservoirContext, ReservoirYears, reservoir_problems
from tests.hydro import paper
from tests.hydro.stand_in import with_forms
from tests.hydro.trials import Case

POSITIONS = 60
#: What float32 sums of a year make of float64 ones.
ROUNDING = 5e-6


@numba.njit(**OPTIONS)
def _judge(context, positions, fitness, room):
    for place in range(len(positions)):
        scratch = stack_array(room, np.float32), stack_array(room, np.float32)
        fitness[place] = fitness_of(context, positions[place], scratch)


def compiled(context: ReservoirContext | RepairableContext, positions: np.ndarray) -> np.ndarray:
    """Fitness of each position as compiled solvers see it."""
    fitness = np.empty(len(positions), np.float32)
    _judge(context, positions, fitness, (0,) * (positions.shape[1] + 1))
    return fitness


def positions_in(year: ReservoirYears) -> np.ndarray:
    """Random positions within a year's bounds, shape (positions, dimension)."""
    part = np.random.default_rng(5).random((POSITIONS, year.dimension))
    return (year.lower + part * (year.upper - year.lower)).astype(np.float32)


def scaled(case: Case, factor: float) -> tuple[list[ReservoirYears], Inflow]:
    """The first two years of a case with another amount of water, and their record."""
    reservoir, record = case
    less = Inflow(flow_m3s=record.flow_m3s[:2] * factor, calendar=replace(record.calendar, years=2))
    return reservoir_problems(reservoir, less), less


def by_the_physics(year: ReservoirYears, record: Inflow, index: int, positions: np.ndarray) -> np.ndarray:
    """Fitness of each position in float64, with energy from the curves' forms."""
    stand_in, fitness = with_forms(year.model), []
    for position in positions.astype(float):
        found = year.operate(position)
        told = paper.year_of(year.model.reservoir, record, index, float(found.storage_hm3[0]))
        energy = paper.energy_gwh(stand_in, told, found.release_m3s.tolist(), found.storage_hm3.tolist())
        fitness.append(energy - year.penalty * found.violation.sum())
    return np.array(fitness)


def of_any_year(year: ReservoirYears) -> ReservoirContext:
    """The context that a year would have if it were not always repairable."""
    context = year.compiled_context()
    constants = np.float32(year.penalty), context.per_stage_benefit
    return ReservoirContext(year.model.approximation.plant, context.year, *constants)


@pytest.mark.parametrize("factor", [0.05, 1.0, 5.0])
def test_fitness_is_that_of_the_physics(case: Case, factor: float) -> None:
    years, record = scaled(case, factor)
    for index, year in enumerate(years):
        positions = positions_in(year)
        found, expected = compiled(year.compiled_context(), positions), by_the_physics(year, record, index, positions)
        np.testing.assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING * year.penalty)


def test_a_year_that_is_always_repairable_is_worth_the_same_as_any_other(case: Case) -> None:
    for year in scaled(case, 1.0)[0]:
        positions = positions_in(year)
        found, expected = compiled(year.compiled_context(), positions), compiled(of_any_year(year), positions)
        np.testing.assert_allclose(found, expected, rtol=ROUNDING)


def test_the_years_of_the_bundled_case_are_always_repairable(xiaowan, five_years) -> None:
    contexts = [year.compiled_context() for year in reservoir_problems(xiaowan, five_years)]
    assert all(isinstance(each, RepairableContext) for each in contexts)


@numba.njit(**OPTIONS)
def _counted(room, seen):
    first, second = stack_array(room, np.float64), stack_array(room, np.float64)
    for place in range(len(first)):
        first[place], second[place] = place, 10 * place
    for place in range(len(first)):
        seen[place] = first[place] + second[place]


def test_arrays_on_the_stack_do_not_overlap() -> None:
    seen = np.empty(6)
    _counted((0,) * 6, seen)
    np.testing.assert_array_equal(seen, 11.0 * np.arange(6))
