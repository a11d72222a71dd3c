"""Tables of a plan for reading: units in the heads, significant figures only."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reservoir.hydro.calendar import MONTH_NAMES
from reservoir.hydro.unit_system import UnitSystem
from reservoir.planning.checks import Check, failed_sentences, passed_sentence
from reservoir.planning.columns import AFTER_PROOF, BENEFIT, ResultColumn, shown_columns, table_of
from reservoir.planning.plan import Plan
from reservoir.planning.sentences import horizon_text, limits_word
from reservoir.planning.water_values import table_months
from reservoir.report.html.page import Column, HtmlTable, Section
from reservoir.text.quantities import counted, decimals_of, quantity

if TYPE_CHECKING:
    import pandas as pd

#: In place of a number.
NOTHING = "–"
#: Forms of quantities with so many decimals at least; shares have others.
_QUANTITY = re.compile(r"\{:,\.(\d)f\}")
#: Units of quantities that have as many decimals in all columns of a table.
_ALIKE = ("m3/s", "GWh", BENEFIT)
#: Members up to which each has a row; of more there are percentiles.
SHOWN_MEMBERS = 100
_PERCENTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def result_table(
    name: str,
    caption: str,
    names: Mapping[str, Sequence[str]],
    columns: Sequence[ResultColumn],
    values: Mapping[str, Sequence[float]],
    units: UnitSystem,
    *,
    benefit: str = "",
    marked: Iterable[int] = (),
    scales: Mapping[str, float] | None = None,
) -> HtmlTable:
    """A table of results for reading, in some units: quantities of a unit have as many decimals.

    Parameters
    ----------
    name, caption : str
    names : mapping of str to sequence of str
        What names each row: columns of text by their heads.
    columns : sequence of ResultColumn
        Those that pages show.
    values : mapping of str to sequence of float
        Numbers of the rows, by names of columns, and maybe others.
    units : UnitSystem
    benefit : str
        The unit of the objective.
    marked : iterable of int
        Rows that need attention.
    scales : mapping of str to float, optional
        Beside what numbers of columns are small, as spill is beside the inflow; by default their own largest.
    """
    heads, cells = [Column(title, text=True) for title in names], list[list[str]]()
    largest = dict.fromkeys(_ALIKE, 0.0)
    for column in columns:
        if column.unit in _ALIKE:
            known = (abs(value) for value in values[column.name] if math.isfinite(value))
            largest[column.unit] = max(largest[column.unit], *known, 0.0)
    for column in columns:
        page = column.page
        assert page is not None
        unit = column.unit if page.unit is None else page.unit
        heads.append(Column(page.title, benefit if unit == BENEFIT else units.unit_name(unit)))
        size = units.size(column.name)
        numbers = [page.times * value / size for value in values[column.name]]
        scale = max(largest.get(column.unit, 0.0), (scales or {}).get(column.name, 0.0))
        form = column_form(numbers, page.form, scale / size)
        cells.append([number(value, form) for value in numbers])
    return HtmlTable(name, caption, tuple(heads), tuple(zip(*names.values(), *cells, strict=True)), frozenset(marked))


def column_form(numbers: Sequence[float], form: str, scale: float = 0.0) -> str:
    """The form of all numbers of a column: of quantities more decimals than a form has where three figures need them.

    Without a form they have four. Whole numbers, such as counts, and other forms stay as they are.
    """
    known = [value for value in numbers if math.isfinite(value)]
    fixed = _QUANTITY.fullmatch(form or "{:,.0f}")
    if fixed is None or (form and all(value == int(value) for value in known)):
        return form
    largest = max(scale, *map(abs, known)) if known else 0.0
    return f"{{:,.{max(int(fixed[1]), decimals_of(largest, 3 if form else 4))}f}}"


def without_constants(table: HtmlTable) -> HtmlTable:
    """A table without the columns that say the same in every row, which the caption says once."""
    columns = range(1, len(table.columns))
    same = [place for place in columns if len({row[place] for row in table.rows}) == 1]
    if len(table.rows) < 2 or len(same) == len(columns):
        return table
    left = [place for place in range(len(table.columns)) if place not in same]
    told = ", ".join(
        " ".join((table.columns[place].title.lower(), cell, table.columns[place].unit.removeprefix("relative"))).strip()
        for place in same
        if (cell := _shortest(table.rows[0][place])) != NOTHING
    )
    return replace(
        table,
        caption=f"{table.caption} In every row: {told}.".strip() if told else table.caption,
        columns=tuple(table.columns[place] for place in left),
        rows=tuple(tuple(row[place] for place in left) for row in table.rows),
    )


def without_repeats(table: HtmlTable) -> HtmlTable:
    """A table without the columns that say in every row what one before them says, which the caption says once."""
    cells = list(zip(*table.rows, strict=True))
    if len(table.rows) < 2:
        return table
    of = {place: cells.index(column) for place, column in enumerate(cells)}
    left = [place for place, first in of.items() if place == first or table.columns[place].text]
    told = " ".join(
        f"{table.columns[place].title}: as {table.columns[first].title.lower()}."
        for place, first in of.items()
        if place not in left
    )
    return replace(
        table,
        caption=f"{table.caption} {told}".strip(),
        columns=tuple(table.columns[place] for place in left),
        rows=tuple(tuple(row[place] for place in left) for row in table.rows),
    )


def _shortest(cell: str) -> str:
    """What a cell says, but zeros with decimals."""
    return "0" if cell and not cell.strip("0.") else cell


def without_rows_of(table: HtmlTable, other: HtmlTable) -> HtmlTable:
    """A table without the rows that another one has, too, which the caption says."""
    places = [place for place, row in enumerate(table.rows) if row not in other.rows]
    if len(places) == len(table.rows):
        return table
    return replace(
        table,
        caption=f"{table.caption} What is as above is left out.",
        rows=tuple(table.rows[place] for place in places),
        marked=frozenset(row for row, place in enumerate(places) if place in table.marked),
    )


def checks_section(name: str, title: str, checks: Sequence[Check], units: UnitSystem) -> Section:
    """What checks say in words, above their table."""
    passed = passed_sentence(checks)
    text = (f"{passed[:1].upper()}{passed[1:]}.",) if passed else ()
    table = acceptance_table(checks, units, f"{name}-table")
    return Section(name, title, text, tuple(failed_sentences(checks)), tables=(table,))


def acceptance_table(checks: Sequence[Check], units: UnitSystem, name: str = "acceptance-table") -> HtmlTable:
    """Every check with its value, threshold and verdict."""

    def checked(check: Check) -> tuple[str, str, str, str]:
        value = number(check.value, "{:.3g}")
        if check.threshold is None:
            return check.check, value, "–", "–"
        threshold = f"{'≥' if check.at_least else '≤'} {number(check.threshold, '{:.3g}')}"
        return check.check, value, threshold, "yes" if check.passed else "NO"

    return HtmlTable(
        name=name,
        caption="A check passes if its value is within the threshold.",
        columns=(Column("Check", text=True), Column("Value"), Column("Threshold"), Column("Pass")),
        rows=tuple(checked(check.in_units(units)) for check in checks),
        marked=frozenset(row for row, check in enumerate(checks) if check.passed is False),
    )


def yearly_table(plan: Plan) -> HtmlTable:
    """One row a year; years outside their bounds are marked."""
    summary, calendar = plan.summary_columns(), plan.inflow.calendar
    volume = float((plan.inflow.flow_m3s * calendar.hm3_per_m3s).sum(axis=1).max())
    names: dict[str, Sequence[str]] = {plan.year_word.capitalize(): plan.inflow.labels}
    shown = [column for column in shown_columns("summary", "page") if column.name in summary]
    columns = [column for column in shown if not np.isnan(summary[column.name]).all()]
    values = {column.name: summary[column.name].tolist() for column in columns}
    names |= {"Schedule": plan.source.tolist()} if plan.sources else {}
    outside = np.flatnonzero(plan.violation > 0).tolist()
    about = "yearly-table", _yearly_caption(plan), names, columns, values, plan.units
    return without_repeats(without_constants(result_table(*about, marked=outside, scales={"spill_hm3": volume})))


def member_table(members: pd.DataFrame, units: UnitSystem) -> HtmlTable:
    """A row a member; of many, percentiles of each quantity."""
    columns, names = shown_columns("members", "page"), {"Member": members["member"].tolist()}
    values, caption = {column.name: members[column.name].tolist() for column in columns}, ""
    if len(members) > SHOWN_MEMBERS:
        names = {"Members": [f"exceeded by {100 * (1 - part):g} %" for part in _PERCENTILES]}
        values = {name: np.quantile(each, _PERCENTILES).tolist() for name, each in values.items()}
        caption = f"Percentiles of {len(members):,} members, per column. "
    caption += f"Each member has {counted(int(members['years'].iloc[0]))}; means of its years."
    scales = {"spill_hm3": float(members["storage_mean_hm3"].max())}
    return without_constants(result_table("members-table", caption, names, columns, values, units, scales=scales))


def monthly_table(plan: Plan) -> HtmlTable:
    """The median of every quantity over the years that keep their limits, a row a month of the water year."""
    of_steps, calendar = table_of("schedule", plan), plan.inflow.calendar
    columns = [column for column in shown_columns("schedule", "page") if column.name in of_steps]
    months = table_months(calendar).tolist()
    # A year may have steps of a calendar month twice; without years there is no median.
    values = {name: [math.nan] * len(months) for name in (column.name for column in columns)}
    if plan.keeps_limits.any():
        kept = {name: of_steps[name][plan.keeps_limits] for name in values}
        in_month = [calendar.months == month for month in months]
        values = {name: [float(np.median(each[:, steps])) for steps in in_month] for name, each in kept.items()}
    names = {"Month": [MONTH_NAMES[month - 1] for month in months]}
    caption = (
        f"Median of each column over {kept_years(plan)}: the values of a row need not balance. The schedule has every "
        f"{calendar.step.noun} of every year."
    )
    return without_constants(result_table("monthly-table", caption, names, columns, values, plan.units))


def number(value: float, form: str) -> str:
    """Write a number with a true minus sign; a dash where there is none, no sign on what rounds to 0."""
    if not math.isfinite(value):
        return NOTHING
    text = form.format(value) if form else quantity(value)
    if float(text.replace(",", "")) == 0:
        return form.format(0.0) if form and "e" not in form else "0"
    return text.replace("-", "−")


def kept_years(plan: Plan) -> str:
    """Write how many years are in means, sums and medians: those within their limits."""
    kept = counted(int(plan.keeps_limits.sum()), plan.year_word)
    return kept if plan.keeps_limits.all() else f"the {kept} within {limits_word(plan)}"


def _yearly_caption(plan: Plan) -> str:
    how = "each optimised independently" if plan.horizon.is_year else f"optimised in {horizon_text(plan)}"
    said = [f"{counted(plan.inflow.years, plan.year_word)}, {how}."]
    if plan.references:
        what = "" if plan.horizon.is_year else " of the problem of a year"
        said.append(f"Gap{what}: by how much it is below the reference optimum, the best of dynamic programming.")
    if plan.sources:
        said.append("Schedule: whose it is, the solver's, that of its second run, or the reference optimum.")
        if AFTER_PROOF in plan.source_counts:
            said.append(f"{AFTER_PROOF.capitalize()}: found where the proof left a better one possible.")
    if (plan.violation > 0).any():
        said.append(f"Marked years violate their {limits_word(plan)}.")
    if plan.references and not plan.feasible.all():
        said.append(
            "If no schedule satisfies them, the reference violates them too: compare violations, there is no gap."
        )
    return " ".join(said)
