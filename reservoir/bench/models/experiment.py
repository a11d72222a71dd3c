"""CLPSO's models on the eight functions: Tables 3, 4 and 7 of Yu et al. 2020 (Complexity 6589658, section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from reservoir.bench.benchmark_functions import rotation, titled
from reservoir.bench.data import bundled
from reservoir.bench.figures import CHAINED, log_axis, panels, short
from reservoir.bench.host_time import host_time_table
from reservoir.bench.journal import Journal, sources_digest
from reservoir.bench.models.runs import (
    DIMENSION,
    MANY_SWARMS,
    PARTICLES,
    SEQUENTIAL,
    SEQUENTIAL_FOLLOWING,
    SEQUENTIAL_STRICT,
    ModelSetup,
    engines,
    measure_throughput,
    model_runs,
)
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.samples import Known, p_value, p_value_of, summary
from reservoir.bench.setup import in_order, select
from reservoir.planning.checks import Check, largest
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.validation import SIGNIFICANCE
from reservoir.problems.functions import functions_named
from reservoir.report.figures.style import (
    LIMITS,
    NORMAL,
    POWER,
    RELEASE,
    SPILL,
    STORAGE,
    WET,
    Look,
    on_axes,
    sheet_figure,
)
from reservoir.report.folder import run_provenance
from reservoir.solvers.clpso.settings import LANES, MODELS

#: What an independent program found in 25 runs, by function.
KNOWN = {name: Known(mean, deviation, 25) for name, (mean, deviation) in bundled("models")["known"].items()}
#: Best values below it count as found, as the paper prints them.
FOUND = 1e-6
#: Between the sequential engine and the independent program.
KNOWN_SIGNIFICANCE = 0.01
#: Two cores of a CPU against one thread, and what they evaluate in a second; and many swarms on a large GPU.
SPEED_UP, CPU_EVALUATIONS, GPU_EVALUATIONS = 6.0, 20e6, 5e9
_PAPER_ENGINES = (SEQUENTIAL, "basic", "intermediate", "final")
#: Engines whose times differ by less are as fast as each other.
_ALIKE = 0.05
#: What the paper finds of times: sentence, slower and faster engine.
_SLOWER = (
    ("random numbers from the kernel are slower than from the host", "basic", "intermediate"),
    ("private arrays, clamp and step save time", "intermediate", "final"),
    ("a single swarm on the device takes longer than the sequential model", "final", SEQUENTIAL),
)


class Finding(NamedTuple):
    """A sentence of the paper, its figure there and here, and whether it holds."""

    finding: str
    paper: str
    here: str
    holds: str


@dataclass(frozen=True, eq=False)
class ModelFindings:
    """Tables of runs, of their traces, and of many swarms, without rows if they were not measured (see `runs`)."""

    setup: ModelSetup
    runs: pd.DataFrame
    traces: pd.DataFrame
    throughput: pd.DataFrame

    @property
    def functions(self) -> list[str]:
        """Functions that ran, in order."""
        return in_order(self.runs["function"])

    @property
    def engines(self) -> list[str]:
        """Engines that ran, in order."""
        return in_order(self.runs["engine"])

    def of(self, function: str, engine: str) -> pd.DataFrame:
        """Counted runs of an engine on a function."""
        return select(self.runs, counted=True, function=function, engine=engine)

    def best(self, function: str, engine: str) -> NDArray[np.float64]:
        """Best values of the same."""
        return self.of(function, engine)["best"].to_numpy(float)

    def t_tests(self) -> pd.DataFrame:
        """P of every engine against the sequential one, a row a function; NaN where both always find the optimum."""
        rows = []
        for function in self.functions:
            base = self.best(function, SEQUENTIAL)
            row: dict[str, Any] = {"function": function}
            for engine in self.engines[1:]:
                other = self.best(function, engine)
                row[engine] = np.nan if max(base.max(), other.max()) <= FOUND else p_value(base, other)
            rows.append(row)
        return pd.DataFrame(rows)

    def against_others(self) -> pd.DataFrame:
        """Two readings of the paper beside what others found; a row for each on every function."""
        rows = []
        for function in self.functions:
            known = KNOWN.get(function)
            mean, deviation = (known.mean, known.deviation) if known else (np.nan, np.nan)
            for engine in (SEQUENTIAL, SEQUENTIAL_FOLLOWING):
                best = self.best(function, engine)
                row = {"function": function, "engine": engine, "mean": best.mean()}
                row |= {"deviation": best.std(ddof=1) if len(best) > 1 else np.nan, "known_mean": mean}
                row |= {"known_deviation": deviation, "p": p_value_of(best, known) if known else np.nan}
                paper = zip(("paper_mean", "paper_deviation"), bundled("models")["paper_best"][function], strict=True)
                rows.append(row | dict(paper))
        return pd.DataFrame(rows)

    def speed_of(self, engine: str, swarms: int | None = None) -> pd.Series[Any]:
        """The row of many swarms, by default of as many as the paper's case has years, which come first."""
        rows = select(self.throughput, engine=engine)
        return (rows if swarms is None else select(rows, swarms=swarms)).iloc[0]

    @property
    def lanes_speed_up(self) -> float:
        """Times that the `LANES` model is as fast as the sequential engine, by wall seconds."""
        return float(self.speed_of(SEQUENTIAL)["seconds"] / self.speed_of(LANES)["seconds"])

    def ratio(self, slow: str, fast: str, column: str = "seconds") -> float:
        """Mean over the functions of the ratio of mean times."""

        def mean(function: str, engine: str) -> float:
            return float(self.of(function, engine)[column].astype(float).mean())

        return float(np.mean([mean(name, slow) / mean(name, fast) for name in self.functions]))


