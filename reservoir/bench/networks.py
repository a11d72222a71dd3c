"""Networks trained by particle swarms as Li and Liu 2017 measured them: Tables 1 to 5, and policy search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import reservoir as package
from reservoir.bench.experiment import DeviceStudy, RunBudget, bundled, numbers_named, processor_name
from reservoir.bench.figures import BASE_LOOK, CHAINED, DASHED, MAIN_LOOK, lines, log_axis, number_ticks
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import Frame, ResultTable, Row, by, p_value, seconds_of, select, summary
from reservoir.planning.checks import Check
from reservoir.planning.plan import optimise
from reservoir.planning.validation import SIGNIFICANCE
from reservoir.problems.functions import FUNCTIONS, ROSENBROCK_SWAPPED, Function, function_problems
from reservoir.problems.mlp import Perceptron, TrainingError, modelled, taught
from reservoir.report.figures.style import POWER, RELEASE, Look, on_axes, sheet_figure
from reservoir.rules import Forecast, Training
from reservoir.rules.families.ann import Scales, input_names
from reservoir.rules.families.ann_operation import NetworkOperation
from reservoir.rules.families.ann_training import SETTLING
from reservoir.solvers import Problem, Solutions, solve
from reservoir.solvers.two_level_pso import FUSED, GLOBAL, STEPS, TwoLevelSettings

#: Engines by name, and variants of the solver on a device.
TWO_LEVEL, IN_STEPS, NO_LOCAL = "two-level", "two-level, a kernel a step", "no local reduction"
BASELINE = "CPU baseline"
_VARIANTS = {TWO_LEVEL: FUSED, IN_STEPS: STEPS, NO_LOCAL: GLOBAL}
#: Particles where the paper does not vary them, and the iterations of its Tables 1 and 2.
PARTICLES, PAPER_ITERATIONS = 1024, 100_000
#: Variables of the functions of Table 4: the paper gives none.
FUNCTION_DIMENSION = 64
#: Iterations by table, and of the baseline where its time alone counts.
ITERATIONS = {1: 2000, 2: 2000, 3: 1000, 4: 1000, 5: 2000}
QUICK_ITERATIONS = {1: 100, 2: 100, 3: 100, 4: 100, 5: 20}
BASELINE_ITERATIONS, QUICK_BASELINE_ITERATIONS, THREADS = 100, 10, 2
#: Of the search for a policy.
HIDDEN, NETWORKS, GENERATIONS, QUICK_GENERATIONS, GROUP = 8, 512, 2000, 50, 32


@dataclass(frozen=True)
class Load:
    """A problem, as it is made, and a number of particles, of a table of the paper.

    The paper's seconds are those of its C++ program on a CPU and its OpenCL program on a GPU; NaN where there are none.
    """

    table: int
    title: str
    problem: Callable[[], Problem]
    particles: int = PARTICLES
    paper_baseline: float = np.nan
    paper_opencl: float = np.nan


def _function(function: Function) -> Callable[[], Problem]:
    return lambda: function_problems(function, 1, dimension=FUNCTION_DIMENSION)[0]


def _network(shape: str) -> Callable[[], Problem]:
    inputs, hidden, outputs = map(int, shape.split("-"))
    return lambda: taught(Perceptron(inputs, hidden, outputs), 50)


_PAPER = bundled("networks")
LOADS: dict[int, tuple[Load, ...]] = {
    1: tuple(Load(1, f"{count} particles", _network("3-10-2"), count, *s) for count, s in _PAPER["table_1"].items()),
    2: tuple(Load(2, shape, _network(shape), PARTICLES, *s) for shape, s in _PAPER["table_2"].items()),
    3: (Load(3, "6-30-2, 100 samples", lambda: modelled(100)),),
    4: (
        Load(4, "f1, sphere", _function(FUNCTIONS["f1"]), paper_opencl=_PAPER["table_4"]["f1"][0]),
        Load(4, "f2, Rosenbrock as printed", _function(ROSENBROCK_SWAPPED), paper_opencl=_PAPER["table_4"]["f2"][0]),
    ),
    5: (Load(5, "6-30-2, 5000 samples", lambda: modelled(5000)),),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkStudy(DeviceStudy):
    """What is run: tables of the paper, and iterations by table.

    The baseline has iterations of its own in Tables 1, 2 and 4, where its time is stated by the iteration, and threads.
    Random numbers are of a scheme of `two_level_pso.engine`; other fields of `TwoLevelSettings` are the swarm's; first
    weights are drawn from -reach to reach.

    Tables: ``runs``; ``errors`` of Table 3 by iteration; ``speed``: pairs of runs of Table 5's load by both engines;
    and ``policy_search``, on the bundled case.
    """

    paper = "networks"
    title = "Networks trained by particle swarms, on {study.device.name}"
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
        problem = load.problem()
        return replace(problem, reach=self.reach) if isinstance(problem, TrainingError) else problem

    def solved(self, engine: str, problem: Problem, particles: int, iterations: int, seed: int) -> Solutions:
        """One run."""
        swarm: dict[str, Any] = {**self.swarm, "particles": particles, "generations": iterations}
        if engine == BASELINE:
            return solve([problem], solver="ann-pso-parallel", seed=seed, threads=self.threads, **swarm)[0]
        swarm |= {"variant": _VARIANTS[engine], "random": self.random}
        return self.solve([problem], "ann-pso", seed=seed, **swarm)[0]

    def _measure(self) -> dict[str, pd.DataFrame]:
        runs, errors = self._all_runs()
        speed, searches = self._speed_pairs(), self._policy_searches()
        return {"runs": runs, "errors": errors, "speed": speed, "policy_search": searches}

    def _all_runs(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Run every load by every engine, engines in turn; rows of runs, and of the errors of Table 3 by iteration."""
        rows: list[Row] = []
        traces: list[pd.DataFrame] = []
        loads = [load for table in (1, 2, 4, 3, 5) if table in self.tables for load in LOADS[table]]
        for load in self.tracked(lambda load: f"Table {load.table}", loads):
            problem, iterations = self.problem(load), self.iterations[load.table]
            engines = dict.fromkeys((*_VARIANTS, BASELINE) if load.table == 3 else (TWO_LEVEL, BASELINE), iterations)
            if load.table not in (3, 5):
                engines[BASELINE] = self.baseline_iterations
            for engine in engines:
                self.solved(engine, problem, load.particles, 2, 0)  # compiles; not counted
            repeats = {3: self.budget.runs, 5: 1}.get(load.table, self.budget.repeats)
            for repeat, (engine, iterations) in product(range(repeats), engines.items()):
                # The baseline draws other numbers, so that a test between both is one between samples.
                seed = self.budget.seed + repeat + (10_000 if engine == BASELINE else 0)
                solution = self.solved(engine, problem, load.particles, iterations, seed)
                about = {"engine": engine, "run": repeat + 1}
                row = {"table": load.table, "load": load.title, "particles": load.particles} | about
                rows.append(row | {"iterations": iterations} | seconds_of(solution) | {"error": -solution.fitness})
                if load.table == 3:
                    columns = {"iteration": solution.trace_generations, "error": -solution.trace_fitness}
                    traces.append(pd.DataFrame(about | columns))
        return pd.DataFrame(rows), pd.concat(traces, ignore_index=True) if traces else pd.DataFrame()

    def _speed_pairs(self) -> pd.DataFrame:
        """Table 5's load by both engines in turn, for as many iterations: what their speeds are compared by."""
        (load,), rows, iterations = LOADS[5], [], self.baseline_iterations
        problem = self.problem(load)
        for pair in self.tracked("speed", range(self.budget.usual(5, 1) if 5 in self.tables else 0)):
            row: Row = {"pair": pair + 1, "iterations": iterations}
            for engine in (TWO_LEVEL, BASELINE):
                solution = self.solved(engine, problem, load.particles, iterations, self.budget.seed + pair)
                row[f"{engine}_seconds"] = solution.wall_seconds
            rows.append(row | {"ratio": row[f"{BASELINE}_seconds"] / row[f"{TWO_LEVEL}_seconds"]})
        return pd.DataFrame(rows)

    def _policy_searches(self) -> pd.DataFrame:
        """Search all years of the bundled case, the second stage of the `ann` rule: a row a run."""
        case = package.bundled_case()
        training = Training.of(optimise(case.reservoir(), case.inflow(), solver="dp", reference=False))
        network = Perceptron(len(input_names(Forecast.MONTH)), HIDDEN, 1, bias=True)
        operation = NetworkOperation.of(training, network, Forecast.MONTH, Scales.of(training))
        generations = self.budget.usual(GENERATIONS, QUICK_GENERATIONS)
        swarm: dict[str, Any] = {"particles": NETWORKS, "group": GROUP, **SETTLING, "generations": generations}
        rows = []
        for run in self.tracked("policy search", range(self.budget.repeats + 1)):  # the first compiles
            solution = self.solve([operation], "ann-pso", seed=self.budget.seed + run, **swarm)[0]
            row = {"run": run, "years": training.years, "network": str(network), "particles": NETWORKS}
            rows.append(row | {"generations": generations} | seconds_of(solution) | {"gwh_a_year": solution.fitness})
        return pd.DataFrame(rows[1:])

    def of_table(self, table: int) -> pd.DataFrame:
        """Runs of a table of the paper, with milliseconds of an iteration."""
        runs = select(self.data["runs"], table=table)
        ms = {f"{name}ms": 1e3 * runs[f"{name}seconds"] / runs["iterations"] for name in ("", "device_")}
        return runs.assign(**ms)

    def medians(self, table: int, *keys: str) -> Frame:
        """Medians of the same by load or engine, and their iterations, which are the same in all."""
        columns = ["seconds", "device_seconds", "error", "ms", "device_ms"]
        of = self.of_table(table).groupby(list(keys), sort=False)
        return of[columns].median().join(of["iterations"].first())

    @property
    def speed_up(self) -> float:
        """Median speed beside the baseline."""
        return float(np.median(self.data["speed"]["ratio"]))

    def claims(self) -> Iterator[Check]:
        """Claims that this device and this budget can be held to."""
        if 3 in self.tables:
            of = dict(iter(self.of_table(3).groupby("engine")))
            two_level, no_local, baseline = of[TWO_LEVEL], of[NO_LOCAL], of[BASELINE]
            names: Row = {"two_level": TWO_LEVEL, "no_local": NO_LOCAL, "baseline": BASELINE}
            if self.budget.runs > 1:
                yield self.claim("alike", p_value(two_level["error"], baseline["error"]), SIGNIFICANCE, **names)
            yield self.claim("error", two_level["error"].mean() / no_local["error"].mean(), **names)
            if self.device.kind == "GPU":
                yield self.claim("time", two_level["seconds"].median() / no_local["seconds"].median(), **names)
        if self.small_cpu or self.large_gpu:
            kind = "gpu" if self.large_gpu else "cpu"
            if 5 in self.tables:
                yield self.claim(f"{kind}_speed", self.speed_up)
            yield self.claim(f"{kind}_search", self.data["policy_search"]["seconds"].median())

    def _headlines(self) -> dict[str, str]:
        searches, headlines = self.data["policy_search"], {}
        if len(self.data["speed"]):
            words = f"{self.speed_up:,.2f} times the baseline on {self.threads} threads"
            headlines["Speed"] = f"{words} (6-30-2, 5000 samples, 1024 particles)"
        if 3 in self.tables:
            seconds = self.of_table(3).groupby("engine")["seconds"].median()
            ratio = seconds[NO_LOCAL] / seconds[TWO_LEVEL]
            headlines["Two levels"] = f"{ratio:,.1f} times as fast as without a local level"
        generations, spent = int(searches["generations"].iloc[0]), searches["seconds"].median()
        return headlines | {"Policy search": f"{spent:,.2f} s for {generations:,} generations of 512 networks"}

    def _tables(self) -> Iterator[ResultTable]:
        of_tables = {1: self._speeds, 2: self._speeds, 3: self._variants, 4: self._functions, 5: self._modelling}
        for table in self.tables:
            yield of_tables[table](table)
        if 5 in self.tables:
            yield self.table("pairs", self.data["speed"])
        case = package.bundled_case()
        caveats = (caveat for caveat in (case.inflow().caveat, case.reservoir().caveat) if caveat)
        yield self.table(
            "searches", self.data["policy_search"], *(f"{caveat[:1].upper()}{caveat[1:]}." for caveat in caveats)
        )

    def _speeds(self, table: int) -> ResultTable:
        rows, medians = [], self.medians(table, "load", "engine")
        for load in LOADS[table]:
            ours, baseline = medians.loc[load.title, TWO_LEVEL], medians.loc[load.title, BASELINE]
            row = {"load": load.title, "OpenCL, ms per iteration": ours["ms"], "on the device": ours["device_ms"]}
            row |= {f"{BASELINE}, ms per iteration": baseline["ms"], "speed-up": baseline["ms"] / ours["ms"]}
            row |= {f"OpenCL, s for {PAPER_ITERATIONS:,}": ours["ms"] * PAPER_ITERATIONS / 1e3}
            row |= {f"{_PAPER_GPU}, s": load.paper_opencl, f"{_PAPER_CPU}, s": load.paper_baseline}
            rows.append(row | {"the paper's speed-up": load.paper_baseline / load.paper_opencl})
        how = self.notes("speeds", iterations=self.iterations[table], paper_iterations=PAPER_ITERATIONS)
        return self.table(f"table_{table}", rows, *how, particles=PARTICLES)

    def _variants(self, table: int) -> ResultTable:
        rows, runs, medians = [], self.of_table(table), self.medians(table, "engine")
        base = select(runs, engine=BASELINE)["error"]
        for engine, median in medians.iterrows():
            errors = select(runs, engine=engine)["error"]
            seconds, error = _PAPER["table_3"].get(engine, (np.nan, np.nan))
            row: Row = {"engine": engine, "seconds": median["seconds"], "on the device, s": median["device_seconds"]}
            row |= summary(errors, ".5f", "error: ")
            row |= {"against the baseline, p": p_value(errors, base) if engine != BASELINE else np.nan}
            rows.append(row | {"the paper's seconds": seconds, "the paper's error": error})
        iterations, count = int(runs["iterations"].iloc[0]), runs["run"].max()
        return self.table("variants", rows, particles=PARTICLES, iterations=iterations, runs=count)

    def _functions(self, table: int) -> ResultTable:
        medians = self.medians(table, "load", "engine")
        ours, baseline = (medians.xs(engine, level="engine") for engine in (TWO_LEVEL, BASELINE))
        times = pd.DataFrame(_PAPER["table_4"].values(), ours.index, ["paper_s", "calazan_s"])
        frame = ours.join(times).assign(baseline_ms=baseline["ms"])
        return self.table("functions", frame.reset_index(), dimension=FUNCTION_DIMENSION, particles=PARTICLES)

    def _modelling(self, table: int) -> ResultTable:
        medians = self.medians(table, "engine").loc[[TWO_LEVEL, BASELINE]]
        paper = pd.DataFrame(_PAPER["table_5"].values(), medians.index, ["paper_s", "paper_error"])
        return self.table("modelling", medians.join(paper).reset_index())

    def _figures(self) -> dict[str, Figure]:
        foot = self.foot(after=f"; baseline: {self.threads} threads of {processor_name()}")
        figures = {
            1: ("times", "Time of an iteration", _draw_times),
            3: ("errors", "Training error, 6-30-2 on 100 samples", _draw_errors),
        }
        return {
            name: sheet_figure(3.0, foot, on_axes(title, draw, self))
            for table, (name, title, draw) in figures.items()
            if table in self.tables
        }


