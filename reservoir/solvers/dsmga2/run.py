"""Generations of many populations side by side: selection, model, mixing."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reservoir.problems.base import FloatArray, Problem
from reservoir.problems.encoding import BITS, encoding_of
from reservoir.solvers.dsmga2.genotype import Coded, Plain, genotype_of
from reservoir.solvers.dsmga2.information import between_variables
from reservoir.solvers.dsmga2.linkage import fill_sets, find_matrix
from reservoir.solvers.dsmga2.mixing import mix
from reservoir.solvers.dsmga2.model import Model, new_model
from reservoir.solvers.dsmga2.population import CLIMBING, EQUAL, HIT, MIXING, Population, begin, new_population, select
from reservoir.solvers.dsmga2.settings import ON_DEMAND, Dsmga2Settings, require_loci

#: Names of the stages whose seconds are counted: selection, copies and matrix; linkage sets and copies; mixing.
MATRIX_STAGE, LINKAGE_STAGE, MIXING_STAGE = "matrix", "linkage", "mixing"


@dataclass
class Run:
    """One problem's population on its way.

    Parameters
    ----------
    problem : Problem
    kind : Plain or Coded
        How its bits are judged.
    population : Population
    model : Model
    generations : int
        Done so far.
    trace : list of float
        The best fitness after each.
    linkage : ndarray, shape (variables, variables)
        Sum of the linkage of the variables in the first generations.
    """

    problem: Problem
    kind: Plain | Coded
    population: Population
    model: Model
    generations: int = 0
    trace: list[float] = field(default_factory=list)
    linkage: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

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

    def ended(self, settings: Dsmga2Settings) -> bool:
        """Whether nothing more is to be done: the optimum is there, or all individuals are equally good."""
        if self.generations == 0:
            return False
        spent = self.generations >= settings.generations or self.evaluations >= settings.evaluations
        fitness = self.population.fitness
        return spent or bool(self.population.tally[HIT]) or bool(fitness.max() - EQUAL <= fitness.mean())

    def add_linkage(self, matrix: NDArray[np.int64]) -> None:
        """Add a model's linkage of the variables."""
        shared = between_variables(
            matrix, len(self.population.keys), self.kind.bits if isinstance(self.kind, Coded) else 1
        )
        self.linkage = self.linkage + shared if self.linkage.size else shared


class Builder(Protocol):
    """Builds the models of populations; `seconds` are those of `MATRIX_STAGE` and `LINKAGE_STAGE` so far."""

    seconds: Counter[str]

    def build(self, runs: Sequence[Run], each: Callable[[Callable[[Run], None], Sequence[Run]], None]) -> None:
        """Fill sets and lengths of every run's model, `each` run by itself or all together."""

    def matrices(self, runs: Sequence[Run]) -> Sequence[NDArray[np.int64]]:
        """The dependency structure matrices, each of shape (loci, loci), of models that have just been built."""


class HostBuilder:
    """Builds on the host, run by run.

    Parameters
    ----------
    building : str
        `settings.SEQUENTIAL` or `settings.ON_DEMAND`.
    """

    def __init__(self, building: str) -> None:
        self.seconds: Counter[str] = Counter()
        self._lock = Lock()
        self._on_demand = building == ON_DEMAND

    def build(self, runs: Sequence[Run], each: Callable[[Callable[[Run], None], Sequence[Run]], None]) -> None:
        """Select, count and build; seconds are those of all threads together."""
        each(self._build_one, runs)

    def matrices(self, runs: Sequence[Run]) -> Sequence[NDArray[np.int64]]:
        """The matrices of the models."""
        return [run.model.matrix for run in runs]

    def _build_one(self, run: Run) -> None:
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


def new_run(problem: Problem, settings: Dsmga2Settings, seed: int) -> Run:
    """A first population, improved by hill climbing."""
    kind, loci = genotype_of(problem, settings.bits)
    require_loci(problem, loci)
    optimum = getattr(problem, "optimum", None) if encoding_of(problem) == BITS else None
    population = new_population(
        loci,
        settings.individuals,
        seed=seed,
        rng_stream_id=problem.rng_stream_id,
        optimum=math.inf if optimum is None else optimum,
    )
    model = new_model(loci, settings.individuals, settings.model)
    run = Run(problem=problem, kind=kind, population=population, model=model)
    begin(kind, population, np.zeros(loci, np.int64))
    return run


def evolve(
    runs: Sequence[Run], settings: Dsmga2Settings, builder: Builder, ended: Callable[[Run], Any]
) -> Counter[str]:
    """Bring all populations to their ends; all of them are in the same generation.

    Parameters
    ----------
    runs : sequence of Run
        From `new_run`.
    settings : Dsmga2Settings
    builder : Builder
    ended : callable
        Told every run that ends.

    Returns
    -------
    Counter
        Seconds of each stage.
    """
    seconds: Counter[str] = Counter()
    with ThreadPoolExecutor(settings.workers) as pool:

        def each(work: Callable[[Run], None], runs: Sequence[Run]) -> None:
            """A share of the runs for each thread: a task for each run would take longer than its work."""
            workers = min(settings.workers, len(runs))
            if workers == 1:
                _one_by_one(work, runs)
            else:
                list(pool.map(lambda first: _one_by_one(work, runs[first::workers]), range(workers)))

        active = list(runs)
        while True:
            for run in active:
                if run.ended(settings):
                    ended(run)
            active = [run for run in active if not run.ended(settings)]
            if not active:
                return seconds + builder.seconds
            builder.build(active, each)
            if active[0].generations < settings.linkage_generations:
                for run, matrix in zip(active, builder.matrices(active), strict=True):
                    run.add_linkage(matrix)
            began = time.perf_counter()
            each(_mix, active)
            seconds.update({MIXING_STAGE: time.perf_counter() - began})


def _one_by_one(work: Callable[[Run], None], runs: Sequence[Run]) -> None:
    for run in runs:
        work(run)


def _mix(run: Run) -> None:
    mix(run.kind, run.population, run.model, np.empty(len(run.population.keys), np.int64))
    run.generations += 1
    run.trace.append(run.best[1])