def findings(found: ModelFindings) -> Iterator[Finding]:
    """Those that the engines and functions that ran can tell of."""
    milliseconds = bundled("models")["paper_milliseconds"]
    for sentence, slow, fast in _SLOWER:
        if {slow, fast} <= set(found.engines):
            places = [_PAPER_ENGINES.index(engine) for engine in (slow, fast)]
            times = [[milliseconds[name][place] for place in places] for name in found.functions]
            theirs, ours = float(np.mean([one / other for one, other in times])), found.ratio(slow, fast)
            device = found.ratio(slow, fast, "device_seconds")
            alone = "" if np.isnan(device) else f" ({device:.2f} by device time alone)"
            alike = abs(ours - 1) <= _ALIKE
            verdict = "no difference" if alike else "yes" if ours > 1 else "no: the opposite"
            yield Finding(sentence, f"{theirs:.2f} times", f"{ours:.2f} times{alone}", verdict)
    tests = found.t_tests()
    models = [each for each in found.engines if each in MODELS]
    yield _tests("all models find values as good as the sequential engine", "p 0.08 to 0.89", tests[models])
    if SEQUENTIAL_STRICT in found.engines:
        sentence = "a relaxed choice of exemplars does not reduce quality"
        yield _tests(sentence, "equal means", tests[[SEQUENTIAL_STRICT]])


def _tests(sentence: str, paper: str, tests: pd.DataFrame) -> Finding:
    values = tests.to_numpy(float).ravel()
    values = values[np.isfinite(values)]
    if not len(values):
        return Finding(sentence, paper, "nothing to compare", "–")
    # Of many tests the smallest p is small by chance: Bonferroni's threshold.
    threshold = SIGNIFICANCE / len(values)
    here = f"smallest p of {len(values)} tests {values.min():.2g}"
    return Finding(sentence, paper, here, "yes" if values.min() >= threshold else "no")


def model_checks(found: ModelFindings) -> Iterator[Check]:
    """Claims that this device and this budget can be held to; a quick trial and a single run claim nothing."""
    if found.setup.budget.quick or found.setup.budget.runs < 2:
        return
    for function in found.functions:
        if function in ("f1", "f2"):
            worst = largest(value for engine in found.engines for value in found.best(function, engine))
            yield Check(f"{function}: worst value of all runs of all engines", worst, FOUND)
    for tested, row in found.t_tests().set_index("function").iterrows():
        for engine, p in row.items():
            if engine != SEQUENTIAL_FOLLOWING and np.isfinite(p):
                title = f"{tested}: {engine} against {SEQUENTIAL}, t-test, p"
                yield Check(title, float(p), SIGNIFICANCE, at_least=True)
    others, ranges = found.against_others(), bundled("models")["known_ranges"]
    for each in select(others, engine=SEQUENTIAL_FOLLOWING).to_dict("records"):
        if np.isfinite(each["p"]):
            title = f"{each['function']}: {each['engine']} against an independent program, t-test, p"
            yield Check(title, each["p"], KNOWN_SIGNIFICANCE, at_least=True)
    for each in select(others, engine=SEQUENTIAL).to_dict("records"):
        if each["function"] in ranges:
            (low, high), about = ranges[each["function"]], f"{each['function']}: mean of {each['engine']}"
            yield Check(f"{about}, at least", each["mean"], low, at_least=True)
            yield Check(f"{about}, at most", each["mean"], high)
    if len(found.throughput):
        yield from _speed(found)


