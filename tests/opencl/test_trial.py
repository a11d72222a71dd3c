"""A driver that runs no kernel is found before it is needed, left out with one line, and tried again."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reservoir import runtime
from reservoir.errors import DeviceError
from reservoir.opencl import DeviceInfo, choose_device, choose_devices, devices, left_out, opencl_available, trial
from reservoir.opencl.drivers import driver_of
from reservoir.opencl.pocl import CPU_VARIABLE

REFUSED = "its driver runs no kernel (error: unknown target CPU 'generic')"
SEARCH = ("--solver", "lshade", "--evaluations", "2000", "--set", "polish=false", "--no-reference", "--no-figures")
TARGET = b"x86_64-unknown-linux-gnu\0"


@pytest.fixture
def refusing(pretend: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two drivers, of which the better one runs no kernel; what is noted."""
    pretend({"Broken": [("card", "GPU", {})], "Portable Computing Language": [("processor", "CPU", {})]})
    monkeypatch.setattr(devices, "why_runs_nothing", lambda device, *_: "no" if device.name == "card" else "")
    for name, empty in (("_refusals", {}), ("_told", set())):
        monkeypatch.setattr(devices, name, empty)
    monkeypatch.setattr(runtime, "notes", [])
    return runtime.notes


def test_a_choice_by_default_goes_on_to_the_next_device_and_says_so_once(refusing: list[str]) -> None:
    for _ in range(2):
        assert choose_device().name == "processor"
        assert [each.name for each in choose_devices("all")] == ["processor"]
        assert opencl_available()
    (line,) = refusing
    assert line.startswith("card of Broken is left out: its driver runs no kernel (no). Fix: update its driver;")
    assert line.endswith("`reservoir devices` tries it again.")


def test_nothing_is_noted_where_a_device_was_named_or_what_is_left_out_is_shown(refusing: list[str]) -> None:
    assert choose_device("processor").name == "processor"
    assert "card of Broken is left out" in str(left_out()[0])
    choose_device()
    assert refusing == []


def test_a_named_device_that_runs_nothing_is_refused_with_its_reason(refusing: list[str]) -> None:
    with pytest.raises(DeviceError, match='matches "card"') as caught:
        choose_device("card")
    assert "its driver runs no kernel (no)" in str(caught.value)


def test_if_no_driver_runs_a_kernel_the_reason_is_that(pretend: Callable[..., None], monkeypatch) -> None:
    pretend({"Broken": [("card", "GPU", {})]})
    monkeypatch.setattr(devices, "why_runs_nothing", lambda *_: "no")
    assert not opencl_available()
    with pytest.raises(DeviceError, match=r"OpenCL cannot be used: card of Broken is left out: .*Fix: update"):
        choose_device()


