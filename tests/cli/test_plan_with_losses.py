"""A reservoir file with losses and demands, and a record with their columns, typed as a user types them."""

import re
from pathlib import Path

import pandas as pd
import pytest

from reservoir.io.plan_folder.saved_plan import read_plan

DATA = Path(__file__).parents[2] / "data"
LOSSES = """
[losses]
evaporation_mm = [20, 30, 50, 80, 110, 130, 140, 120, 80, 50, 30, 20]
withdrawal_m3s = 2
[curves.seepage]
kind = "table"
storage_hm3 = [10, 130]
seepage_m3s = [0.1, 0.5]
"""
PLANT = "[plant]\nfull_load_hours = 600\npower_lower_mw = 3\noperating_level_m = 415"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    text = (DATA / "template.toml").read_text(encoding="utf-8").replace("[plant]", PLANT)
    (tmp_path / "lake.toml").write_text(text + LOSSES, encoding="utf-8")
    flows = [30, 28, 35, 50, 70, 80, 60, 45, 35, 30, 28, 26]
    rows = [
        f"{year}-{m + 1:02d},{flow + year % 7},{5 * m},30"
        for year in (2001, 2002, 2003)
        for m, flow in enumerate(flows)
    ]
    (tmp_path / "record.csv").write_text("date,inflow_m3s,evaporation_mm,withdrawal_cfs\n" + "\n".join(rows) + "\n")
    return str(tmp_path / "record.csv"), str(tmp_path / "lake.toml")


@pytest.mark.parametrize("more", [[], ["--horizon", "record"], ["--solver", "dp"]])
def test_a_plan_with_losses_keeps_its_checks_and_is_read_back(
    call, files: tuple[str, str], tmp_path: Path, more: list[str]
) -> None:
    record, lake = files
    folder = tmp_path / "plan"
    call("plan", record, "--reservoir", lake, "--out", str(folder), "--no-figures", *more)
    table = pd.read_csv(folder / "schedule.csv")
    assert (table["shortage_m3s"] == 0).all()
    assert table["withdrawal_m3s"].to_numpy() == pytest.approx(30 * 0.3048**3, abs=1e-6)  # the record's, not the file's
    assert table["evaporation_hm3"].iloc[0] == 0
    assert (table["evaporation_hm3"].iloc[1:12] > 0).all()
    assert read_plan(folder).plan.operation.has_conditions


AREA = "storage_hm3 = [10, 130]\narea_km2 = [1, 5]\n"
CHANGES = {
    "valued": [
        ('year_end = "fixed"', 'year_end = "valued"\nend_value_gwh_per_hm3 = 0.15'),
        ("final_hm3 = 110 ", "# "),
    ],
    "area": [("\n[curves.seepage]", '\n[curves.area]\nkind = "table"\n' + AREA + "[curves.seepage]")],
    "plant factor": [("full_load_hours = 600", "plant_factor = 0.8")],
    "seepage": [(LOSSES, "[losses]\nseepage_m3s = 0.3\n")],
    "ramps": [("[release]", "[release]\nramp_up_m3s = 30\nramp_down_m3s = 30")],
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_key_of_losses_and_demands_is_planned(call, files: tuple[str, str], tmp_path: Path, change: str) -> None:
    record, lake = files
    text = Path(lake).read_text(encoding="utf-8")
    for before, after in CHANGES[change]:
        assert before in text
        text = text.replace(before, after, 1)
    Path(lake).write_text(text, encoding="utf-8")
    call("plan", record, "--reservoir", lake, "--out", str(tmp_path / "plan"), "--no-figures")
    table = pd.read_csv(tmp_path / "plan" / "schedule.csv")
    assert (table["violation"] == 0).all()
    if change == "ramps":
        assert "no reference optimum" in (tmp_path / "plan" / "plan.json").read_text(encoding="utf-8")
        said = call("plan", record, "--reservoir", lake, "--solver", "dp", status=2).err
        assert "cannot limit the change of the release" in said


def test_rules_and_simulations_know_losses_and_demands(call, files: tuple[str, str], tmp_path: Path) -> None:
    record, lake = files
    folder = str(tmp_path / "plan")
    call("plan", record, "--reservoir", lake, "--out", folder, "--no-figures")
    families = ("--family", "guide-curve", "--family", "sdp")
    call("rules", folder, "--folds", "2", *families, "--no-figures")
    scores = pd.read_csv(tmp_path / "plan" / "scores.csv")
    assert (scores["percent_of_foresight"] < 100 + 1e-3).all()
    assert scores["supply_reliability"].between(0, 1).all()
    rule = tmp_path / "plan" / "rules" / "sdp.json"
    call("simulate", str(rule), record, "--reservoir", lake, "--out", str(tmp_path / "operated"))
    months = pd.read_csv(tmp_path / "operated" / "simulation.csv")
    assert {"evaporation_hm3", "withdrawal_m3s"} <= set(months)
    said = call("operate", str(rule), "--reservoir", lake, "--month", "7", "--storage", "60", "--inflow", "9").out
    assert "evaporation and seepage in the month" in said


def test_a_wrong_value_beside_the_inflow_is_named(call, files: tuple[str, str], tmp_path: Path) -> None:
    record, lake = files
    text = Path(record).read_text()
    Path(record).write_text(re.sub(r"(2001-03,[0-9]+,)10", r"\1wet", text))
    said = call("plan", record, "--reservoir", lake, status=2).err
    assert all(part in said for part in ("row 4", "evaporation_mm", "not a number"))


def test_evaporation_of_a_record_that_would_empty_the_lake_is_refused(
    call, files: tuple[str, str], tmp_path: Path
) -> None:
    record, lake = files
    Path(lake).write_text(
        Path(lake).read_text()
        + '\n[curves.area]\nkind = "table"\nstorage_hm3 = [10, 60, 70, 130]\narea_km2 = [1, 1, 9, 9]\n'
    )
    text = Path(record).read_text()
    Path(record).write_text(re.sub(r"(2001-03,[0-9]+,)10", r"\g<1>900", text))
    said = call("plan", record, "--reservoir", lake, status=2).err
    assert all(part in said for part in ("record.csv", "evaporation_mm", "of a further hm3", "Fix: check the units"))
