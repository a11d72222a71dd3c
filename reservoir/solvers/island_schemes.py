"""How the island genetic algorithm uses a device: the schemes of Alraslan and AlKurdi 2023, and their rivals.

``lim-is``, ``lim-cg``: the paper's lightweight island models, which meet at migrations alone, where a launch ends or in
a barrier of the grid. ``lim-async``: no barrier at all. ``tim``: the traditional island model, a launch for each
iteration, an item for each individual. ``sak`` and ``slk``: one population, and a launch or a barrier of the grid for
each step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, Mistake
from reservoir.opencl import DeviceInfo, HostClock, Session
from reservoir.solvers.encoding import PERMUTATION, encoding_of
from reservoir.solvers.found import Found, Launched
from reservoir.solvers.island_program import (
    GROUPS_PER_UNIT,
    ITEMS_OF_BEST,
    Layout,
    build_program,
    gene_bytes,
    island_layout,
    single_layout,
)
from reservoir.solvers.island_settings import IslandSettings
from reservoir.solvers.problem import Problem, kernel_contexts
from reservoir.solvers.random_stream import seed_words
from reservoir.solvers.roll_call import all_present


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
        Bring back all individuals, in the layout's `Found.layout` as ``population``.
    wait_each : bool
        The host waits for every launch before the next, as the papers' programs do.
    **shape
        Items, lanes or team, as of `island_layout` and `single_layout`.
    """

    #: Kernel file, whether the same seed gives the same bytes, and stages whose migrants are kept (0: all).
    file: ClassVar[str]
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
    def layout_of(self, **shape: int | None) -> Layout:
        """How work groups share the population."""

    @abstractmethod
    def evolve(self) -> None:
        """Run all iterations."""

    @property
    def groups(self) -> int:
        """Work groups of a launch."""
        return len(self.problems) * self.settings.islands

    def launched(self) -> Launched:
        """Run to the end and bring back what was found."""
        clock = HostClock()
        problem = self.problems[0]
        with clock("build"):
            self.program = build_program(
                self.device, problem, self.settings, self.layout, self.file, counted=self.counted
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
        return Launched(self._found(genes, worth, self.trace_of(trace, worth)), seconds, clock.seconds)

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
            "mail",
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
        rows, mail = count * settings.population, self._mail_slots * self.groups * max(settings.migrants, 1)
        tours = encoding_of(self.problems[0]) == PERMUTATION
        worth = np.int32 if tours else np.float32
        gene: Any = {1: np.uint8, 2: np.uint16, 4: np.float32}[gene_bytes(self.problems[0])]
        contexts = kernel_contexts(self.problems)
        self._context_size = np.int32(contexts.shape[1])
        streams = np.array([problem.stream for problem in self.problems], np.uint32)
        self.session.upload(contexts=contexts, streams=streams, stages=settings.stages.astype(np.int32))
        self.session.allocate(
            genes=((rows, stride), gene),
            worth=(rows, worth),
            worth_after=(rows, worth),
            orders=((2, rows), np.uint16),
            mail=((mail, stride), gene),
            mail_worth=(mail, worth),
            trace=((self.groups, stages), worth),
            meetings=(2, np.int32),
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

    def _found(self, genes: NDArray[Any], worth: NDArray[Any], traces: NDArray[Any]) -> list[Found]:
        settings, layout = self.settings, self.layout
        dimension = self.problems[0].dimension
        shape = {"items": layout.items, "team": layout.team, "lanes": layout.lanes, "work_groups": self.groups}
        population = self.used.pop("population", None)
        return [
            Found(
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


class _Islands(Scheme):
    """A work group for each island."""

    def layout_of(self, **shape: int | None) -> Layout:
        """Islands in local memory."""
        return island_layout(self.device, self.problems[0], self.settings, islands=self.groups, **shape)


class ByLaunches(_Islands):
    """LIM-IS: three kernels; a launch evolves all islands from one migration to the next."""

    file = "island_ga_launches"

    def evolve(self) -> None:
        """Evolve, migrate, evolve, ..."""
        stages = self.settings.stages.tolist()
        self.run("initialise", *self.islands, *self.numbers)
        for stage, (before, last) in enumerate(pairwise([0, *stages])):
            self.stage(before, last)
            if last != stages[-1]:
                self.run("migrate", *self.islands, np.int32(stage), self.worth_after)
                self.worth, self.worth_after = self.worth_after, self.worth

    def stage(self, before: int, last: int) -> None:
        """Iterations from one migration to the next: a launch."""
        self.run("evolve", *self.islands, np.int32(before), np.int32(last), *self.numbers)


class Traditional(ByLaunches):
    """TIM: a launch for each iteration, an item for each individual."""

    def layout_of(self, **shape: int | None) -> Layout:
        """As many items as individuals, each by itself."""
        size = self.settings.island_size
        if self.device.kind != "CPU" and shape.get("items") is None:
            shape["items"] = min(size, self.device.max_work_group_size)
        return super().layout_of(**{**shape, "team": 1})

    def stage(self, before: int, last: int) -> None:
        """A launch for each iteration."""
        for iteration in range(before, last):
            super().stage(iteration, iteration + 1)


class Together(_Islands):
    """LIM-CG: one kernel, whose islands meet in a barrier of the grid; refused where not all are at work at once."""

    file = "island_ga_persistent"
    mail_slots = 2

    def evolve(self) -> None:
        """One launch."""
        self.run("evolve_together", *self.islands, "stages", "roll", *self.numbers)
        self.require_presence()


class Apart(_Islands):
    """LIM-async: one kernel without a barrier between islands, cut into slices where not all are at work at once."""

    file = "island_ga_persistent"
    repeatable = False
    mail_slots = 0

    def evolve(self) -> None:
        """One launch if all islands answer the roll call, else slices."""
        self.session.allocate(posted=(self.groups, np.int32))
        self.run("initialise", *self.islands, *self.numbers)
        self._launch(0)
        resident = all_present(self.session)
        self.used |= {"resident": resident, "slice_stages": 0 if resident else self.slice_stages}
        if not resident:  # as the roll says from now on
            for first in range(self.slice_stages, len(self.settings.stages), self.slice_stages):
                self._launch(first)

    def _launch(self, first: int) -> None:
        span = np.int32(first), np.int32(self.slice_stages)
        self.run("evolve_apart", *self.islands, "stages", "roll", "posted", *span, *self.numbers)


class _Single(Scheme):
    """One population for each problem, in global memory."""

    file = "master_slave_ga"

    def settings_of(self, settings: IslandSettings) -> IslandSettings:
        """All individuals on one island."""
        return settings.panmictic()

    @property
    def groups(self) -> int:
        """Work groups of a launch."""
        return len(self.problems) * self.layout.groups

    @property
    def population(self) -> tuple[str | np.generic, ...]:
        """Arguments for where the population stands."""
        generations = np.int32(self.settings.generations)
        return ("contexts", self._context_size, "genes", self.worth, "orders", "schedule", generations)

    def begin(self) -> None:
        """Random individuals."""
        self.session.upload(schedule=self._schedule())
        self.run("initialise", *self.population, *self.numbers)

    @property
    def trace_iterations(self) -> NDArray[np.int64]:
        """Nobody looks at the best before the end."""
        return np.empty(0, np.int64)

    def trace_of(self, trace: NDArray[Any], best: NDArray[Any]) -> NDArray[Any]:
        """No points."""
        return np.empty((len(self.problems), 0), trace.dtype)

    def _schedule(self) -> NDArray[np.int32]:
        """First place of each step and group, and the one behind the last, shape (steps, groups, 2)."""
        size, parents = self.settings.island_size, self.settings.parents
        steps = ((0, size), (0, parents), (parents, size), (parents, size))
        together = [self.layout.together, 1, self.layout.together, self.layout.together]
        return np.stack([_shares(*step, self.layout.groups, each) for step, each in zip(steps, together, strict=True)])


def _shares(first: int, last: int, groups: int, together: int) -> NDArray[np.int32]:
    blocks = -(-(last - first) // together)
    edges = np.minimum(first + np.arange(groups + 1) * blocks // groups * together, last)
    return np.stack([edges[:-1], edges[1:]], axis=1).astype(np.int32)


class Switching(_Single):
    """SAK: a kernel for each step."""

    def layout_of(self, **shape: int | None) -> Layout:
        """An item for each individual."""
        return single_layout(self.device, self.problems[0], self.settings, **shape)

    def evolve(self) -> None:
        """Select, breed, evaluate, select, ..."""
        self.begin()
        for iteration in range(1, self.settings.generations + 1):
            self.run("select_step", *self.population, np.int32(iteration))
            for step in ("breed_step", "evaluate_step"):
                self.run(step, *self.population, np.int32(iteration), *self.numbers)


class Scheduled(_Single):
    """SLK: one kernel whose groups meet after every step; refused where not all are at work at once."""

    def layout_of(self, **shape: int | None) -> Layout:
        """Twice as many groups as compute units, shared by the problems."""
        units = self.device.compute_units * (1 if self.device.kind == "CPU" else GROUPS_PER_UNIT)
        groups = max(1, units // len(self.problems))
        return single_layout(self.device, self.problems[0], self.settings, **{"groups": groups, **shape})

    def evolve(self) -> None:
        """One launch behind the first individuals."""
        self.begin()
        self.run("scheduled", *self.population, "roll", "meetings", *self.numbers)
        self.require_presence()


SCHEMES: dict[str, type[Scheme]] = {
    "lim-is": ByLaunches,
    "lim-cg": Together,
    "lim-async": Apart,
    "tim": Traditional,
    "sak": Switching,
    "slk": Scheduled,
}
