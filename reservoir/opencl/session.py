"""Work on one device: named buffers, kernels in order, and the seconds they took."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from threading import Lock, RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reservoir.errors import DeviceError, Mistake
from reservoir.opencl.devices import DeviceInfo
from reservoir.opencl.program import BuiltProgram, context_of, explained

if TYPE_CHECKING:
    import pyopencl as cl


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
        raise DeviceError(problem, f"at most {device.local_memory_bytes:,} bytes", mend)


@dataclass(eq=False)
class HostClock:
    """Wall seconds of the host, by what they were spent on.

    Examples
    --------
    >>> clock = HostClock()
    >>> with clock("build"):
    ...     program = build(device, source)
    >>> clock.seconds["build"]
    """

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def __call__(self, segment: str) -> Iterator[None]:
        """Count the time inside a ``with`` block to a segment."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[segment] += time.perf_counter() - started


Shape = int | tuple[int, ...]
_Layout = tuple[tuple[int, ...], np.dtype[Any]]

#: Held by the thread whose session is open on a device.
_TURNS: dict[DeviceInfo, RLock] = {}
#: Held while one of them is made: two threads must not have one each.
_MAKING_QUEUE = Lock()

#: Kernels count work items in 32 bits.
MOST_WORK_ITEMS = 2**31 - 1


