"""Inflow of several sites: wide, long, of members, NetCDF, workbooks and files of their own; totals made local."""

import re
from dataclasses import replace

import numpy as np
import pytest

import reservoir
from reservoir.errors import InputError
from reservoir.hydro.attributes import InflowIs
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.system import InflowSource, Link
from tests.io.two_dams import TWO, YEARS, flows, wide, write_two

LOCAL = np.array([[flows(year, month) for month in range(1, 13)] for year in YEARS])


@pytest.fixture
def two(tmp_path):
    """The system without travel, whose record is read from a text or a file."""

    def read(text, **changes):
        options = {name: changes.pop(name) for name in ("unit", "negative", "column", "sheet") if name in changes}
        system = reservoir.read_system(write_two(tmp_path, TWO.replace("travel_hours = 12\n", "")))
        file = text if not isinstance(text, str) else tmp_path / "record.csv"
        if isinstance(text, str):
            file.write_text(text)
        return reservoir.read_system_inflow(replace(system, **changes), file, **options)

    return read


def assert_local(inflows, *, names=("upper", "lower")):
    assert tuple(inflows) == names
    for place, name in enumerate(names):
        np.testing.assert_allclose(inflows[name].flow_m3s, LOCAL[:, :, place], rtol=1e-6, atol=1e-6)


def long(*columns):
    lines = [",".join(("date", "station", "inflow_m3s", *columns))]
    for year in YEARS:
        for month in range(1, 13):
            for name, flow in zip(("Upper", "Lower"), flows(year, month), strict=True):
                lines.append(",".join((f"{year}-{month:02d}", name, f"{flow:g}", *("9" for _ in columns))))
    return "\n".join(lines)


@pytest.mark.parametrize(
    "header",
    [
        "date,upper,lower",
        "date,Upper,Lower",
        "date,upper_m3s,lower_m3s",
        "date,inflow upper (m3/s),inflow lower (m3/s)",
    ],
)
def test_a_column_is_that_of_the_reservoir_in_its_name(two, header):
    assert_local(two(wide(header)))


def test_of_several_columns_of_a_reservoir_the_inflow_is_read(two):
    rows = [f"{line},99,88,5,0" for line in wide().splitlines()[1:] if line]
    header = "date,upper_inflow_m3s,lower_inflow_m3s,upper_outflow_m3s,lower_storage_hm3,upper_level_m,lower_spill_m3s"
    assert_local(two("\n".join([header, *rows])))


def test_names_of_scripts_without_spaces_are_found_in_those_of_columns(tmp_path):
    text = TWO.replace('"upper"', '"小湾"').replace('"lower"', '"漫湾"').replace("travel_hours = 12\n", "")
    system = reservoir.read_system(write_two(tmp_path, text))
    (tmp_path / "record.csv").write_text(wide("日期,小湾入库流量(m3/s),漫湾流量"), encoding="utf-8")
    read = reservoir.read_system_inflow(system, tmp_path / "record.csv")
    assert_local(read, names=("小湾", "漫湾"))


def test_a_unit_is_that_of_the_column_or_of_the_call(two):
    cfs = two(wide("date,upper_cfs,lower_m3s"))
    np.testing.assert_allclose(cfs["upper"].flow_m3s, LOCAL[:, :, 0] * 0.028316846592)
    assert (cfs["upper"].unit, cfs["lower"].unit) == ("cfs", "m3/s")
    np.testing.assert_allclose(two(wide(), unit="cfs")["lower"].flow_m3s, LOCAL[:, :, 1] * 0.028316846592)


def test_rows_are_those_of_the_reservoir_that_a_column_names(two):
    assert_local(two(long()))
    assert_local(two(long("depth_mm"), column="inflow_m3s"))
    assert_local(
        two(long("depth_mm"), inflow_of={"upper": InflowSource("station=Upper; inflow_m3s")}, column="inflow_m3s")
    )


