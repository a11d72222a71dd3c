"""What a header, a comment or the call says of the unit is understood wholly, or refused; never misread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from reservoir.io.inflow_csv.month_headers import month_columns, year_column
from reservoir.io.inflow_file import read_inflow

DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
FLOWS = [40.0, 39.0, 42.0, 51.0, 79.0, 147.0, 265.0, 238.0, 274.0, 172.0, 85.0, 60.0]
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
NOTHING = "the unit of the values is not given"

Write = Callable[..., Path]

#: A column's name, and its unit, "" where m3/s is assumed, or a part of the refusal.
READ = {
    "": [
        *("inflow", "Inflow", "Q", "q", "flow", "discharge", "value", "Mean monthly inflow", "streamflow", "入库流量"),
        *(
            "Natural inflow to the reservoir",
            "débit",
            "caudal",
            "平均流量",
            "Q mean",
            "inflow (natural)",
            "reservoir_inflow",
        ),
    ],
    "m3/s": [
        *("inflow_m3s", "m3/s", "m³/s", "Q (m3/s)", "Q [m³/s]", "Q_m3_s", "Q(m^3/s)", "Q m**3/s", "Q (m3 s-1)", "M3/S"),
        *("Q [m³ s⁻¹]", "Q [m³·s⁻¹]", "Q (m3.s-1)", "inflow..m3.s.", "Q in m3/s", "inflow, m3/s", "inflow (cumecs)"),
        *(
            "inflow_cms",
            "入库流量(m3/s)",
            "入库流量（m³/s）",
            "流量(立方米/秒)",
            "Xiaowan_m3s",
            "Xiaowan inflow (m3/s)",
        ),
        *(
            "万家寨入库流量(m3/s)",
            "Inflow m3 per second",
            "mean daily flow (m3/s)",
            "inflow｜m3/s",
            "Q（㎥/s）",
            "Débit (m3/s)",
        ),
        *(
            "Inflow (m3/sec)",
            "Caudal medio (m3/s)",
            "сток м3/с",
            "flow−m3/s",
            "Q/(m3/s)",
            "流量/m³·s⁻¹",
            "Inflow:m3/s",
            "m3/s m3/s",
        ),
    ],
    "cfs": [
        "inflow_cfs",
        "Inflow (CFS)",
        "flow, cfs",
        "Sacramento_cfs",
        "Q ft3/s",
        "inflow_ft3s",
        "Q (ft³/s)",
        "cusecs",
    ],
    "hm3": [
        "inflow_hm3",
        "inflow (hm³)",
        "volume_hm3",
        "Volume [hm^3]",
        "HM3",
        "monthly inflow volume hm3",
        "hm3 month",
    ],
    "Mm3": ["volume_Mm3", "inflow_mm3", "inflow (Mm³)", "MM3"],
    "MCM": ["inflow_mcm", "Inflow (MCM)", "total monthly volume, MCM"],
    "1e8m3": [
        "inflow_1e8m3",
        "入库水量(亿m3)",
        "入库水量(亿m³)",
        "入库水量（亿立方米）",
        "来水量亿m3",
        "径流量[亿 m3]",
        "1e8 m3",
    ],
    "m3": ["inflow_m3", "volume (m3)", "水量(m³)", "Volume, cubic metres"],
    "acre-ft": ["inflow_acre_ft", "inflow (acre-ft)", "Acre-Feet", "volume_af", "inflow (AF)", "acft", "runoff, ac-ft"],
    "Refused with m3 with": [
        *("inflow Mio m3", "inflow (million m3)", "inflow (10^6 m3)", "inflow (10⁶ m³)", "inflow_bn_m3", "inflow k m3"),
        *(
            "inflow, 1000 m3",
            "inflow 1e6 m3",
            "m3/day",
            "m3/month",
            "m3 per day",
            "百亿m3",
            "水量百亿m3",
            "径流量(万m3)",
        ),
        *(
            "inflow thousand_m3",
            "inflow (milioni m3)",
            "inflow foo m3",
            "Mill. m3",
            "тыс m3",
            "inflow x1000 m3",
            "m3 x 1000",
        ),
        *("m3 (thousands)", "1000m3 m3", "inflow_m3_d"),
    ],
    "Refused with cfs with": [
        "inflow (1000 cfs)",
        "inflow, 1000 cfs",
        "cfs x1000",
        "cfs days",
        "cfs-days",
        "kilo cfs",
        "cfs/1000",
    ],
    "Refused with hm3 with": ["hm3/month", "hm3/day", "hm3/yr", "hm3 pro Monat", "daily volume hm3", "max volume hm3"],
    "Refused with acre-ft with": [
        "inflow (1000 acre-ft)",
        "thousand acre-feet",
        "thousand-acre-feet",
        "10^3 AF",
        "AF/month",
    ],
    "Refused with m3/s with": [
        *(
            "m3/s/km2",
            "inflow (m3/s) / 1000",
            "max inflow m3/s",
            "annual flow m3/s",
            "volume_m3s",
            "log_q_m3s",
            "m3/s %",
        ),
        *("inflow m3/s provisional2", "10^3 m3/s", "1000 m3/s", "m3/s x 10", "inflow half m3/s", "double m3s"),
    ],
    "km3": ["km3", "inflow_km3", "km³", "volume km^3"],
    "kcfs": ["kcfs", "Inflow (KCFS)"],
    "taf": ["taf", "TAF"],
    "kaf": ["inflow_kaf"],
    "maf": ["maf"],
    "l/s": ["l/s", "inflow (l/s)", "Q [L/s]", "inflow_ls", "flow, litres/s", "inflow (litres per second)"],
    "Refused with unknown unit": [
        *("mm/day", "runoff_mm", "mm", "ml/s", "inflow (ml/s)", "inflow_mcfs"),
        *(
            "inflow (in)",
            "inflow in",
            "inflow_mgd",
            "inflow_bcm",
            "MMm3",
            "Qm3s",
            "ML/d",
            "inflow_GL",
            "inflow ft",
            "inflow %",
        ),
        *(
            "inflow (10^6)",
            "inflow (million)",
            "inflow, 1000",
            "inflow/month",
            "inflow.1",
            "inflow x1000",
            "kcms",
            "cfsd",
            "flow/month",
            "tmcft",
        ),
        *(
            "mcum",
            "m",
            "s",
            "inflow (gallons)",
            "cubic feet",
            "max inflow",
            "inflow_1e6m3",
        ),
        *(
            "yearly inflow",
            "cumulative inflow",
            "入库水量(亿方)",
            "水量(万吨)",
            "млн м3",
            "km2",
            "inflow (dam3)",
            "inflow_yd3",
        ),
    ],
    "Refused with two units": ["inflow cfs hm3", "Q (m3/s, hm3)", "hm3 (acre-ft)"],
    f"Refused with {NOTHING}": [
        *(
            "volume",
            "Xiaowan",
            "Jinghong dam inflow",
            "水量",
            "入库水量",
            "径流",
            "径流量",
            "runoff",
            "Total",
            "小湾",
            "mean",
            "",
        ),
        *("monthly volume", "apports", "flow volume"),
    ],
    "Refused with does not seem to be inflow": [
        *("storage_hm3", "outflow_m3s", "release (m3/s)", "evaporation hm3", "出库流量(m3/s)", "库容(亿m3)", "level"),
    ],
}
EVERY = [(name, expected) for expected, names in READ.items() for name in names]

#: Comments above a wide table: the unit that they claim, "" where none does, or a part of the refusal.
COMMENTS = {
    "": [
        *("mean 1230 m3/s", "catchment 113,300 km2", "Mean of 62 years: 1230 m3/s, drainage area (km2): 113300"),
        *(
            "mean annual inflow 38,800 hm3",
            "Source: GRDC",
            "flows in the dry season are estimated",
            "gauge in Jinghong",
        ),
        *("capacity 2,400 taf", "storage in km3", "downloaded on 2020-01-01", "Débit de l'Isère", "Vandføring af åen"),
        *(
            "precipitation in mm",
            "USGS 11425500 SACRAMENTO R A VERONA CA",
            "10 years of 1000 are dry",
            "unity in variety",
        ),
    ],
    "m3/s": [
        *(
            "flows in m3/s",
            "Monthly mean inflow to Xiaowan Reservoir, m3/s, 1953 to 2014",
            "unit: m³/s",
            "unit m3s",
            "m3/s",
        ),
        *(
            "Einheit: m3/s",
            "Units of the values: m3/s",
            "All flows are in cumecs.",
            "unit: m3/s (monthly mean)",
            "Q (m3/s)",
        ),
        *(
            "units: m3/s; source: GRDC 2010",
            "单位：m3/s",
            "Werte in m3/s",
            "unit is m3/s",
            "values in m3/s for each month",
        ),
    ],
    "hm3": [
        *(
            "unit hm3",
            "unit: hm3",
            "*** values: hm3 ***",
            "units = HM3",
            "all values in hm3",
            "inflow (hm3)",
            "Inflow volumes in hm3",
            "hm3",
            "in hm3",
        ),
        *(
            "unit: hm3, monthly totals",
            "Units are hm3.",
            "Inflow: hm3",
            "the data is in hm3",
            "unité : hm3",
            "unidad: hm3",
        ),
    ],
    "1e8m3": ["单位：亿m3", "单位: 亿立方米", "unit: 1e8m3"],
    "cfs": ["flow [cfs]", "monthly mean flow, cubic feet per second", "units: ft3/s"],
    "kcfs": ["units: kcfs", "flows in kcfs"],
    "km3": ["values in km3", "inflow in cubic kilometres"],
    "taf": ["flow data in taf"],
    "kaf": ["unit kaf"],
    "l/s": ["values in l/s", "Inflow (l/s)"],
    "Refused with unknown unit": [
        *(
            "unit: barrel",
            "values in mm",
        ),
        *(
            "unit:",
            "unit: ?",
            "multiply by 1000",
            "values x 10^6",
            "unit: m3/s, x1000",
            "values in barrels",
            "unit: percent",
            "Inflow (mm/day)",
        ),
    ],
    "Refused with with the unknown": [
        *(
            "unit: million m3",
            "values in million m3",
            "values in 10^6 m3",
            "volumes (10^6 m3)",
            "in 1000 acre-ft",
            "10^6 m3",
        ),
        *(
            "All values in thousands of acre-feet",
            "unit of inflow: 1000 m3",
            "values in m3/s-days",
        ),
        *(
            "Zuflüsse in Mio. m³",
            "inflow in Mio. m3",
            "unit: hm3/month",
            "inflow in 1e6 m3",
            "inflow in Mio m3",
            "unit: m3 per day",
            "unit: m3/s or cfs",
            "unit: 10⁶ m³",
        ),
    ],
    "Refused with a comment mentions": [
        "converted from cfs",
        "caveat: converted from hm3 of the operator",
        "hm3 of water at the dam site of Dachaoshan",
    ],
    "Refused with two units": ["unit: m3/s (cfs)"],
}
EVERY_COMMENT = [(comment, expected) for expected, comments in COMMENTS.items() for comment in comments]

#: What the call may name, and how it is understood; None is refused.
CALLS = {
    **{name: name for name in (*FLOW_M3S, *VOLUME_HM3)},
    **{
        "m³/s": "m3/s",
        "m3s": "m3/s",
        "CFS": "cfs",
        "acre_ft": "acre-ft",
        "acre-feet": "acre-ft",
        "亿m3": "1e8m3",
        "hm³": "hm3",
    },
    **dict.fromkeys(["", " ", "million m3", "hm3/month", "m3/day", "inflow", "1000 cfs", "Mio m3"]),
    **dict.fromkeys(["inflow m3/s", "barrel", "10^6 m3", "m3/s\x1b", "x" * 5000]),
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write lines to a file."""

    def to_file(*lines: str) -> Path:
        path = tmp_path / "inflow.csv"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return to_file


