"""What every scheme of the genetic algorithm does on a device, whatever its population: buffers, launches, results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, Mistake
from reservoir.opencl import DeviceInfo, HostClock, Session
from reservoir.problems.base import Problem, kernel_contexts
from reservoir.problems.encoding import PERMUTATION, encoding_of
from reservoir.solvers.base.co_residency_probe import all_present, require_ordering
from reservoir.solvers.base.device_result import DeviceResult, LaunchResult
from reservoir.solvers.island_ga.program import ITEMS_OF_BEST, IslandLayout, build_program, gene_bytes
from reservoir.solvers.island_ga.settings import IslandSettings
from reservoir.solvers.rng.stream import seed_words


class Scheme(ABC):
    """A run of problems of one signature on one device.

    Parameters
    ----------
    problems : sequence of Problem
    device : DeviceInfo
    settings : IslandSettings
        With operators of the problems' encoding.
    seed : int
    counted : bool
        Count launches, and how often work groups and the whole grid meet.
    slice_stages : int
        Of ``lim-async``: stages of a launch where islands are not all at work at once.
    keep_population : bool
        Bring back all individuals, in the layout's `DeviceResult.layout` as ``population``.
    wait_each : bool
        The host waits for every launch before the next, as the papers' programs do.
    **shape
        Items, lanes or team, as of `island_layout` and `single_layout`.
    """

    #: Kernel file, whether its groups wait for each other (or read what others write meanwhile), whether the same seed
    #: gives the same bytes, and stages whose migrants are kept (0: all).
    file: ClassVar[str]
    waits: ClassVar[bool] = False
    repeatable: ClassVar[bool] = True
    mail_slots: ClassVar[int] = 1

    def __init__(
        self,
        problems: Sequence[Problem],
        device: DeviceInfo,
        settings: IslandSettings,
        *,
        seed: int,
        counted: bool = False,
        slice_stages: int = 1,
        keep_population: bool = False,
        wait_each: bool = False,
        **shape: int | None,
    ) -> None:
        self.problems, self.device, self.settings = problems, device, self.settings_of(settings)
        self.counted, self.slice_stages, self.keep_population = counted, slice_stages, keep_population
        self.wait_each = wait_each
        self._seed = seed
        self.layout = self.layout_of(**shape)
        self.launches: Counter[str] = Counter()
        self.used: dict[str, Any] = {}
        #: Buffers of the individuals' worth: as it is, and as a migration writes it.
        self.worth, self.worth_after = "worth", "worth_after"

    def settings_of(self, settings: IslandSettings) -> IslandSettings:
        """Settings that the scheme can have."""
        return settings

    @abstractmethod
    def layout_of(self, **shape: int | None) -> IslandLayout:
        """How work groups share the population."""

    @abstractmethod
    def evolve(self) -> None:
        """Run all iterations."""

    @property
    def groups(self) -> int:
        """Work groups of a launch."""
        return len(self.problems) * self.settings.islands

    def launched(self) -> LaunchResult:
        """Run to the end and bring back what was found."""
        if self.waits:
            mend = "choose the scheme lim-is, tim or sak, which run anywhere"
            require_ordering(self.device, "this scheme", mend)
        clock = HostClock()
        problem = self.problems[0]
        with clock("build"):
            self.program = build_program(
                self.device,
                problem,
                self.settings,
                self.layout,
                self.file,
                waits=self.waits,
                counted=self.counted,
            )
        with Session(self.device, clock) as session:
            self.session = session
            self._prepare()
            self.evolve()
            self._find_best()
            genes, worth, trace = (session.download(name) for name in ("best_genes", "best_worth", "trace"))
            if self.counted:
                self._tell_counts()
            if self.keep_population:
                genes_of_all = session.download("genes")[:, : problem.dimension]
                self.used["population"] = genes_of_all.reshape(len(self.problems), -1, problem.dimension)
            seconds = sum(session.device_seconds.values())
        return LaunchResult(self._found(genes, worth, self.trace_of(trace, worth)), seconds, clock.seconds)

    def trace_of(self, trace: NDArray[Any], best: NDArray[Any]) -> NDArray[Any]:
        """Best worth of each problem at the end of each stage; the last is that of the run."""
        of_problems = trace.reshape(len(self.problems), self.settings.islands, -1).max(axis=1)
        of_problems[:, -1] = best
        return np.asarray(of_problems)

    def run(self, kernel: str, *arguments: str | np.generic) -> None:
        """Queue a kernel over all groups."""
        self.launches[kernel] += 1
        items = self.layout.items
        self.session.run(self.program, kernel, self.groups * items, items, *arguments)
        if self.wait_each:
            self.session.wait()

    @property
    def numbers(self) -> tuple[str | np.generic, ...]:
        """Arguments for random numbers."""
        return (*(np.uint32(word) for word in seed_words(self._seed)), "streams")

    @property
    def islands(self) -> tuple[str | np.generic, ...]:
        """Arguments for where islands stand."""
        return (
            "contexts",
            self._context_size,
            "genes",
            self.worth,
            "orders",
            "migrant_buffer",
            "mail_worth",
            np.int32(self._mail_slots),
            "trace",
            "meetings",
            np.int32(self.settings.islands),
            np.int32(self.settings.generations),
            np.int32(len(self.settings.stages)),
        )

    def _prepare(self) -> None:
        settings, stride, count = self.settings, self.layout.stride, len(self.problems)
        stages = len(settings.stages)
        self._mail_slots = self.mail_slots or stages
        rows, migrant_buffer = count * settings.population, self._mail_slots * self.groups * max(settings.migrants, 1)
        tours = encoding_of(self.problems[0]) == PERMUTATION
        worth = np.int32 if tours else np.float32
        gene: Any = {1: np.uint8, 2: np.uint16, 4: np.float32}[gene_bytes(self.problems[0])]
        contexts = kernel_contexts(self.problems)
        self._context_size = np.int32(contexts.shape[1])
        streams = np.array([problem.rng_stream_id for problem in self.problems], np.uint32)
        self.session.upload(contexts=contexts, streams=streams, stages=settings.stages.astype(np.int32))
        self.session.allocate(
            genes=((rows, stride), gene),
            worth=(rows, worth),
            worth_after=(rows, worth),
            orders=((2, rows), np.uint16),
            migrant_buffer=((migrant_buffer, stride), gene),
            mail_worth=(migrant_buffer, worth),
            trace=((self.groups, stages), worth),
            meetings=(2, np.int64),
            roll=(3, np.int32),
            best_genes=((count, stride), gene),
            best_worth=(count, worth),
        )

    def _find_best(self) -> None:
        items = min(ITEMS_OF_BEST[self.device.kind], self.device.max_work_group_size)
        rows = np.int32(self.settings.population)
        arguments = ("genes", self.worth, "best_genes", "best_worth", rows)
        self.session.run(self.program, "best_individuals", len(self.problems) * items, items, *arguments)

    def _tell_counts(self) -> None:
        in_groups, in_grid = self.session.download("meetings").tolist()
        launches = sum(self.launches.values())
        self.used |= {"launches": launches, "group_meetings": in_groups, "grid_meetings": in_grid}

    def _found(self, genes: NDArray[Any], worth: NDArray[Any], traces: NDArray[Any]) -> list[DeviceResult]:
        settings, layout = self.settings, self.layout
        dimension = self.problems[0].dimension
        shape = {"items": layout.items, "team": layout.team, "lanes": layout.lanes, "work_groups": self.groups}
        population = self.used.pop("population", None)
        return [
            DeviceResult(
                row[:dimension].astype(np.float32),
                settings.generations,
                settings.evaluations_made,
                self.trace_iterations,
                trace,
                shape | self.used | ({} if population is None else {"population": population[place]}),
                float(best),
            )
            for place, (row, best, trace) in enumerate(zip(genes, worth, traces, strict=True))
        ]

    @property
    def trace_iterations(self) -> NDArray[np.int64]:
        """Iterations after which the trace is taken."""
        return self.settings.stages

    def require_presence(self) -> None:
        """Refuse a device whose work groups did not answer the roll call together."""
        if all_present(self.session):
            return
        raise DeviceError(
            Mistake(
                f"{self.device.name} does not run {self.groups:,} work groups of {self.layout.items} items at once, "
                "and groups that wait for each other would wait for ever",
                "all groups at work together",
                "choose fewer islands, a larger device, or the scheme lim-is or lim-async, which run anywhere",
            )
        )
