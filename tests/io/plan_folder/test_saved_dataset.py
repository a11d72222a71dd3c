"""Plans whose tables are NetCDF or Zarr are read back to the last digit, and what is not as written is refused."""

import json
import shutil
import sys

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io.plan_folder.formats import write_dataset
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.io.plan_folder.saved_tables import read_schedule
from tests.year_ends import cyclic

xarray = pytest.importorskip("xarray", reason="xarray is not installed: pip install 'reservoir[netcdf]'")
h5py = pytest.importorskip("h5py", reason="h5py is not installed: pip install 'reservoir[netcdf]'")
pytest.importorskip("zarr", reason="zarr is not installed: pip install 'reservoir[netcdf]'")

KINDS = ("netcdf", "zarr")


@pytest.fixture(scope="module")
def ensemble(small_inflow) -> Inflow:
    """Three members of two years."""
    flows = np.concatenate([small_inflow.flow_m3s, 1.1 * small_inflow.flow_m3s])
    return Inflow(flows, Calendar(2001, 6, 6, years_each=2), members=["dry", "wet", "mean"])


@pytest.fixture(scope="module")
def plans(small, small_inflow, ensemble):
    """Records and ensembles, years and longer horizons, years that choose their start, and a search's own schedules."""
    return {
        "record": reservoir.optimise(small, small_inflow, solver="dp"),
        "one horizon": reservoir.optimise(small, small_inflow, solver="dp", horizon="record"),
        "ensemble": reservoir.optimise(small, ensemble, solver="dp"),
        "horizons of members": reservoir.optimise(small, ensemble, solver="dp", horizon="record"),
        "part of a member": reservoir.optimise(small, ensemble.span(0, 1), solver="dp"),
        "cyclic": reservoir.optimise(cyclic(small), small_inflow, solver="clpso-sequential", generations=60),
        "from a month": reservoir.optimise(small, small_inflow, solver="dp", start="1955-09", start_hm3=100.0),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", ["record", "one horizon", "ensemble", "horizons of members", "part of a member", "cyclic", "from a month"]
)
def test_a_plan_comes_back_to_the_last_digit(plans, name, kind, tmp_path):
    plan = plans[name]
    saved = read_plan(plan.save(tmp_path / "plan", figures=False, format=kind)).plan
    assert tuple(saved.inflow.labels) == tuple(plan.inflow.labels)
    assert saved.inflow.calendar == plan.inflow.calendar
    assert saved.horizon == plan.horizon
    assert saved.schedule().drop(columns="source").equals(plan.schedule().drop(columns="source"))
    assert np.array_equal(saved.source, plan.source)
    exact = ["energy_gwh", "spill_hm3", "generations", "evaluations"]
    exact += ["reference_gwh"] if plan.horizon.is_year else []  # of longer ones, the folder tells their sum alone
    assert saved.summary()[exact].equals(plan.summary()[exact])
    assert saved.gap == pytest.approx(plan.gap, abs=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_of_the_reference_s_schedules_says_so(plans, kind, tmp_path):
    plan = plans["cyclic"]
    assert plan.from_reference.any()  # so few generations find too little
    saved = read_plan(plan.save(tmp_path / "plan", figures=False, format=kind)).plan
    assert saved.source_counts == plan.source_counts
    assert saved.engine_gap == pytest.approx(plan.engine_gap, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_plan_that_csv_tells_with_six_decimals(plans, kind, tmp_path):
    plan = plans["ensemble"]
    by_text = read_plan(plan.save(tmp_path / "csv", figures=False))
    by_dataset = read_plan(plan.save(tmp_path / kind, figures=False, format=kind))
    assert by_dataset.checks == by_text.checks
    again = by_dataset.plan.save(tmp_path / "again", figures=False)
    for name in ("schedule.csv", "summary.csv", "members.csv"):
        assert (again / name).read_bytes() == (tmp_path / "csv" / name).read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_advice_finds_the_months_of_a_dataset(plans, kind, tmp_path):
    folder = plans["ensemble"].save(tmp_path / "plan", figures=False, format=kind)
    schedule, plain = read_schedule(folder), plans["ensemble"].schedule()
    for name in ("member", "year", "month", "storage_start_hm3", "inflow_m3s", "release_m3s"):
        assert schedule[name].tolist() == plain[name].tolist()


@pytest.fixture
def spoilt(plans, tmp_path):
    """A plan's folder with another dataset in it than was written, and no hash that would tell."""

    def write(change, name="record"):
        plan = plans[name]
        folder = plan.save(tmp_path / "plan", figures=False, format="netcdf", force=True)
        (folder / "plan.nc").unlink()
        write_dataset(change(plan.to_xarray()), folder, "netcdf")
        told = json.loads((folder / "plan.json").read_text())
        del told["files"]["plan.nc"]
        (folder / "plan.json").write_text(json.dumps(told))
        with pytest.raises(InputError) as refusal:
            read_plan(folder)
        assert all(mistake.file == str(folder / "plan.nc") for mistake in refusal.value.mistakes)
        return "\n".join(str(mistake) for mistake in refusal.value.mistakes)

    return write


def put(name, value, place=(1, 3)):
    def change(data):
        values = data[name].to_numpy().copy()
        values[place] = value
        return data.assign({name: (data[name].dims, values, data[name].attrs)})

    return change


@pytest.mark.parametrize("name", ["inflow_m3s", "release_m3s", "head_m", "storage_hm3", "evaluations", "month"])
def test_a_missing_variable_is_named(spoilt, name):
    assert f"plan.nc: has no variable {name}" in spoilt(lambda data: data.drop_vars(name))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("release_m3s", np.nan, "release_m3s: is missing at year 2, step 4 (found nan); expected a finite number"),
        ("power_mw", np.inf, "power_mw: is out of range at year 2, step 4"),
        ("inflow_m3s", -5.0, "inflow_m3s: is negative in 1956/57 Sep (found -5.0); expected 0 or more"),
        ("release_m3s", 190.0, "does not match the releases and reservoir.toml in 1956/57"),
        ("energy_gwh", 0.0, "energy_gwh: does not match the releases and reservoir.toml in 1956/57 Sep"),
        ("head_m", 1.0, "head_m: does not match the releases and reservoir.toml in 1956/57 Sep (found 1.0); expected"),
        ("violation", 0.5, "violation: does not match the releases"),
    ],
)
def test_a_wrong_value_is_named_with_its_month(spoilt, name, value, words):
    assert words in spoilt(put(name, value))


