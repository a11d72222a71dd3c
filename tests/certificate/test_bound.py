"""The proven bound is never below any schedule, whatever the values on cells are, and it is close to the best one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reservoir import bundled_case
from reservoir.certificate.bound import Effort, Threads, prove_bound
from reservoir.certificate.reachable import reachable
from reservoir.certificate.stages import stages_of
from reservoir.certificate.tables import _extend, cell_values, grid_of, lined_up
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.planning.planned_record import feasible_years
from reservoir.planning.proof import LONGER_PAIRS
from reservoir.problems.reservoir.record import promising, record_problems
from reservoir.problems.reservoir.year import reservoir_problems
from reservoir.solvers import solve
from reservoir.zoo import zoo_case
from tests.certificate.cases import YEARS, every_case, problems_of, random_schedules
from tests.hydro.random_reservoirs import random_reservoir
from tests.year_ends import cyclic, free, valued

CASES = every_case()
SHORT = 3


def solved(problems, place):
    """Storages and fitness of the year's best schedule by dynamic programming; None if it violates limits."""
    year = problems[place]
    (found,) = solve([year], solver="dp")
    return year, year.operate(found.position).storage_hm3, found.fitness if found.violation == 0 else None


def of_steps(problems, steps):
    """The first steps of the years alone."""
    cut = {name: row[..., :steps] for name, row in problems.limits.rows.items()}
    return replace(problems, limits=replace(problems.limits, rows=cut))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("end", [free, cyclic, lambda reservoir: reservoir])
def test_an_exhaustive_search_never_exceeds_the_bound(seed, end):
    problems = of_steps(problems_of(end(random_reservoir(seed))), SHORT)
    year, most = problems[0], -np.inf
    axes = [np.linspace(low, high, 41) for low, high in zip(year.lower, year.upper, strict=True)]
    if problems.limits.cyclic:  # solvers keep a margin
        axes[SHORT] = np.linspace(year.limits.storage_lower_hm3[-1], year.limits.storage_upper_hm3[-1], 41)
    positions = np.stack(np.meshgrid(*axes[:SHORT], indexing="ij"), axis=-1).reshape(-1, SHORT)
    storages = np.linspace(*year.limits.start_bounds_hm3, SHORT + 1)
    for start in axes[SHORT] if problems.limits.cyclic else [None]:
        given = positions if start is None else np.column_stack([positions, np.full(len(positions), start)])
        many = replace(problems, limits=problems.limits[np.zeros(len(given), np.intp)], labels=["1"] * len(given))
        made = replace(many, rng_stream_ids=np.zeros(len(given), np.int64)).certify(given)
        kept = made.violation == 0
        if kept.any() and made.fitness[kept].max() > most:
            most = float(made.fitness[kept].max())
            storages = made.operation.storage_hm3[np.flatnonzero(kept)[made.fitness[kept].argmax()]]
    if most == -np.inf:
        pytest.skip("no schedule of the grid keeps the limits")
    found = prove_bound(year, storages, most, Effort(gap=1e-6, seconds=5.0))
    assert found.bound >= most
    assert found.bound <= most + 0.02 * abs(most)


@pytest.mark.parametrize("name", CASES)
def test_no_schedule_exceeds_the_bound_which_is_close_to_the_best(name):
    problems = CASES[name]
    year, storages, fitness = solved(problems, 0)
    prove_bound(year, storages, fitness, Effort(gap=1e-5, seconds=0.0))  # compiles: that is no time of a proof
    found = prove_bound(year, storages, fitness, Effort(gap=1e-5, seconds=20.0, pairs=LONGER_PAIRS))
    if fitness is None:
        return
    scale = max(abs(fitness), problems.model.system.objective.least_scale(problems.model.reservoir.installed_mw))
    assert 0 <= found.bound - fitness <= 2e-4 * scale
    for made in random_schedules(problems, 200, np.random.default_rng(5)):
        assert not (made.violation[0] == 0 and made.fitness[0] > found.bound)


def test_a_valued_end_is_part_of_the_bound():
    year, storages, fitness = solved(problems_of(valued(random_reservoir(4), 0.2)), 0)
    found = prove_bound(year, storages, fitness)
    assert 0 <= found.bound - fitness <= 1.01e-5 * abs(fitness)


def noisy(year, intervals, former, cost):
    """Good values with noise."""
    random, grid = np.random.default_rng(3), grid_of(intervals)
    good = cell_values(year, intervals, former, cost)
    values = np.stack([np.interp(row, *each) for row, each in zip(grid, _by_time(intervals, good), strict=True)])
    return lined_up(intervals, grid, values + random.normal(0, 5.0, values.shape), _worth(year))


def zeros(year, intervals, former, cost):
    """Nothing at all."""
    grid = grid_of(intervals)
    return lined_up(intervals, grid, np.zeros(grid.shape), _worth(year))


def of_another(year, intervals, former, cost):
    """The values of another reservoir's storages."""
    grid = grid_of(intervals)
    return lined_up(intervals, grid, 40.0 * np.sqrt(np.abs(grid)), _worth(year))


def no_numbers(year, intervals, former, cost):
    """Values beyond all numbers in some places."""
    grid = grid_of(intervals)
    values = np.zeros(grid.shape)
    values[:, ::3], values[:, 1::3], values[-1, 2::3] = np.inf, -np.inf, np.nan
    return lined_up(intervals, grid, values, _worth(year))


def _worth(year):
    return None if year.limits.cyclic else 0.0


