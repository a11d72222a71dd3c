"""Statistics of synthetic records, held against other ways to compute them."""

import numpy as np
import pytest
from scipy import stats

from reservoir.synthetic import acceptance
from reservoir.synthetic.acceptance import STATISTICS, worst_droughts


@pytest.fixture(scope="module")
def flow():
    """Three records of nine years."""
    random = np.random.default_rng(2)
    return np.exp(np.cumsum(0.3 * random.standard_normal((3, 108)), axis=1)).reshape(3, 9, 12)


def test_moments_of_the_months(flow):
    assert np.allclose(STATISTICS["mean of the month"](flow)[1], flow[1].mean(axis=0))
    assert np.allclose(STATISTICS["deviation of the month"](flow)[1], flow[1].std(axis=0, ddof=1))
    assert np.allclose(acceptance.monthly_skews(flow)[1], stats.skew(flow[1], axis=0))


@pytest.mark.parametrize("lag", [1, 2])
def test_correlations_of_months_reach_into_the_year_before(flow, lag):
    found = acceptance.monthly_correlations(flow, lag)[2]
    series = flow[2].ravel()
    for step in range(12):
        at = np.array([place for place in range(step, 108, 12) if place >= lag])
        assert found[step] == pytest.approx(np.corrcoef(series[at], series[at - lag])[0, 1])


def test_correlations_across_the_years_end_are_of_its_last_and_first_months(flow):
    found = acceptance.correlations_across_year_end(flow)[0].reshape(3, 3)
    for row, last in enumerate((9, 10, 11)):
        for first in range(3):
            assert found[row, first] == pytest.approx(np.corrcoef(flow[0, :-1, last], flow[0, 1:, first])[0, 1])


def test_annual_statistics(flow):
    annual = flow[0].mean(axis=1)
    assert STATISTICS["annual mean"](flow)[0, 0] == pytest.approx(annual.mean())
    assert STATISTICS["annual variance"](flow)[0, 0] == pytest.approx(annual.var(ddof=1))
    assert STATISTICS["annual lag-1 correlation"](flow)[0, 0] == pytest.approx(
        np.corrcoef(annual[1:], annual[:-1])[0, 1]
    )


def test_the_duration_curve_falls_and_its_middle_is_the_median(flow):
    curve = STATISTICS["flow duration curve"](flow)
    assert (np.diff(curve, axis=1) <= 0).all()
    middle = list(acceptance.EXCEEDED).index(0.5)
    assert curve[:, middle] == pytest.approx(np.median(flow.reshape(3, -1), axis=1))


def test_the_hurst_exponent_of_a_trend_is_high_and_of_alternating_years_low():
    trend, alternating = np.arange(64.0), np.tile([1.0, 2.0], 32)
    flow = np.stack([np.tile(each[:, np.newaxis], (1, 12)) for each in (trend, alternating, np.ones(64))])
    rising, switching, constant = acceptance.hurst_exponent(flow)[:, 0]
    deviations = np.cumsum(trend - trend.mean())
    assert rising == pytest.approx(np.log((deviations.max() - deviations.min()) / trend.std()) / np.log(32))
    assert rising > 0.9
    assert switching < 0.3
    assert constant == 0


def test_what_is_constant_correlates_with_nothing(flow):
    assert (acceptance.monthly_correlations(np.ones((1, 9, 12)), 1) == 0).all()
    assert (acceptance.monthly_skews(np.ones((1, 9, 12))) == 0).all()


def test_months_without_flow_are_counted():
    flow = np.ones((2, 4, 12))
    flow[0, :3, 5] = 0
    assert acceptance.dry_parts(flow)[:, 5].tolist() == [0.75, 0]


def test_the_worst_droughts_of_a_record_are_counted_by_hand():
    flow = np.full((2, 2, 12), 5.0)
    flow[0, 0, 3:5] = 1.0  # two months, 6 short
    flow[0, 0, 11] = flow[0, 1, 0] = flow[0, 1, 1] = 3.0  # three months across the year's end, 3 short
    duration, severity = worst_droughts(flow, np.full(12, 4.0))
    assert duration.tolist() == [3, 0]
    assert severity.tolist() == [6, 0]
