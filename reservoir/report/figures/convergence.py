"""How the search went: its convergence over all years, and the linkage of months that a solver learned."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from reservoir.planning.planned_record import Plan
from reservoir.planning.sentences import all_limits, chosen, listed, reference_sentence
from reservoir.planning.solving import gap_scale, relative_gap
from reservoir.report.figures.axes import THOUSANDS, FloatArray, draw_bands, draw_cells
from reservoir.report.figures.style import LIMITS, OUTSIDE, POWER, on_axes, plan_figure, titled
from reservoir.text.quantities import counted

#: Relative differences that float32 arithmetic cannot tell from none.
FLOAT32_FLOOR = 1e-7
#: A logarithmic axis whose ends differ by less than this factor has ticks between the decades.
NARROW = 30


def convergence_figure(plan: Plan) -> Figure | None:
    """Draw the convergence band with its legend; None for solvers that record no trace."""
    if not has_trace(plan):
        return None
    draw = on_axes("Convergence of the search", draw_convergence, plan)
    return plan_figure(plan, 3.9, draw, whose_search(plan), reverse=True)


def has_trace(plan: Plan) -> bool:
    """Whether every year's solution has a trace of at least two points, and some year is feasible."""
    return bool(plan.feasible_problems.any()) and min(map(len, plan.engine_solutions.trace_generations)) > 1


def draw_convergence(ax: Axes, plan: Plan) -> Axes:
    """Draw each year's gap by generation as bands on logarithmic axes; returns the axis."""
    generations, gaps = convergence(plan)
    single = f"gap in {chosen(plan.problems.labels, plan.feasible_problems)[0]}"
    draw_bands(ax, generations, gaps, POWER, single=single)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(generations[0], max(generations[-1], generations[0] + 1))
    if gaps.min() <= 10 * FLOAT32_FLOOR:  # shade what float32 cannot resolve, where the bands come near it
        bottom = FLOAT32_FLOOR / 3
        ax.set_ylim(bottom=bottom)
        ax.axhspan(bottom, FLOAT32_FLOOR, color=OUTSIDE, lw=0, zorder=1)
        place, at = (0.01, math.sqrt(bottom * FLOAT32_FLOOR)), ("axes fraction", "data")
        ax.annotate("below float32 resolution", place, xycoords=at, va="center", fontsize=8, color=LIMITS)
    # Numbers in full, at decades, or between them too where there is hardly a decade.
    written: dict[Axis, Callable[[float], str]] = {ax.xaxis: "{:,g}".format, ax.yaxis: percent}
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < NARROW * low else (1,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _, axis=axis: written[axis](value)))  # type: ignore[misc]
        axis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("Generations")
    ax.set_ylabel(f"Gap to the {'reference optimum' if plan.references else 'final value'} (%)")
    return ax


def convergence(plan: Plan) -> tuple[FloatArray, FloatArray]:
    """Generations, shape (points,), and the relative gaps after them, shape (years that can keep their limits, points).

    A trace is in the solver's own arithmetic and with its forms of the curves, which differ from the exact ones by more
    than the last gaps. What a year still lacked is therefore measured to the end of its own trace, and the gap of the
    certified solution, in float64, is added.
    """
    years, solutions = np.flatnonzero(plan.feasible_problems), plan.engine_solutions
    alike: dict[bytes, list[int]] = {}  # years whose traces are of the same generations
    for place, year in enumerate(years.tolist()):
        alike.setdefault(solutions.trace_generations[year].tobytes(), []).append(place)
    taken = [solutions.trace_generations[int(years[places[0]])] for places in alike.values()]
    generations = np.unique(np.concatenate(taken))
    least = plan.problems.least_gap_scale
    gaps = np.empty((len(years), len(generations)))
    for points, places in zip(taken, alike.values(), strict=True):
        traces = np.array([solutions.trace_fitness[year] for year in years[places].tolist()])
        # The part of its final fitness that each trace lacked after these generations; its last value holds on.
        at, final = np.searchsorted(points, generations, side="right") - 1, traces[:, -1:]
        gaps[places] = (final - traces[:, np.maximum(at, 0)]) / gap_scale(final, least)
    certified = relative_gap(solutions, plan.references, least)[years] if plan.references else np.zeros(len(years))
    return generations.astype(np.float64), np.maximum(gaps + certified[:, None], FLOAT32_FLOOR)


