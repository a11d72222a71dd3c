"""L-SHADE finds every year's optimum, however its members are laid out."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from reservoir.solvers.lshade import LshadeSettings
from reservoir.solvers.lshade.engine import LshadeEngine
from tests.solvers.engines import CHOOSE_DEVICES
from tests.solvers.toys import Toy
from tests.year_ends import cyclic, free

FEW = 4000


@pytest.fixture
def pretend(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch):
    """Call it with properties to let the engine see the device, or several of it, with these changed."""

    def change(*changes: dict[str, int]) -> None:
        devices = tuple(replace(device, index=place, **changed) for place, changed in enumerate(changes or ({},)))
        monkeypatch.setattr(CHOOSE_DEVICES, lambda _: devices)

    return change


def run(problems: list[Problem], **options: object) -> Solutions:
    return solve(problems, solver="lshade", **{"evaluations": FEW, **options})


def bytes_of(solutions: Solutions) -> list[tuple[bytes, bytes, int]]:
    """Everything that a solver found, to the last bit."""
    return [(each.position.tobytes(), each.trace_fitness.tobytes(), each.evaluations) for each in solutions]


@pytest.fixture(scope="module")
def usual(device: DeviceInfo, years: list[ReservoirYears]) -> list[tuple[bytes, bytes, int]]:
    """What the engine finds with one member a vector and a work item for each."""
    return bytes_of(solve(years, solver="lshade", evaluations=FEW, lanes=1, items=216))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_year_comes_within_a_hundred_thousandth_of_the_optimum(
    device, years: list[ReservoirYears], reference_optima: Solutions, seed: int
) -> None:
    found = solve(years, solver="lshade", seed=seed)
    assert [each.violation for each in found] == [0.0] * 5
    assert [each.fitness / best.fitness for each, best in zip(found, reference_optima, strict=True)] == pytest.approx(
        [1.0] * 5, abs=1e-5
    )


@pytest.mark.parametrize("end", [lambda same: same, cyclic, free])
def test_other_reservoirs_and_year_ends_come_as_close(device, small, small_inflow, end) -> None:
    problems = reservoir_problems(end(small), small_inflow)[:2]
    best = solve(problems, solver="dp")
    found = solve(problems, solver="lshade")
    assert [each.violation for each in found] == [0.0] * 2
    assert [each.fitness / other.fitness for each, other in zip(found, best, strict=True)] == pytest.approx(
        [1.0] * 2, abs=1e-5
    )


@pytest.mark.parametrize(("lanes", "items"), [(1, 7), (4, 3), (8, 27), (16, 1), (16, 5)])
def test_lanes_and_work_items_make_no_difference(device, years, usual, lanes: int, items: int) -> None:
    assert bytes_of(run(years, lanes=lanes, items=items)) == usual


def test_members_in_global_memory_find_the_same(pretend, years: list[ReservoirYears], usual) -> None:
    pretend({"local_memory_bytes": 16_384})
    assert bytes_of(run(years)) == usual


@pytest.mark.parametrize("at_once", [1, 3])
def test_launches_and_devices_make_no_difference(
    device: DeviceInfo, pretend, monkeypatch: pytest.MonkeyPatch, years: list[ReservoirYears], usual, at_once: int
) -> None:
    pretend({"compute_units": 1}, {"compute_units": 2})
    monkeypatch.setitem(LshadeEngine.launch_evaluations, device.kind, at_once * FEW)
    told = []
    found = run(years, progress=lambda done, total: told.append((done, total)))
    assert bytes_of(found) == usual
    assert told[-1] == (5, 5)


def test_the_best_member_survives_every_generation(device, years: list[ReservoirYears]) -> None:
    for solution in run(years):
        assert np.all(np.diff(solution.trace_fitness) >= 0)
        assert solution.trace_fitness[-1] == pytest.approx(solution.fitness, rel=1e-4)


def test_a_bowl_without_repair_is_descended_to_its_bottom(device) -> None:
    found = run([Toy(dimension=4, centre=0.7)])[0]
    assert found.position == pytest.approx([0.7] * 4, abs=1e-3)


def test_members_stay_within_their_bounds(device) -> None:
    toy = Toy(dimension=3, centre=40.0)
    found = run([toy])[0]
    assert found.position == pytest.approx(toy.upper, rel=1e-4)
    assert np.all(found.position <= toy.upper)


@pytest.mark.parametrize("nothing", [float("nan"), float("-inf")])
def test_what_has_no_fitness_is_never_the_best(device, nothing: float) -> None:
    found = run([Toy(nothing=nothing, edge=0.0)])[0]
    assert found.position[0] <= 0
    assert np.isfinite(found.fitness)
    assert found.position == pytest.approx([0.0, 1.0, 1.0], abs=1e-2)


ARCHIVES = (0.0, 0.01, 0.1, 0.5, 0.99, 1.0, 2.6)


@pytest.mark.parametrize("archive", ARCHIVES)
def test_any_archive_serves(device, archive: float) -> None:
    assert run([Toy()], archive_fraction=archive)[0].position == pytest.approx([1.0] * 3, abs=1e-3)


@pytest.mark.parametrize("archive", ARCHIVES)
def test_a_result_depends_on_no_layout_whatever_the_archive(device, years, archive: float) -> None:
    """Where more parents are beaten than an archive has room for, no two of them may take one place."""
    brief = {"archive_fraction": archive, "evaluations": 2500}
    one_by_one = bytes_of(run(years[:2], lanes=1, items=216, **brief))
    for lanes, items in ((1, 7), (8, 5), (16, 1)):
        assert bytes_of(run(years[:2], lanes=lanes, items=items, **brief)) == one_by_one


@pytest.mark.pocl(reason="GPUs divide by zero without a word")
def test_no_archive_divides_by_zero() -> None:
    """PoCL hides a division by zero from its process unless it is told not to."""
    code = f"""
from reservoir.solvers import solve
from tests.solvers.toys import Toy
for part in {ARCHIVES}:
    found = solve([Toy()], solver="lshade", evaluations={FEW}, archive_fraction=part)[0]
    assert abs(found.fitness) < 1e-4, found
"""
    alone = {**os.environ, "POCL_SIGFPE_HANDLER": "0"}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=alone)
    assert ended.returncode == 0, (ended.returncode, ended.stderr)


def test_the_population_shrinks_linearly_in_the_evaluations() -> None:
    settings = LshadeSettings(evaluations=30_000)
    sizes = settings.sizes(12)
    made = np.cumsum(sizes)
    assert sizes[0] == sizes[1] == 216
    assert sizes[-1] == 4
    assert made[-2] < 30_000 <= made[-1]
    expected = 216 + (4 - 216) * made[1:-1] / 30_000
    assert np.abs(sizes[2:] - expected).max() <= 0.5


def test_the_smallest_budget_is_one_generation(device) -> None:
    found = run([Toy()], evaluations=1)[0]
    assert (found.generations, found.evaluations) == (1, 2 * 54)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"evaluations": 0}, "evaluations is out of range.*found 0"),
        ({"fewest_members": 3}, "fewest_members is out of range.*found 3.*expected 4 to"),
        ({"best_fraction": 0.0}, "best_fraction is out of range"),
    ],
)
def test_settings_that_cannot_be_are_refused(device, options: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run([Toy()], **options)
