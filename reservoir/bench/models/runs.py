"""The runs of the experiment, in turn so that all engines see the same machine, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from reservoir.bench.case.engine_runs import SEGMENTS
from reservoir.bench.journal import Journal
from reservoir.bench.models.engines import Engine
from reservoir.bench.run_budget import RunBudget
from reservoir.opencl import DeviceInfo
from reservoir.planning.plan import StageProgress
from reservoir.problems.functions import Function, FunctionProblem, function_problems
from reservoir.solvers import Solution, solve

DIMENSION, PARTICLES, GENERATIONS, QUICK_GENERATIONS = 30, 40, 5000, 500
#: Values of the convergence trace.
TRACE_POINTS = 100
_TRACE = "trace"


@dataclass(frozen=True)
class Course:
    """What is run.

    Parameters
    ----------
    functions : sequence of Function
    engines : sequence of Engine
    device : DeviceInfo
        Of the models.
    effort : RunBudget
    """

    functions: Sequence[Function]
    engines: Sequence[Engine]
    device: DeviceInfo
    effort: RunBudget

    @property
    def generations(self) -> int:
        """Of every run."""
        return QUICK_GENERATIONS if self.effort.quick else GENERATIONS

    @property
    def problems(self) -> list[FunctionProblem]:
        """Of all functions."""
        return [self.problem(function) for function in self.functions]

    def problem(self, function: Function) -> FunctionProblem:
        """The function as a problem of which every run is a swarm."""
        return function_problems(function, 1, dimension=DIMENSION)[0]

    def seed(self, place: int, run: int) -> int:
        """No two engines share a seed: some draw the same numbers from the same."""
        return self.effort.seed + place * (self.effort.runs + 1) + run

    def solve(self, place: int, function: Function, run: int) -> Solution:
        """One run of an engine."""
        engine = self.engines[place]
        points = self.generations if engine.finds_leader else TRACE_POINTS
        return solve(
            [self.problem(function)],
            solver=engine.solver,
            seed=self.seed(place, run),
            device=str(self.device.index),
            particles=PARTICLES,
            generations=self.generations,
            trace_points=points,
            **engine.options,
        )[0]


def model_runs(course: Course, journal: Journal, progress: StageProgress) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make all runs that the journal has not; the first of each engine on a function compiles and is not counted.

    Returns
    -------
    tuple of DataFrame
        A row a run, and a row for each value of each counted run's trace.
    """
    rows: list[dict[str, Any]] = []
    total = len(course.functions) * (course.effort.runs + 1) * len(course.engines)
    for function in course.functions:
        for run in range(course.effort.runs + 1):
            for place, engine in enumerate(course.engines):
                progress("runs", len(rows), total)
                rows.append(_journaled(course, journal, function, run, place, engine))
    progress("runs", total, total)
    traces = [_trace(course, row) for row in rows if row["counted"]]
    runs = pd.DataFrame([{name: value for name, value in row.items() if name != _TRACE} for row in rows])
    return runs, pd.concat(traces, ignore_index=True)


def _journaled(
    course: Course, journal: Journal, function: Function, run: int, place: int, engine: Engine
) -> dict[str, Any]:
    name = f"{function.name}, {engine.name}, {run}"
    row = journal.row(name)
    if row is None:
        row = _row(function, engine, run, course.solve(place, function, run))
        journal.add(name, row)
    return row


def _row(function: Function, engine: Engine, run: int, solution: Solution) -> dict[str, Any]:
    """A run; what is not measured is None, which JSON knows."""
    seen = -solution.trace_fitness
    every = len(seen) // min(TRACE_POINTS, len(seen))
    value = -solution.fitness
    return {
        "function": function.name,
        "engine": engine.name,
        "run": run,
        "seed": solution.settings["seed"],
        "counted": run > 0,
        "best": -solution.fitness_float32 if function.noise else value,
        "value": value,
        "seconds": solution.wall_seconds,
        "device_seconds": solution.device_seconds,
        "evaluations": solution.evaluations,
        "generations": solution.generations,
        **{f"{name}_seconds": solution.host_seconds_by_phase.get(name) for name in SEGMENTS},
        _TRACE: [float(each) for each in seen[every - 1 :: every]],
    }


def _trace(course: Course, row: dict[str, Any]) -> pd.DataFrame:
    values = np.array(row[_TRACE])
    generations = np.arange(1, len(values) + 1) * (course.generations // len(values))
    return pd.DataFrame(
        {key: row[key] for key in ("function", "engine", "run")} | {"generation": generations, "best": values}
    )


def of_engine(runs: pd.DataFrame, function: str, engine: str) -> pd.DataFrame:
    """Counted runs of an engine on a function."""
    return runs[runs["counted"].astype(bool) & (runs["function"] == function) & (runs["engine"] == engine)]
