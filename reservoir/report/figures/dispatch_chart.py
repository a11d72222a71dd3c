"""Dispatch chart: zones of storage by month, and the output of each (the figure that operators work from)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reservoir.report.figures.axes import TEXT_SHARE, draw_storage_frame, month_ends, storage_bounds
from reservoir.report.figures.record_runs import fitted_note, result_of
from reservoir.report.figures.style import family_look, on_axes, plan_figure, shade, tint
from reservoir.rules.evaluation.evaluation import Evaluation
from reservoir.rules.families.zones import ALIKE, FAMILY, ZonesRule, zone_name
from reservoir.text.quantities import quantity

FloatArray = NDArray[np.float64]

_COLOUR = family_look(FAMILY).colour
#: From the least output to the most, darker and darker.
COLOURS = (tint(_COLOUR, 0.14), tint(_COLOUR, 0.42), tint(_COLOUR, 0.8), shade(_COLOUR, 0.72))
_EDGE = shade(_COLOUR, 0.35)
#: Months that a zone's name takes to either side of its middle, about, and the part of the axis' height.
_NAME_HALF_WIDTH = 0.85
_NAME_HEIGHT = 1.9 * TEXT_SHARE
#: A name stands in the middle of the longest stretch that is this thick, as a part of the thickest place.
_NEARLY_THICKEST = 0.95
#: A zone that is nowhere thicker than this part of the axis looks like a line.
_VISIBLE = 0.01


def dispatch_chart_figure(evaluation: Evaluation) -> Figure:
    """Draw the chart with its legend."""
    drawn = on_axes("Dispatch chart: output by storage at the start of the month", draw_dispatch_chart, evaluation)
    return plan_figure(evaluation.plan, 4.5, drawn, fitted_note(evaluation), reverse=True)


def has_dispatch_chart(evaluation: Evaluation) -> bool:
    """Whether the zones are among the families."""
    return result_of(evaluation, FAMILY) is not None


def draw_dispatch_chart(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the zones, each with its name and output where it has room for them; returns the axis.

    Zones of about the same output are drawn as one.
    """
    rule = _zones(evaluation)
    edges = zone_edges(rule, *storage_bounds(evaluation.plan))
    draw_storage_frame(ax, evaluation.plan, edges)
    months = month_ends(evaluation.plan.inflow.calendar)
    low, high = ax.get_ylim()
    for zones in rule.together:
        first, last = zones[0], zones[-1]
        lower, upper = edges[first], edges[last + 1]
        name, output = zone_name(zones), _outputs(rule, zones)
        thick = _thickness(float((upper - lower).max()), high - low)
        ax.fill_between(months, lower, upper, color=COLOURS[last], lw=0, label=f"{name}, {output}{thick}", zorder=2)
        _name_zone(ax, months, lower, upper, f"{name}\n{output}")
        if first:
            ax.plot(months, lower, color=_EDGE, lw=1.3, zorder=2.4)
    return ax


def _outputs(rule: ZonesRule, zones: tuple[int, ...]) -> str:
    least, most = quantity(rule.outputs_mw[zones[0]]), quantity(rule.outputs_mw[zones[-1]])
    return f"{least} MW" if least == most else f"{least} to {most} MW"


def _thickness(most_hm3: float, shown_hm3: float) -> str:
    """Say in the legend of a zone that is hardly seen how thick it is."""
    if most_hm3 == 0:
        return " (empty)"
    return f" (at most {quantity(most_hm3)} hm³ thick)" if most_hm3 < _VISIBLE * shown_hm3 else ""


def zone_edges(rule: ZonesRule, lower_hm3: FloatArray, upper_hm3: FloatArray) -> FloatArray:
    """Storages between which the zones lie, on a month axis, shape (zones + 1, steps + 1).

    A curve holds at the start of a month; the end of the year is the start of the next.
    """
    curves = np.array([[*curve, curve[0]] for curve in rule.curves_hm3])
    return np.vstack([lower_hm3, np.clip(curves, lower_hm3, upper_hm3), upper_hm3])


def _zones(evaluation: Evaluation) -> ZonesRule:
    result = result_of(evaluation, FAMILY)
    if result is None or not isinstance(result.rule, ZonesRule):
        raise ValueError("there is no dispatch chart to draw")
    return result.rule


def _name_zone(ax: Axes, months: FloatArray, lower: FloatArray, upper: FloatArray, name: str) -> None:
    """Write a zone's name where the zone is thickest, if it has room for it."""
    middles = np.linspace(months[0] + _NAME_HALF_WIDTH, months[-1] - _NAME_HALF_WIDTH, 61)
    around = middles[:, None] + np.linspace(-_NAME_HALF_WIDTH, _NAME_HALF_WIDTH, 9)
    bottom, top = np.interp(around, months, lower).max(axis=1), np.interp(around, months, upper).min(axis=1)
    room = top - bottom
    low, high = ax.get_ylim()
    if not room.max() > _NAME_HEIGHT * (high - low):  # below 0 where the zone is empty all year and its edges move
        return
    thick = np.flatnonzero(room >= _NEARLY_THICKEST * room.max())
    longest = max(np.split(thick, np.flatnonzero(np.diff(thick) > 1) + 1), key=len)
    best = longest[len(longest) // 2]
    if room[best] > _NAME_HEIGHT * (high - low):
        at = middles[best], (top[best] + bottom[best]) / 2
        ax.annotate(name, at, ha="center", va="center", fontsize=8, fontweight="bold", zorder=4)


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    return (
        "The zone of the storage at the start of a month sets the output of that month, as far as water and limits "
        "allow. Grey: outside the storage limits."
        f"{_alike(evaluation)}"
    )


def _alike(evaluation: Evaluation) -> str:
    if all(len(zones) == 1 for zones in _zones(evaluation).together):
        return ""
    return f" Zones whose outputs differ by {100 * ALIKE:g} % or less are drawn as one; the rule file lists each."
