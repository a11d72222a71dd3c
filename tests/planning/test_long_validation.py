"""Engines are validated on horizons of several years: those that can plan them, and the others are named."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.objectives import Horizon
from reservoir.planning import validation as long_validation
from reservoir.planning.checks import all_pass
from reservoir.planning.validation import not_checked_on, validate_horizon
from reservoir.solvers import SOLVERS, solve


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
    for name in (name for name, solver in SOLVERS.items() if solver.long_horizons and name != "dp"):
        assert f"{name} against dp, worst problem (absolute value)" in names
    assert not [name for name in names if "gap to dp" in name]  # of dp to itself


@pytest.mark.device
def test_an_engine_that_misses_the_optimum_fails(lake, record, device, monkeypatch):
    def worse(problems, *, solver, **call):
        found = solve(problems, solver=solver)
        return replace(found, fitness=found.fitness - 2e-6 * abs(found.fitness))

    monkeypatch.setattr(long_validation, "solve", worse)
    monkeypatch.setattr(long_validation, "able_solvers", lambda: ["dp", "dp-opencl"])
    _, checks = validate_horizon(lake, record, Horizon(None), device=device.name)
    failed = [check.check for check in checks if not check.passed]
    assert [name for name in failed if "dp-opencl against dp" in name]


def test_engines_made_for_years_are_named_with_the_reason():
    left = not_checked_on(Horizon(None))
    (short,) = [each for each in left if each.startswith("clpso")]
    assert all(name in short for name, solver in SOLVERS.items() if not solver.long_horizons)
    assert "cannot plan the horizon record; validate without --horizon" in short


def test_engines_that_cannot_run_here_are_named_with_the_reason(lake, record, monkeypatch):
    monkeypatch.setattr(long_validation, "why_unusable", lambda name: "no driver" if SOLVERS[name].opencl else "")
    plan, checks = validate_horizon(lake, record, Horizon(2))
    assert not [check for check in checks if "opencl" in check.check]
    assert all_pass(checks)
    assert "dp-opencl (no driver)" in not_checked_on(plan.horizon)


def test_settings_that_no_such_engine_has_are_refused(lake, record):
    with pytest.raises(InputError, match="bits: no solver that plans the horizon record has this setting"):
        validate_horizon(lake, record, Horizon(None), options={"bits": 8})
