"""Codes that stand for no flow are told from flows alike in records, days, ensembles and NetCDF."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.records.cells import codes_among
from reservoir.io.records.reader import read_inflow, read_inflow_forecast

FLOWS = [11.3, 12.48, 16.75, 43.39, 76.09, 53.08, 21.73, 12.0, 13.1, 23.7, 27.3, 16.1]
ALWAYS = [
    *("-901", "-902", "-99", "-999.0", "-9998", "-9997", "-99999", "-999999", "-99.99", "-9999.99", "-6999", "-888"),
    *("-8888", "-32768", "-2147483648", "-998877", "1e20", "1e30", "-1e+30", "-3.4028235e+38", "9.96921e36"),
    *("-1.7976931348623157e+308", "9999", "99999.9", "999999", "998877", "32766", "2147483647", "-5000"),
    *("9998", "99997"),
]


def months(cells):
    return "date,inflow_m3s\n" + "".join(f"2001-{month:02},{cell}\n" for month, cell in enumerate(cells, 1))


def days(cell, negative_days=range(100, 130), years=1):
    first = dt.date(2001, 1, 1)
    rows = (
        f"{first + dt.timedelta(day)},{cell if day in negative_days else FLOWS[day // 31 % 12]}"
        for day in range(365 * years)
    )
    return "date,flow_cms\n" + "\n".join(rows)


@pytest.mark.parametrize("negative", [None, "keep", "zero"])
@pytest.mark.parametrize("code", ALWAYS)
def test_a_code_in_a_month_is_refused(tmp_path, code, negative):
    file = tmp_path / "months.csv"
    file.write_text(months([*FLOWS[:5], code, *FLOWS[6:]]))
    with pytest.raises(InputError, match=r"row 7, column inflow_m3s: .*missing-value code"):
        read_inflow(file, negative=negative)


@pytest.mark.parametrize("negative", [None, "keep", "zero"])
@pytest.mark.parametrize("code", [*ALWAYS, "-50", "-1"])
def test_days_with_a_code_are_missing_days_whatever_becomes_of_negative_ones(tmp_path, code, negative):
    file = tmp_path / "days.csv"
    file.write_text(days(code))
    told = f"{code} is read as a missing value, not as a flow \\(30 times: rows 102, 103, 104 and 27 more\\)"
    with pytest.raises(
        InputError, match=rf"2 months with missing days: 2001-04 \(lacks 20 days\).*{told}".replace("+", r"\+")
    ):
        read_inflow(file, negative=negative)
    gaps = file.read_text().replace(f",{code}\n", ",\n")
    without = read_inflow(file, negative=negative, missing_days=20)
    file.write_text(gaps)
    np.testing.assert_array_equal(without.flow_m3s, read_inflow(file, missing_days=20).flow_m3s)
    assert any("is read as a missing value" in note for note in without.notes)


@pytest.mark.parametrize("code", ALWAYS)
def test_a_code_in_an_ensemble_is_refused_in_every_format(tmp_path, code):
    rows = [
        (name, f"2001-{month:02}", code if (name, month) == ("b", 4) else flow)
        for name in "ab"
        for month, flow in enumerate(FLOWS, 1)
    ]
    file = tmp_path / "members.csv"
    file.write_text("member,date,inflow_m3s\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    for read in (read_inflow, read_inflow_forecast) if code != "-5000" else ():  # a negative flow, without more
        with pytest.raises(InputError, match="missing-value code"):
            read(file)
    with pytest.raises(InputError, match=r"2001-04 of member b: .*missing-value code"):
        read_inflow(file, negative="zero")


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("code", ["9999", "99.99", "-901", "-9999.99", "1e20", "-3.4028235e38", "-2147483648"])
def test_a_code_in_netcdf_is_refused(tmp_path, code, single):
    xarray = pytest.importorskip("xarray")
    values = np.array([[*FLOWS[:3], float(code), *FLOWS[4:]]], np.float32 if single else np.float64)
    if code == "99.99":
        values[values < 99] /= 10
    times = np.array([f"2001-{month:02}-01" for month in range(1, 13)], "datetime64[ns]")
    dims = {"inflow": (("member", "time"), values, {"units": "m3 s-1"})}
    for each in (dims, {"inflow": ("time", values[0], {"units": "m3 s-1"})}):
        dataset = xarray.Dataset(each, coords={"time": times})
        dataset.to_netcdf(tmp_path / "codes.nc", engine="h5netcdf")
        for negative in (None, "zero"):
            with pytest.raises(InputError, match=r"2001-04.*missing-value code"):
                read_inflow(tmp_path / "codes.nc", negative=negative)


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([30, 20, -3, 25, -3, 14, 28, -1, 33, -3, 21, 45], []),  # a balance in whole numbers
        ([30, 20, -1, -1, -1, 14, 28, 22, 33, 41, 21, 45], []),  # rounded
        ([30.5, 20, -5, -5, -5, 14, 28.1, 22, 33, 41, 21, 45], [2, 3, 4]),
        ([30.5, -5, 20, -5, 14, -5, 28.1, -5, 33, -5, 21, 45], [1, 3, 5, 7, 9]),
        ([30.5, 20, -5.2, -4.8, -5.1, 14, 28.1, 22, 33, 41, 21, 45], []),
        ([3.0, 2, 1, 0, 0, 0, 0, 0, 0, -61, 4, 5], [9]),  # more than all that flows in
        ([0.0, 0, 0, 0, -2, -3, 0, 0, 0, 0, 0, 0], []),
        ([30, 20, 999, 25, 14, 650, 700], []),
        ([30, 20, 999, 999, 14, 1650, 700], [2, 3]),
        ([30, 20, 5000, 25, 5000, 14, 5000, 41, 6000, 6000, 6000], [2, 4, 6, 8, 9, 10]),
        ([3, 2, 5000, 25, 14, 5000, 41], []),  # two only
        ([300, 300, 300, 3, 2, 4, 50], []),
        ([30, 850, 999, 999, 940, 1650, 700], []),  # a flood that stays
        ([300, 99, 99, 250, 140, 650, 700], []),
        ([30, 20, np.nan, np.inf, -np.inf, 14, 28], []),
    ],
)
def test_what_is_a_code_follows_from_what_stands_beside_it(values, codes):
    sure, _ = codes_among(np.array(values, np.float64))
    assert np.flatnonzero(sure).tolist() == codes


def test_a_run_of_equal_small_numbers_is_a_code_where_it_is_long():
    values = np.random.default_rng(1).integers(5, 60, 400).astype(float)
    values[50:80] = -1
    assert np.flatnonzero(codes_among(values)[0]).tolist() == list(range(50, 80))
    members = np.tile(values, (2, 1))
    members[0, 50:80] = 7
    assert codes_among(members)[0].sum(axis=1).tolist() == [0, 30]


@pytest.mark.parametrize("negative", ["keep", "zero"])
def test_negative_values_cannot_take_away_more_than_there_is(tmp_path, negative):
    values = [*FLOWS[:6], *(-flow * 3 for flow in FLOWS[:6])]
    (tmp_path / "months.csv").write_text(months(values))
    rows = "".join(f"a,2001-{month:02},{flow}\n" for month, flow in enumerate(values, 1))
    (tmp_path / "members.csv").write_text(f"member,date,inflow_m3s\n{rows}")
    for file in ("months.csv", "members.csv"):
        with pytest.raises(InputError, match=r"6 negative values .* together take away .* hm3, and all others bring"):
            read_inflow(tmp_path / file, negative=negative)


@pytest.mark.parametrize(
    "text", ["NaN", "-nan", "1.#QNAN", "-1.#IND", "<NA>", "n.a.", "***", "---", ".", "缺测", "no data"]
)
def test_texts_without_a_number_are_missing_days(tmp_path, text):
    (tmp_path / "days.csv").write_text(days(text, range(100, 103)))
    assert "averaged over fewer days: 2001-04" in str(read_inflow(tmp_path / "days.csv", missing_days=3).notes)


def dataset(**variables):
    xarray = pytest.importorskip("xarray")
    times = np.array([f"{2001 + at // 12}-{at % 12 + 1:02}-01" for at in range(24)], "datetime64[ns]")
    columns = {name: ("time", values, attributes) for name, (values, attributes) in variables.items()}
    return xarray.Dataset(
        {"inflow": ("time", np.array(FLOWS * 2), {"units": "m3 s-1"}), **columns}, coords={"time": times}
    )


NETCDF = {
    "a code of evaporation": ({"evaporation_mm": ([-9999.0, *FLOWS * 2][:24], {"units": "mm"})}, "missing-value code"),
    "evaporation nearly named": ({"evaporation": (FLOWS * 2, {"units": "mm"})}, "evaporation seems to be evaporation"),
    "inches called mm": ({"evaporation_in": (FLOWS * 2, {"units": "mm"})}, "contradictory units"),
    "two stations": (
        {"station": (["Upper"] * 12 + ["Lower"] * 12, {})},
        "2002-01: station changes from Upper to Lower",
    ),
}


@pytest.mark.parametrize(("variables", "said"), NETCDF.values(), ids=NETCDF)
def test_netcdf_is_read_with_the_same_care(tmp_path, variables, said):
    dataset(**variables).to_netcdf(tmp_path / "record.nc", engine="h5netcdf")
    with pytest.raises(InputError, match=said):
        read_inflow(tmp_path / "record.nc")


def test_losses_of_netcdf_are_told(tmp_path):
    beside = {"evaporation_in": ([2.0] * 24, {"units": "inches"}), "quality_flag": (["A"] * 12 + ["P"] * 12, {})}
    dataset(**beside).to_netcdf(tmp_path / "record.nc", engine="h5netcdf")
    inflow = read_inflow(tmp_path / "record.nc")
    assert "evaporation 609.6 mm a year, from column evaporation_in" in inflow.notes
    assert inflow.evaporation_mm is not None
    assert inflow.evaporation_mm.max() == pytest.approx(50.8)
