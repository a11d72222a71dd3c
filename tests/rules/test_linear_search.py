"""The search for a linear rule: it counts what a simulation counts, and only ever gains."""

from dataclasses import fields, replace

import numpy as np
import pytest

from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.planning.plan import optimise
from reservoir.rules import Forecast, Training
from reservoir.rules.base.record_operation import record_of, stored_value_per_hm3
from reservoir.rules.base.simulation import simulate
from reservoir.rules.families import linear, linear_operation
from reservoir.rules.families.linear import LinearSearchRule
from reservoir.rules.families.linear_operation import operate_linear

FLOWS = np.array([35, 25, 18, 14, 12, 16, 24, 38, 55, 80, 75, 50], float)


@pytest.fixture(scope="module")
def begun(training, forecast):
    """The least squares, with end storages anywhere within the bounds: where the search begins."""
    return anywhere(linear.fit(training, forecast), training)


@pytest.fixture(scope="module")
def found(training, forecast):
    return linear_operation.fit(training, forecast)


def anywhere(rule, training):
    """A linear rule whose end storages may be any within the bounds."""
    plant = training.model.reservoir
    content = rule.to_dict() | {
        "family": "linear-search",
        "lowest_hm3": plant.by_step(plant.storage_lower_hm3).tolist(),
        "highest_hm3": plant.by_step(plant.storage_upper_hm3).tolist(),
    }
    return LinearSearchRule.from_dict(content)


def value_gwh(rule, training):
    """Value of a rule as the search computes it, GWh."""
    record = record_of(training, rule.months, rule.forecast)
    numbers = np.column_stack([rule.constant_hm3, rule.factors])
    values_gwh = np.empty(1)
    operate_linear(training.model.exact, record, numbers[None], values_gwh)
    return float(values_gwh[0])


def simulated_value(rule, training, inflow):
    start = float(training.storage_start_hm3[0, 0])
    run = simulate(rule, training.model, inflow, start)
    return run.energy_gwh.sum() + stored_value_per_hm3(training) * (run.end_storage_hm3[-1] - start)


def test_what_the_search_counts_is_what_a_simulation_makes(training, ten_years, begun, found):
    for rule in (begun, found):
        assert value_gwh(rule, training) == pytest.approx(simulated_value(rule, training, ten_years), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_any_linear_rule_is_counted_as_it_is_simulated(training, ten_years, begun, seed):
    random = np.random.default_rng(seed)
    known = (True, True, begun.forecast is Forecast.MONTH)
    rule = begun.model_copy(
        update={
            "constant_hm3": tuple(random.uniform(-5e3, 2e4, 12).tolist()),
            "factors": tuple(tuple((random.uniform(-2, 2, 3) * known).tolist()) for _ in range(12)),
        }
    )
    assert value_gwh(rule, training) == pytest.approx(simulated_value(rule, training, ten_years), rel=1e-9)


def test_a_rule_is_counted_alone_as_it_is_beside_others(training, begun, found):
    numbers = np.stack([np.column_stack([rule.constant_hm3, rule.factors]) for rule in (begun, found)])
    values_gwh = np.empty(2)
    record = record_of(training, begun.months, begun.forecast)
    operate_linear(training.model.exact, record, numbers, values_gwh)
    assert values_gwh.tolist() == [value_gwh(begun, training), value_gwh(found, training)]


def test_the_search_gains_on_the_least_squares_it_begins_with(training, begun, found):
    assert value_gwh(found, training) > value_gwh(begun, training)


def test_without_a_forecast_this_months_inflow_has_no_factor(found):
    now = [factors[2] for factors in found.factors]
    if found.forecast is Forecast.NONE:
        assert now == [0.0] * 12
    else:
        assert any(now)


def test_the_same_years_give_the_same_rule(training, forecast, found):
    assert linear_operation.fit(training, forecast) == found


def test_years_are_not_changed_by_a_fit(training, forecast):
    before = {field.name: getattr(training, field.name) for field in fields(training)}
    copies = {name: value.copy() for name, value in before.items() if isinstance(value, np.ndarray)}
    linear_operation.fit(training, forecast)
    assert all(np.array_equal(before[name], copy) for name, copy in copies.items())


def october(reservoir, flows=FLOWS):
    """Four water years from October, and what is planned for them."""
    inflow = Inflow(np.outer([0.6, 1.0, 1.5, 0.9], flows), Calendar(1955, 4, first_month=10))
    plan = optimise(replace(reservoir, first_month=10), inflow, solver="dp", reference=False)
    return Training.of(plan), inflow


def between(reservoir, lower, upper):
    """The same reservoir with one lower and one upper bound of storage, and years that begin and end between them."""
    middle = (lower + upper) / 2
    return replace(
        reservoir,
        storage_lower_hm3=np.full(12, lower),
        storage_upper_hm3=np.full(12, upper),
        release_lower_m3s=np.zeros(12),
        release_upper_m3s=np.full(12, 250.0),
        initial_storage_hm3=middle,
        final_storage_hm3=middle,
    )


@pytest.mark.parametrize("bounds", [None, (100.0, 100.5), (100.0, 100.0)], ids=["wide", "narrow", "always full"])
def test_other_reservoirs_are_searched_as_they_are_simulated(small, bounds, forecast):
    training, inflow = october(small if bounds is None else between(small, *bounds))
    found = linear_operation.fit(training, forecast)
    assert np.all(np.isfinite(found.factors))
    assert value_gwh(found, training) == pytest.approx(simulated_value(found, training, inflow), rel=1e-9)
    assert value_gwh(found, training) >= value_gwh(anywhere(linear.fit(training, forecast), training), training) * (
        1 - 1e-12
    )
    assert found.months.calendar_month == (10, 11, 12, *range(1, 10))


def test_a_lake_that_is_always_full_releases_what_flows_in(small):
    training, inflow = october(between(small, 100.0, 100.0))
    run = simulate(linear_operation.fit(training, Forecast.MONTH), training.model, inflow, 100.0)
    np.testing.assert_allclose(run.operation.release_m3s, inflow.flow_m3s, rtol=1e-9)


def test_an_inflow_that_is_the_same_in_all_years_takes_no_part(training):
    # A tenth is no binary number: the deviation of equal values comes out as a rounding, not as 0.
    inflow = training.inflow_m3s.copy()
    inflow[:, 3] = 1000.1
    rounded = inflow[:, 3] + 1e-10 * np.arange(training.years)
    for flow in (inflow[:, 3], rounded):
        inflow[:, 3] = flow
        found = linear_operation.fit(replace(training, inflow_m3s=inflow), Forecast.MONTH)
        assert found.factors[3][2] == 0.0
        assert np.abs(found.constant_hm3).max() < 1e6


def test_the_rule_of_many_years_is_the_mean_of_searches_that_each_lack_a_part_of_them(training):
    parts = linear_operation._parts(training.select([0] * 62))
    assert len(parts) == linear_operation.SEARCHES
    assert sorted(year for part in parts for year in set(range(62)) - set(part)) == list(range(62))
    assert linear_operation._parts(training) == [list(range(10))]
