"""The family that re-plans every month with an ensemble of futures."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.flood_space import FloodSpace
from reservoir.rules import Forecast, fit
from reservoir.rules.advice import Situation
from reservoir.rules.base.physics import LakeMonths, ObjectiveMonths, Physics
from reservoir.rules.base.simulation import simulate
from reservoir.rules.families.replan import outlook, step_tables


@pytest.fixture(scope="module")
def rule(training, forecast):
    return fit("replan", training, forecast).changed(members=40)


def situations(training, step):
    storage = np.linspace(*training.model.reservoir.storage_bounds_hm3[:, step], 5)
    return storage, training.inflow_m3s[:5, step], training.inflow_before_m3s[:5, step]


@pytest.mark.parametrize("step", [0, 4, 11])
def test_decisions_prepared_together_are_those_made_one_by_one(rule, training, step):
    storage, now, before = situations(training, step)
    known = now if rule.forecast is Forecast.MONTH else [None] * 5
    alone = [rule.changed().release(step, *each) for each in zip(storage, known, before, strict=True)]
    fresh = rule.changed()
    fresh.prepare(np.full(5, step), now if rule.forecast is Forecast.MONTH else None, before)
    assert [fresh.release(step, *each) for each in zip(storage, known, before, strict=True)] == alone


def test_the_seed_the_members_and_the_months_ahead_count(rule, training):
    def decided(**changes):
        changed, found = rule.changed(**changes), []
        for step in range(12):
            storage, now, before = situations(training, step)
            known = now[0] if rule.forecast is Forecast.MONTH else None
            found += [changed.release(step, each, known, before[0]) for each in storage]
        return found

    assert decided() == decided()
    assert decided() != decided(seed=2)
    assert decided() != decided(members=3)
    assert decided() != decided(months_ahead=12)


def test_with_one_month_of_futures_it_decides_much_as_stochastic_dynamic_programming(rule, training):
    """Both know the same: the classes of the chain stand for the distribution that futures are drawn from."""
    short = rule.changed(months_ahead=1, members=200)
    for step in range(12):
        storage, now, before = situations(training, step)
        known = now if rule.forecast is Forecast.MONTH else [None] * 5
        for each in zip(storage, known, before, strict=True):
            most = training.model.reservoir.release_bounds_m3s[1, step]
            assert short.release(step, *each) == pytest.approx(rule.end.release(step, *each), abs=0.15 * most)


def test_it_makes_no_less_than_stochastic_dynamic_programming(rule, training, ten_years):
    made = {
        name: simulate(each, training.model, ten_years, training.start_hm3).energy_gwh.sum()
        for name, each in {"replan": rule, "sdp": rule.end}.items()
    }
    assert made["replan"] >= 0.997 * made["sdp"]


def test_tables_have_losses_demands_and_other_objectives(training):
    """Terms and conditions of the steps reach the tables by the functions of the step."""
    physics = Physics.of(training)
    given, usual = {name: getattr(physics, name) for name in Physics.model_fields}, step_tables(physics)
    ends = (float(min(physics.storage_lower_hm3)), float(max(physics.storage_upper_hm3)))
    lake = LakeMonths(
        evaporation_mm=[100.0] * 12,
        withdrawal_m3s=[20.0] * 12,
        plant_factor=[0.5] * 12,
        power_lower_mw=[100.0] * 12,
        storage_hm3=ends,
        area_km2=[50.0, 50.0],
        seepage_m3s=[2.0, 2.0],
        operating_storage_hm3=5_000.0,
    )
    lossy = step_tables(Physics(**{**given, "lake": lake}))
    assert not usual.losses_hm3.any()
    assert lossy.losses_hm3[3] == pytest.approx(5 + 2 * physics.months.volume_per_flow[3])
    # At half the plant factor no draft makes more than half the installed capacity.
    installed = physics.plant.installed_mw
    thousand_hours = np.array(physics.months.volume_per_flow) / 3.6  # of each month
    assert (lossy.benefit.max(axis=(1, 2)) <= 0.5 * installed * thousand_hours * (1 + 1e-9)).all()
    assert (usual.benefit.max(axis=(1, 2)) > 0.6 * installed * thousand_hours).all()
    assert lossy.benefit[0, 0, 0] < -physics.penalty_gwh * 0.9  # turbines stand still: the lowest power is missed
    none = [0.0] * 12
    objective = ObjectiveMonths(
        offset=[1.0] * 12,
        power_value=[2.0] * 12,
        power_target=none,
        power_cost_squared=none,
        supply_target=none,
        supply_cost_squared=none,
    )
    worth = step_tables(Physics(**{**given, "objective": objective}))
    assert worth.benefit[5] == pytest.approx(1 + 2 * usual.benefit[5] / thousand_hours[5])


@pytest.fixture(scope="module")
def ahead(rule, training):
    situation = Situation(5, 9000.0, 1400.0, 900.0)
    return outlook(rule, training.model.reservoir, situation, 1500.0, 18)


def test_an_outlook_balances_water_and_keeps_the_limits(ahead, rule, training):
    plant, volume = training.model.reservoir, np.array(rule.months.volume_per_flow)[ahead.steps]
    inflow = np.diff(ahead.storage_hm3, axis=1) / volume + ahead.release_m3s
    first = (900.0 if rule.forecast is Forecast.NONE else 1400.0,)
    assert ahead.storage_hm3.shape == (40, 19)
    assert list(ahead.calendar_month[:8]) == [6, 7, 8, 9, 10, 11, 12, 1]
    if rule.forecast is Forecast.MONTH:
        assert inflow[:, 0] == pytest.approx(np.full(40, 1400.0))
        assert inflow[:, 1:] == pytest.approx(rule.futures(5, np.array([[1400.0, 900.0]]), 17)[0])
    else:
        assert inflow == pytest.approx(rule.futures(5, np.array([first]), 18)[0])
    assert ahead.release_m3s[:, 0] == pytest.approx(np.full(40, 1500.0))
    lower, upper = plant.release_bounds_m3s[:, ahead.steps]
    assert (ahead.release_m3s >= lower - 1e-9).all()
    assert (ahead.release_m3s <= upper + 1e-9).all()
    assert (ahead.spill_m3s >= 0).all()


def test_its_probabilities_are_parts_of_the_futures(ahead):
    full = 14557.0 - 0.005 * (14557.0 - ahead.lowest_hm3)
    assert ahead.refill_probability == np.mean([each[1:].max() >= full for each in ahead.storage_hm3])
    assert ahead.spill_probability == np.mean(
        [(spill > 0.0005 * release).any() for spill, release in zip(ahead.spill_m3s, ahead.release_m3s, strict=True)]
    )
    assert replace(ahead, firm_mw=None).firm_probability is None
    assert replace(ahead, firm_mw=0.0).firm_probability == 1.0
    assert replace(ahead, firm_mw=1e6).firm_probability == 0.0


def test_an_outlook_keeps_the_flood_space_of_its_month_and_the_mean_of_the_rule_later(rule, training):
    space = FloodSpace("snow", (0.0, 1.0), [np.full(12, 14_557.0), np.full(12, 9_000.0)])
    plant = replace(training.model.reservoir, flood_space=space)
    wet = outlook(rule, plant, Situation(5, 9_000.0, 1_400.0, 900.0, flood_index=1.0), 1_000.0, 4)
    assert wet.upper_hm3.tolist() == [9_000.0, *np.array(rule.end.storage_upper_hm3)[wet.steps[1:]]]
    assert (wet.storage_hm3[:, 1] <= 9_000.0 + 1e-6).all()
    dry = outlook(rule, plant, Situation(5, 9_000.0, 1_400.0, 900.0, flood_index=0.0), 1_000.0, 4)
    assert (dry.storage_hm3[:, 1] > 9_000.0).all()


def test_a_longer_outlook_begins_with_the_shorter_one(ahead, rule, training):
    shorter = outlook(rule, training.model.reservoir, Situation(5, 9000.0, 1400.0, 900.0), 1500.0, 6)
    assert shorter.storage_hm3 == pytest.approx(ahead.storage_hm3[:, :7])
