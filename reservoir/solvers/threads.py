"""CPU threads: blocks of problems, and denormal numbers off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.runtime import processors
from reservoir.solvers.device_engine import items_for, lanes_for
from reservoir.solvers.engine import ONE_THREAD, HostEngine
from reservoir.solvers.settings import Settings, number
from reservoir.solvers.solution import EngineResult


@dataclass(frozen=True)
class Blocks:
    """Members of a population: blocks x items x lanes, padded.

    Parameters
    ----------
    lanes, items, blocks : int
        Members in a vector, work items of a population, and vectors in a work item.
    """

    lanes: int
    items: int
    blocks: int

    @property
    def padded(self) -> int:
        """Members with padding."""
        return self.lanes * self.items * self.blocks

    @staticmethod
    def of(device: DeviceInfo, members: int, lanes: int | None, items: int | None, *, populations: int = 1) -> Blocks:
        """So many members, with lanes and items as asked or chosen for a device; of some populations a group."""
        lanes = lanes_for(device, members, lanes)
        vectors = -(-members // lanes)
        items = items_for(device, vectors, items, populations)
        return Blocks(lanes=lanes, items=items, blocks=-(-vectors // items))


#: Velocities below this are dropped: they no longer move a float32 position, and denormal numbers are slow.
SMALLEST_VELOCITY = 1e-30


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
