"""``reservoir new``: a first file from a table, a workbook and a record, that plans at once and names its guesses."""

from __future__ import annotations

import re
import shlex
import shutil
import sys

import pytest

from reservoir import read_reservoir
from tests.io.case_book import case_sheets, days, plant, saved

LEVELS = "level_m,storage_hm3\n298,5\n303,12\n308,24\n313,41\n318,64\n322,86\n326,112\n"


def record(tmp_path, name="days.csv"):
    rows = days()
    lines = ["date,inflow_m3s", *(f"{row[0]:%Y-%m-%d},{row[1]}" for row in rows[2:])]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path / name


def test_a_table_and_a_record_make_a_file_that_plans_at_once(call, tmp_path):
    (tmp_path / "levels.csv").write_text(LEVELS)
    record(tmp_path)
    shown = call("new", "lake", "--from", "levels.csv", "--inflow", "days.csv").out
    assert "Record days.csv: 4 years from Oct, unit m³/s (from the column name)" in shown
    assert "largest 99.5 m³/s, which must find a way out" in shown
    lake = read_reservoir(tmp_path / "lake.toml")
    assert (lake.first_month, lake.release_upper_m3s.max()) == (10, 100)
    planned = call("plan", "days.csv", "--reservoir", "lake.toml", "--solver", "dp", "--no-figures", "--out", "p").out
    assert "in 4 years" in planned
    assert "Violation" not in planned


def test_every_guess_is_named_with_what_it_means_and_marked_in_the_file(call, tmp_path):
    (tmp_path / "levels.csv").write_text(LEVELS)
    record(tmp_path)
    shown = call("new", "lake", "--from-csv", "levels.csv", "--inflow", "days.csv").out
    text = (tmp_path / "lake.toml").read_text()
    marked = re.findall(r"^(\w+) = .*# invented \(", text, re.MULTILINE)
    assert "12 numbers are guesses" in shown
    told = re.findall(r"^  [\w.]*?(\w+) = \S+: (\w.*)$", shown, re.MULTILINE)
    assert sorted(key for key, _ in told) == sorted(marked)
    assert "  plant.hydraulic_capacity_m3s = 45.0: the maximum turbine discharge (1.5 times the mean flow" in shown
    assert "  release.upper_m3s = 100.0: the maximum release (the largest flow of the record is 99.5 m³/s)" in shown
    assert "# invented (100.0): replace it; the maximum release (the largest flow" in text


def test_a_workbook_gives_its_own_record_and_the_call_that_follows(call, tmp_path):
    saved(case_sheets(), tmp_path / "case.xlsx")
    shown = call("new", "lake", "--from", "case.xlsx").out
    assert 'sheet "Plant": name (row 1), plant.installed_capacity_mw (row 2 "Installed capacity")' in shown
    assert "3 numbers are guesses" in shown
    again = re.search(r"^  reservoir (plan .*)$", shown, re.MULTILINE)[1]
    assert again == "plan case.xlsx --reservoir lake.toml"
    call(*again.split(), "--solver", "dp", "--no-figures", "--out", "p")


def test_the_call_that_follows_can_be_typed_whatever_columns_and_files_are_called(call, tmp_path):
    rows = "\n".join(f"{year}-{month:02},{20 + month},1" for year in (2001, 2002) for month in range(1, 13))
    for name in ("my flows.csv", "my $flows.csv"):
        (tmp_path / name).write_text(f"date,Inflow total (m3/s),Inflow side (m3/s)\n{rows}\n")
    (tmp_path / "levels.csv").write_text("level_m,storage_hm3\n400,10\n420,60\n440,160\n")
    asked = ("new", "lake", "--from", "levels.csv", "--force", "--inflow")
    shown = call(*asked, "my $flows.csv", "--column", "Inflow side (m3/s)").out.splitlines()[-1]
    assert "plan 'my $flows.csv' --reservoir" in shown  # which no shell changes
    asked = (*asked, "my flows.csv")
    shown = call(*asked, "--column", "Inflow total (m3/s)").out.splitlines()[-1]
    assert shown.endswith('plan "my flows.csv" --reservoir lake.toml --column "Inflow total (m3/s)"')
    call(*shlex.split(shown)[1:], "--solver", "dp", "--no-figures", "--out", "p", status=None)
    (tmp_path / "my flows.csv").write_text(f"date,hill,mill\n{rows}\n")
    river = ("new", "river", "--system", "--reservoir", "hill", "--reservoir", "mill")
    shown = call(*river, *asked[4:], "--unit", "m3/s").out
    assert 'reservoir check "my flows.csv" --reservoir river.toml --unit m3/s' in shown


