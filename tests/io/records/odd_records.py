"""Inflow files as planners bring them, made from one record: text -> how it is to be read, or the mend of a refusal."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.units import VOLUME_HM3
from tests.io.records.odd_tables import (
    DAYS,
    HM3_PER_M3S_DAY,
    NAMES,
    daily,
    flow_of_day,
    flows_of,
    long,
    means_of_days,
    wide,
)


class Read(NamedTuple):
    """How a file is to be read: its years' labels, its flows (m3/s), and part of a note."""

    labels: tuple[str, ...]
    flows: np.ndarray
    note: str = ""
    unit: str = "m3/s"


class Refused(NamedTuple):
    """Part of the mistake, and part of its mend."""

    problem: str
    mend: str


class OddRecord(NamedTuple):
    """A file, the options of the call, and what becomes of it."""

    name: str
    text: str
    expected: Read | Refused
    options: dict[str, Any]


CALENDAR = ("1963", "1964", "1965")
OCTOBER = ("1963/64", "1964/65", "1965/66")
PLAIN, WATER = Read(CALENDAR, flows_of()), Read(OCTOBER, flows_of(10))


def _units() -> Iterator[OddRecord]:
    spellings = {
        "m3/s": ("m3/s", "m3s", "cms", "cumecs", "m³/s"),
        "l/s": ("l/s", "L/s"),
        "cfs": ("cfs", "ft3/s", "ft3s"),
        "kcfs": ("kcfs",),
        "hm3": ("hm3", "hm³"),
        "Mm3": ("Mm3",),
        "MCM": ("MCM",),
        "1e8m3": ("1e8m3", "亿m3"),
        "1e4m3": ("1e4m3", "万m3", "万m³"),
        "km3": ("km3",),
        "m3": ("m3",),
        "acre-ft": ("acre-ft", "af", "acft", "AF"),
        "kaf": ("kaf",),
        "taf": ("taf", "TAF"),
        "maf": ("maf",),
    }
    for unit, words in spellings.items():
        for word in words:
            text = long(f"date,inflow ({word})", cell=lambda value: f"{value:.12g}", unit=unit)
            yield OddRecord(f"a column in {word}", text, PLAIN._replace(unit=unit), {})
    month = long("date,inflow (hm3/month)", cell=lambda value: f"{value:.12g}", unit="hm3")
    yield OddRecord("a column in hm3/month", month, PLAIN._replace(unit="hm3"), {})
    wrong = Refused("unknown", "convert the values")
    for word in ("mgd", "barrels", "mm", "ML/d", "million m3", "1000 acre-ft", "hm3/year", "acre-ft/quarter"):
        yield OddRecord(f"a column in {word}", long(f"date,inflow ({word})"), wrong, {})


