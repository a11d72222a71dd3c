"""Inflow from NetCDF and Zarr by CF conventions: records and ensembles, and what is refused."""

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.records.reader import read_inflow

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


def test_what_stands_beside_the_inflow_is_told_in_the_same_order_every_time(tmp_path):
    beside = {"withdrawal_m3s": 1.0, "price_per_mwh": 40.0, "evaporation_mm": 50.0}
    each = dataset(VALUES[0], ("time",)).assign({name: ("time", np.full(24, value)) for name, value in beside.items()})
    notes = read_inflow(saved(tmp_path, each, "zarr")).notes
    assert [note.split()[0] for note in notes[:3]] == ["evaporation", "price", "withdrawal"]


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
    assert f"{4 * 30 * 0.0864:.4g} hm³" in inflow.notes[0]
    assert "(2000-04 of member 2)" in inflow.notes[0]


RECORD = 10.0 + np.arange(24) % 12


def record(values=RECORD, units="m3 s-1", name="inflow", time=None, times=MONTHS, **further):
    each = xarray.Dataset({name: ("time", values, {"units": units} if units else {})} | further, {"time": times})
    each.time.attrs.update(time or {})
    if "units" not in each.time.attrs:
        each.time.encoding["units"] = "seconds since 2000-01-01"
    return each


def with_bounds(first, last, times=None, **of_bounds):
    """The months from a date on, their stamps, and bounds that begin and end with these days."""
    bounds = ("time", "nv"), np.stack([first, last], axis=1), of_bounds
    return record(times=last if times is None else times, time={"bounds": "edges"}, edges=bounds)


ENDS = np.arange("2000-02", "2002-02", dtype="datetime64[M]").astype("datetime64[s]")
DAY = np.timedelta64(86400, "s")


@pytest.mark.parametrize(
    "each",
    [
        lambda: with_bounds(MONTHS, ENDS),
        lambda: with_bounds(ENDS, MONTHS, times=ENDS),
        lambda: with_bounds(MONTHS, ENDS - DAY, times=ENDS - DAY),
        lambda: with_bounds(MONTHS, ENDS - np.timedelta64(1, "s"), times=ENDS),
        lambda: with_bounds(MONTHS, ENDS, times=MONTHS + 15 * DAY),
        lambda: record(times=ENDS - DAY),
    ],
)
def test_months_stamped_at_their_end_are_those_of_the_bounds(tmp_path, each):
    inflow = read_inflow(saved(tmp_path, each()))
    assert inflow.labels == ("2000", "2001")
    assert inflow.flow_m3s.ravel().tolist() == RECORD.tolist()


