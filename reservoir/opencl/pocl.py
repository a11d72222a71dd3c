"""PoCL: its cache of built kernels, checked before PoCL reads it, and the name of the processor that it compiles for.

**Cache.** It stands in this program's own folder. PoCL loads what it finds there as machine code: a file that was cut
short or emptied ends the process.

**Processor.** PoCL 3.0's wheel asks the LLVM within it, of 2022, for the processor's name. For any newer processor that
answers ``generic``, which its own compiler refuses ("unknown target CPU 'generic'", PoCL's issue 1049), and there is
neither an option nor an environment variable for another name. PoCL's description of its device has the name as a
pointer to a text, read at every build: pointed to a name that this LLVM knows, everything compiles and runs.

This writes into the memory of a library, so it is done only where that cannot go wrong: the library that the platform
comes from is the wheel's, byte for byte, and mapped in this process; the words beside the name and the name itself are
what they should be, read and written through ``/proc/self/mem``, which answers a wrong address with an error; and a
process of its own has built and run a kernel with the name (`reservoir.opencl.trial`), because a name that promises too
much ends in an illegal instruction. Anything else is left as it is: a driver that then builds nothing is left out.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import json
import os
import platform
import shutil
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING

from reservoir.errors import Mistake
from reservoir.opencl.drivers import driver_of
from reservoir.runtime import processor_flags, usable_folder

if TYPE_CHECKING:
    import pyopencl as cl

#: A name to tell PoCL, or `OFF`.
CPU_VARIABLE = "RESERVOIR_POCL_CPU"
OFF = "off"

#: What PoCL says of a processor that its LLVM does not know.
UNKNOWN = "generic"
#: Of 64-bit processors that LLVM 14 compiles for.
_NAMES = """
    x86-64 x86-64-v2 x86-64-v3 x86-64-v4 nocona core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell
    skylake skylake-avx512 cascadelake cooperlake cannonlake icelake-client icelake-server tigerlake rocketlake
    alderlake sapphirerapids bonnell silvermont goldmont goldmont-plus tremont knl knm k8 k8-sse3 amdfam10 btver1
    btver2 bdver1 bdver2 bdver3 bdver4 znver1 znver2 znver3
"""
NAMES = frozenset(_NAMES.split())
#: The first whose instructions the processor has is told, of those that the compiler uses unasked, in Linux' words.
_AVX2 = frozenset(["avx2", "fma", "bmi1", "bmi2", "f16c", "abm", "movbe", "popcnt"])
_AVX512 = _AVX2 | {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}
_ICELAKE = "avx512ifma avx512vbmi avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq gfni vaes vpclmulqdq"
_NEAREST = {
    "icelake-server": _AVX512.union(_ICELAKE.split()),
    "skylake-avx512": _AVX512,
    "znver3": _AVX2 | {"sse4a", "vaes", "vpclmulqdq"},
    "znver2": _AVX2 | {"sse4a"},
    "alderlake": _AVX2 | {"avx_vnni", "vaes", "vpclmulqdq", "gfni"},
    "haswell": _AVX2,
    "nehalem": frozenset({"sse4_2", "popcnt", "cx16"}),
}

#: Names with AVX-512. PoCL's own for the first processors of AMD that have it is ``znver3``, which leaves it unused.
_WIDER = """
    skylake-avx512 cascadelake cooperlake cannonlake icelake-client icelake-server tigerlake rocketlake
    sapphirerapids x86-64-v4 knl knm
