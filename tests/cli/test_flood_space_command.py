"""Flood space by date and snow, and recorded losses, typed as a user types them: from check to operate."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.io.small_reservoir import SMALL

SPACE = """
[flood_space]
column = "Snow (mm)"
values = [0, 300]
dates = ["01-15", "04-30", "07-01"]
space_hm3 = [[0, 0, 0], [10, 50, 0]]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("flood")
    (folder / "lake.toml").write_text(SMALL + SPACE)
    flows, snow = [12, 12, 16, 40, 70, 60, 30, 20, 16, 14, 12, 12], [100, 200, 300, 300, 150, 0, 0, 0, 0, 0, 20, 50]
    rows = [
        f"{year}-{month + 1:02},{flows[month] + year % 5},{snow[month]},{100 * month},-5"
        for year in (2001, 2002, 2003)
        for month in range(12)
    ]
    header = "date,inflow_m3s,Snow (mm),evaporation_acre_ft,bank_storage_acre_ft"
    (folder / "in.csv").write_text(f"{header}\n" + "\n".join(rows) + "\n")
    return folder


def test_a_plan_its_rules_and_the_month_keep_the_space(call, folder: Path) -> None:
    record, lake, plan = (str(folder / name) for name in ("in.csv", "lake.toml", "plan"))
    checked = call("check", record, "--reservoir", lake).out
    assert "in place of evaporation by area, from column evaporation_acre_ft" in checked
    assert "from column Snow (mm)" in checked
    call("plan", record, "--reservoir", lake, "--solver", "dp", "--no-figures", "--out", plan)
    months = pd.read_csv(folder / "plan/schedule.csv")
    april = months[months["month"] == 4]
    assert (april["storage_end_hm3"] <= 70 + 1e-6).all()
    assert (months["storage_end_hm3"] > 110).any()
    assert months["evaporation_hm3"].to_numpy() == pytest.approx(np.tile(np.arange(12) * 0.12334818, 3), abs=1e-6)
    call("prove", plan, "--gap", "1e-3")
    call("rules", plan, "--family", "standard", "--folds", "3", "--no-figures")
    rule = str(folder / "plan/rules/standard.json")
    given = ("operate", rule, "--month", "4", "--storage", "100", "--inflow", "50", "--json")
    snowy, bare = (json.loads(call(*given, "--flood-index", value).out)["advice"] for value in ("300", "0"))
    assert snowy["end_storage_hm3"] == pytest.approx(70, abs=1e-6)
    assert bare["end_storage_hm3"] > 75
    assert "--flood-index: is missing: the flood space depends on it" in call(*given, status=2).err
    call("simulate", rule, record, "--no-foresight", "--out", str(folder / "simulated"))
    assert (pd.read_csv(folder / "simulated/simulation.csv").query("month == 4")["storage_end_hm3"] <= 70 + 1e-6).all()


def test_a_record_without_the_column_is_refused(call, folder: Path) -> None:
    lake, bare = str(folder / "lake.toml"), folder / "bare.csv"
    bare.write_text((folder / "in.csv").read_text().replace("Snow (mm)", "depth"))
    refused = call("plan", str(bare), "--reservoir", lake, "--column", "inflow_m3s", "--out", "no", status=2).err
    assert 'has no column "Snow (mm)", which the flood space of the reservoir depends on' in refused
    assert "Fix: add the column" in refused
