"""Intel's driver in the program's own environment is named to the loader, unless someone else names drivers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reservoir.opencl import drivers, list_devices
from reservoir.opencl.drivers import (
    FILES_VARIABLE,
    LIBRARIES,
    OWN_ENVIRONMENT,
    SYSTEM,
    VENDORS_VARIABLE,
    asked_by_user,
    broken_drivers,
    install_words,
    registered_drivers,
)

ICD = {"nvidia.icd": "libnvidia-opencl.so.1\n", "other.icd": "/opt/libother.so\n"}


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder of .icd files, two of them; an environment without a driver; no variables."""
    folder = tmp_path / "vendors"
    folder.mkdir()
    for name, text in ICD.items():
        (folder / name).write_text(text)
    monkeypatch.setattr(drivers, "USUAL_FOLDER", folder)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in (VENDORS_VARIABLE, FILES_VARIABLE):
        monkeypatch.setenv(name, "")  # so that it is set back
        monkeypatch.delenv(name)
    return folder


def installed(tmp_path: Path, system: str = "linux") -> Path:
    """Put a driver into the environment."""
    library = tmp_path / "environment" / LIBRARIES[system]
    library.parent.mkdir(parents=True)
    library.write_bytes(b"\x7fELF")
    return library


def name_it() -> None:
    """As the first time in a process."""
    drivers.name_own_driver.__wrapped__()


def named() -> dict[str, str]:
    """The .icd files that the loader reads, by their names."""
    return {file.name: file.read_text() for file in Path(os.environ[VENDORS_VARIABLE]).iterdir()}


def test_without_a_driver_nothing_is_set(system: Path) -> None:
    name_it()
    assert VENDORS_VARIABLE not in os.environ
    assert not asked_by_user()


def test_a_driver_is_named_beside_those_of_the_system(system: Path, tmp_path: Path) -> None:
    library = installed(tmp_path)
    name_it()
    assert named() == {**ICD, "reservoir-own.icd": f"{library}\n"}
    assert not asked_by_user()
    own = [driver for driver in registered_drivers() if driver.registered == OWN_ENVIRONMENT]
    assert [driver.library for driver in own] == [str(library)]
    assert [driver.library for driver in registered_drivers() if driver.registered == SYSTEM] == [
        *("libnvidia-opencl.so.1", "/opt/libother.so")
    ]


def test_a_process_that_inherits_the_variable_names_the_driver_again(system: Path, tmp_path: Path) -> None:
    installed(tmp_path)
    name_it()
    before = os.environ[VENDORS_VARIABLE]
    (system / "other.icd").unlink()
    name_it()
    assert os.environ[VENDORS_VARIABLE] != before
    assert set(named()) == {"nvidia.icd", "reservoir-own.icd"}


@pytest.mark.parametrize("variable", [VENDORS_VARIABLE, FILES_VARIABLE])
def test_what_the_user_has_set_is_kept(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    installed(tmp_path)
    monkeypatch.setenv(variable, "/opt/mine.so")
    name_it()
    assert {name: os.environ.get(name) for name in (VENDORS_VARIABLE, FILES_VARIABLE)} == {
        VENDORS_VARIABLE: None,
        FILES_VARIABLE: None,
        variable: "/opt/mine.so",
    }
    assert asked_by_user()


@pytest.mark.parametrize("text", ["/opt/intel/lib/libintelocl.so", "libintelocl.so"])
def test_a_driver_that_the_system_registers_is_not_named_again(system: Path, tmp_path: Path, text: str) -> None:
    installed(tmp_path)
    (system / "intel.icd").write_text(text)
    name_it()
    assert VENDORS_VARIABLE not in os.environ
    assert [driver.registered for driver in registered_drivers() if "intelocl" in driver.library] == [SYSTEM]


@pytest.mark.parametrize(("exists", "named_here"), [(True, False), (False, True)])
def test_an_environment_that_registers_its_driver_is_left_to_its_loader(
    system: Path, tmp_path: Path, exists: bool, named_here: bool
) -> None:
    """As conda's do; the files of Intel's wheels name a folder that does not exist."""
    library = installed(tmp_path)
    files = tmp_path / "environment/etc/OpenCL/vendors"
    files.mkdir(parents=True)
    (files / "intel-cpu.icd").write_text(str(library) if exists else "/opt/placeholder/lib/libintelocl.so")
    name_it()
    assert (VENDORS_VARIABLE in os.environ) == named_here


def test_a_file_that_cannot_be_read_is_left_out(system: Path, tmp_path: Path) -> None:
    (system / "folder.icd").mkdir()
    installed(tmp_path)
    name_it()
    assert set(named()) == {*ICD, "reservoir-own.icd"}


def test_without_a_writable_folder_nothing_is_set(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path)
    monkeypatch.setattr(drivers, "usable_folder", lambda name: None)
    name_it()
    assert VENDORS_VARIABLE not in os.environ


def test_on_windows_the_driver_is_added_to_those_of_the_registry(
    system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = installed(tmp_path, "win32")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("PATH", "before")
    name_it()
    assert os.environ[FILES_VARIABLE] == str(library)
    assert os.environ["PATH"] == f"{library.parent}{os.pathsep}before"
    assert VENDORS_VARIABLE not in os.environ
    assert not asked_by_user()


def test_a_driver_without_its_libraries_is_told_with_the_mend(system: Path, tmp_path: Path) -> None:
    library = installed(tmp_path)
    told = [str(mistake) for mistake in broken_drivers() if mistake.file == str(library)]
    assert len(told) == 1
    assert "its driver cannot be loaded" in told[0]
    assert "Fix: install it with its libraries: pip install 'reservoir[intel]'" in told[0]


@pytest.mark.parametrize(
    ("system_name", "machine", "words"),
    [
        ("linux", "x86_64", "pip install pocl-binary-distribution, or Intel's: pip install 'reservoir[intel]'"),
        ("win32", "AMD64", "or Intel's for CPUs: pip install 'reservoir[intel]'"),
        ("darwin", "arm64", "or PoCL for any CPU by the system's package manager"),
    ],
)
def test_what_to_install_depends_on_the_system(
    monkeypatch: pytest.MonkeyPatch, system_name: str, machine: str, words: str
) -> None:
    monkeypatch.setattr(sys, "platform", system_name)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert install_words().endswith(words)


def test_the_driver_of_this_environment_is_found_by_installing_it() -> None:
    library = drivers.own_driver()
    if library is None:
        pytest.skip("Intel's driver is not installed in this environment: pip install 'reservoir[intel]'")
    if asked_by_user():
        pytest.skip(f"{VENDORS_VARIABLE} or {FILES_VARIABLE} names other drivers")
    assert sum(device.intel_cpu for device in list_devices()) == 1
    shown = subprocess.run(
        [sys.executable, "-m", "reservoir", "devices", "--json"], capture_output=True, text=True, check=True
    )
    (row,) = [each for each in json.loads(shown.stdout)["devices"] if each["platform"] == "Intel(R) OpenCL"]
    assert (row["driver_file"], row["registered"]) == (str(library), OWN_ENVIRONMENT)