def long(name: str) -> list[str]:
    """Lines of a record with a row a month."""
    quoted = name.replace('"', '""')
    return [f'date,"{quoted}"', *(f"1953-{month:02},{flow}" for month, flow in enumerate(FLOWS, start=1))]


def wide(names: tuple[str, ...] = MONTHS, year: str = "year") -> list[str]:
    """Lines of a record with a row a year."""
    return [",".join((year, *names)), ",".join(map(str, (1953, *FLOWS)))]


def in_m3s(unit: str) -> np.ndarray:
    """The flows, if they are written in `unit`."""
    values = np.array(FLOWS, float)
    return values * FLOW_M3S[unit] if unit in FLOW_M3S else values * VOLUME_HM3[unit] / (DAYS * 0.0864)


def check(path: Path, expected: str, **call: str | None) -> None:
    """Read a file in the unit expected, or be refused as expected."""
    if expected.startswith("Refused with "):
        with pytest.raises(InputError) as refused:
            read_inflow(path, **call)
        (mistake,) = refused.value.mistakes
        assert expected.removeprefix("Refused with ") in mistake.problem
        assert mistake.mend
        if "inflow" not in expected:
            assert all(known in mistake.expected for known in (*FLOW_M3S, *VOLUME_HM3))
        return
    inflow = read_inflow(path, **call)
    assert inflow.unit == (expected or "m3/s")
    assert inflow.unit_from.startswith("from" if expected else "assumed")
    np.testing.assert_allclose(inflow.flow_m3s, [in_m3s(expected or "m3/s")])


