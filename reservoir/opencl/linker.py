"""Whether PoCL can link what it compiles: without a linker it ends the process without an error message."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache

#: Builds a kernel that is in no cache.
_TRIAL = """
import pyopencl as cl
platform = next(each for each in cl.get_platforms() if each.name.strip().lower() == "portable computing language")
context = cl.Context(platform.get_devices()[:1])
kernel = cl.Program(context, "__kernel void trial(__global int *out) { out[get_global_id(0)] = 1; }").build().trial
out = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4)
queue = cl.CommandQueue(context)
kernel(queue, (1,), (1,), out)
queue.finish()
"""
_TRIAL_SECONDS = 60.0


@cache
def pocl_links() -> bool:
    """Whether PoCL finds a linker: ``ld`` on the PATH, or one of its own, which a process that may die tries."""
    if not os.environ.get("PATH"):
        os.environ["PATH"] = os.defpath  # PoCL looks nowhere else, where a shell would look in the usual places
    return shutil.which("ld") is not None or _links_in_a_process()


def _links_in_a_process() -> bool:
    try:
        with tempfile.TemporaryDirectory(prefix="reservoir-") as empty:
            finished = subprocess.run(
                [sys.executable, "-c", _TRIAL],
                env={**os.environ, "POCL_CACHE_DIR": empty, "PYOPENCL_NO_CACHE": "1"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRIAL_SECONDS,
            )
    except (OSError, subprocess.SubprocessError):
        return False
    return finished.returncode == 0
