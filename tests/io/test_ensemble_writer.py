"""An ensemble is written so that it is read back, with the same bytes every time."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io import ensemble_writer
from reservoir.io.ensemble_writer import check_writable, write_ensemble
from reservoir.io.inflow_file import read_inflow


@pytest.fixture
def ensemble():
    """Three members of two water years from October."""
    flow = np.random.default_rng(1).exponential(100, (6, 12))
    flow[0, 0] = 0
    return Inflow(flow, Calendar(1990, 6, 10, years_each=2), caveat="synthetic; invented, 中")


@pytest.mark.parametrize("name", ["members.csv", "members.nc", "MEMBERS.NC"])
def test_what_is_written_is_read_back(ensemble, tmp_path, name):
    write_ensemble(ensemble, name, tmp_path / name)
    again = read_inflow(tmp_path / name, first_month=10)
    assert np.allclose(again.flow_m3s, ensemble.flow_m3s, rtol=5e-6)
    assert (again.labels, again.caveat) == (ensemble.labels, ensemble.caveat)
    assert again.unit in ("m3/s", "m3 s-1")


@pytest.mark.parametrize("name", ["members.csv", "members.nc"])
def test_the_same_ensemble_has_the_same_bytes(ensemble, tmp_path, name):
    for place in ("one", "two"):
        write_ensemble(ensemble, name, tmp_path / place)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_csv_file_is_long_and_begins_with_its_caveat(ensemble, tmp_path):
    write_ensemble(ensemble, "members.csv", tmp_path / "members.csv")
    lines = (tmp_path / "members.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["# caveat: synthetic; invented, 中", "member,date,inflow_m3s", "1,1990-10,0"]
    assert len(lines) == 2 + 3 * 24
    assert lines[-1].startswith("3,1992-09,")


def test_netcdf_follows_the_conventions(ensemble, tmp_path):
    xarray = pytest.importorskip("xarray")
    write_ensemble(ensemble, "members.nc", tmp_path / "members.nc")
    with xarray.open_dataset(tmp_path / "members.nc", engine="h5netcdf") as dataset:
        assert dataset["inflow_m3s"].dims == ("member", "time")
        assert dataset["inflow_m3s"].attrs["units"] == "m3 s-1"
        assert dataset["inflow_m3s"].attrs["standard_name"] == "water_volume_transport_in_river_channel"
        assert dataset["inflow_m3s"].dtype == np.float64
        assert dataset["time"].values[0] == np.datetime64("1990-10-01")
        assert dataset.attrs["caveat"] == ensemble.caveat
        assert np.array_equal(dataset["inflow_m3s"].values.reshape(6, 12), ensemble.flow_m3s)


def test_without_xarray_netcdf_is_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(ensemble_writer, "find_spec", lambda name: None)
    check_writable("members.csv")
    with pytest.raises(InputError, match=r"NetCDF needs xarray.*pip install"):
        check_writable("members.nc")


def test_zarr_is_not_written():
    with pytest.raises(InputError, match=r"Zarr is not written; expected a name that ends in .csv or .nc"):
        check_writable("members.zarr")
