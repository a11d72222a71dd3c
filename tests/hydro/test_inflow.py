"""An inflow file is either read exactly, or every mistake in it is told with its place and its mend."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reservoir.errors import MOST_ALIKE, MOST_MISTAKES, InputError, Mistake
from reservoir.hydro.calendar import MONTH_NAMES, Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3, key_suffix
from reservoir.io.records import table
from reservoir.io.records.reader import read_inflow

MONTHS = [f"m{month:02}" for month in range(1, 13)]
JUNE_TO_MAY = MONTHS[5:] + MONTHS[:5]
FLOWS = [400, 390, 420, 510, 790, 1470, 2650, 2380, 2740, 1720, 850, 600]

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write lines, or raw bytes, to a file."""

    def to_file(*lines: str, raw: bytes | None = None) -> Path:
        path = tmp_path / "inflow.csv"
        path.write_bytes("\n".join(lines).encode() if raw is None else raw)
        return path

    return to_file


def header(months: Sequence[str] = MONTHS, delimiter: str = ",") -> str:
    """Write the header of the wide layout."""
    return delimiter.join(["year", *months])


def row(year: object, flows: Sequence[object] = FLOWS, delimiter: str = ",") -> str:
    """Write one row of the wide layout."""
    return delimiter.join(str(cell) for cell in (year, *flows))


def with_cell(text: str, month: int = 3) -> list[object]:
    """Give a year's flows with one cell replaced."""
    return [text if month == number else flow for number, flow in enumerate(FLOWS, start=1)]


def dated(first: int, last: int, value: object = 100) -> list[str]:
    """Write rows of the long layout, one for each month counted from January 1953 (0)."""
    return [f"{1953 + month // 12}-{month % 12 + 1:02},{value}" for month in range(first, last)]


def mistakes_of(path: object, **call: object) -> tuple[Mistake, ...]:
    """Read what must not be read."""
    with pytest.raises(InputError) as caught:
        read_inflow(path, **call)  # type: ignore[arg-type]
    for mistake in caught.value.mistakes:
        assert mistake.mend, f"no mend: {mistake}"
    return caught.value.mistakes


def only_mistake_of(path: object, **call: object) -> Mistake:
    """Read what must be wrong in one way only."""
    mistakes = mistakes_of(path, **call)
    assert len(mistakes) == 1, "\n".join(map(str, mistakes))
    return mistakes[0]


def place(mistake: Mistake) -> tuple[int | None, str, object]:
    """Give row, column and value of a mistake."""
    return mistake.row, mistake.column, mistake.value


class TestInflow:
    """The data class."""

    def test_flows_cannot_be_changed(self) -> None:
        given_flow = np.ones((2, 12))
        inflow = Inflow(given_flow, Calendar(1953, 2))
        with pytest.raises(ValueError, match="read-only"):
            inflow.flow_m3s[0, 0] = 2.0
        given_flow[0, 0] = 7.0
        assert inflow.flow_m3s[0, 0] == 1.0

    def test_names_its_years_and_steps(self) -> None:
        inflow = Inflow(np.ones((2, 12)), Calendar(1953, 2, first_month=6))
        assert (inflow.years, inflow.steps, inflow.labels) == (2, 12, ("1953/54", "1954/55"))

    def test_annual_mean_is_weighted_by_real_days(self) -> None:
        february = np.zeros((2, 12))
        february[:, 1] = 1.0
        means = Inflow(february, Calendar(1955, 2)).annual_mean_m3s
        np.testing.assert_allclose(means, [28 / 365, 29 / 366])

    @pytest.mark.parametrize("shape", [(12,), (1, 12), (3, 12), (2, 11)])
    def test_refuses_a_shape_that_is_not_the_calendars(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(InputError, match=r"do not fit the calendar.*\(2, 12\)"):
            Inflow(np.ones(shape), Calendar(1953, 2))

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1e-9])
    def test_refuses_flows_that_are_negative_or_not_finite(self, value: float) -> None:
        flow = np.ones((2, 12))
        flow[1, 2] = value
        with pytest.raises(InputError, match="one flow is negative or not finite, first Mar of 1954"):
            Inflow(flow, Calendar(1953, 2))

    @pytest.mark.parametrize(("value", "kept"), [(1e308, False), (1e7, False), (1e7, True), (-1e308, True)])
    def test_refuses_flows_that_no_river_has(self, value: float, kept: bool) -> None:
        flow = np.ones((2, 12))
        flow[1, 2] = value
        with pytest.raises(InputError, match="one flow is larger than any river's, first Mar of 1954"):
            Inflow(flow, Calendar(1953, 2), allow_negative=kept)

    @pytest.mark.parametrize("name", ["evaporation_mm", "withdrawal_m3s", "price_per_mwh"])
    @pytest.mark.parametrize("value", [1e308, -1e308, np.nan, np.inf, 10**400])
    def test_refuses_companions_out_of_range(self, name: str, value: float) -> None:
        with pytest.raises(InputError, match=f"{name}: (has a value out of range|is not an array of numbers)"):
            Inflow(np.ones((2, 12)), Calendar(1953, 2), **{name: [[1.0] * 12, [1.0] * 11 + [value]]})

    def test_refuses_what_is_not_numbers(self) -> None:
        with pytest.raises(InputError, match="not an array of numbers"):
            Inflow([["much"] * 12], Calendar(1953, 1))  # type: ignore[arg-type]


