"""Figures of the experiment: time by the number of particles, and how errors fall."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from reservoir.bench.networks.runs import BASELINE, IN_STEPS, NO_LOCAL, TWO_LEVEL, chosen
from reservoir.report.figures.axes import written
from reservoir.report.figures.style import (
    LIMITS,
    POWER,
    RELEASE,
    STORAGE,
    Look,
    add_legend,
    broken,
    figure_style,
    footed_figure,
    settled,
)

TIMES_CAPTION = (
    "Time of an iteration by the number of particles (Table 1's load), both axes logarithmic: a line of slope one "
    "doubles its time with the particles, a flat one has room to spare."
)
ERRORS_CAPTION = (
    "Training error by iteration (Table 3's load), part of the outputs' range: the median of the runs and the band "
    "from the least to the greatest. The two forms of two levels draw the same numbers: their lines lie on each other."
)
_LOOKS = {
    TWO_LEVEL: Look(STORAGE, "-", "o"),
    IN_STEPS: Look(RELEASE, (0, (5, 1.5)), "^"),
    NO_LOCAL: Look(POWER, (0, (6, 1.5, 1.5, 1.5)), "s"),
    BASELINE: Look(LIMITS, (0, (1, 1)), "D"),
}


def times_figure(runs: pd.DataFrame, foot: str) -> Figure:
    """Draw a line an engine."""
    with figure_style():
        figure, sheet = footed_figure(3.0, broken(foot))
        ax = draw_times(sheet.add_subplot(), chosen(runs, 1))
        ax.set_title("Time of an iteration")
        add_legend(sheet, ax)
        return settled(figure)


def draw_times(ax: Axes, runs: pd.DataFrame) -> Axes:
    """Draw medians by the number of particles."""
    particles = sorted(runs["particles"].unique())
    for engine in (TWO_LEVEL, BASELINE):
        mine = runs[runs["engine"] == engine]
        median = (1e3 * mine["seconds"] / mine["iterations"]).groupby(mine["particles"]).median()
        look = _LOOKS[engine]
        ax.plot(median.index, median, color=look.colour, ls=look.line, marker=look.marker, ms=4, label=engine)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.xaxis.set_major_locator(FixedLocator(particles))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=20))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: written(value)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("Particles")
    ax.set_ylabel("Time (ms)")
    return ax


def errors_figure(traces: pd.DataFrame, foot: str) -> Figure:
    """Draw a line and a band an engine."""
    with figure_style():
        figure, sheet = footed_figure(3.0, broken(foot))
        ax = draw_errors(sheet.add_subplot(), traces)
        ax.set_title("Training error, 6-30-2 on 100 samples")
        add_legend(sheet, ax)
        return settled(figure)


def draw_errors(ax: Axes, traces: pd.DataFrame) -> Axes:
    """Draw medians, and bands from the least to the greatest."""
    for engine, look in _LOOKS.items():
        over = traces[traces["engine"] == engine].groupby("iteration")["error"]
        median = 100 * over.median()
        ax.plot(median.index, median, color=look.colour, ls=look.line, lw=1.4, label=engine)
        ax.fill_between(median.index, 100 * over.min(), 100 * over.max(), color=look.colour, alpha=0.12, lw=0)
    ax.set_xlim(0, traces["iteration"].max())
    ax.set_xlabel("Iteration")
    ax.set_ylabel("Training error (%)")
    return ax
