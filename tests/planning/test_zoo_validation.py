"""All solvers are validated on random reservoirs: what fails, and what is left out."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import DeviceError, Mistake
from reservoir.planning import validation as zoo_validation
from reservoir.planning.checks import all_pass
from reservoir.planning.validation import validate_zoo
from reservoir.problems.base import Problem
from reservoir.solvers import SOLVERS


@pytest.fixture
def few(monkeypatch):
    """Only some of the solvers are registered."""
    few = {name: SOLVERS[name] for name in ("lshade", "clpso-sequential", "dp")}
    monkeypatch.setattr(zoo_validation, "SOLVERS", few)
    return few


def test_every_registered_solver_but_the_reference_states_its_range():
    assert {name for name, solver in SOLVERS.items() if not np.isfinite(solver.zoo_gap)} == {"dp"}


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
    solve = zoo_validation.solve

    def too_small(problems: list[Problem], solver: str, **asked):
        if solver == "clpso-sequential":
            raise DeviceError(Mistake("the device is too small"))
        return solve(problems, solver=solver, **asked)

    monkeypatch.setattr(zoo_validation, "why_unusable", lambda name: "no driver" if name == "lshade" else "")
    monkeypatch.setattr(zoo_validation, "solve", too_small)
    checks, left = validate_zoo()
    assert checks == []
    assert left[0] == "lshade on random reservoirs (no driver)"
    assert left[1].startswith("clpso-sequential on random reservoirs (")
    assert "too small" in left[1]


def test_what_is_no_number_is_the_largest_of_some_reservoirs():
    one, other = zoo_validation._Measured(1, 0.1, 0.0, 0.0), zoo_validation._Measured(1, np.nan, 0.0, np.nan)
    both = zoo_validation._together([one, other])
    assert np.isnan([both.gap, both.float32_error]).all()