class TestWideLayout:
    """One row a year."""

    @pytest.mark.parametrize(
        "months",
        [
            MONTHS,
            [f"m{month}" for month in range(1, 13)],
            [str(month) for month in range(1, 13)],
            list(MONTH_NAMES),
            ["JANUARY", "february", *MONTHS[2:9], "October", "Nov", "12"],
            [f"  M{month:02} " for month in range(1, 13)],
        ],
    )
    def test_month_columns_have_many_names(self, write: Write, months: list[str]) -> None:
        inflow = read_inflow(write(header(months), row(1953)))
        np.testing.assert_array_equal(inflow.flow_m3s, [FLOWS])
        assert inflow.calendar == Calendar(1953, 1, 1)

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    @pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
    def test_delimiter_and_line_end_are_detected(self, write: Write, delimiter: str, line_end: str) -> None:
        lines = [header(delimiter=delimiter), row(1953, delimiter=delimiter), ""]
        inflow = read_inflow(write(raw=line_end.join(lines).encode("utf-8-sig")))
        np.testing.assert_array_equal(inflow.flow_m3s, [FLOWS])

    def test_quoted_cells_and_padding_rows_are_read(self, write: Write) -> None:
        quoted = ",".join(f'"{cell}"' for cell in [1953, *FLOWS])
        np.testing.assert_array_equal(read_inflow(write(header(), quoted, "," * 12)).flow_m3s, [FLOWS])

    def test_rows_out_of_order_are_sorted(self, write: Write) -> None:
        lines = [row(year, [year] * 12) for year in (1955, 1953, 1954)]
        inflow = read_inflow(write(header(), *lines))
        assert inflow.labels == ("1953", "1954", "1955")
        np.testing.assert_array_equal(inflow.flow_m3s[:, 0], [1953, 1954, 1955])

    def test_provenance_is_kept(self, write: Write) -> None:
        path = write("# Caveat: synthetic, not observed", '"# caveat: half, of it",,,', header(), row(1953))
        inflow = read_inflow(path)
        assert inflow.caveat == "synthetic, not observed half, of it"
        assert inflow.source == str(path)
        assert inflow.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        assert inflow.notes == ()

    def test_zero_is_a_flow_even_with_a_sign(self, write: Write) -> None:
        flow = read_inflow(write(header(), row(1953, with_cell("-0.0")))).flow_m3s
        assert not np.signbit(flow).any()

    @pytest.mark.parametrize("label", ["1953/54", "1953/1954"])
    def test_first_month_column_begins_the_water_year(self, write: Write, label: str) -> None:
        inflow = read_inflow(write(header(JUNE_TO_MAY), row(label)))
        assert inflow.calendar == Calendar(1953, 1, first_month=6)
        np.testing.assert_array_equal(inflow.flow_m3s, [FLOWS])
        assert inflow.notes == ()

    def test_a_water_year_may_span_the_turn_of_the_century(self, write: Write) -> None:
        assert read_inflow(write(header(JUNE_TO_MAY), row("1999/00"))).labels == ("1999/00",)

    def test_a_plain_year_is_the_one_in_which_the_water_year_begins(self, write: Write) -> None:
        inflow = read_inflow(write(header(JUNE_TO_MAY), row(1953)))
        assert inflow.labels == ("1953/54",)
        assert inflow.notes == ("a row is named by the year in which it begins: 1953 is Jun 1953 to May 1954",)

    @pytest.mark.parametrize(
        ("months", "problem", "column"),
        [
            (MONTHS[:11], "no column for Dec", ""),
            (MONTHS[:2] + MONTHS[4:], "no column for Mar, Apr", ""),
            ([*MONTHS, ""], "without a name", ""),
            ([*MONTHS, "Year"], "second year column", "Year"),
            ([*MONTHS, "Mar"], "second column for Mar", "Mar"),
            ([MONTHS[1], MONTHS[0], *MONTHS[2:]], "out of order", ""),
        ],
    )
    def test_columns_are_the_year_and_twelve_months(
        self, write: Write, months: list[str], problem: str, column: str
    ) -> None:
        mistake = only_mistake_of(write("# inflow", header(months), row(1953, [1] * len(months))))
        assert problem in mistake.problem
        assert (mistake.row, mistake.column) == (2, column)

    @pytest.mark.parametrize(
        ("year", "problem", "expected"),
        [
            ("", "not a year", "a whole number"),
            ("1953.5", "not a year", "a whole number"),
            ("1953-01", "not a year", "a whole number"),
            ("-5", "not a year", "a whole number"),
            ("1_953", "not a year", "a whole number"),
            ("1953/55", "must span two consecutive years", "1953/54"),
            ("1953/53", "must span two consecutive years", "1953/54"),
            ("0", "the year is out of range", "1000 to 9998"),
            ("9999", "the year is out of range", "1000 to 9998"),
            ("9" * 5000, "the year is out of range", "1000 to 9998"),
        ],
    )
    def test_years_are_whole_numbers_or_water_years(self, write: Write, year: str, problem: str, expected: str) -> None:
        mistake = only_mistake_of(write(header(JUNE_TO_MAY), row("1952/53"), row(year)))
        assert problem in mistake.problem
        assert expected in mistake.expected
        assert place(mistake) == (3, "year", year)

    def test_a_year_that_begins_in_january_spans_no_other(self, write: Write) -> None:
        mistake = only_mistake_of(write(header(), row("1953/54")))
        assert "begin in January" in mistake.problem
        assert (place(mistake), mistake.expected) == ((2, "year", "1953/54"), "1953")

    def test_a_year_stands_once(self, write: Write) -> None:
        mistake = only_mistake_of(write(header(), row(1953), row(1954), row(1953)))
        assert mistake.problem == "the year appears twice, first in row 2"
        assert place(mistake) == (4, "year", "1953")

    @pytest.mark.parametrize(
        ("years", "problem"),
        [
            ((1953, 1955), "the year 1954 is missing between 1953 and 1955"),
            ((1953, 1960), "the years 1954 to 1959 are missing between 1953 and 1960"),
        ],
    )
    def test_holes_between_years_are_named(self, write: Write, years: tuple[int, int], problem: str) -> None:
        mistake = only_mistake_of(write(header(), *map(row, years)))
        assert (mistake.problem, mistake.row, mistake.column) == (problem, 3, "year")

    @pytest.mark.parametrize("unreadable", [row("195x"), "1954,3", row('"1954')])
    def test_a_row_that_cannot_be_read_is_not_also_told_as_a_hole(self, write: Write, unreadable: str) -> None:
        assert only_mistake_of(write(header(), row(1953), unreadable, row(1955))).row == 3


