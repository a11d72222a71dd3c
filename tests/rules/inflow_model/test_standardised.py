"""Months are standardised without skew, and come back as they were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reservoir.rules.inflow_model.standardised import StandardisedMonths


@given(seed=st.integers(0, 10_000), spread=st.floats(0.05, 1.5), shift=st.floats(-0.9, 3), scale=st.floats(1e-3, 1e4))
def test_flows_come_back_from_their_standardised_values(seed, spread, shift, scale):
    random = np.random.default_rng(seed)
    flow = scale * np.maximum(np.exp(spread * random.standard_normal((30, 12))) + shift, 0)
    months = StandardisedMonths.of(flow)
    values = months.values(flow)
    within = (np.abs(values) < 6) & ((values > months.dry_below) | (flow == 0))
    assert np.allclose(months.flows(values)[within], flow[within], rtol=1e-6, atol=1e-9 * scale)
    assert np.allclose(values.mean(axis=0), 0, atol=1e-9)
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


def test_a_month_with_zeros_has_no_logarithm_and_low_values_are_no_flow():
    flow = np.tile(np.array([0.0, 0.0, 1.0, 2.0, 8.0, 3.0, 1.0, 0.5, 4.0, 2.5])[:, np.newaxis], (1, 12))
    months = StandardisedMonths.of(flow)
    assert (months.exponent > 0).all()
    normal = np.random.default_rng(1).standard_normal((20_000, 12))
    assert (months.flows(normal) == 0).mean() == pytest.approx(0.2, abs=0.01)
    assert months.flows(np.full(12, 100.0)) == pytest.approx(months.flows(np.full(12, 6.0)))  # none is without bound
