"""Workbooks: the first sheet with cells is read as if it had been saved as CSV."""

from __future__ import annotations

import sys
from datetime import datetime

import pytest

from reservoir.errors import InputError
from reservoir.io.inflow_file import read_inflow

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
