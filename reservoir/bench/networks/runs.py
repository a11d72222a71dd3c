"""Every run of the experiment: which engine, on what, how long, with what error; and searches for a policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import pandas as pd

import reservoir as package
from reservoir.bench.experiment import DeviceSetup, seconds_of
from reservoir.bench.networks.loads import TABLE_1, TABLE_2, TABLE_3, TABLE_4, TABLE_5, Load
from reservoir.planning.plan import optimise
from reservoir.problems.mlp.perceptron import Perceptron
from reservoir.problems.mlp.training_error import TrainingError
from reservoir.rules import Forecast, Training
from reservoir.rules.families.ann import Scales, input_names
from reservoir.rules.families.ann_operation import NetworkOperation
from reservoir.rules.families.ann_training import SETTLING
from reservoir.solvers import Problem, Solution, solve
from reservoir.solvers.two_level_pso.settings import FUSED, GLOBAL, STEPS, TwoLevelSettings

#: Engines by name, and variants of the solver on a device.
TWO_LEVEL, IN_STEPS, NO_LOCAL = "two-level", "two-level, a kernel a step", "no local reduction"
BASELINE = "CPU baseline"
_VARIANTS = {TWO_LEVEL: FUSED, IN_STEPS: STEPS, NO_LOCAL: GLOBAL}
#: Of the search for a policy.
HIDDEN, PARTICLES, GENERATIONS, QUICK_GENERATIONS, GROUP = 8, 512, 2000, 50, 32


@dataclass(frozen=True, kw_only=True)
class NetworkSetup(DeviceSetup):
    """What is run: tables of the paper, and iterations by table.

    The baseline has iterations of its own in Tables 1, 2 and 4, where its time is stated by the iteration, and threads.
    Random numbers are of a scheme of `two_level_pso.engine`; other fields of `TwoLevelSettings` are the swarm's; first
    weights are drawn from -reach to reach.
    """

    tables: tuple[int, ...]
    iterations: Mapping[int, int]
    baseline_iterations: int
    threads: int
    random: str
    swarm: Mapping[str, Any] = field(default_factory=dict)
    reach: float = 1.0

    def origin(self) -> dict[str, Any]:
        """Program, machine, budget and settings."""
        settings, varied = TwoLevelSettings(**self.swarm).as_dict(), ("particles", "generations")
        about = {name: getattr(self, name) for name in ("baseline_iterations", "threads", "random")}
        about |= {"iterations": {f"table {table}": self.iterations[table] for table in self.tables}}
        settings = {name: value for name, value in settings.items() if name not in varied} | {"reach": self.reach}
        return super().origin() | {"tables": list(self.tables)} | about | {"settings": settings}

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
        return self.solve([problem], "ann-pso", seed=seed, **swarm)[0]


class _Task(NamedTuple):
    load: Load
    engine: str
    iterations: int
    repeats: int


def all_runs(setup: NetworkSetup) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run every load by every engine, engines in turn; rows of runs, and of the errors of Table 3 by iteration."""
    rows: list[dict[str, Any]] = []
    traces: list[pd.DataFrame] = []
    for tasks in setup.tracked(lambda tasks: f"Table {tasks[0].load.table}", _groups(setup)):
        load = tasks[0].load
        problem = setup.problem(load)
        for task in tasks:
            setup.solved(task.engine, problem, load.particles, 2, 0)  # compiles; not counted
        for repeat in range(max(task.repeats for task in tasks)):
            for task in (each for each in tasks if repeat < each.repeats):
                # The baseline draws other numbers, so that a test between both is one between samples.
                seed = setup.budget.seed + repeat + (10_000 if task.engine == BASELINE else 0)
                found = setup.solved(task.engine, problem, load.particles, task.iterations, seed)
                about = {"engine": task.engine, "run": repeat + 1}
                row = {"table": load.table, "load": load.title, "particles": load.particles} | about
                rows.append(row | {"iterations": task.iterations} | seconds_of(found) | {"error": -found.fitness})
                if load == TABLE_3:
                    columns = {"iteration": found.trace_generations, "error": -found.trace_fitness}
                    traces.append(pd.DataFrame(about | columns))
    return pd.DataFrame(rows), pd.concat(traces, ignore_index=True) if traces else pd.DataFrame()


def _groups(setup: NetworkSetup) -> Iterator[list[_Task]]:
    """Tasks that run in turn."""
    iterations, budget = setup.iterations, setup.budget
    for load in (*TABLE_1, *TABLE_2, *TABLE_4):
        if load.table in setup.tables:
            yield [
                _Task(load, TWO_LEVEL, iterations[load.table], budget.repeats),
                _Task(load, BASELINE, setup.baseline_iterations, budget.repeats),
            ]
    if 3 in setup.tables:
        yield [_Task(TABLE_3, engine, iterations[3], budget.runs) for engine in (*_VARIANTS, BASELINE)]
    if 5 in setup.tables:
        yield [_Task(TABLE_5, engine, iterations[5], 1) for engine in (TWO_LEVEL, BASELINE)]


def speed_pairs(setup: NetworkSetup) -> pd.DataFrame:
    """Table 5's load by both engines in turn, for as many iterations: what their speeds are compared by."""
    problem, rows, iterations = setup.problem(TABLE_5), [], setup.baseline_iterations
    for pair in setup.tracked("speed", range(setup.budget.usual(5, 1) if 5 in setup.tables else 0)):
        row: dict[str, Any] = {"pair": pair + 1, "iterations": iterations}
        for engine in (TWO_LEVEL, BASELINE):
            found = setup.solved(engine, problem, TABLE_5.particles, iterations, setup.budget.seed + pair)
            row[f"{engine}_seconds"] = found.wall_seconds
        rows.append(row | {"ratio": row[f"{BASELINE}_seconds"] / row[f"{TWO_LEVEL}_seconds"]})
    return pd.DataFrame(rows)


def policy_searches(setup: NetworkSetup) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Search all years of the bundled case, the second stage of the `ann` rule: a row a run, and the case's caveats."""
    case = package.bundled_case()
    plan = optimise(case.reservoir(), case.inflow(), solver="dp", reference=False)
    training = Training.of(plan)
    network = Perceptron(len(input_names(Forecast.MONTH)), HIDDEN, 1, bias=True)
    operation = NetworkOperation.of(training, network, Forecast.MONTH, Scales.of(training))
    generations = setup.budget.usual(GENERATIONS, QUICK_GENERATIONS)
    swarm: dict[str, Any] = {"particles": PARTICLES, "group": GROUP, **SETTLING, "generations": generations}
    rows = []
    for run in setup.tracked("policy search", range(setup.budget.repeats + 1)):  # the first compiles
        found = setup.solve([operation], "ann-pso", seed=setup.budget.seed + run, **swarm)[0]
        row = {"run": run, "years": training.years, "network": str(network), "particles": PARTICLES}
        rows.append(row | {"generations": generations} | seconds_of(found) | {"gwh_a_year": found.fitness})
    return pd.DataFrame(rows[1:]), plan.caveats
