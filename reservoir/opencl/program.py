"""Assemble an OpenCL program from definitions and kernel files, and build it once per device, in its one context."""

from __future__ import annotations

import hashlib
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from reservoir import runtime
from reservoir.errors import DeviceError, shortened
from reservoir.opencl.devices import DeviceInfo
from reservoir.opencl.pocl import forget_driver_cache
from reservoir.opencl.trial import MEDDLING
from reservoir.runtime import processor, usable_folder, write_at_once

if TYPE_CHECKING:
    import pyopencl as cl

#: Held while a context is made: threads with one each would hand kernels the buffers of another.
_MAKING = Lock()
_CONTEXTS: dict[DeviceInfo, cl.Context] = {}


def context_of(device: DeviceInfo) -> cl.Context:
    """Make a device's context once, so that what is built in it is built once, and all threads have the same."""
    import pyopencl as cl

    with _MAKING:
        if device not in _CONTEXTS:
            _CONTEXTS[device] = cl.Context([device.device])
        return _CONTEXTS[device]


@contextmanager
def explained(device: DeviceInfo, action: str) -> Iterator[None]:
    """Turn a driver's error inside the block into one that says which step of ours it refused.

    Raises
    ------
    DeviceError
        Naming the device and the action, such as ``"upload inflow"``.
    """
    import pyopencl as cl

    try:
        yield
    except cl.Error as error:
        raise DeviceError(f"{device.name} could not {action}: {error}") from error


#: Files beyond this, the longest unused first, make room.
MOST_BYTES = 128 << 20
_SUM_BYTES = 32


def kept_program(device: DeviceInfo, file: Path, context: cl.Context) -> cl.Program | None:
    """The program that an earlier run kept in a file, to be built once more; None if it is not there, or damaged."""
    import pyopencl as cl

    try:
        content = file.read_bytes()
        binary = content[_SUM_BYTES:]
        if content[:_SUM_BYTES] != hashlib.sha256(binary).digest():
            return None
        file.touch()  # used last
        return cl.Program(context, [device.device], [binary])
    except (OSError, cl.Error):
        return None


def keep_program(file: Path, program: cl.Program) -> None:
    """Keep a program that was built."""
    import pyopencl as cl

    binaries: Any = program.get_info(cl.program_info.BINARIES)  # type: ignore[no-untyped-call]
    binary: bytes = binaries[0]
    with suppress(OSError):
        _make_room(file.parent, len(binary))
        write_at_once(file, hashlib.sha256(binary).digest() + binary)


def file_of_program(device: DeviceInfo, source: str, options: tuple[str, ...]) -> Path | None:
    """Where the program of a source is kept; None where its driver keeps it, or nothing can be written."""
    folder = usable_folder("programs") if device.intel_cpu else None
    made_for = device.platform, device.name, device.driver, device.version, processor(), options, source
    return folder / hashlib.sha256(repr(made_for).encode()).hexdigest() if folder else None


def _make_room(folder: Path, needed: int) -> None:
    kept = [(file.stat().st_mtime, file.stat().st_size, file) for file in folder.iterdir()]
    room = MOST_BYTES - needed
    for _, size, file in sorted(kept, reverse=True):
        room -= size
        if room < 0:
            file.unlink()


#: Infinity is used as a value, so -cl-finite-math-only is not among them. Denormals are flushed because decayed
#: velocities become denormal, which a CPU handles a hundred times slower.
DEFAULT_OPTIONS = ("-cl-std=CL1.2", "-cl-mad-enable", "-cl-no-signed-zeros", "-cl-denorms-are-zero")
#: Options of code whose every operation rounds as IEEE 754 says, without which no bound of a rounding error holds.
OPTIONS_AS_WRITTEN = ("-cl-std=CL1.2",)

_LONGEST_LOG = 20
_LONGEST_LINE = 400
#: Both "error: file:3:5: words" (PoCL) and "file:3:5: error: words" (other compilers built on clang).
_LINE_MARK = re.compile(r'#line (?P<row>\d+) "(?P<file>[^"]+)"')
_ERROR_LINE = re.compile(r"(?:(?:fatal )?error: )?(?P<file>[^\s:]+):(?P<row>\d+):(?:\d+:)? .+")


