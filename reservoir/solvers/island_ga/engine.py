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

from reservoir.errors import DeviceError, InputError
from reservoir.opencl import BuiltProgram, DeviceInfo, ordering_of
from reservoir.problems.base import PERMUTATION, Problem, encoding_of
from reservoir.solvers.device_engine import (
    MAX_POLLS,
    Argument,
    Launch,
    PopulationEngine,
    build_around,
    co_resident,
    items_for,
    lanes_for,
    local_bytes_of,
    require_countable,
    require_ordering,
)
from reservoir.solvers.island_ga import SCHEME_NAMES, DeviceIslandSettings, gene_type
from reservoir.solvers.solution import EngineResults, engine_results


@dataclass(frozen=True)
class IslandLayout:
    """How work groups share a population."""

    team: int  # work items that make a child of permutations together
    lanes: int  # real vectors that an item handles at once
    items: int  # work items of a group
    stride: int  # genes of a row, with padding
    groups: int = 1  # of a problem with a single population; of islands there is one each


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

_TEAM_LIMIT = 32
#: Words that a group has at hand beside its scratch, with padding.
_GROUP_WORDS = 6


def island_layout(
    device: DeviceInfo, problem: Problem, settings: DeviceIslandSettings, *, islands: int
) -> IslandLayout:
    """A group has an island, in local memory; `islands` of them are launched together.

    On a GPU whose warps can synchronise, a warp or a part of one makes a tour; else an item an individual, or a vector
    of them. DeviceError if local memory is too small for an island tells how large one may be; InputError if a group
    cannot have so many items, or a team.
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
        wrong, expected = "the work group size is not a multiple of the team size", f"a multiple of {team}"
        raise InputError(wrong, expected, "choose other items or another team", value=items)
    layout = IslandLayout(team=team, lanes=lanes, items=items, stride=_stride(problem))
    of_individual = layout.stride * np.dtype(gene_type(problem)).itemsize + 4 + 2 * 2
    scratch_words = -(-problem.dimension // 32) + (team if team > 1 else 0) if tours else 1
    at_hand, room = 4 * (items // team * scratch_words + _GROUP_WORDS), local_bytes_of(device)
    needed = of_individual * settings.island_size + at_hand
    if needed > room:
        fits = (room - at_hand) // of_individual
        mend = (
            f"choose islands of {fits} individuals or fewer" if fits >= 4 else "choose a device with more local memory"
        )
        wrong = (
            f"an island of {settings.island_size} individuals needs {needed:,} bytes of local memory on {device.name}"
        )
        raise DeviceError(wrong, f"at most {room:,} bytes", mend)
    return layout


def single_layout(
    device: DeviceInfo, problem: Problem, settings: DeviceIslandSettings, *, groups: int | None = None
) -> IslandLayout:
    """Groups share one population in global memory, an individual (or a vector of them) an item.

    InputError if a group cannot have so many items, or a team is asked for.
    """
    if settings.team not in (None, 1):
        raise InputError("this scheme has no teams", "a team of 1", "remove team", value=settings.team)
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
            wrong, expected = "the team size is out of range", f"1 to {_TEAM_LIMIT}"
            raise InputError(wrong, expected, "choose another team", value=settings.team)
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


class Scheme(ABC):
    """How a population uses a device: a run of problems of one program key.

    Parameters
    ----------
    launch : Launch
        With the layout of `layout_of`.
    settings : DeviceIslandSettings
        With operators of the problems' encoding; of a single population, on one island.
    """

    #: Kernel file, whether each problem has a single population in global memory, whether groups wait for each other
    #: (or read what others write meanwhile), whether the same seed gives the same bytes, and stages whose migrants are
    #: kept (0: all).
    file: ClassVar[str]
    single: ClassVar[bool] = False
    waits: ClassVar[bool] = False
    repeatable: ClassVar[bool] = True
    mail_slots: ClassVar[int] = 1

    def __init__(self, launch: Launch[IslandLayout], settings: DeviceIslandSettings) -> None:
        self.launch, self.settings = launch, settings
        count, layout = len(launch.problems), launch.layout
        self.groups = count * (layout.groups if self.single else settings.islands)
        self.launches: Counter[str] = Counter()
        self.used: dict[str, Any] = {}
        #: Buffers of the individuals' fitness: as it is, and as a migration writes it.
        self.fitness, self.fitness_after = "fitness", "fitness_after"
        stages, rows = settings.stages.astype(np.int32), count * settings.population
        mail_slots = self.mail_slots or len(stages)
        migrants = mail_slots * self.groups * max(settings.migrants, 1)
        number: Any = np.int32 if encoding_of(launch.problems[0]) == PERMUTATION else np.float32
        gene, stride = gene_type(launch.problems[0]), layout.stride
        self._contexts, self.random = launch.contexts(), launch.random_streams()
        launch.arguments(genes=((rows, stride), gene), fitness=(rows, number), fitness_after=(rows, number))
        self._islands = launch.arguments(
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
        self.stages = launch.arguments(stages=stages, probe=(3, np.int32))
        self._best = launch.arguments(best_genes=((count, stride), gene), best_fitness=(count, number))

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """How work groups share the population: islands in local memory."""
        return island_layout(device, problems[0], settings, islands=len(problems) * settings.islands)

    @abstractmethod
    def evolve(self) -> None:
        """Run all iterations."""

    def results(self) -> EngineResults:
        """Run to the end, and bring back what was found for each problem.

        The trace has the best fitness at the end of each stage, the last that of the run. In a single population nobody
        looks at the best before the end.
        """
        self.evolve()
        settings, launch, count = self.settings, self.launch, len(self.launch.problems)
        dimension, items = launch.problems[0].dimension, items_of_best(launch.session.device)
        best = ("genes", self.fitness, *self._best, np.int32(settings.population))
        launch.run("best_individuals", count, *best, items=items)
        genes, fitness, trace = launch.download("best_genes", "best_fitness", "trace")
        if settings.counted:
            in_groups, in_grid = launch.session.download("meetings").tolist()
            launches = sum(self.launches.values())
            self.used |= {"launches": launches, "group_meetings": in_groups, "grid_meetings": in_grid}
        used = {**launch.layout_settings("items", "team", "lanes"), "work_groups": self.groups, **self.used}
        recorded = [used] * count
        if settings.keep_population:
            every = launch.session.download("genes")[:, :dimension].reshape(count, -1, dimension)
            recorded = [used | {"population": population} for population in every]
        stages = settings.stages[: 0 if self.single else None]
        trace = trace.reshape(count, -1, len(settings.stages)).max(axis=1)[:, : len(stages)]
        trace[:, -1:] = fitness[:, np.newaxis]
        return engine_results(
            position=genes[:, :dimension].astype(np.float32),
            trace_fitness=trace,
            fitness_float32=fitness,
            settings=recorded,
            of_all={
                "generations": settings.generations,
                "evaluations": settings.evaluations_made,
                "trace_generations": stages,
            },
        )

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
        if not co_resident(self.launch.session):
            wrong = (
                f"{self.launch.session.device.name} does not run {self.groups:,} work groups of "
                f"{self.launch.layout.items} items at the same time, as this scheme requires: its groups wait for each "
                "other"
            )
            mend = "choose fewer islands, a larger device, or the scheme lim-is or lim-async"
            raise DeviceError(wrong, "all work groups running at the same time", mend)


def items_of_best(device: DeviceInfo) -> int:
    """Work items of the group that finds the best individual."""
    return min(ITEMS_OF_BEST[device.kind], device.max_work_group_size)


class Sak(Scheme):
    """SAK: one population, a kernel for each step."""

    file = "master_slave_ga"
    single = True

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """An item for each individual."""
        return single_layout(device, problems[0], settings)

    def begin(self) -> list[Argument]:
        """Make random individuals; where the population stands, and the places of each step and group."""
        size, parents, layout = self.settings.island_size, self.settings.parents, self.launch.layout
        steps = ((0, size), (0, parents), (parents, size), (parents, size))
        together = [layout.lanes, 1, layout.lanes, layout.lanes]
        schedule = [_shares(*step, layout.groups, each) for step, each in zip(steps, together, strict=True)]
        population = self.islands[:5] + self.launch.arguments(
            schedule=np.stack(schedule), generations=np.int32(self.settings.generations)
        )
        self.run("initialise", *population, *self.random)
        return population

    def evolve(self) -> None:
        """Select, breed, evaluate, select, ..."""
        population = self.begin()
        for iteration in range(1, self.settings.generations + 1):
            self.run("select_step", *population, np.int32(iteration))
            for step in ("breed_step", "evaluate_step"):
                self.run(step, *population, np.int32(iteration), *self.random)


def _shares(first: int, last: int, groups: int, together: int) -> NDArray[np.int32]:
    """First place of each group, and the one behind its last, shape (groups, 2)."""
    blocks = -(-(last - first) // together)
    edges = np.minimum(first + np.arange(groups + 1) * blocks // groups * together, last)
    return np.stack([edges[:-1], edges[1:]], axis=1).astype(np.int32)


class Slk(Sak):
    """SLK: one kernel whose groups meet after every step; refused where not all are at work at once."""

    waits = True

    @classmethod
    def layout_of(cls, device: DeviceInfo, problems: Sequence[Problem], settings: DeviceIslandSettings) -> IslandLayout:
        """Twice as many groups as compute units, shared by the problems."""
        units = device.compute_units * (1 if device.kind == "CPU" else GROUPS_PER_UNIT)
        return single_layout(device, problems[0], settings, groups=max(1, units // len(problems)))

    def evolve(self) -> None:
        """One launch behind the first individuals."""
        self.run("scheduled", *self.begin(), "probe", "meetings", *self.random)
        self.require_co_residency()


class LimIs(Scheme):
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


class LimCg(Scheme):
    """LIM-CG: one kernel, whose islands meet in a barrier of the grid; refused where not all are at work at once."""

    file = "island_ga_persistent"
    waits = True
    mail_slots = 2

    def evolve(self) -> None:
        """One launch."""
        self.run("evolve_together", *self.islands, *self.stages, *self.random)
        self.require_co_residency()


class LimAsync(Scheme):
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
        """Settings with operators of a problem's encoding, on one island where the scheme has a single population."""
        settings = self.settings.for_encoding(encoding_of(problem))
        return settings.panmictic() if self.scheme.single else settings

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> IslandLayout:
        """As the scheme says."""
        return self.scheme.layout_of(device, problems, self.settings_of(problems[0]))

    def build(self, device: DeviceInfo, problem: Problem, layout: IslandLayout) -> BuiltProgram:
        """The scheme's kernels; refused where groups would wait for each other in vain."""
        scheme, settings, ordering = self.scheme, self.settings_of(problem), ordering_of(device)
        if scheme.waits:
            require_ordering(device, "this scheme", "choose the scheme lim-is, tim or sak, which run anywhere")
        tours = encoding_of(problem) == PERMUTATION
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
            "HOME": "__global" if scheme.single else "__local",
            "CONTEXT_SPACE": "__global",
            "COUNTED": int(settings.counted),
            "MAX_POLLS": MAX_POLLS[device.kind],
            "ITEMS_OF_BEST": items_of_best(device),
        }
        common = ["rng/philox", "rng/numbers_of_streams", "rng/distributions"]
        common += ["sync/group_barrier", "sync/teams", "sync/grid"]
        files = ["island", *([] if scheme.single else ["island_ga"]), scheme.file, "best_individuals"]
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
