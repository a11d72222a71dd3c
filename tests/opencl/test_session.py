"""A session moves arrays, runs kernels in order, times them, and refuses what does not fit before allocating."""

import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import DeviceError
from reservoir.opencl import BuiltProgram, DeviceInfo, Session, build, require_local, require_memory
from reservoir.opencl import program as programs
from reservoir.opencl.session import _TURNS

pyopencl = pytest.importorskip("pyopencl", reason="needs pyopencl", exc_type=ImportError)

SOURCE = """
__kernel void add(__global float *x, const float amount) { x[get_global_id(0)] += amount; }
__kernel void scale(__global const float *x, __global float *y, const int factor)
{
    const size_t i = get_global_id(0) * get_global_size(1) + get_global_id(1);
    y[i] = factor * x[i];
}
"""


@pytest.fixture
def program(device: DeviceInfo) -> BuiltProgram:
    return build(device, SOURCE)


@pytest.fixture
def no_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a buffer was allocated")

    monkeypatch.setattr(pyopencl, "Buffer", refuse)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint32, np.uint8])
def test_what_is_uploaded_comes_back(device: DeviceInfo, dtype: type[np.generic]) -> None:
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    with Session(device) as session:
        session.upload(array=array)
        back = session.download("array")
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize("at_once", [False, True])
def test_some_first_rows_come_back_alone(device: DeviceInfo, program: BuiltProgram, at_once: bool) -> None:
    array = np.arange(24, dtype=np.float32).reshape(6, 4)
    with Session(device) as session:
        session.upload(x=array)
        session.run(program, "add", 24, None, "x", np.float32(2))
        np.testing.assert_array_equal(session.download("x", 2, at_once=at_once), array[:2] + 2)
        np.testing.assert_array_equal(session.download("x", at_once=at_once), array + 2)


def test_what_is_sent_is_there_for_the_kernels_behind_it(device: DeviceInfo, program: BuiltProgram) -> None:
    array = np.arange(24, dtype=np.float32)
    with Session(device) as session:
        for number in range(3):
            session.send(x=array[::-1] + number)
            session.run(program, "add", 24, None, "x", np.float32(1))
            np.testing.assert_array_equal(session.download("x", at_once=True), array[::-1] + number + 1)
        with pytest.raises(ValueError, match="cannot become"):
            session.send(x=array[:3])


def test_what_came_back_is_not_kept(device: DeviceInfo) -> None:
    with Session(device) as session:
        session.upload(x=np.zeros(1000, np.float32))
        back = session.download("x")
        kept = weakref.ref(back)
        del back
        assert kept() is None


def test_an_array_with_gaps_is_uploaded_as_it_reads(device: DeviceInfo) -> None:
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    with Session(device) as session:
        session.upload(turned=array.T, thinned=array[:, ::2])
        np.testing.assert_array_equal(session.download("turned"), array.T)
        np.testing.assert_array_equal(session.download("thinned"), array[:, ::2])


def test_kernels_run_in_order_over_named_buffers(device: DeviceInfo, program: BuiltProgram) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    with Session(device) as session:
        session.upload(x=x)
        session.allocate(y=((3, 4), np.float32))
        session.run(program, "add", 12, 4, "x", np.float32(0.5))
        session.run(program, "scale", (3, 4), (1, 4), "x", "y", np.int32(3))
        np.testing.assert_array_equal(session.download("y"), 3 * (x + np.float32(0.5)))


def test_allocated_buffers_hold_zeros_and_can_be_cleared(device: DeviceInfo, program: BuiltProgram) -> None:
    with Session(device) as session:
        for _ in range(2):
            session.allocate(x=(1000, np.float32))
            np.testing.assert_array_equal(session.download("x"), np.zeros(1000, np.float32))
            session.run(program, "add", 1000, None, "x", np.float32(1))


def test_an_upload_over_a_buffer_replaces_what_it_holds(device: DeviceInfo) -> None:
    with Session(device) as session:
        session.upload(x=np.zeros(5, np.float32))
        session.upload(x=np.ones(5, np.float32))
        np.testing.assert_array_equal(session.download("x"), np.ones(5, np.float32))


