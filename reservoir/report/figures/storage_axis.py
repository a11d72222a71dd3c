"""The frame of charts of storage by month: bounds, the reservoir's level marks, and levels on the right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from reservoir.planning.infeasible import counted
from reservoir.planning.plan import Plan
from reservoir.report.figures.axes import (
    TEXT_SHARE,
    THOUSANDS,
    level_axis,
    month_axis,
    month_ends,
    month_runs,
    not_below_zero,
    storage_at,
)
from reservoir.report.figures.style import DASHES, LIMITS, OUTSIDE, VIOLATION

FloatArray = NDArray[np.float64]

#: Part of the range of storages that is kept free above and below it, for the names of the lines.
MARGIN = 0.09
#: Storages farther outside the bounds than this part of their range, which no schedule can help, are cut off.
SHOWN_OUTSIDE = 0.3
#: More years outside their limits than this are drawn by the lowest and the highest of them.
MANY_LINES = 30
#: Part of the axis that the name of a line takes, about.
NAME_PART = 2.8 / 12


def draw_storage_frame(ax: Axes, plan: Plan, storages: FloatArray) -> Axes:
    """Make an axis one of storage by step that holds these storages, the bounds and the levels; returns the axis.

    It is cut off at `SHOWN_OUTSIDE`.
    """
    lower, upper = storage_bounds(plan)
    ax.set_ylim(_limits(plan, np.concatenate([cut_off(plan, storages.ravel()), lower, upper])))
    _shade_outside(ax, month_ends(plan.inflow.calendar), lower, upper)
    month_axis(ax, plan.inflow.calendar)
    _draw_marks(ax, plan)
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel("Storage (hm³)")
    not_below_zero(ax)
    level_axis(ax, plan.reservoir, plan.units)
    return ax


def cut_off(plan: Plan, storages: FloatArray) -> FloatArray:
    """Storages as far as an axis shows them, see `SHOWN_OUTSIDE`."""
    lower, upper = storage_bounds(plan)
    room = SHOWN_OUTSIDE * float(upper.max() - lower.min())
    return np.asarray(np.clip(storages, lower.min() - room, upper.max() + room))


def draw_years_outside(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage of every year that violates its limits as a line; of many, the minimum and maximum."""
    storages = plan.operation.storage_hm3[~plan.keeps_limits]
    label = f"{counted(len(storages))} outside {'its' if len(storages) == 1 else 'their'} limits"
    if len(storages) > MANY_LINES:
        storages, label = np.stack([storages.min(axis=0), storages.max(axis=0)]), f"{label}, minimum and maximum"
    months, dashes = month_ends(plan.inflow.calendar), (0, (3, 1.5))
    for place, line in enumerate(storages):
        ax.plot(months, line, color=VIOLATION, lw=0.9, ls=dashes, label=None if place else label, zorder=2.8)
    return ax


def storage_bounds(plan: Plan) -> tuple[FloatArray, FloatArray]:
    """Bounds of the storage at the start of the year, which is the end of the last step, and the end of each step."""
    lower, upper = plan.reservoir.storage_bounds_hm3
    steps = plan.inflow.steps
    return np.append(lower[-1], np.resize(lower, steps)), np.append(upper[-1], np.resize(upper, steps))


@dataclass(frozen=True)
class LevelMark:
    """A level of the reservoir, its storage, and the part of the month axis that it holds for."""

    name: str
    level_m: float
    storage_hm3: float
    runs: tuple[tuple[float, float], ...]


def level_marks(plan: Plan, near_hm3: tuple[float, float]) -> list[LevelMark]:
    """Normal, flood and dead level, as far as the reservoir has them; the flood level in the flood months only."""
    calendar, marks = plan.inflow.calendar, plan.reservoir.marks
    year = ((0.0, float(calendar.steps)),)
    season = tuple(month_runs(calendar, marks.flood_months)) or year
    named = (("normal", marks.normal_m, year), ("flood", marks.flood_m, season), ("dead", marks.dead_m, year))
    given = [(name, level, runs) for name, level, runs in named if level is not None]
    storages = storage_at(plan.reservoir, np.array([level for _, level, _ in given]), near_hm3)
    found = zip(given, storages, strict=True)
    return [LevelMark(name, level, float(at), runs) for (name, level, runs), at in found if np.isfinite(at)]


def _limits(plan: Plan, storages: FloatArray) -> tuple[float, float]:
    low, high = float(storages.min()), float(storages.max())
    places = [mark.storage_hm3 for mark in level_marks(plan, (low, high))]
    low, high = min([low, *places]), max([high, *places])
    margin = MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def _shade_outside(ax: Axes, x: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    bottom, top = ax.get_ylim()
    ax.fill_between(x, upper, top, color=OUTSIDE, lw=0, zorder=1, label="outside the limits")
    ax.fill_between(x, bottom, lower, color=OUTSIDE, lw=0, zorder=1)


def _draw_marks(ax: Axes, plan: Plan) -> None:
    bottom, top = ax.get_ylim()
    marks = level_marks(plan, (bottom, top))
    for mark in marks:
        for run in mark.runs:
            ax.plot(run, [mark.storage_hm3] * 2, color=LIMITS, lw=1.1, ls=DASHES, zorder=2.5, gid=f"{mark.name} level")
        higher = min((other.storage_hm3 for other in marks if other.storage_hm3 > mark.storage_hm3), default=top)
        above = mark.name != "dead" and higher - mark.storage_hm3 > TEXT_SHARE * (top - bottom)
        _name_mark(ax, mark, above)


def _name_mark(ax: Axes, mark: LevelMark, above: bool) -> None:
    start, end = max(mark.runs, key=lambda run: run[1] - run[0])
    left, right = ax.get_xlim()
    inset = NAME_PART * (right - left) / 2
    # A line through the whole year is named at its left end, where the name of the flood level hardly ever is.
    at = left + inset if end - start == right - left else np.clip((start + end) / 2, left + inset, right - inset)
    ax.annotate(
        f"{mark.name} level {mark.level_m:g} m",
        (at, mark.storage_hm3),
        xytext=(0, 2 if above else -2),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        fontsize=8,
        color=LIMITS,
        zorder=5,
    )
