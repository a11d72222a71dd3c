"""A wet, a normal and a dry year: inflow, release, level and power (Yu et al. 2020, Figures 6 to 9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from reservoir.errors import InputError, Mistake
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal
from reservoir.hydro.unit_system import labelled
from reservoir.planning.plan import Plan
from reservoir.report.figures import axes
from reservoir.report.figures.axes import FloatArray
from reservoir.report.figures.style import DASHES, DRY, LIMITS, NORMAL, OUTSIDE_MARK, WET, plan_figure, titled
from reservoir.text.quantities import quantity

#: Which year is taken by default: the one whose mean inflow is nearest to what this part of all years exceeds (%).
EXCEEDED_BY = {"wet": 10, "normal": 50, "dry": 90}

COLOURS = {"wet": WET, "normal": NORMAL, "dry": DRY}
# Told apart without colour too.
MARKERS = {"wet": "o", "normal": "s", "dry": "^"}


class TypicalYear(NamedTuple):
    """A year of the record and what it is typical of: ``wet``, ``normal``, ``dry``, or several where years are few."""

    row: int
    kinds: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The one whose colour it is drawn in."""
        return "normal" if "normal" in self.kinds else self.kinds[0]


def typical_years(inflow: Inflow, years: Mapping[str, str] | None = None) -> list[TypicalYear]:
    """Choose a wet, a normal and a dry year.

    Parameters
    ----------
    inflow : Inflow
    years : mapping of str to str, optional
        Label of the year for any of ``wet``, ``normal`` and ``dry``; left out, those that the record states, or chosen
        by `EXCEEDED_BY`.

    Raises
    ------
    InputError
        If a year is not in the record, or a kind is unknown.
    """
    years = _stated(inflow) if years is None else years
    if years is None:
        mean = inflow.annual_mean_m3s
        of_kind = {kind: np.percentile(mean, 100 - exceeded) for kind, exceeded in EXCEEDED_BY.items()}
        rows = {kind: int(np.argmin(np.abs(mean - flow))) for kind, flow in of_kind.items()}
    else:
        span = f"a year of the record, {inflow.span_text}"
        kinds, mistake = ", ".join(EXCEEDED_BY), partial(Mistake, column="years")
        unknown = [kind for kind in years if kind not in EXCEEDED_BY]
        mistakes = [mistake("is not a kind of typical year", kinds, value=kind) for kind in unknown]
        absent = [(kind, label) for kind, label in years.items() if label not in inflow.labels]
        mistakes += [mistake(f"the {kind} year is not in the record", span, value=label) for kind, label in absent]
        if mistakes or not years:
            raise InputError(mistakes or mistake("no typical year is named", kinds))
        rows = {kind: inflow.labels.index(years[kind]) for kind in EXCEEDED_BY if kind in years}
    return [TypicalYear(row, tuple(kind for kind in rows if rows[kind] == row)) for row in dict.fromkeys(rows.values())]


def _stated(inflow: Inflow) -> Mapping[str, str] | None:
    """The years that a record states, as long as it has them."""
    stated = inflow.typical_years
    return stated if stated and {*stated.values()} <= {*inflow.labels} else None


def typical_years_figure(plan: Plan, years: Mapping[str, str] | None = None) -> Figure:
    """Draw the four panels under one legend."""
    chosen = typical_years(plan.inflow, years)

    def draw(sheet: SubFigure) -> Axes:
        panels = sheet.subplots(2, 2, sharex=True)
        for ax, draw_panel in zip(panels.ravel(), PANELS.values(), strict=True):
            draw_panel(ax, plan, chosen).tick_params(axis="x", which="minor", labelsize=7)
        top = max(ax.get_ylim()[1] for ax in panels[0])
        for ax in panels[0]:
            ax.set_ylim(0, top)  # flows on one scale: the eye sees what the reservoir does to them
            ax.set_xlabel("")
        corner: Axes = panels[0, 0]
        return corner

    return plan_figure(plan, 6.0, draw, title="Year and mean inflow")


def draw_means(ax: Axes, plan: Plan, years: list[TypicalYear], title: str, of: str, label: str) -> Axes:
    """Draw the mean of each step of the years, of a quantity that is an attribute of the plan; returns the axis."""
    _draw_lines(ax, plan, years, axes.month_middles(plan.inflow.calendar), attrgetter(of)(plan))
    axes.month_axis(ax, plan.inflow.calendar)
    ax.set_ylim(bottom=0)
    return titled(axes.quantity_axis(ax, label), title)