@pytest.mark.parametrize(("name", "expected"), EVERY)
def test_a_column_is_read_in_its_unit_or_refused(write: Write, name: str, expected: str) -> None:
    check(write(*long(name)), expected)


@pytest.mark.parametrize(
    "name", [name for name, expected in EVERY if expected.startswith("Refused") and NOTHING not in expected]
)
def test_a_column_that_is_not_understood_is_refused_beside_a_unit_in_the_call(write: Write, name: str) -> None:
    path = write(*long(name))
    for unit in ("m3/s", "hm3", "acre-ft", "m3"):
        with pytest.raises(InputError):
            read_inflow(path, unit=unit)


@pytest.mark.parametrize("name", READ[f"Refused with {NOTHING}"])
def test_a_name_without_a_unit_is_read_where_the_call_or_a_comment_says_it(write: Write, name: str) -> None:
    by_call = read_inflow(write(*long(name)), unit="hm3")
    by_comment = read_inflow(write("# unit: hm3", *long(name)))
    assert (by_call.unit_from, by_comment.unit_from) == ("from the unit argument", "from the comment in row 1")
    np.testing.assert_allclose(by_call.flow_m3s, [in_m3s("hm3")])
    np.testing.assert_array_equal(by_call.flow_m3s, by_comment.flow_m3s)


