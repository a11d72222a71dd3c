"""What every engine is: an algorithm with its settings and a seed, which turns problems into solutions."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from reservoir.problems.base import Problem, certify_all
from reservoir.solvers.base.progress import IntermediateResult, Progress, Stop, StopRequested
from reservoir.solvers.base.rows import Column, as_float64
from reservoir.solvers.base.settings import Settings
from reservoir.solvers.base.solution import EngineResult, EngineResults, Solutions, to_solutions

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
    stop : callable, optional
        Asked between problems whether to end with those that are solved; see `reservoir.solvers.solve`.
    """

    #: As in the registry.
    name: ClassVar[str]
    settings_class: ClassVar[type[Settings]]
    #: Settings for long horizons (`reservoir.solvers.windows`) where they are not those of a year, or of all sweeps.
    window_defaults: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, settings: S, *, seed: int = 1, seeded: bool = True, stop: Stop | None = None) -> None:
        self.settings, self.seed, self.seeded, self.stop = settings, seed, seeded, stop
        self._fitness = np.empty(0)

    @abstractmethod
    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems, at least one; see `reservoir.solvers.solve`."""

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse problems that the engine cannot solve, by an InputError."""

    def stops(self, problems: Sequence[Problem], positions: Column, total: int) -> bool:
        """Whether the caller wants to end, now that these problems are solved too; not asked after the last."""
        if self.stop is None:
            return False
        self._fitness = np.concatenate([self._fitness, certify_all(problems, as_float64(positions)).fitness])
        done = len(self._fitness)
        return done < total and bool(self.stop(IntermediateResult(self.name, done, total, self._fitness.copy())))

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
            if self.stops(problems[len(found) - 1 : len(found)], [result.position], len(problems)):
                raise StopRequested

        with suppress(StopRequested):
            self.solve_each(problems, keep)
        wall_seconds = time.perf_counter() - started
        return to_solutions(
            problems,
            EngineResults.of(found),
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