@pytest.mark.parametrize("other", [np.zeros(6, np.float32), np.zeros(5, np.float64)])
def test_a_buffer_never_changes_its_shape_or_dtype(device: DeviceInfo, other: np.ndarray) -> None:
    with Session(device) as session:
        session.upload(x=np.zeros(5, np.float32))
        with pytest.raises(ValueError, match=r"buffer x is float32\[5\] and cannot become"):
            session.upload(x=other)


def test_a_freed_buffer_may_have_another_shape(device: DeviceInfo, program: BuiltProgram) -> None:
    with Session(device) as session:
        for count in (3, 5):
            session.free("x", "none of these")
            session.upload(x=np.ones(count, np.float32))
            session.run(program, "add", count, None, "x", np.float32(1))
            np.testing.assert_array_equal(session.download("x"), np.full(count, 2, np.float32))


def test_an_empty_buffer_is_refused_by_name(device: DeviceInfo) -> None:
    with Session(device) as session, pytest.raises(ValueError, match=r"buffer inflow is empty: float32\[0, 12\]"):
        session.allocate(inflow=((0, 12), np.float32))


def test_seconds_are_kept_by_kernel_and_outlive_the_session(device: DeviceInfo, program: BuiltProgram) -> None:
    with Session(device) as session:
        session.upload(x=np.zeros(1 << 16, np.float32))
        session.run(program, "add", 1 << 16, None, "x", np.float32(1))
        session.wait()
        once = session.device_seconds["add"]
        session.run(program, "add", 1 << 16, None, "x", np.float32(1))
        session.download("x")
    assert 0 < once < session.device_seconds["add"]
    assert session.device_seconds.keys() == {"add"}


def test_a_session_that_did_nothing_took_no_time(device: DeviceInfo) -> None:
    with Session(device) as session:
        assert session.device_seconds == {}


def test_buffers_are_gone_after_the_session_even_if_it_failed(device: DeviceInfo) -> None:
    session = Session(device)
    with pytest.raises(RuntimeError), session:
        session.upload(x=np.zeros(5, np.float32))
        raise RuntimeError
    with pytest.raises(KeyError):
        session.download("x")


def test_an_unknown_buffer_is_refused_by_name(device: DeviceInfo, program: BuiltProgram) -> None:
    with Session(device) as session, pytest.raises(KeyError, match="nowhere"):
        session.run(program, "add", 1, 1, "nowhere", np.float32(1))


@pytest.mark.parametrize(
    ("global_size", "local_size", "amount"),
    [(8, 3, np.float32(1)), (1 << 20, 1 << 20, np.float32(1)), (8, 4, np.float64(1))],
    ids=["groups that do not divide the items", "a group too large", "a scalar of another type"],
)
def test_a_launch_that_the_device_refuses_is_explained(
    device: DeviceInfo, program: BuiltProgram, global_size: int, local_size: int, amount: np.generic
) -> None:
    with Session(device) as session:
        session.allocate(x=(8, np.float32))
        with pytest.raises(DeviceError, match=rf"could not run add over \({global_size},\) work items .*INVALID"):
            session.run(program, "add", global_size, local_size, "x", amount)


@pytest.mark.usefixtures("no_allocation")
def test_buffers_too_large_together_are_refused_before_any_is_allocated(device: DeviceInfo) -> None:
    small = replace(device, global_memory_bytes=10_000, max_allocation_bytes=8_000)
    with Session(small) as session, pytest.raises(DeviceError) as caught:
        session.allocate(swarm=(1500, np.float32), best=(1100, np.float32))
    assert "swarm, best need 10,400 bytes in total" in str(caught.value)
    assert "expected at most 10,000 bytes" in str(caught.value)
    assert "reduce swarm (6,000 bytes)" in str(caught.value)


@pytest.mark.usefixtures("no_allocation")
def test_a_buffer_too_large_for_one_piece_is_refused_before_it_is_allocated(device: DeviceInfo) -> None:
    small = replace(device, global_memory_bytes=10_000, max_allocation_bytes=2_000)
    with Session(small) as session, pytest.raises(DeviceError, match="x needs a buffer of 4,000 bytes") as caught:
        session.upload(x=np.zeros(1000, np.float32))
    assert "expected at most 2,000 bytes" in str(caught.value)