class Session:
    """Buffers and kernels on one device, from upload to download; its commands run one after another.

    Used in a ``with`` block, at whose end the buffers are freed; the seconds stay. One thread uses it. A device has
    one session at a time: those of other threads wait, so that its memory and its seconds are those of one.

    Parameters
    ----------
    device : DeviceInfo
        From `choose_device`.
    clock : HostClock, optional
        Counts what the host spends on ``transfer`` (queue, buffers, copies to the device), ``enqueue`` (kernels and
        their arguments), ``wait`` (for kernels), ``read`` (copies back) and ``release``.

    Examples
    --------
    >>> with Session(device) as session:
    ...     session.upload(inflow=inflow_m3s)
    ...     session.allocate(best=((62, 12), np.float32))
    ...     session.run(program, "clpso", 62 * 40, 40, "inflow", "best", np.int32(10_000))
    ...     best = session.download("best")
    """

    def __init__(self, device: DeviceInfo, clock: HostClock | None = None) -> None:
        import pyopencl as cl

        self.device = device
        self._clock = clock or HostClock()
        with _MAKING_QUEUE:
            self._turn = _TURNS.setdefault(device, RLock())
        self._launch, self._refusal = cl.enqueue_nd_range_kernel, cl.Error
        with self._clock("transfer"):
            profiled = cl.command_queue_properties.PROFILING_ENABLE
            self._queue = cl.CommandQueue(context_of(device), device.device, properties=profiled)
        #: Shape and dtype of each buffer, and the buffer.
        self._buffers: dict[str, tuple[_Layout, cl.Buffer]] = {}
        #: Kernels, and the arguments that they have.
        self._kernels: dict[tuple[BuiltProgram, str], tuple[cl.Kernel, list[Any]]] = {}
        #: Events of a profiling queue by name, in the order they were queued.
        self._runs: list[tuple[str, cl.Event]] = []

    def __enter__(self) -> Session:
        """Start, once the device is free."""
        self._turn.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Free the buffers."""
        try:
            self._kernels.clear()
            self.free(*self._buffers)
        finally:
            self._turn.release()

    @property
    def device_seconds(self) -> dict[str, float]:
        """Seconds that the device spent in each kernel, by its name; waits for what still runs."""
        totals: dict[str, float] = defaultdict(float)
        for name, event in self._runs:
            event.wait()
            totals[name] += 1e-9 * (event.profile.end - event.profile.start)
        return dict(totals)

    def upload(self, /, **arrays: NDArray[Any]) -> None:
        """Copy arrays to the device, into new buffers or over those of the same name, shape and dtype.

        Raises
        ------
        DeviceError
            If the device cannot hold them beside what it holds; nothing is allocated then.
        ValueError
            If an array is empty, or a buffer of its name has another shape or dtype.
        """
        events = self.send(**arrays)
        with self._clock("transfer"), explained(self.device, f"upload {', '.join(arrays)}"):
            for event in events:
                event.wait()  # until it is asked, an event keeps the array

    def send(self, /, **arrays: NDArray[Any]) -> list[cl.Event]:
        """Queue what `upload` does and return at once; the arrays must stay as they are until all of it is done."""
        import pyopencl as cl

        events = []
        with self._clock("transfer"):
            self._declare({name: (array.shape, array.dtype) for name, array in arrays.items()})
            for name, array in arrays.items():
                with explained(self.device, f"upload {name}"):
                    source, buffer = np.ascontiguousarray(array), self._buffers[name][1]
                    events.append(cl.enqueue_copy(self._queue, buffer, source, is_blocking=False))
        return events

    def allocate(self, /, **buffers: tuple[Shape, DTypeLike]) -> None:
        """Make buffers of a shape and dtype for kernels to fill; they start, or start again, with zeros.

        Raises
        ------
        DeviceError
            If the device cannot hold them beside what it holds; nothing is allocated then.
        ValueError
            If a buffer is empty, or one of its name has another shape or dtype.
        """
        import pyopencl as cl

        layouts = {name: (_sizes(shape), np.dtype(dtype)) for name, (shape, dtype) in buffers.items()}
        with self._clock("transfer"):
            self._declare(layouts)
            for name, layout in layouts.items():
                buffer, size = self._buffers[name][1], _bytes(layout)
                with explained(self.device, f"clear {name}"):
                    cl.enqueue_fill_buffer(self._queue, buffer, np.zeros(1, np.uint8), 0, size)

    def free(self, *names: str) -> None:
        """Free buffers, so that others of their names may have another shape; commands already queued still finish."""
        with self._clock("release"):
            for name in names:
                if name in self._buffers:
                    self._buffers.pop(name)[1].release()

    def run(
        self,
        program: BuiltProgram,
        kernel: str,
        global_size: Shape,
        local_size: Shape | None,
        *arguments: str | np.generic,
    ) -> None:
        """Queue a kernel and return at once.

        Parameters
        ----------
        program : BuiltProgram
            Built for this session's device.
        kernel : str
            Its name.
        global_size, local_size : int or tuple of int
            Work items in all and in a group; without a local size the driver chooses it.
        *arguments : str or numpy scalar
            In the kernel's order: names of buffers, and scalars of the very type that the kernel declares.

        Raises
        ------
        DeviceError
            If there is no such kernel, or the device refuses the sizes or an argument.
        KeyError
            If there is no buffer of a name.
        """
        items = _sizes(global_size)
        group = None if local_size is None else _sizes(local_size)
        if prod(items) > MOST_WORK_ITEMS:
            problem = f"{kernel} needs {prod(items):,} work items, more than a kernel can index"
            raise DeviceError(problem, f"at most {MOST_WORK_ITEMS:,}", "reduce the size of the problem")
        values = [self._buffers[value][1] if isinstance(value, str) else value for value in arguments]

        started = time.perf_counter()  # no blocks here, which take a while themselves: kernels are tens of thousands
        try:
            function, last_values = self._kernels.get((program, kernel)) or (program.kernel(kernel), [])
            self._kernels[program, kernel] = function, []  # unknown, should an argument be refused
            if len(last_values) == len(values):  # those that it still has are not set again, which takes a while
                for place, (before, value) in enumerate(zip(last_values, values, strict=True)):
                    if value is not before and (type(value) is not type(before) or value != before):
                        function.set_arg(place, value)
            else:
                function.set_args(*values)
            self._kernels[program, kernel] = function, values
            self._runs.append((kernel, self._launch(self._queue, function, items, group)))
        except self._refusal as error:
            action = f"run {kernel} over {items} work items in groups of {group or 'any size'}"
            raise DeviceError(f"{self.device.name} could not {action}: {error}") from error
        self._clock.seconds["enqueue"] += time.perf_counter() - started

    def wait(self) -> None:
        """Return when everything queued so far is done.

        Raises
        ------
        DeviceError
            If something queued failed.
        """
        with self._clock("wait"), explained(self.device, "finish the queued commands"):
            self._queue.finish()

    def download(self, name: str, first: int | None = None, *, at_once: bool = False) -> NDArray[Any]:
        """Copy a buffer back, after the kernels queued before.

        Parameters
        ----------
        name : str
        first : int, optional
            So many of its rows alone; all if not given.
        at_once : bool
            Wait for the kernels and the copy in one go, which takes the host less; the clock counts both as ``read``.

        Raises
        ------
        DeviceError
            If something queued failed.
        KeyError
            If there is no buffer of that name.
        """
        import pyopencl as cl

        (shape, dtype), buffer = self._buffers[name]
        if not at_once:
            self.wait()
        array = np.empty((first or shape[0], *shape[1:]), dtype)
        with self._clock("read"), explained(self.device, f"download {name}"):
            cl.enqueue_copy(self._queue, array, buffer).wait()
        return array

    def _declare(self, wanted: Mapping[str, _Layout]) -> None:
        """Allocate the buffers that there are not yet, once it is sure that all fit together."""
        import pyopencl as cl

        for name, layout in wanted.items():
            if _bytes(layout) == 0:
                raise ValueError(f"buffer {name} is empty: {_words(layout)}")
            if name in self._buffers and self._buffers[name][0] != layout:
                raise ValueError(
                    f"buffer {name} is {_words(self._buffers[name][0])} and cannot become {_words(layout)}"
                )
        new = {name: layout for name, layout in wanted.items() if name not in self._buffers}
        if new:
            layouts = {name: layout for name, (layout, _) in self._buffers.items()} | dict(wanted)
            require_memory(self.device, {name: _bytes(layout) for name, layout in layouts.items()})
        for name, layout in new.items():
            with explained(self.device, f"allocate {name}"):
                buffer = cl.Buffer(context_of(self.device), cl.mem_flags.READ_WRITE, _bytes(layout))
            self._buffers[name] = layout, buffer


def _bytes(layout: _Layout) -> int:
    return prod(layout[0]) * layout[1].itemsize


def _words(layout: _Layout) -> str:
    return f"{layout[1]}{list(layout[0])}"


def _sizes(shape: Shape) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)