def _speed(found: ModelFindings) -> Iterator[Check]:
    if found.setup.small_cpu:
        where = f"{LANES} on {found.setup.device.compute_units} cores, many swarms on f5"
        yield Check(f"{where}: speed-up over one thread", found.lanes_speed_up, SPEED_UP, at_least=True)
        speed = found.speed_of(LANES)["evaluations_per_second"] / 1e6
        yield Check(f"{where}: 1e6 evaluations/s", float(speed), CPU_EVALUATIONS / 1e6, at_least=True)
    if found.setup.large_gpu:
        speed = found.speed_of(LANES, MANY_SWARMS)["evaluations_per_device_second"] / 1e9
        title = f"{MANY_SWARMS:,} swarms on f5, 1e9 evaluations/s of device time"
        yield Check(title, float(speed), GPU_EVALUATIONS / 1e9, at_least=True)


def result_tables(found: ModelFindings) -> Iterator[ResultTable]:
    """Those of what ran."""
    yield table_3(found)
    yield _t_tests(found)
    yield _others(found)
    yield _findings(found)
    if found.setup.models:
        yield _host_time(found)
    if len(found.throughput):
        yield _throughput(found.throughput)


def table_3(found: ModelFindings) -> ResultTable:
    """Execution time and best value of every engine on every function."""
    rows = []
    for function in found.functions:
        for engine in found.engines:
            mine = found.of(function, engine)
            row = {"function": titled(function), "engine": engine}
            row |= {f"time, ms: {name}": value for name, value in summary(1e3 * mine["seconds"], ",.2f").items()}
            rows.append(row | {f"best: {name}": value for name, value in summary(mine["best"], ".3g").items()})
    note = (
        f"{found.runs['run'].max()} runs of each engine, alternating, each with its own seed, after one that compiles "
        "and is not counted. Best values are recomputed in float64 from the position found; those of f3 are the "
        "engine's own, including noise. The paper's models determine the best particle in every generation (Step 5), "
        "as in the paper; the other engines 100 times per run, for the convergence."
    )
    return result_table("Execution time and best value (after Table 3)", rows, note)


def _t_tests(found: ModelFindings) -> ResultTable:
    frame = found.t_tests()
    frame["function"] = frame["function"].map(titled)
    notes = [
        "p-values of two-tailed t-tests of the best values against those of the sequential engine, with equal "
        f"variances. Dash: all runs of both ended below {FOUND:g}. Of 20 tests between samples that do not differ, one "
        "falls below 0.05 on average."
    ]
    if "basic" in frame.columns and "f3" in found.functions:
        notes.append(
            "The basic model's random generator (eq. 14 in unsigned 32-bit arithmetic) ends in one of a few cycles of "
            "9,615 to 14,475 numbers, mostly the shortest; a particle of 5,000 generations needs 215,840. The noise of "
            "f3 comes from it, too."
        )
    return result_table("t-tests (after Table 4)", frame, *notes, form=".2f")


def _host_time(found: ModelFindings) -> ResultTable:
    note = (
        "Host time, ms, mean over the functions. Context and program are reused between runs, so only first runs "
        "create them (the driver may have the program in its cache). The host waits for the kernel between phases 4 "
        "and 5, where PoCL compiles again before its first launch. Phase 6 releases kernel, buffers and queue."
    )
    return host_time_table("model", {name: select(found.runs, engine=name) for name in found.setup.models}, note)


