"""`reservoir prove` of a schedule in a file of its own: what anyone says is recomputed from the releases alone."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from reservoir import optimise, read_inflow, read_reservoir

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
    assert "1981 Mar: the release is 5.5 m3/s, 0.5 m3/s below its lower limit of 6 m3/s" in told
    assert "1981 Apr: the release is 500 m3/s, 100 m3/s above its upper limit of 400 m3/s" in told
    assert "1981 Apr: the storage at the end of the month is " in told
    assert " hm3 below its lower limit of 15 hm3" in told
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
