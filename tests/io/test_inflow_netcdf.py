"""Inflow from NetCDF and Zarr by CF conventions: records and ensembles, and what is refused."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.inflow_file import read_inflow

xarray = pytest.importorskip("xarray", reason="xarray is not installed: pip install 'reservoir[netcdf]'")

MONTHS = np.arange("2000-01", "2002-01", dtype="datetime64[M]").astype("datetime64[s]")
VALUES = 10.0 * np.arange(1, 4)[:, None] + np.arange(24)


def dataset(values=VALUES, dims=("member", "time"), units="m3 s-1", name="inflow", **coordinates):
    attributes = {"units": units} if units else {}
    return xarray.Dataset({name: (dims, values, attributes)}, {"time": MONTHS} | coordinates)


def saved(tmp_path, each, engine="h5netcdf", **encoding):
    path = tmp_path / ("ensemble.zarr" if engine == "zarr" else "ensemble.nc")
    if engine == "zarr":
        pytest.importorskip("zarr", reason="zarr is not installed: pip install 'reservoir[netcdf]'")
        each.to_zarr(path, consolidated=False)
    else:
        each.to_netcdf(path, engine=engine, encoding=encoding or None)
    return path


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy", "zarr"])
@pytest.mark.parametrize("dims", [("member", "time"), ("time", "member")])
def test_an_ensemble_has_its_members_in_order(tmp_path, engine, dims):
    values = VALUES if dims[0] == "member" else VALUES.T
    inflow = read_inflow(saved(tmp_path, dataset(values, dims, member=[7, 8, 9]), engine))
    assert inflow.flow_m3s.ravel().tolist() == VALUES.ravel().tolist()
    assert inflow.labels == ("7: 2000", "7: 2001", "8: 2000", "8: 2001", "9: 2000", "9: 2001")
    assert (inflow.unit, inflow.unit_from) == ("m3/s", "from the units attribute")
    assert len(inflow.sha256) == 64


def test_without_members_it_is_one_record(tmp_path):
    inflow = read_inflow(saved(tmp_path, dataset(VALUES[0], ("time",)).assign_attrs(caveat="invented")), first_month=6)
    assert inflow.labels == ("2000/01",)
    assert not inflow.calendar.is_ensemble
    assert inflow.caveat == "invented"


@pytest.mark.parametrize("calendar", ["noleap", "360_day", "standard"])
@pytest.mark.parametrize("units", ["days since 1850-01-01", "hours since 2000-01-01 00:00"])
def test_months_are_understood_in_every_calendar(tmp_path, calendar, units):
    pytest.importorskip("cftime", reason="cftime is not installed: pip install 'reservoir[netcdf]'")
    each = dataset()
    firsts = xarray.date_range("2000-01-01", periods=24, freq="MS", calendar=calendar, use_cftime=True)
    path = saved(tmp_path, each.assign_coords(time=firsts), time={"units": units, "calendar": calendar})
    assert read_inflow(path).labels[:2] == ("1: 2000", "1: 2001")


def test_years_beyond_the_range_of_nanoseconds_are_read(tmp_path):
    months = np.arange("4000-01", "4002-01", dtype="datetime64[M]").astype("datetime64[s]")
    assert read_inflow(saved(tmp_path, dataset().assign_coords(time=months))).labels[0] == "1: 4000"


def test_volumes_become_flows_by_the_days_of_each_month(tmp_path):
    inflow = read_inflow(saved(tmp_path, dataset(units="hm3")))
    assert inflow.flow_m3s[0, 1] == pytest.approx(11 / (29 * 0.0864))


def test_the_unit_may_stand_in_the_name_or_the_call(tmp_path):
    path = saved(tmp_path, dataset(units="", name="runoff_cfs"))
    assert read_inflow(path).unit == "cfs"
    path = saved(tmp_path, dataset(units=""))
    assert read_inflow(path, unit="hm3").unit_from == "from the unit argument"


def test_evaporation_and_withdrawals_stand_beside_the_inflow(tmp_path):
    each = dataset().assign(
        evaporation_mm=(("member", "time"), VALUES - 30), withdrawal_cfs=(("member", "time"), VALUES)
    )
    inflow = read_inflow(saved(tmp_path, each))
    assert inflow.evaporation_mm.ravel().tolist() == (VALUES - 30).ravel().tolist()
    assert inflow.withdrawal_m3s.ravel() == pytest.approx(VALUES.ravel() * 0.3048**3)


def with_value(value):
    values = VALUES.copy()
    values[1, 5] = value
    return values


@pytest.mark.parametrize(
    ("each", "said"),
    [
        (lambda: dataset(with_value(np.nan)), "missing value at 2000-06 of member 2"),
        (lambda: dataset(with_value(-1)), "negative value at 2000-06 of member 2"),
        (lambda: dataset(with_value(np.inf)), "infinite value at 2000-06 of member 2"),
        (lambda: dataset(with_value(2e6)), "2000-06 of member 2: the flow is too large"),
        (lambda: dataset(units=""), "the name inflow is no unit that is known.*units attribute"),
        (lambda: dataset(units="mm"), "the units attribute is no unit that is known"),
        (lambda: dataset().assign(other=(("time",), VALUES[0])).rename(inflow="a"), "2 variables by time: a, other"),
        (lambda: dataset().rename(time="day").drop_vars("day"), "no dimension has dates"),
        (lambda: dataset(VALUES[:, ::-1]).sortby("time", ascending=False), "2001-11 follows 2001-12"),
        (lambda: dataset().isel(time=[0, 1, 3]), "2000-04 follows 2000-02"),
        (lambda: dataset(member=["a", "a", "b"]), "two items of member have the same name"),
        (lambda: dataset(VALUES[None].repeat(2, 0), ("x", "member", "time")), "has the dimensions x, member, time"),
        (lambda: dataset().isel(time=slice(0, 7)), "no complete water year"),
    ],
)
def test_what_is_not_clear_is_refused_with_the_file(tmp_path, each, said):
    with pytest.raises(InputError, match=said) as refused:
        read_inflow(saved(tmp_path, each()))
    assert "ensemble.nc" in str(refused.value)


def test_two_units_that_differ_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"contradictory units: the unit argument gives cfs, .* gives m3 s-1"):
        read_inflow(saved(tmp_path, dataset()), unit="cfs")


@pytest.mark.parametrize("content", [b"", b"date,inflow\n", b"\x89HDF\r\n\x1a\nbroken", b"CDF\x01broken"])
def test_a_file_that_is_none_of_these_formats_is_refused(tmp_path, content):
    path = tmp_path / "broken.nc"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.nc: (is no NetCDF file|cannot be read as NetCDF)"):
        read_inflow(path)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(InputError, match="the file does not exist"):
        read_inflow(tmp_path / "nothing.nc")


def test_one_of_several_variables_is_read_where_the_call_names_it(tmp_path):
    both = dataset(name="natural").assign(observed=(("member", "time"), VALUES + 100, {"units": "m3 s-1"}))
    path = saved(tmp_path, both)
    with pytest.raises(InputError, match=r"2 variables by time: natural, observed.*--column NAME"):
        read_inflow(path)
    assert read_inflow(path, column="observed").flow_m3s.ravel().tolist() == (VALUES + 100).ravel().tolist()
    with pytest.raises(InputError, match="no such variable by time; the file has natural, observed"):
        read_inflow(path, column="simulated")


@pytest.mark.parametrize(("negative", "lowest"), [("keep", -4.0), ("zero", 0.0)])
def test_negative_values_are_kept_or_set_to_zero_where_the_call_says_so(tmp_path, negative, lowest):
    values = VALUES.copy()
    values[1, 3] = -4.0
    path = saved(tmp_path, dataset(values))
    with pytest.raises(InputError, match="negative value at 2000-04 of member 2"):
        read_inflow(path)
    inflow = read_inflow(path, negative=negative)
    assert inflow.flow_m3s.min() == lowest
    assert f"{4 * 30 * 0.0864:.4g} hm3" in inflow.notes[0]
    assert "(2000-04 of member 2)" in inflow.notes[0]
