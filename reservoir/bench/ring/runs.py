"""Every run of the experiment: which engine, on which function of how many variables, how long, and how good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from reservoir.bench.effort import RunBudget
from reservoir.opencl import DeviceInfo
from reservoir.planning.plan import StageProgress
from reservoir.problems.sums.functions import RING_FUNCTIONS, RingFunction, RingProblem
from reservoir.solvers import Solution, solve
from reservoir.solvers.ring_pso.engine import ASYNC, SYNC
from reservoir.solvers.ring_pso.sequential import STAR
from reservoir.solvers.ring_pso.settings import RingSettings

SEQUENTIAL = "sequential"
ENGINES = (SEQUENTIAL, SYNC, ASYNC)
#: Swarms that a call solves at once where quality is measured: a large GPU has them at work together.
BATCH = 100
#: Standard PSO 2006's published values are of so many variables, evaluations and runs.
STANDARD_DIMENSION, STANDARD_EVALUATIONS, STANDARD_RUNS = 30, 30_000, 50


@dataclass(frozen=True)
class Course:
    """What a call is to do.

    Parameters
    ----------
    device : DeviceInfo
    effort : RunBudget
    dimensions : tuple of int
    generations, particles : int
    """

    device: DeviceInfo
    effort: RunBudget
    dimensions: tuple[int, ...]
    generations: int
    particles: int

    def solved(self, engine: str, problems: list[RingProblem], generations: int | None = None) -> list[Solution]:
        """One call."""
        swarm: dict[str, Any] = {"particles": self.particles, "generations": generations or self.generations}
        if engine == SEQUENTIAL:
            return solve(problems, solver="ring-pso-sequential", seed=self.effort.seed, **swarm)
        device = str(self.device.index)
        return solve(problems, solver="ring-pso", seed=self.effort.seed, device=device, mode=engine, **swarm)


def all_runs(course: Course, progress: StageProgress) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of runs with their values, and of calls with their times: a swarm alone, and many at once."""
    runs: list[dict[str, Any]] = []
    times: list[dict[str, Any]] = []
    shapes = [(function, dimension) for function in RING_FUNCTIONS.values() for dimension in course.dimensions]
    for done, (function, dimension) in enumerate(shapes):
        progress(f"{function.title}, {dimension} variables", done, len(shapes))
        for engine in ENGINES:
            course.solved(engine, _problems(function, dimension, 0, 1), 2)  # compiles; not counted
            _measure(course, engine, function, dimension, runs, times)
    progress("tables", len(shapes), len(shapes))
    return pd.DataFrame(runs), pd.DataFrame(times)


def _problems(function: RingFunction, dimension: int, first: int, count: int) -> list[RingProblem]:
    return [RingProblem(function, dimension, stream) for stream in range(first, first + count)]


def _measure(
    course: Course,
    engine: str,
    function: RingFunction,
    dimension: int,
    runs: list[dict[str, Any]],
    times: list[dict[str, Any]],
) -> None:
    about = {"function": function.name, "dimension": dimension, "engine": engine}
    for first in range(0, course.effort.runs, BATCH):
        count = min(BATCH, course.effort.runs - first)
        found = course.solved(engine, _problems(function, dimension, first, count))
        runs += [
            about | {"run": first + place + 1, "value": -each.fitness, "resident": each.settings.get("resident")}
            for place, each in enumerate(found)
        ]
        times.append(about | {"swarms": count, "alone": False} | _times(found))
    for stream in range(course.effort.repeats):
        found = course.solved(engine, _problems(function, dimension, stream, 1))
        times.append(about | {"swarms": 1, "alone": True} | _times(found))


def _times(found: list[Solution]) -> dict[str, float]:
    device = found[0].device_seconds
    return {
        "seconds": found[0].wall_seconds,
        "device_seconds": float("nan") if device is None else device,
    }


def standard_runs(course: Course) -> pd.DataFrame:
    """Standard PSO 2006 on the functions whose values are published."""
    settings = RingSettings.standard_2006(STANDARD_DIMENSION, STANDARD_EVALUATIONS).as_dict()
    count = min(STANDARD_RUNS, course.effort.runs) if course.effort.quick else STANDARD_RUNS
    rows = []
    for name in ("sphere", "griewank", "rosenbrock", "rastrigin"):
        tasks = _problems(RING_FUNCTIONS[name], STANDARD_DIMENSION, 0, count)
        found = solve(tasks, solver="ring-pso-sequential", seed=course.effort.seed, topology=STAR, **settings)
        rows += [
            {"function": name, "run": place + 1, "value": -each.fitness, "evaluations": each.evaluations}
            for place, each in enumerate(found)
        ]
    return pd.DataFrame(rows)