def literal(value: int | float | str) -> str:
    """Write a value as OpenCL C source: a float as the float32 next to it, to the last bit; text as it stands.

    Raises
    ------
    ValueError
        If a finite number is too large for float32.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Integral):
        return f"({int(value)})" if value < 0 else str(int(value))
    value = float(value)
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    if abs(value) > float(np.finfo(np.float32).max):
        raise ValueError(f"{value!r} does not fit into float32")
    # numpy writes the shortest decimal that reads back as the same float32.
    digits = f"{np.float32(value)!s}f"
    return f"({digits})" if digits.startswith("-") else digits


def assemble(files: Sequence[str], definitions: Mapping[str, int | float | str]) -> str:
    """Join definitions and kernel files into one source; equal arguments give equal text.

    Parameters
    ----------
    files : sequence of str
        Names under ``kernels/`` in the order they need; a file named twice stands once, at its first place.
    definitions : mapping of str to int, float or str
        Becomes ``#define NAME value`` before the first file, see `literal`.

    Raises
    ------
    ReservoirError
        If a file is missing.
    ValueError
        If a name is no C identifier, or a number does not fit into float32.
    """
    for name in definitions:
        if not (name.isidentifier() and name.isascii()):
            raise ValueError(f"{name!r} is not a C identifier")
    defined = [f"#define {name} {literal(value)}" for name, value in sorted(definitions.items())]
    texts = {file: runtime.package_text("kernels", file) for file in files}
    return "\n".join([*defined, *(f'// file: {file}\n#line 1 "{file}"\n{text}' for file, text in texts.items())])


@dataclass(frozen=True, eq=False)
class BuiltProgram:
    """A program compiled for one device.

    Parameters
    ----------
    device : DeviceInfo
        What it was built for.
    kernels : tuple of str
        The kernels it holds.
    log : str
        What the compiler said, although it succeeded; empty if nothing.
    program : pyopencl.Program
        The program itself.
    """

    device: DeviceInfo
    kernels: tuple[str, ...]
    log: str
    program: cl.Program = field(repr=False)

    def kernel(self, name: str) -> cl.Kernel:
        """Make a kernel object with arguments of its own: threads may share a program but not a kernel.

        Raises
        ------
        DeviceError
            If the program has no kernel of that name.
        """
        import pyopencl as cl

        if name not in self.kernels:
            raise DeviceError(f"the program has no kernel {name}", expected=", ".join(self.kernels))
        return cl.Kernel(self.program, name)


def build(device: DeviceInfo, source: str, options: Sequence[str] = (), *, as_written: bool = False) -> BuiltProgram:
    """Compile a source for a device, or hand back the program that this process built from it before.

    Parameters
    ----------
    device : DeviceInfo
        From `choose_device`.
    source : str
        From `assemble`.
    options : sequence of str
        Compiler options to add to `DEFAULT_OPTIONS`, or in place of theirs of the same name.
    as_written : bool
        Whether every operation stays and rounds as it is written: with `OPTIONS_AS_WRITTEN` for `DEFAULT_OPTIONS`.

    Raises
    ------
    DeviceError
        If it does not compile: with the file, the row and what the compiler says.
    """
    given = [option.partition("=")[0] for option in options]
    defaults = OPTIONS_AS_WRITTEN if as_written else DEFAULT_OPTIONS
    usual = [option for option in defaults if option.partition("=")[0] not in given]
    return _build_once(device, source, (*usual, *options))


#: One thread builds at a time: a driver's compiler need not bear two.
_BUILDING = Lock()
#: Told which device a program is built for, and whether it is ready.
Tell = Callable[[str, bool], None]
_LISTENERS: list[Tell] = []


@contextmanager
def builds_told(tell: Tell) -> Iterator[None]:
    """Tell which programs are built during a block, by any thread; nothing of what is kept on the disk."""
    _LISTENERS.append(tell)
    try:
        yield
    finally:
        _LISTENERS.remove(tell)


@contextmanager
def _announced(device: DeviceInfo) -> Iterator[None]:
    for ready in (False, True):
        for tell in _LISTENERS:
            tell(device.name, ready)
        if not ready:
            yield


# What a compiler remarks is kept in BuiltProgram.log. For good, and not around a build: Python's list of what to ignore
# is the same for all threads, and one that compiles meanwhile puts back the list that it found.
warnings.filterwarnings("ignore", "Non-empty compiler output")


@lru_cache(maxsize=64)
def _build_once(device: DeviceInfo, source: str, options: tuple[str, ...]) -> BuiltProgram:
    import pyopencl as cl

    refusal: cl.Error | None = None
    for text in (source, f"{source}\n// again"):
        if text != source:  # what was kept of an earlier build may be damaged: once more, from nothing
            forget_driver_cache()
        file = file_of_program(device, text, options)
        kept = kept_program(device, file, context_of(device)) if file else None
        program = kept or cl.Program(context_of(device), text)
        try:
            with _BUILDING, nullcontext() if kept else _announced(device):
                program.build(options)
        except cl.Error as error:
            refusal = error
        else:
            refusal = None
            if file and kept is None:
                keep_program(file, program)
            if program.kernel_names:
                break
    if refusal is not None:
        raise _build_failure(device, source, str(refusal)) from refusal
    log = str(program.get_build_info(device.device, cl.program_build_info.LOG))  # type: ignore[no-untyped-call]
    return BuiltProgram(device, tuple(program.kernel_names.split(";")), log.strip(), program)


def _build_failure(device: DeviceInfo, source: str, message: str) -> DeviceError:
    lines = message.splitlines()
    first = next((row for row, line in enumerate(lines) if "error:" in line), 0)
    place = _ERROR_LINE.match(lines[first]) if lines else None
    file, row = _in_file(source, place["file"], int(place["row"])) if place else ("", None)
    # Remarks before the first error and pyopencl's own words after the log would bury the cause.
    shown = [shortened(line, _LONGEST_LINE) for line in lines[first:] if line and not line.startswith("(")]
    more = [f"({len(shown) - _LONGEST_LOG} more lines)"] if len(shown) > _LONGEST_LOG else []
    shown = [f"the kernel does not compile for {device.name}; compiler output", *shown[:_LONGEST_LOG], *more]
    meddling = [name for name in MEDDLING if os.environ.get(name)]
    driver = f"the driver of {device.platform} ({device.driver}; needs OpenCL C 1.2, has {device.version})"
    mend = f"unset {' and '.join(meddling)}" if meddling else f"update {driver}, or choose another device"
    return DeviceError("\n".join(shown), file=file, row=row, mend=mend)


def _in_file(source: str, file: str, row: int) -> tuple[str, int]:
    """Which row of which file a compiler means: NVIDIA's takes no note of ``#line``, and counts the whole program."""
    if not file.startswith("<"):
        return file, row
    for above in range(row - 1, 0, -1):
        begins = _LINE_MARK.match(source.splitlines()[above - 1])
        if begins:
            return begins["file"], int(begins["row"]) + row - above - 1
    return file, row
