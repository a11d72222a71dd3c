"""What single rules say: guide curve, dispatch chart, water values, and releases beside those of the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.unit_system import labelled
from reservoir.planning.sentences import chosen, listed
from reservoir.report.figures import axes
from reservoir.report.figures.record_runs import rules_figure
from reservoir.report.figures.style import (
    DASHES,
    LIMITS,
    STORAGE,
    family_look,
    luminance,
    on_axes,
    plan_figure,
    shade,
    tint,
)
from reservoir.rules.base.rule import Forecast, Rule
from reservoir.rules.evaluation import Evaluation
from reservoir.rules.families.linear import GUIDE_CURVE, LINEAR, LOWER_QUANTILE, UPPER_QUANTILE, GuideCurve
from reservoir.rules.families.sdp import WaterValue
from reservoir.rules.families.zones import ALIKE, ZonesRule, zone_name
from reservoir.rules.families.zones import ZONES_FAMILY as ZONES
from reservoir.text.quantities import counted, decimals_of, quantity

FloatArray = NDArray[np.float64]
Drawn = TypeVar("Drawn", bound=Rule)


def _fitted_figure(evaluation: Evaluation, height: float, draw: Callable[[SubFigure], Axes], **legend: Any) -> Figure:
    """Make a figure of rules that are fitted to all years."""
    return rules_figure(evaluation, height, draw, f"Rule fitted to all {evaluation.training.years} years", **legend)


def rule_curves_figure(evaluation: Evaluation) -> Figure:
    """Draw the curves with their legend."""
    drawn = on_axes("Guide curve and month-end storage of the plan", draw_rule_curves, evaluation)
    return _fitted_figure(evaluation, 4.3, drawn, reverse=True)


def draw_rule_curves(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the storages of every year as bands and the three curves over them; returns the axis."""
    plan, look = evaluation.plan, family_look(GUIDE_CURVE)
    months, storages = axes.month_ends(plan.inflow.calendar), plan.operation.storage_hm3
    rule = _rule(evaluation, GuideCurve)
    # On a month axis: a year starts where the one before has ended.
    lower, guide, upper = (np.array([each[-1], *each]) for each in (rule.lower_hm3, rule.guide_hm3, rule.upper_hm3))
    axes.draw_storage_frame(ax, plan, np.vstack([storages, lower, upper]))
    if plan.keeps_limits.any():
        axes.fill_bands(ax, months, storages[plan.keeps_limits], STORAGE)
    axes.draw_years_outside(ax, plan)
    for curve, label in ((lower, "lower and upper curve"), (upper, None)):
        ax.plot(months, curve, color=look.colour, lw=1.2, ls=DASHES, label=label, zorder=3)
    ax.plot(months, guide, color=look.colour, lw=2, marker=look.marker, label="guide curve", clip_on=False, zorder=3.2)
    return ax


def _rule(evaluation: Evaluation, kind: type[Drawn]) -> Drawn:
    """The rule of a class; drawn where its family was evaluated alone."""
    return next(result.rule for result in evaluation.families if isinstance(result.rule, kind))


def rule_curves_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    names, bands = chosen(evaluation.plan.inflow.labels, ~evaluation.plan.keeps_limits), "all years of the plan"
    if names:
        violate = "violates its storage limits and is" if len(names) == 1 else "violate their storage limits and are"
        bands = f"years of the plan; {counted(len(names))} ({listed(names)}) {violate} shown by dashed lines"
    return (
        "The guide curve is the target storage at the end of each month, the median of the optimised years; the lower "
        f"and upper curves are their {100 * LOWER_QUANTILE:g} and {100 * UPPER_QUANTILE:g} % quantiles. "
        f"The bands show {bands}."
    )


WATER = labelled("Available water: start storage + inflow of the month ({})", "hm³")
RELEASE = labelled("Release ({})", "m³/s")
_ROWS, _COLUMNS = 3, 4
#: Dots of a panel; of more years, so many are shown, evenly spread over the record: more would hide each other.
MOST_YEARS = 300


def rule_scatter_figure(evaluation: Evaluation, family: str = LINEAR) -> Figure:
    """Draw a panel a month under one legend."""

    def draw(sheet: SubFigure) -> Axes:
        panels = sheet.subplots(_ROWS, _COLUMNS)
        for step, ax in enumerate(panels.ravel()):
            draw_rule_scatter(ax, evaluation, step, family)
            ax.set_xlabel("")
            ax.set_ylabel("")
        sheet.supxlabel(WATER, fontsize=8.5)
        sheet.supylabel(RELEASE, fontsize=8.5)
        corner: Axes = panels[0, 0]
        return corner

    return _fitted_figure(evaluation, 6.0, draw, above=True)