def convergence_caption(plan: Plan) -> str | None:
    """How to read the figure; None where there is none."""
    if not has_trace(plan):
        return None
    to = "without a reference optimum, the final value is used as the optimum"
    if plan.references:
        to = "the gap between the certified solution and the dynamic-programming optimum is added"
    lost, left_out = chosen(plan.problems.labels, ~plan.feasible_problems), ""
    if lost:
        their, are = ("its", "is") if len(lost) == 1 else ("their", "are")
        can = f"cannot satisfy {their} {all_limits(plan)} and {are}"
        left_out = f" {counted(len(lost))} ({listed(lost)}) {can} left out: their fitness contains a penalty."
    floor = f"{percent(FLOAT32_FLOOR)} %"
    return (
        "Gap between the best solution after each generation and the optimum, over the years of the record. The search "
        f"runs in float32 arithmetic and its gap is measured to its own final value; {to}. Gaps below {floor}, the "
        f"resolution of float32, are drawn at {floor}.{left_out} {whose_search(plan)}".strip()
    )


def whose_search(plan: Plan) -> str:
    """Whose search is drawn, where the plan does not hold its schedule."""
    sentence = reference_sentence(plan)
    return f"{sentence} Drawn is the search of {plan.solutions.solver} in all years." if sentence else ""


def percent(part: float) -> str:
    """Write a part in per cent, without exponent."""
    value = 100 * part
    decimals = max(0, -math.floor(math.log10(value) + 1e-9)) if value > 0 else 0
    return f"{value:,.{decimals}f}"


START = "Start"
#: Years that are named beside each other.
_MOST_YEARS = 7


def linkage_map_figure(plan: Plan) -> Figure | None:
    """Draw the dependency structure matrix of the months; None where the solver learned none."""
    linkage = mean_linkage(plan)
    if linkage is None:
        return None

    def draw(sheet: SubFigure) -> None:
        ax = titled(sheet.add_subplot(), "Interdependence of the month-end storages")
        drawn = draw_linkage(ax, linkage, storage_names(plan))
        bar = sheet.colorbar(drawn, ax=ax, pad=0.02, format=THOUSANDS if np.nanmax(linkage) > 10 else None)
        assert bar.solids is not None
        bar.solids.set(rasterized=False, edgecolor="face")  # no picture of pixels, as `draw_cells`
        bar.set_label("Mutual information (nats), mean of the years")

    return plan_figure(plan, 4.6, draw)


def mean_linkage(plan: Plan) -> NDArray[np.float64] | None:
    """Mean of the years, shape (storages, storages); None where there is none, or it is of no two storages."""
    linkages = plan.engine_solutions.linkage
    if any(linkage.shape != linkages[0].shape for linkage in linkages) or len(linkages[0]) < 2:
        return None
    return np.asarray(np.mean(linkages, axis=0))


def storage_names(plan: Plan) -> list[str]:
    """The storages that are chosen: at the end of steps, and at the start of a cyclic year; empty where none is named.

    Named is each month, or of a horizon of many years the first step of some of them.
    """
    calendar, count = plan.inflow.calendar, len(plan.engine_solutions.linkage[0])
    names = [
        name[:3] if begins else "" for name, begins in zip(calendar.step_names, calendar.begins_month, strict=True)
    ]
    if count > calendar.steps:
        years = -(-count // calendar.steps)
        every = -(-years // _MOST_YEARS)
        of_years = calendar.labels if len(plan.problems) == 1 else tuple(map(str, range(1, years + 1)))
        firsts = ["" if year % every else name for year, name in enumerate(of_years[:years])]
        names = [name for first in firsts for name in (first, *[""] * (calendar.steps - 1))]
    return [*([START] if plan.problems.cyclic else ()), *names][:count]


def draw_linkage(ax: Axes, linkage: NDArray[np.float64], names: list[str]) -> PolyCollection:
    """Draw a cell for each pair, the first in the upper left corner; returns the cells, for a colour bar."""
    one, other = np.nonzero(~np.eye(len(linkage), dtype=bool))
    drawn: PolyCollection = draw_cells(ax, other - 0.5, one, 1, linkage[one, other], cmap="Blues")
    drawn.set_clim(0, None)
    named = [place for place, name in enumerate(names) if name]
    ax.set_xticks(named, [names[place] for place in named])
    ax.set_yticks(named, [names[place] for place in named])
    ax.set_xlim(-0.5, len(linkage) - 0.5)
    ax.set_ylim(len(linkage) - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.grid(visible=False)
    ax.set_facecolor(OUTSIDE)
    label = "Storage at the start, or the end of" if names[0] == START else "Storage at the end of"
    ax.set_xlabel(label)
    ax.set_ylabel(label)
    return drawn


def linkage_caption(plan: Plan) -> str | None:
    """How to read the figure; None where there is none."""
    if mean_linkage(plan) is None:
        return None
    return (
        "Dependency structure matrix learned by the solver: mean of at most its first "
        f"{plan.settings['linkage_generations']} generations. Each storage is coded by its place in the range "
        "reachable from the storage before. Darker cells: the codes of the two storages share more information "
        "in good solutions, and the solver changes both together earlier. The value expected by chance from "
        "independent individuals is subtracted."
    )
