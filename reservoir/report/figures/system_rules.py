"""Figures of the rules of a system: storages, what is lost where, and what water is worth, a panel a reservoir."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from reservoir.hydro.unit_system import labelled
from reservoir.planning.operated_system import OperatedSite
from reservoir.report.figures import axes, style
from reservoir.report.figures.figures import of_each
from reservoir.report.figures.style import STORAGE, family_look
from reservoir.report.figures.system import panels_of, sheet_of
from reservoir.rules.families.separable import Separable
from reservoir.rules.system_evaluation import SystemEvaluation

#: Headings of the figures.
SYSTEM_RULES_TITLES = {
    "rule-storages": "Storage through the year by rule",
    "lost-by-reservoir": "What rules lose, and where",
    "rule-water-values": "Water values",
}
_CAPTIONS = {
    "rule-storages": "Bands: perfect foresight, quantiles of its years. Lines: medians of perfect foresight, and of "
    "each rule in years that it has not seen. Grey: outside the storage limits.",
    "lost-by-reservoir": "What each reservoir makes less a year than with perfect foresight, by rules that have not "
    "seen the year; below 0 where it makes more. The worth of water left at the end is not reckoned.",
    "rule-water-values": "What one more {volume} is worth at the end of each month by the separable values of all "
    "years, with the middle class of inflow; water above is worth what all plants below make of it.",
}
_COLOURS, _CLASSES = colormaps["YlGnBu"], 12
#: Inches of a row of bars.
_BAR = 0.3


def system_rules_figures(evaluation: SystemEvaluation) -> dict[str, Callable[[], Figure]]:
    """What draws each figure, by the name of its file; one that would be empty is left out."""
    return {name: lambda name=name: _DRAWINGS[name](evaluation) for name in _shown(evaluation)}  # type: ignore[misc]


def system_rules_captions(evaluation: SystemEvaluation, left_out: dict[str, str] | None = None) -> dict[str, str]:
    """Say how to read each figure of `system_rules_figures`."""
    volume = evaluation.plan.units.unit_name("hm³")
    captions = {name: _CAPTIONS[name] for name in _shown(evaluation)}
    return of_each(captions, lambda caption: caption.format(volume=volume), left_out)


def _shown(evaluation: SystemEvaluation) -> list[str]:
    has_values = any(isinstance(rule, Separable) for rule in evaluation.rules.values())
    return [name for name in _DRAWINGS if has_values or name != "rule-water-values"]


def rule_storages_figure(evaluation: SystemEvaluation) -> Figure:
    """Draw the median storages of each rule over those of perfect foresight."""
    plan, steps = evaluation.plan, evaluation.plan.inflow.steps
    foresight = evaluation.foresight.operation.in_years(steps)

    def draw(ax: Axes, site: OperatedSite) -> None:
        place, months = plan.system.names.index(site.reservoir.name), axes.month_ends(plan.inflow.calendar)
        storages = foresight.of_reservoirs[place].storage_hm3
        axes.draw_bands(ax, months, storages, STORAGE, single="perfect foresight")
        drawn = [storages]
        for run in evaluation.ranked:
            own, look = run.by_year.of_reservoirs[place].storage_hm3, family_look(run.family)
            drawn.append(np.median(own, axis=0)[np.newaxis])
            ax.plot(months, drawn[-1][0], color=look.colour, ls=look.line, lw=1.5, label=run.family, zorder=3)
        lower, upper = (np.resize(bound, steps) for bound in site.reservoir.storage_bounds_hm3)
        every = np.concatenate(drawn)
        low, high = min(lower.min(), every.min()), max(upper.max(), every.max())
        margin = 0.06 * float(high - low) or 1.0
        ax.set_ylim(float(low) - margin, float(high) + margin)
        axes.shade_outside(ax, months, *(np.append(bound, bound[-1]) for bound in (lower, upper)), step="post")

    title = f"Storage at the end of each {plan.inflow.calendar.step.noun}, by rule"
    return panels_of(plan, title, draw, labelled("Storage ({})", "hm³"))


def lost_figure(evaluation: SystemEvaluation) -> Figure:
    """Draw how much less than with perfect foresight each reservoir makes by each rule."""
    plan, runs = evaluation.plan, evaluation.ranked
    best = evaluation.foresight.operation.in_years(plan.inflow.steps)
    names = plan.system.names

    def draw(sheet: SubFigure) -> Axes:
        ax = style.titled(sheet.add_subplot(), "Less than perfect foresight a year, in years not seen")
        places, height = np.arange(len(names)), 0.8 / len(runs)
        for at, run in enumerate(runs):
            of_each = zip(best.of_reservoirs, run.by_year.of_reservoirs, strict=True)
            lost = [float((other.benefit - own.benefit).mean()) for other, own in of_each]
            look = family_look(run.family)
            ax.barh(
                places + (at - (len(runs) - 1) / 2) * height, lost, 0.92 * height, color=look.colour, label=run.family
            )
        ax.axvline(0.0, color="black", lw=0.8)
        ax.set_yticks(places, names)
        ax.invert_yaxis()
        ax.xaxis.set_major_formatter(axes.THOUSANDS)
        title, unit = plan.objective.title, f"{plan.objective.unit} a year".strip()
        ax.set_xlabel(f"{title[:1].upper()}{title[1:]} lost ({unit})")
        return ax

    return sheet_of(plan, _BAR * len(names) * max(len(runs), 2) / 1.4 + 1.2, draw)


def water_values_figure(evaluation: SystemEvaluation) -> Figure:
    """Draw what a hm3 more is worth by month and storage, a map a reservoir."""
    plan = evaluation.plan
    rule = next(rule for rule in evaluation.rules.values() if isinstance(rule, Separable))
    size, unit = plan.units.per_volume(1.0, plan.objective.unit)
    tables = {name: site.values_at_ends() for name, site in rule.of_each.items()}
    values = np.concatenate([table[np.isfinite(table)] for _, table in tables.values()]) * size
    low, high = min(float(np.quantile(values, 0.02)), 0.0), float(np.quantile(values, 0.98))
    edges = np.asarray(MaxNLocator(_CLASSES, steps=axes.ROUND_STEPS).tick_values(low, max(high, low + 1e-6)))
    look = axes.classes(_COLOURS, edges, above=bool(values.max() > edges[-1]))

    def draw(ax: Axes, site: OperatedSite) -> None:
        storages, table = tables[site.reservoir.name]
        steps, rows = np.nonzero(np.isfinite(table))
        spacing = float(storages[1] - storages[0])
        axes.draw_cells(ax, steps, storages[rows], spacing, table[steps, rows] * size, **look)
        ax.set_facecolor(style.OUTSIDE)
        ax.grid(visible=False)
        ax.set_ylim(storages[0] - spacing / 2, storages[-1] + spacing / 2)

    def bar(sheet: SubFigure, every: Sequence[Axes]) -> None:
        axes.colour_bar(sheet, every, f"Water value ({unit})", look)

    return panels_of(plan, "Water value at the end of each month", draw, labelled("Storage ({})", "hm³"), bar=bar)


_DRAWINGS: dict[str, Any] = {
    "rule-storages": rule_storages_figure,
    "lost-by-reservoir": lost_figure,
    "rule-water-values": water_values_figure,
}
