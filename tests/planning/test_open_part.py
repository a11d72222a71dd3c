"""A plan that is made badly on purpose is bettered where its proof stays open, and no other is touched."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reservoir
from reservoir.certificate.bound import ProvenBound
from reservoir.hydro.attributes import YearEnd
from reservoir.planning.columns import AFTER_PROOF
from reservoir.planning.firm_power import judged
from reservoir.planning.open_part import searched_again
from reservoir.planning.proof import prove_plan
from reservoir.planning.solving import silent_stage
from reservoir.solvers import Solutions

GAP = 1e-4
CYCLIC = {"initial_storage_hm3": None, "final_storage_hm3": None, "year_end": YearEnd.CYCLIC}


@pytest.fixture(scope="module", params=["given", "cyclic", "record"])
def poor(request, small, small_inflow):
    """Plans of a year, or of a record of two, whose releases are nearer to their mean than is good."""
    plant = replace(small, **CYCLIC) if request.param == "cyclic" else small
    horizon, years = ("record", 2) if request.param == "record" else ("year", 1)
    plan = reservoir.optimise(plant, small_inflow.span(0, years), horizon=horizon, solver="dp")
    problems, position = plan.problems, plan.solutions.position.copy()
    releases = position[:, : problems.steps]
    releases[:] = 0.7 * releases + 0.3 * releases.mean()
    solutions = judged(problems.each, replace(plan.solutions, position=position))
    return replace(plan, solutions=solutions, references=Solutions.of([]), operation=problems.operate(position))


def test_what_a_proof_leaves_open_is_searched_again_and_proved(poor):
    told, device = [], "auto" if poor.problems.cyclic else "host"
    better = prove_plan(poor, GAP, 60.0, lambda *each: told.append(each), device, improve=True)
    assert better.proofs.reached == len(poor.problems)
    assert np.all(better.solutions.fitness > poor.solutions.fitness * (1 + 1e-3))
    np.testing.assert_allclose(better.problems.operate(better.solutions.position).power_mw, better.operation.power_mw)
    assert better.operation.violation_sum.max() == 0
    assert not better.from_reference.any()
    assert better.source_counts == {poor.solutions.solver: 0, AFTER_PROOF: poor.inflow.years}
    assert "dp found them in what was left, better by " in better.notes[-1]
    stages = list(dict.fromkeys(stage for stage, *_ in told))
    assert stages[:2] == ["proof", "dp"]


def test_a_proof_by_itself_leaves_the_schedules(poor):
    proved = prove_plan(poor, 1.0, device="host")
    assert proved.solutions is poor.solutions
    assert proved.notes == poor.notes


def test_what_a_proof_closes_at_once_is_searched_no_more(small, small_inflow):
    plan, told = reservoir.optimise(small, small_inflow, solver="dp"), []
    proved = prove_plan(plan, GAP, progress=lambda *each: told.append(each), device="host", improve=True)
    assert proved.solutions is plan.solutions
    assert {stage for stage, *_ in told} == {"proof"}


def test_years_in_which_the_release_changes_slowly_stay_as_they_are(small, small_inflow):
    slow = replace(small, ramp_up_m3s=400.0, ramp_down_m3s=400.0)
    plan = reservoir.optimise(slow, small_inflow, solver="clpso-sequential", generations=5, reference=False)
    assert searched_again(plan, {0: ProvenBound(np.inf, None, 0, 0)}, GAP, silent_stage, None) is plan
