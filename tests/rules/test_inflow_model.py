"""The inflow model: fitted to a record it makes years like the record's, and futures that follow from what is known."""

import json
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.planning.plan import optimise
from reservoir.rules import Training
from reservoir.rules.base.fields import validated
from reservoir.rules.inflow_model import InflowModel, uniform_numbers

YEARS = 8000


@pytest.fixture(scope="module")
def record(xiaowan, inflow):
    return Training.of(optimise(xiaowan, inflow, solver="dp", reference=False))


@pytest.fixture(scope="module")
def model(record):
    return InflowModel.of(record)


@pytest.fixture(scope="module")
def made(model):
    return model.years(500.0, uniform_numbers(1, 0, 1, YEARS + 1, 12)[0])


def lag_one(one, other):
    return float(np.corrcoef(one, other)[0, 1])


def test_months_have_the_mean_the_spread_and_the_quantiles_of_the_record(record, made):
    flow = record.inflow_m3s
    assert made.mean(axis=0) == pytest.approx(flow.mean(axis=0), rel=0.02)
    assert made.std(axis=0) == pytest.approx(flow.std(axis=0, ddof=1), rel=0.08)
    for share in (0.1, 0.5, 0.9):
        assert np.quantile(made, share, axis=0) == pytest.approx(np.quantile(flow, share, axis=0), rel=0.08)


def test_a_month_follows_the_month_before_as_in_the_record(record, made):
    flow = np.log(record.inflow_m3s)
    for step in range(1, 12):
        found = lag_one(np.log(made[:, step]), np.log(made[:, step - 1]))
        assert found == pytest.approx(lag_one(flow[:, step], flow[:, step - 1]), abs=0.06)


def test_years_vary_and_follow_each_other_as_in_the_record(record, made):
    annual, of_record = made.mean(axis=1), record.inflow_m3s.mean(axis=1)
    assert annual.std() == pytest.approx(of_record.std(ddof=1), rel=0.05)
    assert lag_one(annual[1:], annual[:-1]) == pytest.approx(lag_one(of_record[1:], of_record[:-1]), abs=0.12)


def test_futures_are_those_of_years_that_had_what_is_known(model, made):
    """Of many years, those whose months were near the known ones, against futures drawn from these."""
    step, known = 5, np.quantile(made[:, [4, 3]], 0.7, axis=0)
    near = (np.abs(made[:, 4] / known[0] - 1) < 0.1) & (np.abs(made[:, 3] / known[1] - 1) < 0.1)
    uniform = uniform_numbers(1, 0, 4000, 1, 12 + 6, stream=3)[:, 0]
    futures = model.futures(step, known[None], uniform)[0]
    assert near.sum() > 100
    assert futures.mean(axis=0) == pytest.approx(made[near][:, 5:11].mean(axis=0), rel=0.06)
    assert futures.std(axis=0) == pytest.approx(made[near][:, 5:11].std(axis=0), rel=0.2)
    assert futures[:, 0].std() < made[:, 5].std()


def test_a_future_depends_on_its_own_numbers_and_its_own_situation(model):
    known = np.array([[300.0, 250.0], [900.0, 800.0], [10.0, 5000.0]])
    uniform = uniform_numbers(7, 0, 40, 1, 30, stream=2)[:, 0]
    together = model.futures(3, known, uniform)
    assert together.shape == (3, 40, 18)
    alone = model.futures(3, known[1:2], uniform_numbers(7, 11, 12, 1, 30, stream=2)[:, 0])
    assert alone[0, 0] == pytest.approx(together[1, 11], rel=1e-12)
    assert not np.array_equal(uniform, uniform_numbers(7, 0, 40, 1, 30, stream=3)[:, 0])


def test_it_is_written_and_read_back(model):
    again = validated(InflowModel, json.loads(json.dumps(model.model_dump(mode="json"))))
    assert again == model
    uniform = uniform_numbers(1, 0, 5, 1, 24)[:, 0]
    assert np.array_equal(
        again.futures(0, [[500.0]] * np.ones(1), uniform), model.futures(0, np.array([[500.0]]), uniform)
    )


def test_nothing_is_learned_across_a_gap(record):
    """Years left out do not make the years around them follow each other."""
    chosen = [year for year in range(record.years) if year % 3]
    selected = record.select(chosen)
    moved = selected.inflow_m3s.copy()
    model = InflowModel.of(selected)
    assert np.isfinite(model.years(500.0, uniform_numbers(1, 0, 1, 50, 12)[0])).all()
    # the second year of each pair follows the first: turning the order of the pairs around changes nothing
    pairs = np.arange(len(chosen) - len(chosen) % 2).reshape(-1, 2)
    turned = InflowModel.of(selected.select(pairs[::-1].ravel().tolist()))
    straight = InflowModel.of(selected.select(pairs.ravel().tolist()))
    assert np.allclose(turned.coefficients, straight.coefficients, atol=1e-8)
    assert np.array_equal(moved, selected.inflow_m3s)