@pytest.mark.parametrize(("comment", "expected"), EVERY_COMMENT)
def test_a_comment_claims_a_unit_wholly_or_not_at_all(write: Write, comment: str, expected: str) -> None:
    check(write(f"# {comment}", *wide()), expected)


@pytest.mark.parametrize("comment", COMMENTS["Refused with a comment mentions"])
def test_prose_about_another_unit_matters_only_where_nobody_says_the_unit(write: Write, comment: str) -> None:
    assert read_inflow(write(f"# {comment}", "# unit: m3/s", *wide())).unit == "m3/s"
    assert read_inflow(write(f"# {comment}", *wide()), unit="hm3").unit == "hm3"


def test_two_claims_that_differ_contradict(write: Write) -> None:
    with pytest.raises(InputError, match="contradictory units: the comment in row 1 gives hm3, the comment in row 2"):
        read_inflow(write("# unit hm3", "# flows in m3/s", *wide()))
    with pytest.raises(InputError, match="contradictory units"):
        read_inflow(write("# all values in hm3", *long("inflow_m3s")))


@pytest.mark.parametrize(("unit", "understood"), CALLS.items())
def test_the_call_names_a_unit_and_nothing_else(write: Write, unit: str, understood: str | None) -> None:
    if understood is None:
        check(write(*wide()), "Refused with unknown unit", unit=unit)
    else:
        check(write(*wide()), understood, unit=unit)


def test_the_call_names_one_unit(write: Write) -> None:
    check(write(*wide()), "Refused with two units", unit="m3/s hm3")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("{} (hm3)", "hm3"),
        ("{}_cfs", "cfs"),
        ("{} [m³/s]", "m3/s"),
        ("{}. (hm3)", "hm3"),
        ("{} flow m3/s", "m3/s"),
        ("{} (km3)", "km3"),
        ("{} (10^6 m3)", "Refused with with the unknown"),
        ("{}_kaf", "kaf"),
    ],
)
def test_months_of_the_wide_layout_may_name_the_unit(write: Write, name: str, expected: str) -> None:
    check(write(*wide(tuple(name.format(month) for month in MONTHS))), expected)


@pytest.mark.parametrize(
    "names", [[f"m{month:02}_hm3" for month in range(1, 13)], [f"{m} (hm3)" for m in range(1, 13)]]
)
def test_numbered_months_may_name_the_unit(write: Write, names: list[str]) -> None:
    check(write(*wide(tuple(names))), "hm3")


@pytest.mark.parametrize(
    ("year", "expected"),
    [("Year (hm3)", "hm3"), ("year_hm3", "hm3"), ("year, m3/s", "m3/s"), ("Year (kaf)", "kaf")],
)
def test_the_column_of_years_may_name_the_unit(write: Write, year: str, expected: str) -> None:
    check(write(*wide(year=f'"{year}"')), expected)


def test_months_in_two_units_contradict(write: Write) -> None:
    with pytest.raises(InputError, match="contradictory units"):
        read_inflow(write(*wide(("Jan (hm3)", "Feb (cfs)", *MONTHS[2:]))))


@pytest.mark.parametrize(
    "cell", ["total", "Jan total", "Jan 1953", "1 hm3 cfs", "mean", "yearly", "year of birth", "1953"]
)
def test_other_columns_are_no_months_and_no_years(cell: str) -> None:
    assert month_columns([cell]) == ()
    assert year_column([cell]) is None


def test_the_unit_and_the_mean_flow_are_said(write: Write) -> None:
    assert read_inflow(write(*wide())).scale == "values in m3/s (assumed: the file gives no unit); mean flow 125 m3/s"
    said = read_inflow(write(*long("inflow_hm3"))).scale
    assert said == "values in hm3 (from the column name); mean flow 47.3 m3/s"
    made = Inflow(np.full((1, 12), 3.25), read_inflow(write(*wide())).calendar)
    assert (made.unit, made.unit_from, made.scale) == ("", "", "mean flow 3.25 m3/s")


def test_years_of_a_record_keep_its_unit(write: Write) -> None:
    part = read_inflow(write(*wide(), ",".join(map(str, (1954, *FLOWS)))), unit="hm3").span(1, 2)
    assert (part.unit, part.unit_from, part.labels) == ("hm3", "from the unit argument", ("1954",))
