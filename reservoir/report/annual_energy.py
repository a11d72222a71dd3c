"""Energy of every year of a plan, and what it spilled."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from reservoir.plan import Plan
from reservoir.report.axes import THOUSANDS, name_lines, written, year_axis
from reservoir.report.style import DASHES, LIMITS, POWER, REFERENCE, SPILL, figure_style, new_figure, settled

FloatArray = NDArray[np.float64]

#: Part of a year's inflow; less is not counted as spill, for a search leaves traces of it everywhere.
LEAST_SPILL = 1e-3
#: More years than this are drawn without gaps between bars, which would be thinner than a pixel.
MANY_YEARS = 120


def annual_energy_figure(plan: Plan) -> Figure:
    """Draw the energy, and under it the spill if any year spills."""
    spills = bool(spilling(plan).any())
    with figure_style():
        figure, sheet = new_figure(plan, 4.4 if spills else 3.6)
        if spills:
            upper, lower = sheet.subplots(2, 1, sharex=True, height_ratios=[4, 1])
            draw_annual_spill(lower, plan)
        else:
            upper = sheet.add_subplot()
        draw_annual_energy(upper, plan)
        upper.set_title("Energy of each year")
        if spills:
            upper.set_xlabel("")
        return settled(figure)


def draw_annual_energy(ax: Axes, plan: Plan) -> Axes:
    """Draw a bar a year, with the mean and the guaranteed energy; returns the axis."""
    _draw_bars(ax, plan, plan.energy_gwh, POWER, 0.8)
    lines = _energy_lines(plan)
    for height, _, colour in lines:
        ax.axhline(height, color=colour, lw=1.2, ls="-" if colour == REFERENCE else DASHES, zorder=3)
    top = max([float(plan.energy_gwh.max()), *(height for height, _, _ in lines)])
    ax.set_ylim(0, 1.05 * top or 1.0)
    name_lines(ax, lines)
    ax.set_ylabel("Energy (GWh)")
    return ax


def _energy_lines(plan: Plan) -> list[tuple[float, str, str]]:
    mean, guaranteed = float(plan.energy_gwh.mean()), plan.reservoir.guaranteed_energy_gwh
    lines = [(mean, f"mean\n{written(mean)} GWh", REFERENCE)] if len(plan.years) > 1 else []
    if guaranteed is not None:
        lines.append((guaranteed, f"guaranteed\n{written(guaranteed)} GWh", LIMITS))
    return lines


def draw_annual_spill(ax: Axes, plan: Plan) -> Axes:
    """Draw what every year released past the turbines, as thin bars; returns the axis."""
    _draw_bars(ax, plan, annual_spill_hm3(plan), SPILL, 0.35)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(MaxNLocator(3))
    ax.set_ylabel("Spill (hm³)")
    return ax


def annual_spill_hm3(plan: Plan) -> FloatArray:
    """Volume released past the turbines in each year, shape (years,)."""
    return np.asarray((plan.spill_m3s * plan.inflow.calendar.volume_per_flow).sum(axis=1))


def spilling(plan: Plan) -> NDArray[np.bool_]:
    """Which years spill a part of their inflow worth naming, shape (years,)."""
    volume = (plan.inflow.flow_m3s * plan.inflow.calendar.volume_per_flow).sum(axis=1)
    return np.asarray(annual_spill_hm3(plan) > LEAST_SPILL * volume)


def caption(plan: Plan) -> str:
    """How to read the figure."""
    spill = annual_spill_hm3(plan)
    count, years = int(spilling(plan).sum()), len(spill)
    least = f"more than {100 * LEAST_SPILL:g} % of"
    who = f"{count} of {years} years spill {least} their inflow" if count else f"no year spills {least} its inflow"
    return (
        f"The best energy of every year with its inflow known in advance; {who}, and all "
        f"that is spilled comes to {written(spill.sum())} hm³."
    )


def _draw_bars(ax: Axes, plan: Plan, values: FloatArray, colour: str, width: float) -> None:
    calendar = plan.inflow.calendar
    many = calendar.years > MANY_YEARS
    ax.bar(list(calendar.start_years), values, width=1.0 if many else width, color=colour, lw=0, zorder=2)
    year_axis(ax, calendar)
    ax.yaxis.set_major_formatter(THOUSANDS)
