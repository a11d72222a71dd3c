"""A daily record by steps of any length: volumes are those of pandas, whatever the water year begins with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import TimeStep
from reservoir.io.records.reader import read_inflow
from tests.io.records.test_daily_records import HM3_PER_M3S_DAY, series, written

#: Days of the whole water years that begin in these months.
WHOLE = {1: ("1963-01-01", "1966-12-31"), 11: ("1963-11-01", "1966-10-31")}


def groups(days, step, first_month):
    """What step each day belongs to, by arithmetic of dates: year of the water year, and a number within it."""
    years = days.year - (days.month < first_month)
    if step == "month":
        return [years, days.month]
    if step == "ten-days":
        return [years, days.month, np.minimum((days.day - 1) // 10, 2)]
    if step == "day":
        return [years, days.month, np.where((days.month == 2) & (days.day == 29), 28, days.day)]
    begins = pd.to_datetime({"year": years, "month": first_month, "day": 1}).to_numpy()
    return [years, np.minimum((days.to_numpy() - begins) // np.timedelta64(7, "D"), 51)]


@pytest.mark.parametrize("first_month", WHOLE)
@pytest.mark.parametrize("step", list(TimeStep))
@pytest.mark.parametrize("unit", ["m3/s", "acre-ft"])
def test_volumes_agree_with_those_of_pandas(tmp_path, step, first_month, unit):
    days = series()
    size = {"m3/s": HM3_PER_M3S_DAY, "acre-ft": 43_560 * 0.3048**3 / 1e6}[unit]
    inflow = read_inflow(written(tmp_path, days, "inflow"), unit=unit, step=str(step), first_month=first_month)
    first, last = WHOLE[first_month]
    whole = days[first:last]
    expected = (whole * size).groupby(groups(whole.index, step, first_month), sort=False).sum()
    volumes = inflow.flow_m3s * inflow.calendar.hm3_per_m3s
    assert inflow.calendar.step is step
    assert volumes.shape == (len(expected) // step.per_year, step.per_year)
    np.testing.assert_allclose(volumes.ravel(), expected, rtol=1e-9)


def test_the_days_of_a_step_are_named(tmp_path):
    path = written(tmp_path, series("1962-12-15", "1965-01-20"))
    ten_days = read_inflow(path, step="ten-days").notes
    assert ten_days == (
        "daily values are averaged to ten-day periods (768 days)",
        "left out, as days are missing: 1962-12-11 (lacks 4 days)",
        "left out 1962-12-21 to 1962-12-31 (1 ten-day period), before the first whole water year (Jan to Dec)",
        "left out 1965-01-01 to 1965-01-20 (2 ten-day periods), after the last whole water year (Jan to Dec)",
    )


def test_a_year_of_days_is_left_out_by_its_dates(tmp_path):
    path = written(tmp_path, series("1962-12-31", "1964-12-30"))
    assert read_inflow(path, step="day").notes == (
        "left out 1962-12-31, before the first whole water year (Jan to Dec)",
        "left out 1964-01-01 to 1964-12-30 (364 days), after the last whole water year (Jan to Dec)",
    )


def test_a_step_of_one_day_lacks_none(tmp_path):
    days = series().drop(pd.Timestamp("1965-07-31"))
    with pytest.raises(InputError, match="1 missing day: 1965-07-31") as refused:
        read_inflow(written(tmp_path, days), step="day", missing_days=30)
    assert "--missing-days" not in str(refused.value)


def test_a_leap_day_may_be_missing_where_one_day_may(tmp_path):
    days = series().drop(pd.Timestamp("1964-02-29"))
    inflow = read_inflow(written(tmp_path, days), step="day", missing_days=1)
    assert inflow.flow_m3s[1, 58] == days["1964-02-28"]
    with pytest.raises(InputError, match="1 missing day: 1964-02-28"):
        read_inflow(written(tmp_path, days), step="day")


def test_a_ten_day_period_that_lacks_days_is_the_mean_of_the_others(tmp_path):
    days = series()
    days.loc["1964-02-22":"1964-02-24"] = np.nan
    path = written(tmp_path, days)
    with pytest.raises(InputError, match=r"1 ten-day period with missing days: 1964-02-21 \(lacks 3 days\)"):
        read_inflow(path, step="ten-days", missing_days=2)
    inflow = read_inflow(path, step="ten-days", missing_days=3)
    assert inflow.flow_m3s[1, 5] == pytest.approx(days["1964-02-21":"1964-02-29"].mean(), rel=1e-9)


def test_evaporation_adds_up_and_prices_are_averaged_over_a_step(tmp_path):
    days = series()
    table = pd.DataFrame({"inflow_m3s": days, "evaporation_mm": days / 100, "price_per_mwh": days / 10})
    table.to_csv(tmp_path / "days.csv", index_label="date")
    inflow = read_inflow(tmp_path / "days.csv", step="week", first_month=11)
    whole = days[slice(*WHOLE[11])]
    weeks = whole.groupby(groups(whole.index, "week", 11), sort=False)
    np.testing.assert_allclose(inflow.evaporation_mm.ravel(), weeks.sum() / 100, rtol=1e-9)
    np.testing.assert_allclose(inflow.price_per_mwh.ravel(), weeks.mean() / 10, rtol=1e-9)


def test_a_missing_week_gives_no_step_what_is_read_beside_the_flow_of_the_next(tmp_path):
    starts = pd.date_range("2000-12-29", "2003-01-09", freq="7D")
    beside = {"evaporation_mm": 7.0, "price_per_mwh": 9.0, "withdrawal_m3s": 0.1}
    values = {"inflow_m3s": 50.0} | {name: size * np.arange(len(starts)) for name, size in beside.items()}
    weeks = pd.DataFrame(values, starts).drop(index="2001-06-01")
    weeks.to_csv(tmp_path / "weeks.csv", index_label="date")
    inflow = read_inflow(tmp_path / "weeks.csv", step="week", missing_days=6)
    of_days = weeks.index.repeat(7)
    days = weeks.loc[of_days].set_index(of_days + pd.to_timedelta([*range(7)] * len(weeks), "D"))["2001":"2002"]
    mean = days.groupby(groups(days.index, "week", 1), sort=False).mean()
    mean.evaporation_mm *= inflow.calendar.days.ravel() / 7
    for name in beside:
        np.testing.assert_allclose(getattr(inflow, name).ravel(), mean[name], rtol=1e-9)


def test_members_and_tables_of_months_have_no_shorter_steps(tmp_path):
    rows = "\n".join(f"{name},2001-{month:02},5" for name in (1, 2) for month in range(1, 13))
    (tmp_path / "members.csv").write_text(f"member,date,inflow_m3s\n{rows}\n")
    with pytest.raises(InputError, match="an ensemble is read by months only"):
        read_inflow(tmp_path / "members.csv", step="week")
    (tmp_path / "years.csv").write_text(f"year,{','.join(map(str, range(1, 13)))}\n1963{',7' * 12}\n")
    with pytest.raises(InputError, match='one value a month; step "ten-days" needs a daily record'):
        read_inflow(tmp_path / "years.csv", step="ten-days")
