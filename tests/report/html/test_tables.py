"""Tables are as exact as a reader needs, and say nothing twice."""

from __future__ import annotations

import pytest

from reservoir.report.html.page import Column, HtmlTable
from reservoir.report.html.tables import column_form, without_constants, without_rows_of

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
    assert table.caption == "Three years. In every row: violation 0 relative."
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
