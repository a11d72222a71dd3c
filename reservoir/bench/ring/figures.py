"""Figure 2 of Mussi, Nashed and Cagnoni 2011: fitness, time and speed-up by the number of variables."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from reservoir.bench.ring.findings import NOUGHT, mean_of_best, milliseconds, speed_up, values_of
from reservoir.bench.ring.runs import ENGINES, SEQUENTIAL
from reservoir.problems.sums.functions import RING_FUNCTIONS
from reservoir.report.figures.style import (
    LIMITS,
    RELEASE,
    STORAGE,
    Look,
    add_legend,
    broken,
    figure_style,
    footed_figure,
    settled,
)
from reservoir.solvers.ring_pso.engine import ASYNC, SYNC

CAPTION = (
    "By the number of variables, a row for each function: mean of the best 98 % of the runs (values under 1e-6 are "
    "drawn there), time of a swarm alone, and speed-up over the sequential engine; dashed: one of many swarms that a "
    "call solves at once. All axes are logarithmic."
)
_LOOKS = {
    SEQUENTIAL: Look(LIMITS, (0, (1, 1)), "D"),
    SYNC: Look(RELEASE, (0, (5, 1.5)), "s"),
    ASYNC: Look(STORAGE, "-", "o"),
}


def ring_figure(dimensions: tuple[int, ...], runs: pd.DataFrame, times: pd.DataFrame, foot: str) -> Figure:
    """Draw three panels for each function."""
    with figure_style():
        figure, sheet = footed_figure(8.2, broken(foot))
        panels = sheet.subplots(len(RING_FUNCTIONS), 3, sharex=True)
        for row, (name, function) in enumerate(RING_FUNCTIONS.items()):
            draw_row(list(panels[row]), name, dimensions, runs, times)
            panels[row][0].set_ylabel(function.title.replace("High-conditioned e", "E"))
        for ax, title in zip(panels[0], ("Mean of the best 98 %", "Time (ms)", "Speed-up"), strict=True):
            ax.set_title(title)
        for ax in panels[-1]:
            ax.set_xlabel("Variables")
        add_legend(sheet, panels[0][1])
        return settled(figure)


def draw_row(
    axes: list[Axes], name: str, dimensions: tuple[int, ...], runs: pd.DataFrame, times: pd.DataFrame
) -> list[Axes]:
    """Draw the panels of a function."""
    for engine in ENGINES:
        means = [max(mean_of_best(values_of(runs, name, each, engine)), NOUGHT) for each in dimensions]
        _line(axes[0], dimensions, engine, means)
        _line(axes[1], dimensions, engine, [milliseconds(times, name, d, engine, alone=True) for d in dimensions])
        if engine != SEQUENTIAL:
            _line(axes[2], dimensions, engine, [speed_up(times, name, d, engine, alone=True) for d in dimensions])
            share = [speed_up(times, name, d, engine, alone=False) for d in dimensions]
            axes[2].plot(dimensions, share, color=_LOOKS[engine].colour, ls=(0, (3, 2)), lw=1.0)
    for ax in axes:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log")
        ax.xaxis.set_major_locator(FixedLocator([each for each in dimensions if each != 10]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_locator(LogLocator(base=10, numticks=6))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.yaxis.set_minor_locator(NullLocator())
    return axes


def _line(ax: Axes, dimensions: tuple[int, ...], engine: str, found: list[float]) -> None:
    look = _LOOKS[engine]
    ax.plot(dimensions, found, color=look.colour, ls=look.line, marker=look.marker, ms=3, lw=1.2, label=engine)
