"""List the OpenCL devices and choose among them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reservoir.errors import DeviceError, Mistake, shortened
from reservoir.opencl.drivers import broken_drivers, install_words, mend_of_driver, name_own_driver
from reservoir.opencl.pocl import (
    CACHE_VARIABLE,
    CPU_VARIABLE,
    mistake_of_variable,
    name_asked,
    name_to_tell,
    prepare_driver_cache,
    tell_name,
)
from reservoir.opencl.trial import finds_linker, why_runs_nothing
from reservoir.runtime import note

if TYPE_CHECKING:
    import pyopencl as cl

#: Names the device that ``auto`` stands for.
ENVIRONMENT_VARIABLE = "RESERVOIR_DEVICE"

#: Stand for the best device, and for every device of its platform and kind.
AUTO, ALL = "auto", "all"

#: Kinds of device, the one that ``auto`` prefers first.
KINDS = ("GPU", "accelerator", "CPU")

#: Compute capability (Volta) from which items of a warp need not go in step, and synchronise by instructions.
_FIRST_WITH_WARP_INSTRUCTIONS = 7

_POCL, _INTEL = "portable computing language", "intel(r) opencl"

#: CPU drivers in the order in which ``auto`` prefers them: kernels run faster on the first (docs/how-to/devices.md).
_CPU_DRIVERS = (_INTEL, _POCL)

#: Drivers that run no kernel, and what was said of what is left out.
_refusals: dict[Mistake, None] = {}
_told: set[Mistake] = set()

#: Calls itself a GPU, and interprets kernels a thousand times slower than a CPU runs them.
_SIMULATOR = "oclgrind"

_INSTALL = install_words()
_CHECK = "check that the hardware is present and that the driver supports it (see `clinfo`)"


@dataclass(frozen=True)
class DeviceInfo:
    """One OpenCL device, as its driver describes it.

    Parameters
    ----------
    index : int
        Its place in `list_devices`.
    platform, name, driver, version : str
        Of the platform, the device, its driver, and the OpenCL it speaks.
    kind : str
        One of `KINDS`.
    compute_units, max_work_group_size, native_float_width : int
        Parallel units, work items a group may have, and floats that one instruction handles.
    sub_group_size : int
        Work items that go in step: a warp of NVIDIA, a wavefront of AMD; 1 on a CPU, or where a driver does not tell.
    warps : bool
        A CUDA device that synchronises a warp, and exchanges its registers, by instructions of PTX.
    local_memory_bytes, global_memory_bytes, max_allocation_bytes : int
        Memory of a work group, of the whole device, and the largest single buffer.
    device : pyopencl.Device
        The device itself; takes no part in comparison.
    """

    index: int
    platform: str
    name: str
    kind: str
    driver: str
    version: str
    compute_units: int
    max_work_group_size: int
    native_float_width: int
    sub_group_size: int
    warps: bool
    local_memory_bytes: int
    global_memory_bytes: int
    max_allocation_bytes: int
    device: cl.Device = field(repr=False, compare=False)

    @property
    def intel_cpu(self) -> bool:
        """Whether the device is a CPU by Intel's driver."""
        return self.kind == "CPU" and self.platform.lower() == _INTEL

    def __str__(self) -> str:
        """Name the device as a user would look for it."""
        return f"{self.index} = {self.name} ({self.kind}, {self.platform})"


def list_devices() -> list[DeviceInfo]:
    """List every usable device of every platform, in the drivers' order; empty where OpenCL is missing."""
    return _survey()[0]


def opencl_available() -> bool:
    """Tell whether at least one OpenCL device can be used; a driver that runs nothing is noted."""
    devices = list_devices()
    _note_refusals()
    return bool(devices)


def why_unavailable() -> str:
    """Say why no OpenCL device can be used; empty if one can."""
    devices, left_out = _survey()
    if devices:
        return ""
    _told.add(left_out[0])
    return left_out[0].problem


def left_out() -> list[Mistake]:
    """What keeps OpenCL, or a part of what is installed of it, from being used, and how to mend it."""
    mistakes = list(dict.fromkeys((*_survey()[1], *broken_drivers())))
    _told.update(mistakes)
    return mistakes


