"""Tables of a plan for reading: units in the heads, significant figures only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.unit_system import UnitSystem
from reservoir.planning.checks import Check
from reservoir.planning.infeasible import counted
from reservoir.planning.plan import Plan
from reservoir.planning.schedule import step_columns
from reservoir.planning.sentences import horizon_text, limits_word
from reservoir.planning.water_values import table_months
from reservoir.report.html.page import Column, HtmlTable
from reservoir.text.quantities import quantity

#: The form of a quantity that may be large or small (`reservoir.text.quantities`).
QUANTITY = ""


@dataclass(frozen=True)
class ResultColumn:
    """A column of results: name in its table, head, unit, form of its numbers, and how many of its units are one."""

    name: str
    title: str
    unit: str = ""
    form: str = QUANTITY
    times: float = 1.0

    def head(self, units: UnitSystem) -> Column:
        """The head of the column, in some units."""
        return Column(self.title, units.unit_name(self.unit))

    def written(self, value: float, units: UnitSystem) -> str:
        """Write a value as its cell, in some units."""
        return number(self.times * value / units.size(self.name), self.form)


#: Quantities of the schedule whose medians are shown.
_MONTHLY = (
    ResultColumn("inflow_m3s", "Inflow", "m³/s", "{:,.0f}"),
    ResultColumn("release_m3s", "Release", "m³/s", "{:,.0f}"),
    ResultColumn("turbined_m3s", "Turbined", "m³/s", "{:,.0f}"),
    ResultColumn("spill_m3s", "Spilled", "m³/s", "{:,.0f}"),
    ResultColumn("storage_end_hm3", "Storage at end", "hm³", "{:,.0f}"),
    ResultColumn("level_m", "Level at end", "m", "{:,.1f}"),
    ResultColumn("head_m", "Head", "m", "{:,.1f}"),
    ResultColumn("power_mw", "Power", "MW", "{:,.0f}"),
    ResultColumn("energy_gwh", "Energy", "GWh", "{:,.0f}"),
)
#: Quantities of the summary.
_YEARLY = (
    ResultColumn("inflow_mean_m3s", "Mean inflow", "m³/s", "{:,.0f}"),
    ResultColumn("energy_gwh", "Energy", "GWh", "{:,.1f}"),
    ResultColumn("objective", "Objective"),
    ResultColumn("firm_power_mw", "Firm power", "MW"),
    ResultColumn("storage_change_hm3", "Change of storage", "hm³", "{:,.1f}"),
    ResultColumn("spill_hm3", "Spill", "hm³", "{:,.1f}"),
    ResultColumn("evaporation_hm3", "Evaporation", "hm³", "{:,.1f}"),
    ResultColumn("seepage_hm3", "Seepage", "hm³", "{:,.1f}"),
    ResultColumn("withdrawal_hm3", "Withdrawal", "hm³", "{:,.1f}"),
    ResultColumn("shortage_hm3", "Shortage", "hm³", "{:,.1f}"),
    ResultColumn("violation", "Violation", "relative", "{:.3g}"),
    ResultColumn("reference_gwh", "Reference optimum", "GWh", "{:,.1f}"),
    ResultColumn("reference_objective", "Reference objective"),
    ResultColumn("reference_violation", "Reference violation", "relative", "{:.3g}"),
    ResultColumn("gap", "Gap", "relative", "{:.1e}"),
    ResultColumn("proven_bound", "Proven bound"),
    ResultColumn("proven_gap", "Proven gap", "relative", "{:.1e}"),
    ResultColumn("engine_gap", "Gap of the solver's own", "relative", "{:.1e}"),
    ResultColumn("generations", "Generations", "", "{:,.0f}"),
)
#: Quantities of members; up to so many have a row each, and of more there are percentiles.
_MEMBERS = (
    ResultColumn("inflow_mean_m3s", "Mean inflow", "m³/s", "{:,.0f}"),
    ResultColumn("energy_gwh", "Energy", "GWh a year", "{:,.1f}"),
    ResultColumn("lowest_energy_gwh", "Poorest year", "GWh", "{:,.1f}"),
    ResultColumn("firm_power_mw", "Firm power", "MW", "{:,.0f}"),
    ResultColumn("spill_hm3", "Spill", "hm³ a year", "{:,.1f}"),
    ResultColumn("storage_mean_hm3", "Mean storage", "hm³", "{:,.0f}"),
    ResultColumn("lowest_storage_hm3", "Lowest storage", "hm³", "{:,.0f}"),
    ResultColumn("violating_years", "Years that violate limits", "", "{:,.0f}"),
)
SHOWN_MEMBERS = 100
_PERCENTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def acceptance_table(checks: Sequence[Check], units: UnitSystem, name: str = "acceptance-table") -> HtmlTable:
    """Every check with its value, threshold and verdict."""
    return HtmlTable(
        name=name,
        caption="A check passes if its value is within the threshold.",
        columns=(Column("Check", text=True), Column("Value"), Column("Threshold"), Column("Pass")),
        rows=tuple(_checked(check.in_units(units)) for check in checks),
        marked=frozenset(row for row, check in enumerate(checks) if check.passed is False),
    )


def yearly_table(plan: Plan) -> HtmlTable:
    """One row a year; years outside their bounds are marked."""
    summary, units = plan.summary(), plan.units
    shown = [column for column in _YEARLY if column.name in summary and summary[column.name].notna().any()]
    cells = [[column.written(value, units) for value in summary[column.name].tolist()] for column in shown]
    source, names = ((Column("Schedule", text=True),), (plan.source.tolist(),)) if plan.sources else ((), ())
    return HtmlTable(
        name="yearly-table",
        caption=_yearly_caption(plan),
        columns=(Column(plan.year_word.capitalize(), text=True), *source, *(column.head(units) for column in shown)),
        rows=tuple(zip(plan.inflow.labels, *names, *cells, strict=True)),
        marked=frozenset(int(row) for row in np.flatnonzero(plan.violation > 0)),
    )


def member_table(members: pd.DataFrame, units: UnitSystem) -> HtmlTable:
    """A row a member; of many, percentiles of each quantity."""
    many = len(members) > SHOWN_MEMBERS
    cells = [
        [
            column.written(value, units)
            for value in (np.quantile(members[column.name], _PERCENTILES) if many else members[column.name])
        ]
        for column in _MEMBERS
    ]
    names = [f"exceeded by {100 * (1 - part):g} %" for part in _PERCENTILES] if many else members["member"].tolist()
    caption = f"Percentiles of {len(members):,} members, per column. " if many else ""
    return HtmlTable(
        name="members-table",
        caption=f"{caption}Each member has {counted(int(members['years'].iloc[0]))}; means of its years.",
        columns=(
            Column("Members" if many else "Member", text=True),
            *(column.head(units) for column in _MEMBERS),
        ),
        rows=tuple(zip(names, *cells, strict=True)),
    )


def monthly_table(plan: Plan) -> HtmlTable:
    """The median of every quantity over the years that keep their limits, a row a month of the water year."""
    of_steps, months = step_columns(plan.inflow, plan.operation), table_months(plan.inflow.calendar).tolist()
    columns = [
        [column.written(_median(of_steps[column.name][plan.keeps_limits], plan, month), plan.units) for month in months]
        for column in _MONTHLY
    ]
    rows = tuple(zip([MONTH_NAMES[month - 1] for month in months], *columns, strict=True))
    return HtmlTable(
        name="monthly-table",
        caption=f"Medians over {kept_years(plan)}, per column.",
        columns=(Column("Month", text=True), *(column.head(plan.units) for column in _MONTHLY)),
        rows=rows,
    )


def _median(values: NDArray[np.float64], plan: Plan, month: int) -> float:
    """Of the steps of a calendar month, which a year may have twice; not a number without years."""
    return float(np.median(values[:, plan.inflow.calendar.months == month])) if len(values) else math.nan


def number(value: float, form: str) -> str:
    """Write a number with a true minus sign; a dash where there is none, no sign on what rounds to 0."""
    if not math.isfinite(value):
        return "–"
    text = quantity(value) if form == QUANTITY else form.format(value)
    if float(text.replace(",", "")) == 0:
        return form.format(0.0) if "e" not in form and form != QUANTITY else "0"
    return text.replace("-", "−")


def kept_years(plan: Plan) -> str:
    """Write how many years are in means, sums and medians: those within their limits."""
    kept = counted(int(plan.keeps_limits.sum()), plan.year_word)
    return kept if plan.keeps_limits.all() else f"the {kept} within {limits_word(plan)}"


def _checked(check: Check) -> tuple[str, str, str, str]:
    if check.threshold is None:
        return check.check, number(check.value, "{:.3g}"), "–", "–"
    threshold = f"{'≥' if check.at_least else '≤'} {number(check.threshold, '{:.3g}')}"
    return check.check, number(check.value, "{:.3g}"), threshold, "yes" if check.passed else "NO"


def _yearly_caption(plan: Plan) -> str:
    how = "each optimised independently" if plan.horizon.is_year else f"optimised in {horizon_text(plan)}"
    said = [f"{counted(plan.inflow.years, plan.year_word)}, {how}."]
    if plan.references:
        what = "" if plan.horizon.is_year else " of the problem of a year"
        said.append(f"Gap{what}: relative difference to the reference optimum of dynamic programming.")
    if plan.sources:
        said.append("Schedule: whose it is, the solver's, that of its second run, or the reference optimum.")
    if (plan.violation > 0).any():
        said.append(f"Marked years violate their {limits_word(plan)}.")
    if plan.references and not plan.feasible.all():
        said.append(
            "If no schedule satisfies them, the reference violates them too: compare violations, there is no gap."
        )
    return " ".join(said)
