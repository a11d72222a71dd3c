"""Dynamic programming on a device finds what it finds on the host, to the last bit however a year is laid out."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import reservoir as package
from reservoir.errors import DeviceError, InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.reservoir import Reservoir
from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.problems.reservoir.year import ReservoirYears, reservoir_problems
from reservoir.solvers import Solutions, solve
from reservoir.solvers.dp import DeviceGridSettings
from reservoir.solvers.dp.engine import DpEngine, layout_for
from tests.solvers.engines import CHOOSE_DEVICES
from tests.solvers.toys import Toy
from tests.year_ends import cyclic, free

#: How close the device comes to the host, as a part of a year's fitness.
CLOSE = 1e-6
#: The same of a device without float64.
CLOSE_IN_FLOAT32 = 2e-6


def run(problems: list[Problem], **options: object) -> Solutions:
    return solve(problems, solver="dp-opencl", **options)


def bytes_of(solutions: Solutions) -> list[tuple[bytes, int, int]]:
    """Everything that was found, to the last bit."""
    return [(each.position.tobytes(), each.generations, each.evaluations) for each in solutions]


def gains(found: Solutions, references: Solutions) -> np.ndarray:
    """By how much each solution is better than its reference, as a part of it."""
    one, other = (np.array([each.fitness for each in solutions]) for solutions in (found, references))
    return (one - other) / np.abs(other)


@pytest.fixture(scope="module")
def turning(small: Reservoir, small_inflow: Inflow) -> list[ReservoirYears]:
    """Three cyclic years."""
    return reservoir_problems(cyclic(small), small_inflow)


@pytest.fixture(scope="module")
def usual(
    device: DeviceInfo, years: list[ReservoirYears], turning: list[ReservoirYears]
) -> dict[str, list[tuple[bytes, int, int]]]:
    """What the device finds with one state a vector and one work item a year."""
    options = {"lanes": 1, "items": 1}
    return {"fixed": bytes_of(run(years, **options)), "cyclic": bytes_of(run(turning[:1], **options))}


def test_it_finds_what_the_host_finds(device, years: list[ReservoirYears], reference_optima: Solutions) -> None:
    assert np.abs(gains(run(years), reference_optima)).max() <= CLOSE


@pytest.mark.parametrize("factor", [0.05, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("end", [lambda same: same, free], ids=["fixed", "free"])
def test_it_finds_what_the_host_finds_whether_or_not_a_year_can_be_satisfied(
    device, small: Reservoir, small_inflow: Inflow, end, factor: float
) -> None:
    problems = reservoir_problems(end(small), replace(small_inflow, flow_m3s=small_inflow.flow_m3s * factor))
    found, references = run(problems), solve(problems, solver="dp")
    assert np.abs(gains(found, references)).max() <= CLOSE
    for one, other in zip(found, references, strict=True):
        assert one.violation == pytest.approx(other.violation, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("factor", [0.3, 1.0, 5.0])
def test_its_cyclic_years_are_no_worse_than_the_hosts(
    device, small: Reservoir, small_inflow: Inflow, factor: float
) -> None:
    """Better by a little where the host's search stops at a lower summit."""
    flow = small_inflow.flow_m3s[:1] * factor
    record = Inflow(flow_m3s=flow, calendar=replace(small_inflow.calendar, years=1))
    problems = reservoir_problems(cyclic(small), record)
    found = gains(run(problems), solve(problems, solver="dp"))
    assert found.min() >= -CLOSE
    assert found.max() <= 2e-5


def test_a_free_and_a_cyclic_year_of_the_bundled_reservoir_are_the_hosts(
    device, xiaowan: Reservoir, five_years: Inflow
) -> None:
    problems = [
        *reservoir_problems(free(xiaowan), five_years)[:2],
        *reservoir_problems(cyclic(xiaowan), five_years)[:1],
    ]
    found = gains(run(problems), solve(problems, solver="dp"))
    assert np.abs(found).max() <= CLOSE


@pytest.mark.parametrize(("case", "total"), [("xiaowan", 14_552.84), ("xiaowan-observed", 13_796.30)])
def test_62_years_of_xiaowan_make_what_an_independent_program_found(device, case: str, total: float) -> None:
    """In units of 100 GWh (1e8 kWh), to 0.005 %."""
    bundled = package.bundled_case(case)
    found = run(reservoir_problems(bundled.reservoir(), bundled.inflow()))
    assert sum(each.violation for each in found) == 0
    assert sum(each.benefit for each in found) / 100 == pytest.approx(total, rel=5e-5)


def test_a_device_without_float64_comes_close_too(
    device, years: list[ReservoirYears], small_years: list[ReservoirYears], reference_optima: Solutions
) -> None:
    references = [*reference_optima, *solve(small_years, solver="dp")]
    found = run([*years, *small_years], double=False)
    assert np.abs(gains(found, references)).max() <= CLOSE_IN_FLOAT32
    assert [each.violation for each in found] == [0.0] * len(found)


