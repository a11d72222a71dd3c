"""Thresholds follow from sampling error: a sound record rarely fails, and an unsound one is found."""

import numpy as np
import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.synthetic.acceptance import Claim, Comparison, OptimisedRecords, compare_energy, compare_flows, distances

YEARS = Calendar(1990, 30)


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def passed(record, synthetic, claim=Claim.ONE_OF_THEM):
    places = tuple(map(str, range(len(record))))
    return Comparison("something", places, record, synthetic, claim).check.passed


@pytest.mark.parametrize("records", [16, 200])
@pytest.mark.parametrize("values", [1, 12])
def test_a_record_that_is_one_of_them_fails_in_one_case_of_twenty(records, values):
    failed = [not passed(normal(seed, values), normal(10_000 + seed, records, values)) for seed in range(2000)]
    assert np.mean(failed) == pytest.approx(0.05, abs=0.015)


def test_a_distance_may_be_as_small_as_it_likes():
    distances = 1 + 0.1 * normal(1, 50, 1)
    assert passed(np.array([0.0]), distances, Claim.AT_MOST)
    assert not passed(np.array([0.0]), distances)
    assert not passed(np.array([1.3]), distances, Claim.AT_MOST)


def test_a_mean_is_kept_within_half_a_standard_error_and_the_error_of_all_years():
    """Of which the latter falls with their number."""
    for records, limit in ((16, 0.5 + 2.131 / 4), (400, 0.5 + 1.966 / 20)):
        compared = Comparison("mean", ("",), np.zeros(1), normal(1, records, 1), Claim.KEPT)
        assert compared.limit == pytest.approx(limit, abs=1e-3)
    spread = 1 + normal(1, 400, 1)
    assert passed(np.array([0.5]), spread, Claim.KEPT)
    assert not passed(np.array([0.3]), spread, Claim.KEPT)


def test_the_line_of_a_statistic_names_the_value_that_deviates_most():
    synthetic = normal(2, 100, 3)
    compared = Comparison("skew", ("Jan", "Feb", "Mar"), np.array([0.0, 5.0, 0.0]), synthetic)
    assert compared.check.check == "skew (Feb), in standard errors"
    assert compared.check.value == compared.deviation[1] > 4
    assert not compared.check.passed


def test_what_does_not_vary_deviates_by_nothing_or_by_very_much():
    same = np.full((20, 1), 7.0)
    assert passed(np.array([7.0]), same)
    assert passed(np.array([7.0 + 1e-6]), same)
    assert not passed(np.array([7.1]), same)
    assert passed(np.zeros(1), np.zeros((20, 1)))
    assert not passed(np.zeros(1), np.ones((20, 1)))


def test_synthetic_records_that_vary_without_bounds_do_not_excuse_their_mean_nor_their_floods(alike):
    """The spread that counts is the record's: one flood of a million times the flow made every mean likely."""
    record, synthetic = alike[0], alike[1:].copy()
    synthetic[:, 3, 5] *= np.exp(3 * normal(9, len(synthetic)) + 12)
    found = {each.statistic: each for each in compare_flows(record, synthetic, YEARS)}
    for name, unit in (
        ("mean of the month", "standard errors"),
        ("largest flow of the month", "the record's standard deviations"),
    ):
        check = found[name].check
        assert not check.passed
        assert check.check == f"{name} (Jun), in {unit}"
    assert not found["annual mean"].check.passed
    own = Comparison("annual mean", ("",), found["annual mean"].record, found["annual mean"].synthetic, Claim.KEPT)
    assert own.check.passed  # by the spread of the synthetic records alone


def test_largest_flows_of_records_of_one_process_are_not_beyond(alike):
    found = {each.statistic: each.check for each in compare_flows(alike[0], alike[1:], YEARS)}
    assert found["largest flow of the month"].passed


