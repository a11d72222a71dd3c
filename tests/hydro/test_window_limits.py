"""Limits of windows: run between the storages of a schedule, they give the schedule back."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.hydro.curves.curve import Table
from reservoir.hydro.horizon_limits import window_limits
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.operation import operate
from reservoir.hydro.plant import exact_plant
from reservoir.problems.reservoir.record import record_problems
from tests.year_ends import cyclic, free, valued

#: Windows of two horizons of two years: at the start, inside, at the end.
HORIZON = np.array([0, 1, 0, 1])
STEPS = np.array([0, 5, 17, 17])[:, np.newaxis] + np.arange(7)


def losing(reservoir):
    """With losses and a withdrawal."""
    return replace(
        reservoir,
        evaporation_mm=np.linspace(20.0, 150.0, 12),
        seepage_m3s=Table((20.0, 120.0), (0.1, 0.6)),
        withdrawal_m3s=np.linspace(0.5, 2.0, 12),
    )


@pytest.fixture(params=["fixed", "free", "cyclic", "with losses", "cyclic with losses", "valued with losses"])
def horizons(request, small, small_inflow):
    """Two horizons of two years each, in every kind of end."""
    ends = {"fixed": lambda given: given, "free": free, "cyclic": cyclic, "with losses": losing}
    ends |= {"cyclic with losses": lambda given: cyclic(losing(given))}
    ends |= {"valued with losses": lambda given: valued(losing(given), 0.1)}
    flow = np.concatenate([small_inflow.flow_m3s, small_inflow.flow_m3s[:1]])
    record = replace(small_inflow, flow_m3s=flow, calendar=replace(small_inflow.calendar, years=4))
    (batch,) = record_problems(ends[request.param](small), record, Horizon(2)).batches
    return batch


@pytest.fixture
def schedule(horizons):
    """What random releases of the horizons come to."""
    random = np.random.default_rng(5)
    return horizons.operate(random.uniform(horizons.lower, horizons.upper))


def test_the_releases_of_a_schedule_lead_through_its_storages(horizons, schedule, small):
    steps = STEPS if not horizons.limits.cyclic else (STEPS + 3) % 24  # one window runs over the end
    limits = window_limits(horizons.limits, HORIZON, steps, schedule.storage_hm3, schedule.release_m3s)
    drafts = schedule.draft_m3s[HORIZON[:, np.newaxis], steps]
    found = operate(exact_plant(small), limits.arrays(), drafts)
    assert not limits.cyclic
    assert found.storage_hm3[:, 1:] == pytest.approx(schedule.storage_hm3[HORIZON[:, np.newaxis], steps + 1], abs=1e-6)
    assert found.energy_gwh == pytest.approx(schedule.energy_gwh[HORIZON[:, np.newaxis], steps], rel=1e-6)


def test_a_window_ends_at_the_schedule_unless_the_horizon_ends_freely(horizons, schedule):
    limits = window_limits(horizons.limits, HORIZON, STEPS, schedule.storage_hm3, schedule.release_m3s)
    width = limits.storage_upper_hm3[:, -1] - limits.storage_lower_hm3[:, -1]
    is_free = horizons.limits.storage_upper_hm3[0, -1] > horizons.limits.storage_lower_hm3[0, -1]
    last = is_free and not horizons.limits.cyclic
    assert (width > 0).tolist() == [False, False, last, last]


def test_the_start_of_a_cyclic_horizon_stays_within_its_bounds(small, small_inflow):
    (batch,) = record_problems(cyclic(small), small_inflow, Horizon(None)).batches
    narrow = batch.limits.changed(start_bounds_hm3=[[60.0, 70.0]])
    storage = np.full((1, 37), 65.0)
    limits = window_limits(narrow, np.array([0]), np.arange(33, 39)[np.newaxis] % 36, storage, storage[:, 1:])
    assert (limits.storage_lower_hm3[0, 2], limits.storage_upper_hm3[0, 2]) == (60.0, 70.0)
    assert batch.limits.storage_lower_hm3[0, -1] < 60


@pytest.fixture
def slow(small, small_inflow):
    """A horizon of three years whose release may rise by 5 and fall by 4 m3/s, and a schedule of it."""
    limited = replace(small, ramp_up_m3s=5.0, ramp_down_m3s=4.0)
    (batch,) = record_problems(limited, small_inflow, Horizon(None)).batches
    return batch.limits, batch.operate(batch.limits.inflow_m3s)


def test_the_releases_beside_a_window_limit_its_first_and_its_last(slow):
    limits, schedule = slow
    release, steps = schedule.release_m3s[0], np.arange(12, 24)
    found = window_limits(limits, np.array([0]), steps[np.newaxis], schedule.storage_hm3, schedule.release_m3s)
    lower, upper = found.release_lower_m3s[0], found.release_upper_m3s[0]
    of_month = limits.release_lower_m3s[0, steps], limits.release_upper_m3s[0, steps]
    assert lower[0] == max(of_month[0][0], min(release[11] - 4, release[12]))
    assert upper[0] == min(of_month[1][0], max(release[11] + 5, release[12]))
    assert lower[-1] == max(of_month[0][-1], min(release[24] - 5, release[23]))
    assert upper[-1] == min(of_month[1][-1], max(release[24] + 4, release[23]))
    assert np.all(lower < upper)
    assert (lower[0], upper[-1]) != (of_month[0][0], of_month[1][-1])
    assert np.array_equal(lower[1:-1], of_month[0][1:-1])
    assert np.array_equal(upper[1:-1], of_month[1][1:-1])


def test_nothing_stands_beside_the_ends_of_a_horizon(slow):
    limits, schedule = slow
    whole = window_limits(limits, np.array([0]), np.arange(36)[np.newaxis], schedule.storage_hm3, schedule.release_m3s)
    assert np.array_equal(whole.release_lower_m3s, limits.release_lower_m3s)
    assert np.array_equal(whole.release_upper_m3s, limits.release_upper_m3s)
