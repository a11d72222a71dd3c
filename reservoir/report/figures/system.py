"""Figures of a joint plan: the system drawn, and small multiples of storage, energy, spill and head a reservoir."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import FixedFormatter

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.system import Carried, Link
from reservoir.hydro.unit_system import labelled
from reservoir.planning.operated_system import OperatedSite
from reservoir.planning.stopwatch import Timer, untimed
from reservoir.planning.system_plan import SystemPlan
from reservoir.report.figures import axes, style
from reservoir.report.figures.axes import FloatArray
from reservoir.report.figures.figures import of_each, write_figures
from reservoir.report.figures.style import POWER, RELEASE, SPILL, STORAGE
from reservoir.report.places import places_of
from reservoir.text.quantities import quantity

#: Panels beside each other.
_COLUMNS = 3
#: Inches of a row of panels, and of a row of the drawn system.
_PANEL, _ROW = 1.75, 0.72
#: Less spill or head is not drawn: what rounding leaves.
_NOTHING = 1e-6
#: A price whose range is narrower than this part of the largest is unique.
_ONE_PRICE = 1e-3
_DASHED = (0, (5, 1.5))
_ARROWS: Mapping[Any, Any] = {Carried.ALL: "-", Carried.SPILLED: (0, (1, 1.5))}


def system_figures(
    plan: SystemPlan, *, watch: Timer = untimed, left_out: dict[str, str] | None = None
) -> dict[str, Figure]:
    """Draw the figures of a joint plan, by the name of their files; one that would be empty is left out."""
    return of_each(_drawings(plan), lambda drawing: drawing[0](plan), left_out, watch)


def system_captions(plan: SystemPlan, left_out: dict[str, str] | None = None) -> dict[str, str]:
    """Say how to read each figure of `system_figures`."""
    return of_each(_drawings(plan), lambda drawing: drawing[1], left_out)


def save_system_figures(
    plan: SystemPlan,
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
    *,
    watch: Timer = untimed,
    left_out: dict[str, str] | None = None,
    only: str | None = None,
) -> list[Path]:
    """Write every figure, or the one of a name, as PNG and SVG; the same plan gives the same bytes."""
    every = _drawings(plan).items()
    drawings = {name: partial(drawing, plan) for name, (drawing, _) in every if only in (None, name)}
    return write_figures(drawings, folder, progress, watch, left_out)


def _drawings(plan: SystemPlan) -> dict[str, tuple[Callable[[SystemPlan], Figure], str]]:
    spills = any(_monthly(site, "spill_m3s").max() > _NOTHING for site in plan.sites.values())
    drawings: dict[str, tuple[Callable[[SystemPlan], Figure], str, bool]] = {
        "system": (
            system_figure,
            "Each reservoir with its installed capacity and mean energy; arrows: mean flows of links, dashed where "
            "they carry a part. Blue arrows: local inflow.",
            True,
        ),
        "storage-fans": (
            storage_fans_figure,
            "Lines: medians of the years within limits; bands: quantiles. Grey: outside the storage limits.",
            True,
        ),
        "energy-by-month": (energy_figure, "Mean energy of each step, plant upon plant.", True),
        "spill-by-month": (spill_figure, "Mean spill of each step, a panel a reservoir.", spills),
        "head-lost": (
            head_lost_figure,
            "Mean head that the lake below takes of each plant it backs up, through the year.",
            any(link.backwater for link in plan.system.links),
        ),
        "water-prices": (
            water_prices_figure,
            "What a hm³ that links bring is worth at the prices with which the bounds are proved; lines: medians of "
            "the years, bands: quantiles. Thin lines: ranges of values that are not unique, at the schedule of a year.",
            plan.proofs is not None and bool(plan.proofs.prices and plan.fed),
        ),
    }
    return {name: (draw, caption) for name, (draw, caption, drawn) in drawings.items() if drawn}


def sheet_of(plan: SystemPlan, height: float, draw: Callable[[SubFigure], Axes | None], **legend: bool) -> Figure:
    """A figure of a system, with what it is of at its foot."""
    names = ", ".join(plan.sites)
    foot = (f"{plan.system.name}: {names}; {plan.inflow.span_text}", " ".join(plan.caveats))
    return style.sheet_figure(height, tuple(filter(None, foot)), draw, units=plan.units, **legend)


def system_figure(plan: SystemPlan) -> Figure:
    """Draw the reservoirs and the links between them, with mean flows and capacities."""
    places = places_of(plan.system)
    rows = 1 + round(-min(y for _, y in places.values()))

    def draw(sheet: SubFigure) -> None:
        ax = style.titled(sheet.add_subplot(), f"The system {plan.system.name}")
        ax.set_axis_off()
        ax.set_xlim(-0.1, max(x for x, _ in places.values()) + 1.1)
        ax.set_ylim(-rows + 0.2, 0.8)
        flow = partial(plan.units.stated, unit="m3/s", form=",.0f")
        for name, site in plan.sites.items():
            x, y = places[name]
            ax.plot([x], [y], marker="v", ms=13, color=STORAGE, zorder=3)
            energy = quantity(float(site.energy_gwh[plan.shown_years].mean()))
            text = f"{name}: {site.reservoir.installed_mw:,.6g} MW, {energy} GWh a {plan.year_word}"
            ax.annotate(text, (x, y), (12, 0), textcoords="offset points", va="center", zorder=4)
            local = flow(plan.inflows[name].mean_m3s)
            ax.annotate(
                f"{local} ", (x, y), (-34, 0), textcoords="offset points", va="center", ha="right", color=STORAGE,
                fontsize=8, arrowprops={"arrowstyle": "->", "color": STORAGE, "lw": 1.0},
            )  # fmt: skip
        for link in plan.system.links:
            _draw_link(ax, plan, link, places, flow)

    return sheet_of(plan, max(_ROW * rows, 1.2) + 0.4, draw)


def _draw_link(
    ax: Axes, plan: SystemPlan, link: Link, places: Mapping[str, tuple[float, float]], flow: Callable[[float], str]
) -> None:
    x, y = places[link.source]
    end = places[link.target] if link.target else (x + 0.6, y - 0.5)
    look = _ARROWS.get(link.carries, _DASHED)
    arrow = FancyArrowPatch(
        (x, y), end, arrowstyle="-|>", mutation_scale=9, shrinkA=8, shrinkB=8, color=RELEASE, ls=look
    )
    ax.add_patch(arrow)
    part = "" if link.carries is Carried.ALL else f" {link.share_in_words}"
    travel = f", {late}" if (late := link.travel_in_words(plan.system.step)) else ""
    middle = (x + end[0]) / 2, (y + end[1]) / 2
    axes.write_beside(ax, f"{flow(plan.mean_flow_m3s(link))}{part}{travel}", middle, (5, 0), va="center", color=RELEASE)


def panels_of(
    plan: SystemPlan,
    title: str,
    draw: Callable[[Axes, OperatedSite], None],
    label: str,
    names: Sequence[str] = (),
    bar: Callable[[SubFigure, Sequence[Axes]], None] | None = None,
) -> Figure:
    """A panel for each reservoir, or each of some, with its name, under one title, and maybe a bar of colours."""
    sites = [plan.sites[name] for name in names or plan.sites]
    columns = min(_COLUMNS, len(sites))
    rows = -(-len(sites) // columns)

    def drawn(sheet: SubFigure) -> Axes:
        grid = sheet.subplots(rows, columns, squeeze=False)
        for ax, site in zip(grid.flat, sites, strict=False):
            draw(ax, site)
            axes.quantity_axis(ax, "", 4)
            axes.month_axis(ax, plan.inflow.calendar, 6.5).set_xlabel("")
            names = plan.inflow.calendar.months[plan.inflow.calendar.begins_month]
            if len(names) <= axes.MOST_NAMED_MONTHS:  # a letter each: panels are small
                ax.xaxis.set_minor_formatter(FixedFormatter([MONTH_NAMES[month - 1][0] for month in names]))
            style.titled(ax, site.reservoir.name, fontsize=8.5, fontweight="normal")
        for ax in list(grid.flat)[len(sites) :]:
            ax.set_visible(False)
        sheet.suptitle(title, fontsize=10, fontweight="bold", x=0.01, ha="left")
        sheet.supylabel(label, fontsize=8.5)
        if bar is not None:
            bar(sheet, list(grid.flat))
        first: Axes = grid.flat[0]
        return first

    return sheet_of(plan, _PANEL * rows + 0.7, drawn)


def storage_fans_figure(plan: SystemPlan) -> Figure:
    """Draw the storages of each reservoir through the year as bands, between their limits."""

    def draw(ax: Axes, site: OperatedSite) -> None:
        months, storages = axes.month_ends(plan.inflow.calendar), site.operation.storage_hm3[plan.shown_years]
        axes.draw_bands(ax, months, storages, STORAGE, single="storage")
        lower, upper = (np.resize(bound, plan.inflow.steps) for bound in site.reservoir.storage_bounds_hm3)
        bounds = [np.append(bound, bound[-1]) for bound in (lower, upper)]
        low, high = min(lower.min(), storages.min()), max(upper.max(), storages.max())
        margin = 0.06 * float(high - low) or 1.0
        ax.set_ylim(float(low) - margin, float(high) + margin)
        axes.shade_outside(ax, months, *bounds, step="post")

    return panels_of(
        plan, f"Storage at the end of each {plan.inflow.calendar.step.noun}", draw, labelled("Storage ({})", "hm³")
    )


def _monthly(site: OperatedSite, name: str) -> FloatArray:
    """Mean over the years of each step."""
    values: FloatArray = getattr(site.operation, name)
    return np.asarray(values.mean(axis=0))


def energy_figure(plan: SystemPlan) -> Figure:
    """Draw the mean energy of each step, plant upon plant."""

    def draw(sheet: SubFigure) -> Axes:
        ax = style.titled(sheet.add_subplot(), f"Mean energy of each {plan.inflow.calendar.step.noun}")
        middles, below = axes.month_middles(plan.inflow.calendar), np.zeros(plan.inflow.steps)
        for place, (name, site) in enumerate(plan.sites.items()):
            energy, strength = _monthly(site, "energy_gwh"), 1.0 - 0.8 * place / max(len(plan.sites) - 1, 1)
            ax.bar(middles, energy, 0.86, below, color=style.tint(POWER, strength), label=name, ec="white", lw=0.4)
            below = below + energy
        axes.month_axis(ax, plan.inflow.calendar)
        return axes.quantity_axis(ax, "Energy (GWh)")

    return sheet_of(plan, 3.2, draw)


def spill_figure(plan: SystemPlan) -> Figure:
    """Draw the mean spill of each step, a panel a reservoir."""

    def draw(ax: Axes, site: OperatedSite) -> None:
        spill = _monthly(site, "spill_m3s")
        spill[spill < _NOTHING] = 0.0
        ax.bar(axes.month_middles(plan.inflow.calendar), spill, 0.86, color=SPILL)
        ax.set_ylim(0.0, 1.05 * float(spill.max()) or 1.0)

    return panels_of(plan, f"Mean spill of each {plan.inflow.calendar.step.noun}", draw, labelled("Spill ({})", "m³/s"))


def water_prices_figure(plan: SystemPlan) -> Figure:
    """Draw prices of the water that links bring as bands, their ranges as lines, a panel a reservoir they lead to."""
    size, unit = plan.units.per_volume(1.0, plan.objective.unit)
    prices = size * plan.prices_per_hm3[:, plan.shown_years]
    several = prices[2] - prices[1] > _ONE_PRICE * np.abs(prices[0]).max()

    def draw(ax: Axes, site: OperatedSite) -> None:
        months, place = axes.month_middles(plan.inflow.calendar), plan.system.names.index(site.reservoir.name)
        axes.draw_bands(ax, months, prices[0, :, place], POWER, single="price")
        if several.any():
            year, step = np.nonzero(several[:, place])
            least, most = prices[1:, year, place, step]
            finite = np.concatenate([ax.get_ylim(), least[np.isfinite(least)], most[np.isfinite(most)]])
            low, high = float(finite.min()), float(finite.max())
            beside = 0.6 * ((year + 0.5) / len(several) - 0.5)  # years side by side
            look: dict[str, Any] = {"color": SPILL, "lw": 0.9, "alpha": 0.6, "label": "range, where not unique"}
            ax.vlines(months[step] + beside, least.clip(low, high), most.clip(low, high), **look)

    return panels_of(plan, "Price of the water that links bring", draw, f"Price ({unit})", plan.fed)


def head_lost_figure(plan: SystemPlan) -> Figure:
    """Draw the mean head that lakes below take, a line a plant that one backs up."""

    def draw(sheet: SubFigure) -> Axes:
        ax = style.titled(sheet.add_subplot(), "Head lost to the lake below")
        backed = [link.source for link in plan.system.links if link.backwater]
        for place, name in enumerate(backed):
            lost = head_lost_m(plan.sites[name]).mean(axis=0)
            colour = style.shade(STORAGE, 1.0 - 0.7 * place / max(len(backed), 1))
            ax.step(axes.month_ends(plan.inflow.calendar), [*lost, lost[-1]], where="post", color=colour, label=name)
        axes.month_axis(ax, plan.inflow.calendar)
        return axes.not_below_zero(axes.quantity_axis(ax, labelled("Head ({})", "m")))

    return sheet_of(plan, 2.6, draw)


def head_lost_m(site: OperatedSite) -> FloatArray:
    """Head that the lake below takes of each step, shape (years, steps)."""
    of_step = site.operation
    return np.asarray(np.maximum(of_step.mean_level_m - of_step.tailrace_m - of_step.head_m, 0.0))
