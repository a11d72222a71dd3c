"""Stages of a plan's solvers: cut where a device took part, and never longer or shorter than they were."""

from dataclasses import replace

import pytest

from reservoir.planning.plan import Plan, solver_stages
from reservoir.solvers import Solutions

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
    assert list(six_year_plan.seconds) == ["prepare", "devices", "dp", "certify"]
    assert all(seconds >= 0 for seconds in six_year_plan.seconds.values())
