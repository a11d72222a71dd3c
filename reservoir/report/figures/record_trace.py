"""Level and storage through the whole record, as a plan of a long horizon runs them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from reservoir.planning.plan import Plan
from reservoir.planning.sentences import reference_sentence
from reservoir.report.figures.axes import THOUSANDS, not_below_zero, year_axis
from reservoir.report.figures.level_trace import MANY_YEARS, draw_level_marks, month_end_years, set_level_limits
from reservoir.report.figures.style import LIMITS, OUTSIDE, OUTSIDE_MARK, REFERENCE, STORAGE, plan_figure

FloatArray = NDArray[np.float64]


def record_trace_figure(plan: Plan) -> Figure:
    """Draw the level over the storage, both at the end of every month."""

    def draw(sheet: SubFigure) -> Axes | None:
        upper, lower = sheet.subplots(2, 1, sharex=True)
        draw_level(upper, plan)
        upper.set_xlabel("")
        upper.set_title("Level and storage through the record")
        return draw_storage(lower, plan)

    return plan_figure(plan, 5.0, draw)


def draw_level(ax: Axes, plan: Plan) -> Axes:
    """Draw the level at the end of every month, and the levels that the reservoir marks; returns the axis."""
    levels = plan.operation.level_m
    _draw(ax, plan, levels)
    set_level_limits(ax, plan, levels)
    draw_level_marks(ax, plan)
    ax.set_ylabel("Level (m)")
    return ax


def draw_storage(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage at the end of every month between its bounds; returns the axis."""
    calendar, storages = plan.inflow.calendar, plan.operation.storage_hm3[:, 1:]
    _draw(ax, plan, storages)
    lower, upper = (np.tile(each, calendar.years) for each in plan.reservoir.storage_bounds_hm3)
    margin = 0.06 * float(upper.max() - lower.min())
    bottom, top = min(storages.min(), lower.min()) - margin, max(storages.max(), upper.max()) + margin
    ax.set_ylim(bottom, top)
    x = month_end_years(calendar)
    ax.fill_between(x, upper, top, color=OUTSIDE, lw=0, zorder=1, step="pre", label="outside the limits")
    ax.fill_between(x, bottom, lower, color=OUTSIDE, lw=0, zorder=1, step="pre")
    outside = (plan.operation.violation > 0).ravel()
    if outside.any():
        ax.plot(x[outside], storages.ravel()[outside], **OUTSIDE_MARK | {"ms": 3}, label="violates its limits")
    _mark_ends(ax, plan)
    _mark_reference(ax, plan, bottom + 0.025 * (top - bottom))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel("Storage (hm³)")
    not_below_zero(ax)
    return ax


def _draw(ax: Axes, plan: Plan, values: FloatArray) -> None:
    calendar = plan.inflow.calendar
    if calendar.years > MANY_YEARS:
        low, high = values.min(axis=1), values.max(axis=1)
        ax.fill_between(list(calendar.start_years), low, high, color=STORAGE, lw=0.3, zorder=3)
    else:
        ax.plot(month_end_years(calendar), values.ravel(), color=STORAGE, lw=1.0, zorder=3)
    year_axis(ax, calendar)
    ax.set_xlim(calendar.first_year - 0.5, calendar.first_year + calendar.years - 0.5)


def _mark_ends(ax: Axes, plan: Plan) -> None:
    """Mark where each horizon begins."""
    first = np.unique(plan.problems.of_year, return_index=True)[1]
    starts = np.array(plan.inflow.calendar.start_years)[first] - 0.5
    storages = plan.operation.storage_hm3[first, 0]
    if len(first) <= MANY_YEARS:
        label = "start of the record" if len(first) == 1 else "start of a window"
        ax.scatter(starts, storages, s=18, marker="D", fc="white", ec=LIMITS, clip_on=False, zorder=5, label=label)


def _mark_reference(ax: Axes, plan: Plan, height: float) -> None:
    """Draw a line along the axis below the windows that hold the schedule of the reference."""
    if plan.from_reference.any():
        calendar, steps = plan.inflow.calendar, plan.inflow.steps
        line = np.where(np.repeat(plan.from_reference, steps), height, np.nan)
        label = f"schedule of {plan.references.solver}"
        ax.plot(month_end_years(calendar), line, color=REFERENCE, lw=1.5, zorder=5, label=label)


def caption(plan: Plan) -> str | None:
    """How to read the figure; None where there is none."""
    if plan.horizon.is_year:
        return None
    what = "the whole record as one problem" if len(plan.problems) == 1 else f"windows of {plan.horizon} years"
    many = plan.inflow.years > MANY_YEARS
    each = (
        "each year's lowest to highest value"
        if many
        else f"the value at the end of each {plan.inflow.calendar.step.noun}"
    )
    text = f"Optimal operation of {what}: {each}. Grey: outside the storage limits."
    return " ".join([text, reference_sentence(plan, "marked by a line along the axis")]).strip()
