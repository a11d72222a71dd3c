"""How long a device worked, from the events that it stamps itself."""

from __future__ import annotations

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
