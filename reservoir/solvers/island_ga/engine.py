"""Genetic algorithm on islands in OpenCL, for real vectors and for tours.

Alraslan and AlKurdi 2023, "A lightweight island model for the genetic algorithm over GPGPU", IJECES 14(7). The kernels
are ``kernels/solvers/island_ga``, with the encodings of ``kernels/encodings``. A work group has an island. The same
seed gives the same bytes, but not in ``lim-async``, whose islands take what their neighbours happen to have left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import DeviceError, InputError
from reservoir.opencl import BuiltProgram, DeviceInfo, ordering_of
from reservoir.problems.base import PERMUTATION, Problem, encoding_of
from reservoir.solvers.device_engine import (
    LOCAL_RESERVE_BYTES,
    MAX_POLLS,
    Argument,
    Launch,
    PopulationEngine,
    build_around,
    co_resident,
    items_for,
    lanes_for,
    require_countable,
    require_ordering,
)
from reservoir.solvers.island_ga import DeviceIslandSettings, gene_type
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
    at_hand, room = 4 * (items // team * scratch_words + _GROUP_WORDS), device.local_memory_bytes - LOCAL_RESERVE_BYTES
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


class Evolution:
    """Populations of problems of one program key at work on a device, from their first individuals to their best."""

    def __init__(self, launch: Launch, scheme: Scheme, settings: DeviceIslandSettings) -> None:
        self.launch, self.scheme, self.settings = launch, scheme, settings
        count, layout = len(launch.problems), launch.layout
        self.groups = count * (layout.groups if scheme.single else settings.islands)
        self.launches: Counter[str] = Counter()
        self.used: dict[str, Any] = {}
        #: Buffers of the individuals' fitness: as it is, and as a migration writes it.
        self.fitness, self.fitness_after = "fitness", "fitness_after"
        stages, rows = settings.stages.astype(np.int32), count * settings.population
        mail_slots = scheme.mail_slots or len(stages)
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

    def results(self) -> EngineResults:
        """Run to the end, and bring back what was found for each problem.

        The trace has the best fitness at the end of each stage, the last that of the run. In a single population nobody
        looks at the best before the end.
        """
        self.scheme.evolve(self)
        settings, launch, count = self.settings, self.launch, len(self.launch.problems)
        dimension, items = launch.problems[0].dimension, items_of_best(launch.session.device)
        best = ("genes", self.fitness, *self._best, np.int32(settings.population))
        launch.run("best_individuals", count, *best, items=items)
        genes, fitness, trace = map(launch.session.download, ("best_genes", "best_fitness", "trace"))
        if settings.counted:
            in_groups, in_grid = launch.session.download("meetings").tolist()
            launches = sum(self.launches.values())
            self.used |= {"launches": launches, "group_meetings": in_groups, "grid_meetings": in_grid}
        used = {
            "items": launch.layout.items,
            "team": launch.layout.team,
            "lanes": launch.layout.lanes,
            "work_groups": self.groups,
            **self.used,
        }
        recorded = [used] * count
        if settings.keep_population:
            every = launch.session.download("genes")[:, :dimension].reshape(count, -1, dimension)
            recorded = [used | {"population": population} for population in every]
        stages = settings.stages[: 0 if self.scheme.single else None]
        trace = trace.reshape(count, -1, len(settings.stages)).max(axis=1)[:, : len(stages)]
        trace[:, -1:] = fitness[:, np.newaxis]
        return engine_results(
            position=genes[:, :dimension].astype(np.float32),
            trace_fitness=trace,
            fitness_float32=fitness,
            settings=recorded,
            of_all=settings.work | {"trace_generations": stages},
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


def _shares(first: int, last: int, groups: int, together: int) -> NDArray[np.int32]:
    """First place of each group, and the one behind its last, shape (groups, 2)."""
    blocks = -(-(last - first) // together)
    edges = np.minimum(first + np.arange(groups + 1) * blocks // groups * together, last)
    return np.stack([edges[:-1], edges[1:]], axis=1).astype(np.int32)


def _first_single(run: Evolution) -> list[Argument]:
    """Make random individuals; where a single population stands, and the places of each step and group."""
    size, parents, layout = run.settings.island_size, run.settings.parents, run.launch.layout
    steps = ((0, size), (0, parents), (parents, size), (parents, size))
    together = [layout.lanes, 1, layout.lanes, layout.lanes]
    schedule = [_shares(*step, layout.groups, each) for step, each in zip(steps, together, strict=True)]
    population = run.islands[:5] + run.launch.arguments(
        schedule=np.stack(schedule), generations=np.int32(run.settings.generations)
    )
    run.run("initialise", *population, *run.random)
    return population


def sak(run: Evolution) -> None:
    """SAK: one population, a kernel for each step: select, breed, evaluate, select, ..."""
    population = _first_single(run)
    for iteration in range(1, run.settings.generations + 1):
        run.run("select_step", *population, np.int32(iteration))
        for step in ("breed_step", "evaluate_step"):
            run.run(step, *population, np.int32(iteration), *run.random)


def slk(run: Evolution) -> None:
    """SLK: one kernel whose groups meet after every step; refused where not all are at work at once."""
    run.run("scheduled", *_first_single(run), "probe", "meetings", *run.random)
    run.require_co_residency()


def lim_is(run: Evolution, each: int | None = None) -> None:
    """LIM-IS: three kernels; a launch evolves all islands from one migration to the next, or `each` so many iterations.

    Evolve, migrate, evolve, ...
    """
    stages = run.settings.stages.tolist()
    run.run("initialise", *run.islands, *run.random)
    for stage, (before, last) in enumerate(pairwise([0, *stages])):
        for first in range(before, last, each or last - before):
            span = np.int32(first), np.int32(min(first + each, last) if each else last)
            run.run("evolve", *run.islands, *span, *run.random)
        if last != stages[-1]:
            run.run("migrate", *run.islands, np.int32(stage), run.fitness_after)
            run.fitness, run.fitness_after = run.fitness_after, run.fitness


def tim(run: Evolution) -> None:
    """TIM: a launch for each iteration, an item for each individual."""
    lim_is(run, each=1)


def lim_cg(run: Evolution) -> None:
    """LIM-CG: one kernel, whose islands meet in a barrier of the grid; refused where not all are at work at once."""
    run.run("evolve_together", *run.islands, *run.stages, *run.random)
    run.require_co_residency()


def lim_async(run: Evolution) -> None:
    """LIM-async: one kernel without a barrier between islands, cut into slices where not all are at work at once."""
    posted, slice_stages = run.launch.arguments(posted=(run.groups, np.int32)), run.settings.slice_stages
    run.run("initialise", *run.islands, *run.random)
    for first in range(0, len(run.settings.stages), slice_stages):
        span = np.int32(first), np.int32(slice_stages)
        run.run("evolve_apart", *run.islands, *run.stages, *posted, *span, *run.random)
        if first == 0 and (resident := co_resident(run.launch.session)):  # as the probe says from now on
            break
    run.used |= {"resident": resident, "slice_stages": 0 if resident else slice_stages}


@dataclass(frozen=True)
class Scheme:
    """How a population uses a device."""

    evolve: Callable[[Evolution], None]  # runs all iterations
    file: str  # of its kernels
    single: bool = False  # each problem has a single population in global memory
    waits: bool = False  # groups wait for each other, or read what others write meanwhile
    repeatable: bool = True  # the same seed gives the same bytes
    mail_slots: int = 1  # stages whose migrants are kept; 0 for all


SCHEMES = {
    "lim-is": Scheme(lim_is, "island_ga_launches"),
    "lim-cg": Scheme(lim_cg, "island_ga_persistent", waits=True, mail_slots=2),
    "lim-async": Scheme(lim_async, "island_ga_persistent", waits=True, repeatable=False, mail_slots=0),
    "tim": Scheme(tim, "island_ga_launches"),
    "sak": Scheme(sak, "master_slave_ga", single=True),
    "slk": Scheme(slk, "master_slave_ga", single=True, waits=True),
}


class IslandEngine(PopulationEngine[DeviceIslandSettings]):
    """The genetic algorithm, each problem with islands of its own."""

    name = "island-ga"
    settings_class = DeviceIslandSettings
    launch_evaluations: ClassVar[dict[str, int]] = {"GPU": 10**10, "accelerator": 5 * 10**8, "CPU": 10**7}

    @property
    def scheme(self) -> Scheme:
        """How a population uses a device."""
        return SCHEMES[self.settings.scheme]

    def settings_of(self, problem: Problem) -> DeviceIslandSettings:
        """Settings with operators of a problem's encoding, on one island where the scheme has a single population."""
        settings = self.settings.for_encoding(encoding_of(problem))
        return settings.panmictic() if self.scheme.single else settings

    def layout(self, device: DeviceInfo, problems: Sequence[Problem]) -> IslandLayout:
        """Islands in local memory; of TIM with an item for each individual. A single population by items.

        SLK has twice as many groups as compute units, shared by the problems.
        """
        settings, cpu = self.settings_of(problems[0]), device.kind == "CPU"
        if self.scheme.single:
            units = device.compute_units * (1 if cpu else GROUPS_PER_UNIT)
            groups = max(1, units // len(problems)) if self.scheme.waits else None
            return single_layout(device, problems[0], settings, groups=groups)
        if settings.scheme == "tim":
            every = None if cpu else min(settings.island_size, device.max_work_group_size)
            settings = replace(settings, items=every if settings.items is None else settings.items, team=1)
        return island_layout(device, problems[0], settings, islands=len(problems) * settings.islands)

    def build(self, device: DeviceInfo, problem: Problem, layout: IslandLayout) -> BuiltProgram:
        """The scheme's kernels; refused where groups would wait for each other in vain."""
        scheme, settings, ordering = self.scheme, self.settings_of(problem), ordering_of(device)
        if scheme.waits:
            require_ordering(device, "this scheme", "choose the scheme lim-is, tim or sak, which run anywhere")
        tours = encoding_of(problem) == PERMUTATION
        constants = {
            **settings.macros("parents", "crossed", "migrants", "blend", "mutation_scale"),
            "SIZE": settings.island_size,
            "ORDER_CROSSOVER": int(settings.crossover == "order"),
            "TWO_OPT": int(settings.mutation == "two-opt"),
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
        after = [f"solvers/island_ga/{file}" for file in files]
        after.insert(1, "encodings/permutation" if tours else "encodings/real_vector")
        kernel, options = problem.kernel(fine=True), ordering.options(scheme.waits)
        return build_around(kernel, device, constants, common=common, after=after, options=options)

    def run(self, launch: Launch) -> EngineResults:
        """As the scheme says."""
        return Evolution(launch, self.scheme, self.settings_of(launch.problems[0])).results()


ENGINE = IslandEngine
