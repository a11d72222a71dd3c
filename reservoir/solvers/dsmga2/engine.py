"""DSMGA-II: a genetic algorithm that learns which bits belong together, and mixes by that model.

Li and Yu 2017, "Speeding up DSMGA-II on CUDA platform", GECCO '17, https://doi.org/10.1145/3071178.3071228, after Hsu
and Yu 2015. Problems of bit strings are solved as they are; the variables of other problems are coded in Gray code,
those of a reservoir year as storages at the ends of its months, each within what can be reached. Populations are in the
same generation, side by side; their models are built on the host, or in OpenCL all at once (sections 4 and 5).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count, takewhile
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reservoir.errors import InputError
from reservoir.hydro.jit import compiled, inlined
from reservoir.opencl import BuiltProgram, DeviceInfo, HostClock, Session, assemble, build, choose_devices
from reservoir.problems.base import BITS, FloatArray, Problem, certify_all, encoding_of
from reservoir.solvers.device_engine import items_for, team_of
from reservoir.solvers.dsmga2 import DEVICE_MODELS, LOSSY, MOST_LOCI, ON_DEMAND, Dsmga2Settings
from reservoir.solvers.dsmga2.linkage import (
    Model,
    between_variables,
    entropy_table,
    fill_sets,
    find_matrix,
    new_model,
    rank_bits,
)
from reservoir.solvers.dsmga2.run import (
    CLIMBING,
    EQUAL,
    HIT,
    MIXING,
    Coded,
    Plain,
    Population,
    begin,
    below,
    genotype_of,
    mix,
    new_population,
    position_of,
    select,
)
from reservoir.solvers.engine import Engine, IntermediateResult, Progress, silent, threads_in_words
from reservoir.solvers.rng import stream_states
from reservoir.solvers.solution import EngineResults, Solutions, engine_results, joined_results, to_solutions

#: Names of the stages whose seconds are counted: selection, copies and matrix; linkage sets and copies; mixing.
MATRIX_STAGE, LINKAGE_STAGE, MIXING_STAGE = "matrix", "linkage", "mixing"
#: Name under which the seconds of the device are counted beside those of the stages.
DEVICE = "device"


@dataclass
class Run:
    """One problem's population on its way, the first improved by hill climbing."""

    problem: Problem
    kind: Plain | Coded  # how its bits are judged
    population: Population
    model: Model
    generations: int = 0  # done so far
    trace: list[float] = field(default_factory=list)  # the best fitness after each
    linkage: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))  # of the variables, sum of first generations

    @classmethod
    def of(cls, problem: Problem, settings: Dsmga2Settings, seed: int) -> Run:
        """A first population; InputError if a problem has no bits, or more than can be numbered."""
        kind, loci = genotype_of(problem, settings.bits)
        if not 1 <= loci <= MOST_LOCI:
            wrong, expected = f"{problem.label}: the number of bits is out of range", f"1 to {MOST_LOCI:,}"
            mend = "choose fewer bits per variable" if loci else "choose another problem"
            raise InputError(wrong, expected, mend, value=f"{loci:,}")
        optimum = getattr(problem, "optimum", None) if encoding_of(problem) == BITS else None
        states = stream_states(seed, problem.rng_stream_id, 1)
        population = new_population(loci, settings.individuals, states, math.inf if optimum is None else optimum)
        model = new_model(loci, settings.individuals, settings.model)
        begin(kind, population, np.zeros(loci, np.int64))
        return cls(problem, kind, population, model)

    @property
    def loci(self) -> int:
        """Bits of an individual."""
        return len(self.population.zobrist)

    @property
    def evaluations(self) -> int:
        """Evaluations of mixing and of hill climbing."""
        return int(self.population.tally[MIXING] + self.population.tally[CLIMBING])

    @property
    def best(self) -> tuple[NDArray[np.uint8], float]:
        """Genes of the best individual, and its fitness."""
        row = int(self.population.fitness.argmax())
        return self.population.genes[row], float(self.population.fitness[row])

    @property
    def position(self) -> FloatArray:
        """That of the best individual, as the problem takes it."""
        genes, _ = self.best
        return position_of(self.problem, self.kind, genes[: self.loci])

    def ended(self, settings: Dsmga2Settings) -> bool:
        """Whether nothing more is to be done: the optimum is there, or all individuals are equally good."""
        spent = self.generations >= settings.generations or self.evaluations >= settings.evaluations
        fitness, found_optimum = self.population.fitness, bool(self.population.tally[HIT])
        alike = bool(fitness.max() - EQUAL <= fitness.mean())
        return self.generations > 0 and (spent or found_optimum or alike)

    def add_linkage(self, matrix: NDArray[np.int64]) -> None:
        """Add a model's linkage of the variables."""
        bits = self.kind.bits if isinstance(self.kind, Coded) else 1
        linkage = between_variables(matrix, len(self.population.keys), bits)
        self.linkage = self.linkage + linkage if self.linkage.size else linkage

    def mix(self) -> None:
        """Mix by the model: a generation."""
        mix(self.kind, self.population, self.model, np.empty(len(self.population.keys), np.int64))
        self.generations += 1
        self.trace.append(self.best[1])

    def result(self, linkage_generations: int) -> EngineResults:
        """What was found; the linkage is the mean of so many generations."""
        _, fitness = self.best
        tallies = {"climbing_evaluations": CLIMBING, "mixing_evaluations": MIXING, "evaluations_to_optimum": HIT}
        counted = {name: int(self.population.tally[place]) for name, place in tallies.items()}
        return engine_results(
            position=self.position[np.newaxis],
            trace_generations=[np.arange(1, len(self.trace) + 1)],
            trace_fitness=[self.trace],
            linkage=[self.linkage / max(1, min(self.generations, linkage_generations))],
            of_all={
                "generations": self.generations,
                "evaluations": self.evaluations,
                "fitness_float32": fitness,
                "settings": {"loci": self.loci, **counted},
            },
        )


