"""Duration curves of release, power and storage: how often each is exceeded, by rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedLocator
from numpy.typing import NDArray

from reservoir.report.figures.axes import TEXT_SHARE, THOUSANDS, cut_off
from reservoir.report.figures.record_runs import held_out_note, outside_caption, outside_handles, record_runs
from reservoir.report.figures.style import DASHES, LIMITS, OUTSIDE_MARK, REFERENCE, plan_figure
from reservoir.rules.evaluation.evaluation import Evaluation
from reservoir.text.quantities import quantity

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Part of the height of a panel that the two lines of a name take, with what keeps them off the line that they name.
NAME_HEIGHT = 3 * TEXT_SHARE
EXCEEDED = "Exceedance (% of months)"
#: Points of a curve: of an ensemble there are hundreds of thousands of months, and more points show nothing more.
MOST_POINTS = 5_000


def duration_curves_figure(evaluation: Evaluation) -> Figure:
    """Draw the three panels under one legend."""

    def draw(sheet: SubFigure) -> Axes:
        panels = sheet.subplots(1, len(PANELS))
        for ax, draw_panel in zip(panels, PANELS.values(), strict=True):
            draw_panel(ax, evaluation)
        for ax in (panels[0], panels[-1]):
            ax.set_xlabel("")
        for handle in outside_handles(evaluation):
            panels[0].add_line(handle)
        left: Axes = panels[0]
        return left

    return plan_figure(evaluation.plan, 3.7, draw, held_out_note(evaluation))


def draw_release(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the duration curves of the monthly release; returns the axis."""
    ax.set_title("Release")
    _draw_curves(ax, evaluation, "release_m3s", "Release (m³/s)")
    ax.set_ylim(bottom=0)
    return ax


def draw_power(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the duration curves of the monthly power, and the firm power; returns the axis."""
    ax.set_title("Power")
    _draw_curves(ax, evaluation, "power_mw", "Power (MW)")
    firm = evaluation.targets.firm_mw
    ax.axhline(firm, color=LIMITS, lw=0.9, ls=DASHES, zorder=1.5)
    highest = max(float(run.monthly("power_mw").max()) for run in record_runs(evaluation))
    ax.set_ylim(0, max(ax.get_ylim()[1], (1 + NAME_HEIGHT) * firm if firm >= highest else 0.0))
    # Below the line, where no curve begins, unless the ticks are there; above it where all curves are below.
    above = firm < NAME_HEIGHT * ax.get_ylim()[1] or firm >= highest
    ax.annotate(
        f"firm\n{quantity(firm)} MW",
        (2, firm),
        xytext=(0, 3 if above else -3),
        textcoords="offset points",
        va="bottom" if above else "top",
        color=LIMITS,
        fontsize=8,
    )
    return ax


def draw_storage(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the duration curves of the storage at the end of the month; returns the axis.

    Months that end outside the limits of storage are marked.
    """
    ax.set_title("Storage")
    _draw_curves(ax, evaluation, "storage_hm3", "Storage at the end of the month (hm³)")
    for run in record_runs(evaluation):
        storage = run.monthly("storage_hm3").ravel()
        outside = run.outside.ravel()[np.argsort(storage)[::-1]]
        if outside.any():
            exceeded, values = duration_curve(storage)
            marked = drawn_places(np.flatnonzero(outside))
            ax.plot(exceeded[marked], values[marked], **OUTSIDE_MARK | {"ms": 3, "clip_on": True})
    limits = ax.get_ylim()
    shown = tuple(cut_off(evaluation.plan, np.array(limits)).tolist())
    if shown != limits:
        ax.set_ylim(shown)
    return ax


#: The panels by the quantity they show.
PANELS: dict[str, Callable[[Axes, Evaluation], Axes]] = {
    "release": draw_release,
    "power": draw_power,
    "storage": draw_storage,
}


def duration_curve(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values from the highest down, and the percentage of them that exceeds each (Hazen plotting position)."""
    ordered = np.sort(np.ravel(values))[::-1]
    return 100 * (np.arange(ordered.size) + 0.5) / ordered.size, ordered


def drawn_places(places: IntArray) -> IntArray:
    """Those of many places that are drawn: all, or `MOST_POINTS` evenly spaced ones with the first and the last."""
    if len(places) <= MOST_POINTS:
        return places
    return places[np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(np.int64)]


def _draw_curves(ax: Axes, evaluation: Evaluation, quantity: str, label: str) -> Axes:
    for run in record_runs(evaluation):
        exceeded, values = duration_curve(run.monthly(quantity))
        drawn = drawn_places(np.arange(values.size))
        width = 1.8 if run.look.colour == REFERENCE else 1.4
        ax.plot(
            exceeded[drawn], values[drawn], color=run.look.colour, ls=run.look.line, lw=width, label=run.name, zorder=2
        )
    ax.set_xlim(0, 100)
    ax.xaxis.set_major_locator(FixedLocator([0, 25, 50, 75, 100]))
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_xlabel(EXCEEDED)
    ax.set_ylabel(label)
    return ax


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    guaranteed = evaluation.targets.guaranteed
    firm = (
        "the guaranteed energy as constant power" if guaranteed else "the power that the plan exceeds in 90 % of months"
    )
    return (
        "Share of months of the record that exceed a release, power or storage, with the storage carried over from "
        f"year to year. Firm power is {firm}.{outside_caption(evaluation)}"
    )
