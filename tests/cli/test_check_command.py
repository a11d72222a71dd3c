"""``reservoir check``: what was understood of a record, on the screen, as JSON and as a figure."""

import json
import re

import pytest

ROWS = [f"{year},{','.join(str(100 + 10 * month + year % 7) for month in range(12))},7" for year in range(1990, 2002)]
HEADER = "WY,Oct (cfs),Nov,Dec,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Flag"


@pytest.fixture
def record(tmp_path):
    rows = ROWS.copy()
    rows[4] = rows[4].replace("156,", "15000,")
    (tmp_path / "record.csv").write_text("\n".join(("Inflow to the lake", HEADER, *rows)))
    return tmp_path / "record.csv"


def test_unit_years_and_columns_are_said(call, record):
    shown = call("check", record).out
    assert "12 years, 1989/90 to 2000/01; each Oct to Sep of the next year" in shown
    assert "values in cfs (from the column name); mean flow" in shown
    assert "passed over Flag" in shown
    assert "1990 is Oct 1989 to Sep 1990 (by the column name WY)" in shown
    assert "none: every month of these years has a value" in shown


def test_water_years_are_named_as_asked(call, record):
    shown = call("check", record, "--water-year", "begins").out
    assert "1990/91 to 2001/02" in shown
    assert "named by the year in which it begins: 1990 is Oct 1990 to Sep 1991 (as asked)" in shown


def test_json_has_what_the_screen_has(call, record):
    told = json.loads(call("check", record, "--json").out)
    assert (told["years"], told["first"], told["first_month"], told["unit"]) == (12, "1989/90", 10, "cfs")
    assert [each["year"] for each in told["outliers"]] == ["1993/94"]
    assert told["negative_months"] == told["zero_months"] == 0


def test_a_reservoir_is_set_beside_the_record(call, short_record, tmp_path):
    call("new", "lake", "--out", "lake.toml")
    told = json.loads(call("check", short_record, "--reservoir", "lake.toml", "--json").out)["reservoir"]
    assert told["active_storage_hm3"] > 0
    assert told["storage_years"] > 0
    assert told["inflow_fraction"] == pytest.approx(
        json.loads(call("check", short_record, "--json").out)["mean_m3s"] / told["turbine_capacity_m3s"]
    )


@pytest.mark.parametrize(("name", "begin"), [("record.png", b"\x89PNG"), ("record.svg", b"<?xml")])
def test_the_record_is_drawn_the_same_every_time(call, record, tmp_path, name, begin):
    assert f"Written to {name}" in call("check", record, "--out", name).out
    drawn = (tmp_path / name).read_bytes()
    assert drawn.startswith(begin)
    call("check", record, "--out", name, "--force")
    assert (tmp_path / name).read_bytes() == drawn


def test_a_figure_is_replaced_only_if_asked(call, record, tmp_path):
    (tmp_path / "record.png").write_text("mine")
    assert "already exists" in call("check", record, "--out", "record.png", status=2).err
    assert (tmp_path / "record.png").read_text() == "mine"
    assert "ends in .png or .svg" in call("check", record, "--out", "record.txt", status=2).err


def test_members_of_an_ensemble_are_summed_up(call, tmp_path):
    rows = [f"{m},{2000 + at // 12}-{at % 12 + 1:02},{50 + m + at % 12}" for m in range(3) for at in range(24)]
    (tmp_path / "members.csv").write_text("\n".join(("member,date,inflow_m3s", *rows)))
    told = json.loads(call("check", "members.csv", "--out", "members.svg", "--json").out)
    assert (told["members"], told["years"], told["figure"]) == (3, 6, "members.svg")


def test_a_wrong_record_is_refused_as_by_plan(call, record):
    record.write_text(record.read_text().replace("cfs", "mgd"))
    assert "unknown unit" in call("check", record, status=2).err


def test_amounts_are_told_in_the_units_of_the_call_and_the_files_unit_stays(call, record):
    si = json.loads(call("check", record, "--json").out)
    us = json.loads(call("check", record, "--json", "--units", "us").out)
    assert us["mean_cfs"] * 0.3048**3 == pytest.approx(si["mean_m3s"])
    acre_ft = 43_560 * 0.3048**3 / 1e6
    assert us["annual_acre_ft"]["most"] * acre_ft == pytest.approx(si["annual_hm3"]["most"])
    assert us["outliers"][0]["flow_cfs"] == pytest.approx(15_000)
    assert (us["unit"], us["unit_from"]) == (si["unit"], si["unit_from"])
    record.write_text(record.read_text().replace("cfs", "m3/s"))
    shown = call("check", record, "--units", "us").out
    assert "values in m3/s (from the column name); mean flow" in shown
    assert " cfs\n" in shown
    told = re.search(r"([\d,]+) acre-ft in a mean year \(([\d,]+) to ([\d,]+) acre-ft\)", shown)
    assert told
    mean, least, most = (float(each.replace(",", "")) for each in told.groups())
    assert least <= mean <= most


def test_a_figure_in_us_units_has_no_other(call, record, tmp_path):
    record.write_text(record.read_text().replace("cfs", "m3/s"))
    call("check", record, "--units", "us", "--out", "record.svg")
    drawn = (tmp_path / "record.svg").read_text()
    assert "Flow (cfs)" in drawn
    assert "acre-ft" in drawn
    assert "m³/s" not in drawn
    assert "m3/s" not in drawn