def _others(found: ModelFindings) -> ResultTable:
    frame, ranges = found.against_others(), bundled("models")["known_ranges"]
    known = [
        "{:g} to {:g}".format(*ranges[function]) if function in ranges else f"{mean:.3g}"
        for function, mean in zip(frame["function"], frame["known_mean"], strict=True)
    ]
    shown = frame.assign(function=frame["function"].map(titled), known_mean=known).rename(
        columns={
            "mean": "here: mean",
            "deviation": "here: standard deviation",
            "known_mean": "other program: mean",
            "known_deviation": "other program: standard deviation",
            "p": "t-test, p",
            "paper_mean": "paper: mean",
            "paper_deviation": "paper: standard deviation",
        }
    )
    note = (
        "Comparison with an independent sequential program in C (25 runs, float32, sums of f6 in float64), whose "
        f"exemplars follow the personal bests they were chosen from, as in {SEQUENTIAL_FOLLOWING!r}. All other engines "
        "keep copies until the next choice and end closer to the optimum of f1, f2 and f6. The paper prints small "
        "values as 0, and its f6 ends at the resolution of float32. f7 and f8 depend on the rotation matrix: the range "
        "covers the other program's means over 20 rotations."
    )
    return result_table("Comparison with other programs", shown, note, form=".3g", **{"t-test, p": ".2g"})


def _findings(found: ModelFindings) -> ResultTable:
    frame = pd.DataFrame(findings(found), columns=list(Finding._fields))
    note = (
        "Ratios of mean times of whole calls over the functions, including random numbers generated on the host; the "
        "paper's are from its Table 3. The paper's models determine the best particle in every generation, the "
        "sequential engine 100 times per run."
    )
    return result_table("Findings of the paper", frame, note)


def _throughput(throughput: pd.DataFrame) -> ResultTable:
    seconds = {"seconds": throughput["seconds"], "on the device, s": throughput["device_seconds"]}
    speeds = {
        "evaluations, M/s": throughput["evaluations_per_second"] / 1e6,
        "by device time, M/s": throughput["evaluations_per_device_second"] / 1e6,
    }
    frame = throughput[["engine", "swarms"]].assign(**seconds, **speeds)
    formats = {"swarms": ",d"} | dict.fromkeys(seconds, ",.3f") | dict.fromkeys(speeds, ",.1f")
    note = "Independent swarms on f5 in one call, median of the calls; only positions within the bounds are evaluated."
    return result_table("Many swarms", frame, note, **formats)


