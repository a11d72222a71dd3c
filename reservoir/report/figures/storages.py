"""Storage and level: through the year and the whole record of a plan, and in the months to come of a decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from reservoir.hydro.attributes import YearEnd
from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import UnitSystem, labelled
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import chosen, horizon_text, left_out_sentence, reference_sentence
from reservoir.report.figures import axes, style
from reservoir.report.figures.axes import FloatArray, marked_levels, month_end_years
from reservoir.report.figures.style import LIMITS, REFERENCE, STORAGE, on_axes, plan_figure

if TYPE_CHECKING:
    from reservoir.rules.advice import Outlook  # which a plan does not need


def storage_fan_figure(plan: Plan) -> Figure:
    """Draw the fan chart with its legend."""
    title = f"Storage at the end of each {plan.inflow.calendar.step.noun}"
    return plan_figure(plan, 4.3, on_axes(title, draw_storage_fan, plan), reverse=True)


def draw_storage_fan(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage of every year as bands, with its bounds and the reservoir's levels; returns the axis.

    Years that violate their limits are lines beside the bands.
    """
    storages, kept = plan.operation.storage_hm3, plan.keeps_limits
    axes.draw_storage_frame(ax, plan, storages)
    months = axes.month_ends(plan.inflow.calendar)
    if kept.any():
        name = chosen(plan.inflow.labels, kept)[0]
        axes.draw_bands(ax, months, storages[kept], STORAGE, single=f"storage in {name}")
    axes.draw_years_outside(ax, plan)
    ends = _fixed_ends(plan)
    if ends:
        label = f"fixed start {'and end ' if len(ends) == 2 else ''}of the {plan.year_word}"
        ax.scatter([0, plan.inflow.steps][: len(ends)], ends, s=30, label=label, **_DIAMOND)
    return ax


#: A storage that is given.
_DIAMOND: dict[str, Any] = {"marker": "D", "fc": "white", "ec": LIMITS, "clip_on": False, "zorder": 5}


def _fixed_ends(plan: Plan) -> list[float]:
    """The storage that every year begins with, and the one that it must end with."""
    given = plan.reservoir
    if not plan.horizon.is_year:
        return []
    ends = [given.initial_storage_hm3, given.final_storage_hm3 if given.year_end is YearEnd.FIXED else None]
    return [end for end in ends if end is not None]


def storage_fan_caption(plan: Plan) -> str:
    """How to read the figure."""
    which = "all years" if plan.keeps_limits.all() else "the years within limits"
    shown = f"Line: median of {which}; bands: quantiles." if int(plan.keeps_limits.sum()) > 1 else ""
    ends = len(_fixed_ends(plan))
    end = "Every year ends with the storage it starts with, anywhere within the limits."
    if not plan.horizon.is_year:
        end = f"The storage is carried from year to year: planned in {horizon_text(plan)}."
    elif ends == 2:
        end = f"Diamonds: the storages at which every {plan.year_word} starts and ends."
    elif ends:
        end = f"Diamond: the storage at which every {plan.year_word} starts; it may end anywhere within the limits."
    sentences = [shown, "Grey: outside the storage limits.", end, left_out_sentence(plan, "drawn as dashed lines")]
    return " ".join(filter(None, [*sentences, reference_sentence(plan)]))


#: Line styles of the levels that a reservoir marks, which lie too close together for one.
_STYLES = {"normal": (0, (5, 2)), "flood": (0, (2, 1)), "dead": (0, (5, 2))}


def record_trace_figure(plan: Plan) -> Figure:
    """Draw the level over the storage, both at the end of every month."""

    def draw(sheet: SubFigure) -> Axes | None:
        upper, lower = sheet.subplots(2, 1, sharex=True)
        style.titled(draw_record_level(upper, plan), "Level and storage through the record").set_xlabel("")
        return draw_record_storage(lower, plan)

    return plan_figure(plan, 5.0, draw)


def draw_record_level(ax: Axes, plan: Plan) -> Axes:
    """Draw the level at the end of every month, and the levels that the reservoir marks; returns the axis."""
    levels = plan.operation.level_m
    start = float(plan.reservoir.level(plan.operation.storage_hm3[0, 0]))
    axes.draw_through_record(ax, plan.inflow.calendar, levels, STORAGE, start)
    set_level_limits(ax, plan, levels)
    draw_level_marks(ax, plan)
    ax.set_ylabel(labelled("Level ({})", "m"))
    return ax


def draw_record_storage(ax: Axes, plan: Plan) -> Axes:
    """Draw the storage at the end of every month between its bounds; returns the axis."""
    calendar, storages = plan.inflow.calendar, plan.operation.storage_hm3[:, 1:]
    axes.draw_through_record(ax, calendar, storages, STORAGE, float(plan.operation.storage_hm3[0, 0]))
    lower, upper = (np.append(bounds[0, 0], bounds) for bounds in axes.storage_limits(plan))
    margin = 0.06 * float(upper.max() - lower.min())
    bottom, top = min(storages.min(), lower.min()) - margin, max(storages.max(), upper.max()) + margin
    ax.set_ylim(bottom, top)
    x = month_end_years(calendar)
    axes.shade_outside(ax, np.append(calendar.first_year - 0.5, x), lower, upper, step="pre")
    outside = (plan.operation.violation > 0).ravel()
    if outside.any():
        ax.plot(x[outside], storages.ravel()[outside], **style.OUTSIDE_MARK | {"ms": 3}, label="violates its limits")
    first = np.unique(plan.problems.of_year, return_index=True)[1]  # the year in which each horizon begins
    if len(first) <= axes.MANY_YEARS:
        starts, label = np.array(calendar.start_years)[first] - 0.5, "start of the record"
        label = label if len(first) == 1 else "start of a window"
        ax.scatter(starts, plan.operation.storage_hm3[first, 0], s=18, label=label, **_DIAMOND)
    if plan.from_reference.any():  # a line along the axis below the windows that hold the schedule of the reference
        height, label = bottom + 0.025 * (top - bottom), f"schedule of {plan.references.solver}"
        line = np.where(np.repeat(plan.from_reference, plan.inflow.steps), height, np.nan)
        ax.plot(x, line, color=REFERENCE, lw=1.5, zorder=5, label=label)
    return axes.not_below_zero(axes.quantity_axis(ax, labelled("Storage ({})", "hm³"), 5))


