"""A record by itself: what lies far out, and how large its reservoir is beside it."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.curves.curve import PowerLaw, Table, constant
from reservoir.hydro.inflow import ASSUMED, Inflow
from reservoir.hydro.inflow_check import LEAST_YEARS, InflowCheck


@pytest.fixture
def made():
    """Thirty water years of flows that vary by a third of each month's mean."""
    seasons = 60 + 50 * np.sin(np.arange(12) / 2)
    flow = seasons * np.exp(np.random.default_rng(5).normal(0, 0.3, (30, 12)))
    return Inflow(flow, Calendar(1960, 30, first_month=10))


def with_value(inflow, value, place=(7, 2)):
    flow = inflow.flow_m3s.copy()
    flow[place] = value
    return replace(inflow, flow_m3s=flow)


def test_a_usual_record_has_no_outliers(made, inflow):
    assert InflowCheck(made).outliers == InflowCheck(inflow).outliers == ()


@pytest.mark.parametrize("factor", [20, 0.02, 0])
def test_a_slip_of_the_unit_or_a_lost_digit_is_found_with_its_month(made, factor):
    wrong = with_value(made, made.flow_m3s[7, 2] * factor)
    (outlier,) = InflowCheck(wrong).outliers
    assert (outlier.year, outlier.month, outlier.place) == ("1967/68", "Dec", (7, 2))
    assert outlier.flow_m3s == pytest.approx(made.flow_m3s[7, 2] * factor)
    assert "Dec of 1967/68" in InflowCheck(wrong).sentences()["Outliers"][0]


def test_the_furthest_outlier_is_told_first(made):
    wrong = with_value(with_value(made, 2000), 20_000, (3, 4))
    assert [each.place for each in InflowCheck(wrong).outliers] == [(3, 4), (7, 2)]


def test_a_few_years_are_too_few_to_compare(made):
    few = with_value(made, 1e5).span(0, LEAST_YEARS - 1)
    assert InflowCheck(few).outliers == ()
    assert "fewer than" in InflowCheck(few).sentences()["Outliers"][0]


def test_volumes_of_years_are_those_of_their_days(made):
    check = InflowCheck(made)
    days = made.calendar.days
    np.testing.assert_allclose(check.annual_hm3, (made.flow_m3s * days * 0.0864).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(check.annual_hm3.sum(), made.mean_m3s * days.sum() * 0.0864, rtol=1e-12)


def test_storage_and_turbines_are_compared_with_the_mean_inflow(xiaowan, inflow):
    size = InflowCheck(inflow, xiaowan).size
    lower, upper = xiaowan.storage_bounds_hm3
    assert size.active_storage_hm3 == upper.max() - lower.min()
    assert size.storage_years * InflowCheck(inflow).annual_hm3.mean() == pytest.approx(size.active_storage_hm3)
    assert size.inflow_fraction * size.turbine_capacity_m3s == pytest.approx(inflow.mean_m3s)
    # No head lets the turbines pass more than their curve, nor than the largest release.
    assert size.turbine_capacity_m3s <= xiaowan.release_upper_m3s.max()
    # Installed 4200 MW: at 0.0098 MW per m3/s and metre, 150 to 260 m of head need about 1,700 to 3,000 m3/s.
    assert 1500 < size.turbine_capacity_m3s < 3500


def test_a_reservoir_of_several_years_says_what_that_means(xiaowan, inflow):
    dry = replace(inflow, flow_m3s=inflow.flow_m3s / 10)
    assert "--horizon record" in InflowCheck(dry, xiaowan).sentences()["Size"][0]
    assert "--horizon record" not in InflowCheck(inflow, xiaowan).sentences()["Size"][0]


def test_a_record_without_inflow_has_no_storage_in_mean_inflows(xiaowan, inflow):
    dry = InflowCheck(replace(inflow, flow_m3s=np.zeros_like(inflow.flow_m3s), unit_from=ASSUMED), xiaowan)
    assert (dry.size.storage_years, dry.size.inflow_fraction) == (None, 0.0)
    assert "mean annual inflows" not in " ".join(dry.sentences()["Size"])
    assert dry.as_dict()["reservoir"]["storage_years"] is None
    assert "is it this river?" in dry.doubts[0]


def test_turbines_that_stand_still_wherever_water_is_released_take_no_part_of_the_inflow(small, small_inflow):
    """At a constant level, the tailwater of any release leaves less head than they need."""
    no_release = float(small.level(50.0)) - 380.0
    flat = {name: np.full(12, 50.0) for name in ("storage_lower_hm3", "storage_upper_hm3")}
    plant = replace(
        small,
        **flat,
        initial_storage_hm3=50.0,
        final_storage_hm3=50.0,
        release_lower_m3s=np.zeros(12),
        tailrace=PowerLaw(380.0, 8.0, 0.0, 0.3, (0.0, 250.0)),
        conversion=constant(0.85, (0.0, 100.0)),
        capacity_m3s=Table((0.0, no_release - 1.0, no_release, 100.0), (0.0, 0.0, 50.0, 50.0)),
    )
    check = InflowCheck(replace(small_inflow, unit_from=ASSUMED), plant)
    assert (check.size.turbine_capacity_m3s, check.size.inflow_fraction) == (0.0, None)
    assert "far beyond the turbines' capacity of 0 m³/s" in check.sentences()["Size"][1]
    assert check.doubts == ()
