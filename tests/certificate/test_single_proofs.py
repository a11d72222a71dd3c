"""Whole proofs in float32 are valid, and end at gaps that are useful."""

from __future__ import annotations

import numpy as np
import pytest

from reservoir import bundled_case
from reservoir.certificate.bound import Effort, prove_bound
from reservoir.certificate.together import prove_together
from reservoir.problems.reservoir.year import reservoir_problems
from tests.certificate.test_proofs_together import CASES, known_of

#: What is proved of the bundled years, and less than what can be proved in float32.
GAP, FLOOR = 1e-5, 5e-6


def gaps_of(found, horizons):
    """Of the horizons with a schedule, by how much the bound exceeds its fitness, as a part of the bound."""
    fitness = np.array([np.nan if each.fitness is None else each.fitness for each in horizons])
    bounds = np.array([each.bound for each in found])
    return ((bounds - fitness) / np.abs(bounds))[np.isfinite(fitness)]


def test_all_bundled_years_are_proved(device):
    case = bundled_case()
    horizons = known_of(reservoir_problems(case.reservoir(), case.inflow()))
    gaps = gaps_of(prove_together(device, horizons, Effort(GAP, 600.0, 2), single=True), horizons)
    assert len(gaps) == 62
    assert gaps.min() > FLOOR
    assert gaps.max() <= GAP


@pytest.mark.parametrize("name", ["losses", "cyclic"])
def test_horizons_are_proved_as_in_double(name, device):
    horizons, effort = known_of(CASES[name]), Effort(1e-4, 600.0, 2)
    found, double = (
        prove_together(device, horizons, effort, single=True),
        [prove_bound(*each, effort) for each in horizons],
    )
    assert [each.infeasible_step for each in found] == [each.infeasible_step for each in double]
    assert np.all(gaps_of(found, horizons) >= 0)
    np.testing.assert_allclose(gaps_of(found, horizons), gaps_of(double, horizons), rtol=0, atol=4e-5)
