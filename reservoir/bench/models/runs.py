"""The runs of the experiment: engines in turn, so that all see the same machine; then many swarms at once.

The engines are the sequential one; every model on a device; and two other readings of how a particle learns,
sequentially: the strict choice of exemplars, and exemplars that follow the personal bests they were chosen from, which
is how the independent program that results are held against reads the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reservoir.bench.host_time import phase_seconds
from reservoir.bench.journal import Journal
from reservoir.bench.setup import DeviceSetup, names_named, seconds_of
from reservoir.problems.functions import FUNCTIONS, Function, FunctionProblem, function_problems
from reservoir.solvers import Solution
from reservoir.solvers.clpso.settings import LANES, MODELS, STRICT

DIMENSION, PARTICLES, GENERATIONS, QUICK_GENERATIONS = 30, 40, 5000, 500
#: Values of the convergence trace.
TRACE_POINTS = 100
_TRACE = "trace"
#: Settings of the sequential engines: the baseline is one thread's.
ONE_THREAD = {"threads": 1}
SEQUENTIAL, SEQUENTIAL_STRICT, SEQUENTIAL_FOLLOWING = "sequential", "sequential, strict", "sequential, following"
#: Many swarms: the function that speeds are stated on; as many swarms as the years of the paper's case, and what fills
#: a large GPU; calls of each.
FUNCTION, CASE_SWARMS, MANY_SWARMS, REPEATS = "f5", 62, 10_000, 3


@dataclass(frozen=True)
class Engine:
    """An engine of the experiment, by its name in tables: a solver of the registry, and settings.

    It may look for the best particle in every generation, as the paper's models do (Step 5).
    """

    name: str
    solver: str
    options: Mapping[str, Any] = field(default_factory=dict)
    finds_leader: bool = False


def engines(models: str | None) -> list[Engine]:
    """The engines for a list of models with commas between them, or for all models; the sequential ones always run."""
    asked = names_named(models, MODELS, "there is no such model", "--models")
    return [
        Engine(SEQUENTIAL, "clpso-sequential", ONE_THREAD),
        *(Engine(name, "clpso", {"model": name}, MODELS[name].of_the_paper) for name in MODELS if name in asked),
        Engine(SEQUENTIAL_STRICT, "clpso-sequential", {"exemplars": STRICT, **ONE_THREAD}),
        Engine(SEQUENTIAL_FOLLOWING, "clpso-sequential", {"exemplars_follow": True, **ONE_THREAD}),
    ]


@dataclass(frozen=True, kw_only=True)
class ModelSetup(DeviceSetup):
    """What is run: functions, and engines on them."""

    functions: Sequence[Function]
    engines: Sequence[Engine]

    @property
    def generations(self) -> int:
        """Of every run."""
        return self.budget.usual(GENERATIONS, QUICK_GENERATIONS)

    @property
    def models(self) -> list[str]:
        """Names of the engines that run on the device."""
        return [each.name for each in self.engines if each.name in MODELS]

    def problem(self, function: Function) -> FunctionProblem:
        """The function as a problem of which every run is a swarm."""
        return function_problems(function, 1, dimension=DIMENSION)[0]

    def swarms(self, problems: Sequence[FunctionProblem], solver: str, **settings: Any) -> Solution:
        """The first solution of a call, whose seconds are those of the whole call."""
        asked = {"particles": PARTICLES, "generations": self.generations} | settings
        return self.solve(problems, solver, **asked)[0]

    def solved(self, place: int, function: Function, run: int) -> Solution:
        """One run of an engine. No two engines share a seed: some draw the same numbers from the same."""
        engine, seed = self.engines[place], self.budget.seed + place * (self.budget.runs + 1) + run
        points = self.generations if engine.finds_leader else TRACE_POINTS
        return self.swarms([self.problem(function)], engine.solver, seed=seed, trace_points=points, **engine.options)


def model_runs(setup: ModelSetup, journal: Journal) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make all runs that the journal has not; the first of each engine on a function compiles and is not counted.

    Returned are a row a run, and a row for each value of each counted run's trace.
    """
    rows: list[dict[str, Any]] = []
    runs = product(setup.functions, range(setup.budget.runs + 1), enumerate(setup.engines))
    for function, run, (place, engine) in setup.tracked("runs", runs):
        name = f"{function.name}, {engine.name}, {run}"
        row = journal.row(name)
        if row is None:
            row = _row(function, engine, run, setup.solved(place, function, run))
            journal.add(name, row)
        rows.append(row)
    traces = [_trace(setup, row) for row in rows if row["counted"]]
    return pd.DataFrame(rows).drop(columns=_TRACE), pd.concat(traces, ignore_index=True)


