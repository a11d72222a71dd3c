"""What every engine is: an algorithm with its settings and a seed, which turns problems into solutions.

How it tells its progress and is stopped, and positions that its population begins with.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Generic, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reservoir.errors import InputError, Mistake, ReservoirError
from reservoir.problems.base import Problem, certify_all
from reservoir.solvers.settings import Settings, arrays
from reservoir.solvers.solution import Column, EngineResult, EngineResults, Solutions, as_float64, to_solutions

#: Called with how much is done and how much there is.
Progress = Callable[[int, int], None]

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class IntermediateResult:
    """What a solver has done so far.

    Parameters
    ----------
    solver : str
    done, total : int
        Problems that are solved, and all of the call.
    fitness : ndarray, shape (done,)
        Fitness in float64 of those that are solved, in the order in which they were; for a reservoir, GWh.
    """

    solver: str
    done: int
    total: int
    fitness: NDArray[np.float64]


#: Asked between launches, or problems; True ends the call with what is solved.
Stop = Callable[[IntermediateResult], bool]


class StopRequested(Exception):
    """A callback asked to stop; never leaves the engine."""


def silent(done: int, total: int) -> None:
    """No-op callback."""


def callers_own(callback: Callable[P, T]) -> Callable[P, T]:
    """Keep the faults of a caller's function apart from mistakes in what the caller gave.

    A `ReservoirError` would be told as such a mistake, or taken for a device that fails: it is raised as RuntimeError.
    """

    @wraps(callback)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return callback(*args, **kwargs)
        except ReservoirError as error:
            name = getattr(callback, "__name__", type(callback).__name__)
            raise RuntimeError(f"the callback {name} raised {type(error).__name__}: {error}") from error

    return called


@contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """Do work on a thread of its own during a block: compile for the host while a device builds its program.

    The block ends when both are done. What the work returns is lost, and so is its fault: the same work, done where
    its result is wanted, has it again.
    """
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work)
        yield


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


Positions = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class FirstPositionsSettings(Settings):
    """Settings of an engine whose populations may begin with given positions.

    Parameters
    ----------
    first : sequence of array_like, shape (n, dimension), optional
        Positions of each problem that its population begins with, besides random ones; as many for each.
    """

    first: Sequence[ArrayLike] | None = arrays()

    @property
    def first_count(self) -> int:
        """Given positions of a problem."""
        return 0 if self.first is None else len(np.atleast_2d(np.asarray(self.first[0])))

    def as_dict(self) -> dict[str, Any]:
        """Every setting; of first positions their number."""
        return super().as_dict() | {"first": self.first_count}


F = TypeVar("F", bound=FirstPositionsSettings)


class FirstPositionsEngine(Engine[F]):
    """An engine whose populations may begin with given positions."""

    _first: Mapping[int, Positions] = {}

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems, which stay the same objects where first positions are noted by them."""
        each = problems if self.settings.first is None else list(problems)
        return super().solve(each, device=device, progress=progress)  # type: ignore[safe-super]

    def note_first(self, problems: Sequence[Problem], most: int) -> None:
        """Note the first positions of each problem, at most so many; raises as `positions_by_id` does."""
        self._first = positions_by_id(self.settings.first, problems, most)

    def first_of(self, problem: Problem) -> Positions:
        """First positions of a problem, within its bounds; of shape (0, dimension) without any."""
        given = self._first.get(id(problem), np.empty((0, problem.dimension), np.float32))
        return np.clip(given, problem.lower.astype(np.float32), problem.upper.astype(np.float32))

    def given(self, problems: Sequence[Problem]) -> dict[str, Positions]:
        """The kernels' argument of first positions, if there are any: shape (problems, n, dimension)."""
        return {"given": np.stack([self.first_of(each) for each in problems])} if self._first else {}


def positions_by_id(first: Sequence[ArrayLike] | None, problems: Sequence[Problem], most: int) -> dict[int, Positions]:
    """Positions that the population of each problem begins with, shape (n, dimension), by its id; empty for none.

    Raises
    ------
    InputError
        If they are not as many for each problem, or more than `most`, the members of a population.
    """
    if first is None:
        return {}
    positions = [np.ascontiguousarray(np.atleast_2d(np.asarray(each, np.float32))) for each in first]
    fits = len(positions) == len(problems) and all(
        each.shape == (len(positions[0]), problem.dimension) for problem, each in zip(problems, positions, strict=True)
    )
    if not fits or not 1 <= len(positions[0]) <= most:
        expected = f"for each of {len(problems)} problems the same number, 1 to {most}, of its dimension"
        shapes = sorted({each.shape for each in positions})
        raise InputError(Mistake("the first positions have the wrong shape", expected, value=shapes))
    return {id(problem): each for problem, each in zip(problems, positions, strict=True)}
