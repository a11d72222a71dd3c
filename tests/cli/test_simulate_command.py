import hashlib
import os
import shutil
import threading

import numpy as np
import pandas as pd
import pytest

from reservoir.text.quantities import counted

FILES = ["simulation.csv", "simulation.json", "summary.csv"]


@pytest.fixture
def record(six_years_file, tmp_path):
    return shutil.copy(six_years_file, tmp_path / "record.csv")


def training_score(plan, family, run):
    scores = pd.read_csv(plan / "scores.csv")
    rows = scores[(scores["family"] == family) & (scores["run"] == run) & (scores["sample"] == "training")]
    # How far decisions are from the plan's is known where there is a plan.
    return rows.iloc[0].drop(["family", "run", "sample", "misfit_m3s"]).to_dict()


@pytest.mark.parametrize(("options", "run"), [((), "continuous"), (("--yearly",), "yearly")])
def test_a_rule_on_the_record_of_its_plan_makes_its_training_score(call, plan, record, options, run, strict):
    arguments = ("simulate", "plan/rules/linear.json", "record.csv", *options, "--out", "out", "--json")
    score = strict(call(*arguments).out)["score"]
    wanted = training_score(plan, "linear", run)
    # Nothing is demanded of the water.
    assert np.isnan(wanted.pop("supply_reliability"))
    assert score["supply_reliability"] is None
    # The regret is a small difference of large sums, and a yearly run finds the plan's energies again.
    assert score["regret_gwh"] == pytest.approx(wanted.pop("regret_gwh"), abs=0.05)
    assert {name: score[name] for name in wanted} == pytest.approx(wanted, rel=1e-5, abs=2e-6)
    assert (score["run"], score["sample"]) == (run, "record")


def test_the_tables_and_their_provenance_are_written(run, plan, record, tmp_path, strict):
    printed = run("simulate", "plan/rules/guide-curve.json", "record.csv", "--out", "out").stdout
    assert "6 years, 1953 to 1958, rule guide-curve" in printed
    assert "of perfect foresight over the record" in printed
    assert "Written to out" in printed
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    months, years = pd.read_csv(tmp_path / "out/simulation.csv"), pd.read_csv(tmp_path / "out/summary.csv")
    assert len(months) == 72
    assert list(years["year"]) == [1953, 1954, 1955, 1956, 1957, 1958]
    assert np.allclose(months.groupby("year")["energy_gwh"].sum(), years["energy_gwh"], atol=1e-4)
    told = strict((tmp_path / "out/simulation.json").read_text())
    assert told["rule"]["family"] == "guide-curve"
    assert told["inflow"]["file"] == "record.csv"
    assert (told["inflow"]["unit"], told["inflow"]["unit_from"]) == ("m3/s", "assumed: the file gives no unit")
    assert "Inflow: values in m³/s (assumed: the file gives no unit); mean flow " in printed


def test_without_foresight_json_says_null_where_it_is_not_known(call, plan, record, tmp_path, strict):
    printed = call("simulate", "plan/rules/linear.json", "record.csv", "--no-foresight", "--out", "out", "--json").out
    assert strict(printed)["score"]["percent_of_foresight"] is None
    assert strict((tmp_path / "out/simulation.json").read_text())["score"]["percent_of_foresight"] is None
    assert pd.read_csv(tmp_path / "out/summary.csv")["foresight_gwh"].isna().all()


def test_without_out_a_new_folder_appears_under_reports(call, plan, record, tmp_path):
    for _ in range(2):
        call("simulate", "plan/rules/linear.json", "record.csv", "--no-foresight")
    assert len(list((tmp_path / "reports").glob("simulation-linear-*"))) == 2


def test_a_record_of_one_year_and_a_low_start_is_told_month_by_month(call, plan, record, tmp_path, strict):
    (tmp_path / "one.csv").write_text("".join(record.read_text().splitlines(keepends=True)[:2]))
    options = ("--level", "1100", "--no-foresight", "--out", "out")
    printed = call("simulate", "plan/rules/linear.json", "one.csv", *options).out
    assert "1 year, 1953" in printed
    assert (
        "The storage at the start, 1,373 hm³, is below dead storage, 4,662 hm³: nothing is released before" in printed
    )
    assert "1953 Jan: 300 m³/s are missing of the minimum release; there is no more water above dead" in printed
    assert "storage outside its limits" not in printed  # below dead storage nothing was decided
    assert len(strict((tmp_path / "out/simulation.json").read_text())["shortfalls"]) > 0