@pytest.mark.parametrize("calendar", ["noleap", "360_day"])
def test_bounds_may_have_a_beginning_of_their_own(tmp_path, calendar):
    cftime = pytest.importorskip("cftime", reason="cftime is not installed: pip install 'reservoir[netcdf]'")
    starts = [cftime.datetime(2000 + at // 12, at % 12 + 1, 1, calendar=calendar) for at in range(25)]
    days, since = (
        [cftime.date2num(each, f"days since {epoch}", calendar) for each in starts]
        for epoch in ("1999-01-01", "2000-02-01")
    )
    each = record(
        times=np.array(since[1:]), time={"units": "days since 2000-02-01", "calendar": calendar, "bounds": "edges"}
    )
    each["edges"] = ("time", "nv"), np.stack([days[:-1], days[1:]], axis=1), {"units": "days since 1999-01-01"}
    assert read_inflow(saved(tmp_path, each)).labels == ("2000", "2001")


@pytest.mark.parametrize(
    ("each", "said"),
    [
        (lambda: record(times=ENDS), "whole years from 2000-02 to 2002-01; expected the month of the flow: 2000-01 or"),
        (lambda: record(time={"bounds": "edges"}), "time has bounds that are not in the file"),
        (lambda: record(time={"long_name": "end of period"}), "mentions the end of the month"),
        (lambda: record(time={"climatology": "edges"}), "climatological bounds: values are means of many years"),
        (lambda: with_bounds(MONTHS - 15 * DAY, MONTHS + 15 * DAY), "edges: item 1 is no month"),
        (lambda: with_bounds(MONTHS, MONTHS + 366 * DAY), "edges: item 1 is no month, but 12 months from 2000-01"),
        (lambda: with_bounds(MONTHS, MONTHS + DAY), "edges: item 1 is no month"),
        (
            lambda: record(time={"bounds": "edges"}, edges=("time", np.arange(24))),
            r"edges has the shape \(24,\); expected two numbers for each time",
        ),
    ],
)
def test_months_that_are_not_clear_are_refused(tmp_path, each, said):
    with pytest.raises(InputError, match=said):
        read_inflow(saved(tmp_path, each()))


def test_a_water_year_may_begin_in_the_month_of_the_first_stamp(tmp_path):
    assert read_inflow(saved(tmp_path, record(times=ENDS)), first_month=2).labels == ("2000/01", "2001/02")


def limited(dtype=None, values=RECORD, **attributes):
    each = record(values)
    each.inflow.attrs.update(attributes)
    if dtype:
        each.inflow.encoding.update(dtype=dtype, scale_factor=0.5, add_offset=2.0, _FillValue=-999)
    return each


@pytest.mark.parametrize(
    ("each", "said"),
    [
        (lambda: limited(valid_max=20.5), "20 is outside|21 is outside.*at 2000-12"),
        (lambda: limited(valid_min=10.5), r"missing value \(10 is outside the valid range.*at 2000-01"),
        (lambda: limited(valid_range=[0.0, 20.0]), r"missing value \(21 is outside the valid range.*at 2000-12"),
        (lambda: limited("i2", valid_max=np.int16(37)), r"missing value \(21 is outside.*at 2000-12"),
        (lambda: limited("i2", valid_max=20.9), r"missing value \(21 is outside.*at 2000-12"),
        (lambda: limited("i2", valid_range=np.int16([17, 90])), r"missing value \(10 is outside.*at 2000-01"),
        (lambda: limited(valid_max="large"), "valid_max of inflow is large; expected a number"),
        (lambda: limited(valid_range=5.0), "valid_range of inflow is 5.0; expected 2 numbers"),
        (lambda: limited(valid_max=np.nan), "valid_max of inflow is nan"),
    ],
)
@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_values_outside_the_valid_range_are_missing(tmp_path, each, said, engine):
    for negative in (None, "zero"):
        with pytest.raises(InputError, match=said):
            read_inflow(saved(tmp_path, each(), engine), negative=negative)


@pytest.mark.parametrize(
    "each",
    [
        lambda: limited(valid_min=10.0, valid_max=21.0),
        lambda: limited("i2", valid_range=np.int16([16, 38])),
        lambda: limited("i2", valid_range=[10.0, 21.0]),
        lambda: limited(actual_range=[0.0, 5.0]),
    ],
)
def test_the_ends_of_the_valid_range_are_values(tmp_path, each):
    assert read_inflow(saved(tmp_path, each())).flow_m3s.ravel() == pytest.approx(RECORD)


@pytest.mark.parametrize(
    ("name", "units", "said"),
    [
        ("inflow_m3s", "cfs", "the units attribute gives cfs, the name inflow_m3s gives m3/s"),
        ("inflow_cfs", "m3 s-1", "the units attribute gives m3 s-1, the name inflow_cfs gives cfs"),
        ("volume_hm3", "m3 s-1", "the name volume_hm3 gives hm3"),
        ("inflow_m3s", "hm3", "the name inflow_m3s gives m3/s"),
        ("inflow_mgd", "m3 s-1", "the name inflow_mgd gives mgd"),
        ("inflow_max", "m3 s-1", "the variable inflow_max does not seem to be inflow"),
        ("water_level", "m3 s-1", "the variable water_level does not seem to be inflow"),
        ("release", "m3 s-1", "the variable release does not seem to be inflow"),
    ],
)
def test_a_name_that_says_something_else_is_refused(tmp_path, name, units, said):
    with pytest.raises(InputError, match=said):
        read_inflow(saved(tmp_path, record(name=name, units=units)))


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("inflow_m3s", "m3 s-1"),
        ("Inflow_CFS", "ft3/s"),
        ("Q", "m3/s"),
        ("dis24", "m3 s**-1"),
        ("ro", "m3 s-1"),
        ("inflow_hm3", "hm3"),
    ],
)
def test_a_name_that_says_the_same_or_nothing_is_read(tmp_path, name, units):
    assert read_inflow(saved(tmp_path, record(name=name, units=units))).years == 2


@pytest.mark.parametrize(
    ("methods", "units", "right"),
    [
        ("time: mean", "m3 s-1", True),
        ("area: maximum time: mean (interval: 1 day)", "m3 s-1", True),
        ("lat: lon: time: mean", "m3 s-1", True),
        ("time: mean within days time: mean over days", "m3 s-1", True),
        ("area: sum", "m3 s-1", True),
        ("time: sum", "hm3", True),
        ("time: maximum", "m3 s-1", False),
        ("time: minimum (interval: 1 day comment: of all)", "m3 s-1", False),
        ("area: mean time: standard_deviation", "m3 s-1", False),
        ("time: maximum within days time: mean over days", "m3 s-1", False),
        ("time: mean within years time: mean over years", "m3 s-1", False),
        ("time: point", "m3 s-1", False),
        ("time: sum", "m3 s-1", False),
        ("time: mean", "hm3", False),
    ],
)
def test_only_means_of_flows_and_sums_of_volumes_are_read(tmp_path, methods, units, right):
    each = record(units=units)
    each.inflow.attrs["cell_methods"] = methods
    path = saved(tmp_path, each)
    if right:
        assert read_inflow(path).years == 2
    else:
        with pytest.raises(InputError, match="cell_methods of inflow says time: "):
            read_inflow(path)


