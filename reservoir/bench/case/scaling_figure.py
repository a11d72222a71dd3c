"""Speed over the size of the work and over the layout of the device, a panel a sweep."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, LogLocator, NullLocator

from reservoir.bench.case.sweeps import SWEEPS
from reservoir.planning.plan import Plan
from reservoir.report.figures.style import (
    DASHES,
    INFLOW,
    LIMITS,
    STORAGE,
    add_legend,
    figure_style,
    new_figure,
    settled,
)

COLUMNS = 3
PANEL_INCHES = 2.05
SCALING_CAPTION = (
    "Particle moves a second, and those of them that stay within the bounds and are evaluated, over one thing that is "
    "changed at a time; the dashed line is what the device's arithmetic units allow. Both axes are logarithmic."
)
#: Part of a panel's width that a tick's label needs.
_TICK_SHARE = 0.12
_SUFFIXES = ((1e6, "M"), (1e3, "k"))


def scaling_figure(plan: Plan, points: pd.DataFrame, moves_limit: float, note: str) -> Figure:
    """Draw a panel for every sweep that has points."""
    done = points[points["moves_per_second"].notna()]
    sweeps = [sweep for sweep in SWEEPS if (done["sweep"] == sweep).any()]
    rows = max(1, -(-len(sweeps) // COLUMNS))
    with figure_style():
        figure, sheet = new_figure(plan, 0.5 + PANEL_INCHES * rows, note)
        panels = np.atleast_1d(sheet.subplots(rows, COLUMNS, sharey=True)).ravel()
        for ax, sweep in zip(panels, sweeps, strict=False):
            draw_sweep(ax, done[done["sweep"] == sweep], sweep, moves_limit)
        for ax in panels[len(sweeps) :]:
            ax.remove()
        for ax in panels[::COLUMNS]:
            ax.set_ylabel("Per second")
        if sweeps:
            add_legend(sheet, panels[0])
        sheet.suptitle("Speed, one thing changed at a time", x=0.01, ha="left", fontweight="bold", fontsize=10)
        return settled(figure)


def draw_sweep(ax: Axes, points: pd.DataFrame, sweep: str, moves_limit: float) -> Axes:
    """Draw the points of a sweep, and the limit."""
    ordered = points.sort_values("value")
    devices = ordered["devices"].to_numpy()
    ax.plot(ordered["value"], ordered["moves_per_second"], color=STORAGE, marker="o", label="particle moves")
    ax.plot(
        ordered["value"],
        ordered["evaluations_per_second"],
        color=INFLOW,
        marker="s",
        mfc="white",
        ls=(0, (1, 1)),
        label="feasible evaluations",
    )
    limits = moves_limit * devices
    span = ordered["value"].to_numpy()
    ax.plot(
        _widened(span),
        limits[[0, *range(len(limits)), -1]],
        color=LIMITS,
        ls=DASHES,
        lw=1.2,
        label="limit of the arithmetic units",
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(*_widened(span)[[0, -1]])
    _ticks(ax, span)
    ax.set_xlabel(SWEEPS[sweep])
    return ax


def _widened(values: np.ndarray) -> np.ndarray:
    """The values, with a little room on either side, on a logarithmic axis."""
    room = max((values[-1] / values[0]) ** 0.06, 1.15)
    return np.array([values[0] / room, *values, values[-1] * room])


def _ticks(ax: Axes, values: np.ndarray) -> None:
    """Ticks at the points, and speeds with the prefixes of units."""
    ax.xaxis.set_major_locator(FixedLocator(apart(values)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
    ax.yaxis.set_major_formatter(EngFormatter(sep=" "))
    ax.yaxis.set_minor_locator(NullLocator())


def apart(values: np.ndarray) -> list[float]:
    """Those of ascending values that leave room for a label each on a logarithmic axis; the last is among them."""
    room = max((values[-1] / values[0]) ** _TICK_SHARE, 1.01)
    shown = [float(values[-1])]
    for value in values[-2::-1]:
        if shown[-1] / value >= room:
            shown.append(float(value))
    return shown[::-1]


def short(value: float) -> str:
    """A number in little room: ``62``, ``10k``."""
    for size, suffix in _SUFFIXES:
        if value >= size:
            return f"{value / size:g}{suffix}"
    return f"{value:g}"