@pytest.mark.parametrize("years", [1, 2, 3, 5, 10])
def test_few_years_make_a_model(record, years):
    model = InflowModel.of(record.select(range(years)))
    made = model.years(400.0, uniform_numbers(1, 0, 1, 101, 12)[0])
    assert np.isfinite(made).all()
    assert made.mean() == pytest.approx(record.inflow_m3s[:years].mean(), rel=0.25)


def test_dry_months_and_a_river_that_never_changes(record):
    flow = record.inflow_m3s.copy()
    flow[::3, 4] = 0.0
    flow[:, 7] = 25.0
    flow[:, 8] = 0.0
    before = np.concatenate([[flow[0, 0]], flow.ravel()[:-1]]).reshape(flow.shape)
    model = InflowModel.of(replace(record, inflow_m3s=flow, inflow_before_m3s=before))
    made = model.years(400.0, uniform_numbers(1, 0, 1, 2001, 12)[0])
    assert made[:, 7] == pytest.approx(np.full(len(made), 25.0))
    assert np.abs(made[:, 8]).max() < 1e-6
    assert (made[:, 4] == 0).mean() == pytest.approx((flow[:, 4] == 0).mean(), abs=0.05)
    assert np.isfinite(model.futures(5, np.array([[0.0, 0.0]]), uniform_numbers(1, 0, 3, 1, 24)[:, 0])).all()


@pytest.fixture(scope="module")
def dry_winter(record):
    """The record with winters that are dry in five years of six, and Novembers that always are."""
    flow = record.inflow_m3s.copy()
    wet = np.random.default_rng(1).random(flow.shape) < 1 / 6
    flow[:, [0, 1, 11]] = np.where(wet, 1.0 + flow / 500, 0.0)[:, [0, 1, 11]]
    flow[:, 10] = 0.0
    before = np.concatenate([[flow[0, 0]], flow.ravel()[:-1]]).reshape(flow.shape)
    return replace(record, inflow_m3s=flow, inflow_before_m3s=before)


@pytest.mark.parametrize("known", [[], [0.0], [0.0, 0.0], [1.5], [1.5, 1.0]])
def test_futures_of_dry_months_are_dry_as_often_and_no_wetter_than_on_record(dry_winter, known):
    """An outlook filled a lake in February, by inflows of ten times the largest February on record."""
    model, flow = InflowModel.of(dry_winter), dry_winter.inflow_m3s
    uniform = uniform_numbers(3, 0, 4000, 1, 12 + 12, stream=1)[:, 0]
    futures = model.futures(1, np.array(known)[None, :], uniform)[0]
    for ahead, step in ((0, 1), (10, 11), (11, 0)):
        made, on_record = futures[:, ahead], flow[:, step]
        assert made.max() <= 3 * on_record.max()
        assert np.quantile(made, 0.99) <= 1.3 * on_record.max()
        if ahead >= 10:  # what is known is forgotten
            assert (made == 0).mean() == pytest.approx((on_record == 0).mean(), abs=0.04)
            assert made.mean() == pytest.approx(on_record.mean(), rel=0.15)
    assert (futures[:, 9] == 0).all()


def test_how_dry_a_known_month_was_is_drawn_so_that_a_month_after_it_is_wet_as_often_as_on_record(record):
    """A dry month that stood for one value in the middle of all would leave the months after it hardly any water."""
    random = np.random.default_rng(3)
    flow = record.inflow_m3s.copy()
    common = random.standard_normal(len(flow))
    state = 0.8 * common[:, None] + 0.6 * random.standard_normal((len(flow), 2))
    flow[:, :2] = np.where(state > 0.6, np.exp(state), 0.0)
    before = np.concatenate([[flow[0, 0]], flow.ravel()[:-1]]).reshape(flow.shape)
    model = InflowModel.of(replace(record, inflow_m3s=flow, inflow_before_m3s=before))
    uniform = uniform_numbers(3, 0, 20_000, 1, 12 + 14, stream=1)[:, 0]
    unknown = model.futures(0, np.empty((1, 0)), uniform)[0]
    after_dry = unknown[unknown[:, 12] == 0][:, 13]
    known = model.futures(1, np.array([[0.0]]), uniform)[0][:, 0]
    assert (known > 0).mean() == pytest.approx((after_dry > 0).mean(), abs=0.03)
    assert (known > 0).mean() > 0.03


def test_regressions_that_do_not_come_to_rest_are_refused(model):
    content = model.model_dump(mode="json")
    content["coefficients"] = [[1.5, 0.0, 0.0, 0.0]] * 12
    with pytest.raises(InputError, match="do not come to rest"):
        validated(InflowModel, content)