class TestLongLayout:
    """One row a month."""

    @pytest.mark.parametrize("day", ["", "-01", "-31", "-15T06:30", "-15 06:30:59"])
    def test_dates_are_months_with_or_without_day_and_time(self, write: Write, day: str) -> None:
        lines = [f"1953-{month:02}{day.replace('31', '28')},{flow}" for month, flow in enumerate(FLOWS, start=1)]
        inflow = read_inflow(write("Date , inflow", *lines))
        np.testing.assert_array_equal(inflow.flow_m3s, [FLOWS])

    def test_rows_out_of_order_are_sorted(self, write: Write) -> None:
        inflow = read_inflow(write("inflow;date", *(f"{flow};1953-{12 - m:02}" for m, flow in enumerate(FLOWS))))
        np.testing.assert_array_equal(inflow.flow_m3s, [FLOWS[::-1]])

    @pytest.mark.parametrize(
        ("date", "problem"),
        [
            ("01/02/1953", "ambiguous date"),
            ("1.2.53", "ambiguous date"),
            ("1953/02/01 noon", "not a date that is understood"),
            ("Feb 53", "two digits: the century is unknown"),
            ("Fbr 1953", "not a date that is understood"),
            ("1953-02-01T00:00Z", "not a date that is understood"),
            ("", "not a date that is understood"),
            ("1953-13", "date does not exist"),
            ("1953-02-29", "date does not exist"),
            ("1953-02-01T25:00", "date does not exist"),
            ("0000-02", "the year is out of range"),
            ("9999-02", "the year is out of range"),
        ],
    )
    def test_other_dates_are_refused(self, write: Write, date: str, problem: str) -> None:
        mistake = only_mistake_of(write("date,inflow", *dated(0, 1), f"{date},3", *dated(2, 12)))
        assert problem in mistake.problem
        assert place(mistake) == (3, "date", date)

    def test_a_month_stands_once(self, write: Write) -> None:
        mistake = only_mistake_of(write("date,inflow", *dated(0, 12), "1953-02-15,3"))
        assert mistake.problem == "the month appears twice, first in row 3"
        assert place(mistake) == (14, "date", "1953-02")
        assert "average values of shorter steps than a month first" in mistake.mend

    def test_days_that_are_missing_are_one_mistake(self, write: Write) -> None:
        days = [f"1953-{month:02}-{day:02},5" for month in range(1, 13) for day in range(1, 29)]
        mistake = only_mistake_of(write("date,inflow", *days))
        assert "9 months with missing days: 1953-03 (lacks 3 days), 1953-04 (lacks 2 days)" in mistake.problem
        assert "--missing-days 3" in mistake.mend

    def test_holes_between_months_are_named(self, write: Write) -> None:
        mistake = only_mistake_of(write("date,inflow", *dated(0, 11), *dated(14, 24)))
        assert mistake.problem == "the months 1953-12 to 1954-02 are missing between 1953-11 and 1954-03"
        assert (mistake.row, mistake.column) == (13, "date")

    @pytest.mark.parametrize(
        ("line", "problem"),
        [("date", "no column besides the date"), ("date,inflow,flow", "2 columns besides the date: inflow, flow")],
    )
    def test_there_is_one_column_of_values(self, write: Write, line: str, problem: str) -> None:
        cells = ["1953-01", "3", "4"][: line.count(",") + 1]
        mistake = only_mistake_of(write(line, ",".join(cells)))
        assert (mistake.problem, mistake.row) == (problem, 1)


