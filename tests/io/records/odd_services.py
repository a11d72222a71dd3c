"""Files as gauging services deliver them, made from the record of days: their headers, dates and columns of units."""

from __future__ import annotations

from collections.abc import Iterator

from reservoir.hydro.units import FLOW_M3S
from tests.io.records.odd_records import CALENDAR, OddRecord, Read, Refused
from tests.io.records.odd_tables import DAYS, daily, flow_of_day, means_of_days

_MEANS = Read(CALENDAR, means_of_days(), "daily values are averaged to months")
_CFS = _MEANS._replace(unit="cfs")


def _cfs(value: float) -> str:
    return f"{value / FLOW_M3S['cfs']:.15g}"


def _geological_survey() -> Iterator[OddRecord]:
    comments = ["# U.S. Geological Survey", "#    19450   00060   00003   Discharge, cubic feet per second (Mean)", "#"]
    header = "agency_cd\tsite_no\tdatetime\t19450_00060_00003\t19450_00060_00003_cd"
    rows = [f"USGS\t09380000\t{day}\t{_cfs(flow_of_day(day))}\tA" for day in DAYS]
    text = "\n".join((*comments, header, "5s\t15s\t20d\t14n\t10s", *rows))
    note = "read column 19450_00060_00003, passed over agency_cd, site_no, 19450_00060_00003_cd"
    yield OddRecord("USGS", text, _CFS._replace(note=note), {})
    bare = "\n".join((header, *rows))
    yield OddRecord("USGS, unit by option", bare, _CFS, {"unit": "cfs"})
    yield OddRecord("USGS, no unit", bare, Refused("the unit of the values is not given", "inflow_m3s"), {})


def _data_centres() -> Iterator[OddRecord]:
    rows = [f"{day};--:--;{flow_of_day(day)!r:>16}" for day in DAYS]
    text = "\n".join(("# Unit of measure: m³/s", "# DATA", "YYYY-MM-DD;hh:mm; Value", *rows))
    yield OddRecord("GRDC", text, _MEANS._replace(note="read column Value, passed over hh:mm"), {})
    nordic = "\n".join(
        ("elv;dato;døgnmiddel m3/s", *(f"Elva;{day:%Y%m%d};{flow_of_day(day)!r}".replace(".", ",") for day in DAYS))
    )
    yield OddRecord("decimal commas and dates without signs", nordic, _MEANS._replace(note="passed over elv"), {})


def _columns_of_units() -> Iterator[OddRecord]:
    header = "STATION_ID,SENSOR_NUMBER,SENSOR_TYPE,DATE TIME,VALUE,DATA_FLAG,UNITS"
    rows = [f"ORO,76,INFLOW,{day:%Y%m%d} 0000,{_cfs(flow_of_day(day))}, ,CFS" for day in DAYS]
    yield OddRecord("CDEC", "\n".join((header, *rows)), _CFS, {})
    mixed = "\n".join((header, *rows[:-1], rows[-1].replace("CFS", "AF")))
    yield OddRecord("two units in a column", mixed, Refused("contradictory units", "check which unit is right"), {})
    unknown = "\n".join((header, *rows)).replace("CFS", "MGD")
    yield OddRecord("an unknown unit in a column", unknown, Refused("unknown unit", "convert the values"), {})
    other = "\n".join((header.replace("VALUE", "inflow_m3s"), *rows))
    yield OddRecord("a column and a header differ", other, Refused("contradictory units", "check which unit"), {})


def _year_first() -> Iterator[OddRecord]:
    forms = ("%Y/%m/%d", "%Y.%m.%d", "%Y年%m月%d日", "%Y%m%d", "%Y/%m/%d 0:00", "%Y/%m/%d 00:00:00")
    for form in forms:
        yield OddRecord(form, daily(form), _MEANS, {})
    single = "\n".join(("日期,inflow_m3s", *(f"{day.year}/{day.month}/{day.day},{flow_of_day(day)!r}" for day in DAYS)))
    yield OddRecord("2001/1/5", single, _MEANS, {})
    for name in ("timestamp", "Datum", "Fecha"):
        yield OddRecord(f"dates called {name}", daily(header=f"{name},inflow_m3s"), _MEANS, {})
    yield OddRecord("13/2001", daily("%Y/13/%d"), Refused("the date does not exist", "correct the date"), {})


ODD_SERVICES = [
    record for table in (_geological_survey, _data_centres, _columns_of_units, _year_first) for record in table()
]
