"""Networks trained by particle swarms as Li and Liu 2017 measured them: Tables 1 to 5, and policy search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir.bench.data import bundled
from reservoir.bench.experiment import numbers_named, processor_name, select
from reservoir.bench.figures import BASE_LOOK, CHAINED, DASHED, MAIN_LOOK, line, log_axis, number_ticks
from reservoir.bench.networks import loads
from reservoir.bench.networks.loads import TABLES, Load
from reservoir.bench.networks.runs import (
    BASELINE,
    IN_STEPS,
    NO_LOCAL,
    TWO_LEVEL,
    NetworkSetup,
    all_runs,
    policy_searches,
    speed_pairs,
)
from reservoir.bench.result import ExperimentResult, ResultTable, result_table
from reservoir.bench.run_budget import RunBudget
from reservoir.bench.samples import p_value, summary
from reservoir.planning.checks import Check
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.planning.validation import SIGNIFICANCE
from reservoir.report.figures.style import POWER, RELEASE, Look, sheet_figure
from reservoir.solvers.two_level_pso.settings import TwoLevelSettings

#: Time of two levels beside that without a local level, on a GPU.
MOST_TIME = 0.5
#: Of two cores and of a large GPU: speed beside the baseline on two threads, and seconds of the search for a policy.
CPU_SPEED_UP, GPU_SPEED_UP = 1.5, 35.0
CPU_SEARCH_SECONDS, GPU_SEARCH_SECONDS = 60.0, 1.0


@dataclass(frozen=True, eq=False)
class NetworkFindings:
    """Tables of runs, of errors by iteration, of speeds in turn, and of searches for a policy with their caveats."""

    setup: NetworkSetup
    runs: pd.DataFrame
    traces: pd.DataFrame
    pairs: pd.DataFrame
    searches: pd.DataFrame
    caveats: tuple[str, ...]

    @property
    def speed_up(self) -> float:
        """Median speed beside the baseline."""
        return float(np.median(self.pairs["ratio"]))


def network_checks(found: NetworkFindings) -> Iterator[Check]:
    """Claims that this device and this budget can be held to; a quick trial claims nothing."""
    setup = found.setup
    if setup.budget.quick:
        return
    if 3 in setup.tables:
        yield from _claims_of_variants(setup, select(found.runs, table=3))
    if setup.small_cpu or setup.large_gpu:
        if 5 in setup.tables:
            title = f"6-30-2, 5000 samples: median speed-up over the baseline on {setup.threads} threads"
            yield Check(title, found.speed_up, GPU_SPEED_UP if setup.large_gpu else CPU_SPEED_UP, at_least=True)
        most = GPU_SEARCH_SECONDS if setup.large_gpu else CPU_SEARCH_SECONDS
        yield Check("policy search, all years of the case, s", float(found.searches["seconds"].median()), most)


def _claims_of_variants(setup: NetworkSetup, runs: pd.DataFrame) -> Iterator[Check]:
    two_level, no_local, baseline = (select(runs, engine=engine) for engine in (TWO_LEVEL, NO_LOCAL, BASELINE))
    if setup.budget.runs > 1:
        title = f"training error of {TWO_LEVEL} against the {BASELINE}, t-test, p"
        yield Check(title, p_value(two_level["error"], baseline["error"]), SIGNIFICANCE, at_least=True)
    error = two_level["error"].mean() / no_local["error"].mean()
    yield Check(f"mean training error, {TWO_LEVEL} / {NO_LOCAL}", error, 1.0)
    if setup.device.kind == "GPU":
        ratio = float(two_level["seconds"].median() / no_local["seconds"].median())
        yield Check(f"time, {TWO_LEVEL} / {NO_LOCAL}", ratio, MOST_TIME)


_PAPER_GPU, _PAPER_CPU = "the paper's OpenCL (GT 630)", "the paper's C++ (two threads)"
_NOTES = {
    1: "A 3-10-2 network with 50 weights, and 50 samples: the paper gives only these two numbers.",
    2: f"{loads.PARTICLES:,} particles; 50 samples, as in Table 1: the paper gives no number here.",
}


def result_tables(found: NetworkFindings) -> Iterator[ResultTable]:
    """Those that were asked for."""
    tables = found.setup.tables
    if 1 in tables:
        yield _speeds(found, loads.TABLE_1, "Particles (after Table 1)")
    if 2 in tables:
        yield _speeds(found, loads.TABLE_2, "Networks (after Table 2)")
    if 3 in tables:
        yield _variants(select(found.runs, table=3))
    if 4 in tables:
        yield _functions(select(found.runs, table=4))
    if 5 in tables:
        yield _modelling(select(found.runs, table=5))
        yield _pairs(found)
    yield _searches(found)


def _milliseconds(runs: pd.DataFrame, engine: str, column: str = "seconds") -> float:
    """Median of an iteration."""
    mine = select(runs, engine=engine)
    return float(np.median(1e3 * mine[column] / mine["iterations"]))


def _speeds(found: NetworkFindings, of: tuple[Load, ...], title: str) -> ResultTable:
    rows, setup, table = [], found.setup, of[0].table
    for load in of:
        mine = select(found.runs, table=table, load=load.title)
        ours, baseline = _milliseconds(mine, TWO_LEVEL), _milliseconds(mine, BASELINE)
        row = {"load": load.title, "OpenCL, ms per iteration": ours}
        row |= {"on the device": _milliseconds(mine, TWO_LEVEL, "device_seconds")}
        row |= {f"{BASELINE}, ms per iteration": baseline, "speed-up": baseline / ours}
        row |= {f"OpenCL, s for {loads.PAPER_ITERATIONS:,}": ours * loads.PAPER_ITERATIONS / 1e3}
        row |= {f"{_PAPER_GPU}, s": load.paper_opencl, f"{_PAPER_CPU}, s": load.paper_baseline}
        rows.append(row | {"the paper's speed-up": load.paper_baseline / load.paper_opencl})
    how = (
        f"Medians of calls of {setup.iterations[table]:,} iterations with OpenCL and {setup.baseline_iterations:,} "
        f"with the baseline ({setup.threads} threads); the time of {loads.PAPER_ITERATIONS:,} is extrapolated."
    )
    return result_table(title, rows, _NOTES[table], how, **{"*speed-up": ",.1f"})


def _variants(runs: pd.DataFrame) -> ResultTable:
    base = select(runs, engine=BASELINE)["error"]
    rows = []
    for engine in (TWO_LEVEL, IN_STEPS, NO_LOCAL, BASELINE):
        mine = select(runs, engine=engine)
        seconds, error = bundled("networks")["table_3"].get(engine, (np.nan, np.nan))
        rows.append(
            {"engine": engine, "seconds": float(mine["seconds"].median())}
            | {"on the device, s": float(mine["device_seconds"].median())}
            | {f"error: {name}": value for name, value in summary(mine["error"], ".5f").items()}
            | {"against the baseline, p": p_value(mine["error"], base) if engine != BASELINE else np.nan}
            | {"the paper's seconds": seconds, "the paper's error": error}
        )
    notes = (
        f"6-30-2, 100 samples, {loads.PARTICLES:,} particles, {int(runs['iterations'].iloc[0]):,} iterations, "
        f"{runs['run'].max()} runs of each engine, alternating. The paper's samples are not public: errors cannot "
        "be compared with the paper's, ratios of times can.",
        "'Two-level' runs all iterations up to an exchange in one kernel, which is possible because groups do not wait "
        "for each other. Without a local level every iteration needs the best of the swarm and launches its own "
        "kernels: most of that time is the host's.",
    )
    formats = {"seconds": ",.4f", "on the device, s": ",.4f", "against the baseline, p": ".2f"}
    return result_table("With and without a local level (after Table 3)", rows, *notes, **formats)


def _functions(runs: pd.DataFrame) -> ResultTable:
    rows = []
    for load, (_, calazan) in zip(loads.TABLE_4, bundled("networks")["table_4"].values(), strict=True):
        mine = select(runs, load=load.title)
        ours = select(mine, engine=TWO_LEVEL)
        medians = ours[["seconds", "device_seconds", "error"]].median()
        row = {"function": load.title, "OpenCL, s": medians["seconds"], "on the device, s": medians["device_seconds"]}
        row |= {"iterations": int(ours["iterations"].iloc[0]), "value": medians["error"]}
        row |= {f"{BASELINE}, ms per iteration": _milliseconds(mine, BASELINE)}
        row |= {"OpenCL, ms per iteration": _milliseconds(mine, TWO_LEVEL), f"{_PAPER_GPU}, s": load.paper_opencl}
        rows.append(row | {"Calazan et al. 2013 (GTX 460), s": calazan})
    notes = (
        f"{loads.FUNCTION_DIMENSION} variables and {loads.PARTICLES:,} particles. The paper states neither these nor "
        "the iterations: its times cannot be compared with ours. f2 is as printed there, with the indices of "
        "Rosenbrock's function swapped.",
        "With the paper's inertia of 1 and c1 = c2 = 2 a swarm does not converge; its accuracy depends on the velocity "
        "limit, which the paper does not state.",
    )
    return result_table("Functions (after Table 4)", rows, *notes)


def _modelling(runs: pd.DataFrame) -> ResultTable:
    rows = []
    for engine, (seconds, error) in zip((TWO_LEVEL, BASELINE), bundled("networks")["table_5"].values(), strict=True):
        mine = select(runs, engine=engine)
        row: dict[str, Any] = {"engine": engine, "seconds": float(mine["seconds"].median())}
        row |= {"iterations": int(mine["iterations"].iloc[0]), "error, %": 100 * float(mine["error"].median())}
        rows.append(row | {"the paper's seconds": seconds, "the paper's error, %": 100 * error})
    note = (
        "6-30-2, 5000 samples, 1024 particles. The antenna's samples are not public and are replaced by a "
        "synthetic response of six inputs and two outputs: a one-port with two resonances "
        "(reservoir/problems/mlp.py)."
    )
    return result_table("Modelling a response (after Table 5)", rows, note, **{"error, %": ".2f"})


def _pairs(found: NetworkFindings) -> ResultTable:
    setup, pairs = found.setup, found.pairs
    ours, baseline = (1e3 * pairs[f"{engine}_seconds"] / pairs["iterations"] for engine in (TWO_LEVEL, BASELINE))
    columns = {"pair": pairs["pair"], "OpenCL, ms per iteration": ours, f"{BASELINE}, ms per iteration": baseline}
    note = (
        f"Both engines, alternating, on the load of Table 5, {setup.baseline_iterations:,} iterations each; the "
        "acceptance table uses their ratio. The baseline is compiled by numba, in float32, with vector instructions, "
        f"on {setup.threads} threads."
    )
    frame = pd.DataFrame(columns | {"speed-up": pairs["ratio"]})
    return result_table("Speed-up over the baseline", frame, note, pair="d", **{"speed-up": ",.2f"})


def _searches(found: NetworkFindings) -> ResultTable:
    titles = {"device_seconds": "on the device, s", "gwh_a_year": "GWh per year", "years": "years of record"}
    note = (
        "The second stage of the ann rule: every particle is a network that operates all years of the record in one "
        "work item or lane. GWh per year includes the value of the water left at the end, on the training years."
    )
    said = (f"{caveat[:1].upper()}{caveat[1:]}." for caveat in found.caveats)
    formats = {"run": "d", "seconds": ",.3f", "on the device, s": ",.3f", "GWh per year": ",.1f"}
    frame = found.searches.rename(columns=titles)
    return result_table("Direct policy search on the bundled case", frame, note, *said, **formats)


#: Iterations by table, and of the baseline where its time alone counts.
ITERATIONS = {1: 2000, 2: 2000, 3: 1000, 4: 1000, 5: 2000}
QUICK_ITERATIONS = {1: 100, 2: 100, 3: 100, 4: 100, 5: 20}
BASELINE_ITERATIONS, QUICK_BASELINE_ITERATIONS = 100, 10
THREADS = 2
_LOOKS = {
    TWO_LEVEL: MAIN_LOOK,
    IN_STEPS: Look(RELEASE, DASHED, "^"),
    NO_LOCAL: Look(POWER, CHAINED, "s"),
    BASELINE: BASE_LOOK,
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
    progress: StageProgress = silent_stage,
) -> ExperimentResult:
    """Run the experiment; its runs are those of Table 3, and times are medians of its repeats.

    Parameters
    ----------
    tables : str, optional
        Numbers with commas between them; all if not given.
    iterations, iterations_3, iterations_5 : int, optional
        Of Tables 1, 2 and 4, of Table 3 and of Table 5; `ITERATIONS` if not given.
    baseline_iterations, threads, random, swarm, reach
        See `NetworkSetup`; the paper's values for what is not given.
    """
    chosen: tuple[int, ...] = TABLES
    if tables is not None:
        chosen = numbers_named(tables, lambda each: each in TABLES, "there is no such table", "1 to 5", "--tables")
    usual = budget.usual(ITERATIONS, QUICK_ITERATIONS)
    asked = {1: iterations, 2: iterations, 3: iterations_3, 4: iterations, 5: iterations_5}
    setup = NetworkSetup.of(
        budget,
        progress,
        tables=chosen,
        iterations={table: asked[table] or usual[table] for table in TABLES},
        baseline_iterations=baseline_iterations or budget.usual(BASELINE_ITERATIONS, QUICK_BASELINE_ITERATIONS),
        threads=threads,
        random=random,
        swarm=dict(swarm or {}),
        reach=reach,
    )
    TwoLevelSettings(**setup.swarm)  # what is out of range is told before anything runs
    return network_result(NetworkFindings(setup, *all_runs(setup), speed_pairs(setup), *policy_searches(setup)))


def network_result(found: NetworkFindings) -> ExperimentResult:
    """What the runs come to."""
    setup = found.setup
    foot = setup.foot(after=f"; baseline: {setup.threads} threads of {processor_name()}")
    figures = {1: ("times", _times_figure), 3: ("errors", _errors_figure)}
    return setup.result(
        f"Networks trained by particle swarms, on {setup.device.name}",
        headlines=_headlines(found),
        checks=network_checks(found),
        tables=result_tables(found),
        data={"runs": found.runs, "errors": found.traces, "speed": found.pairs, "policy_search": found.searches},
        figures={name: draw(found, foot) for table, (name, draw) in figures.items() if table in setup.tables},
        captions=bundled("networks")["captions"],
    )


def _headlines(found: NetworkFindings) -> dict[str, str]:
    setup, told = found.setup, {}
    if len(found.pairs):
        words = f"{found.speed_up:,.2f} times the baseline on {setup.threads} threads"
        told["Speed"] = f"{words} (6-30-2, 5000 samples, 1024 particles)"
    if 3 in setup.tables:
        seconds = select(found.runs, table=3).groupby("engine")["seconds"].median()
        told["Two levels"] = f"{seconds[NO_LOCAL] / seconds[TWO_LEVEL]:,.1f} times as fast as without a local level"
    generations = int(found.searches["generations"].iloc[0])
    spent = found.searches["seconds"].median()
    told["Policy search"] = f"{spent:,.2f} s for {generations:,} generations of 512 networks"
    return told


def _times_figure(found: NetworkFindings, foot: str) -> Figure:
    """Medians by the number of particles, a line an engine."""
    runs = select(found.runs, table=1)

    def draw(sheet: SubFigure) -> Axes:
        ax = sheet.add_subplot()
        for engine in (TWO_LEVEL, BASELINE):
            mine = select(runs, engine=engine)
            median = (1e3 * mine["seconds"] / mine["iterations"]).groupby(mine["particles"]).median()
            line(ax, median.index, median, _LOOKS[engine], engine)
        ax.set_xscale("log", base=2)
        log_axis(ax)
        number_ticks(ax, sorted(runs["particles"].unique()))
        ax.set(xlabel="Particles", ylabel="Time (ms)", title="Time of an iteration")
        return ax

    return sheet_figure(3.0, [foot], draw)


def _errors_figure(found: NetworkFindings, foot: str) -> Figure:
    """Medians, and bands from the least to the greatest, a line an engine."""

    def draw(sheet: SubFigure) -> Axes:
        ax = sheet.add_subplot()
        for engine, look in _LOOKS.items():
            over = select(found.traces, engine=engine).groupby("iteration")["error"]
            median = 100 * over.median()
            ax.plot(median.index, median, color=look.colour, ls=look.line, lw=1.4, label=engine)
            ax.fill_between(median.index, 100 * over.min(), 100 * over.max(), color=look.colour, alpha=0.12, lw=0)
        ax.set_xlim(0, found.traces["iteration"].max())
        ax.set(xlabel="Iteration", ylabel="Training error (%)", title="Training error, 6-30-2 on 100 samples")
        return ax

    return sheet_figure(3.0, [foot], draw)
