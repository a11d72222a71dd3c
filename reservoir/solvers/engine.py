"""What every engine is: an algorithm with its settings and a seed, which turns problems into solutions.

How it tells its progress and is stopped, positions that its population begins with, and problems on CPU threads.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, ClassVar, Generic, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import ReservoirError
from reservoir.problems.base import Problem, certify_all
from reservoir.solvers.settings import FirstPositionsSettings, Positions, Settings, first_positions
from reservoir.solvers.solution import Column, EngineResults, Solutions, as_float64, joined_results, to_solutions

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


def silent(done: float, total: int) -> None:
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


#: What was done `meanwhile`, in this process, of what is done once.
_DONE = set[int]()


@contextmanager
def meanwhile(work: Callable[[], object], *, once: Hashable = None) -> Iterator[None]:
    """Do work on a thread of its own during a block: compile for the host while a device builds its program.

    The block ends when both are done. What the work returns is lost, and so is its fault: the same work, done where
    its result is wanted, has it again. Work named `once` is done once in this process: a thread takes as long to start
    as a small call's kernels.
    """
    if once is None or hash(once) not in _DONE:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(work)
            yield
        if once is not None:
            _DONE.add(hash(once))
    else:
        yield


S = TypeVar("S", bound=Settings)


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
    #: Whether first positions are brought within the bounds.
    clips_first: ClassVar[bool] = True

    def __init__(self, settings: S, *, seed: int = 1, seeded: bool = True, stop: Stop | None = None) -> None:
        self.settings, self.seed, self.seeded, self.stop = settings, seed, seeded, stop
        #: Positions that the population of each problem begins with, shape (n, dimension); of no problem without any.
        self.first: list[Positions] = []
        self._fitness = np.empty(0)

    @abstractmethod
    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems, at least one; see `reservoir.solvers.solve`."""

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse problems that the engine cannot solve, or first positions that do not fit them, by an InputError."""
        if not isinstance(self.settings, FirstPositionsSettings):
            return
        self.first = first_positions(self.settings.first, problems, self.settings.first_members(problems[0].dimension))
        if self.clips_first:
            self.first = [
                np.clip(each, problem.lower.astype(np.float32), problem.upper.astype(np.float32))
                for each, problem in zip(self.first, problems, strict=False)
            ]

    def first_of(self, problem: Problem, place: int) -> Positions:
        """First positions of the problem at a place of the call, shape (n, dimension)."""
        return self.first[place] if self.first else np.empty((0, problem.dimension), np.float32)

    def stops(self, problems: Sequence[Problem], positions: Column, total: int) -> bool:
        """Whether the caller wants to end, now that these problems are solved too; not asked after the last."""
        if self.stop is None:
            return False
        self._fitness = np.concatenate([self._fitness, certify_all(problems, as_float64(positions)).fitness])
        done = len(self._fitness)
        return done < total and bool(self.stop(IntermediateResult(self.name, done, total, self._fitness.copy())))

    @property
    def threads(self) -> int:
        """Threads that its work on the host is divided among: 1 of one whose settings have no `workers`."""
        return int(getattr(self.settings, "workers", 1))

    def record(self) -> dict[str, Any]:
        """Settings of the call, for provenance."""
        return self.settings.record(self.seed if self.seeded else None)


class HostEngine(Engine[S]):
    """An engine that needs no device.

    Problems are solved one after another, or by as many threads as the settings have `workers`, a whole problem each:
    `solve_one` must then be safe to call from several.
    """

    @property
    def place(self) -> str:
        """Where the engine runs, in words."""
        return threads_in_words(self.threads)

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems; `device` is not used. A fault or a stop leaves out those that have not begun."""
        self.require_solvable(problems)
        started, results = time.perf_counter(), list[EngineResults]()
        with ThreadPoolExecutor(self.threads) as pool:  # without a thread before it is used
            solve = map if self.threads == 1 else pool.map
            try:
                for place, result in enumerate(solve(self.solve_one, problems, range(len(problems)))):
                    results.append(result)
                    progress(place + 1, len(problems))
                    if self.stops(problems[place : place + 1], result["position"], len(problems)):
                        break
            finally:
                pool.shutdown(cancel_futures=True)
        return to_solutions(
            problems,
            joined_results(results),
            settings=self.record(),
            solver=self.name,
            device=self.place,
            wall_seconds=time.perf_counter() - started,
        )

    @abstractmethod
    def solve_one(self, problem: Problem, place: int) -> EngineResults:
        """Solve the problem at a place of the call, and return a batch of one (`engine_results`)."""


N = TypeVar("N")


def new_state(kind: type[N], *sources: object, **values: Any) -> N:
    """Room for what compiled code works on, as the fields of a named tuple say it.

    A field that is annotated with the names of its axes, ``Annotated[NDArray[np.float32], "particles", "dimension"]``,
    is an array of these sizes, filled with its value, or zeros; any other is its value.

    Parameters
    ----------
    kind : type
        The named tuple.
    *sources : object
        Such as an engine's settings and a problem: their attributes are the sizes, bounds and single values that are
        not given.
    **values
        Of fields and axes.
    """

    def value_of(name: str) -> Any:
        if name in values:
            return values[name]
        for source in sources:
            if hasattr(source, name):
                return getattr(source, name)
        raise AttributeError(f"{kind.__name__} is given no {name}")

    state: dict[str, Any] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            array, *axes = get_args(hint)
            dtype = array
            while within := get_args(dtype):  # an NDArray differs by numpy's version; its number is last
                dtype = within[-1]
            filling = value_of(name) if name in {*values, "lower", "upper"} else 0
            state[name] = np.full([value_of(axis) for axis in axes], filling, dtype)
        else:
            state[name] = hint(value_of(name)) if hint in (bool, int, float, np.float32) else value_of(name)
    return kind(**state)


def unrolled_variables(problem: Problem) -> tuple[int, ...]:
    """A zero for each variable: a length that is known when code is compiled, so that loops become vector instructions.

    None of a problem that says, by an attribute ``looped``, that it has too many: compiled code then asks an array.
    """
    return () if getattr(problem, "looped", False) else (0,) * problem.dimension


def threads_in_words(threads: int) -> str:
    """Where an engine of so many threads runs, as solutions tell it."""
    return "one CPU thread" if threads == 1 else f"{threads} CPU threads"
