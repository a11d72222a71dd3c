"""Inflow records from pandas series, and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.errors import InputError, Mistake
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow


def monthly(first: str = "1953-01", months: int = 24) -> pd.Series:
    """Flows 0, 1, 2, ... by month."""
    index = pd.period_range(first, periods=months, freq="M")
    return pd.Series(np.arange(months, dtype=float), index)


def mistakes_of(series: object, **call: object) -> tuple[Mistake, ...]:
    """Read what must be refused."""
    with pytest.raises(InputError) as caught:
        Inflow.from_series(series, **call)  # type: ignore[arg-type]
    for mistake in caught.value.mistakes:
        assert mistake.mend, f"no fix: {mistake}"
    return caught.value.mistakes


@given(
    start=st.integers(0, 11),
    length=st.integers(23, 60),
    first_month=st.integers(1, 12),
    kind=st.sampled_from(["period", "start", "end"]),
)
def test_no_month_of_a_whole_water_year_is_lost_or_moved(start: int, length: int, first_month: int, kind: str) -> None:
    series = monthly(str(pd.Period("1953-01", "M") + start), length)
    given_series = series if kind == "period" else series.to_timestamp(how=kind)  # type: ignore[arg-type]
    inflow = Inflow.from_series(given_series, first_month)
    assert inflow.calendar.first_month == first_month
    back = inflow.to_series()
    pd.testing.assert_series_equal(back, series.loc[back.index], check_names=False)
    outside = series.index.difference(back.index)
    assert len(outside) <= 22
    assert (back.index[0] - series.index[0]).n < 12
    assert (series.index[-1] - back.index[-1]).n < 12
    for edge in {series.index[0], series.index[-1]} & set(outside):
        assert any(str(edge) in note for note in inflow.notes)


def test_left_out_months_are_named_as_those_of_a_file() -> None:
    inflow = Inflow.from_series(monthly("1953-01", 36), first_month=6)
    assert inflow.labels == ("1953/54", "1954/55")
    assert inflow.notes == (
        "a water year is named by both its years: 1953/54 is Jun 1953 to May 1954",
        "left out 1953-01 to 1953-05 (5 months), before the first whole water year (Jun to May)",
        "left out 1955-06 to 1955-12 (7 months), after the last whole water year (Jun to May)",
    )


def test_a_series_back_is_by_month_and_named() -> None:
    series = Inflow(np.arange(24.0).reshape(2, 12), Calendar(1953, 2, 6)).to_series()
    assert (series.name, str(series.index.dtype)) == ("inflow_m3s", "period[M]")
    assert (str(series.index[0]), str(series.index[-1])) == ("1953-06", "1955-05")
    assert series.tolist() == list(range(24))


def test_dates_with_a_time_zone_and_integers_are_taken() -> None:
    dates = pd.date_range("1953-01-01", periods=12, freq="MS", tz="Asia/Shanghai")
    inflow = Inflow.from_series(pd.Series(range(12), dates), caveat="invented")
    assert inflow.flow_m3s.tolist() == [list(range(12))]
    assert (inflow.labels, inflow.caveat) == (("1953",), "invented")


@pytest.mark.parametrize(
    ("series", "told"),
    [
        (monthly().drop(pd.Period("1953-05", "M")), ["1953-05 is missing", "add the missing months"]),
        (monthly().drop(pd.period_range("1953-05", "1953-07", freq="M")), ["1953-05 to 1953-07 are missing"]),
        (monthly().iloc[[0, 1, 1, *range(2, 24)]], ["1953-02 appears twice", "one value per month"]),
        (monthly().iloc[::-1], ["1954-11 comes after 1954-12", "sort_index"]),
        (monthly().replace(5.0, np.nan), ["the flow of 1953-06 is not a finite number", "0 m3/s or more"]),
        (monthly().replace(5.0, np.inf), ["the flow of 1953-06 is not a finite number"]),
        (monthly().replace(5.0, -2.0), ["the flow of 1953-06 is negative", "found -2.0"]),
        (monthly().astype("Float64").replace(5.0, pd.NA), ["the flow of 1953-06 is not a finite number"]),
        (monthly().astype(str).replace("5.0", "dry"), ["not numbers", "to_numeric"]),
        (monthly().reset_index(drop=True), ["the index has no months", "PeriodIndex"]),
        (monthly().to_timestamp().to_period("D"), ["the index has no months", "period[D]"]),
        (monthly().iloc[:0], ["has no values"]),
        (monthly(months=11), ["no complete water year", "1953-01 to 1953-11 (11 months)"]),
        (pd.Series([1.0], pd.DatetimeIndex([None])), ["value 1 has no date"]),
        (monthly().to_frame(), ["is not a series", "DataFrame"]),
        ([1.0] * 12, ["is not a series"]),
    ],
)
def test_a_mistake_is_told_with_its_date_and_fix(series: object, told: list[str]) -> None:
    first = str(mistakes_of(series)[0])
    assert all(words in first for words in told), first


def test_a_daily_series_is_refused_with_the_way_to_average_it() -> None:
    daily = pd.Series(1.0, pd.date_range("1953-01-01", "1954-12-31"))
    mistakes = mistakes_of(daily)
    assert len(mistakes) == 13
    assert 'resample("MS").mean()' in mistakes[0].mend
    assert "694 more mistakes" in mistakes[-1].problem
    assert Inflow.from_series(daily.resample("MS").mean()).years == 2


@pytest.mark.parametrize("first_month", [0, 13, 2.5, "6", True])
def test_the_first_month_is_one_of_twelve(first_month: object) -> None:
    (mistake,) = mistakes_of(monthly(), first_month=first_month)
    assert (mistake.column, mistake.expected) == ("first_month", "1 to 12")
