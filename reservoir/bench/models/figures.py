"""Figures of the experiment: convergence of every engine on every function, and the times of a run."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from reservoir.bench.models.runs import of_engine
from reservoir.bench.models.tables import engines_of, functions_of, titled
from reservoir.report.figures.axes import written
from reservoir.report.figures.style import (
    LIMITS,
    NORMAL,
    POWER,
    RELEASE,
    SPILL,
    STORAGE,
    WET,
    Look,
    add_legend,
    broken,
    figure_style,
    footed_figure,
    settled,
)

CONVERGENCE_CAPTION = (
    "Best value over the generations: the median of the runs, and for the sequential engine the band of their middle "
    "eight tenths. Lines that lie on each other are engines that do not differ."
)
TIMES_CAPTION = "Mean time of a run of one swarm; thin lines reach from the fastest run to the slowest."

_LOOKS = {
    "sequential": Look(LIMITS, "-", "o"),
    "basic": Look(SPILL, (0, (1, 1)), "v"),
    "intermediate": Look(POWER, (0, (5, 1.5)), "s"),
    "final": Look(RELEASE, (0, (6, 1.5, 1.5, 1.5)), "^"),
    "lanes": Look(STORAGE, (0, (2.5, 1.2)), "D"),
}
_OTHERS = {
    "sequential, strict": Look(NORMAL, (0, (1, 2)), "x"),
    "sequential, following": Look(WET, (0, (8, 2)), "+"),
}
_COLUMNS, _PANEL_INCHES = 4, 1.75
_BAND = (0.1, 0.9)
#: Values below are drawn there: an optimum that is found exactly has no place on a logarithmic axis.
_FLOOR = 1e-20
#: A range of values that is given more ticks than powers of ten.
_NARROW = 300.0


def convergence_figure(traces: pd.DataFrame, foot: str) -> Figure:
    """Draw a panel a function."""
    names = functions_of(traces)
    columns = min(_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    with figure_style():
        figure, sheet = footed_figure(0.6 + _PANEL_INCHES * rows, broken(foot))
        panels = np.atleast_1d(sheet.subplots(rows, columns)).ravel()
        for place, (ax, name) in enumerate(zip(panels, names, strict=False)):
            draw_convergence(ax, traces[traces["function"] == name])
            ax.set_title(titled(name), fontsize=8.5)
            if place >= len(names) - columns:
                ax.set_xlabel("Generation")
        for ax in panels[len(names) :]:
            ax.remove()
        for ax in panels[::columns]:
            ax.set_ylabel("Best value")
        add_legend(sheet, panels[0])
        return settled(figure)


def draw_convergence(ax: Axes, traces: pd.DataFrame) -> Axes:
    """Draw the medians of all engines and the band of the first."""
    for place, engine in enumerate(engines_of(traces)):
        look = (_LOOKS | _OTHERS)[engine]
        over = traces[traces["engine"] == engine].groupby("generation")["best"]
        median = over.median().clip(lower=_FLOOR)
        ax.plot(median.index, median, color=look.colour, ls=look.line, lw=1.2, label=engine)
        if place == 0:
            low, high = (over.quantile(part).clip(lower=_FLOOR) for part in _BAND)
            ax.fill_between(median.index, low, high, color=look.colour, alpha=0.12, lw=0)
    ax.set_yscale("log")
    bottom, top = ax.get_ylim()
    if top / bottom < _NARROW:
        ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=20))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: written(value)))
    else:
        ax.yaxis.set_major_locator(LogLocator(base=10, numticks=5))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"1e{round(math.log10(value))}"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.tick_params(labelsize=7)
    ax.set_xlim(0, traces["generation"].max())
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value / 1000:g}k" if value >= 1000 else f"{value:g}")
    )
    return ax


def times_figure(runs: pd.DataFrame, foot: str) -> Figure:
    """Draw a group of bars a function."""
    with figure_style():
        figure, sheet = footed_figure(3.0, broken(foot))
        ax = draw_times(sheet.add_subplot(), runs)
        ax.set_title("Time of a run of one swarm")
        add_legend(sheet, ax)
        return settled(figure)


def draw_times(ax: Axes, runs: pd.DataFrame) -> Axes:
    """Draw bars of mean times side by side, on a logarithmic axis."""
    names = functions_of(runs)
    shown = [engine for engine in engines_of(runs) if engine in _LOOKS]
    width = 0.84 / len(shown)
    for place, engine in enumerate(shown):
        times = [1e3 * of_engine(runs, name, engine)["seconds"] for name in names]
        at = np.arange(len(names)) + (place - (len(shown) - 1) / 2) * width
        means = [each.mean() for each in times]
        ax.bar(at, means, width * 0.92, color=_LOOKS[engine].colour, label=engine)
        ax.vlines(at, [each.min() for each in times], [each.max() for each in times], color=LIMITS, lw=0.8)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=20))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: written(value)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylabel("Time (ms)")
    ax.set_xticks(range(len(names)), [titled(name).replace(" ", "\n") for name in names], fontsize=7)
    ax.grid(visible=False, axis="x")
    return ax
