"""What a header, a comment or the call says of the unit is understood wholly, or refused; never misread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from reservoir.io.records.dates import YearHeading, year_headings
from reservoir.io.records.reader import read_inflow
from tests.io.records.unit_columns import EVERY, NOTHING, READ
from tests.io.records.unit_comments import CALLS, COMMENTS, EVERY_COMMENT

DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
FLOWS = [40.0, 39.0, 42.0, 51.0, 79.0, 147.0, 265.0, 238.0, 274.0, 172.0, 85.0, 60.0]
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write lines to a file."""

    def to_file(*lines: str) -> Path:
        path = tmp_path / "inflow.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return to_file


#: Seconds of times for which volumes are given.
SECONDS = {"hour": 3600, "day": 86_400, "week": 604_800}


def long(name: str) -> list[str]:
    """Lines of a record with a row a month."""
    quoted = name.replace('"', '""')
    return [f'date,"{quoted}"', *(f"1953-{month:02},{flow}" for month, flow in enumerate(FLOWS, start=1))]


def wide(names: tuple[str, ...] = MONTHS, year: str = "year") -> list[str]:
    """Lines of a record with a row a year."""
    return [",".join((year, *names)), ",".join(map(str, (1953, *FLOWS)))]


def in_m3s(unit: str) -> np.ndarray:
    """The flows, if they are written in `unit`."""
    values = np.array(FLOWS, float)
    volume, _, time = unit.partition("/")
    if time in SECONDS:
        return values * VOLUME_HM3[volume] * 1e6 / SECONDS[time]
    return values * FLOW_M3S[unit] if unit in FLOW_M3S else values * VOLUME_HM3[unit] / (DAYS * 0.0864)


def check(path: Path, expected: str, **call: str | None) -> None:
    """Read a file in the unit expected, or be refused as expected."""
    if expected.startswith("Refused with "):
        with pytest.raises(InputError) as refused:
            read_inflow(path, **call)
        (mistake,) = refused.value.mistakes
        assert expected.removeprefix("Refused with ") in mistake.problem
        assert mistake.mend
        if "inflow" not in expected:
            assert all(known in mistake.expected for known in (*FLOW_M3S, *VOLUME_HM3))
        return
    inflow = read_inflow(path, **call)
    assert inflow.unit == (expected or "m3/s")
    assert inflow.unit_from.startswith("from" if expected else "assumed")
    np.testing.assert_allclose(inflow.flow_m3s, [in_m3s(expected or "m3/s")])


@pytest.mark.parametrize(("name", "expected"), EVERY)
def test_a_column_is_read_in_its_unit_or_refused(write: Write, name: str, expected: str) -> None:
    check(write(*long(name)), expected)


@pytest.mark.parametrize(
    "name", [name for name, expected in EVERY if expected.startswith("Refused") and NOTHING not in expected]
)
def test_a_column_that_is_not_understood_is_refused_beside_a_unit_in_the_call(write: Write, name: str) -> None:
    path = write(*long(name))
    for unit in ("m3/s", "hm3", "acre-ft", "m3"):
        with pytest.raises(InputError):
            read_inflow(path, unit=unit)


@pytest.mark.parametrize("name", READ[f"Refused with {NOTHING}"])
def test_a_name_without_a_unit_is_read_where_the_call_or_a_comment_says_it(write: Write, name: str) -> None:
    by_call = read_inflow(write(*long(name)), unit="hm3")
    by_comment = read_inflow(write("# unit: hm3", *long(name)))
    assert (by_call.unit_from, by_comment.unit_from) == ("from the unit argument", "from the comment in row 1")
    np.testing.assert_allclose(by_call.flow_m3s, [in_m3s("hm3")])
    np.testing.assert_array_equal(by_call.flow_m3s, by_comment.flow_m3s)


@pytest.mark.parametrize(("comment", "expected"), EVERY_COMMENT)
def test_a_comment_claims_a_unit_wholly_or_not_at_all(write: Write, comment: str, expected: str) -> None:
    check(write(f"# {comment}", *wide()), expected)