#: Does something with each of some runs, a share of them on each thread.
EachRun = Callable[[Callable[[Run], None], Sequence[Run]], None]


class HostBuilder:
    """Builds models on the host, run by run, `SEQUENTIAL` or `ON_DEMAND`.

    `seconds` are those of `MATRIX_STAGE` and `LINKAGE_STAGE` so far.
    """

    def __init__(self, building: str) -> None:
        self.seconds, self._lock, self._on_demand = Counter[str](), Lock(), building == ON_DEMAND

    def build(self, runs: Sequence[Run], each: EachRun) -> None:
        """Select, count and build; seconds are those of all threads together."""

        def build_one(run: Run) -> None:
            began = time.perf_counter()
            select(run.population, run.model)
            find_matrix(run.population.genes, run.model)
            between = time.perf_counter()
            if self._on_demand:
                run.model.lengths[:] = 0
            else:
                fill_sets(run.model)
            with self._lock:
                self.seconds.update({MATRIX_STAGE: between - began, LINKAGE_STAGE: time.perf_counter() - between})

        each(build_one, runs)

    def matrices(self, runs: Sequence[Run]) -> Sequence[NDArray[np.int64]]:
        """The dependency structure matrices of models that have just been built, each of shape (loci, loci)."""
        return [run.model.matrix for run in runs]


#: Loci of a work item of a GPU beyond which a group takes more items, and how many it takes at most; measured on an
#: H200 with 60 to 600 loci.
MOST_OWN, MOST_ITEMS = 5, 128
#: Loci of a vector on a CPU.
CPU_LANES = 8


