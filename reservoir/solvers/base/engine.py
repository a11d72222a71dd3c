"""What every engine is: an algorithm with its settings and a seed, which turns problems into solutions."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from reservoir.problems.base import Problem
from reservoir.solvers.base.progress import Progress
from reservoir.solvers.base.results import EngineResult, to_solutions
from reservoir.solvers.base.settings import Settings
from reservoir.solvers.base.solution import Solutions

S = TypeVar("S", bound=Settings)

#: Where an engine of one thread runs, as solutions tell it.
ONE_THREAD = "one CPU thread"


class Engine(ABC, Generic[S]):
    """An engine, ready to solve.

    Parameters
    ----------
    settings : Settings
        Of the class `settings_class`.
    seed : int
        With a problem's `rng_stream_id`, names its random numbers.
    seeded : bool
        The result depends on the seed, which is recorded.
    """

    #: As in the registry.
    name: ClassVar[str]
    settings_class: ClassVar[type[Settings]]

    def __init__(self, settings: S, *, seed: int = 1, seeded: bool = True) -> None:
        self.settings, self.seed, self.seeded = settings, seed, seeded

    @abstractmethod
    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems, at least one; see `reservoir.solvers.solve`."""

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse problems that the engine cannot solve, by an InputError."""

    def record(self) -> dict[str, Any]:
        """Settings of the call, for provenance."""
        return self.settings.record(self.seed if self.seeded else None)


class HostEngine(Engine[S]):
    """An engine that needs no device: problems one after another, unless it says otherwise in `solve_each`."""

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems; `device` is not used."""
        self.require_solvable(problems)
        started = time.perf_counter()
        found: list[EngineResult] = []

        def keep(result: EngineResult) -> None:
            found.append(result)
            progress(len(found), len(problems))

        self.solve_each(problems, keep)
        wall_seconds = time.perf_counter() - started
        return to_solutions(
            problems,
            found,
            settings=self.record(),
            solver=self.name,
            device=self.place,
            wall_seconds=wall_seconds,
        )

    @property
    def place(self) -> str:
        """Where the engine runs, in words."""
        return ONE_THREAD

    def solve_each(self, problems: Sequence[Problem], keep: Callable[[EngineResult], None]) -> None:
        """Solve problems, and hand on what is found for each, in their order."""
        for problem in problems:
            keep(self.solve_one(problem))

    @abstractmethod
    def solve_one(self, problem: Problem) -> EngineResult:
        """Solve one problem."""


def threads_or_all(threads: int | None) -> int:
    """As many threads as asked for, or as there are processors."""
    return threads or os.cpu_count() or 1
