"""Rows of several series, one after another, are refused; what varies within one series is not."""

from __future__ import annotations

import datetime as dt
import random

import pytest

from reservoir.errors import InputError
from reservoir.io.records.reader import read_inflow

FLOWS = [11.3, 12.48, 16.75, 43.39, 76.09, 53.08, 21.73, 12.0, 13.1, 23.7, 27.3, 16.1]
DAYS = [dt.date(2001, 1, 1) + dt.timedelta(day) for day in range(1461)]
MONTHS = [f"{year}-{month:02}" for year in range(2001, 2005) for month in range(1, 13)]
random.seed(1)
FLAGS = [random.choice(["A", "A", "A", "B", "E", ""]) for _ in DAYS]


def daily(name, cells):
    rows = (f"{day},{cell},{FLOWS[day.month - 1]}" for day, cell in zip(DAYS, cells, strict=True))
    return f"date,{name},flow_m3s\n" + "\n".join(rows)


def monthly(name, cells):
    rows = (f"{month},{FLOWS[at % 12]},{cell}" for at, (month, cell) in enumerate(zip(MONTHS, cells, strict=True)))
    return f"date,flow_m3s,{name}\n" + "\n".join(rows)


def wide(name, cells):
    header = f"year,{name}," + ",".join(f"m{month:02}" for month in range(1, 13))
    return "\n".join((header, *(f"{2001 + at},{cell}," + ",".join(map(str, FLOWS)) for at, cell in enumerate(cells))))


def then(first, second, rows, at=None):
    at = at or rows // 2
    return [first] * at + [second] * (rows - at)


def column_of(text):
    """The column to name, as several may be the inflow."""
    return None if "m01" in text else "flow_m3s"


SEVERAL = {
    "a sensor by its number": (daily("SENSOR_NUMBER", then("76", "23", 1461)), "76 to 23"),
    "a sensor by camels": (daily("sensorType", then("INFLOW", "OUTFLOW", 1461, 1455)), "INFLOW to OUTFLOW"),
    "a parameter": (daily("PARAM", then("1", "2", 1461)), "1 to 2"),
    "a station in German": (daily("Messstelle", then("Oben", "Unten", 1461)), "Oben to Unten"),
    "a station in Chinese": (daily("测站编码", then("60101", "60102", 1461)), "60101 to 60102"),
    "a station that comes back": (monthly("site", [*then("A", "B", 24), *then("A", "B", 24)]), "A to B"),
    "every month another": (monthly("station", ["Upper", "Lower"] * 24), "Upper to Lower"),
    "a statistic": (monthly("statistic", then("mean", "maximum", 48)), "mean to maximum"),
    "an identifier": (daily("ID", then("05XX001", "05XX002", 1461)), "05XX001 to 05XX002"),
    "a name that nobody knows": (monthly("kenn", then("QD", "WS", 48)), "QD to WS"),
    "numbers that nobody knows": (daily("ts_type", then("11", "12", 1461)), "11 to 12"),
    "a duration": (daily("DURATION", then("D", "E", 1461)), "D to E"),
    "a wide table": (wide("station", ["Upper", "Upper", "Lower", "Lower"]), "Upper to Lower"),
    "a wide table of many": (wide("River", ["Ob", "Irtysh", "Tobol", "Ishim"]), "Ob to Irtysh"),
    "a wide table, named otherwise": (wide("what", ["Q", "Q", "H", "H"]), "Q to H"),
    "an agency": (daily("agency_cd", then("USGS", "USBR", 1461)), "USGS to USBR"),
}
ONE = {
    "flags": daily("DATA_FLAG", FLAGS),
    "flags that change once": daily("Flag", then("A", "P", 1461)),
    "approval": daily("approval_status", then("Approved", "Provisional", 1461, 1300)),
    "a code of quality": daily("19450_00060_00003_cd", then("A", "P", 1461)),
    "remarks": daily("Remarks", ["", "Ice", "backwater", "gauge rebuilt"] + [""] * 1457),
    "a symbol": daily("SYM", then("", "B", 1461)),
    "how it was found": daily("source", then("reconstructed", "observed", 1461)),
    "a flag of a parameter": daily("parameter_flag", then("A", "P", 1461)),
    "the month": daily("period", [day.month for day in DAYS]),
    "the year": daily("WY", [day.year for day in DAYS]),
    "the row": daily("id", range(1461)),
    "the time": daily("obs_time", ["08:00", "09:00"] * 730 + ["08:00"]),
    "one station": daily("station", ["Upper"] * 1461),
    "one station, written otherwise": daily("station", then("UPPER", "Upper ", 1461)),
    "gauge heights": daily("gauge_height", [100 + at % 97 for at in range(1461)]),
    "heights of few months": monthly("gauge height", [100 + at % 12 for at in range(48)]),
    "outflow": daily("outflow_cms", then("5", "7", 1461)),
    "a season": monthly("season", (["wet"] * 6 + ["dry"] * 6) * 4),
    "kinds of years": wide("type", ["wet", "dry", "normal", "wet"]),
    "remarks by year": wide("remark", ["", "gauge moved", "", "flood"]),
    "totals": wide("Total", [326, 326, 326, 320]),
    "a version": daily("rating", then("12", "13", 1461)),
}


@pytest.mark.parametrize(("text", "change"), SEVERAL.values(), ids=SEVERAL)
def test_rows_of_several_series_are_refused(tmp_path, text, change):
    (tmp_path / "record.csv").write_text(text)
    with pytest.raises(InputError, match=rf"row \d+, column .* changes from {change}: the rows are not those of one"):
        read_inflow(tmp_path / "record.csv", column=column_of(text))


@pytest.mark.parametrize("text", ONE.values(), ids=ONE)
def test_what_varies_in_one_series_is_passed_over(tmp_path, text):
    (tmp_path / "record.csv").write_text(text)
    assert read_inflow(tmp_path / "record.csv", column=column_of(text)).years == 4


def members(name, cells):
    rows = [
        f"{member},{month},{cell},{FLOWS[at % 12]}"
        for at, (month, cell) in enumerate(zip(MONTHS, cells, strict=True))
        for member in "ab"
    ]
    return f"member,date,{name},inflow_m3s\n" + "\n".join(rows)


def test_members_of_several_series_are_refused_and_members_of_one_each_are_not(tmp_path):
    file = tmp_path / "members.csv"
    file.write_text(members("variable", then("inflow", "outflow", 48)))
    with pytest.raises(InputError, match="row 50, column variable: variable changes from inflow to outflow"):
        read_inflow(file, column="inflow_m3s")
    lines = members("model_station", ["x"] * 48).split("\n")
    file.write_text("\n".join(line.replace(",x,", ",y,") if line.startswith("b") else line for line in lines))
    assert read_inflow(file, column="inflow_m3s").member_count == 2