def test_a_record_of_its_own_goes_before_that_of_the_workbook(call, tmp_path):
    saved(case_sheets(), tmp_path / "case.xlsx")
    (tmp_path / "other.csv").write_text(
        "date,inflow_m3s\n" + "".join(f"{2001 + m // 12}-{m % 12 + 1:02},{40 + m}\n" for m in range(36))
    )
    shown = call("new", "lake", "--from", "case.xlsx", "--inflow", "other.csv", "--sheet", "Capacity curve").out
    assert shown.splitlines()[-1] == "  reservoir plan other.csv --reservoir lake.toml"  # no --sheet
    assert read_reservoir(tmp_path / "lake.toml").release_upper_m3s.max() == 75


def test_how_the_year_ends_decides_which_storages_are_guessed(call, tmp_path):
    saved(case_sheets() | {"Plant": [*plant(), ["Year end", "Cyclic"]]}, tmp_path / "case.xlsx")
    call("new", "lake", "--from", "case.xlsx")
    assert read_reservoir(tmp_path / "lake.toml").year_end == "cyclic"
    saved(case_sheets(), tmp_path / "case.xlsx")
    call("new", "lake", "--from", "case.xlsx", "--force")
    assert read_reservoir(tmp_path / "lake.toml").initial_storage_hm3 == pytest.approx(86)  # the limit of the summer


def test_a_record_that_cannot_be_read_is_refused_and_nothing_written(call, tmp_path):
    (tmp_path / "levels.csv").write_text(LEVELS)
    (tmp_path / "bad.csv").write_text("date,inflow_m3s\n2001-01,much\n")
    assert "row 2, column inflow_m3s" in call("new", "x", "--from", "levels.csv", "--inflow", "bad.csv", status=2).err
    assert not (tmp_path / "x.toml").exists()


def test_sheets_are_those_of_the_workbook_that_has_them(call, tmp_path):
    (tmp_path / "levels.csv").write_text("level_m,storage_hm3\n400,10\n420,60\n440,160\n")
    said = call("new", "lake", "--from", "levels.csv", "--sheet", "Foo", status=2).err
    assert '--sheet: the file is no workbook (found "Foo")' in said
    sheets = case_sheets()
    curve = sheets["Capacity curve"]
    saved({"Old curve": curve, "New curve": curve}, tmp_path / "lake.xlsx")
    saved({"Gauge 1": days(), "Gauge 2": days()}, tmp_path / "flows.xlsx")
    for table, names in (("lake.xlsx", ("New curve", "Gauge 2")), ("levels.csv", ("Gauge 2",))):
        words = [word for name in names for word in ("--sheet", name)]
        shown = call("new", "lake", "--from", table, "--inflow", "flows.xlsx", *words, "--force").out
        assert shown.splitlines()[-1] == '  reservoir plan flows.xlsx --reservoir lake.toml --sheet "Gauge 2"'


def test_the_sheet_that_is_meant_is_asked_for_by_its_option(call, tmp_path):
    sheets = case_sheets()
    saved(sheets | {"Old curve": sheets["Capacity curve"]}, tmp_path / "case.xlsx")
    said = call("plan", "case.xlsx", status=2).err
    assert "--sheet: 2 sheets may be the level curve: Capacity curve, Old curve" in said
    assert 'Fix: name it, such as --sheet "Capacity curve"' in said
    assert call("check", "case.xlsx", "--sheet", "Old curve").out.count('from sheet "Old curve"') == 1