def test_members_have_a_column_a_reservoir(two):
    rows = [line for line in wide().splitlines()[1:] if line]
    text = "\n".join(["member,date,upper_m3s,lower_m3s", *(f"{member},{row}" for member in "ab" for row in rows)])
    read = two(text)
    assert read["upper"].member_count == read["lower"].member_count == 2
    np.testing.assert_allclose(read["lower"].flow_m3s, np.concatenate([LOCAL[:, :, 1]] * 2))
    assert read.notes == ()


@pytest.mark.parametrize("shape", ["variables", "dimension"])
def test_netcdf_has_a_variable_or_an_item_a_reservoir(two, tmp_path, shape):
    xarray = pytest.importorskip("xarray")
    time = ("time", Calendar(1990, 4).starts.ravel().astype("datetime64[ns]"))
    about = {"units": "m3 s-1"}
    flat = LOCAL.reshape(-1, 2)
    if shape == "variables":
        data = {"upper": ("time", flat[:, 0], about), "lower": ("time", flat[:, 1], about)}
        dataset = xarray.Dataset(data, {"time": time})
    else:
        data = {"inflow": (("time", "site"), flat, about)}
        dataset = xarray.Dataset(data, {"time": time, "site": ["Upper", "Lower"]})
    dataset.time.encoding["units"] = "days since 1990-01-01"
    dataset.to_netcdf(tmp_path / "record.nc", engine="h5netcdf")
    assert_local(two(tmp_path / "record.nc"))


@pytest.mark.parametrize("layout", ["columns", "sheets"])
def test_a_workbook_has_a_column_or_a_sheet_a_reservoir(two, tmp_path, layout):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    tables = {
        "flows": [["date", "upper", "lower"]],
        "upper": [["date", "inflow_m3s"]],
        "lower": [["date", "inflow_m3s"]],
    }
    for year in YEARS:
        for month in range(1, 13):
            date = f"{year}-{month:02d}"
            upper, lower = flows(year, month)
            for sheet, row in (("flows", [date, upper, lower]), ("upper", [date, upper]), ("lower", [date, lower])):
                tables[sheet].append(row)
    for name in ["flows"] if layout == "columns" else ["upper", "lower"]:
        sheet = book.create_sheet(name)
        for row in tables[name]:
            sheet.append(row)
    book.save(tmp_path / "record.xlsx")
    assert_local(two(tmp_path / "record.xlsx"))
    if layout == "columns":
        assert_local(two(tmp_path / "record.xlsx", sheet="flows"))


def test_a_reservoir_may_have_a_record_of_its_own(two, tmp_path):
    rows = [row.split(",") for row in wide().splitlines()[1:]]
    (tmp_path / "own.csv").write_text("\n".join(["date,discharge_m3s", *(f"{row[0]},{row[2]}" for row in rows)]))
    own = {"lower": InflowSource("", str(tmp_path / "own.csv"))}
    assert_local(two(wide("date,upper,other"), inflow_of=own))
    only = {"upper": InflowSource("other", str(tmp_path / "record.csv")), **own}
    system = replace(reservoir.read_system(tmp_path / "two.toml"), inflow_of=only)
    (tmp_path / "record.csv").write_text(wide("date,other,more"))
    assert_local(reservoir.read_system_inflow(system))
    with pytest.raises(InputError, match=r"inflow of upper: has no record.*write inflow_file"):
        reservoir.read_system_inflow(replace(system, inflow_of=own))


def test_records_of_other_years_are_read_where_all_have_them(two, tmp_path):
    rows = [row.split(",") for row in wide().splitlines()[1:]]
    own = {"lower": InflowSource("", str(tmp_path / "own.csv"))}
    (tmp_path / "own.csv").write_text("\n".join(["date,inflow_m3s", *(f"{row[0]},{row[2]}" for row in rows[:-12])]))
    read = two(wide("date,upper,other"), inflow_of=own)
    assert (read.years, read.first.labels[-1]) == (3, "1992")
    assert "upper: left out 1 year that other records lack" in read.notes
    np.testing.assert_allclose(read["lower"].flow_m3s, LOCAL[:3, :, 1])
    later = "\n".join(["date,inflow_m3s", *(f"20{row[0][2:]},{row[2]}" for row in rows)])
    (tmp_path / "own.csv").write_text(later)
    with pytest.raises(InputError, match="the record of lower is another than that of upper"):
        two(wide("date,upper,other"), inflow_of=own)
    (tmp_path / "own.csv").unlink()
    with pytest.raises(InputError, match=r"own.csv: the file does not exist"):
        two(wide("date,upper,other"), inflow_of=own)