@pytest.mark.parametrize(("lanes", "items"), [(2, 1), (4, 1), (8, 1), (16, 1), (1, 7), (1, 64), (4, 3), (8, 2)])
def test_lanes_and_work_items_make_no_difference(
    device, years: list[ReservoirYears], usual, lanes: int, items: int
) -> None:
    assert bytes_of(run(years, lanes=lanes, items=items)) == usual["fixed"]


def test_lanes_and_work_items_make_no_difference_to_cyclic_years(device, turning: list[ReservoirYears], usual) -> None:
    assert bytes_of(run(turning[:1], lanes=8, items=2)) == usual["cyclic"]


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_several_launches_make_no_difference(
    device: DeviceInfo, pretend, monkeypatch: pytest.MonkeyPatch, years: list[ReservoirYears], usual, at_once: int
) -> None:
    pretend(compute_units=1)
    monkeypatch.setitem(DpEngine.launch_years, device.kind, at_once)
    told: list[tuple[int, int]] = []
    found = run(years, progress=lambda done, total: told.append((done, total)))
    assert bytes_of(found) == usual["fixed"]
    assert told[-1] == (5, 5)
    assert len(told) == -(-5 // at_once)


def test_devices_that_share_the_years_make_no_difference(
    device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, years: list[ReservoirYears], usual
) -> None:
    devices = (device, replace(device, index=1, compute_units=3))
    monkeypatch.setattr(CHOOSE_DEVICES, lambda _: devices)
    found = run(years)
    assert bytes_of(found) == usual["fixed"]
    assert found[0].device == f"2 x {device.name}"


def test_the_years_beside_it_make_no_difference(
    device, years: list[ReservoirYears], small_years: list[ReservoirYears], turning: list[ReservoirYears], usual
) -> None:
    found = bytes_of(run([years[3], turning[0], small_years[1], years[1]]))
    assert found == [usual["fixed"][3], usual["cyclic"][0], *bytes_of(run(small_years[1:2])), usual["fixed"][1]]


@pytest.mark.parametrize("options", [{"states": 101}, {"states": 333}, {"fine_states": 61}])
def test_the_grids_make_no_difference(
    device, years: list[ReservoirYears], reference_optima: Solutions, options: dict[str, int]
) -> None:
    assert np.abs(gains(run(years, **options), reference_optima)).max() <= 2 * CLOSE


def test_what_was_done_is_counted(device, years: list[ReservoirYears]) -> None:
    settings = {"states": 21, "most_states": 21, "fine_states": 5, "most_refinements": 3}
    (found,) = run(years[:1], **settings)
    steps = years[0].limits.steps
    assert found.generations == 3
    assert 0 < found.evaluations <= steps * (21**2 + 2 * 5**2)
    assert (settings | {"lanes": found.settings["lanes"], "double": True}).items() <= found.settings.items()
    assert set(found.host_seconds_by_phase) == {
        "build",
        "prepare",
        "transfer",
        "enqueue",
        "wait",
        "read",
        "release",
        "polish",
    }
    assert found.device_seconds > 0


def test_float64_is_used_where_the_device_has_it(two_cores: DeviceInfo) -> None:
    wide = replace(two_cores, native_float_width=16)
    layouts = [
        layout_for(replace(wide, device=SimpleNamespace(extensions=extensions)), DeviceGridSettings(), 12)
        for extensions in ("cl_khr_fp64 cl_khr_int64_base_atomics", "cl_khr_int64_base_atomics")
    ]
    assert [(layout.double, layout.lanes, layout.dtype) for layout in layouts] == [
        (True, 8, np.float64),
        (False, 16, np.float32),
    ]


def test_double_precision_is_refused_where_a_device_has_none(two_cores: DeviceInfo) -> None:
    single = replace(two_cores, device=SimpleNamespace(extensions="cl_khr_int64_base_atomics"))
    with pytest.raises(DeviceError, match="two cores does not support double precision"):
        layout_for(single, DeviceGridSettings(double=True), 12)


def test_a_gpu_has_a_state_in_each_of_many_work_items(large_gpu: DeviceInfo) -> None:
    gpu = replace(large_gpu, device=SimpleNamespace(extensions="cl_khr_fp64"))
    layout = layout_for(gpu, DeviceGridSettings(), 12)
    assert (layout.lanes, layout.items) == (1, 256)
    assert layout_for(replace(gpu, max_work_group_size=64), DeviceGridSettings(), 12).items == 64


def test_a_problem_without_storage_is_refused_by_name(device) -> None:
    with pytest.raises(InputError, match="needs a reservoir storage as its state, and bowl has none"):
        run([replace(Toy(), label="bowl")])


@pytest.mark.parametrize("solver", ["dp", "dp-opencl"])
@pytest.mark.parametrize(
    "options",
    [{"states": 1}, {"states": 2.5}, {"fine_states": 2}, {"agreement": 0.0}, {"tolerance": -1.0}, {"reach": 0.0}],
)
def test_grids_that_cannot_be_made_are_refused(
    device, years: list[ReservoirYears], solver: str, options: dict[str, float]
) -> None:
    with pytest.raises(InputError, match=f"{next(iter(options))} is out of range"):
        solve(years[:1], solver=solver, **options)
