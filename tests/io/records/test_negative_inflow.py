"""Negative values of a computed inflow are refused, kept or set to zero, as the call says; the water is told."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.io.records.reader import read_inflow

FLOWS = [40.0, -3.0, 42, 51, 79, 147, 265, 238, 274, 172, 85, 60]


@pytest.fixture
def record(tmp_path):
    rows = "\n".join(f"1953-{month:02},{flow}" for month, flow in enumerate(FLOWS, 1))
    (tmp_path / "record.csv").write_text(f"date,inflow_m3s\n{rows}")
    return tmp_path / "record.csv"


@pytest.fixture
def members(tmp_path):
    rows = "\n".join(f"{m},1953-{month:02},{flow * m}" for m in (1, 2) for month, flow in enumerate(FLOWS, 1))
    (tmp_path / "members.csv").write_text(f"member,date,inflow_m3s\n{rows}")
    return tmp_path / "members.csv"


def test_they_are_refused_by_place(record):
    with pytest.raises(InputError, match=r'row 3, column inflow_m3s: negative flow \(found "-3.0"\)') as refused:
        read_inflow(record)
    assert "--negative keep" in str(refused.value)


def test_kept_values_stay_as_they_are_and_the_water_is_told(record):
    inflow = read_inflow(record, negative="keep")
    assert inflow.flow_m3s.tolist() == [FLOWS]
    water = 3 * 28 * 0.0864
    assert inflow.notes[-1].startswith(f"1 negative value kept: together -{water:.4g} hm³ in the whole record, 0.1")
    assert inflow.notes[-1].endswith("(1953-02)")
    assert inflow.reading == {"negative": "keep"}


def test_zeros_stand_for_them_and_the_water_is_told(record):
    inflow = read_inflow(record, negative="zero")
    assert inflow.flow_m3s.min() == 0
    assert f"set to zero, which adds {3 * 28 * 0.0864:.4g} hm³" in inflow.notes[-1]


@pytest.mark.parametrize("negative", ["keep", "zero"])
def test_members_are_read_alike(members, negative):
    inflow = read_inflow(members, negative=negative)
    lowest = {"keep": -6.0, "zero": 0.0}[negative]
    assert inflow.flow_m3s.min() == lowest
    assert "2 negative values" in inflow.notes[-1]
    assert f"{(3 + 6) * 28 * 0.0864:.4g} hm³" in inflow.notes[-1]
    assert "(1953-02 of member 1, 1953-02 of member 2)" in inflow.notes[-1]


def test_members_are_told_by_their_names_and_none_where_there_are_none(members, tmp_path):
    members.write_text(members.read_text().replace("\n1,", "\nwet,").replace("\n2,", "\ndry,"))
    assert "(1953-02 of member wet, 1953-02 of member dry)" in read_inflow(members, negative="keep").notes[-1]
    xarray = pytest.importorskip("xarray")
    months = np.arange("1953-01", "1954-01", dtype="datetime64[M]").astype("datetime64[ns]")
    table = xarray.Dataset({"inflow": ("time", FLOWS, {"units": "m3 s-1"})}, {"time": months})
    table.to_netcdf(tmp_path / "record.nc")
    assert read_inflow(tmp_path / "record.nc", negative="keep").notes[-1].endswith("(1953-02)")


@pytest.mark.parametrize("code", ["-9999", "-999.0"])
@pytest.mark.parametrize("negative", ["keep", "zero"])
def test_missing_value_codes_are_no_negative_flows(record, members, code, negative):
    for path, flow in ((record, "-3.0"), (members, "-6.0")):
        path.write_text(path.read_text().replace(flow, code))
        with pytest.raises(InputError, match="probably a missing-value code"):
            read_inflow(path, negative=negative)


def test_a_flow_made_in_python_may_be_negative_only_where_that_is_allowed():
    with pytest.raises(InputError, match="negative or not finite"):
        Inflow(np.array([FLOWS]), Calendar(1953, 1))
    with pytest.raises(InputError, match="negative or not finite"):
        Inflow(np.array([[np.nan, *FLOWS[1:]]]), Calendar(1953, 1), allow_negative=True)
    assert Inflow(np.array([FLOWS]), Calendar(1953, 1), allow_negative=True).span(0, 1).flow_m3s.min() == -3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({"negative": "drop"}, "negative: is unknown"),
        ({"water_year": "middle"}, "water_year: is unknown"),
        ({"missing_days": 31}, "missing_days: is out of range"),
        ({"missing_days": -1}, "missing_days: is out of range"),
        ({"column": 3}, "column: is no name"),
        ({"column": "flow"}, "column: no such column; the file has inflow_m3s"),
        ({"water_year": "ends"}, "water_year: the file has dates"),
    ],
)
def test_what_the_call_cannot_mean_is_refused(record, call, said):
    with pytest.raises(InputError, match=said):
        read_inflow(record, **call)


@pytest.mark.parametrize("flow", ["1e308", "-1e308"])
def test_a_flow_beyond_all_rivers_is_refused_beside_negative_ones(record, flow):
    record.write_text(record.read_text().replace("42", flow))
    with pytest.raises(InputError, match="too large for a river"):
        read_inflow(record, negative="keep")