def _by_time(intervals, table):
    middle = 0.5 * (intervals.lower + intervals.upper)
    for cells in intervals.by_time:
        yield middle[cells], table.cells.value[cells]


@pytest.mark.parametrize("values", [noisy, zeros, of_another, no_numbers])
@pytest.mark.parametrize("end", [free, cyclic, lambda reservoir: reservoir])
def test_bounds_from_wrong_values_are_valid(values, end):
    problems = problems_of(end(random_reservoir(3)))
    year, storages, fitness = solved(problems, 1)
    good = prove_bound(year, storages, fitness, Effort(seconds=10.0))
    wrong = prove_bound(year, storages, fitness, Effort(seconds=1.0), values)
    assert fitness <= good.bound <= wrong.bound * (1 + 1e-9)


def test_values_do_not_go_on_in_what_rounding_leaves_between_two_states():
    row, values = np.array([0.0, 500.0, 500.0 + 1e-12, 1000.0]), np.array([0.0, 1e6, 1e6 + 1e-9, 0.0])
    _extend(row, values, np.array([False, True, True, False]), np.zeros(4))
    assert values == pytest.approx(1e6)  # a line through both would go on by 5e5
    values = np.array([0.0, 3.0, 4.0, 0.0])
    _extend(np.array([0.0, 2.0, 4.0, 6.0]), values, np.array([False, True, True, False]), np.zeros(4))
    assert values == pytest.approx([2.0, 3.0, 4.0, 5.0])


@pytest.mark.parametrize("end", [free, cyclic])
@pytest.mark.parametrize("which", [slice(None), slice(0, 1), slice(None, None, 3)])
def test_a_bracket_that_comes_to_no_number_proves_nothing(end, which):
    """`max` passes NaN over: such pairs would be taken for no path at all, and the best schedule may lead there."""
    year, storages, fitness = solved(problems_of(end(random_reservoir(3))), 1)

    class WithoutNumbers(Threads):
        def bounded(self, *of):
            brackets = super().bounded(*of)
            brackets[which] = np.nan
            return brackets

    found = prove_bound(year, storages, fitness, Effort(seconds=2.0), by=WithoutNumbers())
    assert found.bound >= fitness
    assert not found.infeasible


def test_a_year_without_water_is_proved_infeasible_with_its_month():
    reservoir = replace(free(random_reservoir(2)), release_lower_m3s=np.full(12, 30.0))
    year = problems_of(reservoir)[0]
    limits = year.limits
    dry = limits.inflow_m3s.copy()
    dry[3:] = 0.0
    year = replace(year, limits=limits.changed(inflow_m3s=dry, release_lower_m3s=300.0))
    found = prove_bound(year, np.full(13, float(limits.initial_storage_hm3)), None)
    assert found.infeasible
    left, step = float(limits.initial_storage_hm3), 0
    while True:
        left = min(left + (dry[step] - 300.0) * limits.hm3_per_m3s[step], float(limits.storage_upper_hm3[step]))
        if left < limits.storage_lower_hm3[step]:
            break
        step += 1
    assert found.infeasible_step == step


@pytest.mark.parametrize("number", range(0, 40, 3))
def test_schedules_are_within_the_reachable_bounds_and_a_proof_of_none_is_right(number):
    case = zoo_case(number, 2)
    problems = reservoir_problems(case.reservoir, case.inflow)
    known = [reachable(year.limits, stages_of(year.limits)) for year in problems]
    for made in random_schedules(problems, 200, np.random.default_rng(number)):
        for place, bounds in enumerate(known):
            if made.violation[place] > 0:
                continue
            storages = made.operation.storage_hm3[place]
            assert bounds.empty_step is None
            assert np.all((storages >= bounds.lower) & (storages <= bounds.upper))
    feasible = feasible_years(problems.limits, np.ones(len(problems)))
    assert not any(feasible[place] for place, each in enumerate(known) if each.empty_step is not None)


def test_a_record_with_a_contracted_power_is_proved_close_to_the_best():
    """Drought after drought the power must be kept: values fall steeply towards storages from which it cannot be."""
    case = bundled_case("carryover")
    (problems,) = record_problems(case.reservoir(), case.inflow().span(0, 10), Horizon(None)).batches
    year, storages, fitness = solved(problems, 0)
    found = prove_bound(year, storages, fitness, Effort(gap=1e-4, seconds=60.0))
    assert 0 <= found.bound - fitness <= 1.01e-4 * fitness
    assert found.boxes < 1e7


def test_promised_power_is_proved_close_to_the_best():
    reservoir = random_reservoir(4)
    problems = problems_of(replace(reservoir, objective=Objective({Goal.FIRM_POWER: 1.0})))
    year, storages, fitness = solved(promising(problems, np.full(YEARS, 0.2 * reservoir.installed_mw)), 0)
    found = prove_bound(year, storages, fitness)
    assert 0 <= found.bound - fitness <= 1.01e-5 * abs(fitness)


def test_a_cyclic_year_may_start_beyond_the_margin_that_solvers_keep():
    case = zoo_case(2, YEARS)
    problems = reservoir_problems(case.reservoir, case.inflow)
    year, storages, fitness = solved(problems, 0)
    (found,) = solve([year], solver="dp")
    position = np.append(found.position[: year.limits.steps], year.limits.storage_upper_hm3[-1])
    made = year.certify(position)
    assert position[-1] > year.limits.start_bounds_hm3[1]
    assert made.violation == 0
    assert made.fitness > fitness * (1 + 2e-7)
    assert prove_bound(year, storages, fitness * (1 - 1e-4)).bound >= made.fitness
