"""A real device, pretended ones, and kernel files of the tests' own."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from reservoir import runtime
from reservoir.opencl import devices

#: OpenCL's bits for the kinds of device.
KIND_BITS = {"CPU": 2, "GPU": 4, "ACCELERATOR": 8}


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty ``kernels/`` folder in place of the package's."""
    monkeypatch.setattr(runtime, "_PACKAGE", tmp_path / "reservoir")
    (tmp_path / "kernels").mkdir()
    return tmp_path / "kernels"


class PretendedOpenCL(ModuleType):
    """As much of pyopencl as looking for devices needs, with the platforms that a test gives it."""

    class Error(Exception):
        """Base of the driver's errors."""

    class LogicError(Error):
        """Nothing found."""

    device_type = SimpleNamespace(**KIND_BITS)

    def __init__(self, platforms: list[SimpleNamespace]) -> None:
        super().__init__("pyopencl")
        self.platforms = platforms

    def get_platforms(self) -> list[SimpleNamespace]:
        if not self.platforms:
            raise self.LogicError("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")
        return self.platforms


def pretended_device(name: str, kind: str, properties: dict[str, object]) -> SimpleNamespace:
    """One device as pyopencl shows it."""
    usual = {
        "available": True,
        "compiler_available": True,
        "driver_version": "1.0",
        "version": "OpenCL 3.0",
        "max_compute_units": 8,
        "max_work_group_size": 1024,
        "native_vector_width_float": 1,
        "local_mem_size": 48 << 10,
        "global_mem_size": 1 << 30,
        "max_mem_alloc_size": 1 << 28,
    }
    return SimpleNamespace(name=name, type=KIND_BITS[kind], **(usual | properties))


def pretended_platform(name: str, *devices: SimpleNamespace) -> SimpleNamespace:
    """One platform as pyopencl shows it; without devices it raises, as drivers do."""
    platform = SimpleNamespace(name=name)

    def get_devices() -> list[SimpleNamespace]:
        if not devices:
            raise PretendedOpenCL.LogicError("clGetDeviceIDs failed: DEVICE_NOT_FOUND")
        return list(devices)

    platform.get_devices = get_devices
    for device in devices:
        device.platform = platform
    return platform


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Call it with ``{platform: [(device, kind, properties), ...]}`` to pretend that the machine has these."""
    monkeypatch.delenv("RESERVOIR_DEVICE", raising=False)
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(devices, "name_to_tell", lambda device: "")
    monkeypatch.setattr(devices, "why_runs_nothing", lambda *_: "")

    def install(platforms: dict[str, list[tuple[str, str, dict[str, object]]]]) -> None:
        pretended = [
            pretended_platform(name, *(pretended_device(*device) for device in devices))
            for name, devices in platforms.items()
        ]
        monkeypatch.setitem(sys.modules, "pyopencl", PretendedOpenCL(pretended))

    return install
