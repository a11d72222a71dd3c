"""A record as one problem: both solvers find the same, however the device lays it out and whatever memory it has."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from reservoir.hydro.horizon_limits import open_limits, year_limits
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.plant import plant_with_cursors
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.system import System
from reservoir.opencl import DeviceInfo
from reservoir.problems.reservoir.year import ReservoirModel, ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from reservoir.solvers.device_engine import Launch
from reservoir.solvers.dp import DeviceGridSettings, GridSettings, first_grids, recursion, sequential
from reservoir.solvers.dp import engine as program
from reservoir.solvers.dp.engine import Runs, until_agreed
from tests.year_ends import cyclic, free

#: How close the device comes to the host, as a part of the fitness.
CLOSE = 1e-6
#: A search that is short enough to be repeated in many layouts.
COARSE = {"states": 101, "most_states": 400}


def record_of(reservoir: Reservoir, inflow: Inflow, repeat: int = 1) -> ReservoirYears:
    """Consecutive years, the same ones again and again, as one problem that ends as the reservoir's years do."""
    one = Inflow(flow_m3s=inflow.flow_m3s[:1], calendar=replace(inflow.calendar, years=1))
    ends, years = year_limits(System.of(reservoir), one), open_limits(System.of(reservoir), inflow)
    rows = {name: np.tile(row.reshape(1, 1, -1), repeat) for name, row in years.rows.items()}
    last = ends.storage_lower_hm3[:, -1], ends.storage_upper_hm3[:, -1]
    record = replace(ends, rows=rows).ending_within(*last)
    return ReservoirYears(ReservoirModel.of(reservoir), record, ("record",), np.array([1]))


def solution(problems: ReservoirYears, solver: str = "dp-opencl", **options: object) -> Solutions:
    return solve(problems, solver=solver, **options)[0]


def bytes_of(found: Solutions) -> tuple[bytes, int, int]:
    """Everything that was found, to the last bit."""
    return found.position.tobytes(), found.generations, found.evaluations


@pytest.fixture(scope="module")
def record(xiaowan: Reservoir, five_years: Inflow) -> ReservoirYears:
    """Sixty months of the bundled case."""
    return record_of(xiaowan, five_years)


@pytest.fixture(scope="module")
def usual(device: DeviceInfo, record: ReservoirYears) -> tuple[bytes, int, int]:
    """What the device finds with one state a vector and one work item a group."""
    return bytes_of(solution(record, lanes=1, items=1, **COARSE))