def _dates() -> Iterator[OddRecord]:
    forms: dict[str, Callable[[int, int], str]] = {
        "01-Jan-1964": lambda year, month: f"01-{NAMES[month - 1]}-{year}",
        "1 January 1964": lambda year, month: f"1 {calendar.month_name[month]} {year}",
        "01JAN1964": lambda year, month: f"01{NAMES[month - 1].upper()}{year}",
        "1964-Jan": lambda year, month: f"{year}-{NAMES[month - 1]}",
        "Jan-1964": lambda year, month: f"{NAMES[month - 1]}-{year}",
        "Jan 1964": lambda year, month: f"{NAMES[month - 1]} {year}",
        "January 1964": lambda year, month: f"{calendar.month_name[month]} {year}",
        "1964-01-15": lambda year, month: f"{year}-{month:02}-15",
        "1/2/1964": lambda year, month: f"01/{month:02}/{year}",
        "1.2.64": lambda year, month: f"1.{month}.{year % 100}",
        "Jan-64": lambda year, month: f"{NAMES[month - 1]}-{year % 100}",
        "1964-01-31 00:00": lambda year, month: f"{year}-{month:02}-{calendar.monthrange(year, month)[1]} 00:00",
    }
    for name, stamp in forms.items():
        yield OddRecord(f"dates as {name}", long(stamp=stamp), PLAIN, {})
    apart: dict[str, tuple[str, Callable[[int, int], str]]] = {
        "year and month": ("year,month,inflow_m3s", lambda year, month: f"{year},{month}"),
        "Year and name of the month": ("Year,Mon,inflow_m3s", lambda year, month: f"{year},{NAMES[month - 1]}"),
        "month before year": ("inflow_m3s,month,year", lambda year, month: f"{year}.0,{month:02}"),
        "year, month, water year": ("year,month,WY,inflow_m3s", lambda year, month: f"{year},{month},{year}"),
    }
    for name, (header, stamp) in apart.items():
        text = long(header, stamp)
        if header.startswith("inflow"):
            text = "\n".join((header, *(",".join(line.split(",")[::-1]) for line in text.splitlines()[1:])))
        yield OddRecord(f"columns of {name}", text, PLAIN, {})
    wrong: dict[str, tuple[Callable[[int, int], str], str]] = {
        "1964-1": (lambda year, month: f"{year}-{month}", "not a date"),
        "Winter 1964": (lambda year, month: f"Winter {year}", "not a date"),
        "a number of a spreadsheet": (lambda year, month: str(23_011 + 30 * month), "not a date"),
    }
    for name, (stamp, problem) in wrong.items():
        yield OddRecord(f"dates as {name}", long(stamp=stamp), Refused(problem, "write"), {})


def _years() -> Iterator[OddRecord]:
    def by_end(year: int) -> str:
        return str(year + 1)

    ends = WATER._replace(note="named by the year in which it ends: 1964 is Oct 1963 to Sep 1964")
    begins = WATER._replace(note="named by the year in which it begins: 1963 is Oct 1963 to Sep 1964")
    yield OddRecord("1963/64", wide(lambda year: f"{year}/{(year + 1) % 100}", 10), WATER, {})
    yield OddRecord("1963-1964", wide(lambda year: f"{year}-{year + 1}", 10), WATER, {})
    yield OddRecord("1963–64", wide(lambda year: f"{year}–{(year + 1) % 100}", 10), WATER, {"water_year": "ends"})
    yield OddRecord("WY1964", wide(lambda year: f"WY{year + 1}", 10), ends, {})
    yield OddRecord("WY 1964", wide(lambda year: f"WY {year + 1}", 10), ends, {})
    yield OddRecord("a column WY", wide(by_end, 10, "WY"), ends, {})
    yield OddRecord("a column water_year", wide(by_end, 10, "water_year"), ends, {})
    yield OddRecord("a column Water Year that begins", wide(str, 10, "Water Year"), begins, {"water_year": "begins"})
    yield OddRecord("plain years", wide(first_month=10), begins, {})
    yield OddRecord("plain years that end", wide(by_end, 10), ends, {"water_year": "ends"})
    for name, text in {
        "WY1964 from January": wide(lambda year: f"WY{year}"),
        "a column WY from January": wide(column="WY"),
        "1963/64 from January": wide(lambda year: f"{year}/{(year + 1) % 100}"),
    }.items():
        yield OddRecord(name, text, Refused("the months begin in January", "the first month of the water year"), {})
    yield OddRecord("63", wide(lambda year: str(year % 100)), Refused("the century is unknown", "four digits"), {})
    yield OddRecord("FY63", wide(lambda year: f"FY{year % 100}"), Refused("not a year", "write only the year"), {})
    yield OddRecord(
        "water years of dates", long(), Refused("the file has dates", "leave it out"), {"water_year": "ends"}
    )