@dataclass(frozen=True)
class ModelLayout:
    """How a model is laid out on a device."""

    loci: int
    individuals: int
    lossy: bool
    lanes: int  # loci of a vector
    items: int  # work items that make a linkage set together
    team: int  # items that exchange in registers: a warp, or 1

    @property
    def padded(self) -> int:
        """Loci and more, whole vectors."""
        return -(-self.loci // self.lanes) * self.lanes

    @property
    def words(self) -> int:
        """Words of 64 individuals of a column."""
        return -(-self.individuals // 64)

    @property
    def numbers(self) -> int:
        """Words that the host sends for a problem."""
        return 2 * self.loci * self.words + self.individuals + 4 * self.loci

    @property
    def longest(self) -> int:
        """Loci of the longest set: mixing never asks for more than half of all, and sets that may end may end there."""
        return min(max(self.loci // 2, 2), self.loci) if self.lossy else self.loci

    def constants(self) -> dict[str, int]:
        """Macros."""
        return {
            "LOCI": self.loci,
            "PADDED": self.padded,
            "PEOPLE": self.individuals,
            "WORDS": self.words,
            "LANES": self.lanes,
            "ITEMS": self.items,
            "OWN": -(-self.padded // (self.lanes * self.items)),
            "OWN_WORDS": -(-2 * self.words // self.items),
            "LONGEST": self.longest,
            "RANK_BITS": rank_bits(self.loci),
            "LOSSY": int(self.lossy),
            "TEAM": self.team,
            "WARPS": int(self.team > 1),
        }


def model_layout(
    device: DeviceInfo, loci: int, individuals: int, *, lossy: bool, items: int | None = None
) -> ModelLayout:
    """On a CPU an item makes a set, in vectors; on a GPU so many that each has a few loci, in registers.

    InputError if no group has so many items.
    """
    cpu = device.kind == "CPU"
    if items is None and not cpu:
        items = device.sub_group_size
        while items * MOST_OWN < loci and 2 * items <= min(MOST_ITEMS, device.max_work_group_size):
            items *= 2
    items = items_for(device, loci, items)
    return ModelLayout(
        loci=loci,
        individuals=individuals,
        lossy=lossy,
        lanes=CPU_LANES if cpu else 1,
        items=items,
        team=team_of(device, items),
    )


def build_model_program(device: DeviceInfo, layout: ModelLayout) -> BuiltProgram:
    """Assemble and build."""
    files = ["common/vector/lanes.cl", "common/sync/teams.cl", "solvers/dsmga2/linkage_model.cl"]
    return build(device, assemble(files, layout.constants()))


#: Rows of sets that are read at first where sets may end early: the first has their lengths, and few are longer.
FIRST_ROWS = 32
#: Work items of a group where any number would do.
ITEMS = 64


class DeviceBuilder:
    """Builds the models of up to `most` populations of one size on a device, all at once; else as `HostBuilder`.

    `program` is `build_model_program`'s of the layout, on the session's device. If `timed`, it waits between the two
    stages, so that their seconds are told apart.
    """

    def __init__(
        self, session: Session, program: BuiltProgram, layout: ModelLayout, most: int, *, timed: bool = False
    ) -> None:
        self.seconds, self.layout, self._timed = Counter[str](), layout, timed
        self._session, self._program = session, program
        self._numbers = np.zeros((most, layout.numbers), np.uint32)
        session.upload(table=entropy_table(layout.loci, layout.individuals))
        session.allocate(
            genes=((most, layout.words, layout.padded), np.uint64),
            matrix=((most, layout.padded, layout.padded), np.int64),
            sets=(layout.longest * most * layout.loci, np.uint16),
        )

    def build(self, runs: Sequence[Run], each: EachRun) -> None:
        """Select on the host, all else on the device."""
        began, layout, session, members = time.perf_counter(), self.layout, self._session, len(runs)
        rows = {id(run): row for run, row in zip(runs, self._numbers, strict=False)}
        each(lambda run: _select(run.population, run.model, layout.lossy, rows[id(run)]), runs)
        session.send(numbers=self._numbers)
        items = 1 if layout.lanes > 1 else ITEMS
        size = (-(-layout.padded // items) * items, members, layout.words)
        session.run(self._program, "count_genes", size, (items, 1, 1), "genes", "numbers")
        wide = (items, members, -(-layout.loci // layout.lanes))
        session.run(self._program, "fill_matrix", wide, (items, 1, 1), "matrix", "genes", "table")
        if self._timed:
            session.wait()
        between = time.perf_counter()
        sets = (layout.loci * layout.items, members)
        session.run(self._program, "find_sets", sets, (layout.items, 1), "sets", "matrix", "numbers")
        self._read(runs)
        self.seconds.update({MATRIX_STAGE: between - began, LINKAGE_STAGE: time.perf_counter() - between})

    def matrices(self, runs: Sequence[Run]) -> Sequence[NDArray[np.int64]]:
        """The matrices of the models that were built last."""
        loci = self.layout.loci
        return list(self._session.download("matrix", len(runs))[:, :loci, :loci])

    def _read(self, runs: Sequence[Run]) -> None:
        loci, lossy = self.layout.loci, self.layout.lossy
        across = len(runs) * loci
        if not lossy:
            whole = self._session.download("sets", across * loci, at_once=True).reshape(len(runs), loci, loci)
            for run, sets in zip(runs, whole, strict=True):
                run.model.sets[:], run.model.lengths[:] = sets, loci
            return
        rows = min(FIRST_ROWS, self.layout.longest)
        sets = self._session.download("sets", rows * across, at_once=True).reshape(rows, across)
        most = int(sets[0].max())
        if most > rows:
            sets = self._session.download("sets", most * across, at_once=True).reshape(most, across)
        for run, of_run in zip(runs, np.split(sets[:most], len(runs), axis=1), strict=True):
            run.model.sets[:, :most], run.model.lengths[:] = of_run.T, of_run[0]
            run.model.sets[:, 0] = np.arange(loci)


@compiled
def _select(population: Population, model: Model, lossy: bool, numbers: NDArray[np.uint32]) -> None:
    """Select, draw an individual for each set of a lossy model, and fill `numbers` with all that the kernels read.

    In their order: halves of the words of columns, winners, ranks, places and representatives.
    """
    select(population, model)
    if lossy:
        for locus in range(len(model.representatives)):
            model.representatives[locus] = below(population.states, len(population.keys))
    at = 0
    for locus in range(population.columns.shape[0]):
        for word in population.columns[locus]:
            numbers[at] = word & np.uint64(0xFFFFFFFF)
            numbers[at + 1] = word >> np.uint64(32)
            at += 2
    at = _appended(numbers, at, model.winners)
    at = _appended(numbers, at, model.ranks)
    at = _appended(numbers, at, model.places)
    _appended(numbers, at, model.representatives)


@inlined
def _appended(numbers: NDArray[np.uint32], at: int, part: NDArray[np.integer]) -> int:
    for place in range(len(part)):
        numbers[at + place] = part[place]
    return at + len(part)


def evolve(
    runs: Sequence[Run],
    settings: Dsmga2Settings,
    builder: HostBuilder | DeviceBuilder,
    ended: Callable[[Run], Any],
    ends: Callable[[], bool] = lambda: False,
) -> Counter[str]:
    """Bring all populations to their ends, all of them in the same generation; the seconds of each stage.

    `ended` is told every run that ends; `ends` says after each generation, but the last, whether all end with it.
    """
    seconds: Counter[str] = Counter()
    with ThreadPoolExecutor(settings.workers) as pool:

        def each(work: Callable[[Run], None], runs: Sequence[Run]) -> None:
            """A share of the runs for each thread: a task for each run would take longer than its work."""
            workers = min(settings.workers, len(runs))

            def share(first: int) -> None:
                for run in runs[first::workers]:
                    work(run)

            list(map(share, [0]) if workers == 1 else pool.map(share, range(workers)))

        active = list(runs)
        while True:
            for run in active:
                if run.ended(settings):
                    ended(run)
            active = [run for run in active if not run.ended(settings)]
            if not active or (active[0].generations and ends()):
                return seconds + builder.seconds
            builder.build(active, each)
            if active[0].generations < settings.linkage_generations:
                for run, matrix in zip(active, builder.matrices(active), strict=True):
                    run.add_linkage(matrix)
            began = time.perf_counter()
            each(Run.mix, active)
            seconds.update({MIXING_STAGE: time.perf_counter() - began})


def run_all(
    problems: Sequence[Problem],
    settings: Dsmga2Settings,
    *,
    seed: int = 1,
    device: str | None = "auto",
    progress: Progress = silent,
    ends: Callable[[Sequence[Run]], bool] = lambda _: False,
) -> tuple[list[Run], str, Counter[str]]:
    """The populations at their ends, in the problems' order; where models were built; and the seconds of each stage.

    On a device, models of populations of one size are built together. `ends` is asked after each generation, with the
    populations that have had one, whether to end with those in front of the first that has not.
    """
    with ThreadPoolExecutor(settings.workers) as pool:
        runs = list(pool.map(lambda problem: Run.of(problem, settings, seed), problems))
    done, stopped = count(1), False

    def begun() -> list[Run]:
        return [run for run in runs if run.generations]

    def stops() -> bool:
        nonlocal stopped
        stopped = ends(begun())
        return stopped

    def ended(run: Run) -> None:
        progress(next(done), len(runs))

    where = threads_in_words(settings.workers)
    if settings.model not in DEVICE_MODELS:
        return runs, where, evolve(runs, settings, HostBuilder(settings.model), ended, stops)
    chosen, seconds = choose_devices(device)[0], Counter[str]()
    for loci in dict.fromkeys(run.loci for run in runs):
        members, clock = [run for run in runs if run.loci == loci], HostClock()
        layout = model_layout(chosen, loci, settings.individuals, lossy=settings.model == LOSSY)
        with clock("build"):
            program = build_model_program(chosen, layout)
        with Session(chosen, clock) as session:
            builder = DeviceBuilder(session, program, layout, len(members))
            seconds += evolve(members, settings, builder, ended, stops)
            seconds.update({DEVICE: sum(session.device_seconds.values())})
        seconds.update(clock.seconds)
        if stopped:
            break
    return list(takewhile(lambda run: run.generations, runs)), f"{chosen.name} and {where}", seconds


class Dsmga2Engine(Engine[Dsmga2Settings]):
    """DSMGA-II, each problem with its own population, all of them side by side; models on the first of the devices."""

    name = "dsmga2"
    settings_class = Dsmga2Settings

    def solve(self, problems: Sequence[Problem], *, device: str | None, progress: Progress) -> Solutions:
        """Solve problems of bit strings or real vectors, any mixture."""
        started = time.perf_counter()
        asked: dict[str, Any] = {"seed": self.seed, "device": device, "progress": progress}
        runs, where, seconds = run_all(problems, self.settings, **asked, ends=partial(self._ends, len(problems)))
        wall_seconds = time.perf_counter() - started
        return to_solutions(
            problems,
            joined_results([run.result(self.settings.linkage_generations) for run in runs]),
            settings=self.record(),
            solver=self.name,
            device=where,
            wall_seconds=wall_seconds,
            device_seconds=seconds.pop(DEVICE, None),
            host_seconds_by_phase=dict(seconds),
        )

    def _ends(self, total: int, runs: Sequence[Run]) -> bool:
        """Whether the caller wants to end with the best of each population so far."""
        if self.stop is None:
            return False
        fitness = certify_all([run.problem for run in runs], [run.position for run in runs]).fitness
        return bool(self.stop(IntermediateResult(self.name, len(runs), total, fitness)))


ENGINE = Dsmga2Engine