def test_a_value_of_the_last_digits_is_as_it_was_written_and_one_of_a_millionth_is_not(spoilt, plans):
    level = plans["record"].operation.level_m[1, 3]
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        spoilt(put("level_m", level * (1 + 1e-13)))
    assert "level_m: does not match" in spoilt(put("level_m", level * (1 + 1e-6)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.isel(year=slice(2)), "has 2 years; the plan has 3"),
        (lambda data: data.isel(boundary=slice(12)), "has 12 boundaries; expected 13"),
        (lambda data: data.isel(step=0), "has no dimension step"),
        (
            lambda data: data.assign_coords(year=["1955/56", "1957/58", "1956/57"]),
            "year: is out of sequence in 1957/58",
        ),
        (lambda data: data.assign_coords(year=["the first", "1956/57", "1957/58"]), "year: is not a year"),
        (
            lambda data: data.assign(release_m3s=data["release_m3s"].T),
            "has the dimensions step, year; expected year, st",
        ),
        (
            lambda data: data.assign(release_m3s=data["release_m3s"] > 50),
            "release_m3s: is of type bool; expected numbers",
        ),
        (
            lambda data: data.assign(source=("year", np.array(["dp", "dp", "gurobi"]))),
            'source: is not a source of this plan in 1957/58 (found "gurobi"); expected one of dp; dp (second run)',
        ),
    ],
    ids=["years", "boundaries", "steps", "order", "label", "dimensions", "type", "source"],
)
def test_a_dataset_of_another_shape_is_refused_in_words(spoilt, change, words):
    assert words in spoilt(change)


def test_members_of_an_ensemble_must_be_named(spoilt):
    assert "has no variable member" in spoilt(lambda data: data.drop_vars("member"), "ensemble")


@pytest.mark.parametrize("kind", KINDS)
def test_a_dataset_that_was_changed_is_refused_whatever_was_changed(plans, kind, tmp_path):
    folder = plans["record"].save(tmp_path / "plan", figures=False, format=kind)
    path = next(folder.glob("plan.[nz]*"))
    with xarray.open_dataset(path, engine={"netcdf": "h5netcdf", "zarr": "zarr"}[kind]) as opened:
        data = opened.load()
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    other = put("evaluations", 7, 1)(data)
    other.to_zarr(path, zarr_format=2) if kind == "zarr" else other.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(InputError, match=r"plan\.(nc|zarr): was changed after the plan was made"):
        read_plan(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_or_broken_dataset_is_refused(plans, kind, tmp_path):
    folder = plans["record"].save(tmp_path / "plan", figures=False, format=kind)
    path = next(folder.glob("plan.[nz]*"))
    if path.is_dir():
        (path / "release_m3s" / ".zarray").write_text("{")
    else:
        path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(InputError, match=r"plan\.(nc|zarr): cannot be read"):
        read_plan(folder)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(InputError, match=r"plan\.(nc|zarr): is missing. Fix: run `reservoir plan` again"):
        read_plan(folder)


def test_an_unknown_format_is_refused(plans, tmp_path):
    folder = plans["record"].save(tmp_path / "plan", figures=False, format="netcdf")
    told = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(told | {"format": "parquet"}))
    with pytest.raises(InputError, match=r'format: is no format of a plan\'s tables \(found "parquet"\)'):
        read_plan(folder)


def test_without_xarray_it_is_said_what_to_install(plans, tmp_path, monkeypatch):
    folder = plans["record"].save(tmp_path / "plan", figures=False, format="netcdf")

    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(
        InputError, match=r"needs xarray, which is not installed. Fix: pip install 'reservoir\[netcdf\]'"
    ):
        read_plan(folder)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: file["release_m3s"].attrs.update(scale_factor="ten"), "cannot be read"),
        (lambda file: file.move("release_m3s", "elsewhere") or linked(file), "is a link to other.nc"),
        (lambda file: wide(file), "declares 80,000 MB of values"),
    ],
)
def test_a_dataset_that_somebody_made_up_is_refused_with_its_name(plans, tmp_path, change, said):
    folder = plans["record"].save(tmp_path / "plan", figures=False, format="netcdf")
    with h5py.File(folder / "plan.nc", "r+") as file:
        change(file)
    with pytest.raises(InputError, match=said) as refused:
        read_plan(folder)
    assert all(mistake.file.endswith("plan.nc") for mistake in refused.value.mistakes)


def linked(file):
    file["release_m3s"] = h5py.ExternalLink("other.nc", "/release_m3s")


def wide(file):
    del file["generations"]
    file.create_dataset("generations", (10_000_000_000,), "f8", chunks=(1000,))
