"""OpenCL: choose a device, assemble and build a program, run it over named buffers; independent of reservoirs."""

from reservoir.opencl.devices import (
    DeviceInfo,
    Ordering,
    choose_device,
    choose_devices,
    left_out,
    list_devices,
    opencl_available,
    ordering_of,
    why_unavailable,
)
from reservoir.opencl.program import BuiltProgram, assemble, build, literal
from reservoir.opencl.session import HostClock, Session, require_local, require_memory

__all__ = [
    "BuiltProgram",
    "DeviceInfo",
    "HostClock",
    "Ordering",
    "Session",
    "assemble",
    "build",
    "choose_device",
    "choose_devices",
    "left_out",
    "list_devices",
    "literal",
    "opencl_available",
    "ordering_of",
    "require_local",
    "require_memory",
    "why_unavailable",
]
