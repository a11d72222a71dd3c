"""Stages of a run never overlap, and with the rest make the total; solvers' are cut where a device took part."""

from dataclasses import replace

import pytest

from reservoir.planning.plan import Plan, solver_stages
from reservoir.planning.stopwatch import Profile, Stopwatch, untimed
from reservoir.solvers import Solutions


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.now = 100.0

    def pass_seconds(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    own = Clock()
    monkeypatch.setattr("reservoir.planning.stopwatch.time.perf_counter", lambda: own.now)
    return own


def test_a_stage_is_as_long_as_its_block(clock):
    watch = Stopwatch()
    with watch("read"):
        clock.pass_seconds(2)
    assert watch.seconds == {"read": 2}


def test_a_stage_inside_another_pauses_it_and_stands_behind_it(clock):
    watch = Stopwatch()
    with watch("write"):
        clock.pass_seconds(1)
        with watch("report"):
            clock.pass_seconds(5)
        clock.pass_seconds(2)
    assert list(watch.seconds.items()) == [("write", 3), ("report", 5)]


def test_a_stage_that_comes_again_adds_up(clock):
    watch = Stopwatch()
    for seconds in (1, 4):
        with watch("figure"):
            clock.pass_seconds(seconds)
    assert watch.seconds == {"figure": 5}


def test_a_stage_that_fails_is_counted_and_ended(clock):
    watch = Stopwatch()
    with pytest.raises(ValueError, match="broken"), watch("read"):
        clock.pass_seconds(3)
        raise ValueError("broken")
    clock.pass_seconds(9)
    assert watch.seconds == {"read": 3}


def test_stages_and_rest_make_the_total_since_the_run_began(clock):
    watch = Stopwatch(began=clock.now - 4)
    watch.add({"start": 4})
    clock.pass_seconds(1)
    with watch("read"):
        clock.pass_seconds(3)
    profile = watch.profile()
    assert profile == Profile({"start": 4, "read": 3}, total_seconds=8)
    assert profile.rows() == [("start", 4, 0.5), ("read", 3, 0.375), ("rest", 1, 0.125)]


def test_nothing_need_be_timed(clock):
    with untimed("read"):
        clock.pass_seconds(1)


SECONDS = {"prepare": 0.1, "dp": 4.0, "certify": 0.2}


def plan_with(six_year_plan: Plan, **solved) -> Plan:
    solutions = replace(six_year_plan.solutions, **solved)
    return replace(six_year_plan, solutions=solutions, references=Solutions.of([]), seconds=SECONDS)


def test_a_solver_on_the_host_is_one_stage(six_year_plan: Plan):
    assert solver_stages(plan_with(six_year_plan)) == SECONDS


def test_a_solver_on_a_device_is_programs_device_and_host(six_year_plan: Plan):
    stages = solver_stages(
        plan_with(six_year_plan, device_seconds=2.5, host_seconds_by_phase={"build": 0.5, "wait": 2.6})
    )
    assert list(stages) == ["prepare", "dp: programs", "dp: device", "dp: host", "certify"]
    assert stages["dp: programs"] == 0.5
    assert stages["dp: device"] == 2.5
    assert sum(stages.values()) == pytest.approx(sum(SECONDS.values()))


def test_seconds_of_several_devices_that_overlap_are_not_cut(six_year_plan: Plan):
    assert solver_stages(plan_with(six_year_plan, device_seconds=3.0, host_seconds_by_phase={"build": 2.0})) == SECONDS


def test_a_plan_tells_the_seconds_of_all_that_was_done(six_year_plan: Plan):
    assert list(six_year_plan.seconds) == ["prepare", "devices", "dp", "certify", "year end"]
    assert all(seconds >= 0 for seconds in six_year_plan.seconds.values())
