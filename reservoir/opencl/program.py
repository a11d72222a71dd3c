"""Assemble an OpenCL program from definitions and kernel files, and build it once per device, in its one context."""

from __future__ import annotations

import hashlib
import math
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from numbers import Integral
from pathlib import Path
from threading import Lock
from types import TracebackType
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


def context_of(device: DeviceInfo) -> cl.Context:
    """Make a device's context once, so that what is built in it is built once, and all threads have the same."""
    with _MAKING:
        return _made(device)


@cache
def _made(device: DeviceInfo) -> cl.Context:
    import pyopencl as cl

    return cl.Context([device.device])


class explained:
    """Turn a driver's error inside the block into one that says which step of ours it refused.

    A class and no generator: it stands around every launch, of which there are tens of thousands.

    Parameters
    ----------
    device : DeviceInfo
    action : str or callable
        Such as ``"upload inflow"``; or what makes the words, if they are needed.

    Raises
    ------
    DeviceError
        Naming the device and the action.
    """

    def __init__(self, device: DeviceInfo, action: str | Callable[[], str]) -> None:
        self._device, self._action = device, action

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Explain an error of OpenCL."""
        if error is None:
            return
        import pyopencl as cl

        if isinstance(error, cl.Error):
            action = self._action if isinstance(self._action, str) else self._action()
            raise DeviceError(f"{self._device.name} could not {action}: {error}") from error


#: Files beyond this, the longest unused first, make room.
MOST_BYTES = 128 << 20
_SUM_BYTES = 32


def kept_program(device: DeviceInfo, source: str, options: tuple[str, ...], context: cl.Context) -> cl.Program | None:
    """The program that an earlier run built of a source, to be built once more; None if none is kept."""
    import pyopencl as cl

    file = _file(device, source, options)
    if file is None:
        return None
    try:
        content = file.read_bytes()
        binary = content[_SUM_BYTES:]
        if content[:_SUM_BYTES] != hashlib.sha256(binary).digest():
            return None
        file.touch()  # used last
        return cl.Program(context, [device.device], [binary])
    except (OSError, cl.Error):
        return None


def keep_program(device: DeviceInfo, source: str, options: tuple[str, ...], program: cl.Program) -> None:
    """Keep a program that was built of a source, if its driver does not."""
    import pyopencl as cl

    file = _file(device, source, options)
    if file is None:
        return
    binaries: Any = program.get_info(cl.program_info.BINARIES)  # type: ignore[no-untyped-call]
    binary: bytes = binaries[0]
    with suppress(OSError):
        _make_room(file.parent, len(binary))
        write_at_once(file, hashlib.sha256(binary).digest() + binary)


def _file(device: DeviceInfo, source: str, options: tuple[str, ...]) -> Path | None:
    """Where the program of a source is kept; None where its driver keeps it, or nothing can be written."""
    if not device.intel_cpu:
        return None
    folder = usable_folder("programs")
    if folder is None:
        return None
    made_for = device.platform, device.name, device.driver, device.version, processor(), options, source
    return folder / hashlib.sha256(repr(made_for).encode()).hexdigest()


def _make_room(folder: Path, needed: int) -> None:
    found = [(file.stat().st_mtime, file.stat().st_size, file) for file in folder.iterdir()]
    room = MOST_BYTES - needed
    for _, size, file in sorted(found, reverse=True):
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
    return "\n".join([*defined, *(_piece(file) for file in dict.fromkeys(files))])


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


#: One thread builds at a time: what Python does with warnings is the same for all threads.
_BUILDING = Lock()


@lru_cache(maxsize=64)
def _build_once(device: DeviceInfo, source: str, options: tuple[str, ...]) -> BuiltProgram:
    import pyopencl as cl

    program, refusal = _compiled(device, source, options)
    if program is None or not program.kernel_names:
        # What was kept of an earlier build may be damaged: once more, from nothing.
        forget_driver_cache()
        program, refusal = _compiled(device, f"{source}\n// again", options)
    if program is None:
        raise _build_failure(device, source, str(refusal)) from refusal
    log = str(program.get_build_info(device.device, cl.program_build_info.LOG))  # type: ignore[no-untyped-call]
    return BuiltProgram(device, tuple(program.kernel_names.split(";")), log.strip(), program)


def _compiled(device: DeviceInfo, source: str, options: tuple[str, ...]) -> tuple[cl.Program | None, cl.Error | None]:
    """Build a program; where it does not build, why."""
    import pyopencl as cl

    kept = kept_program(device, source, options, context_of(device))
    program = kept or cl.Program(context_of(device), source)
    try:
        with _BUILDING, warnings.catch_warnings():
            # The compiler's remarks are kept in BuiltProgram.log instead.
            warnings.simplefilter("ignore", cl.CompilerWarning)
            program.build(options)
    except cl.Error as error:
        return None, error
    if kept is None:
        keep_program(device, source, options, program)
    return program, None


def _build_failure(device: DeviceInfo, source: str, message: str) -> DeviceError:
    lines = message.splitlines()
    first = next((row for row, line in enumerate(lines) if "error:" in line), 0)
    place = _ERROR_LINE.match(lines[first]) if lines else None
    file, row = _in_file(source, place["file"], int(place["row"])) if place else ("", None)
    # Remarks before the first error and pyopencl's own words after the log would bury the cause.
    said = [shortened(line, _LONGEST_LINE) for line in lines[first:] if line and not line.startswith("(")]
    more = [f"({len(said) - _LONGEST_LOG} more lines)"] if len(said) > _LONGEST_LOG else []
    shown = [f"the kernel does not compile for {device.name}; compiler output", *said[:_LONGEST_LOG], *more]
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


@cache
def _piece(file: str) -> str:
    return f'// file: {file}\n#line 1 "{file}"\n{runtime.package_text("kernels", file)}'