"""
_WITH_AVX512 = frozenset(_WIDER.split())

#: The library of pocl-binary-distribution 3.0, and where its description of a device points to these words.
_LIBRARY_BYTES = 108_599_272
_LIBRARY_SHA256 = "d214aece60df73c75d8a678d33e4a51f4e5b594772dc74891b5451f909db6025"
_TARGET_AT, _NAME_AT = 632, 640
_TARGET = "x86_64-unknown-linux-gnu"
_POINTER_BYTES, _LONGEST_WORD = 8, 32

#: Texts that PoCL points to: they live as long as the process.
_texts: dict[str, ctypes.Array[ctypes.c_char]] = {}


def name_asked() -> str:
    """What the user asks for: a name, `OFF`, or nothing."""
    return os.environ.get(CPU_VARIABLE, "").strip().lower()


@cache
def wished_name() -> str:
    """The name that PoCL should have here: the one asked for, else the nearest by the processor's own flags."""
    asked = name_asked()
    if asked or sys.platform != "linux" or platform.machine() != "x86_64":
        return asked if asked in (UNKNOWN, *NAMES) else ""
    flags = processor_flags()
    return next((name for name, needed in _NEAREST.items() if needed <= flags), "")


def mistake_of_variable() -> Mistake | None:
    """What is wrong with the name asked for."""
    asked = name_asked()
    if not asked or asked == OFF or asked in (UNKNOWN, *NAMES):
        return None
    expected = f"{OFF}, or a processor that PoCL's compiler knows: {', '.join(sorted(NAMES))}"
    return Mistake("PoCL knows no such processor", expected, "unset it", column=CPU_VARIABLE, value=asked)


@cache
def own_name(address: int) -> str:
    """The name that PoCL itself gave a device, the object at an address; empty where there is none to read."""
    try:
        return _word_at(address + _NAME_AT) if _word_at(address + _TARGET_AT) == _TARGET else ""
    except (OSError, OverflowError, ValueError):
        return ""


def name_to_tell(device: cl.Device) -> str:
    """The name that a device of PoCL is to be told; empty where it keeps its own, or its library is another."""
    if not _wheels_library(device):
        return ""
    own, wished = own_name(device.int_ptr), wished_name()
    wider = wished in _WITH_AVX512 and own not in _WITH_AVX512
    return wished if own == UNKNOWN or (own in NAMES and (wider or name_asked())) else ""


def tell_name(device: cl.Device, name: str, *, by_hash: bool = False) -> str:
    """Tell PoCL the name of a device's processor, before the first context on it, and say why that cannot be.

    Parameters
    ----------
    device : pyopencl.Device
    name : str
        What `name_to_tell` returns.
    by_hash : bool
        Whether to read the whole library; otherwise that was done when the name was tried.
    """
    library = _wheels_library(device)
    if not library or not own_name(device.int_ptr):
        return "this PoCL is not that of the wheel pocl-binary-distribution 3.0"
    text = _texts.setdefault(name, ctypes.create_string_buffer(name.encode()))
    try:
        if by_hash and hashlib.sha256(Path(library).read_bytes()).hexdigest() != _LIBRARY_SHA256:
            return f"{library} is not that of the wheel pocl-binary-distribution 3.0"
        with open(_MEMORY, "r+b", buffering=0) as memory:
            pointer = ctypes.addressof(text).to_bytes(_POINTER_BYTES, sys.byteorder)
            os.pwrite(memory.fileno(), pointer, device.int_ptr + _NAME_AT)
        written = _word_at(device.int_ptr + _NAME_AT)
    except OSError as error:
        return f"PoCL's name of the processor cannot be written: {error}"
    return "" if written == name else f"PoCL's name of the processor is {written}, and not {name}"


@cache
def _wheels_library(device: cl.Device) -> str:
    """The file that a device's driver lies in, if it may be the wheel's and is the one mapped here; else nothing."""
    driver = driver_of(device.platform)
    try:
        library = os.path.realpath(driver.library) if driver else ""
        if os.stat(library).st_size != _LIBRARY_BYTES:
            return ""
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:
            mapped = any(line.rstrip("\n").endswith(f" {library}") for line in lines)
        return library if mapped else ""
    except (OSError, ValueError):
        return ""


