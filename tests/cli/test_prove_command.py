"""`reservoir prove` of a schedule in a file of its own: what anyone says is recomputed from the releases alone."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from reservoir import optimise, read_inflow, read_reservoir
from tests.planning.test_little_water import DRY, HILL, WET

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "own-reservoir"
INPUTS = ["--reservoir", "lake.toml", "--inflow", "inflow.csv"]
CYCLIC = ('year_end = "fixed"\ninitial_hm3 = 60.0', 'year_end = "cyclic"')


@pytest.fixture(scope="module")
def schedules(tmp_path_factory) -> dict[str, pd.DataFrame]:
    """The best schedules of two years, by horizon and year end, as tables with texts of six decimals."""
    folder = tmp_path_factory.mktemp("schedules")
    record, toml = "\n".join((EXAMPLE / "inflow.csv").read_text().splitlines()[:5]), (EXAMPLE / "hill-lake.toml")
    (folder / "inflow.csv").write_text(record + "\n")
    (folder / "cyclic.toml").write_text(toml.read_text().replace(*CYCLIC))
    inflow, found = read_inflow(folder / "inflow.csv"), {}
    for name, file, horizon in (
        ("years", toml, "year"),
        ("record", toml, "record"),
        ("cyclic", folder / "cyclic.toml", "year"),
    ):
        table = optimise(read_reservoir(file), inflow, solver="dp", horizon=horizon).schedule()
        found[name] = table.map(lambda cell: f"{cell:.6f}" if isinstance(cell, float) else str(cell))
    return found


@pytest.fixture
def prove(tmp_path, call, schedules):
    """Prove a table of a schedule; what `--json` says."""
    record = "\n".join((EXAMPLE / "inflow.csv").read_text().splitlines()[:5])
    (tmp_path / "inflow.csv").write_text(record + "\n")
    lake = (EXAMPLE / "hill-lake.toml").read_text()

    def prove(table, *words, status=0, cyclic=False):
        (tmp_path / "lake.toml").write_text(lake.replace(*CYCLIC) if cyclic else lake)
        table.to_csv(tmp_path / "mine.csv", index=False)
        said = call("prove", "mine.csv", *INPUTS, *words, "--json", status=status)
        return json.loads(said.out) if status != 2 else said.err

    return prove


@pytest.mark.parametrize(
    ("name", "words"), [("years", []), ("record", ["--horizon", "record"]), ("cyclic", ["--step", "month"])]
)
def test_schedules_of_years_and_of_a_record_are_verified(prove, schedules, name, words):
    found = prove(schedules[name], *words, cyclic=name == "cyclic")
    assert found["limits_not_kept"] == found["differences"] == []
    assert 0 <= found["proof"]["worst_gap"] <= 1.01e-5
    assert found["proof"]["problems"] == (1 if name == "record" else 2)


def test_dates_and_releases_of_three_decimals_are_enough(prove, schedules):
    table = schedules["years"]
    dates = table["year"] + "-" + table["month"].str.zfill(2)
    release = table["release_m3s"].astype(float).map("{:.3f}".format)
    found = prove(pd.DataFrame({"date": dates, "release_m3s": release}))
    assert found["limits_not_kept"] == found["differences"] == []
    assert 0 <= found["proof"]["worst_gap"] <= 1.01e-5


@pytest.mark.parametrize(
    ("form", "name", "words", "note"),
    [
        ("{month}/1/{year}", "date", [], "month first: 2/1/1981 is 1981-02-01 (so the rows are evenly apart)"),
        ("1.{month}.{year}", "date", ["--dates", "day-first"], "day first: 1.2.1981 is 1981-02-01 (as asked)"),
        ("{year}-{month:0>2}-01", "time", [], ""),
    ],
)
def test_dates_of_numbers_and_a_column_of_time_are_read(prove, schedules, form, name, words, note):
    table = schedules["years"]
    dates = [form.format(year=year, month=month) for year, month in zip(table["year"], table["month"], strict=True)]
    found = prove(pd.DataFrame({name: dates, "release_m3s": table["release_m3s"]}), *words)
    assert found["limits_not_kept"] == found["differences"] == found["columns_not_read"] == []
    assert found["notes"] == ([f"dates are read {note}"] if note else [])


def of_one_year(schedules, form):
    table = schedules["years"][:12]
    dates = [form.format(year=year, month=month) for year, month in zip(table["year"], table["month"], strict=True)]
    return pd.DataFrame({"date": dates, "release_m3s": table["release_m3s"]})


@pytest.mark.parametrize(
    ("form", "words", "note"),
    [
        ("{month}/1/{year}", [], "month first: 12/1/1981 is 1981-12 (so the rows are steps of the record)"),
        ("1/{month}/{year}", [], "day first: 1/12/1981 is 1981-12 (so the rows are steps of the record)"),
        ("{month:0>2}/{year}", [], ""),
    ],
)
def test_dates_of_one_year_are_read_as_steps_of_the_record(prove, schedules, form, words, note):
    found = prove(of_one_year(schedules, form), *words)
    assert found["notes"] == ([f"dates are read {note}"] if note else [])
    assert found["limits_not_kept"] == []


def test_the_encoding_of_a_schedule_is_told(prove, schedules, tmp_path, call):
    prove(of_one_year(schedules, "{year}-{month:0>2}").assign(流量="1"))
    text = (tmp_path / "mine.csv").read_text(encoding="utf-8")
    (tmp_path / "mine.csv").write_text(text, encoding="gb18030")
    said = call("prove", "mine.csv", *INPUTS).out
    assert "The file is read as GB18030 text, not as UTF-8" in said


def test_a_schedule_whose_dates_can_be_read_in_two_ways_names_the_option(prove, schedules):
    table = of_one_year(schedules, "{month}/1/{year}")
    said = prove(table.iloc[[1, 0, *range(2, 12)]], status=2)
    assert "mine.csv, row 2, column date: ambiguous date" in said
    assert "give --dates month-first or --dates day-first" in said


def test_blank_lines_count_as_rows(prove, schedules, call, tmp_path):
    table = schedules["years"].copy()
    for column, value, words in (
        ("release_m3s", "much", "row 8, column release_m3s: is not a number"),
        ("month", "9", "row 8, column month: is out of sequence"),
        ("energy_gwh", "99.0", "row 8, column energy_gwh: does not follow from the releases"),
    ):
        prove(with_cell(4, column, value)(table), status=1 if column == "energy_gwh" else 2)
        head, *lines = (tmp_path / "mine.csv").read_text().splitlines()
        (tmp_path / "mine.csv").write_text("\n".join([head, "", "", *lines, ""]))
        told = call("prove", "mine.csv", *INPUTS, status=None if column == "energy_gwh" else 2)
        assert f"mine.csv, {words}" in told.out + told.err
    dates = of_one_year(schedules, "{month}/1/{year}")
    prove(dates.iloc[[1, 0, *range(2, 12)]], status=2)
    (tmp_path / "mine.csv").write_text("\n\n" + (tmp_path / "mine.csv").read_text())
    assert "mine.csv, row 4, column date: ambiguous date" in call("prove", "mine.csv", *INPUTS, status=2).err


def test_a_schedule_in_us_units_is_verified(prove, schedules):
    table = schedules["years"]
    release, storage = (table[name].astype(float) for name in ("release_m3s", "storage_end_hm3"))
    flows, volumes = (release / 0.028316846592).map("{:.6f}".format), (storage * 810.713194).map("{:.3f}".format)
    found = prove(table[["year", "month"]].assign(release_cfs=flows, storage_end_acre_ft=volumes))
    assert found["limits_not_kept"] == found["differences"] == []


def test_a_schedule_of_some_years_is_verified(prove, schedules):
    assert len(prove(schedules["years"].iloc[12:])["years"]) == 1


def test_claims_that_do_not_follow_are_told(prove, schedules):
    table = schedules["years"].copy()
    table.iloc[4, table.columns.get_loc("energy_gwh")] = "99.0"
    found = prove(table, status=1)
    (told,) = found["differences"]
    assert "mine.csv, row 6, column energy_gwh: does not follow from the releases (found 99.0); expected " in told
    assert found["limits_not_kept"] == []


def test_limits_that_are_not_kept_are_told_and_the_year_has_no_gap(prove, schedules):
    table = schedules["years"][["year", "month", "release_m3s"]].copy()
    table.iloc[2, 2], table.iloc[3, 2] = "5.5", "500.0"
    found = prove(table, status=1)
    told = "\n".join(found["limits_not_kept"])
    assert "1981 Mar: the release is 5.5 m³/s, 0.5 m³/s below its lower limit of 6 m³/s" in told
    assert "1981 Apr: the release is 500 m³/s, 100 m³/s above its upper limit of 400 m³/s" in told
    assert "1981 Apr: the storage at the end of the month is " in told
    assert " hm³ below its lower limit of 15 hm³" in told
    first, second = found["years"]
    assert first["proven_gap"] is None
    assert first["proven_bound"] > 0
    assert second["proven_gap"] <= 1.01e-5


def test_sentences_are_shown_on_the_screen(tmp_path, call, prove, schedules):
    table = schedules["years"].copy()
    table.iloc[2, table.columns.get_loc("release_m3s")] = "75"
    prove(table, status=1)
    said = call("prove", "mine.csv", *INPUTS, "--gap", "1e-3", "--prove-seconds", "9", status=1).out
    assert "1981 Mar: the storage at the end of the month is " in said
    assert "mine.csv, row 4, column storage_end_hm3: does not follow from the releases (found " in said
    assert " more of this kind" in said
    assert "Proven: no schedule" in said


def with_cell(row, name, text):
    def change(table):
        table = table.copy()
        table.iloc[row, table.columns.get_loc(name)] = text
        return table

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda table: table.drop(6), 'row 8, column month: is out of sequence (found "1981, month 8")'),
        (lambda table: table.drop(23), "ends within a year"),
        (with_cell(0, "year", "1950"), 'row 2, column month: no year begins with it (found "1950, month 1")'),
        (with_cell(3, "release_m3s", "much"), 'row 5, column release_m3s: is not a number (found "much")'),
        (with_cell(3, "release_m3s", ""), "row 5, column release_m3s: is empty"),
        (with_cell(3, "release_m3s", "-1"), 'row 5, column release_m3s: is negative (found "-1")'),
        (lambda table: table.rename(columns={"release_m3s": "release_l_s"}), "expected release_m3s, or release_cfs"),
        (lambda table: table.drop(columns="month"), "expected date with months such as 1953-01, or year and month"),
    ],
)
def test_files_that_cannot_be_verified_are_refused(prove, schedules, change, words):
    table = schedules["years"][["year", "month", "release_m3s"]].reset_index(drop=True)
    assert words in " ".join(prove(change(table), status=2).split())


def test_a_cyclic_year_needs_its_start(prove, schedules):
    table = schedules["cyclic"].drop(columns="storage_start_hm3")
    assert "has no column storage_start_hm3" in prove(table, cyclic=True, status=2)


def test_a_schedule_needs_a_reservoir_and_an_inflow_and_a_folder_has_its_own(tmp_path, call):
    (tmp_path / "mine.csv").write_text("date,release_m3s\n")
    said = call("prove", "mine.csv", "--reservoir", "lake.toml", status=2).err
    assert "--inflow missing" in " ".join(said.split())
    (tmp_path / "folder").mkdir()
    assert "has its own reservoir and inflow" in " ".join(call("prove", "folder", *INPUTS, status=2).err.split())
    assert "there is no such folder or file" in " ".join(call("prove", "none.csv", *INPUTS, status=2).err.split())


#: A lake with a withdrawal, its inflow, and what a schedule for it begins with.
DRAWN = """name = "drawn"
[plant]
installed_capacity_mw = 30
efficiency = 0.88
hydraulic_capacity_m3s = 45
[storage]
dead_hm3 = 20
full_hm3 = 120
initial_hm3 = 110
year_end = "free"
[release]
lower_m3s = 4
upper_m3s = 200
[losses]
withdrawal_m3s = 10
[curves.level]
kind = "table"
storage_hm3 = [10, 40, 80, 130]
level_m = [405, 422, 435, 447]
[curves.tailrace]
kind = "power"
offset_m = 362
factor = 0.16
exponent = 0.6
"""


@pytest.fixture
def drawn(tmp_path, call):
    """Prove a schedule of a lake with a withdrawal, of equal months but for those given; what `--json` says."""
    months = [f"2001-{month:02}" for month in range(1, 13)]
    (tmp_path / "inflow.csv").write_text("date,inflow_m3s\n" + "".join(f"{month},40\n" for month in months))

    def drawn(heading, row, changed=None, *, status=1, toml=DRAWN):
        (tmp_path / "lake.toml").write_text(toml)
        rows = [(changed or {}).get(place, row) for place in range(12)]
        lines = "".join(f"{month},{each}\n" for month, each in zip(months, rows, strict=True))
        (tmp_path / "mine.csv").write_text(f"date,{heading}\n{lines}")
        said = call("prove", "mine.csv", *INPUTS, "--prove-seconds", "0", "--json", status=status)
        return " ".join(said.err.split()) if status == 2 else json.loads(said.out)

    return drawn


CELLS = ["1e308", "-1e308", "inf", "-inf", "nan", "1e999", "1" + "0" * 400, "9" * 25, "", "x"]


@pytest.mark.parametrize(
    ("name", "cell"),
    [("release_m3s", cell) for cell in CELLS]
    + [(name, cell) for name in ("release_cfs", "shortage_m3s", "energy_gwh") for cell in ("1e308", "-1e308", "inf")],
)
def test_cells_that_no_schedule_has_are_refused(drawn, name, cell):
    other = "shortage_m3s" if name.startswith("release") else "release_m3s"
    said = drawn(f"{name},{other}", "5,5", {5: f"{cell},5"}, status=2)
    assert f"mine.csv, row 7, column {name}: is " in said


@pytest.mark.parametrize("claims", ["500", "0"])
def test_a_release_beyond_all_limits_hides_nothing_of_the_other_months(drawn, claims):
    found = drawn("release_m3s,energy_gwh", f"30,{claims}", {11: "1000000,0"})
    assert "2001 Dec: the release is 1e+06 m³/s, 9.998e+05 m³/s above its upper" in "".join(found["limits_not_kept"])
    assert len(found["differences"]) >= 11
    assert found["years"][0]["proven_gap"] is None


@pytest.mark.parametrize(
    ("heading", "row", "words"),
    [
        ("release_m3s,release_cfs", "30,5", 'are columns of one quantity (found "release_m3s, release_cfs")'),
        ("release_m3s,Release_ls", "30,5", 'are columns of one quantity (found "release_m3s, Release_ls")'),
        ("release_m3s,release_m3s", "30,5", "column release_m3s: is there twice"),
        ("release_m3s,energy_gwh,energy_mwh", "30,5,5", 'are columns of one quantity (found "energy_gwh, energy_mwh")'),
        ("release_m3s,note,note", "30,5,5", "column note: is there twice"),
    ],
)
def test_two_columns_of_one_quantity_are_refused(drawn, heading, row, words):
    said = drawn(heading, row, status=2)
    assert f"mine.csv, row 1: {words}" in said or f"mine.csv, row 1, {words}" in said


def test_each_column_is_read_in_the_unit_of_its_own_heading(drawn):
    words = {"release_m3s": "30", "release_cfs": "1059.44", "release_ls": "30000"}
    claims = {
        "turbined_m3s": "30.000",
        "turbined_cfs": "1059.44",
        "turbined_ls": "30000",
        "withdrawal_cfs": "353.147",
        "storage_start_acre_ft": "89178.45",
    }
    for heading, release in words.items():
        for name, claim in claims.items():
            found = drawn(f"{heading},{name}", f"{release},{claim}", status=None)
            first_row_alone = [each for each in found["differences"] if "row 2," in each]
            assert first_row_alone == [], (heading, name)
            assert found["columns_not_read"] == []
    assert drawn("release_m3s,energy_gwh,Remark", "30,500,5")["columns_not_read"] == ["Remark"]


def test_a_shortage_beside_a_free_release_is_told(drawn):
    found = drawn("release_m3s,shortage_m3s", "40,10")
    assert len(found["limits_not_kept"]) == len(found["differences"]) == 12
    assert "2001 Jan: 10 of the 10 m³/s to be withdrawn are not delivered" in found["limits_not_kept"]
    assert "row 2, column release_m3s: does not follow beside a shortage of 10" in found["differences"][0]
    assert found["years"][0]["proven_gap"] is None
    in_cfs = drawn("release_cfs,shortage_m3s", "1412.59,10")
    assert "found 1412.59" in in_cfs["differences"][0]
    assert "expected 141.259, its lower limit" in in_cfs["differences"][0]


def test_a_shortage_at_the_least_release_is_an_unmet_demand_alone(drawn):
    first = dict.fromkeys(range(3), "40,0,10,40")
    found = drawn("release_m3s,shortage_m3s,withdrawal_m3s,turbined_m3s", "30,0,10,30", first | {3: "4.000,2.5,7.5,4"})
    assert found["differences"] == []
    assert found["limits_not_kept"] == ["2001 Apr: 2.5 of the 10 m³/s to be withdrawn are not delivered"]


def test_more_shortage_than_withdrawal_is_told(drawn):
    found = drawn("release_m3s,shortage_m3s", "30,0", {3: "4,12"})
    assert "row 5, column shortage_m3s: is more than is to be withdrawn (found 12.0)" in found["differences"][0]
    none = DRAWN.replace("[losses]\nwithdrawal_m3s = 10\n", "")
    (told,) = drawn("release_m3s,shortage_m3s", "40,-0.0", {3: "40,10"}, toml=none)["differences"]
    assert "expected at most 0, the withdrawal" in told
    assert drawn("release_m3s,shortage_m3s", "40,-0", status=0, toml=none)["limits_not_kept"] == []


def test_a_release_below_its_limit_is_no_shortage(drawn):
    found = drawn("release_m3s", "30", dict.fromkeys(range(3), "40") | {3: "3"})
    assert found["limits_not_kept"] == ["2001 Apr: the release is 3 m³/s, 1 m³/s below its lower limit of 4 m³/s"]


@pytest.mark.parametrize(("start", "words"), [("140", "20 hm³ above its upper"), ("15", "5 hm³ below its")])
def test_a_cyclic_year_that_starts_where_it_may_not_end_is_told(drawn, start, words):
    toml = DRAWN.replace('initial_hm3 = 110\nyear_end = "free"', 'year_end = "cyclic"')
    there, back = ("40", "20") if start == "140" else ("20", "40")
    row, last = (f"{release},{start}" for release in ("30", back))
    found = drawn("release_m3s,storage_start_hm3", row, {0: f"{there},{start}", 11: last}, toml=toml)
    (told,) = found["limits_not_kept"]
    assert f"2001: the storage at the start, and so at the end, is {start} hm³, {words}" in told
    assert found["years"][0]["proven_gap"] is None


def test_a_year_without_water_for_its_minimum_release_has_a_gap_and_is_named(call, tmp_path):
    """The same whether the plan is proved at once or later, and read again."""
    (tmp_path / "hill.toml").write_bytes(HILL.replace(b'"fixed"', b'"free"'))
    rows = [f"{year},{month},{flow}" for year, of in ((2001, WET), (2002, DRY)) for month, flow in enumerate(of, 1)]
    (tmp_path / "dry.csv").write_text("\n".join(["year,month,inflow_m3s", *rows]) + "\n")
    plan = ("plan", "dry.csv", "--reservoir", "hill.toml", "--solver", "dp", "--no-figures")
    told = call(*plan, "--prove", "--out", "at-once", status=None).out + call("prove", "at-once", status=None).out
    told = " ".join(told.split())
    assert told.count("Of 2002 the gap is to schedules that lack only water for the minimum release") == 2
    assert told.count("no schedule keeps the limits of 1 year: 2002 (by 2002-07-01)") == 2
    call(*plan, "--out", "later", status=None)
    found = json.loads(call("prove", "later", "--json", status=None).out)
    assert list(found["proof"]["infeasible"]) == ["2002"]
    assert found["proof"]["reached"] == 2
    shown = found["years"][1]
    assert 0 <= shown["proven_gap"] <= 1e-5
    assert shown["proven_bound"] == pytest.approx(-947.5095, abs=1e-2)
    for folder in ("at-once", "later"):
        row = pd.read_csv(tmp_path / folder / "summary.csv").iloc[1]
        assert row["proven_bound"] == pytest.approx(shown["proven_bound"], rel=1e-6)
        assert row["proven_gap"] <= 1e-5


@pytest.mark.parametrize("kind", ["csv", "xlsx", "netcdf"])
def test_rules_stay_those_of_a_plan_that_is_proven(call, tmp_path, kind):
    """The proof is written into the file of the schedule where that is one with the summary."""
    pytest.importorskip({"csv": "csv", "xlsx": "openpyxl", "netcdf": "h5netcdf"}[kind])
    (tmp_path / "inflow.csv").write_text("\n".join((EXAMPLE / "inflow.csv").read_text().splitlines()[:6]) + "\n")
    inputs = ["inflow.csv", "--reservoir", str(EXAMPLE / "hill-lake.toml"), "--solver", "dp", "--no-figures"]
    call("plan", *inputs, "--format", kind, "--out", "plan")
    call("rules", "plan", "--family", "linear", "--folds", "2", "--no-figures")
    call("prove", "plan", "--gap", "1e-2")
    asked = ["operate", "plan/rules/linear.json", "--month", "5", "--level", "317", "--inflow", "80"]
    assert "Optimised years" in call(*asked).out
    (releases,) = (tmp_path / "plan").glob("schedule.csv" if kind == "csv" else "arrays/release_m3s.npy")
    releases.write_bytes(releases.read_bytes()[:-7] + b"1234567")
    assert "was changed" in call(*asked, status=2).err


BADLY = ("plan", "inflow.csv", "--reservoir", "lake.toml", "--solver", "clpso-sequential", "--generations", "10")


def test_a_plan_that_its_proof_leaves_open_ends_with_the_better_schedule(call, tmp_path):
    """The folder says so, reads back, and comes again; `prove` and `--engine-only` leave schedules as they are."""
    (tmp_path / "lake.toml").write_text((EXAMPLE / "hill-lake.toml").read_text())
    (tmp_path / "inflow.csv").write_text("\n".join((EXAMPLE / "inflow.csv").read_text().splitlines()[:5]) + "\n")
    badly = (*BADLY, "--no-reference", "--no-figures", "--prove")
    said = " ".join(call(*badly, "1e-4", "--out", "better").out.split())
    assert "2 years (1981, 1982): dp found them in what was left, better by" in said
    told = json.loads((tmp_path / "better/plan.json").read_text())
    assert told["sources"] == {"clpso-sequential": 0, "search after the proof": 2}
    assert told["proof"]["reached"] == 2
    assert set(pd.read_csv(tmp_path / "better/summary.csv")["source"]) == {"search after the proof"}
    assert "Search after the proof: found where" in (tmp_path / "better/report.html").read_text()
    call(*badly, "1e-4", "--out", "again")
    before = (tmp_path / "better/schedule.csv").read_bytes()
    assert (tmp_path / "again/schedule.csv").read_bytes() == before
    call("prove", "better", "--gap", "1e-4")
    assert (tmp_path / "better/schedule.csv").read_bytes() == before
    assert json.loads((tmp_path / "better/plan.json").read_text())["notes"] == told["notes"]
    own = json.loads(call(*badly, "1e-1", "--prove-seconds", "5", "--engine-only", "--out", "own", "--json").out)
    assert own["sources"] == {"clpso-sequential": 2}
    assert own["energy_gwh"] < told["energy_gwh"]
