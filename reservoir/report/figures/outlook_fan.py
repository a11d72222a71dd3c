"""Fan chart of the storage in the months to come, over the futures of a decision."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.reservoir import Reservoir
from reservoir.hydro.unit_system import UnitSystem, labelled
from reservoir.report.figures.axes import THOUSANDS, draw_bands, level_axis
from reservoir.report.figures.style import LIMITS, STORAGE, on_axes, sheet_figure
from reservoir.rules.families.replan import Outlook

#: Names of months on the axis.
_MOST_NAMES = 24


def outlook_figure(found: Outlook, plant: Reservoir, units: UnitSystem, notes: tuple[str, ...] = ()) -> Figure:
    """Draw the fan chart with its legend, above notes."""
    members = len(found.storage_hm3)
    title = f"Storage in the months to come, {members:,} futures"
    foot = f"{plant.name}; the first release is the one recommended, later ones are the rule's in each future"
    return sheet_figure(
        3.8, (foot, *notes), on_axes(title, draw_outlook, found, plant, units), units=units, reverse=True
    )


def draw_outlook(ax: Axes, found: Outlook, plant: Reservoir, units: UnitSystem) -> Axes:
    """Draw the storage of all futures as bands between the bounds of each month; returns the axis."""
    months = len(found.calendar_month)
    draw_bands(ax, np.arange(months + 1), found.storage_hm3, STORAGE, single="storage")
    lower, upper = plant.storage_bounds_hm3[:, found.steps]
    for bounds, label in ((upper, "storage bounds"), (lower, None)):
        ax.step(np.arange(months + 1), [*bounds, bounds[-1]], where="post", color=LIMITS, lw=1.0, ls="--", label=label)
    every = -(-months // _MOST_NAMES)
    shown = np.arange(0, months, every)
    ax.set_xlim(0, months)
    ax.xaxis.set_major_locator(FixedLocator(list(shown + 0.5)))
    ax.xaxis.set_major_formatter(FixedFormatter([MONTH_NAMES[found.calendar_month[at] - 1][:3] for at in shown]))
    ax.tick_params(axis="x", length=0)
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel(labelled("Storage ({})", "hm³"))
    level_axis(ax, plant, units)
    return ax
