import json

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.rules import FAMILIES, Forecast, fit, rule_from_dict
from reservoir.rules.base.simulation import simulate

FULL = 14557.0
every_rule = pytest.mark.parametrize("forecast", Forecast)
every_family = pytest.mark.parametrize("family", FAMILIES)


def decisions(rule):
    """Releases over a grid of situations."""
    now = 900.0 if rule.forecast is Forecast.MONTH else None
    return [rule.release(step, storage, now, 700.0) for step in range(12) for storage in (5000.0, 9000.0, FULL)]


@every_family
@every_rule
def test_a_rule_written_to_json_and_read_back_decides_the_same(training, family, forecast):
    rule = fit(family, training, forecast)
    again = rule_from_dict(json.loads(json.dumps(rule.to_dict())))
    assert decisions(again) == decisions(rule)
    assert (again.family, again.reservoir, again.forecast) == (family, "xiaowan", forecast)


@every_family
@every_rule
def test_a_simulation_keeps_every_bound(training, ten_years, family, forecast):
    run = simulate(fit(family, training, forecast), training.model, ten_years, FULL)
    plant = training.model.reservoir
    release, storage = run.operation.release_m3s, run.operation.storage_hm3[:, 1:]
    assert np.all(release >= plant.by_step(plant.release_lower_m3s))
    assert np.all(release <= plant.by_step(plant.release_upper_m3s))
    assert np.all(storage >= plant.by_step(plant.storage_lower_hm3) - 1e-9)
    assert np.all(storage <= plant.by_step(plant.storage_upper_hm3) + 1e-9)


@every_family
@every_rule
def test_a_rule_never_sees_the_future(training, ten_years, family, forecast):
    from reservoir.hydro.inflow import Inflow

    rule = fit(family, training, forecast)
    shuffled = ten_years.flow_m3s.copy()
    shuffled[4, 7:], shuffled[5:] = shuffled[4, 7:][::-1].copy(), shuffled[5:][::-1].copy()
    once, again = (
        simulate(rule, training.model, Inflow(flow, ten_years.calendar), FULL, inflow_before_m3s=600.0)
        for flow in (ten_years.flow_m3s, shuffled)
    )
    known = 4 * 12 + 7 + (forecast is Forecast.NONE)  # without a forecast the changed month is itself still unknown
    assert np.array_equal(once.asked_m3s.ravel()[:known], again.asked_m3s.ravel()[:known])
    assert not np.array_equal(once.operation.storage_hm3, again.operation.storage_hm3)


@every_family
def test_without_a_forecast_a_rule_is_not_told_the_months_inflow(training, ten_years, family):
    told = []
    rule = fit(family, training, Forecast.NONE)

    class Listening(type(rule)):
        def releases(self, step, storage, now, before):
            told.append(now)
            return super().releases(step, storage, now, before)

    simulate(Listening.from_dict(rule.to_dict()), training.model, ten_years, FULL)
    assert set(told) == {None}


def test_the_guide_curve_is_the_median_of_the_plan_between_its_quartiles(training):
    rule = fit("guide-curve", training)
    assert np.allclose(rule.guide_hm3, np.median(training.storage_end_hm3, axis=0))
    assert np.all(np.array(rule.lower_hm3) <= rule.guide_hm3)
    assert np.all(np.array(rule.guide_hm3) <= rule.upper_hm3)


def test_the_guide_curve_is_reached_where_the_release_allows_it(training, ten_years):
    rule = fit("guide-curve", training)
    run = simulate(rule, training.model, ten_years, FULL)
    release = run.operation.release_m3s
    plant = training.model.reservoir
    free = release > plant.by_step(plant.release_lower_m3s)
    free &= release < plant.by_step(plant.release_upper_m3s)
    february = plant.months == 2  # its days differ from year to year, and a rule knows their mean
    miss = np.abs(run.operation.storage_hm3[:, 1:] - rule.guide_hm3)
    assert np.all(miss[free & ~february] < 1e-6)


def test_the_linear_rule_is_the_least_squares_fit_of_end_storage(training):
    rule = fit("linear", training)
    step = 6
    known = np.column_stack(
        [
            np.ones(training.years),
            training.storage_start_hm3[:, step],
            training.inflow_before_m3s[:, step],
            training.inflow_m3s[:, step],
        ]
    )
    expected = np.linalg.lstsq(known, training.storage_end_hm3[:, step], rcond=None)[0]
    fitted = np.array([rule.constant_hm3[step], *rule.factors[step]])
    assert known @ fitted == pytest.approx(known @ expected, abs=1e-5)


def test_the_standard_policy_makes_its_firm_power_while_water_lasts(training, ten_years):
    rule = fit("standard", training)
    run = simulate(rule, training.model, ten_years, FULL)
    assert rule.firm_mw == pytest.approx(19_000 * 1000 / 8766)
    kept = ~run.repaired & (run.asked_m3s > 300)
    assert np.median(run.operation.power_mw[kept]) == pytest.approx(rule.firm_mw, rel=0.05)


def test_an_unknown_family_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="guide-curve"):
        rule_from_dict({"family": "horoscope"})
