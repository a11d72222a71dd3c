"""The name of the processor, written where PoCL's wheel keeps it, so that its compiler accepts it.

PoCL 3.0's wheel asks the LLVM within it, of 2022, for the processor's name. For any newer processor that answers
``generic``, which its own compiler refuses ("unknown target CPU 'generic'", PoCL's issue 1049), and there is neither
an option nor an environment variable for another name. PoCL's description of its device has the name as a pointer to
a text, read at every build: pointed to a name that this LLVM knows, everything compiles and runs.

This writes into the memory of a library, so it is done only where that cannot go wrong: the library that the platform
comes from is the wheel's, byte for byte, and mapped in this process; the words beside the name and the name itself are
what they should be, read and written through ``/proc/self/mem``, which answers a wrong address with an error; and a
process of its own has built and run a kernel with the name (`reservoir.opencl.trial`), because a name that promises too
much ends in an illegal instruction. Anything else is left as it is: a driver that then builds nothing is left out.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reservoir.errors import Mistake
from reservoir.opencl.registered import driver_of
from reservoir.runtime import processor_flags

if TYPE_CHECKING:
    import pyopencl as cl

#: A name to tell PoCL, or `OFF`.
VARIABLE = "RESERVOIR_POCL_CPU"
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
    return os.environ.get(VARIABLE, "").strip().lower()


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
    return Mistake("PoCL knows no such processor", expected, "unset it", column=VARIABLE, value=asked)


@cache
def own_name(address: int) -> str:
    """The name that PoCL itself gave a device, the object at an address; empty where there is none to read."""
    try:
        with _Memory() as memory:
            return memory.word(address + _NAME_AT) if memory.word(address + _TARGET_AT) == _TARGET else ""
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
        with _Memory() as memory:
            memory.point(device.int_ptr + _NAME_AT, ctypes.addressof(text))
            told = memory.word(device.int_ptr + _NAME_AT)
    except OSError as error:
        return f"PoCL's name of the processor cannot be written: {error}"
    return "" if told == name else f"PoCL's name of the processor is {told}, and not {name}"


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


class _Memory:
    """Memory of this process, where a wrong address is an error and no end."""

    def __enter__(self) -> _Memory:
        self._file = os.open("/proc/self/mem", os.O_RDWR)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def word(self, address: int) -> str:
        """The text that a pointer at an address points to: a word, or nothing."""
        pointer = int.from_bytes(os.pread(self._file, _POINTER_BYTES, address), sys.byteorder)
        text, end, _ = os.pread(self._file, _LONGEST_WORD, pointer).partition(b"\0")
        return text.decode("ascii") if end else ""

    def point(self, address: int, target: int) -> None:
        """Let the pointer at an address point to a target."""
        os.pwrite(self._file, target.to_bytes(_POINTER_BYTES, sys.byteorder), address)