@pytest.mark.parametrize("factor", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("end", [lambda same: same, free], ids=["fixed", "free"])
def test_a_record_is_the_hosts_whether_or_not_it_can_be_satisfied(
    device, small: Reservoir, small_inflow: Inflow, end: Callable[[Reservoir], Reservoir], factor: float
) -> None:
    problem = record_of(end(small), replace(small_inflow, flow_m3s=small_inflow.flow_m3s * factor))
    found, reference = solution(problem), solution(problem, "dp")
    assert found.fitness == pytest.approx(reference.fitness, rel=CLOSE)
    assert found.violation == pytest.approx(reference.violation, rel=1e-6, abs=1e-9)


def test_a_cyclic_record_is_no_worse_than_the_hosts(device, small: Reservoir, small_inflow: Inflow) -> None:
    problem = record_of(cyclic(small), small_inflow)
    found, reference = solution(problem), solution(problem, "dp")
    assert -CLOSE <= found.fitness / reference.fitness - 1 <= 2e-5
    assert found.violation == pytest.approx(0, abs=1e-8)


def test_744_months_of_the_bundled_case_are_the_hosts(device, xiaowan: Reservoir, inflow: Inflow) -> None:
    problem = record_of(xiaowan, inflow)
    assert problem.limits.steps == 744
    found, reference = solution(problem), solution(problem, "dp")
    assert found.fitness == pytest.approx(reference.fitness, rel=CLOSE)
    assert found.violation == reference.violation == 0


@pytest.mark.parametrize("solver", ["dp", "dp-opencl"])
def test_a_horizon_of_20_000_steps_is_solved(device, small: Reservoir, small_inflow: Inflow, solver: str) -> None:
    """With grids so coarse that it takes a moment; the device's memory holds what local memory cannot."""
    problem = record_of(small, small_inflow, repeat=556)
    found = solution(problem, solver, states=21, most_states=21, fine_states=11, most_refinements=4)
    assert len(found.position) == 20_016
    assert found.violation == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(("lanes", "items"), [(8, 1), (16, 1), (1, 7), (1, 64), (4, 3), (8, 30), (2, 256), (1, 1024)])
def test_lanes_items_and_teams_make_no_difference(
    device: DeviceInfo, record: ReservoirYears, usual, lanes: int, items: int
) -> None:
    items = min(items, device.max_work_group_size)
    assert bytes_of(solution(record, lanes=lanes, items=items, **COARSE)) == usual


@pytest.mark.parametrize(("items", "memory"), [(1, 400_000), (16, 30_000_000)])
def test_runs_and_steps_that_memory_has_no_room_for_at_once_make_no_difference(
    device: DeviceInfo, pretend, monkeypatch: pytest.MonkeyPatch, record: ReservoirYears, usual, items: int, memory: int
) -> None:
    launches: list[tuple[str, int]] = []
    run = Launch.run

    def counted(self, kernel: str, groups: int, *arguments) -> None:
        launches.append((kernel, groups))
        run(self, kernel, groups, *arguments)

    def of(kernel: str) -> list[int]:
        return [groups for name, groups in launches if name == kernel]

    monkeypatch.setattr(Launch, "run", counted)
    assert bytes_of(solution(record, items=items, **COARSE)) == usual
    assert launches[0][1] >= 2
    blocks = len(of("value_transitions"))
    launches.clear()
    pretend(global_memory_bytes=memory)
    assert bytes_of(solution(record, items=items, **COARSE)) == usual
    assert len(of("value_transitions")) > blocks if items > 1 else set(of("begin_runs")) == {1}


@pytest.mark.parametrize("end", [lambda same: same, cyclic], ids=["fixed", "cyclic"])
@pytest.mark.parametrize("items", [1, 16])
def test_local_and_global_memory_make_no_difference_to_years(
    device, pretend, small: Reservoir, small_inflow: Inflow, end: Callable[[Reservoir], Reservoir], items: int
) -> None:
    years = reservoir_problems(end(small), small_inflow)[:2]
    local = [bytes_of(each) for each in solve(years, solver="dp-opencl", items=items)]
    pretend(local_memory_bytes=16_384)
    assert [bytes_of(each) for each in solve(years, solver="dp-opencl", items=items)] == local


def test_local_memory_is_taken_for_values_that_fit_into_it(two_cores: DeviceInfo) -> None:
    single = replace(two_cores, device=SimpleNamespace(extensions=""))

    def local(steps: int, local_bytes: int) -> bool:
        device = replace(single, local_memory_bytes=local_bytes)
        return program.layout_for(device, DeviceGridSettings(), steps).local

    assert [local(12, 49_152), local(12, 12_000), local(744, 12_000)] == [True, False, True]


def test_a_gpu_shares_a_long_horizon_among_more_items(large_gpu: DeviceInfo) -> None:
    gpu = replace(large_gpu, device=SimpleNamespace(extensions=""))
    assert [program.layout_for(gpu, DeviceGridSettings(), steps).items for steps in (12, 744)] == [256, 512]


@pytest.mark.parametrize("steps", [12, 744])
def test_choices_of_the_finest_first_grid_fit_16_bits(steps: int) -> None:
    assert max(first_grids(GridSettings(most_states=20_000).grids(steps))) < 1 << 16
    assert max(first_grids(GridSettings(states=20_000, most_states=20_000).grids(steps))) < 1 << 16


def test_threads_make_no_difference_to_the_host(record: ReservoirYears, small: Reservoir, small_inflow: Inflow) -> None:
    turning = reservoir_problems(cyclic(small), small_inflow)
    settings = GridSettings(**COARSE, start_states=5)
    for problem in (record[0], turning[0]):
        one, several = (sequential.best_trajectory(problem, settings, threads) for threads in (1, 3))
        assert one.position.tobytes() == several.position.tobytes()
        assert (one.refinements, one.transitions) == (several.refinements, several.transitions)


@pytest.mark.parametrize("factor", [0.05, 1.0, 5.0])
def test_the_host_leaves_out_no_state_that_can_follow(small: Reservoir, small_inflow: Inflow, factor: float) -> None:
    """Numpy tries all states of the next grid, of grids as wide as the storage and as narrow as a refined one."""
    flow = small_inflow.flow_m3s * factor
    (year, *_) = reservoir_problems(small, replace(small_inflow, flow_m3s=flow))
    arrays, plant, steps, states = year.exact_year, year.model.exact, year.limits.steps, 40
    for width in (1.0, 1e-3, 0.0):
        middle = np.linspace(60.0, 80.0, steps + 1)[:, None]
        grid = middle + 50 * width * np.linspace(-1.0, 1.0, states)
        values, choices = np.empty((steps + 1, states)), np.empty((steps, states), np.uint16)
        cursors = plant_with_cursors(plant)
        tried = recursion.bellman(cursors, arrays, grid, year.penalty, values, choices, np.empty(states), ())
        expected = 0
        for step in range(steps):
            release = arrays.inflow[step] - (grid[step + 1][None] - grid[step][:, None]) / arrays.hm3_per_m3s[step]
            beyond = np.maximum(release - arrays.release_upper[step], arrays.release_lower[step] - release)
            feasible = beyond <= 1e-12 * (abs(grid[step, -1]) + 1) / arrays.hm3_per_m3s[step]
            feasible &= grid[step + 1] >= arrays.dead - 1e-9 * (abs(arrays.dead) + 1)
            expected += feasible.sum()
            some = feasible.any(axis=1)
            chosen = choices[step].astype(int)
            assert feasible[some, chosen[some]].all()
            # With too little water for the least release, what lies above dead storage goes, and nothing below it.
            gain = (arrays.inflow[step] - arrays.release_lower[step]) * arrays.hm3_per_m3s[step]
            at_rest = grid[step] + arrays.inflow[step] * arrays.hm3_per_m3s[step]
            left = np.minimum(np.maximum(grid[step] + gain, arrays.dead), at_rest)
            little = grid[step] + gain < arrays.dead - 1e-9 * (abs(arrays.dead) + 1)
            # Between a state below dead storage and one that is too high a step ends as low or as high as it can.
            between = ~some & ~little & (grid[step + 1, 0] < arrays.dead)
            drawn = (arrays.inflow[step] - arrays.release_upper[step]) * arrays.hm3_per_m3s[step]
            ends = np.maximum(grid[step] + drawn, arrays.dead), grid[step] + gain
            of_left, of_lowest, of_highest = (
                abs(grid[step + 1][None] - end[:, None]).argmin(axis=1) for end in (left, *ends)
            )
            assert ((chosen == of_lowest) | (chosen == of_highest))[between].all()
            others = ~some & ~between
            np.testing.assert_array_equal(chosen[others], np.where(little, of_left, beyond.argmin(axis=1))[others])
        assert tried == expected


def one_after_another(fitness: dict[int, float], agreement: float) -> tuple[int, int]:
    """States of the best run, and the runs made, of runs one after another."""
    best, runs = -np.inf, 0
    kept = 0
    for states, found in fitness.items():
        agreed = abs(best - found) <= agreement * abs(found)
        runs += 1
        if found > best:
            best, kept = found, states
        if agreed:
            break
    return kept, runs


@pytest.mark.parametrize("at_once", [1, 8, 12, 99])
def test_runs_at_once_end_as_runs_one_after_another(at_once: int) -> None:
    grids = [10, 15, 22, 33]
    tables = [[5.0, 5.0, 9.0, 9.0], [5.0, 4.0, 6.0, 6.0], [4.0, 5.0, 6.0, 7.0], [7.0, 5.0, 7.0, 9.0]]
    asked: list[int] = []

    def runs_of(which: np.ndarray, states: np.ndarray) -> Runs:
        asked.append(len(which))
        fitness = np.array([tables[problem][grids.index(one)] for problem, one in zip(which, states, strict=True)])
        ones = np.ones(len(which), np.int64)
        return Runs(states[:, np.newaxis].astype(float), fitness, ones, ones * states)

    found = until_agreed(grids, 1e-6, len(tables), runs_of, at_once)
    expected = [one_after_another(dict(zip(grids, each, strict=True)), 1e-6) for each in tables]
    assert list(zip(found.position[:, 0].astype(int), found.grids, strict=True)) == expected
    one_by_one = [8, 3, 3 - sum(runs == 3 for _, runs in expected)]
    assert asked == {1: one_by_one, 8: [8, 6], 12: [12, 3 - sum(runs == 3 for _, runs in expected)], 99: [16]}[at_once]
