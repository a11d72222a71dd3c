"""Workbooks: the first sheet with cells is read as if it had been saved as CSV."""

from __future__ import annotations

import re
import sys
import zipfile
from datetime import datetime, timedelta

import pytest

from reservoir.errors import InputError
from reservoir.io.records.reader import read_inflow

FLOWS = [400, 390.5, 420, 510, 790, 1470, 2650, 2380, 2740, 1720, 850, 600]


@pytest.fixture
def book():
    openpyxl = pytest.importorskip("openpyxl")
    return openpyxl.Workbook()


def saved(book, tmp_path):
    book.save(tmp_path / "record.xlsx")
    return tmp_path / "record.xlsx"


def test_dates_and_numbers_are_read_as_they_are(book, tmp_path):
    book.active.append(["Inflow to the lake"])
    book.active.append(["date", "inflow (hm3)", "flag"])
    for month, flow in enumerate(FLOWS, 1):
        book.active.append([datetime(1953, month, 1), flow, "A"])
    inflow = read_inflow(saved(book, tmp_path))
    volumes = inflow.flow_m3s * inflow.calendar.hm3_per_m3s
    assert volumes[0].tolist() == pytest.approx(FLOWS)
    assert inflow.unit == "hm3"
    assert "read column inflow (hm3), passed over flag" in inflow.notes


def test_a_table_by_years_may_stand_in_a_later_sheet(book, tmp_path):
    sheet = book.create_sheet("inflow")
    sheet.append(["year", *(f"m{month:02}" for month in range(1, 13))])
    sheet.append([1953, *FLOWS])
    assert read_inflow(saved(book, tmp_path)).flow_m3s.tolist() == [FLOWS]


def test_mistakes_are_told_by_row_and_column(book, tmp_path):
    book.active.append(["date", "inflow_m3s"])
    for month, flow in enumerate(FLOWS, 1):
        book.active.append([datetime(1953, month, 1), "much" if month == 4 else flow])
    with pytest.raises(InputError, match='row 5, column inflow_m3s: not a number \\(found "much"\\)'):
        read_inflow(saved(book, tmp_path))


def test_an_archive_that_is_no_workbook_is_refused(tmp_path):
    (tmp_path / "record.xlsx").write_bytes(b"PK\x03\x04 and nothing else")
    with pytest.raises(InputError, match="workbook") as refused:
        read_inflow(tmp_path / "record.xlsx")
    assert "CSV UTF-8" in str(refused.value)


def test_what_is_missing_is_named_where_the_extra_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "record.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"needs openpyxl, which is not installed.*pip install 'reservoir\[excel\]'"):
        read_inflow(tmp_path / "record.xlsx")


def days(rows):
    return [(datetime(1980, 1, 1) + timedelta(days=day), 40.5 + day % 7) for day in range(rows)]


def test_days_of_decades_are_read(book, tmp_path):
    for row in [("date", "inflow_m3s"), *days(10_227)]:
        book.active.append(row)
    assert read_inflow(saved(book, tmp_path)).labels[-1] == "2007"


@pytest.mark.parametrize("dimension", ["A1", "A1:XFD1048576", "B2:A1", None])
def test_what_a_sheet_says_of_its_size_is_not_believed(book, tmp_path, dimension):
    for row in [
        ("date", "inflow_m3s", "flag"),
        *((day, flow, "A" if at % 2 else None) for at, (day, flow) in enumerate(days(731))),
    ]:
        book.active.append(row)
    path = saved(book, tmp_path)
    with zipfile.ZipFile(path) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    said = f'<dimension ref="{dimension}"/>'.encode() if dimension else b""
    parts[sheet], count = re.subn(rb"<dimension [^>]*/>", said, parts[sheet])
    assert count == 1
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    assert read_inflow(path).labels == ("1980", "1981")


def test_rows_without_cells_keep_the_numbers_of_those_below(book, tmp_path):
    book.active["A3"], book.active["B3"] = "date", "inflow_m3s"
    for at, (day, flow) in enumerate(days(400)):
        book.active.cell(5 + at, 1, day)
        book.active.cell(5 + at, 2, "much" if at == 7 else flow)
    book.active["A500000"].number_format = "0.0"
    with pytest.raises(InputError, match="row 12, column inflow_m3s: not a number"):
        read_inflow(saved(book, tmp_path))


def test_more_cells_than_a_record_may_have_are_refused(book, tmp_path, monkeypatch):
    monkeypatch.setattr("reservoir.io.workbook.MOST_CELLS", 1_000)
    for day, flow in days(101):
        book.active.append([day, flow, *[None] * 7, 1])
    with pytest.raises(InputError, match="1,010 cells or more; expected at most 1,000"):
        read_inflow(saved(book, tmp_path))


def test_more_rows_than_a_record_may_have_are_refused(book, tmp_path):
    book.active["A1"], book.active["B1"] = "date", "inflow_m3s"
    book.active["A300000"] = "1953-01"
    with pytest.raises(InputError, match="300,000 rows or more; expected at most 200,000"):
        read_inflow(saved(book, tmp_path))
