"""How long a device worked, from the events that it stamps itself, and what the host spent its time on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyopencl as cl


class EventLog:
    """OpenCL events by name, in the order they were queued; add them, then ask for their seconds."""

    def __init__(self) -> None:
        self._events: list[tuple[str, cl.Event]] = []

    def add(self, name: str, event: cl.Event) -> None:
        """Remember an event of a profiling queue; several may share a name."""
        self._events.append((name, event))

    def seconds(self) -> dict[str, float]:
        """Sum the device seconds, start to end, of the events of each name; wait for those that still run."""
        totals: dict[str, float] = {}
        for name, event in self._events:
            event.wait()
            nanoseconds = event.profile.end - event.profile.start
            totals[name] = totals.get(name, 0.0) + 1e-9 * nanoseconds
        return totals


class HostClock:
    """Wall seconds of the host, by what they were spent on.

    Examples
    --------
    >>> clock = HostClock()
    >>> with clock("build"):
    ...     program = build(device, source)
    >>> clock.seconds["build"]
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, segment: str) -> Iterator[None]:
        """Count the time inside the block to a segment."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[segment] = self.seconds.get(segment, 0.0) + time.perf_counter() - started
