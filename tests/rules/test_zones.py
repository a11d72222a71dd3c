import copy
import json
from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import Calendar
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.plant import plant_of
from reservoir.planning.plan import optimise
from reservoir.rules import Forecast, Training
from reservoir.rules.base.simulation import simulate
from reservoir.rules.families import zones, zones_operation
from reservoir.rules.families.zones_operation import Charts, Trial
from tests.rules.stored import energy_at_equal_storage

FULL = 14557.0
every_forecast = pytest.mark.parametrize("forecast", Forecast)


@pytest.fixture(scope="module")
def six_years(inflow) -> Inflow:
    return Inflow(flow_m3s=inflow.flow_m3s[:6], calendar=Calendar(1953, 6))


@pytest.fixture(scope="module")
def training(xiaowan, six_years) -> Training:
    return Training.of(optimise(xiaowan, six_years, solver="dp"))


@pytest.fixture(scope="module")
def rules(training):
    return {forecast: zones_operation.fit(training, forecast) for forecast in Forecast}


def power(model, storage, release):
    plant = model.reservoir
    head = plant.level(storage) - plant.tailrace(release)
    turbined = min(release, plant.capacity_m3s(head))
    return min(float(plant_of(plant).conversion(head) * turbined), plant.installed_mw)


@every_forecast
def test_curves_never_cross_and_stay_within_the_storage_bounds(rules, forecast):
    rule = rules[forecast]
    stack = np.vstack([np.roll(rule.storage_lower_hm3, 1), rule.curves_hm3, np.roll(rule.storage_upper_hm3, 1)])
    assert np.all(np.diff(stack, axis=0) >= 0)


@every_forecast
def test_outputs_rise_from_zone_to_zone_and_hold_the_guaranteed_and_the_installed_one(rules, forecast):
    outputs = rules[forecast].outputs_mw
    assert np.all(np.diff(outputs) > 0)
    assert outputs[1] == pytest.approx(19_000 * 1000 / 8766)
    assert outputs[3] == pytest.approx(4200)


@every_forecast
def test_a_fuller_lake_is_never_in_a_lower_zone_nor_makes_less_output(rules, training, forecast):
    rule = rules[forecast]
    for step in range(12):
        bounds = rule.storage_lower_hm3[step - 1], rule.storage_upper_hm3[step - 1]
        storages = np.linspace(*bounds, 60)
        places = [zones.ZONES.index(rule.zone(step, storage)) for storage in storages]
        made = [power(training.model, storage, rule.release(step, storage, None, 700.0)) for storage in storages]
        assert np.all(np.diff(places) >= 0)
        assert np.all(np.diff(made) > -0.005 * 4200)  # what joining the table by straight lines may lose


def test_a_release_makes_the_output_of_its_zone_at_the_start_storage(rules, training):
    rule, step = rules[Forecast.MONTH], 4
    storages = np.linspace(9_000.0, 14_000.0, 20)
    outputs = dict(zip(zones.ZONES, rule.outputs_mw, strict=True))
    for storage in storages:
        wanted = outputs[rule.zone(step, storage)]
        release = rule.release(step, storage, 900.0, 700.0)
        if rule.months.release_lower_m3s[step] < release < rule.months.release_upper_m3s[step]:
            assert power(training.model, storage, release) == pytest.approx(wanted, rel=0.01)


def test_with_a_forecast_a_full_lake_releases_what_would_not_fit(rules):
    rule = rules[Forecast.MONTH]
    assert rule.release(7, rule.storage_upper_hm3[6], 5_000.0, 2_000.0) >= 5_000.0 - 1e-9


def test_a_storage_on_a_curve_is_in_the_zone_below_whatever_its_rounding(rules):
    rule = rules[Forecast.MONTH]
    on = rule.curves_hm3[0][0]
    assert rule.zone(0, on) == rule.zone(0, on * (1 + 1e-12)) == rule.zone(0, on * (1 - 1e-12)) == "reduced"


@every_forecast
def test_it_makes_at_least_the_standard_rules_energy_on_its_training_years(rules, training, six_years, forecast):
    energies = [
        energy_at_equal_storage(simulate(rule, training.model, six_years, FULL), FULL)
        for rule in (rules[forecast], zones.fit_standard(training, forecast))
    ]
    assert energies[0] >= energies[1]