def set_level_limits(ax: Axes, plan: Plan, levels: FloatArray) -> None:
    """Make room for levels and for those that the reservoir marks."""
    shown = np.append(levels, list(marked_levels(plan).values()))
    low, high = float(shown.min()), float(shown.max())
    margin = 0.06 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)
    ax.yaxis.set_major_locator(MaxNLocator(3, steps=axes.ROUND_STEPS))
    ax.yaxis.set_major_formatter(axes.THOUSANDS)


def draw_level_marks(ax: Axes, plan: Plan) -> None:
    """Draw the marked levels, the flood level in the flood months only, and name them on the right."""
    levels = marked_levels(plan)
    over = 2 if plan.inflow.calendar.years <= axes.MANY_YEARS else 3.5  # a band would hide them
    for name, level in levels.items():
        for start, end in _spans(plan, name):
            look: dict[str, Any] = {"color": LIMITS, "lw": 0.9, "ls": _STYLES[name], "zorder": over}
            ax.plot([start, end], [level, level], gid=f"{name} level", **look)
    stated = plan.units.stated
    axes.name_lines(ax, [(level, f"{name} {stated(level, 'm', ',.10g')}", LIMITS) for name, level in levels.items()])


def _spans(plan: Plan, name: str) -> list[tuple[float, float]]:
    """Where on a year axis a marked level holds."""
    calendar = plan.inflow.calendar
    first = calendar.first_year - 0.5
    runs = axes.month_runs(calendar, plan.reservoir.marks.flood_months) if name == "flood" else []
    if not runs or calendar.years > axes.MANY_YEARS:
        return [(first, first + calendar.years)]
    steps = calendar.steps
    return [(first + year + a / steps, first + year + b / steps) for year in range(calendar.years) for a, b in runs]


def record_trace_caption(plan: Plan) -> str | None:
    """How to read the figure; None where there is none."""
    if plan.horizon.is_year:
        return None
    what = "the whole record as one problem" if len(plan.problems) == 1 else f"windows of {plan.horizon} years"
    value = f"the value at the end of each {plan.inflow.calendar.step.noun}"
    value = "each year's lowest to highest value" if plan.inflow.years > axes.MANY_YEARS else value
    text = f"Optimal operation of {what}: {value}. Grey: outside the storage limits."
    return " ".join([text, reference_sentence(plan, "marked by a line along the axis")]).strip()


#: Names of months on the axis of an outlook.
_MOST_NAMES = 16


def outlook_figure(
    outlooks: Sequence[tuple[Outlook, Reservoir]], units: UnitSystem, notes: tuple[str, ...] = ()
) -> Figure:
    """Draw the storage in the months to come, over the futures of a decision, with its legend, above notes.

    Of several reservoirs, each has an axis with its name.
    """
    title = f"Storage in the months to come, {len(outlooks[0][0].storage_hm3):,} futures"
    names = ", ".join(plant.name for _, plant in outlooks)
    foot = f"{names}; the first release is the one recommended, later ones are the rule's in each future"
    spaces = any(plant.flood_space is not None for _, plant in outlooks)
    foot += "; flood space: this month's, later the mean of the record" if spaces else ""
    draw: Callable[[SubFigure], Axes] = on_axes(title, draw_outlook, *outlooks[0], units)
    if len(outlooks) > 1:

        def draw(sheet: SubFigure) -> Axes:
            drawn: list[Axes] = list(sheet.subplots(len(outlooks), 1, sharex=True))
            for ax, (outlook, plant) in zip(drawn, outlooks, strict=True):
                style.titled(draw_outlook(ax, outlook, plant, units), plant.name, fontsize=8.5, fontweight="normal")
            sheet.suptitle(title, fontsize=10, fontweight="bold", x=0.01, ha="left")
            return drawn[0]

    return style.sheet_figure(1.6 + 2.2 * len(outlooks), (foot, *notes), draw, units=units, reverse=True)


def draw_outlook(ax: Axes, outlook: Outlook, plant: Reservoir, units: UnitSystem) -> Axes:
    """Draw the storage of all futures as bands between the bounds of each month; returns the axis."""
    names = [MONTH_NAMES[month - 1][:3] for month in outlook.calendar_month]
    ends = np.arange(len(names) + 1)
    axes.draw_bands(ax, ends, outlook.storage_hm3, STORAGE, single="storage")
    lower, upper = plant.storage_bounds_hm3[0, outlook.steps], outlook.upper_hm3
    for bounds, label in ((upper, "storage bounds"), (lower, None)):
        ax.step(ends, [*bounds, bounds[-1]], where="post", color=LIMITS, lw=1.0, ls="--", label=label)
    axes.named_steps(ax, names, -(-len(names) // _MOST_NAMES))
    axes.level_axis(axes.quantity_axis(ax, labelled("Storage ({})", "hm³")), plant, units)
    return ax