def test_what_the_device_holds_already_counts(device: DeviceInfo) -> None:
    small = replace(device, global_memory_bytes=10_000, max_allocation_bytes=8_000)
    with Session(small) as session:
        session.upload(x=np.zeros(1500, np.float32))
        session.upload(x=np.ones(1500, np.float32))
        with pytest.raises(DeviceError, match="x, y need 12,000 bytes in total"):
            session.allocate(y=(1500, np.float32))
        np.testing.assert_array_equal(session.download("x"), np.ones(1500, np.float32))


def test_every_excess_is_told_at_once(device: DeviceInfo) -> None:
    small = replace(device, global_memory_bytes=100, max_allocation_bytes=50)
    with pytest.raises(DeviceError) as caught:
        require_memory(small, {"x": 200, "y": 1})
    assert len(caught.value.mistakes) == 2


def test_what_just_fits_is_let_through(device: DeviceInfo) -> None:
    small = replace(device, global_memory_bytes=100, max_allocation_bytes=50, local_memory_bytes=10)
    require_memory(small, {"x": 50, "y": 50})
    require_memory(small, {})
    require_local(small, 10)


def test_too_little_local_memory_is_refused(device: DeviceInfo) -> None:
    small = replace(device, local_memory_bytes=49_152)
    with pytest.raises(DeviceError, match=r"needs 49,153 bytes of local memory.*expected at most 49,152 bytes"):
        require_local(small, 49_153)


def test_a_driver_that_refuses_memory_is_explained(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise pyopencl.MemoryError("MEM_OBJECT_ALLOCATION_FAILURE")

    monkeypatch.setattr(pyopencl, "Buffer", refuse)
    with Session(device) as session, pytest.raises(DeviceError, match=r"could not allocate x: .*ALLOCATION_FAILURE"):
        session.allocate(x=(8, np.float32))


def test_a_kernel_that_runs_again_gets_the_arguments_that_changed(device: DeviceInfo, program: BuiltProgram) -> None:
    with Session(device) as session:
        session.upload(x=np.ones(4, np.float32), other=np.zeros(4, np.float32))
        for name, amount in (("x", 1.0), ("x", 1.0), ("x", 2.0), ("other", 2.0), ("x", 2.0)):
            session.run(program, "add", 4, 1, name, np.float32(amount))
        np.testing.assert_array_equal(session.download("x"), 7.0)
        np.testing.assert_array_equal(session.download("other"), 2.0)


def test_a_refused_argument_is_not_taken_for_one_that_is_set(device: DeviceInfo, program: BuiltProgram) -> None:
    with Session(device) as session:
        session.upload(x=np.ones(4, np.float32))
        session.run(program, "add", 4, 1, "x", np.float32(1))
        with pytest.raises(DeviceError):
            session.run(program, "add", 4, 1, "x", np.float64(5))
        session.run(program, "add", 4, 1, "x", np.float32(1))
        np.testing.assert_array_equal(session.download("x"), 3.0)


def test_a_device_has_one_session_at_a_time(device):
    begun, open_now, most = threading.Barrier(8, timeout=60), [], []

    def work():
        begun.wait()
        with Session(device) as session:
            open_now.append(session)
            most.append(len(open_now))
            session.upload(numbers=np.arange(1000.0))
            session.download("numbers")
            open_now.pop()

    for _ in range(3):
        _TURNS.clear()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: work(), range(8)))
    assert most == [1] * 24


def test_threads_have_one_context_of_a_device(device, monkeypatch):
    made, begun = [], threading.Barrier(8, timeout=60)

    def slowly(devices):
        made.append(devices)
        time.sleep(0.05)
        return object()

    monkeypatch.setattr(programs, "_CONTEXTS", {})
    monkeypatch.setattr("pyopencl.Context", slowly)

    def work(_):
        begun.wait()
        return programs.context_of(device)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(work, range(8)))) == len(made) == 1
