"""What an operation is held against: what is guaranteed, or the firm power of the standard policy."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.objectives import Objective
from reservoir.hydro.system import System
from reservoir.rules import fit
from reservoir.rules.base.simulation import simulate
from reservoir.rules.base.targets import TOLERANCE, Targets, firm_powers


def without_guarantee(training):
    plain = replace(training.model.reservoir, guaranteed_energy_gwh=None)
    model = replace(training.model, system=System.of(plain))
    return replace(training, model=model)


def test_guaranteed_energy_is_the_target_and_its_steady_power_that_of_a_month(training):
    targets = Targets.of(training)
    assert targets == Targets.of_reservoir(training.model.reservoir)
    assert targets.guaranteed
    assert targets.annual_gwh == training.model.reservoir.guaranteed_energy_gwh
    assert targets.firm_mw * 24 * 365.25 / 1000 == pytest.approx(targets.annual_gwh)


def test_a_guaranteed_power_goes_before_an_energy(training):
    plant = replace(training.model.reservoir, guaranteed_power_mw=1500.0)
    targets = Targets.of_reservoir(plant)
    assert (targets.firm_mw, targets.annual_gwh) == (1500.0, plant.guaranteed_energy_gwh)
    alone = Targets.of_reservoir(replace(plant, guaranteed_energy_gwh=None))
    assert alone.annual_gwh == pytest.approx(1500.0 * 8.766)
    assert "guaranteed power" in alone.origin
    promised = replace(plant, guaranteed_power_mw=None, objective=Objective(firm_power_mw=900.0))
    found = Targets.of_reservoir(promised)
    assert (found.firm_mw, found.origin) == (900.0, "the firm power of the objective")


def test_without_a_guarantee_the_standard_policy_gives_the_target_in_nine_months_of_ten(training, ten_years):
    training = without_guarantee(training)
    targets = Targets.of(training)
    assert not targets.guaranteed
    assert targets.annual_gwh == pytest.approx(targets.firm_mw * 8.766)
    assert targets.firm_95_mw <= targets.firm_mw
    power = simulate(fit("standard", training), training.model, ten_years, training.start_hm3).operation.power_mw
    reached = np.mean(power >= targets.firm_mw * (1 - TOLERANCE))
    assert 0.9 <= reached < 0.93


def test_what_is_simulated_for_targets_is_so_once_for_the_same_years(training, monkeypatch):
    training, asked = without_guarantee(training), []
    monkeypatch.setattr("reservoir.rules.base.targets.firm_powers", lambda *given: asked.append(given) or (2.0, 1.0))
    assert Targets.of(training) is Targets.of(training)
    assert len(asked) == 1
    assert Targets.of(replace(training)).firm_95_mw == 1.0
    assert len(asked) == 2


def test_both_powers_are_found_at_once_as_each_alone(training):
    training = without_guarantee(training)
    assert firm_powers(training, [0.9, 0.95]) == [firm_powers(training, [share])[0] for share in (0.9, 0.95)]


def test_no_larger_power_is_given_so_often(training):
    training = without_guarantee(training)
    firm = firm_powers(training, [0.9])[0]
    assert firm_powers(training, [0.8])[0] >= firm >= firm_powers(training, [1.0])[0] > 0


def test_a_reservoir_that_guarantees_nothing_has_no_target_of_its_own(training):
    assert Targets.of_reservoir(without_guarantee(training).model.reservoir) is None
