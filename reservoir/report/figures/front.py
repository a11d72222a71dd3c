"""The front between two goals."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reservoir.hydro.objectives import Goal
from reservoir.planning.tradeoff import Tradeoff
from reservoir.report.figures.axes import THOUSANDS, write_beside
from reservoir.report.figures.style import POWER, REFERENCE, on_axes, sheet_figure
from reservoir.text.quantities import counted

#: Points that bear their names: the ends and some between.
_NAMED = 6


def front_figure(front: Tradeoff) -> Figure:
    """Draw the points of a front, joined, with the names of some."""
    what = f"{front.reservoir.name}, {front.inflow.span_text}, {len(front.points)} points, solved by {front.solver}"
    caveats = " · ".join(caveat[:1].upper() + caveat[1:] for caveat in front.caveats)
    title = " against ".join(front.goals).replace("-", " ").capitalize()
    return sheet_figure(4.2, (what, caveats), on_axes(title, draw_front, front))


def draw_front(ax: Axes, front: Tradeoff) -> Axes:
    """Draw the points; returns the axis."""
    values = front.goal_values
    ax.plot(values[:, 0], values[:, 1], color=POWER, lw=1.2, marker="o", ms=3.5, zorder=3)
    step = max((len(values) - 1) // (_NAMED - 1), 1)
    for place in sorted({*range(0, len(values), step), len(values) - 1}):
        write_beside(ax, front.points[place].name, values[place], (5, 4), fontsize=7.5, color=REFERENCE)
    for axis, label in zip((ax.xaxis, ax.yaxis), front.labels, strict=True):
        axis.set_label_text(label)
        axis.set_major_formatter(THOUSANDS)
    ax.margins(0.08)
    return ax


def front_caption(front: Tradeoff) -> str:
    """How to read the figure."""
    years = counted(front.inflow.years)
    way = "Each point is the best schedule for one weighting of both goals; points lie on the convex side."
    sums = f"Both goals are sums of {years}."
    if Goal.FIRM_POWER in front.goals:
        way = "At each firm power, which all problems must give, the other goal is as good as it can be."
        sums = f"The other goal is the sum of {years}; firm power is the smallest of all problems."
    return f"{way} {sums} A point is planned in full by its name."