def draw_rule_scatter(ax: Axes, evaluation: Evaluation, step: int, family: str = LINEAR) -> Axes:
    """Draw one month: a mark for every optimised year and one for the rule in its place; returns the axis."""
    result = evaluation.result_of(family)
    if result is None:
        raise ValueError(f"there is no rule of family {family} to draw")
    training, look = evaluation.training.select(shown_years(evaluation.training.years)), family_look(family)
    storage, inflow, before = (
        values[:, step] for values in (training.storage_start_hm3, training.inflow_m3s, training.inflow_before_m3s)
    )
    water = storage + inflow * training.hm3_per_m3s[:, step]
    ax.plot(water, training.release_m3s[:, step], "o", ms=3.6, mew=0, color=tint(LIMITS, 0.55), label="optimised years")
    asked = result.rule.releases(step, storage, result.rule.known(inflow), before)
    ax.plot(water, asked, look.marker, ms=3.4, mfc="none", mew=0.9, color=look.colour, label=f"rule: {family}")
    ax.set_title(evaluation.plan.inflow.calendar.step_names[step], fontsize=8.5, pad=3)
    for axis in (ax.xaxis, ax.yaxis):
        # Three numbers of six figures have no room beside each other.
        axis.set_major_locator(MaxNLocator(2 if axis is ax.xaxis and water.max() >= 1e5 else 3))
        axis.set_major_formatter(axes.THOUSANDS)
    ax.tick_params(labelsize=7)
    ax.set_xlabel(WATER)
    ax.set_ylabel(RELEASE)
    return ax


def shown_years(years: int) -> list[int]:
    """Places of the years that are drawn."""
    return list(map(int, np.unique(np.linspace(0, years - 1, min(years, MOST_YEARS)).round())))


def rule_scatter_caption(evaluation: Evaluation, family: str = LINEAR) -> str:
    """How to read the figure."""
    years = evaluation.training.years
    sample = f" {MOST_YEARS} of the {years:,} years are shown, evenly spaced." if years > MOST_YEARS else ""
    return (
        f"Each dot is the release of an optimised year; each mark is the release by the {family} rule with the same "
        "water in the same month. The closer they are, the better the rule follows the plan. "
        f"Scales differ between months.{sample}"
    )


_COLOUR = family_look(ZONES).colour
#: From the least output to the most, darker and darker.
COLOURS = (tint(_COLOUR, 0.14), tint(_COLOUR, 0.42), tint(_COLOUR, 0.8), shade(_COLOUR, 0.72))
_EDGE = shade(_COLOUR, 0.35)
#: Months that a zone's name takes to either side of its middle, about, and the part of the axis' height.
_NAME_HALF_WIDTH = 0.85
_NAME_HEIGHT = 1.9 * axes.TEXT_SHARE
#: A name stands in the middle of the longest stretch that is this thick, as a part of the thickest place.
_NEARLY_THICKEST = 0.95
#: A zone that is nowhere thicker than this part of the axis looks like a line.
_VISIBLE = 0.01
#: Black letters cannot be read on colours of less luminance.
_DARK = 0.5


def dispatch_chart_figure(evaluation: Evaluation) -> Figure:
    """Draw the chart with its legend."""
    drawn = on_axes("Dispatch chart: output by storage at the start of the month", draw_dispatch_chart, evaluation)
    return _fitted_figure(evaluation, 4.5, drawn, reverse=True)


def draw_dispatch_chart(ax: Axes, evaluation: Evaluation) -> Axes:
    """Draw the zones, each with its name and output where it has room for them; returns the axis.

    Zones of about the same output are drawn as one.
    """
    rule = _rule(evaluation, ZonesRule)
    edges = zone_edges(rule, *axes.storage_bounds(evaluation.plan))
    axes.draw_storage_frame(ax, evaluation.plan, edges)
    months = axes.month_ends(evaluation.plan.inflow.calendar)
    low, high = ax.get_ylim()
    for zones in rule.together:
        first, last = zones[0], zones[-1]
        lower, upper = edges[first], edges[last + 1]
        name, (least, most) = zone_name(zones), (quantity(rule.outputs_mw[zone]) for zone in (first, last))
        output = f"{least} MW" if least == most else f"{least} to {most} MW"
        thickness = float((upper - lower).max())
        thick = f" (at most {evaluation.plan.units.stated(thickness, 'hm³')} thick)" if thickness else " (empty)"
        thick = thick if thickness < _VISIBLE * (high - low) else ""
        ax.fill_between(months, lower, upper, color=COLOURS[last], lw=0, label=f"{name}, {output}{thick}", zorder=2)
        ink = "white" if luminance(COLOURS[last]) < _DARK else "black"
        named = [mark.storage_hm3 for mark in axes.level_marks(evaluation.plan, (low, high))]
        _name_zone(ax, months, (lower, upper), f"{name}\n{output}", ink, named)
        if first:
            ax.plot(months, lower, color=_EDGE, lw=1.3, zorder=2.4)
    return ax


def zone_edges(rule: ZonesRule, lower_hm3: FloatArray, upper_hm3: FloatArray) -> FloatArray:
    """Storages between which the zones lie, on a month axis, shape (zones + 1, steps + 1).

    A curve holds at the start of a month; the end of the year is the start of the next.
    """
    curves = np.array([[*curve, curve[0]] for curve in rule.curves_hm3])
    return np.vstack([lower_hm3, np.clip(curves, lower_hm3, upper_hm3), upper_hm3])


