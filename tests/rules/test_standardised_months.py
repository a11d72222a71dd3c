"""Months are standardised without skew, and come back as they were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri

from reservoir.rules.standardised_months import StandardisedMonths, dry_years


@given(seed=st.integers(0, 10_000), spread=st.floats(0.05, 1.5), shift=st.floats(-0.9, 3), scale=st.floats(1e-3, 1e4))
def test_flows_come_back_from_their_standardised_values(seed, spread, shift, scale):
    random = np.random.default_rng(seed)
    flow = scale * np.maximum(np.exp(spread * random.standard_normal((30, 12))) + shift, 0)
    months = StandardisedMonths.of(flow)
    values = months.values(flow)
    farthest = np.where(months.falls_dry, ndtri(1 - (1 - ndtr(months.dry_below)) * ndtr(-2.99)), 6.0)
    within = np.abs(values) < farthest  # a month that falls dry ends at 3 deviations of its wet years
    within &= ~dry_years(flow) | (flow == 0)
    assert np.allclose(months.flows(values)[within], flow[within], rtol=1e-6, atol=1e-9 * scale)
    assert np.allclose(values.mean(axis=0)[~months.falls_dry], 0, atol=1e-9)
    assert np.allclose(months.values_of_record(flow).mean(axis=0), 0, atol=0.15)
    assert ((months.exponent >= 0) & (months.exponent <= 1)).all()


def test_values_have_no_skew_where_an_exponent_takes_it(inflow):
    months = StandardisedMonths.of(inflow.flow_m3s)
    skew = stats.skew(months.values(inflow.flow_m3s), axis=0)
    inner = (months.exponent > 0) & (months.exponent < 1)
    assert inner.sum() >= 5
    assert np.allclose(skew[inner], 0, atol=1e-6)
    assert np.allclose(skew[months.lower_m3s > 0], 0, atol=1e-6)
    assert (skew[months.exponent == 1] <= 0).all()


def test_a_month_that_is_more_skewed_than_lognormal_has_a_lower_bound_below_its_lowest_flow():
    flow = 0.5 + np.exp(0.5 * np.random.default_rng(1).standard_normal((4000, 12)))
    months = StandardisedMonths.of(flow)
    assert (months.exponent == 0).all()
    assert np.allclose(months.lower_m3s, 0.5, atol=0.05)
    assert (months.lower_m3s < flow.min(axis=0)).all()
    assert np.allclose(stats.skew(months.values(flow), axis=0), 0, atol=1e-6)
    assert (months.flows(np.full(12, -6.0)) > months.lower_m3s).all()


def test_a_lognormal_month_is_standardised_by_its_logarithm_nearly():
    flow = np.exp(np.random.default_rng(1).standard_normal((4000, 12)))
    months = StandardisedMonths.of(flow)
    assert (months.exponent < 0.05).all()
    assert np.allclose(months.deviation, 1, atol=0.1)


def test_zeros_are_a_probability_of_their_own_and_the_transform_is_that_of_wet_years():
    month = np.array([0.0, 0.0, 1.0, 2.0, 8.0, 3.0, 1.0, 0.5, 4.0, 2.5, 0.0, 2.0, 1.5, 3.5, 2.2])
    flow = np.tile(month[:, np.newaxis], (1, 12))
    months, wet = StandardisedMonths.of(flow), StandardisedMonths.of(flow[month > 0])
    assert np.allclose(months.exponent, wet.exponent)
    assert np.allclose([months.mean, months.deviation], [wet.mean, wet.deviation])
    assert (months.dry_below == ndtri(0.2)).all()
    made = months.flows(np.random.default_rng(1).standard_normal((20_000, 12)))
    assert (made == 0).mean() == pytest.approx(0.2, abs=0.01)
    assert made.mean() == pytest.approx(month.mean(), rel=0.03)
    assert months.flows(np.full(12, 100.0)) == pytest.approx(months.flows(np.full(12, 6.0)))  # none is without bound
    assert made.max() < 4 * 8


def test_dry_years_have_the_normal_values_of_no_flow_each_its_own():
    flow = np.exp(np.random.default_rng(4).normal(2, 0.5, (50, 12)))
    flow[10:35, 4] = 0
    flow[:, 9] = 0
    months = StandardisedMonths.of(flow)
    values = months.values_of_record(flow)
    dry = values[10:35, 4]
    assert np.sort(dry) == pytest.approx(ndtri((np.arange(25) + 0.5) / 50))
    assert (dry < months.dry_below[4]).all()
    assert (np.delete(values[:, 4], np.arange(10, 35)) > months.dry_below[4]).all()
    assert (values[:, 9] == 0).all()
    others = np.delete(values, 4, axis=1)
    assert np.array_equal(others, np.delete(months.values(flow), 4, axis=1))
    assert np.array_equal(values, months.values_of_record(flow))


@pytest.mark.parametrize("wet", [[5.0], [5.0, 5.0], [0.02, 60.0], [1.0, 1.1, 70.0], [0.3, 8.0, 0.31, 0.29]])
def test_few_wet_years_keep_their_mean_and_no_flood_is_many_times_theirs(wet):
    flow = np.zeros((30, 12))
    flow[: len(wet)] = np.array(wet)[:, np.newaxis]
    months = StandardisedMonths.of(flow)
    scaled = months.with_mean(flow.mean(axis=0), np.random.default_rng(1).standard_normal((200_000, 12)))
    made = scaled.flows(np.random.default_rng(2).standard_normal((200_000, 12)))
    assert made.mean() == pytest.approx(flow.mean(), rel=0.03)
    assert made.max() <= 4.2 * max(wet)


def test_traces_are_no_flow_and_come_back_as_they_were():
    flow = np.full((30, 12), 60.0) + np.arange(30)[:, np.newaxis]
    flow[:12] = 0.001
    flow[12, :] = 0.002
    months = StandardisedMonths.of(flow)
    made = months.flows(np.random.default_rng(1).standard_normal((20_000, 12)))
    assert set(np.unique(made[made < 1])) == {0.001, 0.002}
    assert (made < 1).mean() == pytest.approx(13 / 30, abs=0.01)
    assert made.mean() == pytest.approx(flow.mean(), rel=0.01)
    assert made.max() < 150
