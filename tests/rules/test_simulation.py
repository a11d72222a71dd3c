from typing import Literal

import numpy as np
import pytest

from reservoir.rules import Forecast, Rule, fit
from reservoir.rules.base.simulation import simulate

FULL = 14557.0


class Greedy(Rule):
    """Asks for the impossible."""

    family: Literal["greedy"]
    wanted: float

    def releases(self, step, storage, now, before):
        return np.full(len(storage), self.wanted)


def test_storage_is_carried_over_in_a_continuous_run_and_not_in_a_yearly_one(training, ten_years):
    rule = fit("standard", training)
    continuous = simulate(rule, training.model, ten_years, FULL).operation.storage_hm3
    yearly = simulate(rule, training.model, ten_years, FULL, continuous=False).operation.storage_hm3
    assert np.array_equal(continuous[1:, 0], continuous[:-1, -1])
    assert np.all(yearly[:, 0] == FULL)


def test_years_that_start_anew_come_to_the_same_alone(training, ten_years):
    rule = fit("linear", training)
    together = simulate(rule, training.model, ten_years, FULL, continuous=False)
    for year in range(1, 10):
        before = ten_years.flow_m3s[year - 1, -1]
        alone = simulate(rule, training.model, ten_years.span(year, year + 1), FULL, inflow_before_m3s=before)
        assert np.array_equal(together.asked_m3s[year], alone.asked_m3s[0])
        assert np.array_equal(together.operation.power_mw[year], alone.operation.power_mw[0])


def test_the_water_balance_of_a_simulation_closes(training, ten_years):
    run = simulate(fit("linear", training), training.model, ten_years, FULL)
    storage = run.operation.storage_hm3
    gained = (ten_years.flow_m3s - run.operation.release_m3s) * ten_years.calendar.hm3_per_m3s
    assert np.abs(storage[:, :-1] + gained - storage[:, 1:]).max() < 1e-9 * FULL


@pytest.mark.parametrize("wanted", [-1e6, 1e6])
def test_whatever_a_rule_asks_for_the_limits_hold_and_the_repairs_are_counted(training, ten_years, wanted):
    run = simulate(Greedy.fitted(training, Forecast.MONTH, wanted=wanted), training.model, ten_years, FULL)
    assert run.repaired.all()
    assert run.operation.violation.sum() == 0


def test_a_rule_that_keeps_within_the_limits_is_never_repaired(training, ten_years):
    run = simulate(fit("guide-curve", training), training.model, ten_years, FULL)
    assert run.repaired.sum() == 0
    assert np.array_equal(run.operation.release_m3s, run.asked_m3s)
