"""Problems shared among CPU threads: compiled code runs without the interpreter's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from reservoir.problems.base import Problem
from reservoir.processors import processors
from reservoir.solvers.base.engine import ONE_THREAD, HostEngine
from reservoir.solvers.base.results import EngineResult
from reservoir.solvers.base.settings import Settings, number

MOST_THREADS = 4096


def threads_or_all(threads: int | None) -> int:
    """As many threads as asked for, or as there are processors."""
    return threads or processors()


def threads_in_words(threads: int) -> str:
    """Where an engine of so many threads runs, as solutions tell it."""
    return ONE_THREAD if threads == 1 else f"{threads} CPU threads"


def solve_on_threads(
    solve_one: Callable[[Problem], EngineResult],
    problems: Sequence[Problem],
    keep: Callable[[EngineResult], None],
    threads: int,
) -> None:
    """Solve problems on some threads, and hand on what is found for each, in their order.

    A fault, an interrupt or a request to stop leaves out the problems that have not begun.
    """
    if threads == 1:
        for problem in problems:
            keep(solve_one(problem))
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            for result in pool.map(solve_one, problems):
                keep(result)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@dataclass(frozen=True)
class ThreadSettings(Settings):
    """Settings of an engine that shares its problems among threads.

    Parameters
    ----------
    threads : int, optional
        Threads, of which each solves whole problems; as many as there are processors if not given. The result does
        not depend on them.
    """

    threads: int | None = number(None, 1, MOST_THREADS, run=True)

    @property
    def workers(self) -> int:
        """Threads."""
        return threads_or_all(self.threads)

    def as_dict(self) -> dict[str, Any]:
        """Every setting; threads as many as are used."""
        return super().as_dict() | {"threads": self.workers}


T = TypeVar("T", bound=ThreadSettings)


class ThreadedEngine(HostEngine[T]):
    """An engine that shares its problems among threads; `solve_one` must be safe to call from several."""

    @property
    def place(self) -> str:
        """As many threads."""
        return threads_in_words(self.settings.workers)

    def solve_each(self, problems: Sequence[Problem], keep: Callable[[EngineResult], None]) -> None:
        """Several problems at a time, each on one thread."""
        solve_on_threads(self.solve_one, problems, keep, self.settings.workers)
