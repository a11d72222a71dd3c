"""Tables of a plan for reading: units in the heads, significant figures only."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.unit_system import UnitSystem
from reservoir.planning.checks import Check
from reservoir.planning.columns import BENEFIT, ResultColumn, shown_columns, table_of
from reservoir.planning.infeasible import counted
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import horizon_text, limits_word
from reservoir.planning.water_values import table_months
from reservoir.report.html.page import Column, HtmlTable
from reservoir.text.quantities import quantity

#: Members up to which each has a row; of more there are percentiles.
SHOWN_MEMBERS = 100
_PERCENTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def head(column: ResultColumn, units: UnitSystem, benefit: str = "") -> Column:
    """The head of a column of results in some units; `benefit` is the unit of the objective."""
    assert column.page is not None
    unit = column.unit.replace("m3", "m³") if column.page.unit is None else column.page.unit
    return Column(column.page.title, benefit if unit == BENEFIT else units.unit_name(unit))


def cell(column: ResultColumn, value: float, units: UnitSystem) -> str:
    """A value of a column of results as its cell, in some units."""
    assert column.page is not None
    return number(column.page.times * value / units.size(column.name), column.page.form)


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
    columns = shown_columns("summary", "page")
    shown = [column for column in columns if column.name in summary and summary[column.name].notna().any()]
    cells = [[cell(column, value, units) for value in summary[column.name].tolist()] for column in shown]
    source, names = ((Column("Schedule", text=True),), (plan.source.tolist(),)) if plan.sources else ((), ())
    return HtmlTable(
        name="yearly-table",
        caption=_yearly_caption(plan),
        columns=(Column(plan.year_word.capitalize(), text=True), *source, *(head(column, units) for column in shown)),
        rows=tuple(zip(plan.inflow.labels, *names, *cells, strict=True)),
        marked=frozenset(int(row) for row in np.flatnonzero(plan.violation > 0)),
    )


def member_table(members: pd.DataFrame, units: UnitSystem) -> HtmlTable:
    """A row a member; of many, percentiles of each quantity."""
    many, columns = len(members) > SHOWN_MEMBERS, shown_columns("members", "page")
    cells = [
        [
            cell(column, value, units)
            for value in (np.quantile(members[column.name], _PERCENTILES) if many else members[column.name])
        ]
        for column in columns
    ]
    names = [f"exceeded by {100 * (1 - part):g} %" for part in _PERCENTILES] if many else members["member"].tolist()
    caption = f"Percentiles of {len(members):,} members, per column. " if many else ""
    return HtmlTable(
        name="members-table",
        caption=f"{caption}Each member has {counted(int(members['years'].iloc[0]))}; means of its years.",
        columns=(
            Column("Members" if many else "Member", text=True),
            *(head(column, units) for column in columns),
        ),
        rows=tuple(zip(names, *cells, strict=True)),
    )


def monthly_table(plan: Plan) -> HtmlTable:
    """The median of every quantity over the years that keep their limits, a row a month of the water year."""
    of_steps, months = table_of("schedule", plan), table_months(plan.inflow.calendar).tolist()
    columns = [column for column in shown_columns("schedule", "page") if column.name in of_steps]
    cells = [
        [cell(column, _median(of_steps[column.name][plan.keeps_limits], plan, month), plan.units) for month in months]
        for column in columns
    ]
    rows = tuple(zip([MONTH_NAMES[month - 1] for month in months], *cells, strict=True))
    return HtmlTable(
        name="monthly-table",
        caption=f"Medians over {kept_years(plan)}, per column.",
        columns=(Column("Month", text=True), *(head(column, plan.units) for column in columns)),
        rows=rows,
    )


def _median(values: NDArray[np.float64], plan: Plan, month: int) -> float:
    """Of the steps of a calendar month, which a year may have twice; not a number without years."""
    return float(np.median(values[:, plan.inflow.calendar.months == month])) if len(values) else math.nan


def number(value: float, form: str) -> str:
    """Write a number with a true minus sign; a dash where there is none, no sign on what rounds to 0."""
    if not math.isfinite(value):
        return "–"
    text = form.format(value) if form else quantity(value)
    if float(text.replace(",", "")) == 0:
        return form.format(0.0) if form and "e" not in form else "0"
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
