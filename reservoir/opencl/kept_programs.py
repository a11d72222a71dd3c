"""Compiled programs of drivers that keep none: Intel's for CPUs would compile for some ten seconds at every start.

A driver loads what is kept as machine code: a file is used only if its check sum is right, for the driver, the device
and the processor that it was made for.
"""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reservoir.caches import usable_folder

if TYPE_CHECKING:
    import pyopencl as cl

    from reservoir.opencl.devices import DeviceInfo

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
        descriptor, draft = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(hashlib.sha256(binary).digest() + binary)
        os.replace(draft, file)


def _file(device: DeviceInfo, source: str, options: tuple[str, ...]) -> Path | None:
    """Where the program of a source is kept; None where its driver keeps it, or nothing can be written."""
    if not device.intel_cpu:
        return None
    folder = usable_folder("programs")
    if folder is None:
        return None
    made_for = device.platform, device.name, device.driver, device.version, processor(), options, source
    return folder / hashlib.sha256(repr(made_for).encode()).hexdigest()


def processor_flags() -> frozenset[str]:
    """The instructions that the processor has, in the system's words; empty where it has no file of them."""
    lines = dict(line.partition(":")[::2] for line in processor().splitlines())
    return frozenset(next((words for name, words in lines.items() if name.strip() == "flags"), "").split())


@cache
def processor() -> str:
    """What instructions the processor has, in whatever words the system has for them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return "\n".join([line for line in lines if line.startswith(("model name", "flags", "Features"))][:2])


def _make_room(folder: Path, needed: int) -> None:
    found = [(file.stat().st_mtime, file.stat().st_size, file) for file in folder.iterdir()]
    room = MOST_BYTES - needed
    for _, size, file in sorted(found, reverse=True):
        room -= size
        if room < 0:
            file.unlink()
