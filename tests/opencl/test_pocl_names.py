"""PoCL's wheel is told a processor's name that its compiler knows, where that is safe; anything else is left alone."""

import ctypes
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from reservoir.opencl import DeviceInfo, pocl
from reservoir.opencl.pocl import CACHE_VARIABLE, CPU_VARIABLE, NAMES, UNKNOWN, name_to_tell, tell_name, wished_name

AVX2 = "avx2 fma bmi1 bmi2 f16c abm movbe popcnt sse4_2 cx16 vaes vpclmulqdq"
AVX512 = (
    "avx512f avx512cd avx512bw avx512dq avx512vl avx512ifma avx512vbmi avx512_vbmi2 avx512_vnni avx512_bitalg "
    "avx512_vpopcntdq gfni"
)


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """A description of a device as PoCL's, in this process's memory, and a library that is taken for the wheel's."""
    words = [ctypes.create_string_buffer(word, 32) for word in (b"x86_64-unknown-linux-gnu", b"generic")]
    memory = (ctypes.c_void_p * 100)()
    memory[79], memory[80] = map(ctypes.addressof, words)
    monkeypatch.setattr(pocl, "_wheels_library", lambda device: str(tmp_path / "libpocl.so"))
    monkeypatch.setattr(pocl, "wished_name", lambda: "znver2")
    monkeypatch.delenv(CPU_VARIABLE, raising=False)
    monkeypatch.setattr(pocl, "own_name", cache(pocl.own_name.__wrapped__))
    return SimpleNamespace(int_ptr=ctypes.addressof(memory), memory=memory, words=words)


def name_of(described: SimpleNamespace) -> bytes:
    return ctypes.string_at(described.memory[80])


def test_a_name_is_written_in_place_of_the_unknown_one_and_stays(described: SimpleNamespace) -> None:
    assert name_to_tell(described) == "znver2"
    assert tell_name(described, "znver2") == ""
    assert name_of(described) == b"znver2"
    assert name_to_tell(described) == "znver2"  # asked again: PoCL's own name counts


