"""Files in the forms in which public services deliver them, made from the record of days and of months.

Each names the page, or the service's own file, that has the form.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np

from reservoir.hydro.units import FLOW_M3S, VOLUME_HM3
from tests.io.records.odd_tables import (
    DAYS,
    HM3_PER_M3S_DAY,
    NAMES,
    flow,
    flow_of_day,
    flows_of,
    means_of_days,
    months,
)

Rows = Sequence[Sequence[object]]
MONTHS = [month for year in months() for month in year]
#: Flows by months, and means of months by days.
OF_MONTHS, OF_DAYS = flows_of(), means_of_days()


class Form(NamedTuple):
    """A file: text, or rows of a workbook; how it is read, in the call that it takes."""

    name: str
    page: str
    content: str | Rows
    flows: np.ndarray
    unit: str
    note: str
    options: dict[str, Any]
    #: What is said without the option `column`, which that names.
    refused: str = ""


def _cfs(value: float) -> str:
    return f"{value / FLOW_M3S['cfs']:.15g}"


def _days(row: Callable[[date], str], days: Sequence[date] = DAYS) -> str:
    return "\n".join(row(day) for day in days)


def _without(*days: date) -> np.ndarray:
    return means_of_days(lambda day: None if day in days else flow_of_day(day))


_HISTORIC = "usbr.gov/rsvrWater/HistoricalApp.html"
_FOOTNOTES = """\
* Min/Max values are based on 30-year period of water years 1980 through 2010. Water years begin on October 1st.
** Inflow is computed based on reservoir release and change in reservoir storage (and reservoir evaporation, ...).
*** Unregulated Inflow adjusts for the effects of operations at upstream reservoirs. It is computed, daily, by adding
^ Modified Unregulated Inflow applies to Navajo Reservoir only"""


def _bureau_of_reclamation() -> Iterator[Form]:
    rows = _days(lambda day: f"{day:%d-%b-%Y},3580.46,9331029,{_cfs(flow_of_day(day))},9819")
    text = f"Date,Elevation (feet),Storage (af),Inflow** (cfs),Total Release (cfs)\n{rows}\n{_FOOTNOTES}"
    note = "passed over 4 footnotes below the table (row 1098)"
    yield Form("USBR historic data", _HISTORIC, text, OF_DAYS, "cfs", note, {})
    rows = _days(lambda day: f"{day:%d-%b-%Y},9331029,{_cfs(flow_of_day(day))},71,9819")
    text = f"Date,Storage (af),Inflow** (cfs),Unregulated Inflow*** (cfs),Total Release (cfs)\n{rows}\n{_FOOTNOTES}"
    two = "2 columns besides the date: Inflow** (cfs), Unregulated Inflow*** (cfs)"
    options: dict[str, Any] = {"column": "Inflow** (cfs)"}
    yield Form("USBR, two inflows", _HISTORIC, text, OF_DAYS, "cfs", "passed over Storage (af)", options, two)
    rows = _days(lambda day: f"{day.day}-{day:%b-%y},6083.2,1693000,{day.month},{_cfs(flow_of_day(day))},500")
    text = (
        f"Date,Elevation (feet),Storage (af),Evaporation (af),Inflow** (cfs),Total Release (cfs)\n{rows}\n{_FOOTNOTES}"
    )
    page = "usbr.gov/rsvrWater/HistoricalApp.html (Navajo)"
    note = "evaporation 2.939 hm³ a year, in place of evaporation by area, from column Evaporation (af)"
    yield Form("USBR, evaporation", page, text, OF_DAYS, "cfs", note, {})
    page = "usbr.gov/uc/water/hydrodata/reservoir_data/919/csv/29.csv"
    rows = _days(lambda day: f"{day},{_cfs(flow_of_day(day))}")
    text = f"datetime,inflow\n1962-12-30,\n1962-12-31,NaN\n{rows}\n1966-01-01,\n"
    yield Form("USBR HydroData, days", page, text, OF_DAYS, "cfs", "NaN is read as no value (1 row)", {"unit": "cfs"})
    rows = "\n".join(f"{year}-{month:02},{_cfs(flow(year, month))}" for year, month in MONTHS)
    text = f"datetime,inflow*\n1962-11,\n1962-12,\n{rows}\n1966-01,\n{_FOOTNOTES}"
    note = "left out, as values are missing: 1962-11 to 1962-12, 1966-01"
    yield Form("USBR HydroData, months", page, text, OF_MONTHS, "cfs", note, {"unit": "cfs"})


def _rise() -> Iterator[Form]:
    page = "data.usbr.gov/rise/api/result/download?type=csv (header behind #SERIES DATA#)"
    above = '"#RISE Time Series Query Package#"\n"Query Date","2024-01-05"\n\n"#SERIES DATA#"\n'
    above += '"Location","Parameter","Result","Units","Timestep","Aggregation","Datetime (UTC)"\n'

    def series(name: str, unit: str, value: Callable[[date], str]) -> str:
        return _days(lambda day: f'"Lake Powell","{name}","{value(day)}","{unit}","day","mean","{day} 07:00:00"')

    rows = series("Lake/Reservoir Inflow", "cfs", lambda day: _cfs(flow_of_day(day)))
    note = "read column Result, passed over Location, Parameter, Units, Timestep, Aggregation"
    yield Form("USBR RISE", page, above + rows, OF_DAYS, "cfs", note, {})
    text = f"{above}{rows}\n{series('Lake/Reservoir Storage', 'af', lambda day: '9331029')}"
    several = "2 series (Parameter), one below the other: Lake/Reservoir Inflow, Lake/Reservoir Storage"
    options, note = {"column": "Parameter=Lake/Reservoir Inflow"}, "Parameter is Lake/Reservoir Inflow"
    yield Form("USBR RISE, two parameters", page, text, OF_DAYS, "cfs", note, options, several)


def _cdec() -> Iterator[Form]:
    page = "cdec.water.ca.gov/dynamicapp/req/CSVDataServlet?Stations=ORO&SensorNums=76,15&dur_code=D"
    header = "STATION_ID,DURATION,SENSOR_NUMBER,SENSOR_TYPE,DATE TIME,OBS DATE,VALUE,DATA_FLAG,UNITS"
    gap = DAYS[400]

    def sensor(station: str, number: int, kind: str, unit: str, value: Callable[[date], str]) -> str:
        stamp = "%Y%m%d 0000"
        return _days(lambda day: f"{station},D,{number},{kind},{day:{stamp}},{day:{stamp}},{value(day)}, ,{unit}")

    def inflow(day: date) -> str:
        return "---" if day == gap else _cfs(flow_of_day(day))

    rows, flows = sensor("ORO", 76, "INFLOW", "CFS", inflow), _without(gap)
    storage = sensor("ORO", 15, "STORAGE", "AF", lambda day: "2482511")
    note = "averaged over fewer days: 1964-02 (lacks 1 day)"
    options: dict[str, Any] = {"missing_days": 1}
    yield Form("CDEC, one sensor", page, f"{header}\n{rows}", flows, "cfs", note, options)
    several = "the file has the rows of 2 series (SENSOR_TYPE), one below the other: STORAGE, INFLOW"
    chosen = options | {"column": "SENSOR_TYPE=INFLOW"}
    text, note = f"{header}\n{storage}\n{rows}", "read the 1,096 of 2,192 rows in which SENSOR_TYPE is INFLOW"
    yield Form("CDEC, two sensors", page, text, flows, "cfs", note, chosen, several)
    text = f"{text}\n{sensor('SHA', 15, 'STORAGE', 'AF', lambda day: '1')}"
    chosen = options | {"column": "STATION_ID=ORO; SENSOR_TYPE=INFLOW"}
    yield Form("CDEC, stations and sensors", page, text, flows, "cfs", "SENSOR_TYPE is INFLOW", chosen)


_RDB = "waterdata.usgs.gov/nwis/help?codes_help; opencdss.state.co.us (datastore USGS-NWIS-RDB)"
_YEARS = [[day for day in DAYS if day.year == year] for year in (1963, 1964, 1965)]
_CODES = ("Ice", "Eqp", "Bkw", "Ssn", "Dis", "***", "Mnt", "Rat", "Fld", "Pr", "Nd", "--")


def _geological_survey() -> Iterator[Form]:
    above = "# Data provided for site 09380000\n#    TS   parameter     statistic     Description\n"
    above += "#  19450       00060     00003     Discharge, cubic feet per second (Mean)\n#\n"
    above += "agency_cd\tsite_no\tdatetime\t19450_00060_00003\t19450_00060_00003_cd\n5s\t15s\t20d\t14n\t10s\n"
    codes = dict(zip(DAYS[400:], _CODES, strict=False))
    rows = _days(lambda day: f"USGS\t09380000\t{day}\t{codes.get(day) or _cfs(flow_of_day(day))}\tA")
    note = "Ice, Eqp, Bkw, Ssn, Dis, Mnt, Rat, Fld, Pr, Nd are read as no value (10 rows)"
    yield Form("NWIS, days with codes", _RDB, above + rows, _without(*codes), "cfs", note, {"missing_days": 12})
    dry = above + _days(lambda day: f"USGS\t1\t{day}\t{_cfs(flow_of_day(day)) if day.month < 7 else 'Dry'}\tA")
    flows, page = means_of_days(lambda day: flow_of_day(day) if day.month < 7 else 0.0), f"{_RDB} (Dry: zero flow)"
    yield Form("NWIS, a dry river", page, dry, flows, "cfs", "Dry is read as a flow of zero (552 cells)", {})
    two = above + "\n".join(
        _days(lambda day, site=site: f"USGS\t{site}\t{day}\t{_cfs(flow_of_day(day))}\tA")  # type: ignore[misc]
        for site in ("09402500", "09380000")
    )
    several = "the file has the rows of 2 stations, one below the other: 09402500, 09380000"
    options = {"column": "site_no=09402500"}
    yield Form("NWIS, two sites", _RDB, two, OF_DAYS, "cfs", "site_no is 09402500", options, several)
    parts = (above + _days(lambda day: f"USGS\t1\t{day}\t{_cfs(flow_of_day(day))}\tA", days) for days in _YEARS)
    yield Form("NWIS, files one below the other", _RDB, "\n".join(parts), OF_DAYS, "cfs", "the table is in 3 parts", {})
    older = "agency_cd\tsite_no\tdv_dt\tdv_va\tdv_cd\n5s\t15s\t10d\t12n\t3s\n"
    rows = _days(lambda day: f"USGS\t09380000\t{day}\t{_cfs(flow_of_day(day))}\te")
    text = f'{older}{rows}\n<font face="Arial">\n<p>Microsoft VBScript runtime </font>'
    yield Form("NWIS, older names", _RDB, text, OF_DAYS, "cfs", "read column dv_va", {"unit": "cfs"})
    above = "# This file contains USGS Monthly Statistics\n# mean_va  monthly-mean value.\n#\n"
    above += "#  00060      Discharge, cubic feet per second\n"
    above += "agency_cd\tsite_no\tparameter_cd\tts_id\tloc_web_ds\tyear_nu\tmonth_nu\tmean_va\n"
    above += "5s\t15s\t5s\t10n\t15s\t4s\t2s\t12n\n"
    text = above + "\n".join(f"USGS\t09380000\t00060\t1\t\t{y}\t{m}\t{_cfs(flow(y, m))}" for y, m in MONTHS)
    page = "waterservices.usgs.gov/rest/Statistics-Service.html"
    yield Form("NWIS, months", page, text, OF_MONTHS, "cfs", "read column mean_va, passed over agency_cd", {})


def _data_centre() -> Iterator[Form]:
    page = "bafg.de/GRDC (station data file; YYYY-MM-DD - Date (DD=00))"
    above = "# Title:                 GRDC STATION DATA FILE\n# Unit of measure:                  m³/s\n# DATA\n"
    rows = "\n".join(f"{y}-{m:02}-00;--:--;   -999.000; {flow(y, m):10.3f}; 100" for y, m in MONTHS)
    text, note = f"{above}YYYY-MM-DD;hh:mm; Original; Calculated; Flag\n{rows}", "read column Calculated, passed over"
    yield Form("GRDC, months of both kinds", page, text, OF_MONTHS, "m3/s", note, {})
    rows = "\n".join(f"{y}-{m:02}-00;--:--; {flow(y, m):10.3f}" for y, m in MONTHS)
    text = f"{above}YYYY-MM-DD;hh:mm; Value\n1962-12-00;--:--;   -999.000\n{rows}"
    note = "left out, as values are missing (-999.000): 1962-12"
    yield Form("GRDC, months", page, text, OF_MONTHS, "m3/s", note, {})
    rows = _days(lambda day: f"{day};--:--; {flow_of_day(day)!r:>12};   -999.000; -999")
    text = f"{above}YYYY-MM-DD;hh:mm; Original; Calculated; Flag\n{rows}"
    yield Form("GRDC, days", page, text, OF_DAYS, "m3/s", "read column Original, passed over", {})


def _canada() -> Iterator[Form]:
    page = "HYDAT, table DLY_FLOWS (collaboration.cmc.ec.gc.ca/cmc/hydrometrics)"
    header = "STATION_NUMBER,YEAR,MONTH,FULL_MONTH,NO_DAYS,MONTHLY_MEAN,MONTHLY_TOTAL,FIRST_DAY_MIN,MIN,FIRST_DAY_MAX"
    header += ",MAX" + "".join(f",FLOW{day},FLOW_SYMBOL{day}" for day in range(1, 32))

    def row(station: str, year: int, month: int) -> str:
        days = calendar.monthrange(year, month)[1]
        cells = (f",{flow_of_day(date(year, month, day))!r},{'B' * (month < 3)}" for day in range(1, days + 1))
        return f"{station},{year},{month},1,{days},7,217,3,2,5,7{''.join(cells)}{',,' * (31 - days)}"

    def rows(*stations: str) -> str:
        return "\n".join((header, *(row(station, *month) for station in stations for month in MONTHS)))

    note = "a table of months by days: read columns FLOW1 to FLOW31, passed over STATION_NUMBER"
    yield Form("HYDAT", page, rows("05AA008"), OF_DAYS, "m3/s", note, {})
    several = "the file has the rows of 2 stations, one below the other: 05AA008, 05AA009"
    options = {"column": "STATION_NUMBER=05AA008"}
    yield Form("HYDAT, two stations", page, rows("05AA008", "05AA009"), OF_DAYS, "m3/s", note[:30], options, several)
    page = "wateroffice.ec.gc.ca (daily data, CSV)"
    title = "  Daily Discharge (m3/s) (PARAM = 1) and Daily Water Level (m) (PARAM = 2)\n ID,PARAM,Date,Value,SYM\n"
    flows = _days(lambda day: f"08MF005,1,{day:%Y/%m/%d},{flow_of_day(day)!r},{'A' * (day.day == 3)}")
    yield Form(
        "Water Office", page, title + flows, OF_DAYS, "m3/s", "read column Value, passed over ID, PARAM, SYM", {}
    )
    levels = _days(lambda day: f"08MF005,2,{day:%Y/%m/%d},3.214,")
    several, options = "2 series (PARAM), one below the other: 1, 2", {"column": "PARAM=1"}
    text = f"{title}{flows}\n{levels}"
    yield Form("Water Office, flow and level", page, text, OF_DAYS, "m3/s", "PARAM is 1", options, several)


def _of_day(year: int, month: int, day: int, blank: str) -> str:
    return repr(flow_of_day(date(year, month, day))) if day <= calendar.monthrange(year, month)[1] else blank


def day_table(year: int, blank: str = "", before: str = "", first_month: int = 1) -> str:
    """Days down and months across; `blank` stands where a month has no such day."""
    order = [(first_month - 1 + at) % 12 + 1 for at in range(12)]
    return "\n".join(
        f"{before}{day}," + ",".join(_of_day(year + (month < first_month), month, day, blank) for month in order)
        for day in range(1, 32)
    )


#: Headers of such tables.
ENGLISH, CHINESE = f"Day,{','.join(NAMES)}", f"日,{','.join(f'{month}月' for month in range(1, 13))}"


def _yearbooks() -> Iterator[Form]:
    years, header = (1963, 1964, 1965), ENGLISH
    page = "pubs.usgs.gov/dds/wqn96cd/wqn/wq/formats/dmv.fmt"
    text = f"year,{header}\n" + "\n".join(day_table(year, before=f"{year},") for year in years)
    note = "a table of days by months: days down, Jan to Dec across"
    yield Form("a column of years", page, text, OF_DAYS, "m3/s", note, {})
    page = "yearbooks of hydrological services (daily mean discharge)"
    means = "\n".join(f"{name},{','.join(['5'] * 12)}" for name in ("Mean", "Max", "Min", "Total"))
    text = f"Verona - daily mean discharge in m3/s - 1963\n{header}\n{day_table(1963, '---')}\n{means}"
    yield Form("a year in the title", page, text, OF_DAYS[:1], "m3/s", "the year 1963 is that of the title", {})
    parts = (f"Verona - daily discharge (m3/s) - {year}\n{header}\n{day_table(year, '-')}\n{means}" for year in years)
    note = "the table is in 3 parts, each below a header of its own"
    yield Form("a part for each year", page, "\n".join(parts), OF_DAYS, "m3/s", note, {})
    order = [*range(10, 13), *range(1, 10)]
    names = ",".join(NAMES[month - 1].upper() for month in order)
    title = "DISCHARGE, CUBIC FEET PER SECOND, WATER YEAR OCTOBER 1963 TO SEPTEMBER 1964"
    table = day_table(1963, "---", first_month=10)
    flows = np.concatenate((OF_DAYS[0, 9:], OF_DAYS[1, :9])).reshape(1, 12) * FLOW_M3S["cfs"]
    yield Form("a water year", page, f"{title}\nDAY,{names}\n{table}", flows, "cfs", "1963/64 is that of the title", {})


def _neighbours_of_yearbooks() -> Iterator[Form]:
    page = "yearbooks of hydrological services (daily mean discharge)"
    years, header = (1963, 1964, 1965), ENGLISH
    joined = (day_table(year, before=f"{year},").replace(f"\n{year},", "\n,") for year in years)
    text = "\n".join((f"Year,{header}", *joined))
    yield Form("years in joined cells", page, text, OF_DAYS, "m3/s", "a table of days by months", {})
    parts = (f"Station: Verona,Year: {year},m3/s\n{header}\n{day_table(year, '-')}" for year in years)
    yield Form("titles in several cells", page, "\n".join(parts), OF_DAYS, "m3/s", "the table is in 3 parts", {})
    rows = [
        f"{NAMES[month - 1]},{','.join(_of_day(1963, month, day, '') for day in range(1, 32))}"
        for month in range(1, 13)
    ]
    text = "\n".join(("Daily discharge (m3/s), 1963", f",{','.join(map(str, range(1, 32)))}", *rows))
    yield Form("months down, days across", page, text, OF_DAYS[:1], "m3/s", "a table of months by days", {})
    rows = [f"{y},{m},{','.join(_of_day(y, m, day, '-999') for day in range(1, 32))}" for y, m in MONTHS]
    text = "\n".join((f"year,month,{','.join(f'D{day:02}' for day in range(1, 32))}", *rows))
    yield Form("a row a month", page, text, OF_DAYS, "m3/s", "read columns D01 to D31", {})


def _chinese_yearbooks() -> Iterator[Form]:
    page = "水文年鉴 (逐日平均流量表)"
    means = "\n".join(f"{name},{','.join(['5'] * 12)}" for name in ("平均", "最大", "最小"))
    text = f"某某水文站 1963年 逐日平均流量表 单位: m3/s\n{CHINESE}\n{day_table(1963)}\n{means}\n附注 冰期流量为插补"
    yield Form("a yearbook in Chinese", page, text, OF_DAYS[:1], "m3/s", "the year 1963 is that of the title", {})
    text = f"年份,{CHINESE}\n" + "\n".join(day_table(year, before=f"{year},") for year in (1963, 1964, 1965))
    note = "days down, 1月 to 12月 across"
    yield Form("Chinese months, and years in a column", page, text, OF_DAYS, "m3/s", note, {})


def _dss() -> Iterator[Form]:
    page = "hec.usace.army.mil/confluence/cwmsdocs/rsum (HEC-DSSVue: parts A to F; tabulate, export)"
    parts = (("A", "SACRAMENTO"), ("B", "SHASTA"), ("C", "FLOW-IN"), ("E", "1DAY"), ("F", "OBS"))
    parts += (("Units", "CFS"), ("Type", "PER-AVER"))
    above = "\n".join(f"{name},,{text}" for name, text in parts) + "\n"
    stamps = [f"{day:%d%b%Y}".upper() for day in DAYS]
    note = 'times are read as the ends of their periods ("24:00"): 1963-01-01 24:00 ends 1963-01-01'
    values = [_cfs(flow_of_day(day)) for day in DAYS]
    rows = [f"{at},{stamp} 2400,{value}" for at, (stamp, value) in enumerate(zip(stamps, values, strict=True), 1)]
    yield Form("DSS, 2400 behind the date", page, above + "\n".join(rows), OF_DAYS, "cfs", note, {})
    text = above.replace(",,", ",,,") + "\n".join(row.replace(" 2400", ",2400") for row in rows)
    yield Form("DSS, 2400 in a column of its own", page, text, OF_DAYS, "cfs", note, {})
    named = "Ordinate,Date,Time,FLOW-IN\nUnits,,,CFS\nType,,,PER-AVER\n"
    text = named + "\n".join(row.replace(" 2400", ",24:00") for row in rows)
    yield Form("DSS, named columns", page, text, OF_DAYS, "cfs", note, {})
    instants = "values of the type INST-VAL are instants, which are read as means of their periods"
    text = above.replace("PER-AVER", "INST-VAL") + "\n".join(rows)
    yield Form("DSS, instants", page, text, OF_DAYS, "cfs", instants, {})
    two = "\n".join(f"{name},,{text},{other}" for (name, text), other in zip(parts, _OTHER_PARTS, strict=True)) + "\n"
    text = two + "\n".join(f"{row},7" for row in rows)
    refused = "2 columns besides the date: SHASTA = SACRAMENTO; OROVILLE = FEATHER"
    yield Form("DSS, two paths", page, text, OF_DAYS, "cfs", "read column SHASTA", {"column": "SHASTA"}, refused)
    ends = (f"{calendar.monthrange(y, m)[1]}{NAMES[m - 1].upper()}{y} 2400,{_cfs(flow(y, m))}" for y, m in MONTHS)
    text = above.replace(",,", ",").replace("1DAY", "1MON") + "\n".join(ends)
    yield Form("DSS, months", page, text, OF_MONTHS, "cfs", "", {})
    hours = [(day, hour) for day in DAYS for hour in range(1, 25)]
    rows = [f"{at},{day:%d%b%Y} {hour:02}00,{flow_of_day(day)!r}" for at, (day, hour) in enumerate(hours, 1)]
    text = above.replace("1DAY", "1HOUR").replace("CFS", "CMS") + "\n".join(rows)
    yield Form("DSS, hours", page, text, OF_DAYS, "m3/s", "hourly values are averaged to months (26,304 rows)", {})


_OTHER_PARTS = ("FEATHER", "OROVILLE", "FLOW-IN", "1DAY", "OBS", "CFS", "PER-AVER")
#: Days on which clocks were changed.
_SPRING = (date(1963, 3, 31), date(1964, 3, 29), date(1965, 3, 28))
_AUTUMN = (date(1963, 10, 27), date(1964, 10, 25), date(1965, 10, 31))


def _hours_of(day: date, first: int) -> list[int]:
    """The hours of a day of summer time, from hour `first` on."""
    hours = [first + at for at in range(24)]
    return [hour for hour in hours if day not in _SPRING or hour != 2] + [2] * (day in _AUTUMN)


def _of_hour(day: date, hour: int) -> float:
    """Larger in the evening, so that the mean of 23 hours is another than that of 24."""
    return flow_of_day(day) + hour


def _hours() -> Iterator[Form]:
    page = "local time of the service; hours numbered 1 to 24 as in HEC-DSS"
    header = "timestamp,inflow_m3s"
    rows = [f"{day} {hour:02}:00,{_of_hour(day, hour)!r}" for day in DAYS for hour in sorted(_hours_of(day, 0))]

    def of_summer_time(day: date) -> float | None:
        hours = _hours_of(day, 0)
        return flow_of_day(day) + sum(hours) / len(hours)

    note = "days of 23 and 25 hours are read as whole days (1963-03-31, 1963-10-27, ...)"
    flows = means_of_days(of_summer_time)
    yield Form("summer time", page, "\n".join((header, *rows)), flows, "m3/s", note, {})
    gap = date(1964, 5, 5)
    rows = [row for row in rows if not row.startswith(f"{gap} 07:00")]
    flows = means_of_days(lambda day: None if day == gap else of_summer_time(day))
    options = {"missing_days": 1}
    yield Form(
        "summer time and a gap", page, "\n".join((header, *rows)), flows, "m3/s", "1964-05 (lacks 1 day)", options
    )
    columns = "year,month,day,hour,inflow_m3s"
    rows = [f"{day:%Y,%m,%d},{hour},{flow_of_day(day)!r}" for day in DAYS for hour in range(1, 25)]
    note = "hourly values are averaged to months (26,304 rows)"
    yield Form("hours 1 to 24", page, "\n".join((columns, *rows)), OF_DAYS, "m3/s", note, {})
    numbered = [
        f"{day:%Y,%m,%d},{hour},{flow_of_day(day)!r}"
        for day in DAYS
        for hour in range(1, 24 if day in _SPRING else 26 if day in _AUTUMN else 25)
    ]
    summer = "days of 23 and 25 hours are read as whole days"
    yield Form("hours 1 to 23, 24 and 25", page, "\n".join((columns, *numbered)), OF_DAYS, "m3/s", summer, {})
    rows = [row for row in rows if not row.startswith("1964,05,05,7,")]
    text = "\n".join((columns, *rows))
    yield Form("hours 1 to 24 and a gap", page, text, _without(gap), "m3/s", "1964-05 (lacks 1 day)", options)


_ONS_COLUMNS = (
    "id_subsistema;nom_subsistema;tip_reservatorio;nom_bacia;nom_ree;id_reservatorio;nom_reservatorio;num_ordemcs;"
    "cod_usina;din_instante;val_nivelmontante;val_niveljusante;val_volumeutilcon;val_vazaoafluente;val_vazaoturbinada;"
    "val_vazaovertida;val_vazaooutrasestruturas;val_vazaodefluente;val_vazaotransferida;val_vazaonatural;"
    "val_vazaoartificial;val_vazaoincremental;val_vazaoevaporacaoliquida;val_vazaousoconsuntivo"
)
_PORTUGUESE = ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"]
_PLANTS = ("CAMARGOS (1)", "FURNAS (6)", "A. VERMELHA (18)")


def _ons() -> Iterator[Form]:
    page = "dados.ons.org.br/dataset/dados-hidrologicos-res"

    def plant(code: str, name: str, value: Callable[[date], float]) -> str:
        before, after = f"SE;SUDESTE;Reservatório com Usina;GRANDE;SUDESTE;{code};{name};8;6", "800;0;0;800;"
        return _days(lambda day: f"{before};{day};767.5;671.2;85.1;{value(day)};{after};{value(day)};;12.5;3.1;2.2")

    text = f"{_ONS_COLUMNS}\n{plant('GRUFNS', 'FURNAS', flow_of_day)}\n{plant('GRCMRG', 'CAMARGOS', lambda day: 7.5)}"
    several = "2 series (nom_reservatorio), one below the other: FURNAS, CAMARGOS"
    note, options = "nom_reservatorio is FURNAS", {"column": "nom_reservatorio=FURNAS; val_vazaonatural"}
    yield Form("ONS, open data", page, text, OF_DAYS, "m3/s", note, options, several)
    page = "ons.org.br, Vazões_Diárias_1931_2019.xlsx (header in row 6, a further row below it)"
    titles = (["Operador Nacional do Sistema Elétrico"], ["Vazões naturais médias diárias"], ["1931-2019"], [], [])
    above = [*titles, [None, *_PLANTS], [None, *["m³/s"] * 3]]
    rows = [[datetime(day.year, day.month, day.day), 7, flow_of_day(day), 9] for day in DAYS]
    refused = "3 columns besides the date: CAMARGOS (1), FURNAS (6), A. VERMELHA (18)"
    note, options = "read column FURNAS (6), passed over CAMARGOS (1), A. VERMELHA (18)", {"column": "FURNAS (6)"}
    yield Form("ONS, days of plants", page, [*above, *rows], OF_DAYS, "m3/s", note, options, refused)
    rows = [[f"{day.day}/{_PORTUGUESE[day.month - 1]}/{day.year}", 7, flow_of_day(day), 9] for day in DAYS]
    yield Form("ONS, days in Portuguese", page, [*above, *rows], OF_DAYS, "m3/s", note, options, refused)
    page = "ons.org.br, Vazões_Mensais_1931_2014.xls (a part for each plant; MIN, MED and MAX below)"
    parts = list[Sequence[object]]()
    for name, value in zip(_PLANTS[:2], (lambda year, month: 7.0 + month, flow), strict=True):
        parts += [[name], [None, *map(str.upper, _PORTUGUESE)]]
        parts += [[year[0][0], *(value(*month) for month in year)] for year in months()]  # type: ignore[operator]
        parts += [[label, *[1] * 12] for label in ("MIN", "MED", "MAX")]
    note, options = "passed over 6 rows of means and totals (MIN, MED, MAX)", {"column": "title=FURNAS (6)"}
    several = "2 series (title), one below the other: CAMARGOS (1), FURNAS (6)"
    yield Form("ONS, months of plants", page, parts, OF_MONTHS, "m3/s", note, options, several)


def _natural_flow() -> Iterator[Form]:
    page = "usbr.gov/lc/region/g4000/NaturalFlow/current.html (numbers in row 3, names in row 4, units below)"
    rows: list[Sequence[object]] = [
        ["Colorado River Basin: total natural flow above each gage, October 1905 to December 2020"],
        [None, None, None, "Colorado River At Glenwood Springs, CO", "Colorado River At Lees Ferry, AZ"],
        [None, None, None, "09072500", "09380000"],
        [None, None, "Natural Flow And Salt Calc model Object.Slot", "UpperColorado.Inflow", "Powell:LeesFerry.Inflow"],
        [None, None, None, "acre-ft/month", "acre-ft/month"],
    ]
    for year, month in MONTHS:
        days = calendar.monthrange(year, month)[1]
        volume = flow(year, month) * days * HM3_PER_M3S_DAY / VOLUME_HM3["acre-ft"]
        rows.append([None, None, datetime(year, month, days), 5.0, volume])
    rows += [[], [None, None, "Average", 5, 6], [None, None, "Maximum", 5, 6]]
    note, refused = "passed over UpperColorado.Inflow", "Inflow = Colorado River At Lees Ferry, AZ = 09380000"
    for column in ("Powell:LeesFerry.Inflow", "09380000", "Colorado River At Lees Ferry, AZ"):
        name = f"USBR natural flow by {column}"
        yield Form(name, page, rows, OF_MONTHS, "acre-ft", note, {"column": column}, refused)


#: All of them, in the order of the documentation.
FORMS = [
    form
    for of_service in (
        _bureau_of_reclamation,
        _rise,
        _cdec,
        _geological_survey,
        _data_centre,
        _canada,
        _yearbooks,
        _neighbours_of_yearbooks,
        _chinese_yearbooks,
        _dss,
        _hours,
        _ons,
        _natural_flow,
    )
    for form in of_service()
]
