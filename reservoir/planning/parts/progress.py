"""Progress of parts that are searched at once, as that of one search."""

from __future__ import annotations

from collections import defaultdict
from threading import Event, Lock

from reservoir.planning.parts.run import Part
from reservoir.planning.stages import StageProgress


class EndedError(Exception):
    """The run ended while a part was being searched; never leaves the workers."""


class PartsProgress:
    """Adds up what parts tell.

    Parameters
    ----------
    progress : callable
        Told the sums.
    years : int
        Of all parts.
    ended : Event
        Set at the end of the run: parts at work then end with an `EndedError`.
    """

    def __init__(self, progress: StageProgress, years: int, ended: Event) -> None:
        self._progress, self._years, self._ended = progress, years, ended
        self._done: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._lock = Lock()

    def of(self, part: Part) -> StageProgress:
        """What a part is to tell its progress to; stages of fewer years than the part has are left out."""

        def progress(stage: str, done: int, total: int) -> None:
            if self._ended.is_set():
                raise EndedError
            if total != part.stop - part.first:
                return
            with self._lock:
                self._done[stage][part.number] = done
                self._progress(stage, sum(self._done[stage].values()), self._years)

        return progress
