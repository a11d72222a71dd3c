"""Fan chart of the storage through the water year, over all years of a plan."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reservoir.hydro.reservoir_kinds import YearEnd
from reservoir.planning.infeasible import chosen
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import horizon_text, left_out_sentence, reference_sentence
from reservoir.report.figures.axes import draw_bands, draw_storage_frame, draw_years_outside, month_ends
from reservoir.report.figures.style import LIMITS, STORAGE, on_axes, plan_figure


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


def caption(plan: Plan) -> str:
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