class TestValues:
    """Cells that are no flow."""

    @pytest.mark.parametrize(
        ("cell", "problem", "mend"),
        [
            ("", "missing value", "fill in"),
            ("NaN", "missing value", "fill in"),
            ("NA", "missing value", "fill in"),
            ("-9999", "missing-value code", "fill in"),
            ("-999.0", "missing-value code", "fill in"),
            ("-3", "negative flow", "correct the value"),
            ("inf", "infinite", "correct the value"),
            ("-Infinity", "infinite", "correct the value"),
            ("1e999", "infinite", "correct the value"),
            ("412 m3/s", "not a number", "the digits 0 to 9"),
            ("much", "not a number", "the digits 0 to 9"),
            ("0x10", "not a number", "the digits 0 to 9"),
            ("1_000", "not a number", "no thousands separator"),
            ("٤١٢", "not a number", "the digits 0 to 9"),
            ("1,412", "a decimal mark or separate thousands", "write 1412"),
            ("1'412", "not a number", "no thousands separator"),
        ],
    )
    @pytest.mark.parametrize("layout", ["wide", "long"])
    def test_are_told_with_their_place(self, write: Write, layout: str, cell: str, problem: str, mend: str) -> None:
        if layout == "wide":
            path = write("", header(delimiter=";"), row(1953, with_cell(cell), ";"))
            expected = (3, "m03", cell)
        else:
            path = write(
                "date;inflow", *(line.replace(",", ";") for line in dated(0, 12)), f"1954-01;{cell}", "1954-02;1"
            )
            expected = (14, "inflow", cell)
        mistake = only_mistake_of(path)
        assert problem in mistake.problem
        assert mend in mistake.mend
        assert place(mistake) == expected
        assert mistake.file == str(path)

    def test_no_river_carries_a_million_m3s(self, write: Write) -> None:
        mistake = only_mistake_of(write(header(), row(1953, with_cell("2e6"))))
        assert place(mistake) == (2, "m03", "2e6")
        assert "if the unit is another" in mistake.mend

    @pytest.mark.parametrize(
        ("line", "cells", "mend"),
        [
            ("1954,3,4", 3, "add the missing cells"),
            (row(1954, [*FLOWS, 3]), 14, "remove the extra"),
            (row(1954, ["1,5"] * 12), 25, "decimal"),
        ],
    )
    def test_rows_are_as_long_as_the_header(self, write: Write, line: str, cells: int, mend: str) -> None:
        mistake = only_mistake_of(write(header(), row(1953), line))
        assert (mistake.row, mistake.value, mistake.expected) == (3, cells, "13 cells, as in the header")
        assert mend in mistake.mend

    def test_an_open_quotation_mark_is_found_on_its_own_line(self, write: Write) -> None:
        mistake = only_mistake_of(write(header(), row(1953), '"1954,1,2', row(1955)))
        assert mistake.row == 3
        assert "quotation mark" in mistake.mend

    def test_all_mistakes_are_told_together_in_the_order_of_the_file(self, write: Write) -> None:
        path = write(
            "# unit: barrel", header(), row(1953, with_cell("-1")), "1954,1", row(1960, with_cell("x")), row(1960)
        )
        mistakes = mistakes_of(path, first_month=13)
        assert [mistake.row for mistake in mistakes] == [None, 1, 3, 4, 5, 6]

    def test_one_slip_made_everywhere_does_not_hide_the_others(self, write: Write) -> None:
        path = write("date,inflow", *dated(0, 100, "x"), *dated(100, 103, "-1"))
        cause, *told, last = mistakes_of(path)
        assert "nearly every row (100 of 103) has the same mistake" in cause.problem
        assert [mistake.problem for mistake in told] == ["not a number"] * MOST_ALIKE + ["negative flow"] * 3
        assert last.problem == f"{(more := 100 - MOST_ALIKE)} more mistakes not shown: {more} x not a number"

    def test_a_long_list_is_cut_short(self, write: Write) -> None:
        kinds = ["x", "-1", "inf", "", "-999"]
        path = write("date,inflow", *(dated(n, n + 1, kinds[n % 5])[0] for n in range(60)), *dated(60, 61))
        *told, last = mistakes_of(path)
        assert len(told) == MOST_MISTAKES
        assert last.problem.startswith(f"{60 - MOST_MISTAKES} more mistakes not shown: 2 x not a number, 2 x negative")
        assert last.file == str(path)