@every_forecast
def test_the_search_operates_the_years_as_the_simulation_does(rules, training, six_years, forecast):
    rule, trial = rules[forecast], Trial.of(training, forecast)
    levels = np.searchsorted(trial.outputs_mw, rule.outputs_mw)[None]
    _, storages = trial.operate(Charts(np.array([rule.curves_hm3]), levels))
    run = simulate(rule, training.model, six_years, FULL)
    assert np.abs(storages[1:] - run.operation.storage_hm3[:, 1:].ravel()).max() < 1e-6


@every_forecast
def test_a_chart_is_worth_the_same_alone_as_after_others(rules, training, forecast):
    rule, trial = rules[forecast], Trial.of(training, forecast)
    curves = np.array([rule.curves_hm3]) * np.linspace(0.7, 1.0, 8)[:, None, None]
    levels = np.repeat(np.searchsorted(trial.outputs_mw, rule.outputs_mw)[None], 8, axis=0)
    alone = [trial.operate(Charts(curves[[chart]], levels[[chart]]))[0][0] for chart in range(8)]
    together, _ = trial.operate(Charts(curves, levels))
    assert together == pytest.approx(alone, rel=1e-12)


@every_forecast
def test_it_is_fitted_the_same_again(rules, training, forecast):
    assert zones_operation.fit(training, forecast) == rules[forecast]


@every_forecast
def test_a_round_trip_through_json_gives_an_equal_rule(rules, forecast):
    rule = rules[forecast]
    assert zones.ZonesRule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@pytest.mark.parametrize("installed_mw", [3.0, 5.0])
def test_a_plant_that_always_runs_at_its_capacity_has_a_chart(small, small_inflow, installed_mw):
    plan = optimise(replace(small, installed_mw=installed_mw), small_inflow, solver="dp", reference=False)
    assert plan.operation.power_mw.min() == pytest.approx(installed_mw)
    rule = zones_operation.fit(Training.of(plan), Forecast.MONTH)
    assert rule.outputs_mw[-1] == pytest.approx(installed_mw)
    assert (np.diff(rule.outputs_mw) > 0).all()


def crossing(content):
    content["curves_hm3"][0][3] = content["curves_hm3"][1][3] + 1


def above_the_bound(content):
    content["curves_hm3"][2][5] = 20_000.0


def month_missing(content):
    del content["curves_hm3"][1][-1]


def bounds_month_missing(content):
    del content["months"]["inflow_m3s"][0]


def curve_missing(content):
    del content["curves_hm3"][2]


def not_finite(content):
    content["curves_hm3"][1][2] = float("nan")


def words(content):
    content["release_m3s"][0][4] = "much"


def falling(content):
    content["outputs_mw"].reverse()


def output_missing(content):
    content["outputs_mw"].pop()


def short_table(content):
    content["release_m3s"][3].pop()


def level_table(content):
    content["storage_hm3"][1] = content["storage_hm3"][0]


def bounds_cross(content):
    content["storage_upper_hm3"][7] = 0.0


def nothing(content):
    del content["storage_upper_hm3"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (crossing, r"curves_hm3\[1\]\[3\]: is below curves_hm3\[0\] in Apr .*; expected .* or more"),
        (
            above_the_bound,
            r"curves_hm3\[2\]\[5\]: is above storage_upper_hm3 of the previous month in Jun \(found 20000",
        ),
        (month_missing, r"curves_hm3\[1\]: has the wrong number of values \(found 11\); expected 12, one per month"),
        (bounds_month_missing, r"months\.inflow_m3s: has the wrong number of values"),
        (curve_missing, "curves_hm3: has the wrong number of values .found 2.; expected 3"),
        (output_missing, "outputs_mw: has the wrong number of values .found 3.; expected 4, one per zone"),
        (not_finite, r"curves_hm3\[1\]\[2\]: is not a finite number \(found nan\)"),
        (words, r"release_m3s\[0\]\[4\]: is not a number \(found \"much\"\)"),
        (
            short_table,
            r"release_m3s\[3\]: has the wrong number of values .* expected 41, one for each value of storage_hm3",
        ),
        (falling, r"outputs_mw\[1\]: is less than the previous value"),
        (level_table, r"storage_hm3\[1\]: is equal to the previous value"),
        (bounds_cross, r"storage_upper_hm3\[7\]: is below storage_lower_hm3 in Aug \(found 0\.0\)"),
        (nothing, "storage_upper_hm3: is missing"),
    ],
)
def test_an_edited_rule_is_refused_with_what_and_where(rules, edit, said):
    content = copy.deepcopy(rules[Forecast.MONTH].to_dict())
    edit(content)
    with pytest.raises(InputError, match=said):
        zones.ZonesRule.from_dict(content)
