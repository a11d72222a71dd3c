"""Execution times of both engines, every run a dot."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from reservoir.bench.case.engine_runs import DEVICE_ENGINE, SEQUENTIAL, counted_runs
from reservoir.planning.plan import Plan
from reservoir.report.figures.axes import written
from reservoir.report.figures.style import LIMITS, RELEASE, STORAGE, figure_style, new_figure, settled, tint

TIMES_CAPTION = (
    "Execution time of every run of both engines, as a dot, and boxes of their middle halves; the number is the "
    "median. The axis is logarithmic: equal distances are equal speed-ups."
)
_HEIGHT = 0.34


def times_figure(plan: Plan, runs: pd.DataFrame, note: str) -> Figure:
    """Draw the times of the counted runs."""
    with figure_style():
        figure, sheet = new_figure(plan, 2.3, note)
        ax = draw_times(sheet.add_subplot(), runs)
        ax.set_title("Execution time of a run")
        return settled(figure)


def draw_times(ax: Axes, runs: pd.DataFrame) -> Axes:
    """Draw a row for each engine, and one for the device's share of the first."""
    device, sequential = (counted_runs(runs, engine) for engine in (DEVICE_ENGINE, SEQUENTIAL))
    rows = (
        (SEQUENTIAL, sequential["seconds"], LIMITS),
        (DEVICE_ENGINE, device["seconds"], STORAGE),
        (f"{DEVICE_ENGINE}:\non the device", device["device_seconds"], RELEASE),
    )
    for place, (_, seconds, colour) in enumerate(rows):
        _draw_row(ax, place, 1e3 * seconds.to_numpy(float), colour)
    ax.set_xscale("log")
    low, high = (f(1e3 * seconds.to_numpy(float)) for f, seconds in ((np.min, rows[2][1]), (np.max, rows[0][1])))
    ax.set_xlim(low / 1.6, high * 1.6)
    ax.xaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=30))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: written(value)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("Time (ms)")
    ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    ax.set_ylim(len(rows) - 0.45, -0.75)
    ax.grid(visible=False, axis="y")
    return ax


def _draw_row(ax: Axes, place: int, milliseconds: np.ndarray, colour: str) -> None:
    """A box, the dots spread a little so that they can be told apart, and the median as a number."""
    ax.boxplot(
        milliseconds,
        positions=[place],
        widths=_HEIGHT,
        orientation="horizontal",
        showfliers=False,
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": tint(colour, 0.25), "edgecolor": colour},
        medianprops={"color": colour, "lw": 1.8},
        whiskerprops={"color": colour},
        capprops={"color": colour},
    )
    spread = _HEIGHT * (np.modf(np.arange(len(milliseconds)) * 0.618)[0] - 0.5)
    ax.plot(milliseconds, place + spread, ls="none", marker="o", ms=2.5, color=colour, alpha=0.8)
    median = float(np.median(milliseconds))
    ax.text(median, place - _HEIGHT * 0.75, f"{written(median)} ms", ha="center", va="bottom", color=colour, fontsize=8)
