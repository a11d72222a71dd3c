"""Schedules take what windows find only where the whole horizon becomes better."""

import numpy as np
import pytest

from reservoir.hydro.objectives import Horizon
from reservoir.hydro.operation import joined
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers.windows.sweeps import Places, Schedules
from tests.year_ends import cyclic


@pytest.fixture
def schedules(small, small_inflow) -> Schedules:
    return Schedules(record_problems(small, small_inflow, Horizon(None)).batches[0])


def operation_of(schedules: Schedules, changes: dict[int, float]):
    """The schedule with other releases in some steps, as one window over the whole horizon runs it."""
    releases = schedules.release_m3s.copy()
    for step, change in changes.items():
        releases[0, step] += change
    return schedules.horizons.operate(releases)


def test_the_first_schedule_is_feasible(schedules):
    assert schedules.horizons.certify(schedules.positions).violation.tolist() == [0.0]


def test_the_first_schedule_of_a_cyclic_horizon_ends_as_it_began(small, small_inflow):
    found = Schedules(record_problems(cyclic(small), small_inflow, Horizon(None)).batches[0])
    assert found.horizons.certify(found.positions).violation.tolist() == [0.0]
    assert found.storage_hm3[0, 0] == pytest.approx(found.storage_hm3[0, -1], abs=1e-6)


def test_what_makes_a_horizon_worse_is_not_taken_whatever_a_window_says(schedules):
    before, releases = schedules.fitness.copy(), schedules.release_m3s.copy()
    places = Places(np.array([0]), np.arange(36)[np.newaxis])
    schedules.accept(places, np.array([5.0]), operation_of(schedules, {30: 500.0}))
    assert np.array_equal(schedules.fitness, before)
    assert np.array_equal(schedules.release_m3s, releases)


def test_of_windows_that_are_worse_together_the_good_ones_are_taken(schedules):
    """A month of full release wastes water; a little less spill early gains."""
    whole = Places(np.array([0]), np.arange(36)[np.newaxis])
    trials = {
        (step, change): operation_of(schedules, {step: change}) for step in range(6, 20) for change in (-3.0, 3.0)
    }
    gains = {key: float(each.fitness(schedules.horizons.penalty)[0]) for key, each in trials.items()}
    best, worst = max(gains, key=gains.get), min(gains, key=gains.get)
    before = float(schedules.fitness[0])
    assert gains[worst] < before < gains[best]
    both = Places(np.zeros(2, np.intp), np.repeat(whole.steps, 2, axis=0))
    rows = [trials[worst], trials[best]]
    schedules.accept(both, np.array([2.0, 1.0]), joined(rows))
    assert schedules.fitness[0] == pytest.approx(gains[best], rel=1e-9)
