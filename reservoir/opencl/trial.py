"""Whether a driver builds and runs a kernel: tried once, in a process that may die, and the verdict kept.

Drivers list devices for which they compile nothing (PoCL for a processor that is newer than its LLVM), end the process
(PoCL without a linker, any by an instruction that the processor lacks), hang, or compute nonsense. Found by the first
kernel of a command, that would be its end; found here, the driver is left out like one that is missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reservoir.errors import shortened
from reservoir.opencl.drivers import driver_of
from reservoir.opencl.pocl import tell_name
from reservoir.runtime import processor, usable_folder, write_at_once

if TYPE_CHECKING:
    import numpy as np
    import pyopencl as cl
    from numpy.typing import NDArray

#: Environment variables that change how kernels are compiled: no trial is made with them.
MEDDLING = ("PYOPENCL_BUILD_OPTIONS", "POCL_EXTRA_BUILD_FLAGS", "POCL_BUILDING", "POCL_PATH_CLANG")

#: As kernels of this program are: vectors by operators, functions by lane. What a compiler makes of it has the widest
#: instructions of the processor that it is told. (Of vectors of 16, PoCL told of none with AVX-512 calls no function as
#: its library, which is chosen by the processor itself, expects to be called.)
_KERNEL = """
__kernel void trial(__global float16 *out, __global const float16 *in, __local float *shared)
{
    const int item = get_local_id(0), items = get_local_size(0);
    union { float16 all; float each[16]; } value, counted;
    value.all = in[get_global_id(0)];
    value.all = value.all * value.all + value.all + 1.0f;
    for (int lane = 0; lane < 16; ++lane) {
        const int whole = (item + 1) << ((int)value.each[lane] & 3);
        counted.each[lane] = popcount(whole) + clz(whole);
        value.each[lane] = sqrt(value.each[lane]);
    }
    shared[item] = value.each[1];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int other = 0; other < items; ++other)
        value.each[0] += shared[other];
    out[get_global_id(0)] = value.all * counted.all;
}
"""
_GROUPS, _ITEMS = 4, 8
_TRIAL = "from reservoir.opencl.trial import try_kernel; try_kernel({platform}, {device}, {name!r})"
_TRIAL_SECONDS = 60.0
_LONGEST_WORDS = 200
_KEPT_AS = "trial-*.json"

_known: dict[str, str] = {}


def why_runs_nothing(device: cl.Device, platform_place: int, place: int, name: str = "") -> str:
    """Say why a device builds or runs no kernel; empty if it does.

    Parameters
    ----------
    device : pyopencl.Device
    platform_place, place : int
        Of the platform among all of them, and of the device among the platform's.
    name : str
        A processor's name that PoCL is to be told, see `pocl`.
    """
    driver = driver_of(device.platform)
    made_for = (device.platform.name, device.platform.version, device.name, device.driver_version, device.version)
    about = (*made_for, _stamp(driver.library if driver else ""), shutil.which("ld"), name, processor(), _KERNEL)
    key = hashlib.sha256(repr(about).encode()).hexdigest()[:32]
    if key not in _known:
        folder = usable_folder("drivers")
        file = folder / _KEPT_AS.replace("*", key) if folder else None
        reason = _kept(file)
        if reason is None:
            reason = _tried(platform_place, place, name)
            if file is not None and reason is not None:
                with suppress(OSError):
                    write_at_once(file, json.dumps({"said": reason}).encode())
        _known[key] = reason or ""
    return _known[key]


def forget_refusals() -> None:
    """Forget which devices ran nothing, so that they are tried again."""
    folder = usable_folder("drivers")
    for file in folder.glob(_KEPT_AS) if folder else ():
        if _kept(file):
            file.unlink(missing_ok=True)


@cache
def finds_linker() -> bool:
    """Whether ``ld`` is on the PATH, where PoCL looks for it."""
    if not os.environ.get("PATH"):
        os.environ["PATH"] = os.defpath  # PoCL looks nowhere else, where a shell would look in the usual places
    return shutil.which("ld") is not None


def try_kernel(platform_place: int, place: int, name: str) -> None:
    """Build and run a kernel in this process, and say so; otherwise end with status 1 and the reason."""
    import numpy as np
    import pyopencl as cl

    warnings.simplefilter("ignore")
    try:
        device = cl.get_platforms()[platform_place].get_devices()[place]
        if name and (refused := tell_name(device, name, by_hash=True)):
            raise OSError(refused)
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        kernel = cl.Program(context, _KERNEL).build().trial
        items = min(_ITEMS, device.max_work_group_size)
        given = np.arange(16 * items * _GROUPS, dtype=np.float32) % 61
        computed = np.zeros_like(given)
        source = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=given)
        target = cl.Buffer(context, cl.mem_flags.READ_WRITE, given.nbytes)
        kernel(queue, (items * _GROUPS,), (items,), target, source, cl.LocalMemory(4 * items))
        cl.enqueue_copy(queue, computed, target)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        print(next((line for line in lines if "error:" in line), lines[0]))
        sys.exit(1)
    if not np.allclose(computed, _expected(given, items), rtol=1e-4):
        print("a kernel of ten lines computes wrong numbers")
        sys.exit(1)


def _expected(given: NDArray[np.float32], items: int) -> NDArray[np.float32]:
    """What the kernel computes."""
    import numpy as np

    value = given.reshape(-1, 16)
    value = value * value + value + 1
    whole = (np.arange(len(value))[:, None] % items + 1) << (value.astype(int) & 3)
    counted = np.array([[32 - f"{each:b}".count("0") for each in row] for row in whole.tolist()], np.float32)
    value = np.sqrt(value)
    value[:, 0] += np.repeat(value[:, 1].reshape(-1, items).sum(axis=1), items)
    return (value * counted).ravel()


def _tried(platform_place: int, place: int, name: str) -> str | None:
    """What a process that tries a device says; empty if all is well, None where no process can be started."""
    code = _TRIAL.format(platform=platform_place, device=place, name=name)
    surroundings = {key: value for key, value in os.environ.items() if key not in MEDDLING}
    try:
        with tempfile.TemporaryDirectory(prefix="reservoir-") as empty:
            finished = subprocess.run(
                [sys.executable, "-c", code],
                env=surroundings
                | {
                    "POCL_CACHE_DIR": empty,
                    "PYOPENCL_NO_CACHE": "1",
                    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                },
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TRIAL_SECONDS,
            )
    except subprocess.TimeoutExpired:
        return f"a kernel of ten lines was not done within {_TRIAL_SECONDS:.0f} s"
    except (OSError, subprocess.SubprocessError):
        return None
    if finished.returncode == 0:
        return ""
    last_line = (finished.stdout.strip() or finished.stderr.strip()).splitlines()[-1:]
    ended = "" if finished.returncode > 0 else f"it ends the process by {signal.Signals(-finished.returncode).name}"
    return shortened(": ".join(filter(None, (ended, *last_line))), _LONGEST_WORDS) or "the process ended"


def _kept(file: Path | None) -> str | None:
    with suppress(OSError, ValueError, TypeError, KeyError):
        reason = json.loads(file.read_text(encoding="utf-8"))["said"] if file else None
        return reason if isinstance(reason, str) else None
    return None


def _stamp(library: str) -> tuple[str, int, int]:
    """A driver's file as it is now: once another is installed, it is tried again."""
    try:
        state = os.stat(library)
    except (OSError, ValueError):
        return library, 0, 0
    return library, state.st_size, state.st_mtime_ns
