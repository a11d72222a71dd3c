"""Which processor and which device an experiment ran on."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

from reservoir.opencl import DeviceInfo


def device_origin(device: DeviceInfo) -> dict[str, Any]:
    """A device and its driver, as they describe themselves."""
    names = ("name", "kind", "platform", "driver", "version", "compute_units", "native_float_width")
    return {name: getattr(device, name) for name in names}


def processor_name(listing: Path = Path("/proc/cpuinfo")) -> str:
    """The processor's name as the system tells it."""
    try:
        lines = listing.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
