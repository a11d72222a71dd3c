"""Genetic algorithm on islands in OpenCL, for real vectors and for tours.

Alraslan and AlKurdi 2023, "A lightweight island model for the genetic algorithm over GPGPU", IJECES 14(7). The kernels
are ``kernels/solvers/island_ga``, with the encodings of ``kernels/encodings``. A work group has an island. The same
seed gives the same bytes, but not in ``lim-async``, whose islands take what their neighbours happen to have left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, InputError, Mistake
from reservoir.opencl import BuiltProgram, DeviceInfo, ordering_of
from reservoir.problems.base import PERMUTATION, Problem, encoding_of
from reservoir.solvers.device_engine import (
    MAX_POLLS,
    Argument,
    Launch,
    PopulationEngine,
    build_around,
    choices,
    co_resident,
    items_for,
    lanes_for,
    local_bytes_of,
    require_countable,
    require_ordering,
)
from reservoir.solvers.island_ga.settings import SCHEME_NAMES, DeviceIslandSettings
from reservoir.solvers.solution import EngineResults, engine_results


@dataclass(frozen=True)
class IslandLayout:
    """How work groups share a population.

    Parameters
    ----------
    team : int
        Work items that make a child of permutations together.
    lanes : int
        Real vectors that an item handles at once.
    items : int
        Work items of a group.
    stride : int
        Genes of a row, with padding.
    groups : int
        Groups of a problem with a single population; of islands there is one each.
    """

    team: int
    lanes: int
    items: int
    stride: int
    groups: int = 1


#: Work items of an island of tours that teams share, where every island has a compute unit of its own, and where not;
#: measured on an H200 with islands of 128 tours of 48 cities.
ITEMS_ALONE, ITEMS_CROWDED = 1024, 512
#: Fewest items of such a team; with fewer, the loops of the items of a warp fall apart.
FEWEST_IN_TEAM = 8
#: Work items of a group of a single population: twice as fast on an H200 as the 1024 of SAK in the paper.
SINGLE_ITEMS = 128
#: Groups of SLK, in compute units of a GPU; a CPU's have one each.
GROUPS_PER_UNIT = 2
#: Work items of the group that finds the best individual.
ITEMS_OF_BEST = {"GPU": 256, "accelerator": 256, "CPU": 1}

#: Cities that genes can tell apart.
MOST_CITIES = 65_536

_TEAM_LIMIT = 32
#: Words that a group has at hand beside its scratch, with padding.
_GROUP_WORDS = 6


def gene_type(problem: Problem) -> Any:
    """Type of a gene in numpy; InputError if a problem has more cities than genes can tell apart."""
    if encoding_of(problem) != PERMUTATION:
        return np.float32
    if problem.dimension > MOST_CITIES:
        wrong = f"{problem.label}: has too many cities"
        raise InputError(
            Mistake(wrong, f"at most {MOST_CITIES:,}", "choose a smaller problem", value=problem.dimension)
        )
    return np.uint8 if problem.dimension <= 256 else np.uint16


def island_layout(
    device: DeviceInfo, problem: Problem, settings: DeviceIslandSettings, *, islands: int
) -> IslandLayout:
    """A group has an island, in local memory; `islands` of them are launched together.

    On a GPU whose warps can synchronise, a warp or a part of one makes a tour; else an item an individual, or a vector
    of them.

    Raises
    ------
    DeviceError
        If local memory is too small for an island; tells how large one may be.
    InputError
        If a group cannot have so many items, or a team.
    """
    tours = encoding_of(problem) == PERMUTATION
    lanes = 1 if tours else lanes_for(device, settings.bred, settings.lanes)
    crowded = islands > device.compute_units
    team, items = _team(device, settings, crowded) if tours else 1, settings.items
    if team > 1 and items is None:
        most = min(ITEMS_CROWDED if crowded else ITEMS_ALONE, device.max_work_group_size)
        items = max(1, min(most // team, settings.island_size)) * team
    items = items_for(device, -(-settings.bred // lanes), items)
    if items % team:
        raise InputError(
            Mistake(
                "the work group size is not a multiple of the team size",
                f"a multiple of {team}",
                "choose other items or another team",
                value=items,
            )
        )
    layout = IslandLayout(team=team, lanes=lanes, items=items, stride=_stride(problem))
    _require_room(device, problem, settings, layout)
    return layout


def single_layout(
    device: DeviceInfo, problem: Problem, settings: DeviceIslandSettings, *, groups: int | None = None
) -> IslandLayout:
    """Groups share one population in global memory, an individual (or a vector of them) an item.

    Raises
    ------
    InputError
        If a group cannot have so many items, or a team is asked for.
    """
    if settings.team not in (None, 1):
        raise InputError(Mistake("this scheme has no teams", "a team of 1", "remove team", value=settings.team))
    items, tours = settings.items, encoding_of(problem) == PERMUTATION
    require_countable(settings.population * _stride(problem), "the population", "choose fewer individuals")
    lanes = 1 if tours else lanes_for(device, settings.bred, settings.lanes)
    vectors = most = -(-settings.island_size // lanes)
    if items is not None:
        most = -(-vectors // max(items, 1))
    else:
        per_group = SINGLE_ITEMS if groups is None else -(-vectors // groups)
        items = 1 if device.kind == "CPU" else max(1, min(per_group, vectors, device.max_work_group_size))
    items = items_for(device, vectors, items)
    if groups is None:
        groups = 4 * device.compute_units if device.kind == "CPU" else -(-vectors // items)
    return IslandLayout(team=1, lanes=lanes, items=items, stride=_stride(problem), groups=min(groups, most))


def _team(device: DeviceInfo, settings: DeviceIslandSettings, crowded: bool) -> int:
    """Items that make a tour together: so many that all children of an island are made at once, if there is room."""
    if settings.team is not None:
        if not 1 <= settings.team <= _TEAM_LIMIT:
            raise InputError(
                Mistake(
                    "the team size is out of range", f"1 to {_TEAM_LIMIT}", "choose another team", value=settings.team
                )
            )
        return settings.team
    if not device.warps:
        return 1
    if crowded:
        return device.sub_group_size // 2
    share = ITEMS_ALONE // settings.bred
    return min(max(1 << max(share, 1).bit_length() - 1, FEWEST_IN_TEAM), device.sub_group_size)


def _stride(problem: Problem) -> int:
    """Genes from one row to the next, one to spare.

    Rows begin at words, an odd number of them apart, so that items with a row each use all banks of local memory.
    """
    size = np.dtype(gene_type(problem)).itemsize
    words = -(-(problem.dimension + 1) * size // 4)
    return int((words + (words + 1) % 2) * 4 // size)


def _scratch_words(problem: Problem, layout: IslandLayout) -> int:
    if encoding_of(problem) != PERMUTATION:
        return 1
    return -(-problem.dimension // 32) + (layout.team if layout.team > 1 else 0)


def _require_room(device: DeviceInfo, problem: Problem, settings: DeviceIslandSettings, layout: IslandLayout) -> None:
    each = layout.stride * np.dtype(gene_type(problem)).itemsize + 4 + 2 * 2
    at_hand = 4 * (layout.items // layout.team * _scratch_words(problem, layout) + _GROUP_WORDS)
    room = local_bytes_of(device)
    needed = each * settings.island_size + at_hand
    if needed <= room:
        return
    fits = (room - at_hand) // each
    mend = f"choose islands of {fits} individuals or fewer" if fits >= 4 else "choose a device with more local memory"
    problem_words = (
        f"an island of {settings.island_size} individuals needs {needed:,} bytes of local memory on {device.name}"
    )
    raise DeviceError(Mistake(problem_words, f"at most {room:,} bytes", mend))


def items_of_best(device: DeviceInfo) -> int:
    """Work items of the group that finds the best individual."""
    return min(ITEMS_OF_BEST[device.kind], device.max_work_group_size)


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


class _Single(Scheme):
    """One population for each problem, in global memory."""

    file = "master_slave_ga"

    @classmethod
    def settings_of(cls, settings: DeviceIslandSettings) -> DeviceIslandSettings:
        """All individuals on one island."""
        return settings.panmictic()

    @property
    def groups(self) -> int:
        """Work groups of a launch."""
        return len(self.problems) * self.layout.groups

    def begin(self) -> None:
        """Random individuals; notes where the population stands."""
        contexts, context_size, genes, fitness, orders = self.islands[:5]
        schedule = self.launch.arguments(schedule=self._schedule(), generations=np.int32(self.settings.generations))
        self.population: list[Argument] = [contexts, context_size, genes, fitness, orders, *schedule]
        self.run("initialise", *self.population, *self.random)

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
        together = [self.layout.lanes, 1, self.layout.lanes, self.layout.lanes]
        return np.stack([_shares(*step, self.layout.groups, each) for step, each in zip(steps, together, strict=True)])


def _shares(first: int, last: int, groups: int, together: int) -> NDArray[np.int32]:
    blocks = -(-(last - first) // together)
    edges = np.minimum(first + np.arange(groups + 1) * blocks // groups * together, last)
    return np.stack([edges[:-1], edges[1:]], axis=1).astype(np.int32)


class Sak(_Single):
    """SAK: a kernel for each step."""

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """An item for each individual."""
        return single_layout(device, problems[0], settings)

    def evolve(self) -> None:
        """Select, breed, evaluate, select, ..."""
        self.begin()
        for iteration in range(1, self.settings.generations + 1):
            self.run("select_step", *self.population, np.int32(iteration))
            for step in ("breed_step", "evaluate_step"):
                self.run(step, *self.population, np.int32(iteration), *self.random)


class Slk(_Single):
    """SLK: one kernel whose groups meet after every step; refused where not all are at work at once."""

    waits = True

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """Twice as many groups as compute units, shared by the problems."""
        units = device.compute_units * (1 if device.kind == "CPU" else GROUPS_PER_UNIT)
        return single_layout(device, problems[0], settings, groups=max(1, units // len(problems)))

    def evolve(self) -> None:
        """One launch behind the first individuals."""
        self.begin()
        self.run("scheduled", *self.population, "probe", "meetings", *self.random)
        self.require_co_residency()


class _Islands(Scheme):
    """A work group for each island."""

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """Islands in local memory."""
        return island_layout(device, problems[0], settings, islands=len(problems) * settings.islands)


class LimIs(_Islands):
    """LIM-IS: three kernels; a launch evolves all islands from one migration to the next."""

    file = "island_ga_launches"

    def evolve(self) -> None:
        """Evolve, migrate, evolve, ..."""
        stages = self.settings.stages.tolist()
        self.run("initialise", *self.islands, *self.random)
        for stage, (before, last) in enumerate(pairwise([0, *stages])):
            self.stage(before, last)
            if last != stages[-1]:
                self.run("migrate", *self.islands, np.int32(stage), self.fitness_after)
                self.fitness, self.fitness_after = self.fitness_after, self.fitness

    def stage(self, before: int, last: int) -> None:
        """Iterations from one migration to the next: a launch."""
        self.run("evolve", *self.islands, np.int32(before), np.int32(last), *self.random)


class Traditional(LimIs):
    """TIM: a launch for each iteration, an item for each individual."""

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """As many items as individuals, each by itself."""
        items = settings.items
        if device.kind != "CPU" and items is None:
            items = min(settings.island_size, device.max_work_group_size)
        return super().layout_of(device, problems, replace(settings, items=items, team=1))

    def stage(self, before: int, last: int) -> None:
        """A launch for each iteration."""
        for iteration in range(before, last):
            super().stage(iteration, iteration + 1)


class LimCg(_Islands):
    """LIM-CG: one kernel, whose islands meet in a barrier of the grid; refused where not all are at work at once."""

    file = "island_ga_persistent"
    waits = True
    mail_slots = 2

    def evolve(self) -> None:
        """One launch."""
        self.run("evolve_together", *self.islands, *self.stages, *self.random)
        self.require_co_residency()


class LimAsync(_Islands):
    """LIM-async: one kernel without a barrier between islands, cut into slices where not all are at work at once."""

    file = "island_ga_persistent"
    waits = True
    repeatable = False
    mail_slots = 0

    def evolve(self) -> None:
        """One launch if all islands are at work at once, else slices."""
        posted = self.launch.arguments(posted=(self.groups, np.int32))
        slice_stages = self.settings.slice_stages
        self.run("initialise", *self.islands, *self.random)
        for first in range(0, len(self.settings.stages), slice_stages):
            span = np.int32(first), np.int32(slice_stages)
            self.run("evolve_apart", *self.islands, *self.stages, *posted, *span, *self.random)
            if first == 0 and (resident := co_resident(self.launch.session)):  # as the probe says from now on
                break
        self.used |= {"resident": resident, "slice_stages": 0 if resident else slice_stages}


SCHEMES: dict[str, type[Scheme]] = dict(zip(SCHEME_NAMES, (LimIs, LimCg, LimAsync, Traditional, Sak, Slk), strict=True))


class IslandEngine(PopulationEngine[DeviceIslandSettings, IslandLayout]):
    """The genetic algorithm, each problem with islands of its own."""

    name = "island-ga"
    settings_class = DeviceIslandSettings
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 10**10, "accelerator": 5 * 10**8, "CPU": 10**7}

    @property
    def evaluations(self) -> int:
        """Evaluations of a problem."""
        return self.settings.evaluations_made

    @property
    def scheme(self) -> type[Scheme]:
        """How a population uses a device."""
        return SCHEMES[self.settings.scheme]

    def settings_of(self, problem: Problem) -> DeviceIslandSettings:
        """Settings with operators of a problem's encoding, as the scheme can have them."""
        return self.scheme.settings_of(self.settings.for_encoding(encoding_of(problem)))

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> IslandLayout:
        """As the scheme says."""
        return self.scheme.layout_of(device, problems, self.settings_of(problems[0]))

    def build(self, device: DeviceInfo, problem: Problem, layout: IslandLayout) -> BuiltProgram:
        """The scheme's kernels; refused where groups would wait for each other in vain."""
        scheme, settings, ordering = self.scheme, self.settings_of(problem), ordering_of(device)
        if scheme.waits:
            require_ordering(device, "this scheme", "choose the scheme lim-is, tim or sak, which run anywhere")
        tours, single = encoding_of(problem) == PERMUTATION, scheme.file == "master_slave_ga"
        constants = {
            **settings.constants(),
            **ordering.constants(scheme.waits),
            "LANES": layout.lanes,
            "ITEMS": layout.items,
            "TEAM": layout.team,
            "WARPS": int(device.warps and device.sub_group_size % layout.team == 0),
            "STRIDE": layout.stride,
            "GROUPS": layout.groups,
            "GENE": {np.float32: "float", np.uint8: "uchar", np.uint16: "ushort"}[gene_type(problem)],
            "FITNESS": "int" if tours else "float",
            "HOME": "__global" if single else "__local",
            "CONTEXT_SPACE": "__global",
            "COUNTED": int(settings.counted),
            "MAX_POLLS": MAX_POLLS[device.kind],
            "ITEMS_OF_BEST": items_of_best(device),
        }
        common = ["rng/philox", "rng/numbers_of_streams", "rng/distributions"]
        common += ["sync/group_barrier", "sync/teams", "sync/grid"]
        files = ["island", *([] if single else ["island_ga"]), scheme.file, "best_individuals"]
        after = [f"solvers/island_ga/{file}.cl" for file in files]
        after.insert(1, "encodings/permutation.cl" if tours else "encodings/real_vector.cl")
        return build_around(
            problem.kernel(fine=True),
            device,
            constants,
            before=[f"common/{file}.cl" for file in common],
            after=after,
            options=ordering.options(scheme.waits),
        )

    def run(self, launch: Launch[IslandLayout]) -> EngineResults:
        """As the scheme says."""
        return self.scheme(launch, self.settings_of(launch.problems[0])).results()


ENGINE = IslandEngine