def _days() -> Iterator[OddRecord]:
    means = Read(CALENDAR, means_of_days(), "daily values are averaged to months (1,096 days)")

    def gap(day: date) -> float | None:
        return None if date(1964, 2, 10) <= day <= date(1964, 2, 12) else flow_of_day(day)

    def code(value: float | None) -> Callable[[date], float | None]:
        return lambda day: value if gap(day) is None else flow_of_day(day)

    lacking = Read(CALENDAR, means_of_days(gap), "1964-02 (lacks 3 days)")
    refused = Refused("1 month with missing days: 1964-02 (lacks 3 days)", "--missing-days 3")
    yield OddRecord("days", daily(), means, {})
    yield OddRecord("days of 01-Jan-1964", daily("%d-%b-%Y"), means, {})
    yield OddRecord("days in three columns", daily("%Y,%m,%d", "year,month,day,inflow_m3s"), means, {})
    yield OddRecord("days in three columns of short names", daily("%Y,%b,%d", "YYYY,MM,DD,inflow_m3s"), means, {})
    yield OddRecord("days at noon", daily("%Y-%m-%d 12:00"), means, {})
    yield OddRecord("days in a column datetime", daily(header="datetime,inflow_m3s"), means, {})
    yield OddRecord("days backwards", daily(days=DAYS[::-1]), means, {})
    yield OddRecord("days without a value", daily(of_day=gap), refused, {})
    yield OddRecord("days without a value, allowed", daily(of_day=gap), lacking, {"missing_days": 3})
    yield OddRecord("days of -9999", daily(of_day=code(-9999.0)), refused, {})
    yield OddRecord("days of -9999, allowed", daily(of_day=code(-9999.0)), lacking, {"missing_days": 5})
    yield OddRecord("days left out", daily(days=[day for day in DAYS if gap(day)]), lacking, {"missing_days": 3})
    yield OddRecord("days of a column of dates alone", daily(days=DAYS[:20]), Refused("lacks 11 days", "fill in"), {})
    twice = daily(days=[*DAYS, DAYS[40]])
    yield OddRecord("a day twice", twice, Refused("the day appears twice", "delete one of the rows"), {})
    yield OddRecord(
        "days of cfs-days",
        daily(header="date,inflow (cfs-days)"),
        Refused("cfs with the unknown", "convert the values"),
        {},
    )
    rates = {"hm3/day": HM3_PER_M3S_DAY, "m3/day": 86_400.0, "acre-ft/day": HM3_PER_M3S_DAY / VOLUME_HM3["acre-ft"]}
    for unit, size in rates.items():
        text = daily(header=f"date,inflow ({unit})", cell=lambda value, size=size: repr(value * size))
        yield OddRecord(f"days in {unit}", text, means._replace(unit=unit), {})
    months = daily(header="date,inflow (hm3/month)")
    yield OddRecord("days in hm3/month", months, Refused("a row is that of a day", "the volume of a row"), {})
    volumes = daily(header="date,inflow_hm3", cell=lambda value: repr(value * HM3_PER_M3S_DAY))
    yield OddRecord("volumes of days", volumes, means._replace(unit="hm3"), {})


def _columns() -> Iterator[OddRecord]:
    note = "passed over Extra"
    yield OddRecord("a total", wide(more="9999"), PLAIN._replace(note=note), {})
    yield OddRecord("a remark", wide(more="estimated"), PLAIN._replace(note=note), {})
    for beside in ("Station", "site_no", "flag", "Quality code", "level_m", "storage (hm3)", "Total", "max inflow"):
        text = long(f"date,inflow_m3s,{beside}", cell=lambda value: f"{value:g},7")
        yield OddRecord(f"beside {beside}", text, PLAIN._replace(note=f"passed over {beside}"), {})
    text = long("date,Sacramento,Feather", cell=lambda value: f"7,{value:g}")
    two = Refused("2 columns besides the date: Sacramento, Feather", "--column NAME")
    yield OddRecord("two rivers", text, two, {})
    yield OddRecord(
        "one of two rivers", text, PLAIN._replace(note="passed over Sacramento"), {"column": "Feather", "unit": "m3/s"}
    )
    yield OddRecord(
        "a river of another name", text, Refused("no such column", "as the header has it"), {"column": "Pit"}
    )
    yield OddRecord("a column of months", wide(), Refused("a column for each month", "leave it out"), {"column": "Jan"})
    yield OddRecord(
        "two flows",
        long("date,inflow_m3s,flow", cell=lambda value: f"{value:g},7"),
        two._replace(problem="2 columns besides the date: inflow_m3s, flow"),
        {},
    )


