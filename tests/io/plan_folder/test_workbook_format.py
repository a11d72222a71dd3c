"""Tables of a plan as the sheets of one workbook: the numbers of the CSV files, read again as a schedule."""

import csv
import json
from datetime import datetime

import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.io import workbook
from reservoir.io.given_schedule import read_given_schedule
from reservoir.io.plan_folder.formats import PlanFormat, format_of
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.report.folder import claimed_for_proof, write_proof

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed: pip install 'reservoir[excel]'")


@pytest.fixture(scope="module")
def plan(small, small_inflow):
    return reservoir.optimise(small, small_inflow, solver="dp")


@pytest.fixture(scope="module")
def folders(plan, tmp_path_factory):
    """The plan as a workbook, and as CSV."""
    place = tmp_path_factory.mktemp("formats")
    return [plan.save(place / kind, figures=False, format=kind) for kind in ("xlsx", "csv")]


def sheets_of(path):
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in openpyxl.load_workbook(path)}


def test_every_table_is_a_sheet_with_the_numbers_of_the_csv_files(folders):
    book, tables = folders
    sheets = sheets_of(book / "plan.xlsx")
    assert {path.name for path in book.glob("*.csv")} <= {"inflow.csv"}
    assert {f"{name}.csv" for name in sheets} == {path.name for path in tables.glob("*.csv")} - {"inflow.csv"}
    for name, rows in sheets.items():
        with (tables / f"{name}.csv").open(newline="") as file:
            header, *lines = csv.reader(file)
        first = len(rows[0]) - len(header)
        assert list(rows[0][first:]) == header
        assert len(rows) == len(lines) + 1
        for row, line in zip(rows[1:], lines, strict=True):
            for value, text in zip(row[first:], line, strict=True):
                assert (value is None and not text) or str(value) == text or value == pytest.approx(float(text))


def test_numbers_are_numbers_and_dates_are_dates(folders, plan):
    rows = sheets_of(folders[0] / "plan.xlsx")["schedule"]
    assert rows[0][:2] == ("date", "year")
    first = plan.inflow.calendar.first_year
    assert rows[1][0] == datetime(first, plan.inflow.calendar.first_month, 1)
    assert isinstance(rows[1][rows[0].index("release_m3s")], int | float)


def test_the_plan_is_read_again(folders, plan):
    saved = read_plan(folders[0])
    assert json.loads((folders[0] / "plan.json").read_text())["format"] == "xlsx"
    assert (saved.plan.operation.release_m3s == plan.operation.release_m3s).all()


def test_its_schedule_is_read_as_that_of_anyone(folders, plan):
    given = read_given_schedule(folders[0] / "plan.xlsx", plan.inflow)
    assert given.not_read == ()
    columns = given.columns["release_m3s"]
    assert columns == pytest.approx(plan.operation.release_m3s, abs=1e-6)


def test_one_of_two_schedules_is_named(folders, plan, tmp_path):
    book = openpyxl.load_workbook(folders[0] / "plan.xlsx")
    book.copy_worksheet(book["schedule"]).title = "another"
    book.save(tmp_path / "two.xlsx")
    with pytest.raises(InputError, match="2 sheets may be the schedule: schedule, another"):
        read_given_schedule(tmp_path / "two.xlsx", plan.inflow)
    assert len(read_given_schedule(tmp_path / "two.xlsx", plan.inflow, ["another"]).columns) > 1


def test_a_workbook_without_a_schedule_is_refused(plan, tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["date", "inflow_m3s"])
    book.save(tmp_path / "none.xlsx")
    with pytest.raises(InputError, match=r"no sheet has a first row with a release \(sheets: Sheet\)"):
        read_given_schedule(tmp_path / "none.xlsx", plan.inflow)


def test_a_proof_is_added_to_the_summary(plan, tmp_path):
    from dataclasses import replace

    from reservoir.planning.proof import prove_plan

    folder = plan.save(tmp_path / "proven", figures=False, format="xlsx")
    before = sheets_of(folder / "plan.xlsx")
    with claimed_for_proof(folder) as claim:
        saved = read_plan(folder)
        write_proof(saved, replace(saved.plan, proofs=prove_plan(saved.plan, 1e-3).proofs), claim)
    after = sheets_of(folder / "plan.xlsx")
    at = before["summary"][0].index("gap") + 1
    assert after["summary"][0][at : at + 2] == ("proven_bound", "proven_gap")
    assert [row[:at] + row[at + 2 :] for row in after["summary"]] == before["summary"]
    assert all(isinstance(row[at], float) for row in after["summary"][1:])
    assert {name: rows for name, rows in after.items() if name != "summary"} == {
        name: rows for name, rows in before.items() if name != "summary"
    }
    assert read_plan(folder).plan.proofs is not None


def test_more_rows_than_a_sheet_has_are_refused_before_anything_is_planned():
    assert format_of("xlsx", 80_000) is PlanFormat.XLSX
    with pytest.raises(InputError, match="a sheet of 1,200,000 rows; expected at most 1,048,575 rows in a sheet"):
        format_of("xlsx", 100_000)


def test_what_writes_it_is_named_where_it_is_not_installed(monkeypatch):
    monkeypatch.setattr(workbook, "find_spec", lambda name: None)
    with pytest.raises(
        InputError, match=r"xlsx needs openpyxl, which is not installed.*pip install 'reservoir\[excel\]"
    ):
        format_of("xlsx", 1)
