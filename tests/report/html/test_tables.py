"""Tables are as exact as a reader needs, and say nothing twice."""

from __future__ import annotations

import re

import numpy as np
import pytest

import reservoir as package
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import Plan
from reservoir.report.html.page import Column, HtmlTable
from reservoir.report.html.tables import (
    column_form,
    monthly_table,
    without_constants,
    without_repeats,
    without_rows_of,
    yearly_table,
)

TABLE = HtmlTable(
    "years",
    "Three years.",
    (Column("Year", text=True), Column("Energy", "GWh"), Column("Violation", "relative"), Column("Spill", "hm³")),
    (("1953", "1.25", "0", "–"), ("1954", "1.31", "0", "–"), ("1955", "1.25", "0", "–")),
    frozenset({2}),
)


@pytest.mark.parametrize(
    ("numbers", "form", "scale", "expected"),
    [
        ([0.0123, 0.004], "{:,.0f}", 0, "{:,.4f}"),
        ([0.48, 0.5], "{:,.0f}", 0, "{:,.3f}"),
        ([3.26, 2.0], "{:,.1f}", 0, "{:,.2f}"),
        ([28.4, 30.0], "{:,.0f}", 0, "{:,.1f}"),
        ([4200.3, 17.0], "{:,.0f}", 0, "{:,.0f}"),
        ([0.4, 0.01], "{:,.0f}", 38_000, "{:,.0f}"),
        ([310.5, 305.2], "{:,.1f}", 0, "{:,.1f}"),
        ([5, 0], "{:,.0f}", 0, "{:,.0f}"),
        ([5.9, 0.1], "{:.1f}", 0, "{:.1f}"),
        ([1e-7, 2e-5], "{:.1e}", 0, "{:.1e}"),
        ([117.25, 98.2], "", 0, "{:,.1f}"),
        ([float("nan"), 2332.1], "", 0, "{:,.0f}"),
        ([float("nan")], "{:,.0f}", 0, "{:,.0f}"),
    ],
)
def test_numbers_of_a_column_have_three_figures_of_the_largest_and_as_many_decimals(numbers, form, scale, expected):
    assert column_form(numbers, form, scale) == expected


def test_a_column_that_says_the_same_in_every_row_is_told_once_and_one_that_says_nothing_never():
    table = without_constants(TABLE)
    assert [column.title for column in table.columns] == ["Year", "Energy"]
    assert table.rows == (("1953", "1.25"), ("1954", "1.31"), ("1955", "1.25"))
    assert table.caption == "Three years. In every row: violation 0."
    assert table.marked == {2}


@pytest.mark.parametrize("rows", [TABLE.rows[:1], (TABLE.rows[0], TABLE.rows[0])])
def test_a_table_keeps_its_columns_where_nothing_else_would_be_left(rows):
    table = HtmlTable("years", "", TABLE.columns, rows)
    assert without_constants(table) is table


def test_rows_of_a_table_above_are_left_out_and_marks_stay_where_they_belong():
    above = HtmlTable("above", "", TABLE.columns, TABLE.rows[:1])
    table = without_rows_of(TABLE, above)
    assert table.rows == TABLE.rows[1:]
    assert table.marked == {1}
    assert "left out" in table.caption
    assert without_rows_of(TABLE, HtmlTable("other", "", TABLE.columns, ())) is TABLE


def test_a_column_that_repeats_one_before_it_is_said_once():
    columns = (Column("Year", text=True), Column("Energy", "GWh"), Column("Schedule", text=True), Column("Best", "GWh"))
    rows = (("1953", "1.2", "dp", "1.2"), ("1954", "3.4", "clpso", "3.4"))
    table = without_repeats(HtmlTable("of-years", "Years.", columns, rows))
    assert [column.title for column in table.columns] == ["Year", "Energy", "Schedule"]
    assert table.rows == (("1953", "1.2", "dp"), ("1954", "3.4", "clpso"))
    assert table.caption == "Years. Best: as energy."
    other = HtmlTable("of-years", "Years.", columns, (rows[0], ("1954", "3.4", "clpso", "3.5")))
    assert without_repeats(other) == other


def test_a_small_plant_has_three_figures_and_spill_no_more_decimals_than_the_inflow(small_plant):
    years = {column.title: place for place, column in enumerate(yearly_table(small_plant).columns)}
    rows = yearly_table(small_plant).rows
    assert [row[years["Energy"]] for row in rows] == [f"{energy:.3f}" for energy in small_plant.energy_gwh]
    assert all(re.fullmatch(r"0\.\d\d\d", row[years["Spill"]]) for row in rows)
    months = {column.title: place for place, column in enumerate(monthly_table(small_plant).columns)}
    power = [row[months["Power"]] for row in monthly_table(small_plant).rows]
    assert power == [f"{value:.4f}" for value in np.median(small_plant.operation.power_mw, axis=0)]


MICRO = """
name = "micro"
[plant]
installed_capacity_mw = 0.0123
output_coefficient = 8
[storage]
dead_hm3 = 0.005
full_hm3 = 0.03
year_end = "cyclic"
[release]
lower_m3s = 0
upper_m3s = 2
[curves.level]
kind = "table"
storage_hm3 = [0.002, 0.005, 0.015, 0.03, 0.04]
level_m = [304, 305.25, 308.1, 310.5, 311.6]
[curves.tailrace]
kind = "table"
release_m3s = [0, 1, 2]
level_m = [228.4, 228.5, 228.55]
"""


@pytest.fixture(scope="module")
def small_plant(tmp_path_factory) -> Plan:
    """A plant of 0.0123 MW, which spills."""
    file = tmp_path_factory.mktemp("micro") / "micro.toml"
    file.write_text(MICRO)
    flows = 0.02 * np.array([[0.5, 0.4, 0.5, 0.8, 1.4, 1.9, 1.6, 1.2, 0.9, 0.8, 1.0, 0.8]]) * [[0.8], [1.0], [1.3]]
    inflow = Inflow(flow_m3s=flows, calendar=Calendar(2001, 3))
    return package.optimise(package.read_reservoir(file), inflow, solver="dp", reference=False)