class TestUnits:
    """Who names the unit, and what it does."""

    @pytest.mark.parametrize("unit", FLOW_M3S)
    def test_flows_are_converted(self, write: Write, unit: str) -> None:
        inflow = read_inflow(write(header(), row(1953)), unit=unit)
        np.testing.assert_allclose(inflow.flow_m3s, [np.array(FLOWS) * FLOW_M3S[unit]])

    @pytest.mark.parametrize("unit", VOLUME_HM3)
    def test_volumes_become_mean_flows_with_the_months_real_days(self, write: Write, unit: str) -> None:
        volumes = [value / 10 for value in FLOWS]
        inflow = read_inflow(write(header(), row(1955, volumes), row(1956, volumes)), unit=unit)
        volume = inflow.flow_m3s * inflow.calendar.days * 0.0864
        np.testing.assert_allclose(volume, np.array([volumes, volumes]) * VOLUME_HM3[unit])
        assert inflow.flow_m3s[1, 1] / inflow.flow_m3s[0, 1] == pytest.approx(28 / 29)

    @pytest.mark.parametrize("unit", [*FLOW_M3S, *VOLUME_HM3])
    @pytest.mark.parametrize("name", ["inflow_{key}", "{key}", "inflow ({unit})", "Mean inflow [{unit}]"])
    def test_the_value_column_may_name_the_unit(self, write: Write, unit: str, name: str) -> None:
        column = name.format(unit=unit, key=key_suffix(unit))
        by_column = read_inflow(write(f"date;{column}", *(line.replace(",", ";") for line in dated(0, 12))))
        by_call = read_inflow(write("date,inflow", *dated(0, 12)), unit=unit)
        np.testing.assert_array_equal(by_column.flow_m3s, by_call.flow_m3s)

    @pytest.mark.parametrize("comment", ["# unit: hm3", "#Unit = HM3", "# units: MCM,,,"])
    def test_a_comment_may_name_the_unit(self, write: Write, comment: str) -> None:
        inflow = read_inflow(write(header(), comment, row(1953)))
        assert inflow.flow_m3s[0, 0] == pytest.approx(400 / 31 / 0.0864)

    def test_equal_units_do_not_contradict(self, write: Write) -> None:
        read_inflow(write("# unit: MCM", "date,volume_Mm3", *dated(0, 12)), unit="hm3")

    @pytest.mark.parametrize(
        ("comment", "column", "unit", "at"),
        [
            ("# unit: hm3", "inflow_m3s", None, (2, "inflow_m3s")),
            ("# unit: hm3", "inflow", "m3/s", (1, "")),
            ("# none", "inflow_m3", "m3/s", (2, "inflow_m3")),
        ],
    )
    def test_units_that_contradict_are_a_mistake(
        self, write: Write, comment: str, column: str, unit: str | None, at: tuple[int, str]
    ) -> None:
        mistake = only_mistake_of(write(comment, f"date,{column}", *dated(0, 12)), unit=unit)
        assert "contradictory units" in mistake.problem
        assert (mistake.row, mistake.column) == at

    @pytest.mark.parametrize(
        ("comment", "unit", "at"),
        [("# unit: barrel", None, (1, "", "barrel")), ("#", "barrel", (None, "unit", "barrel"))],
    )
    def test_an_unknown_unit_lists_the_known(
        self, write: Write, comment: str, unit: str | None, at: tuple[int | None, str, str]
    ) -> None:
        mistake = only_mistake_of(write(comment, header(), row(1953)), unit=unit)
        assert place(mistake) == at
        assert all(known in mistake.expected for known in (*FLOW_M3S, *VOLUME_HM3))


