"""Whether a device's OpenCL guarantees ordered memory access between the work groups of a launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reservoir.opencl.devices import DeviceInfo

#: Features of OpenCL C 3.0 that OpenCL C 2.0 has throughout.
_FEATURES = frozenset({"__opencl_c_atomic_order_acq_rel", "__opencl_c_atomic_scope_device"})


@dataclass(frozen=True)
class Ordering:
    """How groups order what they write for each other, as ``kernels/common/sync/grid.cl`` takes it.

    Parameters
    ----------
    ptx : bool
        By a fence of PTX.
    language : str
        Version of OpenCL C whose atomic numbers and fences have the scope of the device, such as ``"CL3.0"``; empty if
        the device has none.
    """

    ptx: bool
    language: str

    @property
    def promised(self) -> bool:
        """Whether there is any."""
        return self.ptx or bool(self.language)

    def constants(self, waits: bool) -> dict[str, int]:
        """Macros of a program; `waits` if groups wait for each other in it, or read what others write meanwhile."""
        return {"PTX": int(self.ptx), "SCOPED": int(waits and not self.ptx and bool(self.language))}

    def options(self, waits: bool) -> Sequence[str]:
        """Compiler options of such a program."""
        return [f"-cl-std={self.language}"] if waits and not self.ptx and self.language else []


def ordering_of(device: DeviceInfo) -> Ordering:
    """What a device promises; OpenCL C 1.2 alone promises nothing."""
    return Ordering(_speaks_ptx(device), _scoped_language(device))


def _speaks_ptx(device: DeviceInfo) -> bool:
    import pyopencl as cl

    try:
        return device.warps or int(device.device.compute_capability_major_nv) > 0
    except (AttributeError, cl.Error):
        return False


def _scoped_language(device: DeviceInfo) -> str:
    import pyopencl as cl

    try:
        version = device.device.opencl_c_version.split()[2]
        if version.startswith("2."):
            return "CL2.0"
        if not device.version.startswith("OpenCL 3."):
            return ""
        features = {feature.name for feature in device.device.opencl_c_features}
        versions = {each.version >> 22 for each in device.device.opencl_c_all_versions}  # the major one
    except (AttributeError, IndexError, cl.Error):
        return ""
    return "CL3.0" if features >= _FEATURES and 3 in versions else ""