#: The memory of this process, where a wrong address is an error and no end.
_MEMORY = "/proc/self/mem"


def _word_at(address: int) -> str:
    """The text that a pointer at an address points to: a word, or nothing."""
    with open(_MEMORY, "rb", buffering=0) as memory:
        pointer = int.from_bytes(os.pread(memory.fileno(), _POINTER_BYTES, address), sys.byteorder)
        text, end, _ = os.pread(memory.fileno(), _LONGEST_WORD, pointer).partition(b"\0")
    return text.decode("ascii") if end else ""


CACHE_VARIABLE = "POCL_CACHE_DIR"
#: Begins the name of a folder of what is built for the processor of a name, see `wished_name`.
_OF_PROCESSOR = "cpu-"
#: In each program's folder: size, time and check sum of its files.
SUMS = "reservoir-sums.json"
#: Of PoCL's files the one that changes at every use.
_USED = "last_accessed"
#: Programs beyond this, the longest unused first, make room.
MOST_BYTES = 128 << 20
#: What was used within it may be in use by another process.
_DAY_SECONDS = 86_400.0
#: What was changed within it may be half written by another process that is at work.
_WRITING_SECONDS = 60.0
#: Locked by every process that uses the folder, for as long as it lives.
_IN_USE = "in-use"
#: That file of each folder, which this process keeps open.
_IN_USE_FILES: dict[Path, int] = {}


@cache
def prepare_driver_cache() -> bool:
    """Tell PoCL where to keep kernels, once and before it is loaded; whether there is such a place.

    Without one PoCL cannot build anything.
    """
    # pyopencl's own cache is a database that breaks every run once it is damaged; drivers keep kernels themselves.
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    asked = os.environ.get(CACHE_VARIABLE, "")
    # PoCL's key of what it keeps has the name that it gave the processor itself, not the one that it is told.
    name = f"{_OF_PROCESSOR}{wished_name()}" if wished_name() else ""
    base = Path(asked).parent if Path(asked).name.startswith(_OF_PROCESSOR) else Path(asked)
    folder = usable_folder(
        str(Path("pocl", name)), str(base / name) if asked else "", CACHE_VARIABLE if asked else "XDG_CACHE_HOME"
    )
    if folder is None:
        return False
    with _alone_in(folder) as alone:
        _remove_damaged(folder, alone=alone)
    os.environ[CACHE_VARIABLE] = str(folder)
    atexit.register(_record, folder, time.time() - _WRITING_SECONDS)
    return True


def forget_driver_cache() -> None:
    """Remove every kernel kept, where what was built from them makes no sense and no other process needs them."""
    folder = os.environ.get(CACHE_VARIABLE)
    if folder:
        with _alone_in(Path(folder)) as alone:
            for program in _programs(Path(folder)) if alone else ():
                shutil.rmtree(program, ignore_errors=True)


@contextmanager
def _alone_in(folder: Path) -> Iterator[bool]:
    """Whether no other process uses the folder; one that begins meanwhile waits. From then on, this one uses it."""
    try:
        import fcntl
    except ImportError:  # no PoCL is installed there
        yield True
        return
    try:
        if folder not in _IN_USE_FILES:
            _IN_USE_FILES[folder] = os.open(folder / _IN_USE, os.O_RDWR | os.O_CREAT, 0o600)
        file = _IN_USE_FILES[folder]
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
    except OSError:  # a file system without locks
        yield False
        return
    try:
        yield alone
    finally:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_SH)


def _programs(folder: Path) -> list[Path]:
    """Programs' folders, ``<two letters>/<the rest of a hash>``."""
    return [Path(program) for program in glob(f"{escape(str(folder))}/??/*/")]