class TestWaterYears:
    """The first month of the water year."""

    def test_calendar_years_are_cut_into_whole_water_years(self, write: Write) -> None:
        inflow = read_inflow(write(header(), row(1953), row(1954), row(1955)), first_month=6)
        assert inflow.labels == ("1953/54", "1954/55")
        np.testing.assert_array_equal(inflow.flow_m3s, [FLOWS[5:] + FLOWS[:5]] * 2)
        assert inflow.notes == (
            "a water year is named by both its years: 1953/54 is Jun 1953 to May 1954",
            "left out 1953-01 to 1953-05 (5 months), before the first whole water year (Jun to May)",
            "left out 1955-06 to 1955-12 (7 months), after the last whole water year (Jun to May)",
        )

    def test_one_month_left_out_is_named_alone(self, write: Write) -> None:
        _, note = read_inflow(write("date,inflow", *dated(0, 13)), first_month=2).notes
        assert note.startswith("left out 1953-01, before the first whole water year")

    def test_water_years_may_be_cut_anew(self, write: Write) -> None:
        inflow = read_inflow(write(header(JUNE_TO_MAY), row(1953), row(1954)), first_month=1)
        assert inflow.labels == ("1954",)
        np.testing.assert_array_equal(inflow.flow_m3s, [FLOWS[7:] + FLOWS[:7]])

    def test_water_years_that_name_two_years_keep_their_first_month(self, write: Write) -> None:
        path = write(header(JUNE_TO_MAY), row("1953/54"), row("1954/55"))
        assert read_inflow(path, first_month=6).labels == ("1953/54", "1954/55")
        mistake = only_mistake_of(path, first_month=1)
        assert "begin in Jun, those of the reservoir in Jan" in mistake.problem
        assert (mistake.row, mistake.value, mistake.expected) == (1, 1, "first month 6")

    @pytest.mark.parametrize("first_month", [0, 13, -1, 2.5, "6"])
    def test_there_are_twelve_months_to_choose_from(self, write: Write, first_month: object) -> None:
        mistake = only_mistake_of(write(header(), row(1953)), first_month=first_month)
        assert place(mistake) == (None, "first_month", first_month)
        assert mistake.expected == "1 to 12"

    @pytest.mark.parametrize(("months", "first_month"), [((0, 11), None), ((1, 22), None), ((0, 12), 2)])
    def test_a_whole_water_year_must_remain(
        self, write: Write, months: tuple[int, int], first_month: int | None
    ) -> None:
        mistake = only_mistake_of(write("date,inflow", *dated(*months)), first_month=first_month)
        assert "no complete water year" in mistake.problem

    @settings(max_examples=60)
    @given(start=st.integers(0, 11), length=st.integers(23, 60), first_month=st.integers(1, 12))
    def test_no_month_inside_is_lost_or_moved(
        self, tmp_path_factory: pytest.TempPathFactory, start: int, length: int, first_month: int
    ) -> None:
        path = tmp_path_factory.mktemp("record") / "inflow.csv"
        lines = [dated(month, month + 1, month)[0] for month in range(start, start + length)]
        path.write_text("\n".join(["date,inflow", *lines]))
        inflow = read_inflow(path, first_month=first_month)
        flat = inflow.flow_m3s.ravel()
        assert all(after == before + 1 for before, after in pairwise(flat))
        assert length - flat.size <= 22
        assert flat[0] == (inflow.calendar.first_year - 1953) * 12 + first_month - 1


