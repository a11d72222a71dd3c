"""Threads of the host, what a copy of the process makes, and files that come with the package."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reservoir import runtime
from reservoir.errors import ReservoirError
from reservoir.runtime import THREADS_VARIABLE, made_in_a_copy, processors


def test_the_variable_says_how_many(monkeypatch):
    monkeypatch.setenv(THREADS_VARIABLE, " 3 ")
    assert processors() == 3


@pytest.mark.parametrize("words", ["", "0", "-1", "many", "9" * 5000])
def test_what_is_no_number_of_threads_says_nothing(monkeypatch, words):
    monkeypatch.setenv(THREADS_VARIABLE, words)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5}, raising=False)
    assert processors() == 3


def test_where_the_system_does_not_tell_all_are_used(monkeypatch):
    monkeypatch.delenv(THREADS_VARIABLE, raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1


on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there are copies made")


@on_linux
def test_a_copy_makes_things_of_what_is_in_memory(monkeypatch):
    monkeypatch.setenv(THREADS_VARIABLE, "2")
    numbers = [1, 2]
    made = made_in_a_copy(lambda: ((os.getpid(), number) for number in numbers))
    numbers.append(3)
    (process, one), (same, two) = made
    assert (one, two) == (1, 2)
    assert process == same != os.getpid()
    with pytest.raises(ChildProcessError):
        os.waitpid(process, 0)


@on_linux
def test_a_copy_that_fails_has_made_nothing(monkeypatch, capfd):
    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    monkeypatch.setenv(THREADS_VARIABLE, "2")
    assert list(made_in_a_copy(failing)) == []
    assert capfd.readouterr() == ("", "")


@on_linux
def test_a_copy_waits_for_no_reader(monkeypatch, tmp_path):
    def large() -> Iterator[bytes]:
        yield bytes(1_000_000)
        (tmp_path / "second").touch()
        yield b"second"

    monkeypatch.setenv(THREADS_VARIABLE, "2")
    made = made_in_a_copy(large)
    while not (tmp_path / "second").exists():
        time.sleep(0.01)
    assert [len(each) for each in made] == [1_000_000, 6]


@on_linux
def test_a_copy_ends_when_nobody_wants_more(monkeypatch):
    monkeypatch.setenv(THREADS_VARIABLE, "2")
    made = made_in_a_copy(lambda: [os.getpid(), 2])
    process = next(made)
    made.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


@on_linux
def test_a_copy_ends_when_it_is_dropped_before_it_has_made_anything(monkeypatch):
    """Of an interrupted run, whose standard error it would hold open."""
    monkeypatch.setenv(THREADS_VARIABLE, "2")
    fork, copies = os.fork, []

    def forked():
        copies.append(fork())
        return copies[-1]

    monkeypatch.setattr(os, "fork", forked)
    made = made_in_a_copy(lambda: time.sleep(20) or [1])
    begun = time.monotonic()
    del made
    with pytest.raises(ChildProcessError):  # it is no child any more; others of the process may be
        os.waitpid(copies[0], os.WNOHANG)
    assert time.monotonic() - begun < 10


def test_one_processor_has_no_copy(monkeypatch):
    monkeypatch.setenv(THREADS_VARIABLE, "1")
    assert list(made_in_a_copy(lambda: [1])) == []


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in place of the package's own."""
    monkeypatch.setattr(runtime, "_PACKAGE", tmp_path / "reservoir")
    (tmp_path / "reservoir").mkdir()
    return tmp_path / "reservoir"


def _put(folder: Path, name: str, content: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")


def test_this_tree_has_both_folders() -> None:
    assert runtime.package_folder("kernels").is_dir()
    assert runtime.package_folder("data").is_dir()


def test_a_checkout_has_the_folders_beside_the_package(package: Path) -> None:
    _put(package.parent / "kernels", "common/rng/philox.cl", "uint4 philox();\n")
    assert runtime.package_text("kernels", "common/rng/philox.cl") == "uint4 philox();\n"


def test_a_wheel_has_the_folders_inside_the_package(package: Path) -> None:
    _put(package / "data", "xiaowan/inflow.csv", "year\n")
    assert runtime.package_path("data", "xiaowan/inflow.csv") == package / "data" / "xiaowan" / "inflow.csv"


def test_a_stranger_beside_an_installed_package_is_not_taken(package: Path) -> None:
    _put(package / "data", "inflow.csv", "ours")
    _put(package.parent / "data", "inflow.csv", "a stranger's")
    assert runtime.package_text("data", "inflow.csv") == "ours"


def test_text_is_read_as_utf8(package: Path) -> None:
    _put(package / "data", "README.md", "m³/s")
    assert runtime.package_text("data", "README.md") == "m³/s"


def test_a_missing_folder_is_named(package: Path) -> None:
    with pytest.raises(ReservoirError, match="folder kernels/ is missing"):
        runtime.package_text("kernels", "common/rng/philox.cl")


@pytest.mark.parametrize("name", ["absent.csv", "xiaowan"])
def test_what_is_no_file_is_named(package: Path, name: str) -> None:
    _put(package / "data", "xiaowan/inflow.csv", "")
    with pytest.raises(ReservoirError, match=f"data/ has no file {name}; looked for"):
        runtime.package_path("data", name)
