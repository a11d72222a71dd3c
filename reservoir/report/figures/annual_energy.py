"""Energy and spill of every year of a plan, and how many members of an ensemble exceed an energy or a spill."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import StepPatch
from numpy.typing import NDArray

from reservoir.hydro.unit_system import labelled
from reservoir.planning.checks import BALANCE_TOLERANCE
from reservoir.planning.columns import FIRM_QUANTILE
from reservoir.planning.operated_record import members_table
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import horizon_text, left_out_sentence, limits_word, reference_sentence
from reservoir.report.figures import axes, style
from reservoir.report.figures.axes import THOUSANDS, FloatArray, name_lines
from reservoir.report.figures.style import DASHES, LIMITS, POWER, REFERENCE, SPILL, STORAGE, plan_figure, titled
from reservoir.text.quantities import counted, quantity

#: Part of a year's inflow; less is not counted as spill, for a search leaves traces of it everywhere.
LEAST_SPILL = 1e-3
#: More years than this are drawn as one shape without gaps between bars, which would be thinner than a pixel.
MANY_YEARS = 120
#: How strong the colour of a bar is that is not in the mean.
LEFT_OUT = 0.35


def annual_energy_figure(plan: Plan) -> Figure:
    """Draw the energy; under it the change of storage of a long horizon, and the spill if any year spills."""
    below = [draw_objective] if plan.benefit.any() and not (plan.objective.is_energy or plan.objective.is_firm) else []
    below += [draw_storage_change] if not plan.horizon.is_year and storage_change_hm3(plan).any() else []
    below += [draw_annual_spill] if spilling(plan).any() else []

    def draw(sheet: SubFigure) -> Axes | None:
        heights = [4, *[1 for _ in below]]
        upper: Axes
        upper, *lower = sheet.subplots(len(heights), 1, sharex=True, height_ratios=heights, squeeze=False)[:, 0]
        for draw_below, ax in zip(below, lower, strict=True):
            draw_below(ax, plan)
        draw_annual_energy(upper, plan)
        panels = [upper, *lower]
        for ax in panels[:-1]:
            ax.set_xlabel("")
        if plan.start:
            panels[-1].set_xlabel("Inflow of the year")
        return titled(upper, "Energy of each scenario" if plan.start else "Annual energy")

    return plan_figure(plan, 3.6 + 0.8 * len(below), draw)


def draw_annual_energy(ax: Axes, plan: Plan) -> Axes:
    """Draw a bar a year, with the mean and the guaranteed energy; returns the axis.

    Years that violate their limits are paler, marked, and excluded from the mean. Those that hold the schedule of the
    reference have a mark at the foot of their bar.
    """
    _draw_bars(ax, plan, plan.energy_gwh, POWER, 0.8)
    years, left_out, taken = np.array(plan.inflow.calendar.start_years), ~plan.keeps_limits, plan.from_reference
    if left_out.any():
        label = f"violates its {limits_word(plan)}: excluded from the mean"
        ax.plot(years[left_out], plan.energy_gwh[left_out], **style.OUTSIDE_MARK, label=label)
    if taken.any():
        places = np.full(int(taken.sum()), 0.03 * float(plan.energy_gwh.max()))
        ax.plot(years[taken], places, **style.REFERENCE_MARK, label=f"schedule of {plan.references.solver}")
    energy, guaranteed = plan.kept_energy_gwh, plan.reservoir.guaranteed_energy_gwh
    lines = [(float(energy.mean()), f"mean\n{quantity(energy.mean())} GWh", REFERENCE)] if energy.size > 1 else []
    if guaranteed is not None:
        lines.append((guaranteed, f"guaranteed\n{quantity(guaranteed)} GWh", LIMITS))
    for height, _, colour in lines:
        ax.axhline(height, color=colour, lw=1.2, ls="-" if colour == REFERENCE else DASHES, zorder=3)
    top = max([float(plan.energy_gwh.max()), *(height for height, _, _ in lines)])
    ax.set_ylim(0, 1.05 * top or 1.0)
    name_lines(ax, lines)
    ax.set_ylabel("Energy (GWh)")
    return ax


def draw_annual_spill(ax: Axes, plan: Plan) -> Axes:
    """Draw the spill of every year as thin bars; returns the axis."""
    _draw_bars(ax, plan, annual_spill_hm3(plan), SPILL, 0.35)
    ax.set_ylim(bottom=0)
    return axes.quantity_axis(ax, labelled("Spill\n({})", "hm³"), 3)


def draw_objective(ax: Axes, plan: Plan) -> Axes:
    """Draw what is optimised in every year, where that is not energy; returns the axis."""
    objective = plan.objective
    title = objective.title.partition(" at ")[0].replace(" ", "\n") if objective.single else "objective"
    _draw_bars(ax, plan, plan.benefit, style.OBJECTIVE, 0.8)
    ax.axhline(0, color=LIMITS, lw=0.8, zorder=3)
    unit = "\n({})".format(objective.unit.replace(" ", "\n")) if objective.unit else ""
    return axes.quantity_axis(ax, title[:1].upper() + title[1:] + unit, 3)


def draw_storage_change(ax: Axes, plan: Plan) -> Axes:
    """Draw what every year added to the storage, or took from it; returns the axis."""
    _draw_bars(ax, plan, storage_change_hm3(plan), STORAGE, 0.8)
    ax.axhline(0, color=LIMITS, lw=0.8, zorder=3)
    return axes.quantity_axis(ax, labelled("Change of\nstorage\n({})", "hm³"), 3)


def storage_change_hm3(plan: Plan) -> FloatArray:
    """What each year added to the storage, shape (years,); what rounding leaves is none."""
    storage = plan.operation.storage_hm3
    change = storage[:, -1] - storage[:, 0]
    return np.where(np.abs(change) > BALANCE_TOLERANCE * storage.max(), change, 0.0)


def annual_spill_hm3(plan: Plan) -> FloatArray:
    """Volume spilled in each year, shape (years,)."""
    return np.asarray((plan.spill_m3s * plan.inflow.calendar.hm3_per_m3s).sum(axis=1))


def spilling(plan: Plan) -> NDArray[np.bool_]:
    """Which years spill more than `LEAST_SPILL` of their inflow, shape (years,)."""
    volume = (plan.inflow.flow_m3s * plan.inflow.calendar.hm3_per_m3s).sum(axis=1)
    return np.asarray(annual_spill_hm3(plan) > LEAST_SPILL * volume)


def annual_energy_caption(plan: Plan) -> str:
    """How to read the figure."""
    spill = annual_spill_hm3(plan)[plan.keeps_limits]
    count, years = int(spilling(plan)[plan.keeps_limits].sum()), len(spill)
    least = f"more than {100 * LEAST_SPILL:g} % of"
    who = f"{count} of {years} years spill {least} their inflow" if count else f"No year spills {least} its inflow"
    best = f"Optimal energy of each {plan.year_word}, with its inflow known in advance"
    if not plan.horizon.is_year:
        best = f"Energy of each year in the optimal operation of {horizon_text(plan)}, with all inflow known in advance"
    text = f"{best}. {who}; the total spill is {plan.units.stated(float(spill.sum()), 'hm³')}."
    marks = left_out_sentence(plan, "marked"), reference_sentence(plan, "marked by a circle")
    return " ".join(filter(None, (text, *marks)))


def _draw_bars(ax: Axes, plan: Plan, values: FloatArray, colour: str, width: float) -> None:
    calendar = plan.inflow.calendar
    years, kept = np.array(calendar.start_years), plan.keeps_limits
    for these, shown in ((kept, colour), (~kept, style.tint(colour, LEFT_OUT))):
        if calendar.years > MANY_YEARS and these.any():
            # Bars without gaps as `Axes.stairs` draws them, but for its search of thousands of lines for extremes.
            edges, heights = np.append(years, years[-1] + 1) - 0.5, np.where(these, values, 0)
            shape = StepPatch(heights, edges, fill=True, facecolor=shown, lw=0, zorder=2)
            ax.add_artist(shape).sticky_edges.y.append(0)
            ax.update_datalim([(edges[0], min(heights.min(), 0)), (edges[-1], max(heights.max(), 0))])
            ax.autoscale_view()
        elif these.any():
            ax.bar(list(years[these]), values[these], width=width, color=shown, lw=0, zorder=2)
    axes.year_axis(ax, calendar)
    ax.yaxis.set_major_formatter(THOUSANDS)


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
    table, units = members_table(plan), plan.units
    if table is None or len(table) < 2:
        return None

    def draw(sheet: SubFigure) -> None:
        for ax, (name, title, unit, colour) in zip(sheet.subplots(2, 2).flat, _PANELS, strict=True):
            draw_exceedance(ax, table[name].to_numpy(float) / units.size(name), colour)
            ax.set(title=title, ylabel=units.unit_name(unit))
        for ax in sheet.axes[2:]:
            ax.set_xlabel("Exceedance (% of members)")

    return plan_figure(plan, 4.4, draw)


def draw_exceedance(ax: Axes, values: NDArray[np.float64], colour: str) -> Axes:
    """Draw values in descending order over the part of them that is as large; returns the axis."""
    percent, ordered = axes.duration_curve(values)
    ax.plot(percent, ordered, color=colour, marker="o" if len(ordered) <= _MOST_MARKED else "", ms=3)
    middle = float(np.median(values))
    ax.axhline(middle, color=LIMITS, lw=0.8, zorder=1.5)
    axes.write_beside(ax, f"median {quantity(middle)}", (100, middle), (-2, 3), ha="right", fontsize=7.5)
    ax.set_xlim(0, 100)
    ax.yaxis.set_major_formatter(THOUSANDS)
    return ax


def members_caption(plan: Plan) -> str | None:
    """How to read the figure; None where there is none."""
    if plan.inflow.members is None or len(plan.inflow.members) < 2:
        return None
    count, years = f"{len(plan.inflow.members):,}", counted(plan.inflow.calendar.years_each)
    firm = f"{100 * (1 - FIRM_QUANTILE):g} % of the months"
    return (
        f"Each point is one of {count} members of {years}; members.csv lists them. Firm power is the mean power of a "
        f"month that is exceeded in {firm}; the lowest storage is that at the end of any month. Each year is operated "
        "with its inflow known in advance, and years that violate their limits are included."
    )
