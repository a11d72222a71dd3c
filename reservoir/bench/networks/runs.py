"""Every run of the experiment: which engine, on what, how long, with what error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from reservoir.bench.networks.loads import TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5, Load
from reservoir.bench.run_budget import RunBudget
from reservoir.opencl import DeviceInfo
from reservoir.planning.plan import StageProgress
from reservoir.problems.mlp.training_error import TrainingError
from reservoir.solvers import Problem, Solution, solve
from reservoir.solvers.two_level_pso.engine import FUSED, GLOBAL, STEPS

#: Engines by name: the solver and its settings.
TWO_LEVEL, IN_STEPS, NO_LOCAL = "two-level", "two-level, a kernel a step", "no local reduction"
BASELINE = "CPU baseline"
_VARIANTS = {TWO_LEVEL: FUSED, IN_STEPS: STEPS, NO_LOCAL: GLOBAL}


@dataclass(frozen=True)
class Course:
    """What a call is to do.

    Parameters
    ----------
    device : DeviceInfo
    effort : RunBudget
    tables : tuple of int
    iterations : mapping of int to int
        By table.
    baseline_iterations : int
        Of the baseline in Tables 1, 2 and 4, whose time is stated by the iteration.
    threads : int
        Of the baseline.
    random : str
        Of `number_schemes.NUMBER_SCHEMES`.
    swarm : mapping
        Other fields of `TwoLevelSettings`.
    reach : float
        First weights are drawn from -reach to reach.
    """

    device: DeviceInfo
    effort: RunBudget
    tables: tuple[int, ...]
    iterations: dict[int, int]
    baseline_iterations: int
    threads: int
    random: str
    swarm: dict[str, Any] = field(default_factory=dict)
    reach: float = 1.0

    def problem(self, load: Load) -> Problem:
        """The problem of a load."""
        found = load.problem()
        return replace(found, reach=self.reach) if isinstance(found, TrainingError) else found

    def solved(self, engine: str, problem: Problem, particles: int, iterations: int, seed: int) -> Solution:
        """One run."""
        swarm: dict[str, Any] = {**self.swarm, "particles": particles, "generations": iterations}
        if engine == BASELINE:
            return solve([problem], solver="ann-pso-parallel", seed=seed, threads=self.threads, **swarm)[0]
        swarm |= {"variant": _VARIANTS[engine], "random": self.random}
        return solve([problem], solver="ann-pso", seed=seed, device=str(self.device.index), **swarm)[0]


@dataclass(frozen=True)
class _Task:
    load: Load
    engine: str
    iterations: int
    repeats: int


def all_runs(course: Course, progress: StageProgress) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run every load by every engine, engines in turn; rows of runs, and of the errors of Table 3 by iteration."""
    groups = [list(each) for each in _groups(course)]
    total = sum(task.repeats for tasks in groups for task in tasks)
    rows: list[dict[str, Any]] = []
    traces: list[pd.DataFrame] = []
    for tasks in groups:
        problem = course.problem(tasks[0].load)
        for task in tasks:
            course.solved(task.engine, problem, task.load.particles, 2, 0)  # compiles; not counted
        for repeat in range(max(task.repeats for task in tasks)):
            for task in (each for each in tasks if repeat < each.repeats):
                progress(f"Table {task.load.table}", len(rows), total)
                # The baseline draws other numbers, so that a test between both is one between samples.
                seed = course.effort.seed + repeat + (10_000 if task.engine == BASELINE else 0)
                found = course.solved(task.engine, problem, task.load.particles, task.iterations, seed)
                rows.append(_row(task, repeat + 1, found))
                if task.load.table == TABLE_3.table:
                    traces.append(_trace(task, repeat + 1, found))
    progress("tables", total, total)
    return pd.DataFrame(rows), pd.concat(traces, ignore_index=True) if traces else pd.DataFrame()


def _groups(course: Course) -> Iterator[Iterator[_Task]]:
    """Tasks that run in turn."""
    for table, loads in ((1, TABLE_1), (2, TABLE_2), (4, TABLE_4)):
        if table in course.tables:
            yield from (_pair(course, load, course.effort.repeats) for load in loads)
    if 3 in course.tables:
        engines = (TWO_LEVEL, IN_STEPS, NO_LOCAL, BASELINE)
        yield (_Task(TABLE_3, engine, course.iterations[3], course.effort.runs) for engine in engines)
    if 5 in course.tables:
        yield (_Task(TABLE_5, engine, course.iterations[5], 1) for engine in (TWO_LEVEL, BASELINE))


def _pair(course: Course, load: Load, repeats: int) -> Iterator[_Task]:
    yield _Task(load, TWO_LEVEL, course.iterations[load.table], repeats)
    yield _Task(load, BASELINE, course.baseline_iterations, repeats)


def _row(task: _Task, run: int, found: Solution) -> dict[str, Any]:
    return {
        "table": task.load.table,
        "load": task.load.title,
        "particles": task.load.particles,
        "engine": task.engine,
        "run": run,
        "iterations": task.iterations,
        "seconds": found.wall_seconds,
        "device_seconds": float("nan") if found.device_seconds is None else found.device_seconds,
        "error": -found.fitness,
    }


def _trace(task: _Task, run: int, found: Solution) -> pd.DataFrame:
    columns = {"iteration": found.trace_generations, "error": -found.trace_fitness}
    return pd.DataFrame({"engine": task.engine, "run": run, **columns})


def speed_pairs(course: Course, progress: StageProgress) -> pd.DataFrame:
    """Table 5's load by both engines in turn, for as many iterations: what their speeds are compared by."""
    problem, rows = course.problem(TABLE_5), []
    iterations, pairs = course.baseline_iterations, 1 if course.effort.quick else 5
    for pair in range(pairs):
        progress("speed", pair, pairs)
        found = {
            engine: course.solved(engine, problem, TABLE_5.particles, iterations, course.effort.seed + pair)
            for engine in (TWO_LEVEL, BASELINE)
        }
        seconds = {f"{engine}_seconds": each.wall_seconds for engine, each in found.items()}
        rows.append({"pair": pair + 1, "iterations": iterations, **seconds})
    progress("speed", pairs, pairs)
    frame = pd.DataFrame(rows)
    return frame.assign(ratio=frame[f"{BASELINE}_seconds"] / frame[f"{TWO_LEVEL}_seconds"])


def chosen(runs: pd.DataFrame, table: int, engine: str | None = None) -> pd.DataFrame:
    """Runs of a table, and of one engine."""
    of_table = runs["table"] == table
    return runs[of_table] if engine is None else runs[of_table & (runs["engine"] == engine)]
