"""CLPSO's models on the eight functions: Tables 3, 4 and 7 of Yu et al. 2020 (Complexity 6589658, section 5).

The engines are the sequential one; every model on a device; and two other readings of how a particle learns,
sequentially: the strict choice of exemplars, and exemplars that follow the personal bests they were chosen from, which
is how the independent program that results are held against reads the paper. They run in turn, so that all see the same
machine; then many swarms at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from reservoir.bench.experiment import DeviceStudy, RunBudget, bundled, names_named
from reservoir.bench.figures import CHAINED, log_axis, panels, short
from reservoir.bench.functions import rotation, titled
from reservoir.bench.result import ExperimentResult
from reservoir.bench.tables import Known, ResultTable, Row, p_value, seconds_of, select, summary
from reservoir.planning.checks import Check, largest
from reservoir.planning.validation import SIGNIFICANCE
from reservoir.problems.functions import FUNCTIONS, Function, FunctionProblem, function_problems, functions_named
from reservoir.report.figures import style
from reservoir.report.figures.style import Look, on_axes, sheet_figure
from reservoir.solvers import Solutions
from reservoir.solvers.clpso import LANES, MODELS, STRICT

DIMENSION, PARTICLES, GENERATIONS, QUICK_GENERATIONS = 30, 40, 5000, 500
#: Values of the convergence trace.
TRACE_POINTS = 100
ONE_THREAD: dict[str, Any] = {"solver": "clpso-sequential", "threads": 1}
SEQUENTIAL, SEQUENTIAL_STRICT, SEQUENTIAL_FOLLOWING = "sequential", "sequential, strict", "sequential, following"
#: Many swarms: the function that speeds are stated on; as many swarms as the years of the paper's case, and what fills
#: a large GPU; calls of each.
FUNCTION, CASE_SWARMS, MANY_SWARMS, REPEATS = "f5", 62, 10_000, 3
#: What an independent program found in 25 runs, by function; and its means over 20 rotations.
KNOWN = {name: Known(mean, deviation, 25) for name, (mean, deviation) in bundled("models")["known"].items()}
RANGES: dict[str, list[float]] = bundled("models")["known_ranges"]
#: Best values below it count as found, as the paper prints them.
FOUND: float = bundled("models")["claims"]["found"]["at_most"]
#: Engines whose times differ by less are as fast as each other.
ALIKE = 0.05
_PAPER_ENGINES = (SEQUENTIAL, "basic", "intermediate", "final")
#: What the paper finds of times: sentence, slower and faster engine.
_SLOWER = (
    ("random numbers from the kernel are slower than from the host", "basic", "intermediate"),
    ("private arrays, clamp and step save time", "intermediate", "final"),
    ("a single swarm on the device takes longer than the sequential model", "final", SEQUENTIAL),
)
#: What a host spends its time on, in the order of section 5, and waiting for the kernel; with titles.
PHASES = {
    "numbers": "1 initial numbers",
    "transfer": "2 queue, buffers, writes",
    "build": "3 program",
    "enqueue": "4 kernel, arguments, enqueue",
    "read": "5 read",
    "release": "6 release",
    "wait": "waiting for the kernel",
}


def engines(models: str | None) -> dict[str, dict[str, Any]]:
    """What the solver is asked for by each engine, for a list of models with commas between them, or for all models.

    The sequential ones always run; the baseline is one thread's.
    """
    asked = names_named(models, MODELS, "there is no such model", "--models")
    return {
        SEQUENTIAL: ONE_THREAD,
        **{name: {"solver": "clpso", "model": name} for name in MODELS if name in asked},
        SEQUENTIAL_STRICT: ONE_THREAD | {"exemplars": STRICT},
        SEQUENTIAL_FOLLOWING: ONE_THREAD | {"exemplars_follow": True},
    }


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelStudy(DeviceStudy):
    """What is run: functions, and engines on them.

    Tables: ``runs``, ``convergence``: bands of their traces; and ``many_swarms``, without rows if not asked for.
    """

    paper = "models"
    title = "CLPSO's models on benchmark functions, on {study.device.name}"
    functions: Sequence[Function]
    engines: Mapping[str, Mapping[str, Any]]

    @property
    def generations(self) -> int:
        """Of every run."""
        return self.budget.usual(GENERATIONS, QUICK_GENERATIONS)

    @property
    def models(self) -> list[str]:
        """Names of the engines that run on the device."""
        return [engine for engine in self.engines if engine in MODELS]

    def origin(self) -> dict[str, Any]:
        """As of every study, and what is run."""
        settings = {"dimension": DIMENSION, "particles": PARTICLES, "generations": self.generations}
        ran = {"functions": [each.name for each in self.functions], "engines": list(self.engines)}
        return super().origin() | ran | {"settings": settings} | rotation(map(self.problem, self.functions))[1]

    def problem(self, function: Function) -> FunctionProblem:
        """The function as a problem of which every run is a swarm."""
        return function_problems(function, 1, dimension=DIMENSION)[0]

    def swarms(self, problems: Sequence[FunctionProblem], **settings: Any) -> Solutions:
        """The first solution of a call, whose seconds are those of the whole call."""
        return self.solve(problems, particles=PARTICLES, generations=self.generations, **settings)[0]

    def solved(self, engine: str, function: Function, run: int) -> Solutions:
        """One run of an engine. No two engines share a seed: some draw the same numbers from the same.

        The paper's models look for the best particle in every generation (Step 5).
        """
        seed = self.budget.seed + list(self.engines).index(engine) * (self.budget.runs + 1) + run
        points = self.generations if engine in MODELS and MODELS[engine].of_the_paper else TRACE_POINTS
        return self.swarms([self.problem(function)], seed=seed, trace_points=points, **self.engines[engine])

    def _measure(self) -> dict[str, pd.DataFrame]:
        runs, convergence = self._runs()
        matrix, _ = rotation(map(self.problem, self.functions))
        return {"runs": runs, "convergence": convergence, **matrix, "many_swarms": self._many_swarms()}

    def _runs(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """A row a run, and bands of the traces of those that count: the first of each engine on a function compiles."""
        every = product(self.functions, range(self.budget.runs + 1), self.engines)
        runs = {
            f"{function.name}, {engine}, {number}": (function, number, engine) for function, number, engine in every
        }
        rows = self.kept_rows("runs", runs)
        traces = pd.DataFrame([row for row in rows if row["counted"]])[["function", "engine", "run", "trace"]]
        traces["generation"] = [
            [(point + 1) * (self.generations // len(trace)) for point in range(len(trace))] for trace in traces["trace"]
        ]
        traces = traces.explode(["trace", "generation"]).astype({"trace": float, "generation": int})
        over = traces.groupby(["function", "engine", "generation"], sort=False)["trace"]
        parts = {"tenth": 0.1, "median": 0.5, "nine_tenths": 0.9}
        bands = pd.DataFrame({name: over.quantile(part) for name, part in parts.items()}).reset_index()
        return pd.DataFrame(rows).drop(columns="trace"), bands

    def _row(self, run: tuple[Function, int, str]) -> Row:
        """A run; what is not measured is None, which JSON knows."""
        function, number, engine = run
        solution = self.solved(engine, function, number)
        trace = -solution.trace_fitness
        every = len(trace) // min(TRACE_POINTS, len(trace))
        value = -solution.fitness
        row: Row = {"function": function.name, "engine": engine, "run": number}
        row |= {"seed": solution.settings["seed"], "counted": number > 0}
        row |= {"best": -solution.fitness_float32 if function.noise else value, "value": value}
        row |= {"seconds": solution.wall_seconds, "device_seconds": solution.device_seconds}
        row |= {"evaluations": solution.evaluations, "generations": solution.generations}
        row |= phase_seconds(solution.host_seconds_by_phase, None)
        return row | {"trace": [float(best) for best in trace[every - 1 :: every]]}

    def _many_swarms(self) -> pd.DataFrame:
        """Solve many swarms some times, engines in turn; a row a load, with medians. No rows if not asked for."""
        loads = [(SEQUENTIAL, CASE_SWARMS), (LANES, CASE_SWARMS)]
        loads += [(LANES, MANY_SWARMS)] if self.device.kind != "CPU" else []
        if LANES not in self.models or all(function.name != FUNCTION for function in self.functions):
            loads = []
        rows: list[Row] = []
        for repeat, (engine, swarms) in self.tracked(
            "many swarms", product(range(self.budget.usual(REPEATS, 1)), loads)
        ):
            problems = function_problems(FUNCTIONS[FUNCTION], swarms, dimension=DIMENSION)
            asked = ONE_THREAD if engine == SEQUENTIAL else {"solver": "clpso"}
            solution = self.swarms(problems, seed=self.budget.seed + repeat, trace_points=1, **asked)
            row: Row = {"engine": engine, "swarms": swarms, "generations": self.generations} | seconds_of(solution)
            # Evaluations of one swarm stand for all: they are the same to a part in a thousand.
            rows.append(row | {"evaluations": solution.evaluations * swarms})
        if not rows:
            return pd.DataFrame()
        frame = pd.DataFrame(rows).groupby(["engine", "swarms", "generations"], sort=False).median().reset_index()
        evaluations, busy = frame.pop("evaluations"), frame["device_seconds"].fillna(frame["seconds"])
        frame["evaluations_per_second"] = evaluations / frame["seconds"]
        return frame.assign(evaluations_per_device_second=evaluations / busy)

    @property
    def ran(self) -> tuple[list[str], list[str]]:
        """Functions and engines that ran, in order."""
        runs = self.data["runs"]
        return list(runs["function"].unique()), list(runs["engine"].unique())

    def counted(self, function: str, engine: str) -> pd.DataFrame:
        """Counted runs of an engine on a function."""
        return select(self.data["runs"], counted=True, function=function, engine=engine)

    def best(self, function: str, engine: str) -> NDArray[np.float64]:
        """Best values of the same."""
        return self.counted(function, engine)["best"].to_numpy(float)

    def t_tests(self) -> pd.DataFrame:
        """P of every engine against the sequential one, a row a function; NaN where both always find the optimum."""
        rows, (functions, names) = [], self.ran
        for function in functions:
            best = {engine: self.best(function, engine) for engine in names}
            base = best.pop(SEQUENTIAL)
            p = {
                engine: np.nan if max(base.max(), other.max()) <= FOUND else p_value(base, other)
                for engine, other in best.items()
            }
            rows.append({"function": function} | p)
        return pd.DataFrame(rows)

    def against_others(self) -> pd.DataFrame:
        """Two readings of the paper beside what others found; a row for each on every function."""
        rows = []
        for function, engine in product(self.ran[0], (SEQUENTIAL, SEQUENTIAL_FOLLOWING)):
            known, best = KNOWN.get(function, Known(np.nan, np.nan, 0)), self.best(function, engine)
            row = {"function": function, "engine": engine, "mean": best.mean()}
            row |= {"deviation": best.std(ddof=1) if len(best) > 1 else np.nan, "known_mean": known.mean}
            row |= {"known_deviation": known.deviation, "p": p_value(best, known) if known.runs else np.nan}
            paper = zip(("paper_mean", "paper_deviation"), bundled("models")["paper_best"][function], strict=True)
            rows.append(row | dict(paper))
        return pd.DataFrame(rows)

    def speed_of(self, engine: str, swarms: int | None = None) -> pd.Series[Any]:
        """The row of many swarms, by default of as many as the paper's case has years, which come first."""
        rows = select(self.data["many_swarms"], engine=engine)
        return (rows if swarms is None else select(rows, swarms=swarms)).iloc[0]

    @property
    def lanes_speed_up(self) -> float:
        """Times that the `LANES` model is as fast as the sequential engine, by wall seconds."""
        return float(self.speed_of(SEQUENTIAL)["seconds"] / self.speed_of(LANES)["seconds"])

    def ratio(self, slow: str, fast: str, column: str = "seconds") -> float:
        """Mean over the functions of the ratio of mean times."""
        runs = select(self.data["runs"], counted=True)
        means = runs.assign(seconds=runs[column].astype(float)).groupby(["engine", "function"])["seconds"].mean()
        return float((means[slow] / means[fast]).mean())

    def findings(self) -> Iterator[Row]:
        """Sentences of the paper, their figures there and here, and whether they hold, as far as can be told."""
        (functions, names), paper = self.ran, bundled("models")["paper_milliseconds"]
        for finding, slow, fast in _SLOWER:
            if {slow, fast} <= set(names):
                one, other = (_PAPER_ENGINES.index(engine) for engine in (slow, fast))
                theirs = np.mean([paper[name][one] / paper[name][other] for name in functions])
                ours, device = self.ratio(slow, fast), self.ratio(slow, fast, "device_seconds")
                here = f"{ours:.2f} times" + ("" if np.isnan(device) else f" ({device:.2f} by device time alone)")
                holds = "no difference" if abs(ours - 1) <= ALIKE else "yes" if ours > 1 else "no: the opposite"
                yield {"finding": finding, "paper": f"{theirs:.2f} times", "here": here, "holds": holds}
        tests = self.t_tests()
        models = "all models find values as good as the sequential engine"
        relaxed = "a relaxed choice of exemplars does not reduce quality"
        compared = {models: ("p 0.08 to 0.89", self.models), relaxed: ("equal means", [SEQUENTIAL_STRICT])}
        for finding, (words, engines) in compared.items():
            p = tests[engines].to_numpy(float).ravel()
            p = p[np.isfinite(p)]
            here, holds = "nothing to compare", "–"
            if len(p):  # of many tests the smallest p is small by chance: Bonferroni's threshold
                here = f"smallest p of {len(p)} tests {p.min():.2g}"
                holds = "yes" if p.min() >= SIGNIFICANCE / len(p) else "no"
            yield {"finding": finding, "paper": words, "here": here, "holds": holds}

    def claims(self) -> Iterator[Check]:
        """Claims that this device and this budget can be held to; a single run claims nothing."""
        if self.budget.runs < 2:
            return
        functions, names = self.ran
        for function in [name for name in functions if name in ("f1", "f2")]:
            worst = largest(value for engine in names for value in self.best(function, engine))
            yield self.claim("found", worst, function=function)
        for tested, row in self.t_tests().set_index("function").iterrows():
            for engine, p in row.items():
                if engine != SEQUENTIAL_FOLLOWING and np.isfinite(p):
                    yield self.claim("alike", p, SIGNIFICANCE, function=tested, engine=engine, sequential=SEQUENTIAL)
        others = self.against_others()
        for each in select(others, engine=SEQUENTIAL_FOLLOWING).to_dict("records"):
            if np.isfinite(each["p"]):
                yield self.claim("known", each["p"], function=each["function"], engine=each["engine"])
        for each in select(others, engine=SEQUENTIAL).to_dict("records"):
            for name, limit in zip(("low", "high"), RANGES.get(each["function"], ()), strict=False):
                yield self.claim(name, each["mean"], limit, function=each["function"], engine=each["engine"])
        if not len(self.data["many_swarms"]):
            return
        if self.small_cpu:
            yield self.claim("speed_up", self.lanes_speed_up, lanes=LANES)
            yield self.claim("cpu", self.speed_of(LANES)["evaluations_per_second"] / 1e6, lanes=LANES)
        if self.large_gpu:
            speed = self.speed_of(LANES, MANY_SWARMS)["evaluations_per_device_second"] / 1e9
            yield self.claim("gpu", speed, swarms=MANY_SWARMS)

    def _headlines(self) -> dict[str, str]:
        many = self.data["many_swarms"]
        if not len(many):
            return {}
        fastest, swarms = many["evaluations_per_device_second"].max(), int(self.speed_of(LANES)["swarms"])
        return {
            "Speed-up": f"{self.lanes_speed_up:.2f} times the sequential engine on one thread, {swarms} swarms on f5",
            "Fastest": f"{fastest / 1e6:,.1f} million evaluations of f5 per second of device time",
        }

    def _tables(self) -> Iterator[ResultTable]:
        runs, many = self.data["runs"], self.data["many_swarms"]
        yield self.table_3()
        tests = self.t_tests()
        basic = self.notes("basic") if "basic" in tests and "f3" in self.ran[0] else ()
        tests["function"] = tests["function"].map(titled)
        yield self.table("t_tests", tests, *basic, found=FOUND)
        yield self._others()
        yield self.table("findings", list(self.findings()))
        if self.models:
            of_models = {name: select(runs, engine=name) for name in self.models}
            yield self.table("host_time", host_time_rows("model", of_models))
        if len(many):
            yield self.table("many_swarms", many)

    def table_3(self) -> ResultTable:
        """Execution time and best value of every engine on every function."""
        rows = []
        for function, engine in product(*self.ran):
            mine = self.counted(function, engine)
            row = {"function": titled(function), "engine": engine} | summary(
                1e3 * mine["seconds"], ",.2f", "time, ms: "
            )
            rows.append(row | summary(mine["best"], ".3g", "best: "))
        return self.table("table_3", rows, runs=self.data["runs"]["run"].max())

    def _others(self) -> ResultTable:
        frame = self.against_others()
        known = [
            "{:g} to {:g}".format(*RANGES[function]) if function in RANGES else f"{mean:.3g}"
            for function, mean in zip(frame["function"], frame["known_mean"], strict=True)
        ]
        shown = frame.assign(function=frame["function"].map(titled), known_mean=known)
        return self.table("others", shown, following=SEQUENTIAL_FOLLOWING)

    def _figures(self) -> dict[str, Figure]:
        length = f"{self.generations:,} generations, {self.budget.runs} runs"
        foot = self.foot(f"{DIMENSION} dimensions, {PARTICLES} particles, {length} · ")
        rows = -(-len(self.ran[0]) // _COLUMNS)
        return {
            "convergence": sheet_figure(0.6 + _PANEL_INCHES * rows, foot, lambda sheet: _convergence(sheet, self)),
            "times": sheet_figure(3.0, foot, on_axes("Time of a run of one swarm", _draw_times, self)),
        }


def run(*, budget: RunBudget, functions: str | None = None, models: str | None = None) -> ExperimentResult:
    """Run the experiment; runs that the journal has are not made again. Options: see `reservoir.cli.bench`."""
    study = ModelStudy.of(budget, functions=functions_named(functions), engines=engines(models))
    return study.measured().result()


def phase_seconds(seconds: Mapping[str, float], missing: float | None) -> dict[str, float | None]:
    """Columns of a run."""
    return {f"{name}_seconds": seconds.get(name, missing) for name in PHASES}


def host_time_rows(about: str, runs: Mapping[str, pd.DataFrame], *, rest: bool = False) -> list[Row]:
    """Table 7, milliseconds by phase: of the first runs, and the mean of those that count, which follow.

    The runs are by what they are told apart by; the rest is what lies outside the phases.
    """
    rows: list[Row] = []
    for (name, mine), counted in product(runs.items(), (False, True)):
        chosen = select(mine, counted=counted)
        spent = 1e3 * chosen[[f"{phase}_seconds" for phase in PHASES]].astype(float).fillna(0.0).mean()
        total, device = (1e3 * chosen[column].astype(float).mean() for column in ("seconds", "device_seconds"))
        row: Row = {about: name, "run": "mean of the others" if counted else "first run"}
        row |= dict(zip(PHASES.values(), spent.tolist(), strict=True))
        row |= {"rest": total - float(spent.sum())} if rest else {}
        rows.append(row | {"whole call": total, "device": device})
    return rows


_LOOKS = {
    "sequential": Look(style.LIMITS, "-", "o"),
    "basic": Look(style.SPILL, (0, (1, 1)), "v"),
    "intermediate": Look(style.POWER, (0, (5, 1.5)), "s"),
    "final": Look(style.RELEASE, CHAINED, "^"),
    "lanes": Look(style.STORAGE, (0, (2.5, 1.2)), "D"),
}
_OTHERS = {
    SEQUENTIAL_STRICT: Look(style.NORMAL, (0, (1, 2)), "x"),
    SEQUENTIAL_FOLLOWING: Look(style.WET, (0, (8, 2)), "+"),
}
_COLUMNS, _PANEL_INCHES = 4, 1.75
#: Values below are drawn there: an optimum that is found exactly has no place on a logarithmic axis.
_FLOOR = 1e-20
#: A range of values that is given more ticks than powers of ten.
_NARROW = 300.0


def _convergence(sheet: SubFigure, study: ModelStudy) -> Axes:
    """A panel a function."""
    names, bands = study.ran[0], study.data["convergence"]
    columns = min(_COLUMNS, len(names))
    axes = panels(sheet, len(names), columns, "Best value")
    for place, (ax, name) in enumerate(zip(axes, names, strict=True)):
        _draw_convergence(ax, select(bands, function=name))
        ax.set_title(titled(name), fontsize=8.5)
        if place >= len(names) - columns:
            ax.set_xlabel("Generation")
    return axes[0]


def _draw_convergence(ax: Axes, bands: pd.DataFrame) -> None:
    """The medians of all engines and the band of the first."""
    for place, (engine, of_engine) in enumerate(bands.groupby("engine", sort=False)):
        look = (_LOOKS | _OTHERS)[str(engine)]
        over = of_engine.set_index("generation")[["tenth", "median", "nine_tenths"]].clip(lower=_FLOOR)
        ax.plot(over.index, over["median"], color=look.colour, ls=look.line, lw=1.2, label=str(engine))
        if place == 0:
            ax.fill_between(over.index, over["tenth"], over["nine_tenths"], color=look.colour, alpha=0.12, lw=0)
    ax.set_yscale("log")
    bottom, top = ax.get_ylim()
    if top / bottom < _NARROW:
        log_axis(ax)
    else:
        log_axis(ax, subs=(1.0,), ticks=5, form=lambda value: f"1e{round(math.log10(value))}")
    ax.tick_params(labelsize=7)
    ax.set_xlim(0, bands["generation"].max())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def _draw_times(ax: Axes, study: ModelStudy) -> Axes:
    """Bars of mean times side by side, a group a function, on a logarithmic axis."""
    names, engines = study.ran
    shown = [engine for engine in engines if engine in _LOOKS]
    width = 0.84 / len(shown)
    for place, engine in enumerate(shown):
        times = [1e3 * study.counted(name, engine)["seconds"] for name in names]
        at = np.arange(len(names)) + (place - (len(shown) - 1) / 2) * width
        ax.bar(at, [each.mean() for each in times], width * 0.92, color=_LOOKS[engine].colour, label=engine)
        ax.vlines(at, [each.min() for each in times], [each.max() for each in times], color=style.LIMITS, lw=0.8)
    log_axis(ax)
    ax.set_ylabel("Time (ms)")
    ax.set_xticks(range(len(names)), [titled(name).replace(" ", "\n") for name in names], fontsize=7)
    ax.grid(visible=False, axis="x")
    return ax