def run(
    *,
    budget: RunBudget,
    tables: str | None = None,
    iterations: int | None = None,
    iterations_3: int | None = None,
    iterations_5: int | None = None,
    baseline_iterations: int | None = None,
    threads: int = THREADS,
    random: str = "stream",
    swarm: Mapping[str, Any] | None = None,
    reach: float = 1.0,
) -> ExperimentResult:
    """Run the experiment; its runs are those of Table 3, and times are medians of its repeats.

    Options: see `reservoir.cli.bench`.
    """
    chosen = tuple(LOADS)
    if tables is not None:
        chosen = numbers_named(tables, lambda each: each in LOADS, "there is no such table", "1 to 5", "--tables")
    usual = budget.usual(ITERATIONS, QUICK_ITERATIONS)
    asked = {1: iterations, 2: iterations, 3: iterations_3, 4: iterations, 5: iterations_5}
    study = NetworkStudy.of(
        budget,
        tables=chosen,
        iterations={table: asked[table] or usual[table] for table in LOADS},
        baseline_iterations=baseline_iterations or budget.usual(BASELINE_ITERATIONS, QUICK_BASELINE_ITERATIONS),
        threads=threads,
        random=random,
        swarm=dict(swarm or {}),
        reach=reach,
    )
    TwoLevelSettings(**study.swarm)  # what is out of range is told before anything runs
    return study.measured().result()


