"""Long horizons by engines of short problems come close to dynamic programming, and depend on nothing but the seed."""

from dataclasses import fields, replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.curves.curve import Table
from reservoir.hydro.objectives import Horizon
from reservoir.problems.reservoir.record import record_problems
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import SOLVERS, settings_of, solve
from reservoir.solvers.codings import CodingSettings
from tests.year_ends import cyclic, free, valued

SWEPT = [name for name, solver in SOLVERS.items() if solver.swept]
ENDS = {"fixed": lambda given: given, "free": free, "cyclic": cyclic}
#: A search of little work.
SHORT = {"most_sweeps": 2, "window_steps": 10, "evaluations": 2000}

pytestmark = pytest.mark.device


def horizons(reservoir, inflow, years=None) -> list[ReservoirYears]:
    return list(record_problems(reservoir, inflow, Horizon(years)).each)


@pytest.fixture(scope="module")
def short(lake, dry_record):
    """Two horizons of two years, and what little work finds."""
    problems = horizons(lake, dry_record.span(0, 4), 2)
    return problems, solve(problems, solver="lshade", **SHORT)


def test_the_swarms_are_swept():
    assert SWEPT == ["clpso", "lshade"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("solver", SWEPT)
def test_a_record_is_planned_within_a_thousandth_of_dynamic_programming(solver, end, lake, dry_record):
    """On an active storage of two mean annual inflows, with every end."""
    problems = horizons(ENDS[end](lake), dry_record)
    best = solve(problems, solver="dp-opencl").fitness
    found = solve(problems, solver=solver)
    assert found.violation.tolist() == [0.0]
    assert found.fitness == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("end", ["cyclic", "valued"])
def test_some_years_with_losses_are_planned_within_a_thousandth_of_dynamic_programming(end, lake, dry_record):
    thirsty = replace(
        lake,
        evaporation_mm=np.linspace(20.0, 150.0, 12),
        seepage_m3s=Table((20.0, 120.0), (0.02, 0.1)),
        withdrawal_m3s=np.linspace(0.05, 0.3, 12),
    )
    ends = {**ENDS, "valued": lambda given: valued(given, 0.05)}
    problems = horizons(ends[end](thirsty), dry_record.span(0, 8))
    best = solve(problems, solver="dp-opencl").fitness
    found = solve(problems, solver="lshade")
    assert found.violation.tolist() == [0.0]
    assert found.fitness == pytest.approx(best, rel=1e-3)


def test_limits_of_the_change_of_release_that_bind_nowhere_change_little(lake, dry_record):
    """Dynamic programming refuses them; without effect, its optimum is still that of the horizon."""
    record = dry_record.span(0, 4)
    best = solve(horizons(lake, record), solver="dp-opencl").fitness
    found = solve(horizons(replace(lake, ramp_up_m3s=1000.0, ramp_down_m3s=1000.0), record), solver="lshade")
    assert found.fitness == pytest.approx(best, rel=1e-3)


def test_limits_of_the_change_of_release_are_kept_through_a_record(lake, dry_record):
    """Within windows and between them, at a cost."""
    slow = replace(lake, ramp_up_m3s=0.6, ramp_down_m3s=0.4)
    record = dry_record.span(0, 6)
    problems = record_problems(slow, record, Horizon(None))
    found = solve(problems.each, solver="lshade", most_sweeps=20)
    assert found.violation.tolist() == [0.0]
    change = np.diff(problems.operate(found.position).release_m3s.ravel())
    assert -0.4 - 1e-6 <= change.min() < -0.39
    assert 0.59 < change.max() <= 0.6 + 1e-6
    free_change = solve(horizons(lake, record), solver="lshade", most_sweeps=20)
    assert found.fitness[0] < free_change.fitness[0] * (1 - 1e-4)


def test_the_same_seed_finds_the_same_schedule_and_another_seed_another(short):
    problems, found = short
    again, other = (solve(problems, solver="lshade", seed=seed, **SHORT) for seed in (1, 2))
    assert np.array_equal(np.array(again.position), np.array(found.position))
    assert not np.array_equal(np.array(other.position), np.array(found.position))


def test_a_horizon_does_not_depend_on_those_beside_it(short):
    problems, found = short
    alone = solve(problems[1:], solver="lshade", **SHORT)
    assert np.array_equal(alone.position[0], found.position[1])
    assert alone.evaluations[0] == found.evaluations[1]


def test_the_fitness_never_falls(short):
    _, found = short
    for trace, fitness in zip(found.trace_fitness, found.fitness, strict=True):
        assert np.all(np.diff(trace) >= 0)
        assert trace[-1] == pytest.approx(fitness, rel=1e-12)


def test_all_settings_are_recorded(short):
    _, found = short
    recorded = found[0].settings
    assert recorded["most_sweeps"] == 2
    assert recorded["window_steps"] == 10
    assert recorded["evaluations"] == 2000
    assert recorded["seed"] == 1
    assert {"range_factor", "sweep_tolerance", "driver", "members_per_dimension"} <= set(recorded)
    of_systems = {each.name for each in fields(CodingSettings)}
    assert set(settings_of("lshade")) - of_systems <= set(recorded)


def test_a_window_has_a_budget_of_its_own(short):
    """Fewer generations than a year's, unless the call says otherwise."""
    problems, _ = short
    found = solve(problems[:1], solver="clpso", most_sweeps=1)
    assert found[0].settings["generations"] == 2000


def test_progress_counts_sweeps(short):
    problems, _ = short
    told = []
    solve(problems, solver="lshade", progress=lambda done, total: told.append((done, total)), **SHORT)
    assert told == [(1, 2), (2, 2)]


def test_the_search_ends_when_nothing_improves(short):
    problems, _ = short
    told = []
    solve(
        problems,
        solver="lshade",
        evaluations=2000,
        sweep_tolerance=1.0,
        range_factor=0.01,
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(1, 40), (2, 40), (3, 3)]


def test_a_shorter_last_horizon_is_swept_too(lake, dry_record):
    problems = horizons(lake, dry_record.span(0, 3), 2)
    assert [problem.limits.steps for problem in problems] == [24, 12]
    found = solve(problems, solver="lshade", **SHORT)
    alone = solve(problems[:1], solver="lshade", **SHORT)
    assert np.array_equal(found.position[0], alone.position[0])
    assert found.violation.tolist() == [0.0, 0.0]
    best = solve(problems, solver="dp-opencl").fitness
    assert found.fitness == pytest.approx(best, rel=1e-2)


def test_the_search_begins_with_given_releases(short):
    problems, found = short
    given = [np.stack([found.position[place], np.zeros(24)]) for place in range(2)]
    again = solve(problems, solver="lshade", **SHORT, first=given)
    assert again[0].settings["first"] == 2
    assert np.all(np.array([trace[0] for trace in again.trace_fitness]) >= found.fitness * (1 - 1e-6))
    with pytest.raises(InputError, match="first positions have the wrong shape"):
        solve(problems, solver="lshade", **SHORT, first=given[:1])


def test_a_callback_ends_the_sweeps_with_the_schedules_so_far(short):
    problems, found = short
    told = []

    def stop(state):
        told.append(state)
        return True

    stopped = solve(problems, solver="lshade", **SHORT, stop=stop)
    assert [(state.solver, state.done, state.total) for state in told] == [("lshade", 2, 2)]
    assert told[0].fitness == pytest.approx(stopped.fitness, rel=1e-12)
    assert [len(trace) for trace in stopped.trace_fitness] == [1, 1]
    assert stopped.fitness[0] == pytest.approx(found.trace_fitness[0][0], rel=1e-12)


def test_a_callback_leaves_out_horizons_that_were_not_begun(lake, dry_record):
    """The shorter last horizon has a program of its own."""
    problems = horizons(lake, dry_record.span(0, 5), 2)
    found = solve(problems, solver="lshade", **SHORT, stop=lambda state: True)
    assert len(found) == 2


def test_a_callback_is_not_asked_after_the_last_sweep(short):
    problems, _ = short
    told = []
    solve(problems, solver="lshade", **SHORT, stop=lambda state: told.append(state) or False)
    assert len(told) == 1


def test_settings_of_sweeps_are_refused_for_years(lake, dry_record):
    years = reservoir_problems(lake, dry_record.span(0, 2))
    match = r"most_sweeps is a setting of sweeps over long horizons.*more than 12 steps.*choose a longer horizon"
    with pytest.raises(InputError, match=match):
        solve(years, solver="lshade", most_sweeps=3)
    with pytest.raises(InputError, match="window_steps is out of range"):
        solve(horizons(lake, dry_record.span(0, 2)), solver="lshade", window_steps=1)
    with pytest.raises(InputError, match="the solver dp has no setting most_sweeps"):
        solve(years, solver="dp", most_sweeps=3)


def test_a_horizon_whose_limits_cannot_be_kept_is_swept_too(lake, dry_record):
    """Its bounds are missed by no more than dynamic programming misses them, but for rounding."""
    strict = replace(lake, release_lower_m3s=np.full(12, 1.8), initial_storage_hm3=40.0, final_storage_hm3=40.0)
    problems = horizons(strict, dry_record.span(0, 4))
    best = solve(problems, solver="dp-opencl")
    assert best.violation[0] > 0
    found = solve(problems, solver="lshade", evaluations=5000)
    assert found.violation[0] == pytest.approx(best.violation[0], rel=2e-2)
