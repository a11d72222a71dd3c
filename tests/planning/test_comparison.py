"""Solvers side by side on the same years."""

from dataclasses import replace

import pytest

from reservoir.errors import InputError
from reservoir.hydro.calendar import TimeStep
from reservoir.planning import comparison
from reservoir.planning.comparison import compare
from tests.planning.test_shorter_steps import record


def test_a_solver_is_compared_with_its_own_settings_and_not_with_sizes_of_others(xiaowan, inflow):
    years = inflow.span(0, 2)
    coarse, fine, same = (
        compare(xiaowan, years, solvers=["dsmga2"], options=options)[0].gap
        for options in ({"bits": 2}, {"bits": 6}, {"bits": 6, "generations": 1})
    )
    assert coarse > 2 * fine
    assert same == fine


def test_without_names_those_are_compared_that_can_plan_so_many_steps(small, monkeypatch):
    """Years of ten-day periods have as many steps as a horizon of three years."""
    monkeypatch.setattr(comparison, "runs_here", lambda name: name in ("clpso-sequential", "dp"))
    plant = replace(small, step=TimeStep.TEN_DAYS)
    assert [row.solver for row in compare(plant, record(plant, TimeStep.TEN_DAYS, 1))] == ["dp"]


def test_limits_of_the_change_of_the_release_are_refused_with_the_reason(small, small_inflow):
    slow = replace(small, ramp_up_m3s=40.0)
    with pytest.raises(InputError, match=r"cannot limit the change of the release.*remove ramp_up and ramp_down"):
        compare(slow, small_inflow, solvers=["lshade"])
