"""A plan of a workbook or of NetCDF keeps its record as CSV, says so, and is read back with all of it."""

import json

import numpy as np
import pandas as pd
import pytest

from reservoir import optimise, read_inflow
from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.io.plan_folder.saved_plan import read_plan

MONTHS = pd.date_range("2001-01-01", "2003-12-01", freq="MS")
#: Flows (m3/s) that no six decimals state, one that could be a code, and evaporation (mm), some of it negative.
FLOWS = np.where(np.arange(36) == 20, 99.0, 60 + 20 / 3 * np.sin(np.arange(36)))
EVAPORATION = 1.37 * np.arange(36) - 7


def workbook(folder):
    pytest.importorskip("openpyxl")
    table = pd.DataFrame({"date": MONTHS.strftime("%Y-%m"), "lake": FLOWS / 0.0283, "evaporation_mm": EVAPORATION})
    table.to_excel(folder / "record.xlsx", index=False)
    return read_inflow(folder / "record.xlsx", unit="cfs", column="lake", first_month=6)


def dataset(folder):
    xarray = pytest.importorskip("xarray")
    values = {"q": ("time", FLOWS, {"units": "m3 s-1"}), "evaporation_mm": ("time", EVAPORATION)}
    xarray.Dataset(values, {"time": MONTHS}).to_netcdf(folder / "record.nc")
    return read_inflow(folder / "record.nc", column="q", first_month=6)


def made(_, evaporation=EVAPORATION):
    calendar = Inflow.from_series(pd.Series(FLOWS, MONTHS), first_month=6).calendar
    flows, losses = (values[5:29].reshape(2, 12) for values in (FLOWS, evaporation))
    return Inflow(flows, calendar, evaporation_mm=losses)


@pytest.mark.parametrize(("source", "kind"), [(workbook, "sheet"), (dataset, "values"), (made, "values")])
def test_a_record_that_is_no_csv_file_is_kept_as_one(small, tmp_path, source, kind):
    inflow = source(tmp_path)
    folder = optimise(small, inflow, solver="dp").save(tmp_path / "plan", figures=False)
    assert json.loads((folder / "plan.json").read_text())["inflow"]["copy"]["kind"] == kind
    found = read_plan(folder).plan.inflow
    assert np.array_equal(found.flow_m3s, inflow.flow_m3s)
    assert np.array_equal(found.evaporation_mm, inflow.evaporation_mm)
    assert (found.unit, found.sha256) == (inflow.unit, inflow.sha256)


def test_a_copy_that_was_changed_is_not_taken_for_the_record(small, tmp_path):
    inflow = made(tmp_path, np.zeros(36))
    folder = optimise(small, inflow, solver="dp").save(tmp_path / "plan", figures=False)
    path = folder / "inflow.csv"
    path.write_text(path.read_text().replace("0.0000000000000000e+00", "1.0000000000000000e+00"))
    with pytest.raises(InputError, match=r"inflow.csv: was changed after the plan was made"):
        read_plan(folder)


def test_a_csv_file_is_copied_as_it_is(small, tmp_path):
    rows = "\n".join(f"{month:%Y-%m},{flow!r}" for month, flow in zip(MONTHS, FLOWS.tolist(), strict=True))
    (tmp_path / "record.csv").write_text(f"date,inflow_m3s\n{rows}")
    inflow = read_inflow(tmp_path / "record.csv", first_month=6)
    folder = optimise(small, inflow, solver="dp").save(tmp_path / "plan", figures=False)
    assert (folder / "inflow.csv").read_bytes() == (tmp_path / "record.csv").read_bytes()
    assert "copy" not in json.loads((folder / "plan.json").read_text())["inflow"]
