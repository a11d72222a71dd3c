"""CLPSO's models on the eight functions: Tables 3, 4 and 7 of Yu et al. 2020 (Complexity 6589658, section 5)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter

from reservoir.bench.benchmark_functions import rotation, titled
from reservoir.bench.data import bundled
from reservoir.bench.experiment import in_order, select
from reservoir.bench.figures import CHAINED, log_axis, panels, short
from reservoir.bench.journal import Journal, sources_digest
from reservoir.bench.models.findings import ModelFindings, model_checks
from reservoir.bench.models.runs import DIMENSION, PARTICLES, ModelSetup, engines, measure_throughput, model_runs
from reservoir.bench.models.tables import result_tables
from reservoir.bench.result import ExperimentResult
from reservoir.bench.run_budget import RunBudget
from reservoir.planning.plan import StageProgress, silent_stage
from reservoir.problems.functions import functions_named
from reservoir.report.figures.looks import Look
from reservoir.report.figures.style import LIMITS, NORMAL, POWER, RELEASE, SPILL, STORAGE, WET, on_axes, sheet_figure
from reservoir.report.folder import run_provenance
from reservoir.solvers.clpso.models import LANES


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