class TestFiles:
    """Files that are no table at all."""

    @pytest.mark.parametrize(
        ("raw", "problem", "at_row"),
        [
            (b"", "the file is empty", None),
            (b"\xef\xbb\xbf \n\n", "the file is empty", None),
            (b"# unit: hm3\n# nothing else\n", "only comments", None),
            (b"# inflow\ndate,inflow\n", "no data rows below the header", 2),
            (b"year,m01\n# d\xc3\xa9bit\n1953,\xe9\n", "not UTF-8: byte 0xe9", 3),
            (b"\xef\xbb\xbfyear,m01\r\n1953,\xff\r\n", "not UTF-8", 2),
            ("year,m01\n1953,".encode("utf-16") + b"1", "not UTF-16: byte 0x31", 2),
            (b"year,m01\n\n1953,\0\n", "NUL byte", 3),
            (b"PK\x03\x04\x00", "workbook", None),
        ],
    )
    def test_are_told_apart(self, write: Write, raw: bytes, problem: str, at_row: int | None) -> None:
        path = write(raw=raw)
        mistake = only_mistake_of(path)
        assert problem in mistake.problem
        assert (mistake.file, mistake.row) == (str(path), at_row)

    def test_wrong_encodings_say_how_to_save(self, write: Write) -> None:
        assert "UTF-8" in only_mistake_of(write(raw=b"\xe9")).mend

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        mistake = only_mistake_of(tmp_path / "none.csv")
        assert (mistake.problem, mistake.file) == ("the file does not exist", str(tmp_path / "none.csv"))

    def test_a_folder_is_not_a_file(self, tmp_path: Path) -> None:
        assert only_mistake_of(tmp_path).problem == "this is a folder"

    def test_a_file_that_may_not_be_read_says_why(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> bytes:
            raise PermissionError(13, "Permission denied")

        path = write(header(), row(1953))
        monkeypatch.setattr(table, "read_limited", refuse)
        assert only_mistake_of(path).problem == "the file cannot be read: Permission denied"

    @pytest.mark.parametrize(
        ("line", "problem", "mend"),
        [
            (row(1953), "the header line is missing", "above it"),
            ("1953-01,3", "the header line is missing", "above it"),
            ("year m01 m02", "only one column", "commas, semicolons or tabs"),
            ("year,flow", "a year but no months", "m01 to m12"),
            (",".join(["cycle", *MONTHS]), "months but no year", '"year"'),
            ("when,flow", "neither a year nor a date", '"date"'),
        ],
    )
    def test_an_unknown_header_says_what_is_known(self, write: Write, line: str, problem: str, mend: str) -> None:
        mistake = only_mistake_of(write("", line, line))
        assert problem in mistake.problem
        assert mend in mistake.mend
        assert (mistake.row, mistake.value) == (2, line.replace(",", ", "))
        assert "year,m01,...,m12" in mistake.expected
        assert "date,inflow_m3s" in mistake.expected
