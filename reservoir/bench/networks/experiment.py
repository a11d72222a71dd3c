"""Networks trained by particle swarms as Li and Liu 2017 measured them: Tables 1 to 5, and policy search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir.bench.data import bundled
from reservoir.bench.experiment import numbers_named, processor_name, select
from reservoir.bench.figures import BASE_LOOK, CHAINED, DASHED, MAIN_LOOK, line, log_axis, number_ticks
from reservoir.bench.networks.findings import NetworkFindings, network_checks, result_tables
from reservoir.bench.networks.loads import TABLES
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
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import RunBudget
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.report.figures.looks import Look
from reservoir.report.figures.style import POWER, RELEASE, sheet_figure
from reservoir.solvers.two_level_pso.settings import TwoLevelSettings

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