@pytest.fixture
def places(device: DeviceInfo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[int, int]:
    """Where the run's device stands, nothing known of any."""
    import pyopencl as cl

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(trial, "_known", {})
    platforms = cl.get_platforms()
    place = platforms.index(device.device.platform)
    return place, platforms[place].get_devices().index(device.device)


def test_a_verdict_is_kept_for_the_driver_and_processor_until_either_changes(
    device: DeviceInfo, places: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(trial, "_tried", lambda *_: tried.append("") or "no")
    for _ in range(2):
        assert trial.why_runs_nothing(device.device, *places) == "no"
        trial._known.clear()
    assert len(tried) == 1
    monkeypatch.setattr(trial, "processor", lambda: "another")
    trial.why_runs_nothing(device.device, *places)
    monkeypatch.setattr(trial, "_stamp", lambda library: ("another", 1, 1))
    trial.why_runs_nothing(device.device, *places)
    trial.why_runs_nothing(device.device, *places, "znver2")
    assert len(tried) == 4
    trial._known.clear()
    trial.forget_refusals()
    trial.why_runs_nothing(device.device, *places, "znver2")
    assert len(tried) == 5


@pytest.mark.parametrize("content", [b"", b"nonsense", b"[]", b'{"said": 1}', b"\xff\xfe"])
def test_a_damaged_verdict_is_none(
    device: DeviceInfo, places: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    monkeypatch.setattr(trial, "_tried", lambda *_: "no")
    trial.why_runs_nothing(device.device, *places)
    (file,) = tmp_path.rglob("trial-*.json")
    file.write_bytes(content)
    trial._known.clear()
    monkeypatch.setattr(trial, "_tried", lambda *_: "")
    assert trial.why_runs_nothing(device.device, *places) == ""


def test_where_no_process_can_be_started_nothing_is_refused_nor_kept(
    device: DeviceInfo, places: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
    assert trial.why_runs_nothing(device.device, *places) == ""
    assert not list(tmp_path.rglob("trial-*.json"))


def test_a_driver_that_ends_hangs_or_computes_nonsense_is_told_as_that(
    device: DeviceInfo, places: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    start = "import os, signal, time, numpy; from reservoir.opencl import trial; "
    for code, said in {
        "os.kill(os.getpid(), signal.SIGILL)": "it ends the process by SIGILL",
        "print('pocl: gone'); os.abort()": "it ends the process by SIGABRT",
        "raise SystemExit(3)": "the process ended",
        "time.sleep(60)": "was not done within 2 s",
    }.items():
        monkeypatch.setattr(trial, "_TRIAL_SECONDS", 2.0 if "sleep" in code else 60.0)
        monkeypatch.setattr(trial, "_TRIAL", start + code)
        assert said in (trial._tried(*places, "") or "")
    monkeypatch.setattr(trial, "_TRIAL_SECONDS", 60.0)
    wrong = "trial._expected = lambda given, items: 2 * given; trial.try_kernel({platform}, {device}, {name!r})"
    monkeypatch.setattr(trial, "_TRIAL", start + wrong)
    name = devices.name_to_tell(device.device) if "Portable" in device.platform else ""
    assert trial._tried(*places, name) == "a kernel of ten lines computes wrong numbers"


def _called(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    usual = {key: value for key, value in os.environ.items() if key not in ("POCL_CACHE_DIR", "RESERVOIR_DEVICE")}
    given = usual | {"NO_COLOR": "1", "COLUMNS": "200", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, "-m", "reservoir", *arguments],
        cwd=folder,
        env=given | environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.pocl(reason="it is PoCL's state")
def test_where_pocl_compiles_nothing_every_command_goes_on_without_it(
    six_years_file: Path, tmp_path: Path, only_pocl: dict[str, str]
) -> None:
    unknown = only_pocl | {CPU_VARIABLE: "generic"}
    listed = json.loads(_called(tmp_path, "devices", "--json", **unknown).stdout)
    assert listed["devices"] == []
    assert REFUSED in listed["left_out"][0]
    planned = _called(tmp_path, "plan", str(six_years_file), *SEARCH, "--out", "out", **unknown)
    assert planned.returncode == 0, planned.stderr
    assert (planned.stdout + planned.stderr).count(REFUSED) == 1
    assert "Solved by lshade-sequential on all CPU cores instead of lshade" in planned.stdout + planned.stderr
    compared = _called(
        tmp_path, "compare", str(six_years_file), "--evaluations", "2000", "--generations", "50", **unknown
    )
    assert compared.returncode == 0, compared.stderr
    assert "lshade-sequential" in compared.stdout
    assert compared.stderr.count(REFUSED) == 1
    named = _called(tmp_path, "compare", str(six_years_file), "--device", "pocl", "--solver", "lshade", **unknown)
    assert named.returncode == 2
    assert REFUSED in named.stderr


@pytest.fixture
def broken(tmp_path: Path, device: DeviceInfo) -> Path:
    """A folder that registers a PoCL which knows no processor at all."""
    library = Path(driver_of(device.device.platform).library)
    content, name = library.read_bytes(), library.name.encode() + b"\0"
    assert TARGET in content
    # By its old name the loader would take it for the library itself.
    content = content.replace(TARGET, b"y" + TARGET[1:]).replace(name, b"x" * (len(name) - 1) + b"\0")
    (tmp_path / "libbroken.so").write_bytes(content)
    (tmp_path / "broken.icd").write_text(f"{tmp_path / 'libbroken.so'}\n")
    return tmp_path


def _library(name: str) -> Path:
    """A library of this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(Path(line.split()[-1]) for line in lines if name in line)


@pytest.mark.pocl(reason="a copy of it is broken")
def test_a_library_that_refuses_to_build_is_left_out_beside_one_that_builds(broken: Path) -> None:
    both = {"OCL_ICD_VENDORS": str(broken), "LD_LIBRARY_PATH": str(_library("libhwloc").parent)}
    listed = json.loads(_called(broken, "devices", "--json", **both).stdout)
    assert len(listed["devices"]) == 1
    (line,) = listed["left_out"]
    assert "its driver runs no kernel (error: unknown target triple 'y86_64-unknown-linux-gnu'" in line
    record = "year," + ",".join(f"m{month:02d}" for month in range(1, 13)) + "\n1953" + ",500" * 12
    (broken / "one.csv").write_text(record)
    planned = _called(broken, "plan", "one.csv", *SEARCH, "--out", "out", **both)
    assert planned.stderr.count("unknown target triple") == 1
    assert '"platform": "Portable Computing Language"' in (broken / "out" / "plan.json").read_text()


def test_help_tries_nothing(tmp_path: Path) -> None:
    shown = _called(tmp_path, "plan", "--help", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert shown.returncode == 0
    assert not list(tmp_path.rglob("trial-*"))
