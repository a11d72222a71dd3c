"""What `reservoir page` opens: a plan as it was made, or a reservoir and a record, one of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reservoir.cli.page import read_case
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.plan_folder.saved_system import read_system_plan
from tests.io.case_book import days, saved
from tests.io.small_reservoir import SMALL
from tests.io.two_dams import flows, wide, write_two


@pytest.fixture
def lake(tmp_path) -> Path:
    """The file of a small reservoir, and its record with two columns, one of them negative in a month."""
    (tmp_path / "lake.toml").write_text(SMALL)
    (tmp_path / "flows.csv").write_text(wide("date,gauge,other").replace("1990-02,10,", "1990-02,-1,"))
    return tmp_path / "lake.toml"


def planned(call, *words) -> None:
    call("plan", *words, "--no-figures", "--out", "p", status=None)


def test_a_plan_of_a_file_is_read_as_it_was(call, lake, tmp_path):
    how = ("--unit", "cfs", "--column", "gauge", "--negative", "keep")
    planned(call, "flows.csv", "--reservoir", lake, *how, "--solver", "dp")
    case = read_case(tmp_path, ["p"])
    np.testing.assert_allclose(case.inflow.flow_m3s, read_plan(tmp_path / "p").plan.inflow.flow_m3s, rtol=1e-12)
    assert case.words[: len(how) + 1] == ("p/inflow.csv", *how)
    assert case.inflow.flow_m3s.min() < 0


def test_a_plan_of_a_sheet_is_read_without_its_name(call, lake, tmp_path):
    saved({"Gauge": days(), "Spring": days(2)}, tmp_path / "book.xlsx")
    planned(call, "book.xlsx", "--reservoir", lake, "--sheet", "Gauge", "--solver", "dp")
    case = read_case(tmp_path, ["p"])
    np.testing.assert_allclose(case.inflow.flow_m3s, read_plan(tmp_path / "p").plan.inflow.flow_m3s, rtol=1e-12)
    assert "--sheet" not in case.words


def test_a_plan_of_netcdf_is_read_from_the_flows_that_were_planned(call, lake, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    values = np.array([flows(1990 + at // 12, at % 12 + 1)[0] for at in range(24)])
    times = np.arange("1990-01", "1992-01", dtype="datetime64[M]").astype("datetime64[ns]")
    table = xarray.Dataset(
        {name: ("time", size * values) for name, size in (("gauge", 1.0), ("other", 2.0))}, {"time": times}
    )
    table.to_netcdf(tmp_path / "flows.nc", engine="h5netcdf")
    planned(call, "flows.nc", "--reservoir", lake, "--column", "gauge", "--unit", "cfs", "--solver", "dp")
    case = read_case(tmp_path, ["p"])
    np.testing.assert_allclose(case.inflow.flow_m3s, read_plan(tmp_path / "p").plan.inflow.flow_m3s, rtol=1e-12)
    assert not {"--column", "--unit"} & {*case.words}


@pytest.fixture
def river(tmp_path) -> Path:
    """The file of two dams; their record is flows.csv, where the lower one loses water in a month."""
    (tmp_path / "flows.csv").write_text(wide().replace("1990-02,10,", "1990-02,-1,"))
    return write_two(tmp_path)


def test_a_plan_of_a_system_keeps_its_negative_flows(call, river, tmp_path):
    planned(call, "flows.csv", "--reservoir", river, "--unit", "cfs", "--negative", "keep", "--solver", "slp")
    inflows = read_case(tmp_path, ["p"]).inflow
    before = read_system_plan(tmp_path / "p").plan.inflows
    assert min(before["upper"].flow_m3s.ravel()) < 0
    for name, inflow in before.items():
        np.testing.assert_allclose(inflows[name].flow_m3s, inflow.flow_m3s, atol=1e-6)  # six decimals


def test_a_plan_that_begins_in_a_month_is_refused(call, lake, tmp_path):
    (tmp_path / "flows.csv").write_text(wide("date,gauge,other"))
    planned(
        call,
        "flows.csv",
        "--reservoir",
        lake,
        "--column",
        "gauge",
        "--unit",
        "m3/s",
        "--from",
        "1991-05",
        "--level",
        "440",
    )
    told = call("page", "p", "--no-browser", status=2).err
    assert "begins in a month" in told
    assert "give the reservoir file and the record" in told


def test_nothing_else_says_the_case_of_a_plan(call, lake, tmp_path):
    (tmp_path / "p").mkdir()
    words = ("--objective", "revenue", "--horizon", "record", "--unit", "cfs", "--reservoir", "nowhere.toml")
    told = call("page", "p", *words, "--port", "0", "--no-browser", "--device", "auto", "--out", "desk", status=2).err
    assert all(f"{name}: is given beside the folder of a plan" in told for name in words[::2])
    assert "--port" not in told
    for more in ("flows.csv", "lake.toml", "q"):
        (tmp_path / "q").mkdir(exist_ok=True)
        assert f"{more}: is given beside the folder of a plan" in call("page", "p", more, status=2).err


def test_of_two_records_or_reservoirs_none_is_dropped(call, lake, tmp_path):
    told = call("page", "lake.toml", "other.csv", "flows.csv", status=2).err
    assert "flows.csv: is a second record, beside other.csv" in told
    told = call("page", "lake.toml", "flows.csv", "--reservoir", "other.toml", status=2).err
    assert "lake.toml: is a second reservoir, beside other.toml" in told


def test_commands_find_the_reservoir_from_the_folder_of_the_page(lake, tmp_path, monkeypatch):
    (tmp_path / "flows.csv").write_text(wide("date,gauge,other"))
    monkeypatch.chdir(tmp_path)
    case = read_case(tmp_path / "page-lake", ["lake.toml", "flows.csv", "--column", "gauge", "--unit", "m3/s"])
    assert case.words[0] == str(tmp_path / "flows.csv")
    assert case.reservoir == ("--reservoir", str(tmp_path / "lake.toml"))
    assert read_case(tmp_path, ["--case", "xiaowan"]).reservoir == ()