@pytest.mark.parametrize("command", [["plan"], ["check"], ["new", "lake", "--from"]])
def test_what_reads_workbooks_is_named_where_it_is_not_installed(call, tmp_path, monkeypatch, command):
    saved(case_sheets(), tmp_path / "case.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    said = call(*command, "case.xlsx", status=2).err
    assert "needs openpyxl, which is not installed" in said
    assert "pip install 'reservoir[excel]'" in said


def test_sheets_of_two_workbooks_are_named_in_one_call(call, tmp_path):
    sheets = case_sheets()
    saved({name: rows for name, rows in sheets.items() if name != "Daily flow"} | {"B": sheets["Capacity curve"]},
          tmp_path / "lake.xlsx")  # fmt: skip
    saved({"Gauge 1": days(), "Gauge 2": days()}, tmp_path / "flows.xlsx")
    both = ["flows.xlsx", "--reservoir", "lake.xlsx", "--sheet", "B", "--sheet", "Gauge 2"]
    shown = call("check", *both).out
    assert 'level curve from sheet "B"' in shown
    assert 'inflow from sheet "Gauge 2", passed over Gauge 1' in shown
    assert "2 sheets may be the inflow: Gauge 1, Gauge 2" in call("check", *both[:-2], status=2).err
    assert "there is no such sheet" in call("check", *both, "--sheet", "Gauge 3", status=2).err
    record(tmp_path)
    assert 'from sheet "B"' in call("check", "days.csv", *both[1:5]).out
    assert "the file is no workbook" in call("check", "days.csv", "--sheet", "B", status=2).err


@pytest.fixture
def of_feet(call, tmp_path):
    """A rule outside its plan's folder, and the workbook in cfs without saying so that it was fitted to."""
    sheets = case_sheets()
    sheets["Daily flow"][1] = ["Date", "Inflow", "Quality"]
    sheets["Daily flow"][2:] = [[day, 35 * flow, "A"] for day, flow, _ in sheets["Daily flow"][2:]]
    saved(sheets | {"Other gauge": days()}, tmp_path / "case.xlsx")
    reading = ["--unit", "cfs", "--sheet", "Daily flow"]
    call("plan", "case.xlsx", *reading, "--solver", "dp", "--no-figures", "--out", "p")
    call("rules", "p", "--family", "linear", "--folds", "2", "--no-figures")
    shutil.copy(tmp_path / "p/rules/linear.json", tmp_path)
    shutil.copy(tmp_path / "case.xlsx", tmp_path / "renamed.xlsx")
    return reading


OCTOBER = ["--month", "10", "--level", "317", "--inflow", "20"]


def test_the_record_of_a_rules_workbook_is_read_as_for_its_plan(call, of_feet):
    asked = ["operate", "linear.json", *OCTOBER, "--reservoir"]
    answer = call(*asked, "case.xlsx").out
    assert answer == call(*asked, "p/reservoir.toml").out
    assert answer == call(*asked, "renamed.xlsx", *of_feet).out
    said = call(*asked, "renamed.xlsx", "--sheet", "Daily flow", status=2).err
    assert "different: release bounds" in said
    assert "reservoir.toml in the folder of its plan" in said
    simulated = call("simulate", "linear.json", "case.xlsx", *of_feet, "--reservoir", "case.xlsx", "--no-foresight")
    assert "4 years" in simulated.out


@pytest.mark.parametrize("option", [["--unit", "cfs"], ["--sheet", "Daily flow"], ["--missing-days", "2"]])
def test_how_an_inflow_is_read_is_not_said_where_none_is(call, of_feet, option):
    said = call("operate", "p/rules/linear.json", *OCTOBER, *option, status=2).err
    assert f"{option[0]}: is given, but no inflow is read" in said
