"""Kirsch's method: factors of correlation, and years that remember each other."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.rules.inflow_model import uniform_numbers
from reservoir.synthetic.methods import KirschModel, correlation_factor


def correlation(one, other):
    return np.corrcoef(one.ravel(), other.ravel())[0, 1]


def annual_correlation(model):
    annual = model.flows(uniform_numbers(1, 0, 40, 501, 12)).mean(axis=2)
    return correlation(annual[:, :-1], annual[:, 1:])


@pytest.mark.parametrize("months", [12, 4])
def test_the_factor_gives_the_correlation_back(inflow, months):
    values = np.log(inflow.flow_m3s[:, :months])
    factor = correlation_factor(values)
    assert np.allclose(factor, np.triu(factor))
    assert np.allclose(factor.T @ factor, np.corrcoef(values.T), atol=1e-5)


def test_a_matrix_that_is_not_positive_definite_is_mended(inflow):
    """Fewer years than months, and a month twice."""
    values = np.log(inflow.flow_m3s[:8])
    values = np.column_stack([values, values[:, 3], np.ones(8)])
    assert np.linalg.matrix_rank(np.nan_to_num(np.cov(values.T))) < 12
    factor = correlation_factor(values)
    mended = factor.T @ factor
    assert np.allclose(np.diag(mended), 1)
    assert np.allclose(mended[:12, :12], np.corrcoef(values[:, :12].T), atol=1e-3)
    assert mended[3, 12] == pytest.approx(1, abs=1e-4)


def test_the_correlation_across_the_years_end_is_that_of_the_record(inflow):
    flow = KirschModel.fit(inflow.flow_m3s).flows(uniform_numbers(1, 0, 40, 201, 12))
    record = inflow.flow_m3s
    of_record = correlation(record[:-1, 11], record[1:, 0])
    assert correlation(flow[:, :-1, 11], flow[:, 1:, 0]) == pytest.approx(of_record, abs=0.12)
    assert correlation(flow[:, :, 0], flow[:, :, 11]) == pytest.approx(
        correlation(record[:, 0], record[:, 11]), abs=0.2
    )


def test_annual_flows_follow_each_other_as_in_the_record_and_without_persistence_hardly(inflow):
    model = KirschModel.fit(inflow.flow_m3s)
    annual = inflow.annual_mean_m3s
    deviations = annual - annual.mean()
    of_record = deviations[1:] @ deviations[:-1] / (deviations @ deviations)
    assert annual_correlation(model) == pytest.approx(of_record, abs=0.03)
    assert annual_correlation(replace(model, persistence=0.0)) < 0.1


def test_years_that_follow_no_rule_are_drawn_independently():
    random = np.random.default_rng(3)
    flow = 100 + 10 * random.standard_normal((400, 12))
    flow[1::2] -= 2 * (flow[:-1:2] - 100)  # a wet year before a dry one
    assert KirschModel.fit(flow).persistence == 0


def test_every_uncorrelated_value_is_one_of_the_record(inflow):
    model = KirschModel.fit(inflow.flow_m3s)
    drawn = model._uncorrelated(uniform_numbers(1, 0, 200, 30, 12))
    for step in range(12):
        values, counts = np.unique(drawn[..., step], return_counts=True)
        assert np.isin(values, model.ordered[:, step]).all()
        assert counts.min() > 0.6 * 6000 / 62  # each about equally often
        assert len(values) == len(np.unique(model.ordered[:, step]))
