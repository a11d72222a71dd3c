"""A workbook of curve, limits, plant and inflow is a reservoir and its record; sheets are known by what they hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reservoir import read_inflow, read_reservoir
from reservoir.errors import InputError
from tests.io.case_book import MONTHS, Rows, case_sheets, curve, days, limits, plant, saved


def book(tmp_path: Path, **changed: Rows | None) -> Path:
    """The case with sheets replaced, added or left out."""
    sheets = case_sheets() | {name.replace("_", " "): rows for name, rows in changed.items() if rows is not None}
    left = {name: rows for name, rows in sheets.items() if changed.get(name.replace(" ", "_"), rows) is not None}
    return saved(left, tmp_path / "case.xlsx")


def refused(path: Path, **how: object) -> str:
    with pytest.raises(InputError) as caught:
        read_reservoir(path, **how)  # type: ignore[arg-type]
    return str(caught.value)


def test_every_number_of_the_sheets_reaches_the_reservoir(tmp_path: Path) -> None:
    lake = read_reservoir(book(tmp_path))
    assert (lake.name, lake.installed_mw, lake.first_month) == ("Hill-Lake", 24, 10)
    assert lake.release_lower_m3s.tolist() == [6] * 12
    np.testing.assert_allclose(lake.storage_upper_hm3, [86 if 5 <= month <= 7 else 112 for month in range(12)])
    np.testing.assert_allclose(lake.storage_lower_hm3, 12)  # by the dead level, 303 m
    assert float(lake.conversion(50.0)) == pytest.approx(0.88)
    assert float(lake.tailrace(20.0)) == float(lake.tailrace(90.0)) == 262
    assert float(lake.capacity_m3s(40.0)) == 55
    assert (lake.marks.dead_m, lake.marks.normal_m) == (303, 326)
    assert lake.release_upper_m3s.max() == 100  # the largest day, 99.5, can pass


def test_how_each_sheet_was_read_is_told(tmp_path: Path) -> None:
    path = book(tmp_path)
    notes = "\n".join(map(str, read_reservoir(path).notes))
    assert 'level curve from sheet "Capacity curve", 7 points: level 298 to 326 m (column "Elevation (m)")' in notes
    assert 'sheet "Limits": release.lower_m3s (column "Min release (m3/s)"), storage.upper_m by the' in notes
    assert 'plant.efficiency (row 4 "Efficiency")' in notes
    assert 'not read: "Dam height" (sheet Plant)' in notes
    assert "3 numbers are still those" in notes
    assert "release.upper_m3s = 100.0" in notes
    assert 'inflow from sheet "Daily flow"' in read_inflow(path).notes


def test_the_first_month_keeps_most_years(tmp_path: Path) -> None:
    path = book(tmp_path)
    assert read_inflow(path).years == 3
    lake = read_reservoir(path)
    assert read_inflow(path, first_month=lake.first_month).years == 4


def test_curve_and_inflow_alone_can_be_planned(tmp_path: Path) -> None:
    lake = read_reservoir(book(tmp_path, Limits=None, Plant=None))
    assert lake.name == "case"
    assert lake.release_lower_m3s.max() == 0
    assert (lake.storage_lower_hm3.min(), lake.storage_upper_hm3.max()) == (5, 112)
    assert "12 numbers are still those" in str(lake.notes[-1])


def test_the_first_month_of_a_sheet_goes_before_that_of_the_record(tmp_path: Path) -> None:
    assert read_reservoir(book(tmp_path, Plant=[*plant(), ["First month", "June"]])).first_month == 6


def test_limits_may_have_their_months_side_by_side(tmp_path: Path) -> None:
    across = [["Limit", *MONTHS], ["Min flow, cfs", *[100] * 12], ["Max storage (acre-feet)", *[80_000] * 12]]
    lake = read_reservoir(book(tmp_path, Limits=across))
    np.testing.assert_allclose(lake.release_lower_m3s, 2.8316846592)
    np.testing.assert_allclose(lake.storage_upper_hm3, 80_000 * 0.00123348184, rtol=1e-6)


@pytest.mark.parametrize("percents", [[85] * 12, [*[85] * 6, *[0.5] * 6], [0.85] * 12])
def test_a_plant_factor_of_each_month_may_be_in_per_cent(tmp_path: Path, percents: list[float]) -> None:
    rows = [[name, percent] for name, percent in zip(MONTHS, percents, strict=True)]
    lake = read_reservoir(book(tmp_path, Limits=[["Month", "Plant factor (%)"], *rows]))
    size = 100 if max(percents) > 1 else 1
    np.testing.assert_allclose(lake.plant_factor, np.array(percents) / size)


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ([["Release (m3/s)", "Tailwater level (m)"], [0, 261], [50, 262.5], [200, 264]], "tailrace"),
        ([["Head", "Efficiency"], ["ft", ""], [30, 0.8], [150, 0.9], [300, 0.86]], "conversion"),
        ([["head_m", "capacity_m3s"], [20, 30], [40, 45], [70, 55]], "capacity_m3s"),
        ([["Storage (hm3)", "Seepage (l/s)"], [0, 0], [120, 300]], "seepage_m3s"),
    ],
)
def test_further_curves_have_sheets_of_their_own(tmp_path: Path, rows: Rows, name: str) -> None:
    left = {"tailrace": "Tailwater", "conversion": "Efficiency", "capacity_m3s": "Turbine"}.get(name, "none")
    lake = read_reservoir(book(tmp_path, Plant=[row for row in plant() if left not in str(row[0])], Other=rows))
    given = getattr(lake, name)
    size = {"ft": 0.3048}.get(str(rows[1][0]), 1.0)
    points = [row for row in rows[1:] if not isinstance(row[0], str)]
    scale = 1e-3 if name == "seepage_m3s" else 1.0
    np.testing.assert_allclose(given([row[0] * size for row in points]), [row[1] * scale for row in points])


def test_chinese_names_are_read(tmp_path: Path) -> None:
    levels = [["水位(m)", "库容(亿m3)"], [1166, 46.6], [1200, 90.0], [1240, 149.14]]
    numbers = [["装机容量", 4200, "MW"], ["死水位(m)", 1166], ["正常蓄水位(m)", 1240], ["综合出力系数", 8.5]]
    months = [["月份", "最小下泄流量(m3/s)", "最高水位(m)"], *([f"{month}月", 300, 1240] for month in range(1, 13))]
    flows = [["日期", "入库流量(m3/s)"], *([row[0], row[1] * 40] for row in days()[2:])]
    sheets = {"曲线": levels, "参数": numbers, "限制": months, "径流": flows}
    lake = read_reservoir(saved(sheets, tmp_path / "水库.xlsx"))
    assert (lake.name, lake.installed_mw) == ("水库", 4200)
    np.testing.assert_allclose([lake.storage_lower_hm3.min(), lake.storage_upper_hm3.max()], [4660, 14914])
    assert lake.release_lower_m3s.tolist() == [300] * 12


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"Limits": [["Month", "Min release"], *([name, 6] for name in MONTHS)]}, ["Min release", "names no unit"]),
        ({"Limits": [["Month", "Min release (m3/s)"], *([name, 6] for name in MONTHS[:11])]}, ["lacks Dec"]),
        ({"Limits": [row if row[0] != "Mar" else ["Mar", "six", 326] for row in limits()]}, ["row 5", "six"]),
        ({"Limits": [row if row[0] != "Mar" else ["Mar", 6, 340] for row in limits()]}, ["outside the level curve"]),
        ({"Plant": [*plant(), ["Max turbine flow", 60, "m3/s"]]}, ["hydraulic_capacity_m3s is given twice", "row 9"]),
        ({"Plant": [*plant()[:3], ["Efficiency", 180, "%"]]}, ["sheet \"Plant\"", "plant.efficiency", "out of range"]),
        ({"Plant": [["Installed capacity", 24, "hp"], *plant()[2:]]}, ["Installed capacity", "MW"]),
        ({"Capacity_curve": [*curve(), [327, 100]]}, ["sheet Capacity curve", "row 12", "does not lie above 112"]),
    ],
)  # fmt: skip
def test_mistakes_are_told_by_sheet_and_place(tmp_path: Path, changed: dict[str, Rows], words: list[str]) -> None:
    said = refused(book(tmp_path, **changed))
    assert all(word in said for word in ["case.xlsx", *words]), said


def test_two_sheets_that_may_be_the_curve_are_refused_until_one_is_named(tmp_path: Path) -> None:
    path = book(tmp_path, Curve_1975=[["level_m", "storage_hm3"], [298, 6], [326, 130]])
    said = refused(path)
    assert "2 sheets may be the level curve: Capacity curve, Curve 1975" in said
    assert read_reservoir(path, sheet="Curve 1975").level.domain == (6, 130)
    assert read_reservoir(path, sheet=["capacity curve "]).level.domain == (5, 112)
    assert "there is no such sheet" in refused(path, sheet="Curve 1976")


def test_two_records_are_refused_until_one_is_named(tmp_path: Path) -> None:
    other = [[row[0], row[1] * 2] if len(row) == 3 and not isinstance(row[0], str) else row[:2] for row in days()[1:]]
    path = book(tmp_path, Naturalised=other)
    with pytest.raises(InputError, match="2 sheets may be the inflow: Daily flow, Naturalised"):
        read_inflow(path)
    first, second = read_inflow(path, sheet="Daily flow"), read_inflow(path, sheet="Naturalised")
    assert second.mean_m3s == pytest.approx(2 * first.mean_m3s)
    assert second.notes[0] == 'inflow from sheet "Naturalised", passed over Daily flow'


def test_a_dated_sheet_of_another_quantity_is_passed_over_and_told(tmp_path: Path) -> None:
    rain = [["date", "precipitation_mm"], *([row[0], 3.0] for row in days()[2:])]
    notes = read_inflow(book(tmp_path, Rain=rain)).notes
    assert notes[0] == 'inflow from sheet "Daily flow", passed over Rain'


def test_a_sheet_is_not_named_of_a_file_without_sheets(tmp_path: Path) -> None:
    (tmp_path / "inflow.csv").write_text("date,inflow_m3s\n" + "".join(f"2001-{m:02},5\n" for m in range(1, 13)))
    with pytest.raises(InputError, match="the file is no workbook"):
        read_inflow(tmp_path / "inflow.csv", sheet="Inflow")
