"""Files of ten-day periods, weeks and hours as planners bring them, made from the days of one record."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator
from datetime import date, timedelta

import numpy as np
import pandas as pd

from tests.io.records.odd_records import CALENDAR, OddRecord, Read, Refused
from tests.io.records.odd_tables import DAYS, HM3_PER_M3S_DAY, flow_of_day

_FLOW = pd.Series([flow_of_day(day) for day in DAYS], pd.DatetimeIndex(DAYS))
#: Which ten days of its month each day is in, 0 to 2.
_TENTH = np.minimum((_FLOW.index.day - 1) // 10, 2)
_BY_TEN_DAYS = _FLOW.groupby([_FLOW.index.year, _FLOW.index.month, _TENTH])
_TENS = {key: float(mean) for key, mean in _BY_TEN_DAYS.mean().items()}
_DAYS_OF_TENS = {key: int(days) for key, days in _BY_TEN_DAYS.count().items()}
#: The first days of weeks that cover the record, and those of a record that ends in the middle of one.
_WEEKS = [date(1962, 12, 31) + timedelta(7 * at) for at in range(157)]


def _tens_of(mean: Callable[[int, int, int], float] = lambda *key: _TENS[key]) -> np.ndarray:
    """Means of ten-day periods, shape (3, 36)."""
    return np.array([mean(*key) for key in _TENS]).reshape(3, 36)


def _months_of_tens() -> np.ndarray:
    """Means of months, of ten-day periods by their days, shape (3, 12)."""
    days = np.array(list(_DAYS_OF_TENS.values())).reshape(36, 3)
    return (_tens_of().reshape(36, 3) * days).sum(axis=1).reshape(3, 12) / days.sum(axis=1).reshape(3, 12)


def _of_week(first: date) -> float:
    return 300.0 + (first.toordinal() * 7919) % 1009


def _week_means(freq: str) -> np.ndarray:
    """Means by pandas of weeks that are spread over their days; `freq` is that of months or of ten-day periods."""
    spread = pd.Series({first + timedelta(at): _of_week(first) for first in _WEEKS for at in range(7)})
    spread.index = pd.DatetimeIndex(spread.index)
    spread = spread["1963":"1965"]
    if freq == "week":
        place = [min((day.date() - date(day.year, 1, 1)).days // 7, 51) for day in spread.index]
        return spread.groupby([spread.index.year, place]).mean().to_numpy().reshape(3, 52)
    return spread.resample(freq).mean().to_numpy().reshape(3, -1)


def _tens(stamp: Callable[[int, int, int], str], header: str = "date,inflow_m3s", volume: bool = False) -> str:
    rows = (
        f"{stamp(*key)},{mean * (_DAYS_OF_TENS[key] * HM3_PER_M3S_DAY if volume else 1)!r}"
        for key, mean in _TENS.items()
    )
    return "\n".join((header, *rows))


def _first_day(year: int, month: int, tenth: int) -> str:
    return f"{year}-{month:02}-{1 + 10 * tenth:02}"


def _last_day(year: int, month: int, tenth: int) -> str:
    return f"{year}-{month:02}-{(10, 20, calendar.monthrange(year, month)[1])[tenth]}"


def _weeks(later: int = 0, header: str = "date,inflow_m3s", weeks: list[date] = _WEEKS) -> str:
    return "\n".join((header, *(f"{first + timedelta(later)},{_of_week(first)}" for first in weeks)))


def _hours(each: int, header: str = "date,inflow_m3s", volume: bool = False, days: list[date] = DAYS) -> str:
    size = HM3_PER_M3S_DAY * each / 24 if volume else 1
    rows = (f"{day} {hour:02}:00,{(flow_of_day(day) + hour) * size!r}" for day in days for hour in range(0, 24, each))
    return "\n".join((header, *rows))


def _ten_day_records() -> Iterator[OddRecord]:
    tens, months = Read(CALENDAR, _tens_of(), "read as ten-day periods"), Read(CALENDAR, _months_of_tens())
    averaged = months._replace(note="ten-day values are averaged to months (108 ten-day periods)")
    by_tens = {"step": "ten-days"}
    yield OddRecord("ten days from the 1st, 11th and 21st", _tens(_first_day), tens, by_tens)
    yield OddRecord("ten days to the 10th, 20th and last", _tens(_last_day), tens, by_tens)
    yield OddRecord("ten days, planned as months", _tens(_first_day), averaged, {})
    chinese = _tens(lambda year, month, tenth: f"{year}年{month}月{'上中下'[tenth]}旬", "日期,入库流量(m³/s)")
    yield OddRecord("ten days in Chinese", chinese, tens, by_tens)
    yield OddRecord(
        "1963-01-上旬", _tens(lambda year, month, tenth: f"{year}-{month:02}-{'上中下'[tenth]}旬"), tens, by_tens
    )
    volumes = _tens(_first_day, "date,inflow_hm3", volume=True)
    yield OddRecord("volumes of ten days", volumes, tens._replace(unit="hm3"), by_tens)
    yield OddRecord("volumes of ten days, by months", volumes, averaged._replace(unit="hm3"), {})
    refused = Refused('one value a ten-day period; step "day" needs a daily record', "plan ten-day periods")
    yield OddRecord("ten days, planned as days", _tens(_first_day), refused, {"step": "day"})
    lines = _tens(_first_day).splitlines()
    lacking = Refused("1 ten-day period with missing days: 1963-02-11 (lacks 10 days)", "fill in the days")
    yield OddRecord("ten days left out", "\n".join(lines[:5] + lines[6:]), lacking, by_tens)


def _weekly_records() -> Iterator[OddRecord]:
    note = "read as their first days: 1962-12-31 is 1962-12-31 to 1963-01-06"
    weeks = Read(CALENDAR, _week_means("week"), note)
    months = Read(CALENDAR, _week_means("MS"), "weekly values are averaged to months (157 weeks)")
    ends = weeks._replace(note="read as their last days: 1963-01-06 is 1962-12-31 to 1963-01-06")
    yield OddRecord("weeks", _weeks(), weeks, {"step": "week"})
    yield OddRecord("weeks, planned as months", _weeks(), months, {})
    yield OddRecord("a column week ending", _weeks(6, "week ending,inflow_m3s"), ends, {"step": "week"})
    yield OddRecord("a comment on week ends", f"# dates are week-ending\n{_weeks(6)}", ends, {"step": "week"})
    broken = _weeks(weeks=[*_WEEKS[:80], *(first + timedelta(2) for first in _WEEKS[80:])])
    yield OddRecord("weeks that begin on another day", broken, Refused("is 9 days after", "correct the date"), {})
    refused = Refused('one value a week; step "day" needs a daily record', "plan weeks")
    yield OddRecord("weeks, planned as days", _weeks(), refused, {"step": "day"})


def _hourly_records() -> Iterator[OddRecord]:
    def days(each: int) -> np.ndarray:
        values = _FLOW.drop(pd.Timestamp("1964-02-29")).to_numpy() + np.mean(range(0, 24, each))
        february = (_FLOW["1964-02-28"] + _FLOW["1964-02-29"]) / 2 + np.mean(range(0, 24, each))
        values[365 + 58] = february
        return values.reshape(3, 365)

    six = Read(CALENDAR, days(6), "6-hour values are averaged to days (4,384 rows)")
    yield OddRecord("six hours", _hours(6), six, {"step": "day"})
    yield OddRecord("hours", _hours(1), Read(CALENDAR, days(1), "hourly values are averaged to days"), {"step": "day"})
    apart = _hours(6, "year,month,day,hour,inflow_m3s").replace("-", ",").replace(" ", ",").replace(":00", "")
    yield OddRecord("six hours in four columns", apart, six, {"step": "day"})
    volumes = _hours(6, "date,inflow_hm3", volume=True)
    yield OddRecord("volumes of six hours", volumes, six._replace(unit="hm3"), {"step": "day"})
    lines = _hours(12).splitlines()
    uneven = "\n".join(lines[:800] + lines[801:])
    yield OddRecord("twelve hours, one left out", uneven, Refused("1964-02 (lacks 1 day)", "--missing-days 1"), {})
    one = Refused("1 month with missing days: 1964-01 (lacks 30 days)", "fill in the days")
    yield OddRecord("hours of one day", _hours(1, days=[date(1964, 1, 1)]), one, {})


def _months_refused() -> Iterator[OddRecord]:
    text = "\n".join(("date,inflow_m3s", *(f"{year}-{month:02},7" for year in (1963, 1964) for month in range(1, 13))))
    refused = Refused('the record has one value a month; step "day" needs a daily record', "plan months")
    yield OddRecord("months, planned as days", text, refused, {"step": "day"})
    yield OddRecord("an unknown step", text, Refused("is unknown", "give one of these"), {"step": "fortnight"})


ODD_PERIODS = [
    record for table in (_ten_day_records, _weekly_records, _hourly_records, _months_refused) for record in table()
]
