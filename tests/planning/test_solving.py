"""A callback may end a run, and a solver that cannot run here is replaced by its own algorithm on the CPU."""

import os
from dataclasses import replace

import numpy as np
import pytest

import reservoir
from reservoir import opencl
from reservoir.errors import DeviceError, InputError
from reservoir.hydro.inflow import Inflow
from reservoir.hydro.objectives import Goal, Horizon, Objective
from reservoir.hydro.reservoir import Reservoir
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning.plan import optimise
from reservoir.planning.proof import prove_plan
from reservoir.planning.solving import chosen_solver
from reservoir.problems.reservoir.record import record_problems
from reservoir.solvers import RESERVOIR_SOLVERS, IntermediateResult, solve

QUICK = {
    "clpso": {"particles": 8, "generations": 50},
    "clpso-sequential": {"particles": 8, "generations": 50},
    "lshade-sequential": {"members_per_dimension": 1, "evaluations": 200},
    "lshade": {"evaluations": 500},
    "dp": {},
    "dp-opencl": {},
    "ring-pso": {"particles": 8, "generations": 20},
}
#: A callback is asked between launches, or when a thread has a year.
SEVERAL_LAUNCHES = pytest.mark.skipif((os.cpu_count() or 1) >= 12, reason="so many processors take 12 years at once")


class After:
    """Stop in one stage after so many problems; keeps what it is told."""

    def __init__(self, problems, stage=None):
        self.problems, self.stage, self.told = problems, stage, []

    def __call__(self, state: IntermediateResult) -> bool:
        self.told.append(state)
        return self.stage in (None, state.solver) and state.done >= self.problems


@SEVERAL_LAUNCHES
@pytest.mark.pocl(reason="a launch of a large device has room for 12 years")
@pytest.mark.device
@pytest.mark.parametrize("solver", QUICK)
def test_the_plan_has_the_years_that_were_planned(solver, xiaowan, inflow):
    record = inflow.span(0, 12)
    call = {"solver": solver, "reference": False, **QUICK[solver]}
    stop = After(1)
    plan = reservoir.optimise(xiaowan, record, stop=stop, **call)
    whole = reservoir.optimise(xiaowan, record, **call)
    years = plan.inflow.years
    assert 1 <= years < 12
    assert plan.inflow.labels == record.labels[:years]
    assert plan.operation.release_m3s.tobytes() == whole.operation.release_m3s[:years].tobytes()
    assert len(stop.told) == 1
    assert (stop.told[0].solver, stop.told[0].done, stop.told[0].total) == (solver, years, 12)
    assert stop.told[0].fitness == pytest.approx(whole.solutions.fitness[:years], rel=1e-12)
    assert plan.stopped == (f"A callback ended the run in {solver} after {years} of 12 problems: the plan has those.")
    assert plan.stopped in plan.notes
    assert repr(plan).endswith(", stopped>")
    assert len(plan.schedule()) == 12 * years


def test_a_stop_may_be_late_or_never(small, small_inflow):
    for stop, told in ((After(3), [1, 2]), (After(99), [1, 2])):
        plan = reservoir.optimise(small, small_inflow, solver="dp", stop=stop)
        assert not plan.stopped
        assert plan.inflow.years == 3
        assert [state.done for state in stop.told] == told
        assert "stopped" not in repr(plan)


def test_windows_are_cut_between_them(small, small_inflow):
    plan = reservoir.optimise(small, small_inflow, solver="dp", horizon=2, stop=After(1))
    assert plan.inflow.years == 2
    assert plan.problems.labels == ("1955/56 to 1956/57",)
    assert "after 1 of 2 problems" in plan.stopped


def test_a_plan_for_firm_power_keeps_its_promise(small, small_inflow):
    """Its problems are those of the whole plan: what steps must give, and what a proof of the plan is of."""
    firm = replace(small, objective=Objective({Goal.FIRM_POWER: 1.0}))
    whole = reservoir.optimise(firm, small_inflow, solver="dp")
    plan = reservoir.optimise(firm, small_inflow, solver="dp", stop=After(1))
    assert plan.inflow.years == 1
    (promised,), (of_all,) = (each.problems.batches for each in (plan, whole))
    assert of_all.power_target_mw.min() > 0
    np.testing.assert_array_equal(promised.power_target_mw, of_all.power_target_mw[:1])
    np.testing.assert_array_equal(plan.solutions.fitness, whole.solutions.fitness[:1])
    gap = prove_plan(plan, device="host").proofs.gap
    assert 0 <= gap[0] <= 1e-4


def test_a_stop_during_the_reference_leaves_the_plan_without_gaps(small, small_inflow):
    call = {"solver": "clpso-sequential", **QUICK["clpso-sequential"]}
    plan = reservoir.optimise(small, small_inflow, stop=After(1, "dp"), **call)
    assert plan.inflow.years == 3
    assert np.isnan(plan.gap).all()
    assert plan.stopped == ("A callback ended the run in dp after 1 of 3 problems: the plan has no reference optimum.")