def _row(function: Function, engine: Engine, run: int, solution: Solution) -> dict[str, Any]:
    """A run; what is not measured is None, which JSON knows."""
    seen = -solution.trace_fitness
    every = len(seen) // min(TRACE_POINTS, len(seen))
    value = -solution.fitness
    row = {"function": function.name, "engine": engine.name, "run": run, "seed": solution.settings["seed"]}
    row |= {"counted": run > 0, "best": -solution.fitness_float32 if function.noise else value, "value": value}
    row |= {"seconds": solution.wall_seconds, "device_seconds": solution.device_seconds}
    row |= {"evaluations": solution.evaluations, "generations": solution.generations}
    row |= phase_seconds(solution.host_seconds_by_phase, None)
    return row | {_TRACE: [float(each) for each in seen[every - 1 :: every]]}


def _trace(setup: ModelSetup, row: dict[str, Any]) -> pd.DataFrame:
    values = np.array(row[_TRACE])
    generations = np.arange(1, len(values) + 1) * (setup.generations // len(values))
    about = {key: row[key] for key in ("function", "engine", "run")}
    return pd.DataFrame(about | {"generation": generations, "best": values})


class Load(NamedTuple):
    """Swarms that an engine solves in one call."""

    engine: str
    swarms: int


def measure_throughput(setup: ModelSetup) -> pd.DataFrame:
    """Solve every load some times, in turn; a row a load, with medians. No rows if it was not asked for."""
    loads = list(_loads(setup))
    measured: dict[Load, list[tuple[float, float, float]]] = {load: [] for load in loads}
    for repeat, load in setup.tracked("many swarms", product(range(setup.budget.usual(REPEATS, 1)), loads)):
        problems = function_problems(FUNCTIONS[FUNCTION], load.swarms, dimension=DIMENSION)
        alone = load.engine == SEQUENTIAL
        solver, options = ("clpso-sequential", ONE_THREAD) if alone else ("clpso", {})
        found = setup.swarms(problems, solver, seed=setup.budget.seed + repeat, trace_points=1, **options)
        seconds, device_seconds = seconds_of(found).values()
        # Evaluations of one swarm stand for all: they are the same to a part in a thousand.
        measured[load].append((seconds, device_seconds, found.evaluations * load.swarms))
    rows = []
    for load in loads:
        seconds, device_seconds, evaluations = np.median(measured[load], axis=0)
        busy = seconds if np.isnan(device_seconds) else device_seconds
        row = {"engine": load.engine, "swarms": load.swarms, "generations": setup.generations, "seconds": seconds}
        row |= {"device_seconds": device_seconds, "evaluations_per_second": evaluations / seconds}
        rows.append(row | {"evaluations_per_device_second": evaluations / busy})
    return pd.DataFrame(rows)


def _loads(setup: ModelSetup) -> Iterator[Load]:
    if LANES in setup.models and any(each.name == FUNCTION for each in setup.functions):
        yield Load(SEQUENTIAL, CASE_SWARMS)
        yield Load(LANES, CASE_SWARMS)
        if setup.device.kind != "CPU":
            yield Load(LANES, MANY_SWARMS)