@pytest.mark.parametrize("comment", COMMENTS["Refused with a comment mentions"])
def test_prose_about_another_unit_matters_only_where_nobody_says_the_unit(write: Write, comment: str) -> None:
    assert read_inflow(write(f"# {comment}", "# unit: m3/s", *wide())).unit == "m3/s"
    assert read_inflow(write(f"# {comment}", *wide()), unit="hm3").unit == "hm3"


def test_two_claims_that_differ_contradict(write: Write) -> None:
    with pytest.raises(InputError, match="contradictory units: the comment in row 1 gives hm3, the comment in row 2"):
        read_inflow(write("# unit hm3", "# flows in m3/s", *wide()))
    with pytest.raises(InputError, match="contradictory units"):
        read_inflow(write("# all values in hm³", *long("inflow_m3s")))


@pytest.mark.parametrize(("unit", "understood"), CALLS.items())
def test_the_call_names_a_unit_and_nothing_else(write: Write, unit: str, understood: str | None) -> None:
    if understood is None:
        check(write(*wide()), "Refused with unknown unit", unit=unit)
    else:
        check(write(*wide()), understood, unit=unit)


def test_the_call_names_one_unit(write: Write) -> None:
    check(write(*wide()), "Refused with two units", unit="m3/s hm3")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("{} (hm3)", "hm3"),
        ("{}_cfs", "cfs"),
        ("{} [m³/s]", "m3/s"),
        ("{}. (hm3)", "hm3"),
        ("{} flow m3/s", "m3/s"),
        ("{} (km3)", "km3"),
        ("{} (10^6 m3)", "Refused with with the unknown"),
        ("{}_kaf", "kaf"),
    ],
)
def test_months_of_the_wide_layout_may_name_the_unit(write: Write, name: str, expected: str) -> None:
    check(write(*wide(tuple(name.format(month) for month in MONTHS))), expected)


@pytest.mark.parametrize(
    "names", [[f"m{month:02}_hm3" for month in range(1, 13)], [f"{m} (hm3)" for m in range(1, 13)]]
)
def test_numbered_months_may_name_the_unit(write: Write, names: list[str]) -> None:
    check(write(*wide(tuple(names))), "hm3")


@pytest.mark.parametrize(
    ("year", "expected"),
    [("Year (hm3)", "hm3"), ("year_hm3", "hm3"), ("year, m3/s", "m3/s"), ("Year (kaf)", "kaf")],
)
def test_the_column_of_years_may_name_the_unit(write: Write, year: str, expected: str) -> None:
    check(write(*wide(year=f'"{year}"')), expected)


def test_months_in_two_units_contradict(write: Write) -> None:
    with pytest.raises(InputError, match="contradictory units"):
        read_inflow(write(*wide(("Jan (hm3)", "Feb (cfs)", *MONTHS[2:]))))


@pytest.mark.parametrize(
    "cell", ["total", "Jan total", "Jan 1953", "1 hm3 cfs", "mean", "yearly", "year of birth", "1953"]
)
def test_other_columns_are_no_months_and_no_years(cell: str) -> None:
    assert year_headings([cell]) == [YearHeading()]


def test_the_unit_and_the_mean_flow_are_said(write: Write) -> None:
    assert read_inflow(write(*wide())).scale == "values in m³/s (assumed: the file gives no unit); mean flow 125 m³/s"
    said = read_inflow(write(*long("inflow_hm3"))).scale
    assert said == "values in hm³ (from the column name); mean flow 47.3 m³/s"
    made = Inflow(np.full((1, 12), 3.25), read_inflow(write(*wide())).calendar)
    assert (made.unit, made.unit_from, made.scale) == ("", "", "mean flow 3.25 m³/s")


def test_years_of_a_record_keep_its_unit(write: Write) -> None:
    part = read_inflow(write(*wide(), ",".join(map(str, (1954, *FLOWS)))), unit="hm3").span(1, 2)
    assert (part.unit, part.unit_from, part.labels) == ("hm3", "from the unit argument", ("1954",))
