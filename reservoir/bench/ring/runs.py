"""Every run of the experiment: which engine, on which function of how many variables, how long, and how good."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reservoir.bench.experiment import DeviceSetup, seconds_of
from reservoir.problems.functions import Function, FunctionProblem
from reservoir.problems.sums import RING_FUNCTIONS
from reservoir.solvers import Solutions, solve
from reservoir.solvers.ring_pso.settings import ASYNC, STAR, SYNC, RingSettings

SEQUENTIAL = "sequential"
ENGINES = (SEQUENTIAL, SYNC, ASYNC)
#: Swarms that a call solves at once where quality is measured: a large GPU has them at work together.
BATCH = 100
#: Standard PSO 2006's published values are of so many variables, evaluations and runs.
STANDARD_DIMENSION, STANDARD_EVALUATIONS, STANDARD_RUNS = 30, 30_000, 50


@dataclass(frozen=True, kw_only=True)
class RingSetup(DeviceSetup):
    """What is run: numbers of variables, and generations and particles of a swarm."""

    dimensions: tuple[int, ...]
    generations: int
    particles: int

    @property
    def shapes(self) -> list[tuple[Function, int]]:
        """Every function in every number of variables."""
        return [(function, dimension) for function in RING_FUNCTIONS.values() for dimension in self.dimensions]

    def swarms(self, engine: str, problems: list[FunctionProblem], generations: int | None = None) -> Solutions:
        """One call, that solves the problems at once."""
        swarm = {"particles": self.particles, "generations": generations or self.generations}
        if engine == SEQUENTIAL:
            return self.solve(problems, "ring-pso-sequential", **swarm)
        return self.solve(problems, "ring-pso", mode=engine, **swarm)


def all_runs(setup: RingSetup) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Rows of runs with their values; of calls with their times, a swarm alone and many at once; of Standard PSO."""
    runs: list[dict[str, Any]] = []
    times: list[dict[str, Any]] = []
    for function, dimension in setup.tracked(lambda shape: f"{shape[0].title}, {shape[1]} variables", setup.shapes):
        for engine in ENGINES:
            setup.swarms(engine, _problems(function, dimension, 0, 1), 2)  # compiles; not counted
            about = {"function": function.name, "dimension": dimension, "engine": engine}
            for first, count, alone in _calls(setup):
                found = setup.swarms(engine, _problems(function, dimension, first, count))
                times.append(about | {"swarms": count, "alone": alone} | seconds_of(found[0]))
                for place, each in enumerate(() if alone else found, start=first + 1):
                    row = {"run": place, "value": -each.fitness, "resident": each.settings.get("resident")}
                    runs.append(about | row)
    return pd.DataFrame(runs), pd.DataFrame(times), _standard_runs(setup)


def _calls(setup: RingSetup) -> Iterator[tuple[int, int, bool]]:
    """First swarm and swarms of each call: many for their quality, then one for the time that it takes alone."""
    for first in range(0, setup.budget.runs, BATCH):
        yield first, min(BATCH, setup.budget.runs - first), False
    for stream in range(setup.budget.repeats):
        yield stream, 1, True


def _problems(function: Function, dimension: int, first: int, count: int) -> list[FunctionProblem]:
    return [FunctionProblem(function, dimension, stream) for stream in range(first, first + count)]


def _standard_runs(setup: RingSetup) -> pd.DataFrame:
    """Standard PSO 2006 on the functions whose values are published."""
    settings = RingSettings.standard_2006(STANDARD_DIMENSION, STANDARD_EVALUATIONS).as_dict()
    count = setup.budget.usual(STANDARD_RUNS, min(STANDARD_RUNS, setup.budget.runs))
    rows = []
    for name in ("sphere", "griewank", "rosenbrock", "rastrigin"):
        tasks = _problems(RING_FUNCTIONS[name], STANDARD_DIMENSION, 0, count)
        found = solve(tasks, solver="ring-pso-sequential", seed=setup.budget.seed, topology=STAR, **settings)
        rows += [
            {"function": name, "run": run, "value": -each.fitness, "evaluations": each.evaluations}
            for run, each in enumerate(found, start=1)
        ]
    return pd.DataFrame(rows)
