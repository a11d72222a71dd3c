"""Execution times of both engines, every run a dot; and speed over size of the work and layout of the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, NullLocator

from reservoir.bench.case.runs import DEVICE_ENGINE, counted_runs
from reservoir.bench.case.scaling import SWEEPS
from reservoir.bench.experiment import select
from reservoir.bench.figures import log_axis, panels, short
from reservoir.planning.solver_choice import FALLBACK_SOLVER as SEQUENTIAL
from reservoir.report.figures.style import DASHES, INFLOW, LIMITS, RELEASE, STORAGE, on_axes, sheet_figure, tint
from reservoir.text.quantities import quantity

COLUMNS, PANEL_INCHES = 3, 2.05
_HEIGHT = 0.34
#: Part of a panel's width that a tick's label needs.
_TICK_SHARE = 0.12


def times_figure(runs: pd.DataFrame, foot: Sequence[str]) -> Figure:
    """Draw the times of the counted runs."""
    return sheet_figure(2.3, foot, on_axes("Execution time of a run", draw_times, runs))


def draw_times(ax: Axes, runs: pd.DataFrame) -> Axes:
    """Draw a row for each engine, and one for the device's share of the first."""
    device, sequential = (counted_runs(runs, engine) for engine in (DEVICE_ENGINE, SEQUENTIAL))
    rows = (
        (SEQUENTIAL, 1e3 * sequential["seconds"].to_numpy(float), LIMITS),
        (DEVICE_ENGINE, 1e3 * device["seconds"].to_numpy(float), STORAGE),
        (f"{DEVICE_ENGINE}:\non the device", 1e3 * device["device_seconds"].to_numpy(float), RELEASE),
    )
    for place, (_, milliseconds, colour) in enumerate(rows):
        _draw_row(ax, place, milliseconds, colour)
    log_axis(ax, "x", ticks=30)
    ax.set_xlim(rows[2][1].min() / 1.6, rows[0][1].max() * 1.6)
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
    ax.text(
        median, place - _HEIGHT * 0.75, f"{quantity(median)} ms", ha="center", va="bottom", color=colour, fontsize=8
    )


def scaling_figure(points: pd.DataFrame, moves_limit: float, foot: Sequence[str]) -> Figure:
    """Draw a panel for every sweep that has points."""
    done = points[points["moves_per_second"].notna()]
    sweeps = [sweep for sweep in SWEEPS if (done["sweep"] == sweep).any()]
    rows = max(1, -(-len(sweeps) // COLUMNS))

    def draw(sheet: SubFigure) -> Axes | None:
        axes = panels(sheet, len(sweeps), COLUMNS, "Per second", sharey=True)
        for ax, sweep in zip(axes, sweeps, strict=True):
            draw_sweep(ax, select(done, sweep=sweep), sweep, moves_limit)
        sheet.suptitle("Speed, one parameter varied at a time", x=0.01, ha="left", fontweight="bold", fontsize=10)
        return axes[0] if sweeps else None

    return sheet_figure(0.5 + PANEL_INCHES * rows, foot, draw)


def draw_sweep(ax: Axes, points: pd.DataFrame, sweep: str, moves_limit: float) -> Axes:
    """Draw the points of a sweep, and the limit."""
    points = points.sort_values("value")
    span, limits = points["value"].to_numpy(), moves_limit * points["devices"].to_numpy()
    room = max((span[-1] / span[0]) ** 0.06, 1.15)
    widened = np.array([span[0] / room, *span, span[-1] * room])
    ax.plot(span, points["moves_per_second"], color=STORAGE, marker="o", label="particle moves")
    dotted: dict[str, Any] = {"marker": "s", "mfc": "white", "ls": (0, (1, 1))}
    ax.plot(span, points["evaluations_per_second"], color=INFLOW, label="feasible evaluations", **dotted)
    wide = limits[[0, *range(len(limits)), -1]]
    ax.plot(widened, wide, color=LIMITS, ls=DASHES, lw=1.2, label="arithmetic limit")
    ax.set_xscale("log")
    ax.set_xlim(*widened[[0, -1]])
    ax.xaxis.set_major_locator(FixedLocator(apart(span)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    log_axis(ax, ticks=12)
    ax.yaxis.set_major_formatter(EngFormatter(sep=" "))
    ax.set_xlabel(SWEEPS[sweep])
    return ax


def apart(values: np.ndarray) -> list[float]:
    """Those of ascending values that leave room for a label each on a logarithmic axis; the last is among them."""
    room = max((values[-1] / values[0]) ** _TICK_SHARE, 1.01)
    shown = [float(values[-1])]
    for value in values[-2::-1]:
        if shown[-1] / value >= room:
            shown.append(float(value))
    return shown[::-1]
