"""Tables of a plan as NetCDF or Zarr: the same numbers as in CSV, with units, and the default for many years."""

import json

import numpy as np
import pandas as pd
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.io.plan_folder import formats
from reservoir.io.plan_folder.formats import MANY_YEARS, PlanFormat, format_of

xarray = pytest.importorskip("xarray", reason="xarray is not installed: pip install 'reservoir[netcdf]'")
pytest.importorskip("zarr", reason="zarr is not installed: pip install 'reservoir[netcdf]'")


@pytest.fixture(scope="module")
def plan(small, small_inflow):
    return reservoir.optimise(small, small_inflow, solver="dp")


@pytest.fixture(scope="module", params=["netcdf", "zarr"])
def folder(plan, tmp_path_factory, request):
    return plan.save(tmp_path_factory.mktemp("formats") / request.param, figures=False, format=request.param)


def opened(folder):
    if (folder / "plan.nc").exists():
        return xarray.open_dataset(folder / "plan.nc", engine="h5netcdf")
    return xarray.open_dataset(folder / "plan.zarr", engine="zarr")


def test_a_dataset_has_the_numbers_of_both_tables(plan, folder):
    with opened(folder) as data:
        schedule, summary = plan.schedule(), plan.summary()
        for name in ("inflow_m3s", "release_m3s", "power_mw", "energy_gwh", "violation"):
            assert np.array_equal(data[name].to_numpy().ravel(), schedule[name])
        for name, column in {"annual_energy_gwh": "energy_gwh", "reference_gwh": "reference_gwh"}.items():
            assert np.array_equal(data[name].to_numpy(), summary[column])
        assert np.array_equal(data["evaluations"].to_numpy(), summary["evaluations"])
        assert data["year"].to_numpy().astype(str).tolist() == summary["year"].tolist()
        assert list(pd.DatetimeIndex(data["date"].to_numpy().ravel())) == list(schedule.index)


def test_variables_have_units_and_sources_their_meanings(folder):
    with opened(folder) as data:
        assert data["release_m3s"].attrs["units"] == "m3 s-1"
        assert data["source"].attrs["flag_meanings"] == "dp"
        assert data["source"].dtype == np.int8
        assert data.attrs["solver"] == "dp"


def test_the_folder_has_no_other_tables_and_says_the_format(folder):
    names = {path.name for path in folder.iterdir()}
    assert names & {"schedule.csv", "summary.csv"} == set()
    assert json.loads((folder / "plan.json").read_text())["format"] in {"netcdf", "zarr"}


def test_another_plan_replaces_all_of_it(plan, folder):
    plan.save(folder, figures=False, force=True)
    assert {path.name for path in folder.iterdir()} & {"plan.nc", "plan.zarr"} == set()
    assert (folder / "schedule.csv").exists()


def test_many_years_are_written_as_netcdf_if_it_is_installed(monkeypatch):
    assert format_of(None, MANY_YEARS - 1) is PlanFormat.CSV
    assert format_of(None, MANY_YEARS) is PlanFormat.NETCDF
    assert format_of("csv", MANY_YEARS) is PlanFormat.CSV
    monkeypatch.setattr(formats, "find_spec", lambda name: None)
    assert format_of(None, MANY_YEARS) is PlanFormat.CSV
    with pytest.raises(InputError, match=r"zarr needs xarray and zarr, which are not installed. Fix: pip install"):
        format_of("zarr", 1)


def test_an_unknown_format_is_refused_with_the_known_ones(plan, tmp_path):
    with pytest.raises(InputError, match=r'is no format \(found "ods"\); expected csv, netcdf, zarr, xlsx'):
        plan.save(tmp_path / "plan", format="ods")
