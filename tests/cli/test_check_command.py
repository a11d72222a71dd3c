"""``reservoir check``: what was understood of a record, on the screen, as JSON and as a figure."""

import json
import math
import re
from datetime import date, timedelta

import pytest

from tests.io.records.service_forms import FORMS

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
    short_record.write_text(f"# unit: m3/s\n{short_record.read_text()}")
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
    assert "values in m³/s (from the column name); mean flow" in shown
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


FLOWS = [11.3, 12.48, 16.75, 43.39, 76.09, 53.08, 21.73, 12.0, 13.1, 23.7, 27.3, 16.1]


def river(path, size=1.0, header="date,flow"):
    rows = (f"{year}-{at + 1:02},{flow * size:.6g}" for year in (2001, 2002) for at, flow in enumerate(FLOWS))
    path.write_text("\n".join((header, *rows)))
    return path


@pytest.mark.parametrize(
    ("size", "unit"),
    [
        (1 / 0.3048**3, "cfs"),
        (1e-3 / 0.3048**3, "kcfs"),
        (1e3, "l/s"),
        (2131.0, "acre-ft"),
        (0.0263, "1e8m3"),
    ],
)
def test_a_unit_that_nobody_gave_is_doubted_beside_the_turbines_and_the_fitting_one_named(call, tmp_path, size, unit):
    call("new", "lake", "--out", "lake.toml")
    record = river(tmp_path / "record.csv", size)
    shown = call("check", record, "--reservoir", "lake.toml", status=1).out
    assert "Doubt     the file gives no unit, and read as m³/s its mean flow of " in shown
    assert re.search(rf"give the unit: .*\b{unit} \(then ", shown)
    told = json.loads(call("check", record, "--reservoir", "lake.toml", "--json", status=1).out)
    assert len(told["doubts"]) == 1
    given = json.loads(call("check", record, "--reservoir", "lake.toml", "--json", "--unit", unit).out)
    assert given["doubts"] == []
    assert given["mean_m3s"] == pytest.approx(27.3, rel=0.02)


@pytest.mark.parametrize(
    ("size", "header"), [(0.3, "date,flow"), (1.0, "date,flow"), (5.0, "date,flow"), (35.0, "date,flow_m3s")]
)
def test_a_plausible_flow_and_a_unit_that_is_given_are_not_doubted(call, tmp_path, size, header):
    call("new", "lake", "--out", "lake.toml")
    shown = call("check", river(tmp_path / "record.csv", size, header), "--reservoir", "lake.toml").out
    assert "Doubt" not in shown


def test_a_plan_doubts_the_unit_too_on_the_screen_and_in_its_report(call, tmp_path):
    call("new", "lake", "--out", "lake.toml")
    record = river(tmp_path / "record.csv", 35.3)
    quick = ("--solver", "lshade-sequential", "--evaluations", 200, "--engine-only", "--no-reference", "--no-figures")
    shown = call("plan", record, "--reservoir", "lake.toml", *quick, "--out", "plan", status=None).out
    doubt = "the file gives no unit, and read as m³/s its mean flow of "
    assert f"Doubt     {doubt}" in shown
    assert any(note.startswith(doubt) for note in json.loads((tmp_path / "plan/plan.json").read_text())["notes"])
    assert "he file gives no unit, and read as m³/s" in (tmp_path / "plan/report.html").read_text()


@pytest.mark.parametrize("given", ["record", "reservoir", "case"])
def test_a_plan_of_a_stranger_says_so_first_and_in_the_report(call, tmp_path, given):
    call("new", "lake", "--out", "lake.toml")
    river(tmp_path / "record.csv", 40, "date,inflow_m3s")
    files = {
        "record": ("record.csv",),
        "reservoir": ("--reservoir", "lake.toml"),
        "case": ("record.csv", "--case", "xiaowan"),
    }
    said = {
        "record": "no reservoir was given: the bundled xiaowan was used for record.csv; results are not those of your "
        "reservoir (--reservoir FILE.toml)",
        "reservoir": "no inflow was given: the bundled record was used for lake.toml; results are not those of your "
        "river (INFLOW.csv)",
        "case": "",
    }[given]
    quick = ("--solver", "lshade-sequential", "--evaluations", 100, "--engine-only", "--no-reference", "--no-figures")
    shown = call("plan", *files[given], *quick, "--out", "plan", status=None).out
    notes = json.loads((tmp_path / "plan/plan.json").read_text())["notes"]
    report = (tmp_path / "plan/report.html").read_text()
    if said:
        assert shown.startswith(f"Warning   {said}\n")
        assert shown.count(said) == 1
        assert said in notes
        assert said[1:] in report
    else:
        assert "Warning" not in shown
        assert not any("bundled" in note for note in notes)


