"""The table of the family water-value: what a hm3 more at the end of a month is worth, by storage."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.report.figures.axes import THOUSANDS, level_axis, month_middles
from reservoir.report.figures.style import LIMITS, on_axes, plan_figure
from reservoir.rules.base.rule import Forecast
from reservoir.rules.evaluation.evaluation import Evaluation
from reservoir.rules.families.water_value import WaterValue

#: Behind a number, over the lines.
_CELL = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
#: Most storages that are written, so that numbers can be read.
_MOST_ROWS = 11


def water_value_table_figure(evaluation: Evaluation) -> Figure:
    """Draw the table of the middle inflow class, its numbers in its cells."""
    _, unit = evaluation.plan.units.per_volume(0.0, evaluation.plan.objective.unit)
    unit = unit.replace("hm3", "hm³")
    drawn = on_axes(f"Water value at the end of each month ({unit})", draw_water_value_table, evaluation)
    return plan_figure(evaluation.plan, 4.3, drawn)


def has_water_value_table(evaluation: Evaluation) -> bool:
    """Whether the family was evaluated."""
    return any(isinstance(each.rule, WaterValue) for each in evaluation.families)


def draw_water_value_table(ax: Axes, evaluation: Evaluation) -> Axes:
    """Write a number for each month and storage within its bounds, and draw the bounds; returns the axis."""
    rule, plan = _rule(evaluation), evaluation.plan
    storages, values = _shown(rule)
    values = values * plan.units.per_volume(1.0, plan.objective.unit)[0]
    above = storages[:, np.newaxis] >= np.array(rule.storage_lower_hm3) - 1e-6
    within = above & (storages[:, np.newaxis] <= np.array(rule.storage_upper_hm3) + 1e-6)
    middles, decimals = month_middles(plan.inflow.calendar), _decimals(values[within])
    for step, column in enumerate(values.T):
        for storage, value in zip(storages[within[:, step]], column[within[:, step]], strict=True):
            ax.text(middles[step], storage, f"{value:.{decimals}f}", ha="center", va="center", fontsize=7.5, bbox=_CELL)
    steps = np.arange(len(middles) + 1)
    for bounds, label in ((rule.storage_upper_hm3, "storage bounds"), (rule.storage_lower_hm3, None)):
        ax.step(steps, [*bounds, bounds[-1]], where="post", color=LIMITS, lw=1.0, ls="--", label=label)
    ax.grid(visible=False)
    spacing = storages[1] - storages[0]
    lowest, highest = min(rule.storage_lower_hm3), max(rule.storage_upper_hm3)
    ax.set_xlim(0, len(middles))
    ax.set_ylim(lowest - spacing / 2, highest + spacing / 2)
    ax.xaxis.set_major_locator(FixedLocator(list(middles)))
    ax.xaxis.set_major_formatter(FixedFormatter([MONTH_NAMES[month - 1][:3] for month in rule.months.calendar_month]))
    ax.tick_params(axis="x", length=0)
    ax.yaxis.set_major_formatter(THOUSANDS)
    ax.set_ylabel("Storage at the end of the month (hm³)")
    level_axis(ax, plan.reservoir, plan.units)
    return ax


def _decimals(values: NDArray[np.float64]) -> int:
    """Decimals of every number: three figures of the largest."""
    return max(0, 2 - int(np.floor(np.log10(max(float(np.abs(values).max(initial=0.0)), 1e-9)))))


def caption(evaluation: Evaluation) -> str:
    """How to read the figure."""
    of_month = "the month" if _rule(evaluation).forecast is Forecast.MONTH else "the month before"
    return (
        "What one more hm³ in store at the end of a month is worth, by the rule of the family water-value fitted to "
        f"all years, with the middle class of inflow of {of_month}. Release while one more hm³ through the turbines "
        "makes more; keep it where it makes less. Dashed: the storage bounds. All classes are in water-value.json."
    )


def _rule(evaluation: Evaluation) -> WaterValue:
    return next(each.rule for each in evaluation.families if isinstance(each.rule, WaterValue))


def _shown(rule: WaterValue) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Storages, and the values of the middle class, shape (storages, months); some rows, none below all bounds."""
    storages, table = np.array(rule.storages_hm3), np.array(rule.water_value_gwh_per_hm3)
    rows = np.flatnonzero(storages >= min(rule.storage_lower_hm3) - 1e-6)
    rows = rows[:: -(-len(rows) // _MOST_ROWS)]
    return storages[rows], table[:, rows, table.shape[2] // 2].T