def test_it_stands_in_the_folder_of_the_plan(small, small_inflow, tmp_path):
    import json

    from tests.io.small_reservoir import SMALL

    (tmp_path / "small.toml").write_text(SMALL)
    lake = reservoir.read_reservoir(tmp_path / "small.toml")
    record = reservoir.Inflow(small_inflow.flow_m3s, reservoir.Calendar(1955, 3, lake.first_month))
    plan = reservoir.optimise(lake, record, solver="dp", stop=After(2))
    folder = plan.save(tmp_path / "plan", figures=False)
    assert json.loads((folder / "plan.json").read_text())["stopped"] == plan.stopped
    assert plan.stopped in (folder / "report.html").read_text()
    assert read_plan(folder).plan.stopped == plan.stopped
    whole = reservoir.optimise(lake, record, solver="dp").save(tmp_path / "whole", figures=False)
    assert json.loads((whole / "plan.json").read_text())["stopped"] is None
    assert read_plan(whole).plan.stopped == ""


@pytest.mark.parametrize("fault", [InputError, DeviceError])
@pytest.mark.parametrize("argument", ["stop", "progress"])
def test_a_fault_of_the_callback_is_never_told_as_a_mistake_of_the_input(argument, fault, small, small_inflow):
    def broken(*told):
        raise fault(reservoir.errors.Mistake("of the callback itself"))

    call = {"solver": "clpso-sequential", **QUICK["clpso-sequential"], argument: broken}
    with pytest.raises(RuntimeError, match=f"the callback broken raised {fault.__name__}: of the callback itself"):
        reservoir.optimise(small, small_inflow, **call)


@SEVERAL_LAUNCHES
@pytest.mark.pocl(reason="a launch of a large device has room for 12 years")
@pytest.mark.device
def test_a_fault_during_the_reference_on_a_device_is_not_taken_for_a_missing_device(small, small_inflow):
    def broken(state):
        if state.solver == "dp-opencl":
            raise DeviceError(reservoir.errors.Mistake("of the callback itself"))
        return False

    record = small_inflow.span(0, 3)
    long = reservoir.Inflow(np.tile(record.flow_m3s, (4, 1)), reservoir.Calendar(1955, 12, 6))
    with pytest.raises(RuntimeError, match="the callback broken raised DeviceError"):
        reservoir.optimise(small, long, solver="clpso", stop=broken, **QUICK["clpso"])


@pytest.mark.parametrize("fault", [ZeroDivisionError, KeyboardInterrupt, ValueError])
def test_other_faults_pass_as_they_are(fault, small, small_inflow):
    def broken(state):
        raise fault

    with pytest.raises(fault):
        reservoir.optimise(small, small_inflow, solver="dp", stop=broken)


@pytest.mark.device
def test_the_paper_s_random_numbers_are_of_one_launch_which_is_not_cut(years):
    """They number the swarms of a launch: the callback is not asked, and the numbers do not change."""
    call = {"solver": "clpso", "random": "host", **QUICK["clpso"]}
    stop = After(1)
    found = solve(years, stop=stop, **call)
    assert stop.told == []
    assert [each.tobytes() for each in found.position] == [each.tobytes() for each in solve(years, **call).position]


@pytest.mark.parametrize("solver", [name for name, entry in RESERVOIR_SOLVERS.items() if entry.opencl])
def test_without_opencl_each_solver_is_replaced_by_its_own_algorithm(
    monkeypatch: pytest.MonkeyPatch, small: Reservoir, small_inflow: Inflow, solver: str
) -> None:
    monkeypatch.setattr(opencl, "why_unavailable", lambda: "no OpenCL platform is installed")
    problems = record_problems(small, small_inflow, Horizon.of("year"))
    chosen, (note,), options = chosen_solver(solver, "auto", {"evaluations": 90, "lanes": 8}, problems)
    assert chosen in ("dp", f"{solver}-sequential", f"{solver}-parallel")
    assert note.startswith("OpenCL cannot be used: no OpenCL platform is installed. Solved by " + chosen)
    assert options.keys() <= {"evaluations"}
    assert (f"{chosen} on all CPU cores instead of {solver}" in note) == (
        chosen in ("dp", "clpso-sequential", "lshade-sequential", "ann-pso-parallel")
    )


def test_a_replaced_solver_uses_all_cores(
    monkeypatch: pytest.MonkeyPatch, small: Reservoir, small_inflow: Inflow
) -> None:
    monkeypatch.setattr(opencl, "why_unavailable", lambda: "no OpenCL platform is installed")
    monkeypatch.setenv("RESERVOIR_THREADS", "3")
    plan = optimise(small, small_inflow, solver="lshade", evaluations=500, reference=False)
    assert (plan.solutions.solver, plan.solutions.device) == ("lshade-sequential", "3 CPU threads")
