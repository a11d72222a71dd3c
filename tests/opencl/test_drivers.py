"""Drivers that are registered but cannot be loaded are named, with their file and what is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reservoir.errors import DeviceError
from reservoir.opencl import DeviceInfo, choose_device
from reservoir.opencl.drivers import (
    OWN_ENVIRONMENT,
    SYSTEM,
    VENDORS_VARIABLE,
    Driver,
    broken_drivers,
    driver_of,
    registered_drivers,
)


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of drivers' files with one that points nowhere."""
    monkeypatch.setenv(VENDORS_VARIABLE, str(tmp_path))
    (tmp_path / "gone.icd").write_text("/nowhere/libgone.so\n")
    return tmp_path


def test_a_driver_that_points_nowhere_is_told_with_its_file_and_library(registered: Path) -> None:
    (mistake,) = broken_drivers()
    assert (mistake.file, mistake.value) == (str(registered / "gone.icd"), "/nowhere/libgone.so")
    assert "cannot be loaded: /nowhere/libgone.so: cannot open shared object file" in str(mistake)
    assert "Fix: install the driver again with its libraries, or remove this file" in str(mistake)


def test_a_single_file_may_be_named(registered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VENDORS_VARIABLE, str(registered / "gone.icd"))
    assert [Path(mistake.file).name for mistake in broken_drivers()] == ["gone.icd"]


@pytest.mark.parametrize("content", [b"", b"\0", b"\xff\xfe", b"x" * 9000, b"relative.so"])
def test_a_file_that_names_no_library_is_told_and_stops_nothing(registered: Path, content: bytes) -> None:
    (registered / "gone.icd").write_bytes(content)
    assert len(broken_drivers()) == 1 - (content == b"")  # without a name the loader takes the program itself


def test_a_folder_in_place_of_a_file_cannot_be_read(registered: Path) -> None:
    (registered / "gone.icd").unlink()
    (registered / "gone.icd").mkdir()
    assert "cannot be read" in str(broken_drivers()[0])


def test_a_variable_that_names_nothing_is_told(registered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VENDORS_VARIABLE, str(registered / "absent"))
    (mistake,) = broken_drivers()
    assert str(mistake).startswith(f"{VENDORS_VARIABLE}: the folder or file does not exist")
    assert "Fix: unset it, or set it to a folder of .icd files" in str(mistake)


def test_the_driver_of_a_platform_is_the_file_that_it_comes_from(device: DeviceInfo) -> None:
    driver = driver_of(device.device.platform)
    if driver is None:
        pytest.skip(f"the driver of {device.platform} is in none of the usual places")
    maps = Path("/proc/self/maps").read_text().splitlines()
    loaded = {Path(line.split(maxsplit=5)[5]) for line in maps if "/" in line}
    # The name may be that of a link beside the file, as NVIDIA's is.
    assert any(file.with_name(Path(driver.library).name).resolve() == file for file in loaded)
    assert driver.registered in (SYSTEM, OWN_ENVIRONMENT, VENDORS_VARIABLE)


@pytest.mark.pocl(reason="its wheel puts it beside pyopencl")
def test_pocl_lies_in_the_own_environment(device: DeviceInfo) -> None:
    driver = driver_of(device.device.platform)
    assert (driver.registered, Path(driver.library).exists()) == (OWN_ENVIRONMENT, True)
    assert Path(driver.file).name == "pocl.icd"


def test_a_variable_may_name_a_driver_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "libmine.so"
    library.write_bytes(b"")
    monkeypatch.setenv(VENDORS_VARIABLE, str(library))
    assert registered_drivers() == [Driver(str(library), VENDORS_VARIABLE)]
    (mistake,) = broken_drivers()
    assert (mistake.column, mistake.value) == (VENDORS_VARIABLE, str(library))
    assert "Fix: unset it, or name a driver that can be loaded" in str(mistake)


@pytest.mark.usefixtures("registered", "device")
def test_who_asks_for_a_device_of_a_broken_driver_is_told_of_it() -> None:
    with pytest.raises(DeviceError, match='matches "gone"') as caught:
        choose_device("gone")
    assert "gone.icd: its driver cannot be loaded" in str(caught.value)


def _devices(*arguments: str, **environment: str) -> str:
    command = [sys.executable, "-m", "reservoir", "devices", *arguments]
    surroundings = {**os.environ, "RESERVOIR_DEVICE": "auto", **environment}
    finished = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    return finished.stdout


@pytest.mark.pocl(reason="its loader takes the variable")
def test_the_command_tells_of_it_beside_the_devices_there_are(registered: Path) -> None:
    shown = _devices(OCL_ICD_VENDORS=str(registered))
    assert "* default device" in shown
    assert "Driver of Portable Computing Language: " in shown
    assert "(own environment)" in shown
    assert f"Not usable: {registered / 'gone.icd'}: its driver cannot be loaded" in shown
    listed = json.loads(_devices("--json", OCL_ICD_VENDORS=str(registered)))
    assert listed["devices"][0]["registered"] == "own environment"
    assert Path(listed["devices"][0]["driver_file"]).exists()
    assert Path(listed["devices"][0]["icd_file"]).name == "pocl.icd"
    assert "gone.icd" in listed["left_out"][0]


@pytest.mark.pocl(reason="its loader takes the variable")
def test_without_a_platform_the_command_says_why_and_what_to_do(tmp_path: Path) -> None:
    shown = _devices(OCL_ICD_VENDORS=str(tmp_path / "absent"))
    assert "Plans use the solver clpso-sequential" in shown
    assert "no OpenCL platform is installed" in shown
    assert "Fix: install an OpenCL driver, or PoCL" in shown
    assert "OCL_ICD_VENDORS: the folder or file does not exist" in shown
