"""The row and the cell of a table that cannot be read are named as an editor counts them."""

import shutil

import pandas as pd
import pytest

from reservoir.errors import InputError
from reservoir.io.plan_folder.tables import read_cells, read_schedule


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a,b\n1,2\n3,4,5\n", 3),
        ("a,b\r\n1,2,3\r\n", 2),
        ("a,b\r1,2\r3,4,5\r", 3),
        ('a,b\n"1\n1",2\n\n3,4,5\n', 5),
        ('a,b\n1,2\n3,"4\n5,6\n', 3),
        ('a,b\n1,"2"3\n', 2),
        ('"a,b\n', 1),
    ],
)
def test_the_first_wrong_row_is_named(text, row, tmp_path):
    (tmp_path / "schedule.csv").write_text(text, newline="")
    with pytest.raises(InputError) as refusal:
        read_cells(tmp_path / "schedule.csv")
    (mistake,) = refusal.value.mistakes
    assert mistake.row == row


@pytest.mark.parametrize(
    ("text", "cells"),
    [("a,b\n1,2\n", [["1", "2"]]), ("a,b\n1\n\n", [["1", ""]]), ('\na,b\n"1,1",2', [["1,1", "2"]])],
)
def test_rows_that_can_be_read_are_not_wrong(text, cells, tmp_path):
    (tmp_path / "schedule.csv").write_text(text)
    assert read_cells(tmp_path / "schedule.csv").to_numpy().tolist() == cells


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_a_table_without_a_heading_is_empty(content, tmp_path):
    (tmp_path / "schedule.csv").write_bytes(content)
    with pytest.raises(InputError, match=r"schedule\.csv: is empty\. Fix: run `reservoir plan` again"):
        read_schedule(tmp_path)


def test_lines_may_end_as_on_old_macintoshes(tmp_path):
    (tmp_path / "schedule.csv").write_bytes(b"date,release_m3s\r2001-01,5\r2001-02,6\r")
    assert read_cells(tmp_path / "schedule.csv")["release_m3s"].tolist() == ["5", "6"]


def test_a_heading_that_never_ends_is_refused(tmp_path):
    path = tmp_path / "schedule.csv"
    path.write_bytes(b'date,"release' + b"\n123" * 50_000)
    with pytest.raises(InputError, match=r"schedule\.csv: cannot be read as a table \(field larger"):
        read_cells(path)


@pytest.fixture
def folder(planned, tmp_path):
    """A copy of a plan's folder that may be spoilt."""
    return shutil.copytree(planned, tmp_path / "plan")


def refused(folder):
    with pytest.raises(InputError) as refusal:
        read_schedule(folder)
    return refusal.value.mistakes


def put(folder, row, column, value):
    """Put a value into the cell at a row of the schedule, the heading being row 1."""
    table = pd.read_csv(folder / "schedule.csv", dtype=str, keep_default_na=False)
    table.loc[row - 2, column] = value
    table.to_csv(folder / "schedule.csv", index=False)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("abc", "is not a finite number"),
        ("nan", "is not a finite number"),
        ("-inf", "is not a finite number"),
        ("", "is empty"),
        ("1e308", "is out of range"),
        ("1e-300", "is out of range"),
        ("-1e16", "is out of range"),
    ],
)
def test_one_spoilt_cell_is_one_mistake_with_its_row(folder, value, problem):
    put(folder, 5, "release_m3s", value)
    (mistake,) = refused(folder)
    assert (mistake.file, mistake.row, mistake.column) == (str(folder / "schedule.csv"), 5, "release_m3s")
    assert problem in mistake.problem


def test_blank_lines_count_as_rows(folder):
    before = read_schedule(folder)
    head, *lines = (folder / "schedule.csv").read_text().splitlines()
    (folder / "schedule.csv").write_text("\n".join([head, "", "", *lines, ""]))
    pd.testing.assert_frame_equal(read_schedule(folder), before)
    spoilt = [lines[0], ",".join("x" if cell.count(".") else cell for cell in lines[1].split(","))]
    (folder / "schedule.csv").write_text("\n".join([head, "", "", *spoilt, ""]))
    assert {mistake.row for mistake in refused(folder)} == {5}


def test_every_spoilt_cell_is_told(folder):
    put(folder, 5, "energy_gwh", "x")
    put(folder, 20, "energy_gwh", "x")
    assert [mistake.row for mistake in refused(folder)] == [5, 20]


@pytest.mark.parametrize(
    ("content", "row", "problem"),
    [
        (b"", None, "is empty"),
        (b"year,month\n\xff\xff\xfe,\xe9\n", 2, "the line is not UTF-8: byte 0xff"),
        (b"year,month\n1953,1\n1953,2,3\n", 3, "has 3 cells"),
        (b'year\n"1953\n', 2, "has quotation marks that do not enclose a whole cell"),
    ],
)
def test_a_table_that_cannot_be_read_is_told_with_its_row(folder, content, row, problem):
    (folder / "schedule.csv").write_bytes(content)
    (mistake,) = refused(folder)
    assert (mistake.row, mistake.problem) == (row, problem)
    assert mistake.mend == "run `reservoir plan` again, or restore the file"


def test_missing_columns_are_named(folder):
    table = pd.read_csv(folder / "schedule.csv")
    table.drop(columns=["month", "release_m3s"]).to_csv(folder / "schedule.csv", index=False)
    (mistake,) = refused(folder)
    assert "month, release_m3s" in mistake.problem


def test_a_table_of_a_million_columns_is_refused(folder):
    (folder / "schedule.csv").write_text("year" + ",a" * 1_000_000)
    (mistake,) = refused(folder)
    assert "has a header of more than 2,000 bytes" in mistake.problem


@pytest.mark.parametrize("lines", [60_000, 100_000])
def test_a_table_of_wrong_cells_is_refused_in_a_few_lines(folder, lines):
    (folder / "schedule.csv").write_text((folder / "schedule.csv").read_text().split("\n")[0] + "\nx,,,,," * lines)
    mistakes = refused(folder)
    assert len(mistakes) < 60
    assert "more mistakes not shown" in str(mistakes[-1]) or "a plan has at most 96,001" in str(mistakes[-1])