def test_what_stands_beside_is_of_all_or_of_the_site_that_it_names(two):
    rows = [f"{line},3,7,50" for line in wide().splitlines()[1:] if line]
    header = "date,upper,lower,evaporation_mm,lower_evaporation_mm,upper price (EUR/MWh)"
    read = two("\n".join([header, *rows]))
    assert_local(read)
    assert (read["upper"].evaporation_mm == 3).all()
    assert (read["lower"].evaporation_mm == 7).all()
    assert (read["upper"].price_per_mwh == 50).all()
    assert read["lower"].price_per_mwh is None
    assert any(note.endswith("from column lower_evaporation_mm") for note in read.notes)


def test_other_columns_are_told_those_of_other_sites_are_not(two):
    rows = [f"{line},good" for line in wide().splitlines()[1:] if line]
    assert two("\n".join(["date,upper,lower,Flag", *rows])).notes == ("passed over Flag",)


def test_columns_that_are_missing_are_told_with_those_that_are_there(two):
    with pytest.raises(InputError) as caught:
        two(wide("date,uper,downstream"))
    first, second = map(str, caught.value.mistakes)
    assert "inflow of upper: there is no column upper in " in first
    assert 'one of its columns: date, uper, downstream. Fix: write inflow = "uper" below the [[reservoirs]] of' in first
    assert "inflow of lower: there is no column lower in " in second
    assert_local(two(wide("date,uper,x"), inflow_of={"upper": InflowSource("uper"), "lower": InflowSource("x")}))


def test_a_mistake_in_a_column_names_it_as_the_file_does(two):
    with pytest.raises(InputError, match=re.escape("row 2, column upper_m3s: ")):
        two(wide("date,upper_m3s,lower").replace("1990-01,", "1990-01,x", 1))


TOTAL = {"lower": InflowSource(is_what=InflowIs.TOTAL)}


def test_of_a_total_what_comes_from_above_is_subtracted(two):
    read = two(wide(total=True), inflow_of=TOTAL)
    assert_local(read)
    assert "local inflow of lower: its total flow without that from upper" in read.notes


def test_travel_and_losses_count_in_what_comes_from_above(two):
    link = Link("upper", "lower", lost_share=0.5, travel_steps=1.0, before_m3s=2.0)
    read = two(wide(total=True), inflow_of=TOTAL, links=(link,), negative="keep")
    volume = read.calendar.hm3_per_m3s.ravel()
    upper = LOCAL[:, :, 0].ravel()
    late = np.append(2.0 * volume[-1], (upper * volume)[:-1]) / volume
    wanted = LOCAL[:, :, 1].ravel() + upper - 0.5 * late
    np.testing.assert_allclose(read["lower"].flow_m3s.ravel()[1:], wanted[1:])


def test_a_total_below_what_comes_from_above_is_refused_or_read_as_asked(two):
    text = wide()
    with pytest.raises(InputError) as caught:
        two(text, inflow_of=TOTAL)
    (said,) = map(str, caught.value.mistakes)
    assert (
        "inflow of lower: is less than what comes from upper in 48 of 48 steps, first in Jan of 1990, by up to" in said
    )
    assert "Fix: give --negative zero, or keep; or correct the travel time" in said
    kept = two(text, inflow_of=TOTAL, negative="keep")
    np.testing.assert_allclose(kept["lower"].flow_m3s, LOCAL[:, :, 1] - LOCAL[:, :, 0], atol=1e-6)
    assert not two(text, inflow_of=TOTAL, negative="zero")["lower"].flow_m3s.any()
    assert any("below 0 in 48 of 48 steps" in note for note in kept.notes)