def choose_device(wanted: str | None = "auto") -> DeviceInfo:
    """Choose the best device that answers to a name: a GPU before an accelerator before a CPU, then more compute units.

    Of CPU devices with equally many, that of Intel's driver, then PoCL's; then the first in the drivers' order.

    Parameters
    ----------
    wanted : str, optional
        ``"auto"`` (whatever `ENVIRONMENT_VARIABLE` says, else any device), an index of `list_devices`, a kind,
        part of a platform's or a device's name, or parts of both as ``"platform:device"``. Case does not matter,
        and ``"pocl"`` means the Portable Computing Language.

    Raises
    ------
    DeviceError
        If there is no OpenCL, or no device answers to the name.
    """
    devices = _usable()
    asked, origin = _request(wanted)
    if asked.lower() == AUTO:
        _note_refusals()
    answering = [device for device in devices if _answers(device, asked)]
    if not answering:
        problem = f'no OpenCL device matches "{shortened(asked)}"'
        expected = f"an index or a part of a name of: {'; '.join(map(str, devices))}"
        raise DeviceError([Mistake(problem, expected, column=origin), *left_out()])
    return min(answering, key=_rank)


def choose_devices(wanted: str | None = "auto") -> tuple[DeviceInfo, ...]:
    """Choose one device or several to share the work.

    Parameters
    ----------
    wanted : str, optional
        A name as in `choose_device`; names with commas between them; or ``"all"``: every device of the platform and
        kind that ``"auto"`` finds best.

    Raises
    ------
    DeviceError
        If there is no OpenCL, or no device answers to a name.
    """
    asked, origin = _request(wanted)
    if asked.lower() == ALL:
        _note_refusals()
        best = min(_usable(), key=_rank)
        return tuple(each for each in list_devices() if (each.platform, each.kind) == (best.platform, best.kind))
    names = asked.split(",")
    if len(names) > 1 and not all(map(str.strip, names)):  # an empty name would be the best device
        problem, mend = f'a name is missing in "{shortened(asked)}"', "remove the comma, or name a device there"
        raise DeviceError([Mistake(problem, "names with commas between them", mend, column=origin)])
    return tuple(dict.fromkeys(map(choose_device, names))) if len(names) > 1 else (choose_device(wanted),)


def _note_refusals() -> None:
    """Have a command that goes on without a driver say so, unless it has."""
    for mistake in _refusals:
        if mistake not in _told:
            _told.add(mistake)
            note(str(mistake))


def _usable() -> list[DeviceInfo]:
    devices = list_devices()
    if not devices:
        first, *others = left_out()
        raise DeviceError([replace(first, problem=f"OpenCL cannot be used: {first.problem}"), *others])
    return devices


def _survey() -> tuple[list[DeviceInfo], list[Mistake]]:
    """Find the usable devices, and what is left out; if there is no device, why is the first of that."""
    cached = prepare_driver_cache()
    name_own_driver()
    try:
        import pyopencl as cl
    except (ImportError, OSError, RuntimeError) as error:  # the second where the loader of drivers is missing
        return [], [Mistake(f"pyopencl cannot be imported ({error})", mend=_INSTALL)]
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        return [], [Mistake(f"no OpenCL platform is installed ({error})", mend=_INSTALL)]
    usable: list[cl.Device] = []
    left: list[Mistake] = []
    for platform_place, platform in enumerate(platforms):
        name = platform.name.strip()
        if name.lower() == _POCL:
            mistake = mistake_of_variable()
            if not cached:
                mend = f"set {CACHE_VARIABLE} to a writable folder"
                mistake = Mistake("PoCL has no writable cache folder", mend=mend)
            if mistake:
                left.append(mistake)
                continue
            finds_linker()
        try:
            devices = platform.get_devices()
        except cl.Error as error:  # hardware that is absent says DEVICE_NOT_FOUND; the other platforms still count
            left.append(Mistake(f"the platform {name} has no device ({error})", mend=_CHECK))
            continue
        lacks = [_lack(device, platform_place, place) for place, device in enumerate(devices)]
        usable += [device for device, lack in zip(devices, lacks, strict=True) if lack is None]
        left += filter(None, lacks)
    if not usable and len(left) != 1:
        names = ", ".join(platform.name.strip() for platform in platforms) or "none"
        left.insert(0, Mistake(f"no platform has a usable device (platforms: {names})", mend=_INSTALL))
    return [_describe(index, device) for index, device in enumerate(usable)], left


