"""The OpenCL engine finds the same to the last bit however its particles and problems are laid out."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from reservoir.solvers.clpso import DeviceSwarmSettings
from reservoir.solvers.clpso.engine import ClpsoEngine
from tests.solvers.engines import CHOOSE_DEVICES
from tests.year_ends import cyclic

GENERATIONS = 150


def run(problems: list[Problem], **options: object) -> Solutions:
    return solve(problems, solver="clpso", generations=GENERATIONS, **options)


def bytes_of(solutions: Solutions) -> list[tuple[bytes, bytes, int]]:
    """Everything that a solver found, to the last bit."""
    return [(each.position.tobytes(), each.trace_fitness.tobytes(), each.evaluations) for each in solutions]


@pytest.fixture(scope="module")
def usual(device: DeviceInfo, years: list[ReservoirYears]) -> list[tuple[bytes, bytes, int]]:
    """What the engine finds with one particle a vector and one vector a work item."""
    return bytes_of(solve(years, solver="clpso", generations=GENERATIONS, lanes=1, items=40))


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
def test_lanes_make_no_difference(device, years: list[ReservoirYears], usual, lanes: int) -> None:
    assert bytes_of(run(years, lanes=lanes)) == usual


@pytest.mark.parametrize(("lanes", "items"), [(1, 7), (4, 3), (4, 10), (8, 5), (16, 2), (16, 3)])
def test_work_items_make_no_difference(device, years: list[ReservoirYears], usual, lanes: int, items: int) -> None:
    assert bytes_of(run(years, lanes=lanes, items=items)) == usual


@pytest.mark.parametrize(("lanes", "items", "swarms"), [(1, 40, 2), (1, 40, 4), (4, 10, 3), (8, 5, 5), (16, 1, 8)])
def test_swarms_that_share_a_work_group_make_no_difference(
    device, years: list[ReservoirYears], usual, lanes: int, items: int, swarms: int
) -> None:
    assert bytes_of(run(years, lanes=lanes, items=items, swarms=swarms)) == usual


def test_swarms_that_share_a_work_group_keep_their_bests_apart_in_global_memory(
    pretend, years: list[ReservoirYears], usual
) -> None:
    pretend(local_memory_bytes=2000)
    assert bytes_of(run(years, lanes=4, items=5, swarms=3)) == usual


@pytest.mark.parametrize(
    ("problems", "particles", "swarms"),
    [(62, 40, 1), (10_000, 40, 4), (10_000, 64, 2), (10_000, 48, 2), (10_000, 32, 5)],
)
def test_a_gpu_fills_its_groups_when_there_are_many_swarms(
    large_gpu: DeviceInfo, years: list[ReservoirYears], problems: int, particles: int, swarms: int
) -> None:
    layout = ClpsoEngine(DeviceSwarmSettings(particles=particles)).layout(large_gpu, list(years[:1]) * problems)
    assert (layout.lanes, layout.items, layout.swarms) == (1, particles, swarms)


@pytest.mark.parametrize(
    ("native", "particles", "lanes"), [(16, 40, 16), (8, 40, 8), (16, 8, 8), (4, 40, 4), (1, 40, 4)]
)
def test_a_cpu_takes_the_width_in_which_a_swarm_costs_least(
    two_cores: DeviceInfo, years: list[ReservoirYears], native: int, particles: int, lanes: int
) -> None:
    cpu = replace(two_cores, native_float_width=native)
    engine = ClpsoEngine(DeviceSwarmSettings(particles=particles))
    assert engine.layout(cpu, list(years[:1]) * 62).lanes == lanes


@pytest.mark.parametrize(("lanes", "items"), [(8, 1), (4, 5)])
def test_personal_bests_in_global_memory_make_no_difference(
    pretend, years: list[ReservoirYears], usual, lanes: int, items: int
) -> None:
    pretend(local_memory_bytes=2000)
    assert bytes_of(run(years, lanes=lanes, items=items)) == usual


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_several_launches_make_no_difference(
    device: DeviceInfo, pretend, monkeypatch: pytest.MonkeyPatch, years: list[ReservoirYears], usual, at_once: int
) -> None:
    pretend(compute_units=1)
    monkeypatch.setitem(ClpsoEngine.launch_evaluations, device.kind, at_once * 40 * GENERATIONS)
    launches = []
    found = run(years, progress=lambda done, total: launches.append((done, total)))
    assert bytes_of(found) == usual
    assert launches[-1] == (5, 5)
    assert len(launches) == -(-5 // at_once)
    assert max(np.diff([0, *(done for done, _ in launches)])) <= at_once


@pytest.mark.parametrize(("units", "worked"), [((1, 1), 2), ((2, 1), 2), ((1, 4), 2), ((1, 7), 1), ((1, 1, 1), 3)])
def test_devices_that_share_the_years_make_no_difference(
    device: DeviceInfo,
    monkeypatch: pytest.MonkeyPatch,
    years: list[ReservoirYears],
    usual,
    units: tuple[int, ...],
    worked: int,
) -> None:
    """A device whose share is less than a year gets none, and is not named among those that found the plan."""
    devices = tuple(replace(device, index=place, compute_units=count) for place, count in enumerate(units))
    monkeypatch.setattr(CHOOSE_DEVICES, lambda _: devices)
    told = []
    found = run(years, progress=lambda done, total: told.append((done, total)))
    assert bytes_of(found) == usual
    assert told[-1] == (5, 5)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert found[0].device == (device.name if worked == 1 else f"{worked} x {device.name}")


def test_the_papers_random_numbers_are_not_shared_among_devices(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, years: list[ReservoirYears]
) -> None:
    monkeypatch.setattr(CHOOSE_DEVICES, lambda _: (device, replace(device, index=1)))
    with pytest.raises(InputError, match="random numbers of the scheme host cannot be split between devices"):
        run(years, random="host")


def test_the_host_says_what_it_spent_its_time_on(device, years: list[ReservoirYears]) -> None:
    own, papers = (run(years[:2], random=scheme)[0].host_seconds_by_phase for scheme in ("stream", "host"))
    assert set(own) == {"build", "transfer", "enqueue", "wait", "read", "release"}
    assert set(papers) == {*own, "numbers"}
    assert all(seconds > 0 for seconds in papers.values())


@pytest.mark.parametrize("chosen", [[3], [4, 2], [2, 2]])
def test_the_years_beside_it_make_no_difference(device, years: list[ReservoirYears], usual, chosen: list[int]) -> None:
    assert bytes_of(run([years[index] for index in chosen])) == [usual[index] for index in chosen]


def test_one_seed_gives_the_same_bytes_and_another_others(device, years: list[ReservoirYears], usual) -> None:
    assert bytes_of(run(years, seed=1)) == usual
    for seed in (0, 2, 1 + (1 << 32), 2**64 - 1):
        assert all(one != other for one, other in zip(bytes_of(run(years, seed=seed)), usual, strict=True))


@pytest.mark.parametrize("particles", [2, 7, 33, 41])
def test_padding_particles_are_never_learnt_from_nor_counted(
    device, years: list[ReservoirYears], particles: int
) -> None:
    expected = bytes_of(run(years[:2], particles=particles, lanes=1, items=1))
    for lanes, items in ((16, 1), (4, 3), (8, 2)):
        assert bytes_of(run(years[:2], particles=particles, lanes=lanes, items=items)) == expected


def test_unequal_problems_are_solved_in_one_call_as_if_alone(
    device, years: list[ReservoirYears], small_years: list[ReservoirYears], small: Reservoir, small_inflow: Inflow
) -> None:
    turning = reservoir_problems(cyclic(small), small_inflow)
    mixed = [years[0], turning[0], small_years[1], years[1], turning[2]]
    told = []
    found = run(mixed, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (5, 5)
    assert [len(each.position) for each in found] == [12, 13, 12, 12, 13]
    for problem, solution in zip(mixed, found, strict=True):
        assert bytes_of(run([problem])) == bytes_of([solution])


def test_the_layout_is_among_the_settings(device, years: list[ReservoirYears]) -> None:
    settings = run(years[:1], lanes=4, items=2, seed=9)[0].settings
    expected = {"lanes": 4, "items": 2, "seed": 9, "random": "stream", "particles": 40, "generations": GENERATIONS}
    assert expected.items() <= settings.items()


def test_every_step_of_a_solution_is_finite(device, years: list[ReservoirYears]) -> None:
    for solution in run(years):
        assert np.isfinite(solution.position).all()
        assert np.isfinite(solution.trace_fitness).all()
        assert solution.device_seconds > 0
        assert solution.wall_seconds > 0
