"""Plans of horizons of several years: storage is carried through them, and nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest

from reservoir.errors import InputError
from reservoir.hydro.objectives import Horizon
from reservoir.hydro.unit_system import US
from reservoir.io.plan_folder.saved_plan import read_plan
from reservoir.planning import solving
from reservoir.planning.checks import SWEPT_GAP, all_pass, plan_checks
from reservoir.planning.comparison import compare
from reservoir.planning.notes import carry_over_note, notes_again, storage_ratio
from reservoir.planning.plan import Plan, optimise
from reservoir.planning.validation import validate
from reservoir.problems.reservoir.record import record_problems
from reservoir.report.folder import write_plan
from reservoir.rules.base.foresight import Foresight
from reservoir.solvers import SOLVERS
from tests.hydro import paper
from tests.year_ends import cyclic, free

HORIZONS = ["2", "record"]


@pytest.fixture(scope="module")
def lake(small):
    """The small reservoir with small releases allowed, for a record that fills it once a year or less."""
    ends = {"initial_storage_hm3": 50.0, "final_storage_hm3": 50.0}
    return replace(small, **ends, release_lower_m3s=np.full(12, 0.5))


@pytest.fixture(scope="module")
def record(small_inflow):
    return replace(small_inflow, flow_m3s=small_inflow.flow_m3s / 8)


@pytest.fixture(scope="module", params=HORIZONS)
def plan(request, lake, record) -> Plan:
    return optimise(lake, record, solver="dp", horizon=request.param)


def test_storage_runs_through_a_horizon_and_each_ends_as_the_reservoir_says(plan: Plan):
    storage, of_year = plan.operation.storage_hm3, plan.problems.of_year
    same = of_year[1:] == of_year[:-1]
    assert np.array_equal(storage[1:, 0][same], storage[:-1, -1][same])
    ends = np.append(of_year[1:] != of_year[:-1], True)
    assert storage[ends, -1] == pytest.approx(plan.reservoir.final_storage_hm3)
    starts = np.insert(of_year[1:] != of_year[:-1], 0, True)
    assert storage[starts, 0] == pytest.approx(plan.reservoir.initial_storage_hm3)


def test_what_the_plan_makes_is_what_the_paper_says_of_its_releases(plan: Plan):
    """`tests.hydro.paper` is written from the paper alone."""
    for year, (releases, storages) in enumerate(
        zip(plan.operation.release_m3s, plan.operation.storage_hm3, strict=True)
    ):
        volume = plan.inflow.calendar.hm3_per_m3s[year]
        gained = (plan.inflow.flow_m3s[year] - releases) * volume
        assert np.diff(storages) == pytest.approx(gained, abs=1e-9)
        assert plan.operation.power_mw[year] == pytest.approx(
            paper.powers(plan.reservoir, releases, storages), rel=1e-9
        )


def test_a_longer_horizon_makes_no_less(lake, record):
    energies = [optimise(lake, record, solver="dp", horizon=each).energy_gwh.sum() for each in ("year", 2, "record")]
    assert energies == sorted(energies)
    assert energies[-1] > 1.01 * energies[0]


def test_the_record_is_planned_as_perfect_foresight_of_rules_does(lake, record):
    plan = optimise(lake, record, solver="dp", horizon="record")
    start = lake.initial_storage_hm3
    foresight = Foresight.of(plan.problems.model, record, start).operation[0]
    assert np.array_equal(plan.operation.release_m3s.ravel(), foresight.release_m3s)


def test_windows_of_a_year_are_years(lake, record):
    years, windows = (optimise(lake, record, solver="dp", horizon=each) for each in ("year", 1))
    assert years.schedule().equals(windows.schedule())
    assert years.summary().equals(windows.summary())


def test_windows_that_do_not_divide_the_record_leave_a_shorter_last_one(lake, record):
    years = record.span(0, 3)
    plan = optimise(lake, years, solver="dp", horizon=2)
    assert [problem.limits.steps for problem in plan.problems.each] == [24, 12]
    alone = optimise(lake, record.span(2, 3), solver="dp")
    assert np.array_equal(plan.operation.release_m3s[2:], alone.operation.release_m3s)
    assert list(plan.summary()["horizon"]) == [*[f"{years.labels[0]} to {years.labels[1]}"] * 2, years.labels[2]]


@pytest.mark.parametrize("end", [cyclic, free])
def test_a_record_may_end_as_it_began_or_anywhere(end, lake, record):
    plan = optimise(end(lake), record.span(0, 3), solver="dp", horizon="record")
    storage = plan.operation.storage_hm3
    assert all_pass(plan_checks(plan))
    if end is cyclic:
        assert storage[-1, -1] == pytest.approx(storage[0, 0], abs=1e-6)
    else:
        assert storage[-1, -1] == pytest.approx(lake.storage_bounds_hm3[0, -1], abs=1e-6)


def test_the_reservoir_says_the_horizon_unless_the_call_does(lake, record):
    record_lake = replace(lake, horizon="record")
    assert optimise(record_lake, record.span(0, 2), solver="dp").horizon == Horizon(None)
    assert optimise(record_lake, record.span(0, 2), solver="dp", horizon="year").horizon == Horizon()


def test_an_engine_made_for_years_refuses_and_names_those_that_can(lake, record):
    able = "choose clpso or lshade or dp or dp-opencl"
    with pytest.raises(InputError, match=rf"island-ga cannot plan 24 months as one problem.*{able}"):
        optimise(lake, record.span(0, 2), solver="island-ga", horizon="record")
    with pytest.raises(InputError, match=able):
        compare(lake, record.span(0, 2), solvers=["clpso-sequential"], horizon=2)


@pytest.mark.device
def test_a_swarm_plans_a_record_close_to_dynamic_programming(lake, record):
    plan = optimise(lake, record, solver="lshade", horizon="record", evaluations=5000, engine_only=True)
    assert all_pass(plan_checks(plan))
    assert abs(plan.gap[0]) <= SWEPT_GAP
    storage = plan.operation.storage_hm3
    assert np.array_equal(storage[1:, 0], storage[:-1, -1])
    gaps = [check for check in plan_checks(plan) if "gap to dp" in check.check]
    assert [check.threshold for check in gaps] == [SWEPT_GAP, SWEPT_GAP]


@pytest.mark.device
def test_swarms_are_compared_with_dynamic_programming_on_a_record(lake, record):
    options = {"evaluations": 5000, "generations": 300}
    rows = compare(lake, record, horizon="record", solvers=["lshade", "dp"], options=options)
    assert [row.solver for row in rows] == ["lshade", "dp"]
    assert abs(rows[0].gap) <= SWEPT_GAP
    assert rows[0].violation == 0


@pytest.mark.device
def test_a_sweep_that_a_callback_ends_is_told(lake, record):
    plan = optimise(lake, record, horizon="record", solver="lshade", evaluations=500, stop=lambda state: True)
    assert plan.stopped == (
        "A callback ended the run in lshade before the search was complete: the plan has the schedules found by then."
    )
    assert plan.stopped in plan.notes
    assert len(plan.schedule()) == record.years * 12
    assert not plan.references


@pytest.mark.device
def test_a_record_with_ramping_limits_is_swept_and_has_no_reference(lake, record):
    slow = replace(lake, ramp_up_m3s=2.0, ramp_down_m3s=2.0)
    plan = optimise(slow, record, horizon="record", evaluations=5000)
    assert plan.solutions.solver == "lshade"
    assert not plan.references
    assert all_pass(plan_checks(plan))
    assert np.abs(np.diff(plan.operation.release_m3s.ravel())).max() <= 2.0 + 1e-6
    with pytest.raises(InputError, match=r"cannot limit the change of the release.*choose the solver clpso or lshade"):
        optimise(slow, record, horizon="record", solver="dp")


def test_without_opencl_a_record_with_ramping_limits_has_no_other_solver(lake, record, monkeypatch):
    monkeypatch.setattr(solving, "why_unusable", lambda name: "no driver" if SOLVERS[name].opencl else "")
    slow = record_problems(replace(lake, ramp_up_m3s=2.0), record, Horizon(None))
    assert solving.chosen_solver(None, "auto", {}, slow) == ("lshade", (), {})
    free = record_problems(lake, record, Horizon(None))
    assert solving.chosen_solver("lshade", "auto", {}, free)[0] == "dp"


@pytest.mark.device
def test_a_plan_from_today_of_two_years_is_swept(lake, record):
    begun = {"start": "2026-09", "start_hm3": 60.0, "horizon": 2}
    plan = optimise(lake, record, solver="lshade", evaluations=5000, **begun)
    assert plan.problems.steps > 12
    assert plan.solutions[0].settings["most_sweeps"] == 40
    assert all_pass(plan_checks(plan))


def test_a_plan_of_a_horizon_without_a_solver_is_solved_by_dynamic_programming(lake, record, device):
    plan = optimise(lake, record.span(0, 3), horizon="record", device=device.name)
    assert plan.solutions.solver == "dp-opencl"
    best = optimise(lake, record.span(0, 3), solver="dp", horizon="record")
    assert plan.energy_gwh.sum() == pytest.approx(best.energy_gwh.sum(), rel=1e-6)


def test_compare_runs_the_engines_that_can(lake, record):
    rows = compare(lake, record.span(0, 3), horizon="record", solvers=["dp"])
    assert [row.solver for row in rows] == ["dp"]
    assert rows[0].gap == 0


def test_engines_are_validated_on_years_whatever_the_horizon_of_the_file(lake, record):
    plan, checks = validate(replace(lake, horizon="record"), record.span(0, 2), options={"generations": 200})
    assert plan.horizon == Horizon()
    assert plan.solutions.solver in ("clpso", "clpso-sequential")
    assert [check.passed for check in checks if "water balance" in check.check] == [True]


def test_a_plan_of_years_says_that_storage_carries_over(lake, record):
    (note,) = optimise(lake, record, solver="dp").notes
    assert note.startswith(f"The active storage is {storage_ratio(lake, record):.2f} times the mean annual inflow")
    assert "--horizon record" in note
    assert optimise(lake, record, solver="dp", horizon="record").notes == ()


def test_a_record_without_inflow_has_no_storage_in_mean_inflows(lake, record):
    dry = replace(record, flow_m3s=np.zeros_like(record.flow_m3s))
    assert carry_over_note(lake, record, Horizon())
    assert carry_over_note(lake, dry, Horizon()) == ""


def test_a_plan_of_free_years_says_what_comes_from_storage_that_is_never_paid_back(lake, record):
    notes = optimise(free(lake), record, solver="dp").notes
    drawn = [note for note in notes if "come from storage" in note]
    assert len(drawn) == 1
    assert "--horizon record" in drawn[0]
    assert not [
        note for note in optimise(free(lake), record, solver="dp", horizon="record").notes if "come from" in note
    ]


def test_a_fixed_year_end_that_costs_much_is_told_with_a_better_one(xiaowan, five_years):
    def planned(storage):
        ends = {"initial_storage_hm3": storage, "final_storage_hm3": storage}
        return optimise(replace(xiaowan, **ends), five_years, solver="dp")

    low, best = planned(9000.0), planned(14_557.0)
    (note,) = [str(note) for note in low.notes if "begins and ends" in str(note)]
    assert "begins and ends with 9,000 hm³. With 14,557 hm³ it would make about" in note
    (saved,) = notes_again([note[:]], [])
    assert US.text(saved) == US.text(note) != note
    more = float(note.split("about ")[1].split("%")[0]) / 100
    gain = best.operation.annual_energy_gwh.sum() / low.operation.annual_energy_gwh.sum() - 1
    assert more == pytest.approx(gain, abs=1e-3)
    assert gain > 0.01
    assert not any("begins and ends" in str(note) for note in best.notes)


def test_the_bundled_case_is_no_carry_over_reservoir(xiaowan, inflow):
    assert storage_ratio(xiaowan, inflow) == pytest.approx(0.255, abs=0.005)


def test_a_plan_of_a_horizon_is_read_back(plan: Plan, tmp_path):
    write_plan(plan, tmp_path / "plan", plan_checks(plan))
    again = read_plan(tmp_path / "plan").plan
    assert again.horizon == plan.horizon
    assert again.schedule().equals(plan.schedule())
    assert again.references.fitness.tolist() == plan.references.fitness.tolist()