def _lack(device: cl.Device, platform_place: int, place: int) -> Mistake | None:
    """Why a device cannot be used; of PoCL, what its compiler is told of the processor is set before."""
    import pyopencl as cl

    name = f"{device.name.strip()} of {device.platform.name.strip()}"
    if not device.available or not device.compiler_available:
        lack = "has no compiler" if device.available else "is not available"
        return Mistake(f"{name} {lack}", mend=_CHECK)
    pocl = device.platform.name.strip().lower() == _POCL
    processor_name = name_to_tell(device) if pocl else ""
    reason = why_runs_nothing(device, platform_place, place, processor_name)
    if processor_name and not reason:
        reason = tell_name(device, processor_name)
    if processor_name and reason and not name_asked():  # its own may do
        reason = why_runs_nothing(device, platform_place, place)
    if not reason:
        return None
    if pocl and not finds_linker():
        mend = "install the package binutils, or add the folder of ld to the PATH"
        return Mistake("PoCL finds no linker (ld) on the PATH", mend=mend)
    mend = f"unset {CPU_VARIABLE}" if pocl and name_asked() else mend_of_driver(bool(device.type & cl.device_type.CPU))
    mend += "; `reservoir devices` tries it again"
    refusal = Mistake(f"{name} is left out: its driver runs no kernel ({reason})", mend=mend)
    _refusals[refusal] = None
    return refusal


def _describe(index: int, device: cl.Device) -> DeviceInfo:
    import pyopencl as cl

    kinds = {"GPU": cl.device_type.GPU, "CPU": cl.device_type.CPU}
    kind = next((name for name, flag in kinds.items() if device.type & flag), "accelerator")
    in_step = 1 if kind == "CPU" else _asked(device, "warp_size_nv") or _asked(device, "wavefront_width_amd") or 1
    return DeviceInfo(
        index=index,
        platform=device.platform.name.strip(),
        name=device.name.strip(),
        kind=kind,
        driver=device.driver_version.strip(),
        version=device.version.strip(),
        compute_units=device.max_compute_units,
        max_work_group_size=device.max_work_group_size,
        native_float_width=device.native_vector_width_float,
        sub_group_size=in_step,
        warps=_asked(device, "compute_capability_major_nv") >= _FIRST_WITH_WARP_INSTRUCTIONS,
        local_memory_bytes=device.local_mem_size,
        global_memory_bytes=device.global_mem_size,
        max_allocation_bytes=device.max_mem_alloc_size,
        device=device,
    )


def _asked(device: cl.Device, name: str) -> int:
    """A number that some vendors' devices tell; 0 of others."""
    import pyopencl as cl

    try:
        return int(getattr(device, name))
    except (AttributeError, cl.Error):
        return 0


def _request(wanted: str | None) -> tuple[str, str]:
    """Find the name asked for, and the environment variable that says it, if one does."""
    asked = (wanted or AUTO).strip()
    if asked.lower() != AUTO:
        return asked, ""
    from_environment = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    return (from_environment, ENVIRONMENT_VARIABLE) if from_environment else (AUTO, "")


def _answers(device: DeviceInfo, asked: str) -> bool:
    asked = asked.lower()
    if asked == AUTO:
        return True
    if asked.isdecimal():
        # As text: Python does not read numbers of thousands of digits.
        return str(device.index) == (asked.lstrip("0") or "0")
    platform, name = device.platform.lower(), device.name.lower()
    if platform == _POCL:
        platform += " pocl"
    of_platform, _, of_device = asked.partition(":")
    both = ":" in asked and of_platform.strip() in platform and of_device.strip() in name
    return both or asked in platform or asked in name or asked == device.kind.lower()


def _rank(device: DeviceInfo) -> tuple[bool, int, int, int, int]:
    platform = device.platform.lower()
    simulated = platform == _SIMULATOR
    driver = _CPU_DRIVERS.index(platform) if platform in _CPU_DRIVERS else len(_CPU_DRIVERS)
    return simulated, KINDS.index(device.kind), -device.compute_units, driver, device.index


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
    import pyopencl as cl

    ptx, language = device.warps, ""
    with suppress(AttributeError, cl.Error):
        ptx = ptx or int(device.device.compute_capability_major_nv) > 0
    with suppress(AttributeError, IndexError, cl.Error):
        if device.device.opencl_c_version.split()[2].startswith("2."):
            language = "CL2.0"
        elif device.version.startswith("OpenCL 3."):
            features = {feature.name for feature in device.device.opencl_c_features}
            versions = {each.version >> 22 for each in device.device.opencl_c_all_versions}  # the major one
            language = "CL3.0" if features >= _FEATURES and 3 in versions else ""
    return Ordering(ptx, language)
