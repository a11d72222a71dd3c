"""Fan chart of the storage through the water year, over all years of a plan."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reservoir.plan import Plan
from reservoir.report.axes import month_ends
from reservoir.report.bands import draw_bands
from reservoir.report.storage_axis import draw_storage_frame
from reservoir.report.style import STORAGE, add_legend, figure_style, new_figure, settled


def storage_fan_figure(plan: Plan) -> Figure:
    """Draw the fan chart with its legend."""
    with figure_style():
        figure, sheet = new_figure(plan, 4.3)
        ax = draw_storage_fan(sheet.add_subplot(), plan)
        ax.set_title("Storage at the end of each month")
        add_legend(sheet, ax, reverse=True)
        return settled(figure)


def draw_storage_fan(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage of every year as bands, with its bounds and the reservoir's levels; returns the axis."""
    storages = plan.stacked("storage_hm3")
    draw_storage_frame(ax, plan, storages)
    months = month_ends(plan.inflow.calendar)
    return draw_bands(ax, months, storages, STORAGE, single=f"storage in {plan.inflow.labels[0]}")


def caption(plan: Plan) -> str:
    """How to read the figure."""
    several = len(plan.years) > 1
    shown = "The line is the median of all years, the bands hold the shares of years named below; " if several else ""
    text = f"{shown}grey lies outside the storage bounds at the end of each month."
    return text[0].upper() + text[1:]
