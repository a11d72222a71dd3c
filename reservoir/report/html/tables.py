"""Tables of a plan, written for reading: units in their heads, and no more figures than mean something."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.planning.checks import Check
from reservoir.planning.infeasible import counted
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import horizon_text
from reservoir.report.html.page import Column, HtmlTable
from reservoir.text.quantities import quantity

#: Quantities of the schedule whose medians are shown: column, title, unit, decimals.
_MONTHLY = (
    ("inflow_m3s", "Inflow", "m³/s", 0),
    ("release_m3s", "Release", "m³/s", 0),
    ("turbined_m3s", "Turbined", "m³/s", 0),
    ("spill_m3s", "Spilled", "m³/s", 0),
    ("storage_end_hm3", "Storage at end", "hm³", 0),
    ("level_m", "Level at end", "m", 1),
    ("head_m", "Head", "m", 1),
    ("power_mw", "Power", "MW", 0),
    ("energy_gwh", "Energy", "GWh", 0),
)
#: The form of a quantity that may be large or small (`reservoir.text.quantities`).
QUANTITY = ""
#: Quantities of the summary.
_YEARLY = (
    ("inflow_mean_m3s", "Mean inflow", "m³/s", "{:,.0f}"),
    ("energy_gwh", "Energy", "GWh", "{:,.1f}"),
    ("storage_change_hm3", "Change of storage", "hm³", "{:,.1f}"),
    ("spill_hm3", "Spill", "hm³", "{:,.1f}"),
    ("violation", "Violation", "sum of parts", "{:.3g}"),
    ("reference_gwh", "Reference optimum", "GWh", "{:,.1f}"),
    ("reference_violation", "Its violation", "sum of parts", "{:.3g}"),
    ("gap", "Gap to it", "part", "{:.1e}"),
    ("generations", "Generations", "", "{:,.0f}"),
)


def acceptance_table(checks: Sequence[Check], name: str = "acceptance-table") -> HtmlTable:
    """What is claimed, what was measured, and whether the claim holds."""
    return HtmlTable(
        name=name,
        caption="Claims, measured. A value passes within its threshold.",
        columns=(Column("Check", text=True), Column("Value"), Column("Threshold"), Column("Pass")),
        rows=tuple(_checked(check) for check in checks),
        marked=frozenset(row for row, check in enumerate(checks) if not check.passed),
    )


def yearly_table(plan: Plan) -> HtmlTable:
    """One row a year; years outside their bounds are marked."""
    summary = plan.summary()
    given = [column for column in _YEARLY if column[0] in summary and summary[column[0]].notna().any()]
    shown = [(name, Column(title, unit), form) for name, title, unit, form in given]
    cells = [[number(value, form) for value in summary[name].tolist()] for name, _, form in shown]
    return HtmlTable(
        name="yearly-table",
        caption=_yearly_caption(plan),
        columns=(Column("Year", text=True), *(column for _, column, _ in shown)),
        rows=tuple(zip(plan.inflow.labels, *cells, strict=True)),
        marked=frozenset(int(row) for row in np.flatnonzero(plan.violation > 0)),
    )


def monthly_table(plan: Plan) -> HtmlTable:
    """The median of every quantity over the years that keep their limits, a row a month of the water year."""
    kept = np.repeat(plan.keeps_limits, plan.inflow.calendar.steps)
    medians = plan.schedule()[kept].drop(columns="year").groupby("month").median()
    months = [int(month) for month in plan.inflow.calendar.months]
    columns = [
        [number(value, f"{{:,.{places}f}}") for value in medians[name].reindex(months)]
        for name, _, _, places in _MONTHLY
    ]
    rows = tuple(zip([MONTH_NAMES[month - 1] for month in months], *columns, strict=True))
    return HtmlTable(
        name="monthly-table",
        caption=f"Medians over {kept_years(plan)}, each column by itself.",
        columns=(Column("Month", text=True), *(Column(title, unit) for _, title, unit, _ in _MONTHLY)),
        rows=rows,
    )


def number(value: float, form: str) -> str:
    """Write a number with a true minus sign; a dash where there is none, no sign on what rounds to 0."""
    if not math.isfinite(value):
        return "–"
    text = quantity(value) if form == QUANTITY else form.format(value)
    if float(text.replace(",", "")) == 0:
        return form.format(0.0) if "e" not in form and form != QUANTITY else "0"
    return text.replace("-", "−")


def kept_years(plan: Plan) -> str:
    """Write of how many years means, sums and medians are: those that keep their limits."""
    kept = counted(int(plan.keeps_limits.sum()), "year")
    return kept if plan.keeps_limits.all() else f"the {kept} that keep {'its' if kept == '1 year' else 'their'} limits"


def _checked(check: Check) -> tuple[str, str, str, str]:
    threshold = f"{'≥' if check.at_least else '≤'} {number(check.threshold, '{:.3g}')}"
    return check.check, number(check.value, "{:.3g}"), threshold, "yes" if check.passed else "NO"


def _yearly_caption(plan: Plan) -> str:
    how = "each optimised by itself" if plan.horizon.is_year else f"optimised in {horizon_text(plan)}"
    said = [f"{counted(plan.inflow.years, 'year')}, {how}."]
    if plan.references:
        what = "a year" if plan.horizon.is_year else "the problem of a year"
        said.append(f"The gap is the part by which {what} falls short of the reference optimum of dynamic programming.")
    if (plan.violation > 0).any():
        said.append("Marked years leave their bounds of storage.")
    if plan.references and not plan.feasible.all():
        said.append("Where no schedule keeps them, the reference leaves them too: there is no gap, compare violations.")
    return " ".join(said)
