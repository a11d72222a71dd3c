import os

import pytest

from reservoir.opencl import pocl
from reservoir.opencl.pocl import SUMS

ELF = b"\x7fELF" + bytes(36) + (96).to_bytes(8, "little") + bytes(12) + (1).to_bytes(2, "little") + bytes(98)
CODE = b"BC\xc0\xde" + bytes(range(64))

DAMAGES = {
    "emptied": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2 - 1],
    "zeroed": lambda content: bytes(len(content)),
}


@pytest.fixture
def program(tmp_path):
    """A program as PoCL keeps it, in a cache of its own."""
    folder = tmp_path / "AB" / "CDEF"
    (folder / "kernel" / "1-1-1").mkdir(parents=True)
    (folder / "program.bc").write_bytes(CODE)
    (folder / "kernel" / "1-1-1" / "kernel.so").write_bytes(ELF)
    (folder / "last_accessed").touch()
    return folder


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("name", ["program.bc", "kernel/1-1-1/kernel.so"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_program_with_a_damaged_file_is_removed(program, tmp_path, name, damage, recorded):
    if recorded:
        pocl._record(tmp_path)
    pocl._remove_damaged(tmp_path)
    assert program.exists()
    path = program / name
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    pocl._remove_damaged(tmp_path)
    assert not program.exists()


def test_one_wrong_byte_is_found_once_the_program_is_recorded(program, tmp_path):
    pocl._record(tmp_path)
    (program / "program.bc").write_bytes(CODE[:-5] + b"\xff" + CODE[-4:])
    pocl._remove_damaged(tmp_path)
    assert not program.exists()


def test_only_programs_that_a_run_has_used_are_recorded_at_its_end(program, tmp_path):
    os.utime(program / "last_accessed", (100, 100))
    pocl._record(tmp_path, since=101)
    assert not (program / SUMS).exists()
    pocl._record(tmp_path, since=99)
    assert (program / SUMS).exists()


@pytest.mark.parametrize("content", ["", "nonsense", "[1]", '{"program.bc": "x"}', "null"])
def test_damaged_sums_do_not_stop_anything(program, tmp_path, content):
    (program / SUMS).write_text(content)
    pocl._remove_damaged(tmp_path)
    pocl._record(tmp_path)
    assert not program.exists()


def test_what_was_not_used_for_long_makes_room(program, tmp_path, monkeypatch):
    monkeypatch.setattr(pocl, "MOST_BYTES", 10)
    pocl._remove_damaged(tmp_path)
    assert program.exists()
    os.utime(program / "last_accessed", (0, 0))
    pocl._remove_damaged(tmp_path)
    assert not program.exists()


@pytest.mark.parametrize("marked", [True, False], ids=["marked as used", "not yet marked"])
def test_beside_another_process_nothing_makes_room(program, tmp_path, monkeypatch, marked):
    """PoCL ends a process whose program's folder goes while it builds."""
    monkeypatch.setattr(pocl, "MOST_BYTES", 10)
    if marked:
        os.utime(program / "last_accessed", (0, 0))
    else:
        (program / "last_accessed").unlink()
    before = sorted(program.rglob("*"))
    pocl._remove_damaged(tmp_path, alone=False)
    assert sorted(program.rglob("*")) == before


def test_what_another_process_may_be_writing_is_left_alone(program, tmp_path):
    (program / "program.bc").write_bytes(CODE[:-3])
    pocl._remove_damaged(tmp_path, alone=False)
    assert (program / "program.bc").exists()


@pytest.mark.parametrize("recorded", [True, False])
def test_beside_another_process_a_damaged_file_goes_and_its_program_stays(program, tmp_path, recorded):
    if recorded:
        pocl._record(tmp_path)
    (program / "program.bc").write_bytes(CODE[:-3])
    for path in program.rglob("*"):
        os.utime(path, (0, 0))
    pocl._remove_damaged(tmp_path, alone=False)
    left = {str(path.relative_to(program)) for path in program.rglob("*") if path.is_file()}
    assert left == {"kernel/1-1-1/kernel.so", "last_accessed"}


def test_a_process_knows_whether_another_uses_the_folder(tmp_path):
    fcntl = pytest.importorskip("fcntl", reason="locks of files are POSIX")
    with open(tmp_path / pocl._IN_USE, "w") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        with pocl._alone_in(tmp_path) as alone:
            assert not alone
    with pocl._alone_in(tmp_path) as alone:
        assert alone
    with open(tmp_path / pocl._IN_USE, "w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_where_the_named_folder_cannot_be_written_kernels_are_kept_for_this_run(monkeypatch):
    monkeypatch.setenv(pocl.CACHE_VARIABLE, "/dev/null/pocl")
    monkeypatch.setattr("reservoir.runtime.notes", [])
    assert pocl.prepare_driver_cache.__wrapped__()
    assert not os.environ[pocl.CACHE_VARIABLE].startswith("/dev/null")
    assert os.path.isdir(os.environ[pocl.CACHE_VARIABLE])