def _numbers() -> Iterator[OddRecord]:
    commas = PLAIN._replace(note="commas in numbers are")
    yield OddRecord("thousands in quotes", long(cell=lambda value: f'"{value:,.0f}"'), commas, {})
    yield OddRecord("thousands and decimals", long(cell=lambda value: f'"{value:,.2f}"'), commas, {})
    decimal = long("date;inflow_m3s", cell=lambda value: f"{value:.1f}".replace(".", ","), delimiter=";")
    yield OddRecord("decimal commas", decimal, commas, {})
    yield OddRecord("decimal commas by tabs", decimal.replace(";", "\t"), commas, {})
    yield OddRecord(
        "decimal commas by years", wide(cell=lambda v: f"{v:.2f}".replace(".", ","), delimiter=";"), commas, {}
    )
    both = long("date;inflow_m3s", cell=lambda value: f"{value:,.1f}".translate({44: ".", 46: ","}), delimiter=";")
    yield OddRecord("points and decimal commas", both, commas, {})
    either = long("date;inflow_m3s", cell=lambda value: f"{value:,.0f}", delimiter=";")
    yield OddRecord(
        "commas of either kind", either, Refused("may be a decimal mark or separate thousands", "write "), {}
    )
    unquoted = long(cell=lambda value: f"{value:.1f}".replace(".", ","))
    yield OddRecord("decimal commas by commas", unquoted, Refused("wrong number of cells", "use points instead"), {})
    yield OddRecord("flags in numbers", long(cell=lambda value: f"{value:g}e"), Refused("not a number", "digits"), {})


def _above() -> Iterator[OddRecord]:
    yield OddRecord("a title", f"Inflow to the lake\n{long()}", PLAIN, {})
    yield OddRecord("titles", f"Inflow to the lake\nKept by the operator,,\n\n{wide()}", PLAIN, {})
    volumes = long("date,inflow", cell=lambda value: f"{value:.12g}", unit="hm3")
    yield OddRecord("a title of a unit", f"Monthly inflow (hm3)\n{volumes}", PLAIN._replace(unit="hm3"), {})
    yield OddRecord("a title of no unit", f"Inflow (buckets)\n{wide()}", PLAIN, {})
    yield OddRecord("a title of a multiplier", f"values x 1000\n{wide()}", Refused("unknown unit", "convert"), {})
    yield OddRecord("data above", f"1963,1,2\n{long()}", Refused("data above the header", "put the header above"), {})


def _negative() -> Iterator[OddRecord]:
    lowest = int(flows_of().min()) + 1
    text = long(cell=lambda value: f"{value if value > lowest else -12.5:g}")
    flows = np.where(flows_of() > lowest, flows_of(), -12.5)
    kept = Read(CALENDAR, flows, "kept: together -")
    zero = Read(CALENDAR, np.maximum(flows, 0), "set to zero, which adds ")
    yield OddRecord("negative", text, Refused("negative flow", "--negative keep or --negative zero"), {})
    yield OddRecord("negative, kept", text, kept, {"negative": "keep"})
    yield OddRecord("negative, zero", text, zero, {"negative": "zero"})
    code = long(cell=lambda value: f"{value if value < flows_of().max() else -9999:g}")
    yield OddRecord("a code", code, Refused("missing-value code", "fill in"), {"negative": "zero"})


ODD_RECORDS = [
    record for table in (_units, _dates, _years, _days, _columns, _numbers, _above, _negative) for record in table()
]
