"""Fan chart of the storage through the water year, over all years of a plan."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reservoir.plan import Plan
from reservoir.report.axes import (
    TEXT_SHARE,
    THOUSANDS,
    level_axis,
    month_axis,
    month_ends,
    month_runs,
    not_below_zero,
    storage_at,
)
from reservoir.report.bands import draw_bands
from reservoir.report.style import DASHES, LIMITS, OUTSIDE, STORAGE, add_legend, figure_style, new_figure

FloatArray = NDArray[np.float64]

#: Part of the range of storages that is kept free above and below it, for the names of the lines.
MARGIN = 0.09


def storage_fan_figure(plan: Plan) -> Figure:
    """Draw the fan chart with its legend."""
    with figure_style():
        figure, sheet = new_figure(plan, 4.3)
        ax = draw_storage_fan(sheet.add_subplot(), plan)
        ax.set_title("Storage at the end of each month")
        add_legend(sheet, ax, reverse=True)
    return figure


def draw_storage_fan(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage of every year as bands, with its bounds and the reservoir's levels; returns the axis."""
    calendar = plan.inflow.calendar
    storages = plan.stacked("storage_hm3")
    lower, upper = storage_bounds(plan)
    ax.set_ylim(_limits(plan, np.concatenate([storages.ravel(), lower, upper])))
    _shade_outside(ax, month_ends(calendar), lower, upper)
    draw_bands(ax, month_ends(calendar), storages, STORAGE, single=f"storage in {plan.inflow.labels[0]}")
    _draw_marks(ax, plan)
    month_axis(ax, calendar)
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel("Storage (hm³)")
    not_below_zero(ax)
    level_axis(ax, plan.reservoir)
    return ax


def storage_bounds(plan: Plan) -> tuple[FloatArray, FloatArray]:
    """Bounds of the storage at the start of the year, which is the end of the last month, and the end of each month."""
    reservoir = plan.reservoir
    lower = reservoir.by_step(reservoir.storage_lower_hm3)
    upper = reservoir.by_step(reservoir.storage_upper_hm3)
    return np.append(lower[-1], lower), np.append(upper[-1], upper)


def caption(plan: Plan) -> str:
    """How to read the figure."""
    several = len(plan.years) > 1
    shown = "The line is the median of all years, the bands hold the shares of years named below; " if several else ""
    text = f"{shown}grey lies outside the storage bounds at the end of each month."
    return text[0].upper() + text[1:]


def _limits(plan: Plan, storages: FloatArray) -> tuple[float, float]:
    low, high = float(storages.min()), float(storages.max())
    places = [place for _, place in _marks(plan, (low, high))]
    low, high = min([low, *places]), max([high, *places])
    margin = MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def _marks(plan: Plan, near: tuple[float, float]) -> list[tuple[str, float]]:
    marks = plan.reservoir.marks
    named = (("normal", marks.normal_m), ("flood", marks.flood_m), ("dead", marks.dead_m))
    levels = {name: level for name, level in named if level is not None}
    places = storage_at(plan.reservoir, np.array(list(levels.values())), near)
    return [(name, float(place)) for name, place in zip(levels, places, strict=True) if np.isfinite(place)]


def _shade_outside(ax: Axes, x: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    bottom, top = ax.get_ylim()
    ax.fill_between(x, upper, top, color=OUTSIDE, lw=0, zorder=1, label="outside the bounds")
    ax.fill_between(x, bottom, lower, color=OUTSIDE, lw=0, zorder=1)


def _draw_marks(ax: Axes, plan: Plan) -> None:
    calendar, marks = plan.inflow.calendar, plan.reservoir.marks
    places = dict(_marks(plan, ax.get_ylim()))
    bottom, top = ax.get_ylim()
    year = (0.0, float(calendar.steps))
    runs = month_runs(calendar, marks.flood_months) or [year]
    if "normal" in places:
        _draw_mark(ax, places["normal"], [year], f"normal level {marks.normal_m:g} m", above=True, at=0.1)
    if "dead" in places:
        _draw_mark(ax, places["dead"], [year], f"dead level {marks.dead_m:g} m", above=False, at=0.1)
    if "flood" in places:
        squeezed = 0 < places.get("normal", top) - places["flood"] < TEXT_SHARE * (top - bottom)
        start, end = max(runs, key=lambda run: run[1] - run[0])
        text = f"flood level {marks.flood_m:g} m"
        _draw_mark(ax, places["flood"], runs, text, above=not squeezed, at=(start + end) / 2, ha="center")


def _draw_mark(
    ax: Axes, y: float, runs: list[tuple[float, float]], text: str, *, above: bool, at: float, ha: str = "left"
) -> None:
    for start, end in runs:
        ax.plot([start, end], [y, y], color=LIMITS, lw=1.1, ls=DASHES, zorder=2.5, gid="mark")
    ax.annotate(
        text,
        (at, y),
        xytext=(0, 2 if above else -2),
        textcoords="offset points",
        ha=ha,
        va="bottom" if above else "top",
        fontsize=8,
        color=LIMITS,
        zorder=5,
    )
