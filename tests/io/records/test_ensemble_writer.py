"""An ensemble is written so that it is read back, with the same bytes every time."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io import containers
from reservoir.io.records import members
from reservoir.io.records.members import check_writable, write_ensemble
from reservoir.io.records.reader import read_inflow


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
    monkeypatch.setattr(members, "find_spec", lambda name: None)
    check_writable("members.csv")
    with pytest.raises(InputError, match=r"NetCDF needs xarray.*pip install"):
        check_writable("members.nc")


def test_zarr_is_not_written():
    with pytest.raises(InputError, match=r"Zarr is not written; expected a name that ends in .csv or .nc"):
        check_writable("members.zarr")


#: Two writers of NetCDF, each in a process whose files must not grow beyond 100 kB: like a full disk.
WRITERS = {
    "an ensemble": """
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io.records.members import write_ensemble
flow = np.random.default_rng(1).random((3000, 12))
write_ensemble(Inflow(flow, Calendar(2001, 3000, years_each=30)), "s.nc", Path("made.nc"))
""",
    "a plan": """
import xarray
from reservoir.io.plan_folder.formats import PlanFormat, write_dataset
release = np.random.default_rng(1).random((3000, 12))
dataset = xarray.Dataset({"release_m3s": (("year", "step"), release), "source": (("year",), np.full(3000, "dp"))})
write_dataset(dataset, Path(), PlanFormat.NETCDF)
""",
    "a plan as Zarr": """
import xarray
from reservoir.io.plan_folder.formats import PlanFormat, write_dataset
dataset = xarray.Dataset({"release_m3s": (("year", "step"), np.random.default_rng(1).random((30_000, 12)))})
write_dataset(dataset, Path(), PlanFormat.ZARR)
""",
}
LIMITED = """
import resource
from pathlib import Path
import numpy as np
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
try:
    exec({writer!r})
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_an_error_in_words_and_not_the_end_of_the_process(writer, tmp_path):
    """HDF5 that could not write ended the process with a segmentation fault, also behind an error of its own."""
    pytest.importorskip("resource")
    code = LIMITED.format(writer=WRITERS[writer])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(reservoir.__file__).parents[1]), *filter(None, sys.path)])
    }
    finished = subprocess.run(  # a process of its own, for the limit
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert (finished.returncode, finished.stdout) == (0, "File too large\n"), finished.stderr


def test_what_is_written_through_a_patient_file_is_what_xarray_writes(ensemble, tmp_path, monkeypatch):
    import xarray

    write_ensemble(ensemble, "made.nc", tmp_path / "made.nc")
    monkeypatch.setattr(
        members,
        "write_netcdf",
        lambda dataset, path, encoding: dataset.to_netcdf(path, engine="h5netcdf", encoding=encoding),
    )
    write_ensemble(ensemble, "made.nc", tmp_path / "theirs.nc")
    ours, theirs = (xarray.open_dataset(tmp_path / f"{name}.nc", engine="h5netcdf") for name in ("made", "theirs"))
    with ours, theirs:
        assert ours.identical(theirs)
        for name in ours.variables:
            kept = ("dtype", "units", "calendar", "_FillValue")
            assert [ours[name].encoding.get(key) for key in kept] == [theirs[name].encoding.get(key) for key in kept]


def test_what_hdf5_says_of_a_full_disk_is_not_told_in_place_of_what_the_system_said(tmp_path, monkeypatch):
    """Some versions raise an error of their own while the first is still kept."""
    import xarray

    def dump(self, *_):
        raise OSError("Can't synchronously write data (address of object past end of allocation)")

    full = OSError(28, "No space left on device")
    monkeypatch.setattr(containers._PatientFile, "failed", full)
    monkeypatch.setattr("xarray.Dataset.dump_to_store", dump)
    with pytest.raises(OSError, match="No space left") as caught:
        containers.write_netcdf(xarray.Dataset(), tmp_path / "made.nc")
    assert caught.value is full
