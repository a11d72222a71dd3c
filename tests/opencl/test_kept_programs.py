"""Programs of a driver that keeps none are kept, used only whole, and by the driver that made them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reservoir.opencl import DeviceInfo, Session, program
from reservoir.opencl.program import build, context_of, file_of_program, kept_program

SOURCE = "__kernel void test(__global int *out) { out[get_global_id(0)] = 42; }"
OPTIONS = ("-cl-std=CL1.2",)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where programs are kept, of any driver."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(DeviceInfo, "intel_cpu", True)
    program._build_once.cache_clear()
    return tmp_path / "reservoir/programs"


def run(device: DeviceInfo) -> list[int]:
    """Build the source as a new process would, and run it."""
    program._build_once.cache_clear()
    built = build(device, SOURCE)
    with Session(device) as session:
        session.allocate(out=(3, np.int32))
        session.run(built, "test", 3, 1, "out")
        return session.download("out").tolist()


def test_a_program_is_kept_and_then_not_compiled_again(
    device: DeviceInfo, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(device) == [42] * 3
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(program, "keep_program", lambda *_: pytest.fail("it was compiled again"))
    assert run(device) == [42] * 3


@pytest.mark.parametrize("damage", [lambda old: old[:-1], lambda old: b"", lambda old: old[:40] + b"x" + old[41:]])
def test_a_damaged_file_is_not_used_and_made_again(device: DeviceInfo, folder: Path, damage) -> None:
    run(device)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert kept_program(device, file, context_of(device)) is None
    assert run(device) == [42] * 3
    assert len(file.read_bytes()) == len(whole)


def test_another_driver_source_option_or_processor_has_another_file(
    device: DeviceInfo, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "processor", lambda: "one")
    usual = (device, SOURCE, OPTIONS)
    files = {file_of_program(*usual), file_of_program(replace(device, driver="2"), SOURCE, OPTIONS)}
    files |= {file_of_program(device, SOURCE + " ", OPTIONS), file_of_program(device, SOURCE, ())}
    monkeypatch.setattr(program, "processor", lambda: "another")
    files.add(file_of_program(*usual))
    assert len(files) == 5


def test_the_longest_unused_make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    for age, name in enumerate(("new", "old", "oldest")):
        (folder / name).write_bytes(bytes(40))
        program.os.utime(folder / name, (1e9 - age, 1e9 - age))
    monkeypatch.setattr(program, "MOST_BYTES", 130)
    program._make_room(folder, 60)
    assert [file.name for file in folder.iterdir()] == ["new"]


def test_without_a_writable_folder_nothing_is_kept(
    device: DeviceInfo, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "usable_folder", lambda name: None)
    assert run(device) == [42] * 3
    assert not folder.exists()


@pytest.mark.pocl(reason="it keeps its programs itself")
def test_a_driver_that_keeps_programs_is_left_to_it(
    device: DeviceInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert file_of_program(device, SOURCE, OPTIONS) is None
    build(device, f"{SOURCE}// once more")
    assert not (tmp_path / "reservoir").exists()
