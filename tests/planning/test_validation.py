"""Engines are validated on horizons of several years and on random reservoirs: what fails, and what is left out."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import DeviceError, InputError, Mistake
from reservoir.hydro.calendar import TimeStep
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.planning import validation
from reservoir.planning.checks import all_pass
from reservoir.planning.validation import not_checked_on, validate, validate_horizon, validate_zoo
from reservoir.problems.base import Problem
from reservoir.solvers import RESERVOIR_SOLVERS, solve
from tests.planning.test_shorter_steps import record as shorter


@pytest.fixture(scope="module")
def lake(small):
    return replace(small, initial_storage_hm3=50.0, final_storage_hm3=50.0, release_lower_m3s=np.full(12, 0.5))


@pytest.fixture(scope="module")
def record(small_inflow):
    return replace(small_inflow, flow_m3s=small_inflow.flow_m3s / 8)


@pytest.mark.device
@pytest.mark.parametrize("horizon", [2, None])
def test_engines_that_can_are_compared_with_dynamic_programming_on_the_host(horizon, lake, record, device):
    quick = {"evaluations": 5000, "generations": 300}
    plan, checks = validate_horizon(lake, record, Horizon(horizon), device=device.name, options=quick)
    assert all_pass(checks)
    assert (plan.solutions.solver, plan.horizon) == ("dp", Horizon(horizon))
    names = [check.check for check in checks]
    for name in (name for name, solver in RESERVOIR_SOLVERS.items() if solver.long_horizons and name != "dp"):
        assert f"{name} against dp, worst problem (absolute value)" in names
    assert not [name for name in names if "gap to dp" in name]  # of dp to itself


@pytest.mark.device
def test_an_engine_that_misses_the_optimum_fails(lake, record, device, monkeypatch):
    def worse(problems, *, solver, **call):
        found = solve(problems, solver=solver)
        return replace(found, fitness=found.fitness - 2e-6 * abs(found.fitness))

    monkeypatch.setattr(validation, "solve", worse)
    monkeypatch.setattr(validation, "able_solvers", lambda: ["dp", "dp-opencl"])
    _, checks = validate_horizon(lake, record, Horizon(None), device=device.name)
    failed = [check.check for check in checks if not check.passed]
    assert [name for name in failed if "dp-opencl against dp" in name]


def test_engines_made_for_years_are_named_with_the_reason():
    left = not_checked_on(Horizon(None))
    (short,) = [each for each in left if each.startswith("clpso")]
    assert all(name in short for name, solver in RESERVOIR_SOLVERS.items() if not solver.long_horizons)
    assert "cannot plan the horizon record; validate without --horizon" in short


def test_engines_that_cannot_run_here_are_named_with_the_reason(lake, record, monkeypatch):
    monkeypatch.setattr(validation, "why_unusable", lambda name: "no driver" if RESERVOIR_SOLVERS[name].opencl else "")
    plan, checks = validate_horizon(lake, record, Horizon(2))
    assert not [check for check in checks if "opencl" in check.check]
    assert all_pass(checks)
    assert "dp-opencl (no driver)" in not_checked_on(plan.horizon)


def test_settings_that_no_such_engine_has_are_refused(lake, record):
    with pytest.raises(InputError, match="bits: no solver that plans the horizon record has this setting"):
        validate_horizon(lake, record, Horizon(None), options={"bits": 8})


@pytest.mark.parametrize("horizon", ["year", "record"])
def test_limits_of_the_change_of_the_release_are_refused_with_the_reason(small, small_inflow, horizon):
    slow = replace(small, ramp_up_m3s=400.0, ramp_down_m3s=400.0)
    with pytest.raises(InputError, match=r"dynamic programming, which cannot limit the change.*remove ramp_up"):
        if horizon == "year":
            validate(slow, small_inflow, device=None)
        else:
            validate_horizon(slow, small_inflow, Horizon.of(horizon), device=None)


def test_years_of_shorter_steps_are_refused_with_what_validates_them(small):
    plant = replace(small, step=TimeStep.TEN_DAYS)
    with pytest.raises(InputError, match=r"years of months, not of ten-day periods.*--horizon record"):
        validate(plant, shorter(plant, TimeStep.TEN_DAYS, 1), device=None)


def test_gaps_of_costs_that_are_next_to_nothing_have_the_scale_of_plans(small, small_inflow, monkeypatch):
    """A target that is all but reached: what solvers leave of it is a large part of the cost, and none of any use."""
    objective = Objective({Goal.POWER_SHORTAGE: 1.0}, power_target_mw=np.full(12, 14.3))
    asks = replace(small, objective=objective, penalty=1e4)
    scale = validation.record_problems(asks, small_inflow, Horizon()).least_gap_scale
    worse, calls = 4e-5 * scale, []

    def solved(problems, *, solver, **call):
        found = solve(problems, **call | {"solver": solver})
        calls.append(solver)
        return replace(found, fitness=found.fitness - worse * (len(calls) % 2))

    monkeypatch.setattr(validation, "solve", solved)
    plan, checks = validate(asks, small_inflow.span(1, 2), device=None, runs=2)
    assert abs(plan.references.fitness[0]) < 1e-2 * scale
    gaps = [check for check in checks if "sequential: gap" in check.check or "totals" in check.check]
    assert len(gaps) == 7
    assert [check.check for check in gaps if not check.passed and "t-test" not in check.check] == []


@pytest.fixture
def few(monkeypatch):
    """Only some of the solvers are registered."""
    few = {name: RESERVOIR_SOLVERS[name] for name in ("lshade", "clpso-sequential", "dp")}
    monkeypatch.setattr(validation, "RESERVOIR_SOLVERS", few)
    return few


def test_every_registered_solver_but_the_reference_states_its_range():
    assert {name for name, solver in RESERVOIR_SOLVERS.items() if not np.isfinite(solver.zoo_gap)} == {"dp"}


def test_each_solver_is_held_to_its_range(few, device):
    told = []
    checks, left = validate_zoo(device=str(device.index), progress=lambda *each: told.append(each))
    assert [check.check for check in checks] == [
        "random reservoirs: lshade, worst gap to dp, 6 years",
        "random reservoirs: clpso-sequential, worst gap to dp, 1 year",
        "random reservoirs: largest of all solvers, violation of limits that dp keeps",
        "random reservoirs: largest of all solvers, float32 fitness against float64",
    ]
    assert [check.threshold for check in checks[:2]] == [few[name].zoo_gap for name in ("lshade", "clpso-sequential")]
    assert all_pass(checks)
    assert checks[3].value > 0
    assert left == []
    assert told[-1] == ("random reservoirs", 2, 2)
    few["clpso-sequential"] = replace(few["clpso-sequential"], zoo_gap=checks[1].value / 2)
    del few["lshade"]
    strict, _ = validate_zoo()
    assert [check.passed for check in strict] == [False, True, True]


def test_solvers_that_cannot_run_are_named_with_the_reason(few, monkeypatch):
    solve = validation.solve

    def too_small(problems: list[Problem], solver: str, **asked):
        if solver == "clpso-sequential":
            raise DeviceError(Mistake("the device is too small"))
        return solve(problems, solver=solver, **asked)

    monkeypatch.setattr(validation, "why_unusable", lambda name: "no driver" if name == "lshade" else "")
    monkeypatch.setattr(validation, "solve", too_small)
    checks, left = validate_zoo()
    assert checks == []
    assert left[0] == "lshade on random reservoirs (no driver)"
    assert left[1].startswith("clpso-sequential on random reservoirs (")
    assert "too small" in left[1]


def test_what_is_no_number_is_the_largest_of_some_reservoirs():
    one, other = validation._Measured(1, 0.1, 0.0, 0.0), validation._Measured(1, np.nan, 0.0, np.nan)
    both = validation._together([one, other])
    assert np.isnan([both.gap, both.float32_error]).all()