def run(
    *,
    budget: RunBudget,
    journal: Journal,
    functions: str | None = None,
    models: str | None = None,
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment.

    Parameters
    ----------
    journal : Journal
        Runs that it has are not made again.
    functions, models : str, optional
        Names with commas between them; all if not given.
    """
    setup = ModelSetup.of(budget, progress, functions=functions_named(functions), engines=engines(models))
    about = {"packages": run_provenance()["program"]["packages"], "sources": sources_digest()}
    journal.begin(setup.origin() | _origin(setup) | about)
    return model_result(ModelFindings(setup, *model_runs(setup, journal), measure_throughput(setup)))


def _origin(setup: ModelSetup) -> dict[str, Any]:
    settings = {"dimension": DIMENSION, "particles": PARTICLES, "generations": setup.generations}
    ran = {"functions": [each.name for each in setup.functions], "engines": [each.name for each in setup.engines]}
    return ran | {"settings": settings} | rotation(map(setup.problem, setup.functions))[1]


def model_result(found: ModelFindings) -> ExperimentResult:
    """What the runs come to."""
    setup = found.setup
    matrix, _ = rotation(map(setup.problem, setup.functions))
    return setup.result(
        f"CLPSO's models on benchmark functions, on {setup.device.name}",
        headlines=_headlines(found) if len(found.throughput) else {},
        checks=model_checks(found),
        tables=result_tables(found),
        data={"runs": found.runs, "convergence": _bands(found.traces)} | matrix | {"many_swarms": found.throughput},
        figures=model_figures(found),
        captions=bundled("models")["captions"],
        **_origin(setup),
    )


def _headlines(found: ModelFindings) -> dict[str, str]:
    fastest, swarms = found.throughput["evaluations_per_device_second"].max(), int(found.speed_of(LANES)["swarms"])
    return {
        "Speed-up": f"{found.lanes_speed_up:.2f} times the sequential engine on one thread, {swarms} swarms on f5",
        "Fastest": f"{fastest / 1e6:,.1f} million evaluations of f5 per second of device time",
    }


def _bands(traces: pd.DataFrame) -> pd.DataFrame:
    """Traces of all runs by what a figure draws of them."""
    over = traces.groupby(["function", "engine", "generation"], sort=False)["best"]
    parts = {"tenth": 0.1, "median": 0.5, "nine_tenths": 0.9}
    return pd.DataFrame({name: over.quantile(part) for name, part in parts.items()}).reset_index()


_LOOKS = {
    "sequential": Look(LIMITS, "-", "o"),
    "basic": Look(SPILL, (0, (1, 1)), "v"),
    "intermediate": Look(POWER, (0, (5, 1.5)), "s"),
    "final": Look(RELEASE, CHAINED, "^"),
    "lanes": Look(STORAGE, (0, (2.5, 1.2)), "D"),
}
_OTHERS = {"sequential, strict": Look(NORMAL, (0, (1, 2)), "x"), "sequential, following": Look(WET, (0, (8, 2)), "+")}
_COLUMNS, _PANEL_INCHES = 4, 1.75
_BAND = (0.1, 0.9)
#: Values below are drawn there: an optimum that is found exactly has no place on a logarithmic axis.
_FLOOR = 1e-20
#: A range of values that is given more ticks than powers of ten.
_NARROW = 300.0


def model_figures(found: ModelFindings) -> dict[str, Figure]:
    """All of them."""
    setup = found.setup
    length = f"{setup.generations:,} generations, {setup.budget.runs} runs"
    foot = [setup.foot(f"{DIMENSION} dimensions, {PARTICLES} particles, {length} · ")]
    rows = -(-len(found.functions) // _COLUMNS)
    return {
        "convergence": sheet_figure(0.6 + _PANEL_INCHES * rows, foot, lambda sheet: _convergence(sheet, found.traces)),
        "times": sheet_figure(3.0, foot, on_axes("Time of a run of one swarm", _times, found)),
    }


def _convergence(sheet: SubFigure, traces: pd.DataFrame) -> Axes:
    """A panel a function."""
    names = in_order(traces["function"])
    columns = min(_COLUMNS, len(names))
    axes = panels(sheet, len(names), columns, "Best value")
    for place, (ax, name) in enumerate(zip(axes, names, strict=True)):
        _draw_convergence(ax, select(traces, function=name))
        ax.set_title(titled(name), fontsize=8.5)
        if place >= len(names) - columns:
            ax.set_xlabel("Generation")
    return axes[0]


def _draw_convergence(ax: Axes, traces: pd.DataFrame) -> None:
    """The medians of all engines and the band of the first."""
    for place, engine in enumerate(in_order(traces["engine"])):
        look = (_LOOKS | _OTHERS)[engine]
        over = select(traces, engine=engine).groupby("generation")["best"]
        median = over.median().clip(lower=_FLOOR)
        ax.plot(median.index, median, color=look.colour, ls=look.line, lw=1.2, label=engine)
        if place == 0:
            low, high = (over.quantile(part).clip(lower=_FLOOR) for part in _BAND)
            ax.fill_between(median.index, low, high, color=look.colour, alpha=0.12, lw=0)
    ax.set_yscale("log")
    bottom, top = ax.get_ylim()
    if top / bottom < _NARROW:
        log_axis(ax)
    else:
        log_axis(ax, subs=(1.0,), ticks=5, form=lambda value: f"1e{round(math.log10(value))}")
    ax.tick_params(labelsize=7)
    ax.set_xlim(0, traces["generation"].max())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))


def _times(ax: Axes, found: ModelFindings) -> Axes:
    """Bars of mean times side by side, a group a function, on a logarithmic axis."""
    names = found.functions
    shown = [engine for engine in found.engines if engine in _LOOKS]
    width = 0.84 / len(shown)
    for place, engine in enumerate(shown):
        times = [1e3 * found.of(name, engine)["seconds"] for name in names]
        at = np.arange(len(names)) + (place - (len(shown) - 1) / 2) * width
        ax.bar(at, [each.mean() for each in times], width * 0.92, color=_LOOKS[engine].colour, label=engine)
        ax.vlines(at, [each.min() for each in times], [each.max() for each in times], color=LIMITS, lw=0.8)
    log_axis(ax)
    ax.set_ylabel("Time (ms)")
    ax.set_xticks(range(len(names)), [titled(name).replace(" ", "\n") for name in names], fontsize=7)
    ax.grid(visible=False, axis="x")
    return ax
