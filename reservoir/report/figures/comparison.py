"""Plans beside each other: their storages through the year, how long they give which power, and what a key changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure, SubFigure

from reservoir.hydro.unit_system import labelled
from reservoir.planning.columns import FIRM_POWER
from reservoir.planning.plan_comparison import WHOLE, ComparedPlan
from reservoir.planning.system_plan import SystemPlan
from reservoir.report.figures import axes, style
from reservoir.report.figures.style import DRY, INFLOW, NORMAL, POWER, REFERENCE, RELEASE, SPILL, STORAGE, WET

if TYPE_CHECKING:
    from reservoir.report.comparison_folder import PlanComparison

#: Looks of plans behind the base; more are coloured in their order.
_COLOURS = (STORAGE, DRY, RELEASE, WET, NORMAL, POWER, SPILL, INFLOW)
_LINES: tuple[Any, ...] = ("-", (0, (6, 1.5)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_OF_BASE: dict[str, Any] = {"color": REFERENCE, "ls": (0, (2, 1.2)), "lw": 2.0, "zorder": 5}
#: Plans that have a band each around their median: of more, which would hide each other, the base alone.
_MOST_BANDS = 2
#: Columns of a panel each where a key is varied, and their axes.
_PANELS = (("energy_gwh", "Energy (GWh a year)"), (FIRM_POWER, "Power in 90 % of the steps (MW)"))


def comparison_figures(comparison: PlanComparison) -> dict[str, Callable[[], Figure]]:
    """What draws each figure, by the name of its file."""
    drawn = {"storage": storage_figure, "power-duration": power_figure}
    figures: dict[str, Callable[[], Figure]] = {name: partial(draw, comparison) for name, draw in drawn.items()}
    if _varied(comparison):
        figures["varied"] = partial(varied_figure, comparison)
    return figures


def comparison_captions(comparison: PlanComparison) -> dict[str, str]:
    """How to read each figure of `comparison_figures`."""
    years = "the years that keep their limits in the plan and in the base"
    bands = "Bands: the" if len(comparison.plans) <= _MOST_BANDS else "Band: of the base, the"
    captions = {
        "storage": f"Lines: medians of {years}. {bands} middle half of these years. Dotted and black: the base.",
        "power-duration": f"How many of the steps of {years} give a power, or more. Dotted and black: the base.",
    }
    if varied := _varied(comparison):
        captions["varied"] = f"Each point is a plan with another {varied[0]}. Black: the base."
    return captions


def _sheet(comparison: PlanComparison, height: float, draw: Callable[[SubFigure], Axes], **legend: Any) -> Figure:
    base = comparison.plans[0].plan
    name = base.system.name if isinstance(base, SystemPlan) else base.reservoir.name
    caveats = dict.fromkeys(caveat for plan in comparison.plans for caveat in plan.plan.caveats)
    foot = (f"{name}, {base.inflow.span_text}", " · ".join(caveats))
    return style.sheet_figure(height, foot, draw, units=comparison.units, **legend)


def _looks(comparison: PlanComparison) -> list[tuple[ComparedPlan, dict[str, Any]]]:
    """Each plan with the look of its lines, the base last, so that it is drawn above the others."""
    base, *others = comparison.plans
    count = len(others)
    shades = colormaps["viridis"](np.linspace(0, 0.9, count)) if count > len(_COLOURS) else _COLOURS
    looks = [{"color": to_hex(shades[k]), "ls": _LINES[k % len(_LINES)], "lw": 1.5, "zorder": 3} for k in range(count)]
    return [*zip(others, looks, strict=True), (base, _OF_BASE)]


def storage_figure(comparison: PlanComparison) -> Figure:
    """Draw the median storages of all plans through the year; of systems a panel for each reservoir."""
    base = comparison.plans[0].plan
    sites = [*base.sites] if isinstance(base, SystemPlan) else [""]
    columns = min(len(sites), 2)
    rows = -(-len(sites) // columns)

    def draw(sheet: SubFigure) -> Axes:
        grid = sheet.subplots(rows, columns, squeeze=False)
        for ax, site in zip(grid.flat, sites, strict=False):
            _draw_storages(ax, comparison, site)
            if site:
                style.titled(ax, site, fontsize=8.5, fontweight="normal")
        for ax in list(grid.flat)[len(sites) :]:
            ax.set_visible(False)
        sheet.suptitle(f"Storage at the end of each {base.inflow.calendar.step.noun}", **_TITLE)
        first: Axes = grid.flat[0]
        return first

    return _sheet(comparison, 1.6 + 2.4 * rows, draw)


_TITLE: dict[str, Any] = {"fontsize": 10, "fontweight": "bold", "x": 0.01, "ha": "left"}


def _draw_storages(ax: Axes, comparison: PlanComparison, site: str) -> None:
    calendar = comparison.plans[0].plan.inflow.calendar
    for compared, look in _looks(comparison):
        plan = compared.plan
        of_site: Any = plan.sites.get(site) if isinstance(plan, SystemPlan) else plan
        if of_site is None or not compared.compared.size:
            continue
        storages = of_site.operation.storage_hm3[compared.compared]
        x = np.linspace(0, calendar.steps, storages.shape[1])
        if len(comparison.plans) <= _MOST_BANDS or look is _OF_BASE:
            lower, upper = np.percentile(storages, [25, 75], axis=0)
            ax.fill_between(x, lower, upper, color=look["color"], alpha=0.13, lw=0)
        ax.plot(x, np.median(storages, axis=0), label=compared.name, **look)
    axes.month_axis(ax, calendar)
    axes.quantity_axis(ax, labelled("Storage ({})", "hm³"), 6)


def power_figure(comparison: PlanComparison) -> Figure:
    """Draw the duration curves of the power of all plans."""

    def draw(ax: Axes) -> Axes:
        for compared, look in _looks(comparison):
            if compared.compared.size:
                power = compared.plan.operation.power_mw[compared.compared]
                ax.plot(*axes.duration_curve(power), label=compared.name, **look)
        axes.exceedance_axis(ax, f"{comparison.plans[0].plan.inflow.calendar.step.noun}s")
        return axes.quantity_axis(ax, "Power (MW)")

    return _sheet(comparison, 3.6, style.on_axes("Duration of power", draw))


def _varied(comparison: PlanComparison) -> tuple[str, list[tuple[float, str]]] | None:
    """The one key in whose number plans differ from the base, and the numbers of the base and of them with names."""
    keys = {each.what for each in comparison.differences}
    numbers = list[tuple[float, str]]()
    if len(keys) != 1 or len(comparison.plans) < 3:
        return None
    try:
        for each in comparison.differences:
            numbers = numbers or [(float(each.base), comparison.plans[0].name)]
            numbers.append((float(each.value), each.plan))
    except ValueError:
        return None
    return keys.pop(), sorted(numbers)


def varied_figure(comparison: PlanComparison) -> Figure:
    """Draw energy and power over the key that is varied."""
    key, numbers = _varied(comparison) or ("", [])
    of_plan = {row["plan"]: row for row in comparison.rows if row.get("reservoir", WHOLE) == WHOLE}

    def draw(sheet: SubFigure) -> Axes:
        panels = sheet.subplots(1, 2)
        for ax, (column, label) in zip(panels, _PANELS, strict=True):
            for number, name in numbers:
                look: dict[str, Any] = {"color": REFERENCE} if name == comparison.plans[0].name else {"color": POWER}
                ax.plot([number], [of_plan[name][column]], marker="o", ms=5, zorder=4, **look)
            ax.plot(
                [number for number, _ in numbers], [of_plan[name][column] for _, name in numbers], color=POWER, lw=1.2
            )
            axes.quantity_axis(ax, label, 6).set_xlabel(key)
        sheet.suptitle(f"What {key} changes", **_TITLE)
        first: Axes = panels[0]
        return first

    return _sheet(comparison, 3.0, draw)