_PAPER_GPU, _PAPER_CPU = "the paper's OpenCL (GT 630)", "the paper's C++ (two threads)"


_LOOKS = {
    TWO_LEVEL: MAIN_LOOK,
    IN_STEPS: Look(RELEASE, DASHED, "^"),
    NO_LOCAL: Look(POWER, CHAINED, "s"),
    BASELINE: BASE_LOOK,
}


def _draw_times(ax: Axes, study: NetworkStudy) -> Axes:
    """Medians by the number of particles, a line an engine."""
    median = by(study.of_table(1), "particles", "engine", value="ms")
    lines(ax, median, _LOOKS, size=4.0)
    log_axis(ax)
    number_ticks(ax, sorted(median.index), base=2)
    ax.set(xlabel="Particles", ylabel="Time (ms)")
    return ax


def _draw_errors(ax: Axes, study: NetworkStudy) -> Axes:
    """Medians, and bands from the least to the greatest, a line an engine."""
    traces = study.data["errors"]
    for engine, look in _LOOKS.items():
        over = select(traces, engine=engine).groupby("iteration")["error"]
        median = 100 * over.median()
        ax.plot(median.index, median, color=look.colour, ls=look.line, lw=1.4, label=engine)
        ax.fill_between(median.index, 100 * over.min(), 100 * over.max(), color=look.colour, alpha=0.12, lw=0)
    ax.set_xlim(0, traces["iteration"].max())
    ax.set(xlabel="Iteration", ylabel="Training error (%)")
    return ax
