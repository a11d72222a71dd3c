"""Engines that improve schedules of systems, all years of a batch side by side, judged in float64 on the host."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.system_operation import SystemOperation
from reservoir.opencl import BuiltProgram, Session, choose_devices
from reservoir.problems.base import Problem, as_batch, by_program_key, take
from reservoir.problems.system import SystemYears
from reservoir.solvers.engine import Engine, IntermediateResult, Progress, threads_in_words
from reservoir.solvers.settings import Settings
from reservoir.solvers.solution import Solutions, engine_results, joined_results, to_solutions

FloatArray = NDArray[np.float64]
Places = NDArray[np.intp]
#: A year gains only what is more than this part of its fitness: less is rounding.
LEAST_GAIN = 1e-12


@dataclass(eq=False)
class Schedules:
    """The best schedules so far of years of a system.

    Parameters
    ----------
    batch : SystemYears
    operation : SystemOperation
    fitness : ndarray, shape (years,)
    rounds, tried : ndarray, shape (years,)
        What was solved for each, and how many schedules or transitions were tried.
    chosen : dict
        Settings that the engine chose itself.
    """

    batch: SystemYears
    operation: SystemOperation
    fitness: FloatArray
    rounds: NDArray[np.int64]
    tried: NDArray[np.int64]
    chosen: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, batch: SystemYears, operation: SystemOperation) -> Schedules:
        """Schedules to begin with."""
        rounds, tried = (np.zeros(len(batch), np.int64) for _ in range(2))
        return cls(batch, operation, batch.fitness_of(operation), rounds, tried)

    @classmethod
    def begun(cls, batch: SystemYears, first: FloatArray | None = None) -> Schedules:
        """From positions, shape (years, dimension), or in the middle of what can be reached."""
        positions = np.full((len(batch), batch.dimension), 0.5) if first is None else first
        return cls.of(batch, batch.operate(positions))

    def first(self, count: int) -> Schedules:
        """Those of the first years."""
        some = slice(count)
        of_years = self.batch[some], self.operation[some], self.fitness[some], self.rounds[some], self.tried[some]
        return Schedules(*of_years, self.chosen)

    @property
    def storages_hm3(self) -> FloatArray:
        """Storages, shape (years, reservoirs, steps + 1)."""
        return self.operation.stacked("storage_hm3")

    @property
    def scale(self) -> FloatArray:
        """What gains are a part of, shape (years,)."""
        return np.maximum(np.abs(self.fitness), 1e-9)

    def improve(self, places: Places, storages_hm3: FloatArray) -> FloatArray:
        """Keep what is better of schedules of some years, shape (places, reservoirs, steps + 1); what each gained."""
        some = self.batch[places]
        tried = some.operate_storages(storages_hm3)
        gains = some.fitness_of(tried) - self.fitness[places]
        better = gains > LEAST_GAIN * self.scale[places]

        def put(kept: FloatArray, new: FloatArray) -> FloatArray:
            changed = kept.copy()
            changed[places[better]] = new[better]
            return changed

        if better.any():
            self.operation = self.operation._of(put, tried)
            self.fitness[places] += np.where(better, gains, 0.0)
        return np.asarray(gains)


S = TypeVar("S", bound=Settings)


class SystemEngine(Engine[S]):
    """An engine that takes years of systems alone, and first positions in float64."""

    #: Whether the caller has ended the call, and how many problems it has.
    ended, total = False, 0

    def require_solvable(self, problems: Sequence[Problem]) -> None:
        """Refuse first positions that do not fit."""
        super().require_solvable(problems)
        given: Any = getattr(self.settings, "first", None)
        if given is not None:
            self.first = [np.clip(np.atleast_2d(np.asarray(each, np.float64)), 0.0, 1.0) for each in given]  # type: ignore[misc]

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve years of systems. A stop ends with the schedules so far, and leaves out lengths that have not begun."""
        if others := [each.label for each in problems[:1] if not isinstance(each, SystemYears)]:
            problem = f"the solver {self.name} plans systems, and {others[0]} is no year of one"
            raise InputError(problem, "years of a system", "choose another solver")
        self.require_solvable(problems)
        with self.working(device) as where:
            return self._solved(problems, progress, where)

    @contextmanager
    def working(self, device: str | None) -> Iterator[dict[str, Any]]:
        """Get ready to work; what solutions tell of where, as `to_solutions` takes it. `device` is not used."""
        yield {"device": threads_in_words(self.threads)}

    def _solved(self, problems: Sequence[Problem], progress: Progress, where: dict[str, Any]) -> Solutions:
        started, done, results = time.perf_counter(), 0, dict[int, Any]()
        self.ended, self.total, self._fitness = False, len(problems), np.empty(0)
        for members in by_program_key(problems).values():
            batch = as_batch(take(problems, members))

            def told(finished: int, before: int = done) -> None:
                progress(before + finished, len(problems))

            first = np.stack([self.first_of(problems[each], each)[0] for each in members]) if self.first else None
            schedules = self.improved(Schedules.begun(batch, first), told)
            positions = schedules.batch.positions_of(schedules.operation, batch.coding)
            columns = {"generations": schedules.rounds, "evaluations": schedules.tried}
            found = engine_results(of_all={"settings": schedules.chosen}, position=positions, **columns)
            solved = members[: len(positions)]
            results |= {each: {name: rows[[row]] for name, rows in found.items()} for row, each in enumerate(solved)}
            self._fitness = np.concatenate([self._fitness, schedules.fitness])
            done += len(solved)
            told(0, done)
            if self.ended:
                break
        return to_solutions(
            problems,
            joined_results([results[place] for place in takewhile(results.__contains__, range(len(problems)))]),
            settings=self.record(),
            solver=self.name,
            wall_seconds=time.perf_counter() - started,
            **where,
            device_seconds=self.device_seconds,
        )

    def ends(self, schedules: Schedules) -> bool:
        """Whether the caller wants to end with the schedules so far; not asked again when it has said so."""
        return self.ends_with(schedules.fitness)

    def ends_with(self, fitness: FloatArray) -> bool:
        """The same of schedules of this fitness, beside those of lengths that are done."""
        if self.stop is not None and not self.ended:
            fitness = np.concatenate([self._fitness, fitness])
            self.ended = True  # for other threads, where what the caller gave raises an error
            self.ended = bool(self.stop(IntermediateResult(self.name, len(fitness), self.total, fitness)))
        return self.ended

    @property
    def device_seconds(self) -> float | None:
        """Seconds that a device was busy; None on the host."""
        return None

    @abstractmethod
    def improved(self, schedules: Schedules, progress: Callable[[int], None]) -> Schedules:
        """Better schedules of all years, or of the first that have any when the call ends; tell how many are done."""


class DeviceSystemEngine(SystemEngine[S]):
    """One that works on a device, the first of those chosen; `session` is open meanwhile, and has its `programs`."""

    session: Session
    programs: dict[Any, BuiltProgram]

    @contextmanager
    def working(self, device: str | None) -> Iterator[dict[str, Any]]:
        """Open a session on the device."""
        chosen, *_ = choose_devices(device)
        of_device = {"platform": chosen.platform, "driver": chosen.driver}
        self.programs = {}
        with Session(chosen) as self.session:
            yield {"device": chosen.name, "of_device": of_device}

    @property
    def device_seconds(self) -> float | None:
        """Seconds that the device was busy."""
        return sum(self.session.device_seconds.values())


def on_threads(work: Callable[[int], Any], count: int, threads: int) -> list[Any]:
    """What work comes to for each place, some at a time; in order."""
    if min(threads, count) <= 1:
        return list(map(work, range(count)))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, range(count)))
