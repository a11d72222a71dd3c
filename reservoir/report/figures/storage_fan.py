"""Fan chart of the storage through the water year, over all years of a plan."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reservoir.hydro.reservoir_kinds import YearEnd
from reservoir.planning.infeasible import chosen
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import horizon_text, left_out_sentence
from reservoir.report.figures.axes import month_ends
from reservoir.report.figures.bands import draw_bands
from reservoir.report.figures.storage_axis import draw_storage_frame, draw_years_outside
from reservoir.report.figures.style import LIMITS, STORAGE, on_axes, plan_figure


def storage_fan_figure(plan: Plan) -> Figure:
    """Draw the fan chart with its legend."""
    return plan_figure(plan, 4.3, on_axes("Storage at the end of each month", draw_storage_fan, plan), reverse=True)


def draw_storage_fan(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage of every year as bands, with its bounds and the reservoir's levels; returns the axis.

    Years that leave their limits are lines beside the bands.
    """
    storages, kept = plan.operation.storage_hm3, plan.keeps_limits
    draw_storage_frame(ax, plan, storages)
    months = month_ends(plan.inflow.calendar)
    if kept.any():
        name = chosen(plan.inflow.labels, kept)[0]
        draw_bands(ax, months, storages[kept], STORAGE, single=f"storage in {name}")
    draw_years_outside(ax, plan)
    _draw_fixed_ends(ax, plan)
    return ax


def _draw_fixed_ends(ax: Axes, plan: Plan) -> None:
    """Mark the storage that every year begins with, and the one that it must end with."""
    ends = _fixed_ends(plan)
    if ends:
        steps = plan.inflow.calendar.steps
        label = "given start and end of the year" if len(ends) == 2 else "given start of the year"
        ax.scatter(
            [0, steps][: len(ends)], ends, s=30, marker="D", fc="white", ec=LIMITS, clip_on=False, zorder=5, label=label
        )


def _fixed_ends(plan: Plan) -> list[float]:
    given = plan.reservoir
    if not plan.horizon.is_year:
        return []
    ends = [given.initial_storage_hm3, given.final_storage_hm3 if given.year_end is YearEnd.FIXED else None]
    return [end for end in ends if end is not None]


def caption(plan: Plan) -> str:
    """How to read the figure."""
    several, which = int(plan.keeps_limits.sum()) > 1, "all years" if plan.keeps_limits.all() else "the years"
    shown = f"The line is the median of {which}, the bands hold the shares of years named below; " if several else ""
    text = f"{shown}grey lies outside the storage bounds at the end of each month.{_year_end(plan)}"
    return " ".join([text[0].upper() + text[1:], left_out_sentence(plan, "drawn as broken lines")]).strip()


def _year_end(plan: Plan) -> str:
    ends = _fixed_ends(plan)
    if not plan.horizon.is_year:
        return f" The storage is carried from year to year: planned in {horizon_text(plan)}."
    if len(ends) == 2:
        return " The marks are the storages that every year must begin and end with."
    begins = "Every year begins at the mark and may end" if ends else "Every year ends as it began,"
    return f" {begins} anywhere within the bounds."