LEVELS = "level_m,storage_hm3\n" + "\n".join(f"{400 + 3 * at},{5 + 8 * at + at * at}" for at in range(12))


def test_numbers_that_a_new_file_invents_are_named_until_they_are_replaced(call, tmp_path):
    (tmp_path / "levels.csv").write_text(LEVELS)
    call("new", "lake", "--from-csv", "levels.csv")
    file, record = tmp_path / "lake.toml", river(tmp_path / "record.csv", 1, "date,inflow_m3s")
    assert "installed_capacity_mw = 30 # invented (30): replace it" in file.read_text()

    def told():
        notes = json.loads(call("check", record, "--reservoir", file, "--json").out)["reservoir"]["notes"]
        found = [note for note in notes if '"reservoir new" invented' in note]
        assert len(found) <= 1
        assert "".join(found) in call("check", record, "--reservoir", file).out
        return "".join(found)

    first = told()
    assert first.startswith("12 numbers are still those that")
    for each in (
        "plant.installed_capacity_mw = 30",
        "storage.dead_hm3 = 5.0",
        "release.lower_m3s = 4",
        "curves.tailrace.factor = 0.16",
    ):
        assert each in first
    assert "level_m = [" not in first
    file.write_text(
        file.read_text()
        .replace("capacity_mw = 30 #", "capacity_mw = 31 #")
        .replace("lower_m3s = 4 #", "lower_m3s = 3 #")
    )
    second = told()
    assert second.startswith("10 numbers are still those that")
    assert "installed" not in second
    file.write_text(re.sub(r" # invented.*", "", file.read_text()))
    assert told() == ""


def test_a_plan_names_them_too(call, tmp_path):
    call("new", "lake")
    river(tmp_path / "record.csv", 1, "date,inflow_m3s")
    quick = ("--solver", "lshade-sequential", "--evaluations", 100, "--engine-only", "--no-reference", "--no-figures")
    shown = call("plan", "record.csv", "--reservoir", "lake.toml", *quick, "--out", "plan", status=None).out
    assert 'numbers are still those that "reservoir new" invented' in shown
    assert "plant.output_coefficient = 8.3" in (tmp_path / "plan/report.html").read_text()


def test_the_rows_of_a_series_are_chosen_as_the_refusal_names_them(call, tmp_path):
    form = next(form for form in FORMS if form.name == "CDEC, two sensors")
    (tmp_path / "sensors.csv").write_text(form.content)
    refused = call("check", tmp_path / "sensors.csv", status=2).err
    option = re.search(r'--column "([^"]+)"', refused)
    assert option
    shown = call("check", tmp_path / "sensors.csv", "--column", option[1], "--missing-days", "1").out
    assert "read the 1,096 of 2,192 rows in which SENSOR_TYPE is INFLOW" in " ".join(shown.split())


