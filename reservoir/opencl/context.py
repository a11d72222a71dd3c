"""The one context that a process keeps for a device, and what to say when its driver refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from reservoir.errors import DeviceError, Mistake
from reservoir.opencl.devices import DeviceInfo

if TYPE_CHECKING:
    import pyopencl as cl


@cache
def context_of(device: DeviceInfo) -> cl.Context:
    """Make a device's context once, so that what is built in it is built once."""
    import pyopencl as cl

    return cl.Context([device.device])


@contextmanager
def explained(device: DeviceInfo, action: str) -> Iterator[None]:
    """Turn a driver's error inside the block into one that says which step of ours it refused.

    Raises
    ------
    DeviceError
        Naming the device and the action, e.g. ``"upload inflow"``.
    """
    import pyopencl as cl

    try:
        yield
    except cl.Error as error:
        raise DeviceError(Mistake(problem=f"{device.name} could not {action}: {error}")) from error
