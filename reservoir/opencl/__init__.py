"""OpenCL: choose a device, assemble and build a program, run it over named buffers. Knows no reservoirs."""

from reservoir.opencl.devices import DeviceInfo, choose_device, list_devices, opencl_available, why_unavailable
from reservoir.opencl.memory import require_local, require_memory
from reservoir.opencl.program import BuiltProgram, assemble, build, literal
from reservoir.opencl.session import Session

__all__ = [
    "BuiltProgram",
    "DeviceInfo",
    "Session",
    "assemble",
    "build",
    "choose_device",
    "list_devices",
    "literal",
    "opencl_available",
    "require_local",
    "require_memory",
    "why_unavailable",
]
