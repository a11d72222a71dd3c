"""Devices are found, described and chosen by name; what is missing is said."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from reservoir.errors import DeviceError
from reservoir.opencl import (
    DeviceInfo,
    choose_device,
    choose_devices,
    left_out,
    list_devices,
    opencl_available,
    why_unavailable,
)
from reservoir.opencl.devices import KINDS

Pretend = Callable[[dict[str, list[tuple[str, str, dict[str, object]]]]], None]


@pytest.fixture
def workstation(pretend: Pretend) -> None:
    pretend(
        {
            "Portable Computing Language": [("pthread-Processor ", "CPU", {"max_compute_units": 64})],
            "NVIDIA CUDA": [("GeForce small", "GPU", {}), ("GeForce large", "GPU", {"max_compute_units": 132})],
            "Intel(R) OpenCL": [("Processor", "CPU", {}), ("FPGA board", "ACCELERATOR", {})],
        }
    )


def test_importing_the_package_does_not_import_pyopencl() -> None:
    code = "import sys, reservoir.opencl; sys.exit('pyopencl' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_real_device_is_described_by_its_driver(device: DeviceInfo) -> None:
    assert device.kind in KINDS
    assert device.version.startswith("OpenCL")
    assert device.compute_units >= 1
    assert 0 < device.max_allocation_bytes <= device.global_memory_bytes
    assert list_devices()[device.index] == device


@pytest.mark.pocl(reason="its kind is known")
def test_pocl_is_a_cpu(device: DeviceInfo) -> None:
    assert choose_device("pocl") == device
    assert (device.kind, device.sub_group_size, device.warps) == ("CPU", 1, False)


@pytest.mark.usefixtures("workstation")
class TestOnAWorkstation:
    def test_devices_are_listed_in_the_order_of_their_platforms(self) -> None:
        assert [device.index for device in list_devices()] == [0, 1, 2, 3, 4]
        assert [device.kind for device in list_devices()] == ["CPU", "GPU", "GPU", "CPU", "accelerator"]
        assert opencl_available()
        assert why_unavailable() == ""

    def test_names_are_stripped(self) -> None:
        assert str(list_devices()[0]) == "0 = pthread-Processor (CPU, Portable Computing Language)"

    @pytest.mark.parametrize("wanted", ["auto", None, "", "Auto"])
    def test_auto_is_the_gpu_with_most_compute_units(self, wanted: str | None) -> None:
        assert choose_device(wanted).name == "GeForce large"

    @pytest.mark.parametrize(
        ("wanted", "name"),
        [
            ("1", "GeForce small"),
            ("geforce SMALL", "GeForce small"),
            ("nvidia", "GeForce large"),
            ("intel", "FPGA board"),
            ("intel:proc", "Processor"),
            ("portable: pthread", "pthread-Processor"),
            ("pocl:", "pthread-Processor"),
            (":board", "FPGA board"),
            ("PoCL", "pthread-Processor"),
            ("Portable Computing Language", "pthread-Processor"),
            ("cpu", "pthread-Processor"),
            ("gpu", "GeForce large"),
            ("accelerator", "FPGA board"),
        ],
    )
    def test_a_name_chooses_the_best_device_that_answers_to_it(self, wanted: str, name: str) -> None:
        assert choose_device(wanted).name == name

    @pytest.mark.parametrize(
        ("wanted", "indices"),
        [
            ("all", [1, 2]),
            (" All", [1, 2]),
            ("auto", [2]),
            ("1", [1]),
            ("0,geforce small", [0, 1]),
            ("2, 1, 2", [2, 1]),
        ],
    )
    def test_several_devices_share_the_work_if_asked_to(self, wanted: str, indices: list[int]) -> None:
        assert [device.index for device in choose_devices(wanted)] == indices

    def test_the_environment_may_ask_for_all_devices(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RESERVOIR_DEVICE", "all")
        assert [device.index for device in choose_devices("auto")] == [1, 2]
        assert [device.index for device in choose_devices("cpu")] == [0]

    def test_each_of_several_devices_must_be_there(self) -> None:
        with pytest.raises(DeviceError, match='no OpenCL device matches "radeon"'):
            choose_devices("geforce small, radeon")

    @pytest.mark.parametrize("wanted", ["1,", ",1", "0,,1", "0, ,1", ","])
    def test_a_name_that_is_missing_between_commas_is_not_the_best_device(self, wanted: str) -> None:
        with pytest.raises(DeviceError, match=f'a name is missing in "{wanted}"'):
            choose_devices(wanted)

    def test_the_environment_says_what_auto_means(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RESERVOIR_DEVICE", "pocl")
        assert choose_device().name == "pthread-Processor"
        assert choose_device("nvidia").name == "GeForce large"

    def test_a_wrong_environment_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RESERVOIR_DEVICE", "voodoo")
        with pytest.raises(DeviceError, match='RESERVOIR_DEVICE: no OpenCL device matches "voodoo"'):
            choose_device()

    @pytest.mark.parametrize("wanted", ["voodoo", "5", "-1", "intel:geforce"])
    def test_an_unknown_device_is_answered_with_those_there_are(self, wanted: str) -> None:
        with pytest.raises(DeviceError) as caught:
            choose_device(wanted)
        assert f'matches "{wanted}"' in str(caught.value)
        for device in list_devices():
            assert str(device) in str(caught.value)


def test_an_accelerator_comes_before_a_cpu(pretend: Pretend) -> None:
    pretend({"A": [("processor", "CPU", {"max_compute_units": 256}), ("board", "ACCELERATOR", {})]})
    assert choose_device().name == "board"


def test_a_simulator_that_calls_itself_a_gpu_comes_last(pretend: Pretend) -> None:
    pretend({"Oclgrind": [("simulator", "GPU", {})], "A": [("processor", "CPU", {})]})
    assert choose_device().name == "processor"
    assert choose_device("oclgrind").name == "simulator"


def test_of_two_equal_devices_the_first_is_chosen(pretend: Pretend) -> None:
    pretend({"A": [("card", "GPU", {})], "B": [("card", "GPU", {})]})
    assert choose_device("card").platform == "A"


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_drivers_of_a_cpu_intels_is_chosen_whatever_their_order(pretend: Pretend, turned: bool) -> None:
    names = ["Other", "Portable Computing Language", "Intel(R) OpenCL"]
    pretend({name: [("processor", "CPU", {})] for name in names[:: -1 if turned else 1]})
    assert choose_device().platform == "Intel(R) OpenCL"
    assert choose_device("pocl").platform == "Portable Computing Language"
    assert [device.intel_cpu for device in list_devices()].count(True) == 1


def test_of_two_drivers_of_a_cpu_the_one_with_more_units_is_chosen(pretend: Pretend) -> None:
    pretend(
        {
            "Intel(R) OpenCL": [("cpu", "CPU", {})],
            "Portable Computing Language": [("cpu", "CPU", {"max_compute_units": 9})],
        }
    )
    assert choose_device().platform == "Portable Computing Language"


def test_a_platform_without_devices_hides_no_other(pretend: Pretend) -> None:
    pretend({"NVIDIA CUDA": [], "Portable Computing Language": [("processor", "CPU", {})]})
    assert [device.platform for device in list_devices()] == ["Portable Computing Language"]


@pytest.mark.parametrize("lack", ["available", "compiler_available"])
def test_a_device_that_cannot_work_is_not_listed(pretend: Pretend, lack: str) -> None:
    pretend({"A": [("broken", "GPU", {lack: False}), ("processor", "CPU", {})]})
    assert [(device.index, device.name) for device in list_devices()] == [(0, "processor")]


def test_two_drivers_of_one_name_are_told_apart_by_their_index(pretend: Pretend) -> None:
    pretend(
        {
            "Portable Computing Language": [("cpu", "CPU", {"driver_version": "3.0"})],
            "Portable Computing Language ": [("cpu", "CPU", {"driver_version": "5.0"})],
        }
    )
    assert [(device.index, device.driver) for device in list_devices()] == [(0, "3.0"), (1, "5.0")]
    assert choose_device("pocl").driver == "3.0"
    assert choose_device("1").driver == "5.0"
    assert len(choose_devices("all")) == 2


def _assert_unavailable(because: str, mend: str = "pip install") -> None:
    assert not opencl_available()
    assert list_devices() == []
    assert because in why_unavailable()
    with pytest.raises(DeviceError, match=f"OpenCL cannot be used: .*Fix: .*{mend}") as caught:
        choose_device()
    assert because in str(caught.value)


def test_without_pyopencl_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    _assert_unavailable("pyopencl cannot be imported")


@pytest.mark.parametrize("error", [OSError("libOpenCL.so.1: not found"), RuntimeError("no loader")])
def test_an_import_that_fails_otherwise_is_told_as_that(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    class Broken:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "pyopencl":
                raise error

    monkeypatch.delitem(sys.modules, "pyopencl", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    _assert_unavailable(f"pyopencl cannot be imported ({error})")


def test_without_platforms_the_reason_is_said(pretend: Pretend) -> None:
    pretend({})
    _assert_unavailable("no OpenCL platform is installed")


def test_without_usable_devices_the_platforms_are_named(pretend: Pretend) -> None:
    pretend({"NVIDIA CUDA": [], "A": [("broken", "GPU", {"available": False})]})
    _assert_unavailable("platforms: NVIDIA CUDA, A")
    said = "\n".join(map(str, left_out()))
    assert "the platform NVIDIA CUDA has no device (clGetDeviceIDs failed: DEVICE_NOT_FOUND). Fix: check" in said
    assert "broken of A is not available. Fix: check" in said


def test_the_one_platform_without_devices_is_the_reason(pretend: Pretend) -> None:
    pretend({"NVIDIA CUDA": []})
    _assert_unavailable("the platform NVIDIA CUDA has no device", "check that the hardware is present")


def test_what_is_left_out_beside_devices_is_told(pretend: Pretend) -> None:
    pretend({"NVIDIA CUDA": [], "A": [("chip", "CPU", {}), ("old", "GPU", {"compiler_available": False})]})
    assert why_unavailable() == ""
    assert [mistake.problem.split(" (")[0] for mistake in left_out()] == [
        "the platform NVIDIA CUDA has no device",
        "old of A has no compiler",
    ]


def test_without_a_linker_pocl_is_left_out(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reservoir.opencl.devices.finds_linker", lambda: False)
    ended = "it ends the process by SIGABRT"
    monkeypatch.setattr(
        "reservoir.opencl.devices.why_runs_nothing", lambda device, *_: ended if device.name == "processor" else ""
    )
    pretend({"Portable Computing Language": [("processor", "CPU", {})]})
    _assert_unavailable("PoCL finds no linker (ld)", "binutils")
    pretend({"Portable Computing Language": [("processor", "CPU", {})], "Intel": [("chip", "CPU", {})]})
    assert [device.platform for device in list_devices()] == ["Intel"]
    assert "PoCL finds no linker" in str(left_out()[0])


def test_without_a_folder_for_its_kernels_pocl_is_left_out(pretend: Pretend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reservoir.opencl.devices.prepare_driver_cache", lambda: False)
    pretend({"Portable Computing Language": [("processor", "CPU", {})]})
    _assert_unavailable("PoCL has no writable cache folder", "set POCL_CACHE_DIR to a writable folder")
