"""What every scheme of the genetic algorithm does on a device, whatever its population: buffers, launches, results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, Mistake
from reservoir.opencl import DeviceInfo
from reservoir.problems.base import Problem
from reservoir.problems.encoding import PERMUTATION, encoding_of
from reservoir.solvers.base.co_residency_probe import co_resident
from reservoir.solvers.base.device_engine import Argument, Launch, choices
from reservoir.solvers.base.results import EngineResults, engine_results
from reservoir.solvers.island_ga.layout import IslandLayout, gene_type, items_of_best
from reservoir.solvers.island_ga.settings import DeviceIslandSettings


class Scheme(ABC):
    """A run of problems of one program key on one device.

    Parameters
    ----------
    launch : Launch
        With the layout of `layout_of`.
    settings : DeviceIslandSettings
        Those of `settings_of`, with operators of the problems' encoding.
    """

    #: Kernel file, whether its groups wait for each other (or read what others write meanwhile), whether the same seed
    #: gives the same bytes, and stages whose migrants are kept (0: all).
    file: ClassVar[str]
    waits: ClassVar[bool] = False
    repeatable: ClassVar[bool] = True
    mail_slots: ClassVar[int] = 1

    def __init__(self, launch: Launch[IslandLayout], settings: DeviceIslandSettings) -> None:
        self.launch, self.settings = launch, settings
        self.problems, self.layout = launch.problems, launch.layout
        self.launches: Counter[str] = Counter()
        self.used: dict[str, Any] = {}
        #: Buffers of the individuals' fitness: as it is, and as a migration writes it.
        self.fitness, self.fitness_after = "fitness", "fitness_after"
        self._prepare()

    @classmethod
    def settings_of(cls, settings: DeviceIslandSettings) -> DeviceIslandSettings:
        """Settings that the scheme can have."""
        return settings

    @classmethod
    @abstractmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """How work groups share the population."""

    @abstractmethod
    def evolve(self) -> None:
        """Run all iterations."""

    @property
    def groups(self) -> int:
        """Work groups of a launch."""
        return len(self.problems) * self.settings.islands

    def results(self) -> EngineResults:
        """Run to the end, and bring back what was found for each problem."""
        self.evolve()
        settings, dimension, session = self.settings, self.problems[0].dimension, self.launch.session
        best = ("genes", self.fitness, *self._best, np.int32(settings.population))
        self.launch.run("best_individuals", len(self.problems), *best, items=items_of_best(session.device))
        genes, fitness, trace = self.launch.download("best_genes", "best_fitness", "trace")
        if settings.counted:
            in_groups, in_grid = session.download("meetings").tolist()
            launches = sum(self.launches.values())
            self.used |= {"launches": launches, "group_meetings": in_groups, "grid_meetings": in_grid}
        used = {**choices(self.layout, "items", "team", "lanes"), "work_groups": self.groups, **self.used}
        recorded = [used] * len(self.problems)
        if settings.keep_population:
            every = session.download("genes")[:, :dimension].reshape(len(self.problems), -1, dimension)
            recorded = [used | {"population": population} for population in every]
        return engine_results(
            position=genes[:, :dimension].astype(np.float32),
            trace_fitness=self.trace_of(trace, fitness),
            fitness_float32=fitness,
            settings=recorded,
            of_all={
                "generations": settings.generations,
                "evaluations": settings.evaluations_made,
                "trace_generations": self.trace_iterations,
            },
        )

    def trace_of(self, trace: NDArray[Any], best: NDArray[Any]) -> NDArray[Any]:
        """Best fitness of each problem at the end of each stage; the last is that of the run."""
        of_problems = trace.reshape(len(self.problems), self.settings.islands, -1).max(axis=1)
        of_problems[:, -1] = best
        return np.asarray(of_problems)

    @property
    def trace_iterations(self) -> NDArray[np.int64]:
        """Iterations after which the trace is taken."""
        return self.settings.stages

    def run(self, kernel: str, *arguments: Argument) -> None:
        """Queue a kernel over all groups."""
        self.launches[kernel] += 1
        self.launch.run(kernel, self.groups, *arguments)
        if self.settings.wait_each:
            self.launch.session.wait()

    @property
    def islands(self) -> list[Argument]:
        """Arguments for where islands stand."""
        return [*self._contexts, "genes", self.fitness, *self._islands]

    def require_co_residency(self) -> None:
        """Refuse a device whose work groups were not all at work at once."""
        if co_resident(self.launch.session):
            return
        raise DeviceError(
            Mistake(
                f"{self.launch.session.device.name} does not run {self.groups:,} work groups of {self.layout.items} "
                "items at the same time, as this scheme requires: its groups wait for each other",
                "all work groups running at the same time",
                "choose fewer islands, a larger device, or the scheme lim-is or lim-async",
            )
        )

    def _prepare(self) -> None:
        settings, stride, count = self.settings, self.layout.stride, len(self.problems)
        stages, rows = settings.stages.astype(np.int32), count * settings.population
        mail_slots = self.mail_slots or len(stages)
        migrants = mail_slots * self.groups * max(settings.migrants, 1)
        number: Any = np.int32 if encoding_of(self.problems[0]) == PERMUTATION else np.float32
        gene = gene_type(self.problems[0])
        place = self.launch.arguments
        self._contexts, self.random = self.launch.contexts(), self.launch.random_streams()
        place(genes=((rows, stride), gene), fitness=(rows, number), fitness_after=(rows, number))
        self._islands = place(
            orders=((2, rows), np.uint16),
            migrant_buffer=((migrants, stride), gene),
            migrant_fitness=(migrants, number),
            mail_slots=np.int32(mail_slots),
            trace=((self.groups, len(stages)), number),
            meetings=(2, np.int64),
            islands=np.int32(settings.islands),
            generations=np.int32(settings.generations),
            stage_count=np.int32(len(stages)),
        )
        self.stages = place(stages=stages, probe=(3, np.int32))
        self._best = place(best_genes=((count, stride), gene), best_fitness=(count, number))
