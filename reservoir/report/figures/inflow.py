"""Figures of inflow: a record as it was read, and synthetic inflow beside its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import ArrayLike

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow_check import InflowCheck
from reservoir.hydro.unit_system import SI, UnitSystem, labelled
from reservoir.report.figures import axes
from reservoir.report.figures.axes import (
    THOUSANDS,
    draw_bands,
    month_axis,
    month_middles,
    quantity_axis,
    year_axis,
)
from reservoir.report.figures.style import INFLOW, OUTSIDE_MARK, POWER, REFERENCE, STORAGE, shade, sheet_figure, titled
from reservoir.synthetic import acceptance
from reservoir.synthetic.acceptance import Comparison, OptimisedRecords
from reservoir.synthetic.methods import FloatArray


def inflow_record_figure(check: InflowCheck, units: UnitSystem = SI) -> Figure:
    """Draw a record in some units; of an ensemble, the months of its first member and the spread of all."""
    inflow = check.inflow

    def draw(sheet: SubFigure) -> tuple[Axes, Axes]:
        grid = sheet.add_gridspec(2, 2)
        trace = titled(draw_trace(sheet.add_subplot(grid[0, :]), check), "Inflow as it was read")
        months = draw_months(sheet.add_subplot(grid[1, 0]), check)
        draw_years(sheet.add_subplot(grid[1, 1]), check)
        return trace, months

    scale = inflow.scale if units is SI else f"mean flow {units.written(inflow.mean_m3s, 'm3s')}"
    about = f"{Path(inflow.source).name}: {inflow.span_text}; {scale}.".removeprefix(": ")
    about += " Crosses: far from the other values of their calendar month." if check.outliers else ""
    return sheet_figure(5.6, (about, inflow.caveat), draw, units=units)


def draw_trace(ax: Axes, check: InflowCheck) -> Axes:
    """Draw the flow of every month, and the mean; returns the axis."""
    calendar = check.inflow.calendar
    years = calendar.years_each or calendar.years
    starts = calendar.start_years[:years] - 0.5  # a year reaches half to either side of its name
    x = (starts[:, None] + (np.arange(calendar.steps) + 0.5) / calendar.steps).ravel()
    flow, label = check.inflow.flow_m3s[:years].ravel(), f"flow of the {calendar.step.noun}"
    ax.plot(x, flow, color=shade(INFLOW, 0.8), lw=0.9, label=label)
    ax.axhline(check.inflow.mean_m3s, color=REFERENCE, lw=0.9, ls="--", label="mean")
    at = [year * calendar.steps + step for year, step in (outlier.place for outlier in check.outliers) if year < years]
    if at:
        ax.plot(x[at], flow[at], **OUTSIDE_MARK, label="outlier")
    year_axis(ax, calendar.span(0, years)).set_xlim(starts[0], starts[-1] + 1)
    return _from_zero(quantity_axis(ax, labelled("Flow ({})", "m³/s")), flow)


def _from_zero(ax: Axes, flow: FloatArray) -> Axes:
    """An axis of flows begins at 0, unless some are negative."""
    if flow.min() >= 0:
        ax.set_ylim(bottom=0)
    return ax


def draw_months(ax: Axes, check: InflowCheck) -> Axes:
    """Draw the spread of each calendar month, and its outliers; returns the axis."""
    calendar, x = check.inflow.calendar, month_middles(check.inflow.calendar)
    draw_bands(ax, x, check.inflow.flow_m3s, INFLOW)
    for outlier in check.outliers:
        ax.plot(x[outlier.place[1]], outlier.flow_m3s, **OUTSIDE_MARK)
    label = labelled(f"Flow of the {calendar.step.noun} ({{}})", "m³/s")
    return _from_zero(quantity_axis(month_axis(ax, calendar, 6.5), label), check.inflow.flow_m3s)


def draw_years(ax: Axes, check: InflowCheck) -> Axes:
    """Draw the volume of each water year, of an ensemble the mean of its members; returns the axis."""
    calendar = check.inflow.calendar
    years = calendar.years_each or calendar.years
    volumes = check.annual_hm3.reshape(-1, years).mean(axis=0)
    ax.bar(calendar.start_years[:years], volumes, color=INFLOW, width=0.8)
    ax.axhline(float(volumes.mean()), color=REFERENCE, lw=0.9, ls="--")
    year_axis(ax, calendar.span(0, years), narrow=True)
    return quantity_axis(ax, labelled("Inflow of the year ({})", "hm³"))


_ROW_INCHES = 2.5
#: Parts at which a distribution is drawn.
_PARTS = np.linspace(0.01, 0.99, 99)


def synthetic_inflow_figure(
    comparisons: Mapping[str, Comparison],
    calendar: Calendar,
    optimised: tuple[OptimisedRecords, OptimisedRecords] | None,
    foot: str,
    units: UnitSystem = SI,
    site: str = "",
) -> Figure:
    """Draw four panels of flows, and two more of optimised records if there are any.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
        By the name of the statistic.
    calendar : Calendar
        Of the record.
    optimised : tuple of OptimisedRecords, optional
        The record, and synthetic records.
    foot : str
        The caveat of the ensemble.
    units : UnitSystem
    site : str
        Which of several the flows are of.
    """

    def draw(sheet: SubFigure) -> Axes:
        rows = 3 if optimised else 2
        panels = sheet.subplots(rows, 2).ravel().tolist()
        titles = ("mean of the month", "deviation of the month", "skew of the month")
        labels = (labelled("Mean ({})", "m³/s"), labelled("Standard deviation ({})", "m³/s"), "Skewness")
        for ax, title, label in zip(panels, titles, labels, strict=False):
            draw_statistic(ax, comparisons[title], calendar)
            ax.set_ylabel(label)
        flows = comparisons["flow duration curve"]
        label = labelled("Flow ({})", "m³/s")
        draw_exceeded(panels[3], acceptance.EXCEEDED, flows.record, flows.synthetic, INFLOW, label, "months")
        if optimised:
            record, synthetic = optimised
            draw_distribution(panels[4], record.energy_gwh, synthetic.energy_gwh, POWER, "Annual energy (GWh)")
            label = labelled("Storage at the month's end ({})", "hm³")
            draw_distribution(panels[5], record.storage_hm3, synthetic.storage_hm3, STORAGE, label)
        first: Axes = panels[0]
        return titled(first, "Synthetic inflow beside its record")

    note = "Bands: synthetic records as long as the record. Black: the record."
    foot = ": ".join(filter(None, (site, foot[:1].upper() + foot[1:])))
    return sheet_figure(_ROW_INCHES * (3 if optimised else 2), (note, foot), draw, units=units)


def draw_statistic(ax: Axes, compared: Comparison, calendar: Calendar) -> Axes:
    """Draw a statistic of each month; returns the axis."""
    x = axes.month_middles(calendar)
    draw_bands(ax, x, compared.synthetic, INFLOW)
    ax.plot(x, compared.record, color=REFERENCE, marker="o", ms=3.5, lw=0.8, label="record", zorder=4)
    axes.month_axis(ax, calendar, 6.5).set_xlabel("")
    ax.yaxis.set_major_formatter(THOUSANDS)
    return ax


def draw_distribution(ax: Axes, record: FloatArray, synthetic: FloatArray, colour: str, label: str) -> Axes:
    """Draw what parts of the years or months exceed, in the record and in each synthetic record; returns the axis."""
    of_record, of_synthetic = (
        np.quantile(each.reshape(len(each), -1), 1 - _PARTS, axis=1).T for each in (record, synthetic)
    )
    unit = "years" if record.ndim == 2 else "months"
    return draw_exceeded(ax, _PARTS, of_record[0], of_synthetic, colour, label, unit)


def draw_exceeded(
    ax: Axes, parts: ArrayLike, record: FloatArray, synthetic: FloatArray, colour: str, label: str, unit: str
) -> Axes:
    """Draw what parts of such units exceed, in the record and as bands in synthetic records; returns the axis."""
    x = 100 * np.asarray(parts)
    draw_bands(ax, x, synthetic, colour)
    ax.plot(x, record, color=REFERENCE, lw=1.2, label="record", zorder=4)
    return axes.quantity_axis(axes.exceedance_axis(ax, unit), label)