def beside(name, values, **attributes):
    return record(**{name: ("time", np.full(24, values), attributes)})


@pytest.mark.parametrize(
    ("each", "said"),
    [
        (lambda: beside("evaporation_mm", 9.0, units="inches"), "the name evaporation_mm gives another.*inches"),
        (lambda: beside("evaporation_mm", 9.0, units="mm/day"), "the name evaporation_mm gives another.*mm/day"),
        (lambda: beside("withdrawal_m3s", 9.0, units="cfs"), "the name withdrawal_m3s gives another.*cfs"),
        (lambda: beside("withdrawal_m3s", 9.0, units="hm3"), "the name withdrawal_m3s gives another.*hm3"),
        (lambda: beside("price_per_mwh", 9.0, units="EUR/kWh"), "the name price_per_mwh gives another.*kWh"),
        (lambda: beside("price_per_mwh", 1e300), r"price_per_mwh: is out of range at 2000-01 \(found 1e\+300\)"),
        (lambda: beside("evaporation_mm", 2001.0), "evaporation_mm: is out of range at 2000-01.*-10000 to 2000"),
        (lambda: beside("withdrawal_cfs", -1.0), "withdrawal_cfs: is out of range at 2000-01"),
        (lambda: beside("withdrawal_m3s", np.nan), "withdrawal_m3s: missing value at 2000-01"),
        (
            lambda: beside("withdrawal_m3s", 9.0, valid_max=8.0),
            r"withdrawal_m3s: missing value \(9 is outside the valid",
        ),
        (lambda: beside("evaporation_mm", 9.0, cell_methods="time: maximum"), "cell_methods of evaporation_mm says"),
        (lambda: beside("evaporation_mm", "much"), "evaporation_mm is of type .*; expected numbers"),
        (
            lambda: beside("withdrawal_cfs", 1.0).assign(withdrawal_m3s=("time", RECORD)),
            "is a second variable of the same quantity",
        ),
    ],
)
def test_what_stands_beside_the_inflow_keeps_to_its_unit_and_range(tmp_path, each, said):
    with pytest.raises(InputError, match=said):
        read_inflow(saved(tmp_path, each()))


@pytest.mark.parametrize(
    ("name", "units"),
    [
        ("evaporation_mm", "mm"),
        ("evaporation_mm", "kg m-2"),
        ("withdrawal_cfs", "ft3/s"),
        ("price_per_mwh", "EUR MWh-1"),
    ],
)
def test_units_that_say_what_the_name_says_are_read(tmp_path, name, units):
    assert read_inflow(saved(tmp_path, beside(name, 9.0, units=units))).years == 2


def test_variables_that_are_passed_over_are_told(tmp_path):
    inflow = read_inflow(saved(tmp_path, record(storage=("time", RECORD), text=("time", ["a"] * 24))))
    assert "read variable inflow, passed over storage" in inflow.notes


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a\nb", "b", "c"], "member: is no name of a member"),
        (["", "b", "c"], "member: missing value"),
        (["a" * 101, "b", "c"], "at most 100 printable characters"),
        (["a", "a ", "c"], "two items of member have the same name"),
    ],
)
def test_names_of_members_are_as_in_csv(tmp_path, names, said):
    with pytest.raises(InputError, match=said):
        read_inflow(saved(tmp_path, dataset(member=names)))


def test_names_of_members_may_be_bytes(tmp_path):
    path = saved(tmp_path, dataset(member=np.array(["wet", "dry", "né"])), "scipy")
    assert read_inflow(path).members.tolist() == ["wet", "dry", "né"]


def test_an_ensemble_without_members_is_refused(tmp_path):
    with pytest.raises(InputError, match="the dimension member has no items"):
        read_inflow(saved(tmp_path, dataset(VALUES[:0])))


def test_a_missing_time_is_told(tmp_path):
    each = record(
        times=np.where(np.arange(24) == 3, np.nan, 15 + 30.4 * np.arange(24)), time={"units": "days since 2000-01-01"}
    )
    with pytest.raises(InputError, match="time has a missing value, number 4"):
        read_inflow(saved(tmp_path, each))
