"""An inflow record by itself: its months one after another, the months of the year, and the volumes of years."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.unit_system import SI, UnitSystem, labelled
from reservoir.report.figures.axes import draw_bands, month_axis, month_middles, quantity_axis, year_axis, year_title
from reservoir.report.figures.style import INFLOW, OUTSIDE_MARK, REFERENCE, shade, sheet_figure


def inflow_record_figure(check: InflowCheck, units: UnitSystem = SI) -> Figure:
    """Draw a record in some units; of an ensemble, the months of its first member and the spread of all."""
    inflow = check.inflow

    def draw(sheet: SubFigure) -> Axes:
        grid = sheet.add_gridspec(2, 2)
        trace = draw_trace(sheet.add_subplot(grid[0, :]), check)
        draw_months(sheet.add_subplot(grid[1, 0]), check)
        draw_years(sheet.add_subplot(grid[1, 1]), check)
        return trace

    scale = inflow.scale if units is SI else f"mean flow {units.stated(inflow.mean_m3s, 'm3/s')}"
    about = f"{inflow.span_text}; {scale}. Crosses: far from the other values of their calendar month."
    return sheet_figure(5.4, (about, inflow.caveat), draw, units=units)


def draw_trace(ax: Axes, check: InflowCheck) -> Axes:
    """Draw the flow of every month, and the mean; returns the axis."""
    calendar = check.inflow.calendar
    years = calendar.years_each or calendar.years
    starts = calendar.start_years[:years]
    x = (starts[:, None] + (np.arange(calendar.steps) + 0.5) / calendar.steps).ravel()
    flow, label = check.inflow.flow_m3s[:years].ravel(), f"flow of the {calendar.step.noun}"
    ax.plot(x, flow, color=shade(INFLOW, 0.8), lw=0.9, label=label)
    ax.axhline(check.inflow.mean_m3s, color=REFERENCE, lw=0.9, ls="--", label="mean")
    at = [year * calendar.steps + step for year, step in (outlier.place for outlier in check.outliers) if year < years]
    if at:
        ax.plot(x[at], flow[at], **OUTSIDE_MARK, label="outlier")
    ax.set_xlim(x[0] - 0.5, x[-1] + 0.5)
    ax.set_xlabel(year_title(calendar))
    return quantity_axis(ax, labelled("Flow ({})", "m³/s"))


def draw_months(ax: Axes, check: InflowCheck) -> Axes:
    """Draw the spread of each calendar month, and its outliers; returns the axis."""
    calendar, x = check.inflow.calendar, month_middles(check.inflow.calendar)
    draw_bands(ax, x, check.inflow.flow_m3s, INFLOW, single="flow")
    for outlier in check.outliers:
        ax.plot(x[outlier.place[1]], outlier.flow_m3s, **OUTSIDE_MARK)
    label = labelled(f"Flow of the {calendar.step.noun} ({{}})", "m³/s")
    return quantity_axis(month_axis(ax, calendar, 6.5), label)


def draw_years(ax: Axes, check: InflowCheck) -> Axes:
    """Draw the volume of each water year, of an ensemble the mean of its members; returns the axis."""
    calendar = check.inflow.calendar
    years = calendar.years_each or calendar.years
    volumes = check.annual_hm3.reshape(-1, years).mean(axis=0)
    ax.bar(calendar.start_years[:years], volumes, color=INFLOW, width=0.8)
    ax.axhline(float(volumes.mean()), color=REFERENCE, lw=0.9, ls="--")
    return quantity_axis(year_axis(ax, calendar.span(0, years)), labelled("Inflow of the year ({})", "hm³"))
