"""Tables have dates, and a plan is an xarray.Dataset where xarray is installed."""

import builtins
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import first_days, periods_of

needs_xarray = pytest.mark.skipif(find_spec("xarray") is None, reason="needs xarray, which the extra netcdf installs")


@pytest.fixture(scope="module")
def plan(small, small_inflow):
    return reservoir.optimise(small, small_inflow, solver="dp")


@pytest.mark.parametrize("first_month", [1, 6])
@pytest.mark.parametrize("first_year", [1, 1676, 1955, 8000])
def test_a_month_starts_on_its_first_day_in_any_century(first_year, first_month):
    calendar = Calendar(first_year, 2, first_month)
    dates = first_days(calendar)
    assert dates.name == "date"
    assert (dates.day == 1).all()
    periods = periods_of(calendar)
    assert list(zip(dates.year, dates.month, strict=True)) == list(zip(periods.year, periods.month, strict=True))


def test_rows_of_tables_have_dates(plan):
    schedule, summary = plan.schedule(), plan.summary()
    assert isinstance(schedule.index, pd.DatetimeIndex)
    assert schedule.loc["1956-02", "month"].tolist() == [2]
    assert schedule.loc["1956-02", "year"].tolist() == ["1955/56"]
    assert summary.loc["1956-06-01", "year"] == "1956/57"
    by_year = schedule["energy_gwh"].groupby(schedule["year"]).sum()
    assert by_year.to_numpy() == pytest.approx(summary["energy_gwh"].to_numpy())


@needs_xarray
def test_a_dataset_has_what_the_tables_have_with_units_and_dates(plan):
    data, schedule = plan.to_xarray(), plan.schedule()
    assert dict(data.sizes) == {"year": 3, "step": 12, "boundary": 13}
    for name in {"release_m3s", "energy_gwh", "level_m", "inflow_m3s", "violation", "head_m", "power_mw"} | {
        "water_value_gwh_per_hm3"
    }:
        assert np.array_equal(data[name].to_numpy().ravel(), schedule[name])
    assert np.array_equal(data["storage_hm3"][:, 1:].to_numpy().ravel(), schedule["storage_end_hm3"])
    assert np.array_equal(data["storage_hm3"][:, :-1].to_numpy().ravel(), schedule["storage_start_hm3"])
    assert np.array_equal(pd.DatetimeIndex(data["date"].to_numpy().ravel()), schedule.index)
    assert str(data["boundary_date"].to_numpy()[0, -1])[:10] == "1956-06-01"
    assert np.array_equal(data["annual_energy_gwh"], plan.summary()["energy_gwh"])
    assert data.sel(year="1956/57")["energy_gwh"].sum() == pytest.approx(plan.energy_gwh[1])
    assert {variable.attrs["units"] for name, variable in data.data_vars.items() if name != "source"} == {
        *("m3 s-1", "m", "hm3", "MW", "GWh", "GWh hm-3", "1")
    }
    assert data.attrs == {"title": "small", "solver": "dp", "horizon": "year"}


@needs_xarray
def test_a_simulation_is_a_dataset_with_what_was_asked_for(small, small_inflow):
    run = reservoir.simulate(small, small_inflow, np.full(36, 5.0))
    data = run.to_xarray()
    assert (data["asked_m3s"] == 5).all()
    assert data["repairs"].sum() == run.repairs
    assert data.attrs["notes"] == "\n".join(run.notes)


@needs_xarray
def test_a_dataset_has_the_losses_of_a_lake_that_has_some(small, small_inflow):
    lake = replace(small, withdrawal_m3s=np.full(12, 1.5))
    data = reservoir.simulate(lake, small_inflow, small_inflow.flow_m3s).to_xarray()
    np.testing.assert_allclose(data["withdrawal_m3s"] + data["shortage_m3s"], 1.5)
    assert data["evaporation_hm3"].attrs["units"] == "hm3"


@needs_xarray
def test_a_dataset_is_the_same_from_a_netcdf_file(plan, tmp_path):
    import xarray

    data = plan.to_xarray()
    data.to_netcdf(tmp_path / "plan.nc", engine="h5netcdf")
    with xarray.open_dataset(tmp_path / "plan.nc", engine="h5netcdf") as read:
        xarray.testing.assert_identical(read.load(), data)


def test_without_xarray_the_message_says_what_to_install(plan, monkeypatch):
    imported = builtins.__import__

    def without(name, *rest):
        if name == "xarray":
            raise ModuleNotFoundError("No module named 'xarray'", name=name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"to_xarray needs xarray.*Fix: pip install 'reservoir\[netcdf\]'"):
        plan.to_xarray()
