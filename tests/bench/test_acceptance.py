"""A device is held to what it can be held to, and a quick trial to nothing but the constraints."""

from dataclasses import replace

import pytest

from reservoir.bench.case import CaseStudy
from reservoir.bench.experiment import RunBudget
from reservoir.planning.checks import all_pass
from reservoir.solvers import Solutions


def titles(checks):
    return [check.check for check in checks]


def checks_of(plan, device, runs, points, budget):
    data = {"runs": runs, "scaling": points}
    return CaseStudy(device=device, budget=budget, plan=plan, settings={}, data=data).acceptance()


def of_clpso(plan, **settings):
    """The plan as if CLPSO had found it."""
    found = [
        replace(each, solver="clpso", generations=10_000, settings={"particles": 40} | settings)
        for each in plan.solutions
    ]
    return replace(plan, solutions=Solutions.of(found))


def test_a_quick_trial_is_only_asked_to_keep_the_constraints(six_year_plan, two_cores, runs, points):
    checks = checks_of(of_clpso(six_year_plan), two_cores, runs, points, RunBudget(quick=True))
    assert len(checks) == 2
    assert all("violation" in title for title in titles(checks))


def test_two_cores_are_held_to_the_speed_up_and_more_are_not(six_year_plan, two_cores, runs, points):
    plan = of_clpso(six_year_plan)

    def speed_checks(units):
        device = replace(two_cores, compute_units=units)
        return [each for each in checks_of(plan, device, runs, points, RunBudget()) if "one thread" in each.check]

    (check,) = speed_checks(2)
    assert check.threshold == 8.0
    assert check.passed
    assert not speed_checks(8)


def test_a_slow_engine_fails(six_year_plan, two_cores, runs, points):
    slower = runs.assign(seconds=runs["seconds"].where(runs["engine"] != "clpso", 1.0))
    checks = checks_of(of_clpso(six_year_plan), two_cores, slower, points, RunBudget())
    assert not all_pass(check for check in checks if "one thread" in check.check)


def test_a_large_gpu_is_held_to_milliseconds_and_moves(six_year_plan, large_gpu, runs, points):
    checks = checks_of(of_clpso(six_year_plan), large_gpu, runs, points, RunBudget())
    (time,) = [check for check in checks if "device time, ms" in check.check]
    assert (time.value, time.threshold) == pytest.approx((57.5, 12.0))
    (moves,) = [check for check in checks if "moves" in check.check]
    assert (moves.value, moves.threshold) == pytest.approx((1.0, 25.0))
    assert not any("one thread" in title for title in titles(checks))


def test_a_larger_swarm_is_not_held_to_the_milliseconds(six_year_plan, large_gpu, runs, points):
    checks = checks_of(of_clpso(six_year_plan, particles=512), large_gpu, runs, points, RunBudget())
    assert not any("device time, ms" in title for title in titles(checks))


def test_devices_are_held_to_their_share(six_year_plan, two_cores, runs, points):
    shared = points.iloc[:2].assign(sweep="devices", devices=[1, 2], moves_per_second=[1e9, 1.7e9])
    checks = checks_of(of_clpso(six_year_plan), two_cores, runs, shared, RunBudget())
    (check,) = [check for check in checks if "devices" in check.check]
    assert check.value == pytest.approx(0.85)
    assert not check.passed
