"""Means of days over steps of any boundaries."""

import numpy as np
import pandas as pd
import pytest

from reservoir.io.records.record import step_means

DAYS = pd.date_range("1963-11-20", "1966-03-07", freq="D")


def ordinals(dates):
    return np.array([each.toordinal() for each in dates])


@pytest.fixture
def flows():
    return np.random.default_rng(4).gamma(2.0, 300.0, len(DAYS))


@pytest.mark.parametrize("freq", ["MS", "W-MON", "D", "10D"])
def test_volumes_agree_with_pandas_whatever_the_steps_are(flows, freq):
    steps = pd.Series(flows, DAYS).resample(freq, label="left", closed="left")
    starts = list(steps.sum().index)
    edges = np.append(ordinals(starts), DAYS[-1].toordinal() + 1)
    mean, missing = step_means(ordinals(DAYS), flows, edges)
    np.testing.assert_allclose(mean * steps.count(), steps.sum(), rtol=1e-9)
    days_before_the_record = DAYS[0].toordinal() - edges[0]
    assert missing.sum() == missing[0] == days_before_the_record


def test_days_without_a_value_are_counted_and_left_out_of_the_mean():
    mean, missing = step_means(np.array([12, 10, 14, 99]), np.array([3.0, 1.0, 5.0, 7.0]), np.array([10, 13, 16, 19]))
    assert mean[:2].tolist() == [2.0, 5.0]
    assert np.isnan(mean[2])
    assert missing.tolist() == [1, 2, 3]
