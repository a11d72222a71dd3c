"""Where the seconds of a run go: stages that do not overlap, and the rest between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

#: Counts the time inside a ``with`` block to the stage of that name.
Timer = Callable[[str], AbstractContextManager[None]]


def untimed(stage: str) -> AbstractContextManager[None]:
    """Count nothing."""
    return nullcontext()


@dataclass(frozen=True)
class Profile:
    """Wall seconds of a run.

    Parameters
    ----------
    seconds : mapping of str to float
        Of each stage, in the order they began; no second is counted twice.
    total_seconds : float
        Of the whole run.
    """

    seconds: Mapping[str, float]
    total_seconds: float

    def rows(self) -> list[tuple[str, float, float]]:
        """Name, seconds and part of the total of every stage, then of what is between them; the sum is the total."""
        rows = (*self.seconds.items(), ("rest", self.total_seconds - sum(self.seconds.values())))
        return [(stage, seconds, seconds / self.total_seconds) for stage, seconds in rows]

    def as_dict(self) -> dict[str, Any]:
        """The profile as ``profile.json`` has it."""
        stages = [
            {"stage": stage, "seconds": round(seconds, 6), "part": round(part, 6)}
            for stage, seconds, part in self.rows()
        ]
        return {"stages": stages, "total_seconds": round(self.total_seconds, 6)}


class Stopwatch:
    """Counts wall seconds by stage; a stage inside another one pauses it, so that stages never overlap.

    Stages may come again, and add up. One thread uses it.

    Parameters
    ----------
    began : float, optional
        When the run began, by `time.perf_counter`; now, if it is not given.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch("write"):
    ...     with watch("report"):  # not counted to "write"
    ...         report = plan_report(plan)
    ...     path.write_text(report)
    >>> watch.profile().seconds
    """

    def __init__(self, began: float | None = None) -> None:
        self._lap = time.perf_counter()
        self._began = self._lap if began is None else began
        self._open: list[str] = []
        self._seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Count the time inside the block to a stage."""
        self._count()
        self._open.append(stage)
        try:
            yield
        finally:
            self._count()
            self._open.pop()

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of the stages that have ended, in the order they began."""
        return dict(self._seconds)

    def add(self, seconds: Mapping[str, float]) -> None:
        """Count stages that were measured elsewhere, outside any stage of this watch."""
        for stage, passed in seconds.items():
            self._seconds[stage] = self._seconds.get(stage, 0.0) + passed

    def profile(self) -> Profile:
        """The stages so far, and the time since the run began."""
        return Profile(self.seconds, time.perf_counter() - self._began)

    def _count(self) -> None:
        """Count the time since the last start or end of a stage to the innermost one that is open."""
        now = time.perf_counter()
        if self._open:
            self.add({self._open[-1]: now - self._lap})
        self._lap = now
