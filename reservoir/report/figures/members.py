"""The members of an ensemble: how many of them exceed an energy, a firm power, a spill, a storage."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

from reservoir.hydro.unit_system import UnitSystem
from reservoir.planning.infeasible import counted
from reservoir.planning.members import FIRM_QUANTILE, members_table
from reservoir.planning.plan import Plan
from reservoir.report.figures.axes import THOUSANDS
from reservoir.report.figures.style import LIMITS, POWER, SPILL, STORAGE, plan_figure
from reservoir.text.quantities import quantity

#: Panels: a column of the table of members, its title, unit and colour.
_PANELS = (
    ("energy_gwh", "Mean annual energy", "GWh", POWER),
    ("firm_power_mw", "Firm power", "MW", POWER),
    ("spill_hm3", "Mean annual spill", "hm³", SPILL),
    ("lowest_storage_hm3", "Lowest storage", "hm³", STORAGE),
)
#: Members that are marked one by one.
_MOST_MARKED = 60


def members_figure(plan: Plan) -> Figure | None:
    """Draw the panels; None where the plan is of no ensemble of several members."""
    table = members_table(plan)
    return (
        None
        if table is None or len(table) < 2
        else plan_figure(plan, 4.4, lambda sheet: _draw(sheet, table, plan.units))
    )


def _draw(sheet: SubFigure, table: pd.DataFrame, units: UnitSystem) -> None:
    for ax, (name, title, unit, colour) in zip(sheet.subplots(2, 2).flat, _PANELS, strict=True):
        draw_exceedance(ax, table[name].to_numpy(float) / units.size(name), colour)
        ax.set(title=title, ylabel=units.label(unit))
    for ax in sheet.axes[2:]:
        ax.set_xlabel("Exceedance (% of members)")


def draw_exceedance(ax: Axes, values: NDArray[np.float64], colour: str) -> Axes:
    """Draw values in descending order over the part of them that is as large; returns the axis."""
    ordered = np.sort(values)[::-1]
    percent = 100 * (np.arange(len(ordered)) + 0.5) / len(ordered)
    ax.plot(percent, ordered, color=colour, marker="o" if len(ordered) <= _MOST_MARKED else "", ms=3)
    middle = float(np.median(values))
    ax.axhline(middle, color=LIMITS, lw=0.8, zorder=1.5)
    ax.annotate(
        f"median {quantity(middle)}",
        (100, middle),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        color=LIMITS,
        fontsize=7.5,
    )
    ax.set_xlim(0, 100)
    ax.yaxis.set_major_formatter(THOUSANDS)
    return ax


def caption(plan: Plan) -> str | None:
    """How to read the figure; None where there is none."""
    if plan.inflow.members is None or len(plan.inflow.members) < 2:
        return None
    count, each = f"{len(plan.inflow.members):,}", counted(plan.inflow.calendar.years_each)
    firm = f"{100 * (1 - FIRM_QUANTILE):g} % of the months"
    return (
        f"Each point is one of {count} members of {each}; members.csv lists them. Firm power is the mean power of a "
        f"month that is exceeded in {firm}; the lowest storage is that at the end of any month. Each year is operated "
        "with its inflow known in advance, and years that violate their limits are included."
    )
