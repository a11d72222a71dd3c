"""Water years have the days that their months really have, and say by name when they are."""

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reservoir.hydro.calendar import Calendar

first_months = st.integers(1, 12)


def month_of(year: int, month: int, later: int) -> date:
    """First day of the month that is `later` months after another."""
    return date(year + (month - 1 + later) // 12, (month - 1 + later) % 12 + 1, 1)


@given(st.integers(1800, 2200), st.integers(1, 20), first_months)
def test_every_month_has_its_days(first_year: int, years: int, first_month: int) -> None:
    calendar = Calendar(first_year, years, first_month)
    expected = [
        [(month_of(year, first_month, step + 1) - month_of(year, first_month, step)).days for step in range(12)]
        for year in range(first_year, first_year + years)
    ]
    assert calendar.days.tolist() == expected


@pytest.mark.parametrize(("year", "days"), [(1956, 29), (1957, 28), (2000, 29), (1900, 28)])
def test_february_has_29_days_in_leap_years_only(year: int, days: int) -> None:
    assert Calendar(year, 1).days[0, 1] == days


def test_a_water_year_holds_the_february_of_its_second_calendar_year() -> None:
    calendar = Calendar(1955, 2, first_month=6)
    february = calendar.months.tolist().index(2)
    assert calendar.days[:, february].tolist() == [29, 28]


@pytest.mark.parametrize(
    ("first_month", "labels"), [(1, ("1998", "1999", "2000")), (6, ("1998/99", "1999/00", "2000/01"))]
)
def test_a_water_year_over_two_calendar_years_names_both(first_month: int, labels: tuple[str, ...]) -> None:
    assert Calendar(1998, 3, first_month).labels == labels


def test_months_begin_with_the_first_of_the_water_year() -> None:
    calendar = Calendar(1953, 1, first_month=11)
    assert calendar.months.tolist() == [11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert calendar.step_names[:3] == ("Nov", "Dec", "Jan")


@given(first_months)
def test_a_flow_of_1_m3s_carries_86400_m3_a_day(first_month: int) -> None:
    calendar = Calendar(1953, 8, first_month)
    np.testing.assert_allclose(calendar.hm3_per_m3s * 1e6, 86_400 * calendar.days, rtol=1e-15)


def test_62_years_from_1953_have_15_leap_years() -> None:
    assert Calendar(1953, 62).days.sum() == 62 * 365 + 15