def test_zeros_stuck_values_and_missing_days_are_named_on_the_screen_and_as_json(call, tmp_path):
    days = [date(2001, 1, 1) + timedelta(day) for day in range(4 * 365 + 1)]
    flows = {day: f"{12 + 8 * math.sin(at / 58) + 0.3 * math.sin(at * 1.7):.2f}" for at, day in enumerate(days)}
    flows |= dict.fromkeys(days[200:206], "0") | dict.fromkeys(days[400:445], flows[days[400]])
    rows = (f"{day},{flow},2.5" for day, flow in flows.items() if day != days[700])
    (tmp_path / "days.csv").write_text("\n".join(("date,inflow_m3s,evaporation_mm", *rows)))
    shown = call("check", "days.csv", "--missing-days", "1").out
    assert "Zeros     6 days of exactly 0: 2001-07-20 to 2001-07-25 (usually " in shown
    assert "Stuck     45 days of the same value: 2002-02-05 to 2002-03-21 (" in shown
    assert "1 day that the file lacks: 2002-12-02" in shown
    assert "mm a year, from column evaporation_mm" in shown
    told = json.loads(call("check", "days.csv", "--missing-days", "1", "--json", "--units", "us").out)
    assert told["missing_days"] == [{"first": "2002-12-02", "last": "2002-12-02", "days": 1}]
    assert [(each["first"], each["rows"], each["flow_cfs"]) for each in told["zeros"]] == [("2001-07-20", 6, 0.0)]
    (stuck,) = told["stuck"]
    assert (stuck["first"], stuck["last"], stuck["rows"]) == ("2002-02-05", "2002-03-21", 45)
    assert stuck["flow_cfs"] * 0.3048**3 == pytest.approx(float(flows[days[400]]))
    assert told["years_by_first_month"] == {str(month): 4 if month == 1 else 3 for month in range(1, 13)}
    assert any("evaporation" in note for note in told["notes"])


def test_the_first_month_that_keeps_most_years_is_told(call, tmp_path):
    rows = (f"{2001 + at // 12}-{at % 12 + 1:02},{FLOWS[at % 12]}" for at in range(9, 9 + 36))
    (tmp_path / "october.csv").write_text("\n".join(("date,inflow_m3s", *rows)))
    shown = call("check", "october.csv").out
    assert "2 years, 2002 to 2003; each Jan to Dec" in shown
    assert "3 years if they begin in Oct: first_month of the reservoir file" in shown


def _lake(call, tmp_path):
    call("new", "lake", "--out", "lake.toml")
    return (tmp_path / "lake.toml").read_text()


@pytest.mark.parametrize("spoil", ["", "description = ", "[curves"])
@pytest.mark.parametrize("name", ["lake.toml", "lake.csv"])
def test_a_reservoir_file_given_as_the_record_is_told_so_and_the_mend_works(call, tmp_path, name, spoil):
    (tmp_path / name).write_text(_lake(call, tmp_path).replace('description = ""', spoil or 'description = ""'))
    said = call("check", name, status=2).err
    assert said.count("Error") == 1
    assert "this is a reservoir file (TOML), not a record" in said
    assert "give it by --reservoir, and a record in its place" in said
    if not spoil:
        assert "active storage" in call("check", river(tmp_path / "record.csv"), "--reservoir", name).out


@pytest.mark.parametrize(
    "text",
    [
        "date,inflow_m3s\n2001-01,3\n",
        "date;inflow_m3s\n2001-01;3\n2001-02;4\n",
        '"year","m01"\n"1953","3"\n',
        "# unit: hm3\nyear\tJan\n1953\t3\n",
        "Lake level table\nlevel_m,storage_hm3\n405,10\n422,40\n",
    ],
)
def test_a_record_given_as_the_reservoir_is_told_so(call, tmp_path, text):
    (tmp_path / "table.csv").write_text(text)
    record = river(tmp_path / "record.csv")
    said = call("check", record, "--reservoir", "table.csv", status=2).err
    assert said.count("Error") == 1
    assert "table.csv: is a table, such as a record of inflow; expected a reservoir file (TOML)" in said
    assert '"reservoir new NAME" writes' in said


def test_both_told_where_they_are_the_wrong_way_round(call, tmp_path):
    _lake(call, tmp_path)
    said = call("plan", "lake.toml", "--reservoir", river(tmp_path / "record.csv"), status=2).err
    assert "lake.toml, row 13: this is a reservoir file (TOML), not a record" in said
    assert "record.csv: is a table, such as a record of inflow" in said


def test_a_reservoir_file_of_long_lists_with_a_mistake_is_no_table(call, tmp_path):
    broken = "name = lake\n[curves]\nlevels = [\n" + "1, 2, 3, 4,\n" * 30 + "]\n"
    (tmp_path / "lake.toml").write_text(broken)
    said = call("check", river(tmp_path / "record.csv"), "--reservoir", "lake.toml", status=2).err
    assert "lake.toml, row 1: " in said
    assert "table" not in said
