"""Regressions of months, and the noise of the two methods that use them."""

import numpy as np
import pytest
from scipy.special import ndtri

from reservoir.rules.inflow_model import WARM_UP_YEARS, MonthlyRegression, uniform_numbers
from reservoir.synthetic.methods import NearestNeighbourModel, ThomasFieringModel, kernel


@pytest.fixture(scope="module")
def process():
    """Four thousand years of a known process, seasonless."""
    random = np.random.default_rng(1).standard_normal(4000 * 12)
    series = np.zeros(4000 * 12)
    for at in range(12, series.size):
        series[at] = 0.4 * series[at - 1] + 0.1 * series[at - 2] + 0.3 * series[at - 12 : at].mean() + 0.5 * random[at]
    return series.reshape(-1, 12)


def test_the_coefficients_of_a_known_process_are_found(process):
    found = MonthlyRegression.of(process)
    assert np.allclose(found.coefficients.mean(axis=0), [0.4, 0.1, 0.3, 0.0], atol=0.02)
    assert np.allclose(found.deviation, 0.5, atol=0.03)
    assert np.allclose(found.residual.std(axis=1), found.deviation)


def test_the_recursion_is_the_one_that_was_fitted(process):
    found = MonthlyRegression.of(process)
    uniform = uniform_numbers(1, 0, 3, WARM_UP_YEARS + 30, 12)
    values = found.values(uniform, lambda step, predicted, drawn: found.deviation[step] * ndtri(drawn))
    series = values.reshape(3, -1)
    for member in range(3):
        for at in (12, 100, 300):
            year, step = divmod(at, 12)
            state = [series[member, at - 1], series[member, at - 2], series[member, at - 12 : at].mean(), 1.0]
            noise = found.deviation[step] * ndtri(uniform[member, WARM_UP_YEARS + year, step])
            assert series[member, at] == pytest.approx(found.coefficients[step] @ state + noise, rel=1e-9)


def test_the_weights_of_the_neighbours_fall_with_their_rank():
    assert np.diff(kernel(62), prepend=0) == pytest.approx(1 / np.arange(1, 8) / sum(1 / np.arange(1, 8)))
    assert kernel(62)[-1] == 1


def test_errors_are_drawn_from_the_nearest_states_the_nearest_most_often(inflow):
    model = NearestNeighbourModel.fit(inflow.flow_m3s)
    predicted, residual = model.regression.predicted[4], model.regression.residual[4]
    state = 0.3
    drawn = model._noise(4, np.full(20_000, state), np.random.default_rng(1).random(20_000))
    nearest = residual[np.argsort(np.abs(predicted - state))[:7]]
    shares = np.array([(drawn == each).mean() for each in nearest])
    assert shares.sum() == 1
    assert shares == pytest.approx(np.diff(kernel(model.regression.predicted.shape[1] + 1), prepend=0), abs=0.02)


def test_the_noise_of_thomas_and_fiering_is_normal_with_the_regressions_deviation(inflow):
    model = ThomasFieringModel.fit(inflow.flow_m3s)
    noise = model._noise(2, np.zeros(50_000), np.random.default_rng(1).random(50_000))
    assert noise.std() == pytest.approx(model.regression.deviation[2], rel=0.02)
    assert np.quantile(noise, 0.975) == pytest.approx(1.96 * model.regression.deviation[2], rel=0.03)


def test_flows_beyond_the_record_are_made(inflow):
    """A bootstrap of flows alone could not."""
    for method in (NearestNeighbourModel, ThomasFieringModel):
        model = method.fit(inflow.flow_m3s)
        flow = model.flows(uniform_numbers(1, 0, 20, model.lead_years + 60, 12))
        assert (flow.max(axis=(0, 1)) > inflow.flow_m3s.max(axis=0)).sum() >= 11  # of 12 months
        assert (flow.min(axis=(0, 1)) < inflow.flow_m3s.min(axis=0)).sum() >= 11