def _name_zone(
    ax: Axes, months: FloatArray, edges: tuple[FloatArray, FloatArray], name: str, ink: str, marks_hm3: list[float]
) -> None:
    """Write a zone's name where the zone is thickest, off the names of level marks, if it has room for it."""
    lower, upper = edges
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
        part, line = (bottom[best], top[best]), axes.TEXT_SHARE * (high - low)
        for mark in marks_hm3:  # the larger of what is below the mark and of what is above its name
            if part[0] < mark < part[1]:
                part = max((part[0], mark), (mark + line, part[1]), key=lambda each: each[1] - each[0])
        at = middles[best], sum(part) / 2
        ax.annotate(name, at, ha="center", va="center", fontsize=8, fontweight="bold", color=ink, zorder=4)


def dispatch_chart_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    alike = any(len(zones) > 1 for zones in _rule(evaluation, ZonesRule).together)
    listed = f" Zones whose outputs differ by {100 * ALIKE:g} % or less are drawn as one; the rule file lists each."
    return (
        "The zone of the storage at the start of a month sets the output of that month, as far as water and limits "
        f"allow. Grey: outside the storage limits.{listed if alike else ''}"
    )


#: Behind a number, over the lines.
_CELL = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
#: Most storages that are written, so that numbers can be read.
_MOST_ROWS = 11


def water_value_table_figure(evaluation: Evaluation) -> Figure:
    """Draw the table of the middle inflow class, its numbers in its cells."""
    _, unit = evaluation.plan.units.per_volume(0.0, evaluation.plan.objective.unit)
    drawn = on_axes(f"Water value at the end of each month ({unit})", draw_water_value_table, evaluation)
    return plan_figure(evaluation.plan, 4.3, drawn)


def draw_water_value_table(ax: Axes, evaluation: Evaluation) -> Axes:
    """Write a number for each month and storage within its bounds, and draw the bounds; returns the axis."""
    rule, plan = _rule(evaluation, WaterValue), evaluation.plan
    # The middle class; some storages, none below all bounds.
    storages, table = np.array(rule.storages_hm3), np.array(rule.water_value_gwh_per_hm3)
    rows = np.flatnonzero(storages >= min(rule.storage_lower_hm3) - 1e-6)
    rows = rows[:: -(-len(rows) // _MOST_ROWS)]
    storages, values = storages[rows], table[:, rows, table.shape[2] // 2].T
    values = values * plan.units.per_volume(1.0, plan.objective.unit)[0]
    above = storages[:, np.newaxis] >= np.array(rule.storage_lower_hm3) - 1e-6
    within = above & (storages[:, np.newaxis] <= np.array(rule.storage_upper_hm3) + 1e-6)
    middles = axes.month_middles(plan.inflow.calendar)
    decimals = decimals_of(float(np.abs(values[within]).max(initial=0.0)))
    for step, column in enumerate(values.T):
        for storage, value in zip(storages[within[:, step]], column[within[:, step]], strict=True):
            ax.text(middles[step], storage, f"{value:.{decimals}f}", ha="center", va="center", fontsize=7.5, bbox=_CELL)
    steps = np.arange(len(middles) + 1)
    for bounds, label in ((rule.storage_upper_hm3, "storage bounds"), (rule.storage_lower_hm3, None)):
        ax.step(steps, [*bounds, bounds[-1]], where="post", color=LIMITS, lw=1.0, ls="--", label=label)
    ax.grid(visible=False)
    spacing = storages[1] - storages[0]
    lowest, highest = min(rule.storage_lower_hm3), max(rule.storage_upper_hm3)
    ax.set_xlim(0, len(middles))
    ax.set_ylim(lowest - spacing / 2, highest + spacing / 2)
    ax.xaxis.set_major_locator(FixedLocator(list(middles)))
    ax.xaxis.set_major_formatter(FixedFormatter([MONTH_NAMES[month - 1][:3] for month in rule.months.calendar_month]))
    ax.tick_params(axis="x", length=0)
    ax.yaxis.set_major_formatter(axes.THOUSANDS)
    ax.set_ylabel(labelled("Storage at the end of the month ({})", "hm³"))
    axes.level_axis(ax, plan.reservoir, plan.units)
    return ax


def water_value_table_caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    volume = evaluation.plan.units.unit_name("hm³")
    of_month = "the month" if _rule(evaluation, WaterValue).forecast is Forecast.MONTH else "the month before"
    return (
        f"What one more {volume} in store at the end of a month is worth, by the rule of the family water-value fitted "
        f"to all years, with the middle class of inflow of {of_month}. Release while one more {volume} through the "
        "turbines makes more; keep it where it makes less. Dashed: the storage bounds, of flood space the mean. All "
        "classes are in water-value.json."
    )