@pytest.mark.parametrize("level", ["nan", "inf"])
def test_a_level_that_is_no_number_is_refused(call, plan, record, tmp_path, level):
    refused = call("simulate", "plan/rules/linear.json", "record.csv", "--level", level, "--out", "out", status=2).err
    assert f"Invalid value for '--level': '{level}' is not a finite number" in refused
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("level", ["1099", "1246"])
def test_a_level_off_the_curve_is_refused(call, plan, record, tmp_path, level):
    refused = call("simulate", "plan/rules/linear.json", "record.csv", "--level", level, "--out", "out", status=2).err
    assert "--level: is outside the level curve" in refused
    assert "expected 1100.00 to 1245.00 m" in refused
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("target", ["record.csv", "record.csv/out", "plan"])
def test_an_output_that_is_in_the_way_is_named_and_kept(call, plan, record, target):
    before = record.read_bytes()
    refused = call("simulate", "plan/rules/linear.json", "record.csv", "--out", target, status=2).err
    assert "record.csv" in refused or "plan: already exists and is not empty" in refused
    assert record.read_bytes() == before


def test_a_rule_away_from_its_plan_needs_its_reservoir(call, plan, record, tmp_path):
    shutil.copy(plan / "rules/linear.json", tmp_path / "lone.json")
    options = ("--no-foresight", "--out", "out")
    refused = call("simulate", "lone.json", "record.csv", *options, status=2).err
    assert refused.splitlines() == [refused.strip()]
    assert "give --reservoir FILE.toml" in refused
    call("simulate", "lone.json", "record.csv", "--reservoir", "plan/reservoir.toml", *options)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "xiaowan"', 'name = "other"', "is a rule for another reservoir"),
        ('name = "xiaowan"', 'name = "xiaowan"\nfirst_month = 6', "water years that begin in another month"),
    ],
)
def test_a_rule_for_another_reservoir_is_refused(call, plan, record, tmp_path, old, new, words):
    text = (plan / "reservoir.toml").read_text()
    assert old in text
    (tmp_path / "other.toml").write_text(text.replace(old, new, 1))
    arguments = ("simulate", "plan/rules/linear.json", "record.csv", "--reservoir", "other.toml", "--out", "out")
    assert words in call(*arguments, status=2).err
    assert not (tmp_path / "out").exists()


def test_a_missing_rule_is_one_mistake(call, plan, record):
    refused = call("simulate", "nothing.json", "record.csv", status=2).err
    assert len(refused.splitlines()) == 1
    assert "nothing.json: does not exist" in refused


def test_an_interrupted_run_writes_nothing(call, plan, record, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("reservoir.report.rules_folder.simulation_provenance", interrupt)
    before = sorted(tmp_path.iterdir())
    call("simulate", "plan/rules/linear.json", "record.csv", "--no-foresight", "--out", "out", status=130)
    assert sorted(tmp_path.iterdir()) == before


def test_a_broken_record_is_refused_and_nothing_is_written(run, plan, record, tmp_path):
    record.write_text(record.read_text().replace("\n1953,413,", "\n1953,-4,"))
    refused = run("simulate", "plan/rules/linear.json", "record.csv", "--out", "out", status=2).stderr
    assert "record.csv, row 2, column m01: negative flow" in refused
    assert not (tmp_path / "out").exists()


def test_another_reservoir_of_the_same_name_is_refused_before_anything_is_written(call, plan, record, tmp_path):
    text = (plan / "reservoir.toml").read_text()
    assert "installed_capacity_mw = 4200" in text
    (tmp_path / "other.toml").write_text(text.replace("installed_capacity_mw = 4200", "installed_capacity_mw = 4100"))
    arguments = ("simulate", "plan/rules/linear.json", "record.csv", "--reservoir", "other.toml", "--out", "out")
    assert "different: installed capacity" in call(*arguments, status=2).err
    assert not (tmp_path / "out").exists()


def test_months_without_water_for_the_minimum_are_counted_and_told(call, plan, record, tmp_path, strict):
    (tmp_path / "one.csv").write_text("".join(record.read_text().splitlines(keepends=True)[:2]))
    options = ("one.csv", "--level", "1100", "--no-foresight")
    printed = call("simulate", "plan/rules/linear.json", *options, "--out", "out").out
    score = strict((tmp_path / "out/simulation.json").read_text())["score"]
    told = strict((tmp_path / "out/simulation.json").read_text())["shortfalls"]
    start, *missing = told
    assert "is below dead storage" in start
    assert all("m³/s are missing of the minimum release" in each for each in missing)
    assert score["months_unmet"] == len(missing) > 0
    assert score["months_violated"] == 0
    assert score["violation"] > 0
    assert f"is missed in {counted(len(missing), 'month')}" in printed
    kept = call("simulate", "plan/rules/linear.json", "record.csv", "--no-foresight", "--out", "kept").out
    assert "outside its limits" not in kept


def test_a_rule_from_a_pipe_is_read_once(call, plan, record, tmp_path, strict):
    content = (plan / "rules/linear.json").read_bytes()
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    options = ("--reservoir", "plan/reservoir.toml", "--no-foresight", "--out", "out")
    call("simulate", "pipe", "record.csv", *options)
    writer.join()
    told = strict((tmp_path / "out/simulation.json").read_text())["rule"]
    assert told["sha256"] == hashlib.sha256(content).hexdigest()
