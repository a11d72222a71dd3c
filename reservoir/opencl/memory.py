"""Check that a device has enough memory before anything is allocated."""

from __future__ import annotations

from collections.abc import Mapping

from reservoir.errors import DeviceError, Mistake
from reservoir.opencl.devices import DeviceInfo


def require_memory(device: DeviceInfo, buffers: Mapping[str, int]) -> None:
    """Refuse buffers that are too large for a device, singly or together.

    Parameters
    ----------
    device : DeviceInfo
        Where they would be.
    buffers : mapping of str to int
        Bytes of each buffer, by name: all that the device would hold at a time.

    Raises
    ------
    DeviceError
        With the bytes needed, the bytes there are, and what to reduce.
    """
    if not buffers:
        return
    largest, total = max(buffers, key=lambda name: buffers[name]), sum(buffers.values())
    mend = f"reduce {largest} ({buffers[largest]:,} bytes), the largest buffer, or choose a device with more memory"
    mistakes = []
    if buffers[largest] > device.max_allocation_bytes:
        problem = f"{largest} needs a buffer of {buffers[largest]:,} bytes on {device.name}"
        mistakes.append(Mistake(problem, f"at most {device.max_allocation_bytes:,} bytes", mend))
    if total > device.global_memory_bytes:
        problem = f"{', '.join(buffers)} need {total:,} bytes in total on {device.name}"
        mistakes.append(Mistake(problem, f"at most {device.global_memory_bytes:,} bytes", mend))
    if mistakes:
        raise DeviceError(mistakes)


def require_local(device: DeviceInfo, needed_bytes: int) -> None:
    """Refuse a work group that needs more local memory than a device has.

    Parameters
    ----------
    device : DeviceInfo
        Where the group would run.
    needed_bytes : int
        Local memory of one work group.

    Raises
    ------
    DeviceError
        With the bytes needed and the bytes there are.
    """
    if needed_bytes > device.local_memory_bytes:
        problem = f"a work group needs {needed_bytes:,} bytes of local memory on {device.name}"
        mend = "choose a device with more local memory (see `reservoir devices --json`), or another solver"
        raise DeviceError(Mistake(problem, f"at most {device.local_memory_bytes:,} bytes", mend))