def _remove_damaged(folder: Path, *, alone: bool = True) -> None:
    """Remove what is damaged and, where no other process is at work, what has been unused for longest.

    PoCL ends a process whose program's folder has gone while it builds: of programs that others may be building, files
    are removed, and the folders left.
    """
    room = MOST_BYTES
    now = time.time()
    programs = [(_last_change(program / _USED, program), program) for program in _programs(folder)]
    for used, program in sorted(programs, reverse=True):
        files = _files(program)
        damaged = _damaged(program, files)
        room -= sum(state.st_size for state in files.values())
        if alone and (damaged or (room < 0 and used < now - _DAY_SECONDS)):
            shutil.rmtree(program, ignore_errors=True)
        elif settled := [path for path in damaged if _last_change(path) < now - _WRITING_SECONDS]:
            _remove_files(*settled, program / SUMS)
    # PoCL forgets its drafts.
    _remove_files(*(draft for draft in folder.glob("tempfile_*") if _last_change(draft) < now - _DAY_SECONDS))


def _remove_files(*paths: Path) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


def _damaged(program: Path, files: dict[str, os.stat_result]) -> list[Path]:
    """The files of a program that are not what was recorded, or not whole; or its record, if that is wrong."""
    try:
        recorded = _sums(program)
        damaged = [program / SUMS] if recorded.keys() - files.keys() else []
        for name, state in files.items():
            if name in recorded:
                size, changed, check_sum = recorded[name]
                unchanged = (state.st_size, state.st_mtime_ns) == (size, changed)
                sound = unchanged or zlib.crc32((program / name).read_bytes()) == check_sum
            else:  # of a process that was ended no sums are written: look at least whether the files are whole
                sound = _plausible(program / name)
            if not sound:
                damaged.append(program / name)
    except (OSError, ValueError, TypeError, AttributeError):
        return [program / SUMS]
    return damaged


def _record(folder: Path, since: float = 0.0) -> None:
    """Write the check sums of programs that gained files in this run, which began to use the folder at a time."""
    for program in _programs(folder):
        if _last_change(program / _USED, program) < since:
            continue
        with suppress(OSError, ValueError):
            files = _files(program)
            if files.keys() != _sums(program).keys():
                draft = program / f"{SUMS}.{os.getpid()}"
                sums = {
                    name: (state.st_size, state.st_mtime_ns, zlib.crc32((program / name).read_bytes()))
                    for name, state in files.items()
                }
                draft.write_text(json.dumps(sums), encoding="utf-8")
                draft.replace(program / SUMS)


def _sums(program: Path) -> dict[str, tuple[int, int, int]]:
    try:
        with open(f"{program}/{SUMS}", encoding="utf-8") as file:
            return dict(json.load(file))
    except FileNotFoundError:
        return {}


def _files(program: Path) -> dict[str, os.stat_result]:
    """Files of a program and their states, by path within it: a cache has tens of thousands, looked at by every run."""
    files: dict[str, os.stat_result] = {}
    below = [""]
    while below:
        inner = below.pop()
        with suppress(OSError), os.scandir(f"{program}/{inner}") as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    below.append(f"{inner}{entry.name}/")
                elif entry.name != _USED and not entry.name.startswith(SUMS):
                    with suppress(FileNotFoundError):  # removed by another process
                        files[inner + entry.name] = entry.stat()
    return files


def _last_change(*paths: Path) -> float:
    """When the first of some paths that is there was changed; now if another process has removed all of them."""
    for path in paths:
        with suppress(OSError):
            return os.stat(path).st_mtime
    return time.time()


def _plausible(path: Path) -> bool:
    """Whether a file of machine code or of LLVM's code begins and ends as one."""
    content = path.read_bytes() if path.suffix in (".so", ".bc") else b"-"
    if path.suffix == ".so":
        sections = int.from_bytes(content[40:48], "little") + 64 * int.from_bytes(content[60:62], "little")
        return content[:4] == b"\x7fELF" and len(content) >= sections > 0
    return content[:4] == b"BC\xc0\xde" and len(content) % 4 == 0 if path.suffix == ".bc" else bool(content)