def test_a_month_that_flows_in_few_years_tells_no_correlation(alike):
    record = alike[0].copy()
    record[4:, 2] = 0
    found = {each.statistic: each for each in compare_flows(record, alike[1:], YEARS)}
    lag = found["lag-1 correlation"]
    assert lag.record[[2, 3]].tolist() == [0, 0]
    assert (lag.synthetic[:, [2, 3]] == 0).all()
    assert (lag.record[[0, 1, 4]] != 0).all()
    across = found["correlation across the year's end"]
    assert [place for place, value in zip(across.places, across.record, strict=True) if value == 0] == [
        "Oct-Mar", "Nov-Mar", "Dec-Mar"
    ]  # fmt: skip


#: What spoils synthetic records, and the statistics that must find it.
SPOILT = {
    "months of too little variance": (lambda flow: flow.mean(axis=1, keepdims=True) / 2 + flow / 2, "deviation of"),
    "months in another order": (lambda flow: _shuffled(flow, axis=1), "lag-1 correlation"),
    "years that follow each other": (lambda flow: _persistent(flow), "annual lag-1 correlation"),
    "another tail": (lambda flow: np.maximum(flow, np.quantile(flow, 0.1)), "flow duration curve"),
    "a skew to the other side": (lambda flow: flow.max() - flow, "skew of the month"),
    "months that fall dry": (lambda flow: np.where(flow < 0.95 * flow.mean(), 0, flow), "years without flow"),
}


def _shuffled(flow, axis):
    return np.random.default_rng(1).permuted(flow, axis=axis)


def _persistent(flow):
    annual = 1 + 0.3 * np.sin(np.arange(30) / 3)
    return flow * annual[:, np.newaxis]


@pytest.fixture(scope="module")
def alike():
    """Forty-one records of one process, monthly and without a season."""
    noise = normal(5, 41, 30 * 12 + 50)
    for at in range(1, noise.shape[1]):
        noise[:, at] += 0.6 * noise[:, at - 1]
    return np.exp(5 + 0.2 * noise[:, 50:]).reshape(41, 30, 12)


def test_records_of_one_process_are_accepted(alike):
    record, synthetic = alike[0], alike[1:]
    several = [each.check for each in compare_flows(record, synthetic, YEARS) if len(each.places) == 1]
    assert all(check.passed for check in several)


@pytest.mark.parametrize("name", SPOILT)
def test_synthetic_records_that_are_spoilt_are_found(alike, name):
    spoil, statistic = SPOILT[name]
    found = [each.check for each in compare_flows(alike[0], spoil(alike[1:]), YEARS)]
    (line,) = [check for check in found if check.check.startswith(statistic)]
    assert not line.passed


def test_distances_of_distributions_are_those_of_kolmogorov_and_smirnov():
    from scipy import stats

    record, synthetic = normal(1, 30), 0.5 + normal(2, 5, 30)
    of_record, of_synthetic = distances(record, synthetic)
    assert of_record[0] == pytest.approx(stats.ks_2samp(record, synthetic.ravel()).statistic)
    assert of_synthetic[3] == pytest.approx(stats.ks_2samp(synthetic[3], np.delete(synthetic, 3, 0).ravel()).statistic)


def operated(energy, power):
    return OptimisedRecords(energy, power, np.zeros_like(power))


@pytest.mark.parametrize(
    ("change", "failing"),
    [
        (lambda energy, power: (energy, power), set()),
        (lambda energy, power: (1.1 * energy, power), {"mean of the years", "distribution"}),
        (lambda energy, power: (100 + 3 * (energy - 100), power), {"deviation of the years", "distribution"}),
        (lambda energy, power: (energy, 1.3 * power), {"firm power of the record", "firm power of the years"}),
    ],
)
def test_energy_and_firm_power_are_compared_as_distributions(change, failing):
    energy, power = 100 + 10 * normal(1, 21, 30), 50 + 10 * normal(2, 21, 30, 12)
    found = compare_energy(operated(energy[:1], power[:1]), operated(*change(energy[1:], power[1:])))
    failed = [each.statistic for each in found if not each.check.passed]
    assert len(found) == 5
    assert all(any(words in name for name in failed) for words in failing)
    assert all(any(words in name for words in failing) for name in failed)
