"""What an operation is held against: what is guaranteed, or what the plan's poorest months make."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.rules.base.targets import Targets


def without_guarantee(training):
    model = replace(training.model, reservoir=replace(training.model.reservoir, guaranteed_energy_gwh=None))
    return replace(training, model=model)


def test_guaranteed_energy_is_the_target_and_its_steady_power_that_of_a_month(training):
    targets = Targets.of(training)
    assert targets == Targets.of_reservoir(training.model.reservoir)
    assert targets.guaranteed
    assert targets.annual_gwh == training.model.reservoir.guaranteed_energy_gwh
    assert targets.firm_mw * 24 * 365.25 / 1000 == pytest.approx(targets.annual_gwh)


def test_without_a_guarantee_nine_months_of_ten_exceed_the_target(training):
    targets = Targets.of(without_guarantee(training))
    assert not targets.guaranteed
    assert np.mean(training.power_mw > targets.firm_mw) == pytest.approx(0.9, abs=0.01)
    assert targets.annual_gwh == pytest.approx(targets.firm_mw * 8.766)


def test_a_reservoir_that_guarantees_nothing_has_no_target_of_its_own(training):
    assert Targets.of_reservoir(without_guarantee(training).model.reservoir) is None