def draw_level(ax: Axes, plan: Plan, years: list[TypicalYear]) -> Axes:
    """Draw the forebay level of the years at the end of each month (paper, Figure 8); returns the axis.

    Months that end outside the limits of storage are marked.
    """
    start = plan.reservoir.level(plan.operation.storage_hm3[:, :1])
    levels = np.hstack([start, plan.operation.level_m])
    _draw_lines(ax, plan, years, axes.month_ends(plan.inflow.calendar), levels)
    for year in years:
        outside = np.flatnonzero(plan.operation.violation[year.row] > 0)
        if outside.size:
            ax.plot(outside + 1, levels[year.row, outside + 1], **OUTSIDE_MARK | {"ms": 7})
    axes.month_axis(ax, plan.inflow.calendar)
    axes.quantity_axis(ax, labelled(f"Level at the end of the {plan.inflow.calendar.step.noun} ({{}})", "m"))
    return titled(ax, "Forebay level")


def draw_power(ax: Axes, plan: Plan, years: list[TypicalYear]) -> Axes:
    """Draw the monthly power of the years under the installed capacity (paper, Figure 9); returns the axis."""
    draw_means(ax, plan, years, "Power", "operation.power_mw", "Power (MW)")
    installed = plan.reservoir.installed_mw
    ax.axhline(installed, color=LIMITS, lw=1.1, ls=DASHES, zorder=1.5)
    axes.write_beside(ax, f"installed {installed:,g} MW", (0.1, installed), (0, 4), va="bottom")
    ax.set_ylim(0, max(ax.get_ylim()[1], installed * 1.12))
    firm = set(plan.firm_power_mw.round(9).tolist()) if plan.objective.is_firm else set()
    if len(firm) == 1 and plan.objective.firm_share == 1:
        ax.axhline(power := firm.pop(), color=LIMITS, lw=0.9, ls=DASHES, zorder=1.5)
        axes.write_beside(ax, f"firm {quantity(power)} MW", (0.1, power), (0, -3), va="top")
    return ax


#: The panels by the quantity they show, in the order of the paper's figures.
PANELS: dict[str, Callable[[Axes, Plan, list[TypicalYear]], Axes]]
PANELS = {
    "inflow": partial(draw_means, title="Inflow", of="inflow.flow_m3s", label=labelled("Inflow ({})", "m³/s")),
    "release": partial(draw_means, title="Release", of="operation.release_m3s", label=labelled("Release ({})", "m³/s")),
    "level": draw_level,
    "power": draw_power,
}


def typical_years_caption(plan: Plan, years: Mapping[str, str] | None = None) -> str:
    """How to read the figure."""
    shown = typical_years(plan.inflow, years)
    chosen, outside = "; ".join(_label(plan, year) for year in shown), not all(plan.keeps_limits[y.row] for y in shown)
    how = (
        ""
        if years or _stated(plan.inflow)
        else " Their mean inflows are closest to those exceeded in 10, 50 and 90 % of years."
    )
    step = plan.inflow.calendar.step.noun
    marks = f" Crosses: {step}s that end outside the storage limits." if outside else ""
    prices = plan.inflow.price_per_mwh if plan.inflow.price_per_mwh is not None else plan.objective.price_per_mwh
    if Goal.REVENUE in plan.objective.weights and prices is not None and np.min(prices) < 0:
        marks += " Where the price is negative, water passes the turbines by."
    return (
        f"Plan of typical years ({chosen}).{how if plan.inflow.years > 1 else ''} "
        f"Flows and power: means of each {step}; level: at its end.{marks}"
    )


def _draw_lines(ax: Axes, plan: Plan, years: list[TypicalYear], x: FloatArray, values: FloatArray) -> None:
    for year in years:
        marker = MARKERS[year.kind] if values.shape[1] <= axes.MOST_MARKED_STEPS else ""
        look: dict[str, Any] = {"color": COLOURS[year.kind], "marker": marker, "clip_on": False, "zorder": 3}
        look |= {} if marker else {"lw": 0.9}  # of days, thick lines hide each other
        ax.plot(x, values[year.row], label=_label(plan, year), **look)


def _label(plan: Plan, year: TypicalYear) -> str:
    label, mean = plan.inflow.labels[year.row], float(plan.inflow.annual_mean_m3s[year.row])
    kinds = f"{', '.join(year.kinds)}: " if plan.inflow.years > 1 else ""
    kinds += "" if plan.inflow.members is None else "member "
    outside = "" if plan.keeps_limits[year.row] else ", violates its limits"
    taken = f", schedule of {plan.references.solver}" if plan.from_reference[year.row] else ""
    return f"{kinds}{label}, {plan.units.written(mean, 'm3s')}{taken}{outside}"
