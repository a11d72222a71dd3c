"""A workbook as a planner has it: a level curve, limits, numbers of the plant and a daily record, to be changed."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
Rows = list[list[Any]]


def curve() -> Rows:
    """A title, the header, and the units in a row of their own."""
    points = [[298, 5], [303, 12], [308, 24], [313, 41], [318, 64], [322, 86], [326, 112]]
    return [["Hill Lake, survey 2011"], [], ["Elevation", "Storage"], ["(m)", "(Mm3)"], *points]


def limits() -> Rows:
    """A least release, and the highest level of each month."""
    levels = [322 if 5 <= month <= 7 else 326 for month in range(12)]
    rows = [[name, 6, level] for name, level in zip(MONTHS, levels, strict=True)]
    return [["Operating limits"], ["Month", "Min release (m3/s)", "Max level (m)"], *rows]


def plant() -> Rows:
    """Names with their values, and units beside or behind them."""
    return [
        ["Name", "Hill Lake"],
        ["Installed capacity", 24, "MW"],
        ["Turbine capacity", 55, "m3/s"],
        ["Efficiency", 88, "%"],
        ["Tailwater level (m)", 262],
        ["Dead level", 303, "m"],
        ["Normal level", 326, "m"],
        ["Dam height", 70, "m"],
    ]


def days(years: int = 4) -> Rows:
    """Days of water years from October, with a peak of 99.5 m3/s."""
    first = datetime(1990, 10, 1)
    rows: Rows = []
    for day in range((datetime(1990 + years, 10, 1) - first).days):
        rows.append([first + timedelta(day), round(30 + 25 * math.sin(day / 58), 2), "A"])
    rows[500][1] = 99.5
    return [["Gauge 12"], ["Date", "Inflow (m3/s)", "Quality"], *rows]


def case_sheets() -> dict[str, Rows]:
    """All four, by the names of their sheets."""
    return {"Capacity curve": curve(), "Limits": limits(), "Plant": plant(), "Daily flow": days()}


def saved(sheets: dict[str, Rows], path: Path) -> Path:
    """Write sheets as a workbook."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path
