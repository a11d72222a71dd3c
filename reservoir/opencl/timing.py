"""Device time from the device's own events, and host time by activity."""

from __future__ import annotations

import time
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

    def __call__(self, segment: str) -> _Segment:
        """Count the time inside a ``with`` block to a segment."""
        return _Segment(self.seconds, segment)


class _Segment:
    """A block that is timed; no generator, since one stands around every launch."""

    __slots__ = ("_name", "_seconds", "_started")

    def __init__(self, seconds: dict[str, float], name: str) -> None:
        self._seconds, self._name = seconds, name

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *error: object) -> None:
        spent = time.perf_counter() - self._started
        self._seconds[self._name] = self._seconds.get(self._name, 0.0) + spent
