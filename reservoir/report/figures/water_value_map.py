"""Water values by month and storage: their mean over the years, and how much they differ from year to year."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.unit_system import labelled
from reservoir.planning.plan import Plan
from reservoir.planning.water_values import LEVELS, table_months
from reservoir.report.figures import axes
from reservoir.report.figures.axes import THOUSANDS, FloatArray
from reservoir.report.figures.style import OUTSIDE, REFERENCE, plan_figure, titled

#: Columns of the table that are drawn, and the titles of their panels.
_MEAN = "mean_gwh_per_hm3"
PANELS = {
    "q10_gwh_per_hm3": "Low: 10 % quantile",
    _MEAN: "Mean of the years",
    "q90_gwh_per_hm3": "High: 90 % quantile",
}
#: Of plans with demands, whose water values are no energy alone.
_PRICED = (
    " Where more water avoids a shortage, its price is in the value, which can be many times the energy of the water."
)
#: Classes of the colour bar, about; few enough to be told apart, and to be drawn without a picture of pixels.
_CLASSES = 15
#: Values above this quantile share the last colour: near an empty reservoir a few are many times the others.
_SCALE_QUANTILE = 0.95
#: If the largest value is so many times the median, classes grow by factors, over so many decades.
_SKEWED, _DECADES = 8.0, 2
#: From light for little to dark for much; the lightness falls evenly (after cividis, Nuñez, Anderton and Renslow 2018).
_COLOURS = LinearSegmentedColormap.from_list(
    "water value", ["#FFF6D0", "#F0DC72", "#CBBA69", "#A59C74", "#7F8078", "#5B6276", "#35456C", "#00224E"]
)


def water_value_figure(plan: Plan) -> Figure | None:
    """Draw a panel for each column beside one colour bar; None for a plan without water values."""
    if not has_water_values(plan):
        return None

    def draw(sheet: SubFigure) -> Axes:
        shown = PANELS if plan.inflow.years > 1 else {_MEAN: f"Inflow of {plan.inflow.labels[0]}"}
        panels = sheet.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for ax, (column, title) in zip(panels, shown.items(), strict=True):
            titled(draw_water_values(ax, plan, column), title, fontsize=8.5, pad=4)
        first: Axes = panels[0]
        first.set_ylabel(labelled("Storage at the start of the month ({})", "hm³"))
        axes.level_axis(panels[-1], plan.reservoir, plan.units)
        axes.colour_bar(sheet, panels, _label(plan), _scale(plan), location="bottom", aspect=50)
        return first

    return plan_figure(plan, 4.3, draw, above=True)


def has_water_values(plan: Plan) -> bool:
    """Whether a plan has water values of any month and storage, and any is worth something."""
    if plan.water_values is None:
        return False
    return any(np.nanmax(np.abs(by_month_and_storage(plan, column)), initial=0.0) > 0 for column in PANELS)


def by_month_and_storage(plan: Plan, column: str) -> FloatArray:
    """Return a column of the table, shape (months, storages)."""
    assert plan.water_values is not None
    return plan.water_values.table[column].to_numpy(float).reshape(-1, LEVELS)


def draw_water_values(ax: Axes, plan: Plan, column: str) -> Axes:
    """Draw a cell for each month and storage, and the median storage of the plan; returns the axis."""
    assert plan.water_values is not None
    values, calendar = by_month_and_storage(plan, column), plan.inflow.calendar
    months = table_months(calendar)
    storages = plan.water_values.table["storage_hm3"].to_numpy(float)[:LEVELS]
    spacing = storages[1] - storages[0]
    columns, places = np.nonzero(np.isfinite(values))
    shown = values[columns, places] * plan.units.per_volume(1.0, plan.objective.unit)[0]
    axes.draw_cells(ax, columns, storages[places], spacing, shown, **_scale(plan))
    starts = plan.operation.storage_hm3[:, :-1]
    medians = [np.median(starts[:, calendar.begins_month & (calendar.months == month)]) for month in months]
    look: dict[str, Any] = {"color": REFERENCE, "lw": 1.1, "marker": "o", "ms": 2.5, "zorder": 3}
    label = "median storage of the plan" if len(starts) > 1 else "storage of the plan"
    ax.plot(np.arange(len(months)) + 0.5, medians, label=label, **look)
    ax.set_facecolor(OUTSIDE)
    ax.grid(visible=False)
    ax.set_ylim(storages[0] - spacing / 2, storages[-1] + spacing / 2)
    ax.yaxis.set_major_formatter(THOUSANDS)
    return axes.named_steps(ax, [MONTH_NAMES[month - 1][0] for month in months])


def _label(plan: Plan) -> str:
    """What the colour bar shows, in the units of the plan."""
    goal = plan.objective
    return f"Water value ({plan.units.per_volume(1.0, goal.unit or goal.title)[1]})"


def _scale(plan: Plan) -> dict[str, Any]:
    """Colours of all panels, in classes between round numbers of the unit that is shown."""
    values = np.concatenate([by_month_and_storage(plan, column).ravel() for column in PANELS])
    values = values[np.isfinite(values)] * plan.units.per_volume(1.0, plan.objective.unit)[0]
    low, high = min(float(values.min()), 0.0), float(np.quantile(values, _SCALE_QUANTILE))
    high = max(high, low + 1e-6)
    if low < 0 or high <= _SKEWED * float(np.median(values)):
        edges = np.asarray(MaxNLocator(_CLASSES, steps=axes.ROUND_STEPS).tick_values(low, high))
    else:  # few values are many times the others
        last = int(np.ceil(np.log10(high)))
        series = np.outer(10.0 ** np.arange(last - _DECADES, last + 1), [1, 2, 5]).ravel()
        edges = np.append(0.0, series[: int(np.searchsorted(series, high)) + 1])
    return axes.classes(_COLOURS, edges, above=bool(values.max() > edges[-1]))


def water_value_caption(plan: Plan) -> str | None:
    """How to read the figure; None where there is none."""
    if not has_water_values(plan):
        return None
    return (
        f"Value of one more {plan.units.unit_name('hm³')} in storage at the start of a month if all later inflows are "
        "known: the slope of the value function of dynamic programming. Each cell is a month and a storage; darker "
        "means more valuable. Grey: in no year can the plan be completed within its limits from this storage."
        f"{_PRICED if plan.operation.has_conditions or plan.objective.is_firm else ''}"
    )
