"""Storage and level through the year and through the whole record of a plan."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.reservoir_kinds import YearEnd
from reservoir.hydro.unit_system import labelled
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import chosen, horizon_text, left_out_sentence, reference_sentence
from reservoir.report.figures.axes import (
    THOUSANDS,
    draw_bands,
    draw_storage_frame,
    draw_years_outside,
    month_ends,
    month_runs,
    name_lines,
    not_below_zero,
    year_axis,
)
from reservoir.report.figures.style import LIMITS, OUTSIDE, OUTSIDE_MARK, REFERENCE, STORAGE, on_axes, plan_figure


def storage_fan_figure(plan: Plan) -> Figure:
    """Draw the fan chart with its legend."""
    return plan_figure(plan, 4.3, on_axes(_title(plan), draw_storage_fan, plan), reverse=True)


def _title(plan: Plan) -> str:
    return f"Storage at the end of each {plan.inflow.calendar.step.noun}"


def draw_storage_fan(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage of every year as bands, with its bounds and the reservoir's levels; returns the axis.

    Years that violate their limits are lines beside the bands.
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
        label = f"fixed start {'and end ' if len(ends) == 2 else ''}of the {plan.year_word}"
        ax.scatter(
            [0, steps][: len(ends)], ends, s=30, marker="D", fc="white", ec=LIMITS, clip_on=False, zorder=5, label=label
        )


def _fixed_ends(plan: Plan) -> list[float]:
    given = plan.reservoir
    if not plan.horizon.is_year:
        return []
    ends = [given.initial_storage_hm3, given.final_storage_hm3 if given.year_end is YearEnd.FIXED else None]
    return [end for end in ends if end is not None]


def storage_fan_caption(plan: Plan) -> str:
    """How to read the figure."""
    several, which = (
        int(plan.keeps_limits.sum()) > 1,
        "all years" if plan.keeps_limits.all() else "the years within limits",
    )
    shown = f"Line: median of {which}; bands: quantiles. " if several else ""
    text = f"{shown}Grey: outside the storage limits.{_year_end(plan)}"
    said = [left_out_sentence(plan, "drawn as dashed lines"), reference_sentence(plan)]
    return " ".join([text, *filter(None, said)])


def _year_end(plan: Plan) -> str:
    ends = _fixed_ends(plan)
    if not plan.horizon.is_year:
        return f" The storage is carried from year to year: planned in {horizon_text(plan)}."
    if len(ends) == 2:
        return f" Diamonds: the storages at which every {plan.year_word} starts and ends."
    if ends:
        which = f"every {plan.year_word} starts"
        return f" Diamond: the storage at which {which}; it may end anywhere within the limits."
    return " Every year ends with the storage it starts with, anywhere within the limits."


FloatArray = NDArray[np.float64]
#: Of more years than this, a band from the lowest to the highest level of each year is drawn in place of its months.
MANY_YEARS = 300
#: Line styles of the levels that a reservoir marks, which lie too close together for one.
_STYLES = {"normal": (0, (5, 2)), "flood": (0, (2, 1)), "dead": (0, (5, 2))}


def record_trace_figure(plan: Plan) -> Figure:
    """Draw the level over the storage, both at the end of every month."""

    def draw(sheet: SubFigure) -> Axes | None:
        upper, lower = sheet.subplots(2, 1, sharex=True)
        draw_record_level(upper, plan)
        upper.set_xlabel("")
        upper.set_title("Level and storage through the record")
        return draw_record_storage(lower, plan)

    return plan_figure(plan, 5.0, draw)


def draw_record_level(ax: Axes, plan: Plan) -> Axes:
    """Draw the level at the end of every month, and the levels that the reservoir marks; returns the axis."""
    levels = plan.operation.level_m
    _draw(ax, plan, levels)
    set_level_limits(ax, plan, levels)
    draw_level_marks(ax, plan)
    ax.set_ylabel(labelled("Level ({})", "m"))
    return ax


def draw_record_storage(ax: Axes, plan: Plan) -> Axes:
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
    ax.set_ylabel(labelled("Storage ({})", "hm³"))
    not_below_zero(ax)
    return ax


def month_end_years(calendar: Calendar) -> FloatArray:
    """Place the end of every month of the record on a year axis, where a year reaches half to either side."""
    starts = np.array(calendar.start_years)[:, None] - 0.5
    return np.ravel(starts + np.arange(1, calendar.steps + 1) / calendar.steps)


def marked_levels(plan: Plan) -> dict[str, float]:
    """The levels that the reservoir marks, by name."""
    marks = plan.reservoir.marks
    given = {"normal": marks.normal_m, "flood": marks.flood_m, "dead": marks.dead_m}
    return {name: level for name, level in given.items() if level is not None}


def set_level_limits(ax: Axes, plan: Plan, levels: FloatArray) -> None:
    """Make room for levels and for those that the reservoir marks."""
    shown = np.append(levels, list(marked_levels(plan).values()))
    low, high = float(shown.min()), float(shown.max())
    margin = 0.06 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)
    ax.yaxis.set_major_locator(MaxNLocator(3, steps=[1, 2, 2.5, 5, 10]))
    ax.yaxis.set_major_formatter("{x:g}")


def draw_level_marks(ax: Axes, plan: Plan) -> None:
    """Draw the marked levels, the flood level in the flood months only, and name them on the right."""
    levels = marked_levels(plan)
    for name, level in levels.items():
        for start, end in _spans(plan, name):
            ax.plot([start, end], [level, level], color=LIMITS, lw=0.9, ls=_STYLES[name], zorder=2, gid=f"{name} level")
    stated = plan.units.stated
    name_lines(ax, [(level, f"{name} {stated(level, 'm', 'g')}", LIMITS) for name, level in levels.items()])


def _spans(plan: Plan, name: str) -> list[tuple[float, float]]:
    """Where on a year axis a marked level holds."""
    calendar = plan.inflow.calendar
    first = calendar.first_year - 0.5
    runs = month_runs(calendar, plan.reservoir.marks.flood_months) if name == "flood" else []
    if not runs or calendar.years > MANY_YEARS:
        return [(first, first + calendar.years)]
    steps = calendar.steps
    return [(first + year + a / steps, first + year + b / steps) for year in range(calendar.years) for a, b in runs]


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


def record_trace_caption(plan: Plan) -> str | None:
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
