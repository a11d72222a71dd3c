"""Named buffers on one device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from reservoir.opencl.context import context_of, explained
from reservoir.opencl.devices import DeviceInfo
from reservoir.opencl.memory import require_memory

if TYPE_CHECKING:
    import pyopencl as cl


@dataclass(frozen=True)
class Layout:
    """Shape and dtype of a buffer."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        """Write it as numpy would."""
        return f"{self.dtype}{list(self.shape)}"

    @property
    def nbytes(self) -> int:
        """Bytes that it takes."""
        return prod(self.shape) * self.dtype.itemsize


class Buffers:
    """The buffers that a device holds, by name.

    Parameters
    ----------
    device : DeviceInfo
        Where they are.
    """

    def __init__(self, device: DeviceInfo) -> None:
        self._device = device
        self._held: dict[str, tuple[Layout, cl.Buffer]] = {}

    def __getitem__(self, name: str) -> cl.Buffer:
        """Find a buffer, to give it to a kernel or to copy it."""
        return self._held[name][1]

    def layout(self, name: str) -> Layout:
        """Find a buffer's shape and dtype."""
        return self._held[name][0]

    def declare(self, wanted: Mapping[str, Layout]) -> None:
        """Allocate the buffers that are not held yet, once it is sure that all fit together.

        Raises
        ------
        DeviceError
            If the device cannot hold them beside what it holds; nothing is allocated then.
        ValueError
            If a buffer is empty, or one of its name is held with another shape or dtype.
        """
        for name, layout in wanted.items():
            if layout.nbytes == 0:
                raise ValueError(f"buffer {name} is empty: {layout}")
            if name in self._held and self.layout(name) != layout:
                raise ValueError(f"buffer {name} is {self.layout(name)} and cannot become {layout}")
        if wanted.keys() <= self._held.keys():
            return
        layouts = {name: layout for name, (layout, _) in self._held.items()} | dict(wanted)
        require_memory(self._device, {name: layout.nbytes for name, layout in layouts.items()})
        for name, layout in wanted.items():
            if name not in self._held:
                self._held[name] = layout, self._allocate(name, layout.nbytes)

    def free(self, names: Iterable[str]) -> None:
        """Free those of the names that are held; commands already queued still finish."""
        for name in [name for name in names if name in self._held]:
            self._held.pop(name)[1].release()

    def release(self) -> None:
        """Free them all."""
        self.free(tuple(self._held))

    def _allocate(self, name: str, nbytes: int) -> cl.Buffer:
        import pyopencl as cl

        with explained(self._device, f"allocate {name}"):
            return cl.Buffer(context_of(self._device), cl.mem_flags.READ_WRITE, nbytes)
