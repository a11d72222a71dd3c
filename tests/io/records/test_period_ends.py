"""Times that stand at the end of a day or an hour are read as that day or hour, or asked for."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.io.records.dates import says_begin, says_end
from reservoir.io.records.reader import read_inflow

FIRST = dt.datetime(2001, 1, 1)


def flow(time):
    return 10 + (time.toordinal() * 7919) % 101 + time.hour / 10


def record(hours, stamp, comment="", periods=None):
    """Rows of periods of so many hours, each with its beginning's flow, from 2001 to 2002."""
    periods = periods or 730 * 24 // hours
    begins = [FIRST + dt.timedelta(hours=hours * at) for at in range(periods)]
    rows = (f"{stamp(begin, begin + dt.timedelta(hours=hours))},{flow(begin)}" for begin in begins)
    return "\n".join((*([f"# {comment}"] if comment else ()), "date,flow_cms", *rows))


def ended(form):
    return lambda begin, end: end.strftime(form)


def to_24(begin, end):
    return f"{begin:%d%b%Y} 2400" if end.hour == 0 else f"{end:%d%b%Y %H}00"


def begun(form):
    return lambda begin, end: begin.strftime(form)


def read(tmp_path, text, **reading):
    (tmp_path / "record.csv").write_text(text)
    return read_inflow(tmp_path / "record.csv", **reading)


SAID = {
    "days": (24, "%Y-%m-%d %H:%M", "1DAY, PER-AVER, period ending"),
    "days, one text": (24, "%Y%m%d %H%M", "Timestamps are end of period"),
    "days, short": (24, "%Y/%m/%d %H:%M", "EOP"),
    "days in French": (24, "%Y-%m-%dT%H:%M", "heures de fin de journée"),
    "days in German": (24, "%Y-%m-%d %H:%M:%S", "Zeitstempel: Ende des Intervalls"),
    "days in Spanish": (24, "%Y-%m-%d %H:%M", "la fecha es el fin del período"),
    "days in Chinese": (24, "%Y-%m-%d %H:%M", "时间为时段末"),
    "HEC-DSS": (24, "%d%b%Y %H%M", "PER-AVER"),
    "hours": (1, "%Y-%m-%d %H:%M", "hour ending"),
    "six hours": (6, "%Y-%m-%d %H:%M", "interval-ending times"),
    "quarters of a day": (6, "%Y-%m-%d %H:%M", "time at the end of each interval, m3/s"),
    "ten minutes before": (24, "%Y-%m-%d 00:10", "day ending"),
}


@pytest.mark.parametrize(("hours", "form", "comment"), SAID.values(), ids=SAID)
def test_times_that_a_comment_calls_ends_are_read_as_those(tmp_path, hours, form, comment):
    right = read(tmp_path, record(hours, begun("%Y-%m-%d %H:%M"), "period beginning"))
    found = read(tmp_path, record(hours, ended(form), comment))
    np.testing.assert_array_equal(found.flow_m3s, right.flow_m3s)
    assert found.span_text == "2001 to 2002"
    assert any(note.startswith("times are read as the ends of their periods") for note in found.notes)
    ends = {1: "the hour from 2001-01-01 00:00 on", 6: "the 6 hours from 2001-01-01 00:00 on"}.get(hours, "2001-01-01")
    assert any(note.endswith(f"ends {ends}") for note in found.notes)


@pytest.mark.parametrize("hours", [1, 3, 24])
def test_24_00_is_the_end_of_a_day(tmp_path, hours):
    right = read(tmp_path, record(hours, begun("%Y-%m-%d %H:%M")))
    found = read(tmp_path, record(hours, to_24))
    np.testing.assert_array_equal(found.flow_m3s, right.flow_m3s)


def test_hours_from_1_to_24_in_a_column_of_their_own(tmp_path):
    right = read(tmp_path, record(1, begun("%Y-%m-%d %H:%M")))
    rows = record(1, lambda begin, _: f"{begin:%Y,%m,%d},{begin.hour + 1}").replace("date", "year,month,day,hour")
    np.testing.assert_array_equal(read(tmp_path, rows).flow_m3s, right.flow_m3s)


def test_months_that_end_at_24_00(tmp_path):
    ends = [dt.date(2001 + month // 12, month % 12 + 1, 1) - dt.timedelta(1) for month in range(1, 13)]
    text = "date,flow_cms\n" + "\n".join(f"{end:%d%b%Y} 2400,{end.month}" for end in ends)
    assert read(tmp_path, text).flow_m3s.tolist() == [list(range(1, 13))]
    with pytest.raises(InputError, match="24:00 is the start of the next day"):
        read(tmp_path, text.replace("30Jun2001 2400", "29Jun2001 2400"))


def test_weeks_that_a_comment_says_end(tmp_path):
    right = read(tmp_path, record(168, begun("%Y-%m-%d"), periods=105))
    for form in ("%Y-%m-%d %H:%M",):
        found = read(tmp_path, record(168, ended(form), "period ending", periods=105))
        np.testing.assert_array_equal(found.flow_m3s, right.flow_m3s)
    text = record(168, lambda begin, end: f"{end - dt.timedelta(1):%Y-%m-%d}", "period ending", periods=105)
    np.testing.assert_array_equal(read(tmp_path, text).flow_m3s, right.flow_m3s)


DOUBTFUL = {
    "days without a time": record(24, begun("%Y-%m-%d"), "period ending"),
    "days from the second to the first": record(24, ended("%Y-%m-%d")),
    "midnights from the second to the first": record(24, ended("%Y-%m-%d %H:%M")),
    "hours from one to midnight": record(1, ended("%Y-%m-%d %H:%M")),
    "days without a time from the second to the first": record(24, ended("%Y-%m-%d"), "end of period"),
}


@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL)
def test_times_that_may_be_ends_are_asked_for(tmp_path, text):
    with pytest.raises(InputError, match=r"each date may stand at the end of its period: .*# period beginning"):
        read(tmp_path, text)
    body = text[text.index("date") :]
    assert read(tmp_path, f"# period beginning\n{body}").years in (1, 2)


PLAIN = {
    "days": record(24, begun("%Y-%m-%d")),
    "midnights": record(24, begun("%Y-%m-%d %H:%M"), "daily means"),
    "ends of storages": record(24, begun("%Y-%m-%d"), "inflow is a mean, end of day storage in hm3"),
    "the end of the record": record(24, begun("%Y-%m-%d"), "end of period of record: 2002"),
    "a period that ends": record(24, begun("%Y-%m-%d"), "period ending 31 December 2002"),
}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_other_days_are_the_days_that_they_name(tmp_path, text):
    right = read(tmp_path, record(24, begun("%Y-%m-%d")))
    np.testing.assert_array_equal(read(tmp_path, text).flow_m3s, right.flow_m3s)


@pytest.mark.parametrize("text", ["period_end", "End of each month", "hour-ending", "时段末", "Times: end of step."])
def test_texts_that_say_so(text):
    assert says_end(text)
    assert not says_begin(text)
    assert not says_end("weekending flows of the Ende river, spending, at the end")
    assert says_begin("beginning of period")