def test_a_known_name_is_left_unless_another_is_asked_for(
    described: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    described.words[1].value = b"haswell"
    assert name_to_tell(described) == ""
    monkeypatch.setenv(CPU_VARIABLE, "znver2")
    assert name_to_tell(described) == "znver2"


@pytest.mark.parametrize(
    ("own", "told"), [(b"znver3", "icelake-server"), (b"cascadelake", ""), (b"skylake-avx512", "")]
)
def test_a_known_name_that_leaves_avx512_unused_is_replaced_by_one_that_uses_it(
    described: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, own: bytes, told: str
) -> None:
    monkeypatch.setattr(pocl, "wished_name", lambda: "icelake-server")
    described.words[1].value = own
    assert name_to_tell(described) == told


@pytest.mark.parametrize("word", [b"voodoo", b"", b"\xff\xfe", b"generi"])
def test_words_that_are_no_processors_name_are_left(described: SimpleNamespace, word: bytes) -> None:
    described.words[1].value = word
    assert name_to_tell(described) == ""


def test_another_target_beside_the_name_is_another_structure(described: SimpleNamespace) -> None:
    described.words[0].value = b"aarch64-linux-gnu"
    assert name_to_tell(described) == ""
    assert "not that of the wheel" in tell_name(described, "znver2")
    assert name_of(described) == b"generic"


@pytest.mark.parametrize("address", [0, 8, 1 << 46, (1 << 64) - 8, -1])
@pytest.mark.parametrize("place", [79, 80])
def test_a_wrong_address_ends_nothing(described: SimpleNamespace, place: int, address: int) -> None:
    described.memory[place] = address
    assert name_to_tell(described) == ""
    assert name_to_tell(SimpleNamespace(int_ptr=address)) == ""


def test_a_library_of_another_content_is_refused(described: SimpleNamespace, tmp_path: Path) -> None:
    (tmp_path / "libpocl.so").write_bytes(b"another")
    assert "is not that of the wheel" in tell_name(described, "znver2", by_hash=True)
    assert name_of(described) == b"generic"


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        (f"{AVX2} {AVX512} sse4a", "icelake-server"),
        (f"{AVX2} {AVX512}".replace("avx512_vbmi2", ""), "skylake-avx512"),
        (f"{AVX2} {AVX512} sse4a".replace("avx512vl", ""), "znver3"),
        (f"{AVX2} sse4a", "znver3"),
        (AVX2.replace("vaes", "sse4a"), "znver2"),
        (f"{AVX2} gfni avx_vnni", "alderlake"),
        (AVX2, "haswell"),
        (AVX2.replace("fma", ""), "nehalem"),
        ("sse2", ""),
        ("", ""),
    ],
)
def test_the_name_is_one_whose_instructions_the_processor_has(
    flags: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CPU_VARIABLE, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(pocl, "processor_flags", lambda: frozenset(flags.split()))
    assert wished_name.__wrapped__() == name
    monkeypatch.setenv(CPU_VARIABLE, "OFF")
    assert wished_name.__wrapped__() == ""
    monkeypatch.setenv(CPU_VARIABLE, "haswell")
    assert wished_name.__wrapped__() == "haswell"
    assert {*pocl._NEAREST, *pocl._WITH_AVX512} <= NAMES


def _in_a_process(code: str, folder: Path, **environment: str) -> str:
    begin = "import os; from reservoir.opencl import *; from reservoir.opencl.pocl import _word_at, own_name; "
    given = {name: value for name, value in os.environ.items() if name != CACHE_VARIABLE}
    given |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "XDG_CACHE_HOME": str(folder), **environment}
    finished = subprocess.run([sys.executable, "-c", begin + code], env=given, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.strip()


RUN = """
device = choose_device("pocl")
told = _word_at(device.device.int_ptr + 640)
program = build(device, "__kernel void one(__global float *out) { out[get_global_id(0)] = 1.0f; }")
with Session(device) as session:
    session.allocate(out=((4,), "f4"))
    session.run(program, "one", 4, 2, "out")
    print(own_name(device.device.int_ptr), told, session.download("out").sum())
print(os.environ["POCL_CACHE_DIR"])
"""


@pytest.mark.pocl(reason="it is PoCL's name")
def test_kernels_run_by_the_name_that_was_asked_for_and_are_kept_apart(device: DeviceInfo, tmp_path: Path) -> None:
    if not pocl._wheels_library(device.device):
        pytest.skip("another PoCL than the wheel's")
    lines = {
        name: _in_a_process(RUN, tmp_path, **{CPU_VARIABLE: name}).splitlines() for name in ("x86-64-v3", "haswell")
    }
    for name, (run, kept) in lines.items():
        assert run.split()[1:] == [name, "4.0"]
        assert run.split()[0] in (UNKNOWN, *NAMES)
        assert Path(kept) == tmp_path / "reservoir/pocl" / f"cpu-{name}"
        assert list(Path(kept).rglob("*.so"))
    # A process that this one starts has the name's folder too, and no folder within it.
    again = _in_a_process(RUN, tmp_path, **{CPU_VARIABLE: "haswell", CACHE_VARIABLE: lines["x86-64-v3"][1]})
    assert again.splitlines()[1] == lines["haswell"][1]


@pytest.mark.pocl(reason="it is PoCL's name")
def test_a_name_that_pocls_compiler_does_not_know_is_refused_with_those_it_knows(
    tmp_path: Path, only_pocl: dict[str, str]
) -> None:
    environment = only_pocl | {CPU_VARIABLE: "voodoo"}
    said = _in_a_process("print(*left_out()); print(list_devices())", tmp_path, **environment)
    assert f'{CPU_VARIABLE}: PoCL knows no such processor (found "voodoo"); expected off, or' in said
    assert "znver3" in said
    assert said.endswith("[]")
