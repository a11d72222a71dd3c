"""The family that re-plans every month with an ensemble of futures."""

import numpy as np
import pytest

from reservoir.hydro.benefit import StepTerms
from reservoir.hydro.conditions import YearConditions
from reservoir.rules import Forecast, fit
from reservoir.rules.base.simulation import simulate
from reservoir.rules.families.replan.step_tables import step_tables
from reservoir.rules.families.sdp.month_physics import Physics


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
    physics, twelve = Physics.of(training), np.ones(12)
    usual = step_tables(physics)
    conditions = YearConditions(
        evaporation=0.1 * twelve,
        withdrawal=20.0 * twelve,
        plant_factor=0.5 * twelve,
        power_lower=100.0 * twelve,
        tilt_lower=0 * twelve,
        tilt_upper=0 * twelve,
        middle_start=0.0,
        per_shortage=0.01 * twelve,
        area=lambda storage: 50 + 0 * storage,
        seepage=lambda storage: 2 + 0 * storage,
        operating_storage=5_000.0,
        ramp_up=1e9,
        ramp_down=1e9,
        end_value=0.0,
    )
    lossy = step_tables(physics, conditions)
    assert not usual.losses_hm3.any()
    assert lossy.losses_hm3[3] == pytest.approx(5 + 2 * physics.months.volume_per_flow[3])
    # At half the plant factor no draft makes more than half the installed capacity.
    installed = physics.plant.installed_mw
    thousand_hours = np.array(physics.months.volume_per_flow) / 3.6  # of each month
    assert (lossy.benefit.max(axis=(1, 2)) <= 0.5 * installed * thousand_hours * (1 + 1e-9)).all()
    assert (usual.benefit.max(axis=(1, 2)) > 0.6 * installed * thousand_hours).all()
    assert lossy.benefit[0, 0, 0] < -physics.penalty_gwh * 0.9  # turbines stand still: the lowest power is missed
    terms = StepTerms(*(value * twelve for value in (1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    worth = step_tables(physics, terms=terms)
    assert worth.benefit[5] == pytest.approx(1 + 2 * usual.benefit[5] / thousand_hours[5])
